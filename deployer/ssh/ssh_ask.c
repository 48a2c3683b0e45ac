/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh_ask.h"

#include "core/file.h"
#include "core/proc.h"
#include "core/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_TIMEOUT_S 10

/*
 * A file that includes the others, and ends with who logs in where they say nothing: in the last pass, so that their own
 * lines for it come first. ssh before 8.0 has no `Match final`. The caller removes the file.
 */
static int ask_write(const char *const *files, const char *usual_user, const char *match,
		     char path[static 64], struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int fd, rc;

	for (; *files; files++) {
		char whole[PATH_MAX];

		/* ssh takes a relative one from ~/.ssh */
		str_addf(&text, "Include \"%s\"\n", realpath(*files, whole) ? whole : *files);
	}
	if (*usual_user)
		str_addf(&text, "Match %s\nUser %s\n", match, usual_user);
	snprintf(path, 64, "/tmp/ringup-ssh-XXXXXX");
	fd = mkostemp(path, 0);
	if (fd < 0)
		return error_errno(err, "cannot make a file in /tmp");
	rc = file_write_all(fd, text.text, text.length);
	fd_close(&fd);
	return rc < 0 ? error_errno(err, "cannot write %s", path) : 0;
}

/* The value of a line of ssh -G, or NULL. */
static const char *ask_value(const char *line, const char *name)
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static void ask_take(struct ssh_config *c, const char *line)
{
	struct arena *arena = c->identity_files.arena;
	const struct {
		const char *name, **place;
	} texts[] = {{"hostname", &c->hostname},
		     {"user", &c->user},
		     {"hostkeyalias", &c->host_key_alias},
		     {"proxyjump", &c->proxy_jump},
		     {"proxycommand", &c->proxy_command}};
	const char *value;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if ((value = ask_value(line, texts[i].name)))
			*texts[i].place = arena_strdup(arena, value);
	if ((value = ask_value(line, "port")))
		c->port = (int)strtol(value, NULL, 10);
	if ((value = ask_value(line, "userknownhostsfile"))) {
		char *rest = arena_strdup(arena, value), *word;

		c->user_known_hosts = (struct words)WORDS_INIT(arena);
		while ((word = strsep(&rest, " ")))
			if (*word)
				words_add(&c->user_known_hosts, path_expand(arena, NULL, word));
	}
}

static int ask_run(const char *const *files, const char *usual_user, const char *match,
		   const char *const *options, struct arena *arena, struct proc_result *result,
		   struct error *err)
{
	struct words words = WORDS_INIT(arena);
	struct proc proc = {.timeout_s = ASK_TIMEOUT_S};
	char path[64];
	int rc;

	if (ask_write(files, usual_user, match, path, err) < 0)
		return -1;
	words_add_all(&words, WORDS("ssh", "-G", "-F", path));
	words_add_all(&words, options);
	proc.words = words_list(&words);
	rc = proc_run(&proc, result, err);
	unlink(path);
	return rc;
}

int ssh_config_ask(struct ssh_config *config, const char *const *files, const char *host,
		   const char *given_user, int given_port, const char *usual_user,
		   struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct arena *arena = config->identity_files.arena;
	struct words options = WORDS_INIT(arena);
	char *rest, *line;

	if (*given_user)
		words_add_all(&options, WORDS("-l", given_user));
	if (given_port)
		words_addf(&options, "-p%d", given_port);
	words_add(&options, host);
	if (ask_run(files, usual_user, "final", words_list(&options), arena, &result, err) < 0)
		return -1;
	if (result.status != 0 && strstr(result.err.text, "nsupported Match attribute final")) {
		proc_result_release(&result);
		result = (struct proc_result){0};
		if (ask_run(files, usual_user, "all", words_list(&options), arena, &result, err) <
		    0)
			return -1;
	}
	if (result.status != 0) {
		str_one_line(&result.err, 400);
		return error_set(err, ERROR_USAGE, "ssh -G %s: %s", host, result.err.text);
	}
	rest = result.out.text;
	while ((line = strsep(&rest, "\n")))
		ask_take(config, line);
	return 0;
}
