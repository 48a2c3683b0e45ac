/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/own_words.h"

#include "core/quote.h"

#include <string.h>

/*
 * $1 are the words that make a process a rank, and the launcher's words follow. Its first line names its
 * Python, which may be that of a virtual environment. TMPDIR is the job's own folder.
 */
static const char own_script[] =
	"rank=$1; shift\n"
	"python=$(command -v \"$1\") && python=$(sed -n '1s/^#! *//p;1q' \"$python\")\n"
	"case ${python##*/} in python*) ;; *) python=python3 ;; esac\n"
	"printf '#!/bin/sh\\nexec %s \"%s\" \"$@\"\\n' \"$rank\" \"$python\" >\"$TMPDIR/python\" &&\n"
	"chmod 700 \"$TMPDIR/python\" || exit 126\n"
	"export PYTHON_EXEC=\"$TMPDIR/python\"\n"
	"exec \"$@\"";

static const char *own_base_name(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

bool own_words_begin(const char *const *command, const char *const *words)
{
	if (strcmp(own_base_name(*command), *words) != 0)
		return false;
	for (size_t i = 1; words[i]; i++)
		if (!command[i] || strcmp(command[i], words[i]) != 0)
			return false;
	return true;
}

/* "--nproc-per-node=2" is the option "nproc_per_node". */
static bool own_is_option(const char *word, const char *name)
{
	size_t i = 0, dashes = strspn(word, "-");

	for (word += dashes; dashes && name[i]; i++)
		if (word[i] != name[i] && !(word[i] == '-' && name[i] == '_'))
			return false;
	return dashes && (!word[i] || word[i] == '=');
}

/*
 * Whether the word `i` is the script. A word behind an option may be its value, and is the script only when
 * it ends as one, or stands behind -m.
 */
static bool own_is_script(const char *const *options, size_t i)
{
	size_t length = strlen(options[i]);

	if (*options[i] == '-')
		return false;
	return i == 0 || *options[i - 1] != '-' || strchr(options[i - 1], '=') ||
	       own_is_option(options[i - 1], "m") || own_is_option(options[i - 1], "module") ||
	       (length > 3 && strcmp(options[i] + length - 3, ".py") == 0);
}

int own_words_check(const char *const *options, const char *const *taken, const char *launcher,
		    struct error *err)
{
	for (size_t i = 0; options[i] && !own_is_script(options, i); i++)
		for (const char *const *name = taken; *name; name++)
			if (own_is_option(options[i], *name))
				return error_set(
					err, ERROR_USAGE,
					"%s's %s is for one that starts the ranks by hand; leave it out: hosts and ranks come from -n, --ppn, --hosts and --gpus",
					launcher, options[i]);
	return 0;
}

void own_words_add(const struct job_plan *plan, const struct job_host *host,
		   const char *const *words, struct words *out)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct words rank = WORDS_INIT(plan->arena);

	job_add_rank_words(plan, host, host->member->host->address, &rank);
	quote_words(&line, rank.list);
	words_add_all(out, WORDS("sh", "-c", own_script, "sh", line.text));
	words_add_all(out, words);
}
