/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"
#include "core/json.h"
#include "deployer/copy/copy.h"

#include <string.h>
#include <sys/stat.h>

#define COPY_LIMIT_DEFAULT_S 86400

struct options {
	int limit;
	bool folders;
};

static const struct opt options[] = {
	{'r', "recursive", NULL, "folders with all that is in them", OPT_FLAG,
	 offsetof(struct options, folders)},
	{0, "limit", "S", "seconds that a file may take (86400)", OPT_INT,
	 offsetof(struct options, limit)},
	OPT_END,
};

/* Splits "SET:PATH"; false for a path here. */
static bool cp_split(struct arena *arena, const char *word, const char **set, const char **path)
{
	const char *colon = strchr(word, ':'), *slash = strchr(word, '/');

	if (!colon || colon == word || (slash && slash < colon && *word != '^'))
		return false;
	*set = arena_strndup(arena, word, (size_t)(colon - word));
	*path = colon[1] ? colon + 1 : ".";
	return true;
}

static void cp_print(const struct stages *s, const struct copy_done *done, uint64_t begun_usec,
		     cJSON *list)
{
	double seconds = (double)(clock_usec() - begun_usec) / 1e6;

	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];
		cJSON *item;

		if (m->failed)
			continue;
		if (!s->ctx->json) {
			say("%s: %s, %s%llu of %llu bytes\n", m->host->name, done[i].path,
			    done[i].was_there ? "there already, " : "",
			    (unsigned long long)done[i].bytes_moved,
			    (unsigned long long)done[i].bytes_total);
			continue;
		}
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "host", m->host->name);
		cJSON_AddStringToObject(item, "path", done[i].path);
		cJSON_AddNumberToObject(item, "bytes_total", (double)done[i].bytes_total);
		cJSON_AddNumberToObject(item, "bytes_moved", (double)done[i].bytes_moved);
		cJSON_AddNumberToObject(item, "seconds", seconds);
	}
}

/* *is_folder: it goes with all that is in it. */
static int cp_check_here(const char *path, bool folders, bool *is_folder, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(err, "cannot read %s", path);
	*is_folder = folders && S_ISDIR(st.st_mode);
	if (S_ISREG(st.st_mode) || *is_folder)
		return 0;
	return error_set(err, ERROR_USAGE, "%s is no regular file%s", path,
			 S_ISDIR(st.st_mode) ? "; a folder is copied with -r" : "");
}

static int cp_up(struct stages *s, const char *const *sources, const char *last, const char *there,
		 const struct options *o, cJSON *list, struct error *err)
{
	/* several files go into a folder, so that none replaces another */
	if (sources[1] != last && !ends_with(there, "/"))
		there = arena_printf(s->arena, "%s/", there);
	for (; *sources != last; sources++) {
		struct copy copy = {*sources, there, o->limit};
		struct copy_done *done = ARENA_ARRAY(s->arena, s->fleet.count, struct copy_done);
		uint64_t begun = clock_usec();
		bool is_folder = false;

		if (cp_check_here(*sources, o->folders, &is_folder, err) < 0)
			return -1;
		if (!is_folder)
			copy_to_hosts(&s->fleet, &copy, done);
		else if (copy_tree_to_hosts(&s->fleet, &copy, done, err) < 0)
			return -1;
		cp_print(s, done, begun, list);
	}
	return fleet_result(&s->fleet, err);
}

/* The name of a folder is what stands before the slashes at its end. */
static const char *cp_without_slashes(struct arena *arena, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return arena_strndup(arena, path, length);
}

/* A folder gets the file's own name; several hosts get their name behind it. */
static int cp_down(struct stages *s, const char *given, const char *here, const struct options *o,
		   cJSON *list, struct error *err)
{
	const char *there = o->folders ? cp_without_slashes(s->arena, given) : given;
	const char *slash = strrchr(there, '/');
	struct copy copy = {here, there, o->limit};
	struct copy_done *done = ARENA_ARRAY(s->arena, s->fleet.count, struct copy_done);
	uint64_t begun = clock_usec();
	struct stat st;

	if (ends_with(here, "/") || (stat(here, &st) == 0 && S_ISDIR(st.st_mode)))
		copy.here = path_expand(s->arena, here, slash ? slash + 1 : there);
	if (o->folders)
		copy_tree_from_hosts(&s->fleet, &copy, s->fleet.count > 1, done);
	else
		copy_from_hosts(&s->fleet, &copy, s->fleet.count > 1, done);
	cp_print(s, done, begun, list);
	return fleet_result(&s->fleet, err);
}

/* Which of the words are on hosts: the last one, or the first of two. */
static int cp_understand(struct arena *arena, const char *const *words, const char **last,
			 const char **set, const char **there, bool *is_up, struct error *err)
{
	size_t count = 0;

	while (words[count])
		count++;
	*last = words[count - 1];
	*is_up = cp_split(arena, *last, set, there);
	for (size_t i = 0; i + 1 < count; i++) {
		const char *other_set, *other_path;

		if (!cp_split(arena, words[i], &other_set, &other_path))
			continue;
		if (*is_up || count != 2)
			return error_set(err, ERROR_USAGE,
					 "cp: either the sources are files here and the target is "
					 "HOSTS:PATH, or there is one source HOSTS:PATH");
		*set = other_set;
		*there = other_path;
		return 0;
	}
	return *is_up ? 0
		      : error_set(err, ERROR_USAGE,
				  "cp: neither side is on hosts; write HOSTS:PATH, as in "
				  "node[01-08]:/data/ or @*:/tmp/");
}

static int cp_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();
	struct options *o = values;
	const char *last, *set, *there;
	int rc;
	cJSON *list = cJSON_AddArrayToObject(json, "files");
	struct words sets = WORDS_INIT(ctx->arena);
	struct stages s;
	bool is_up;

	if (cp_understand(ctx->arena, arguments, &last, &set, &there, &is_up, err) < 0)
		return -1;
	words_add(&sets, set);
	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, &sets, NULL, err) < 0)
		return -1;
	if (!o->limit)
		o->limit = COPY_LIMIT_DEFAULT_S;
	rc = is_up ? cp_up(&s, arguments, last, there, o, list, err)
		   : cp_down(&s, there, last, o, list, err);
	stage_json_failed(&s, json);
	if (ctx->json)
		json_print(stdout, json);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_cp = {
	.name = "cp",
	.arguments = "SRC... DST",
	.summary = "copies files to the hosts, or from them",
	.help = "The side on the hosts is HOSTS:PATH, where HOSTS is a set such as node[01-08], @GROUP or @*. To\n"
		"the hosts go one or more files; from them comes one, and from several hosts one each, with the\n"
		"host's name behind its own. Both ends make a SHA-256 on the way, and the file gets its name when\n"
		"these agree. An interrupted copy goes on where it was, and a file that is there already is not\n"
		"sent again. One that is replaced keeps its owner and mode, and a symbolic link at the target\n"
		"stays one.\n"
		"With -r a folder goes with all that is in it: files, folders, and symbolic links as links, with\n"
		"modes and times. Only files that are not there yet, or differ, are sent; nothing is removed. The\n"
		"folder goes into DST where that is a folder, and else becomes DST, as cp -r does it.\n"
		"\n"
		"  ringup cp data.tar 'node[01-08]:/data/'\n"
		"  ringup cp '@*:/var/log/syslog' logs/\n"
		"  ringup cp -r checkpoints 'node01:/data/'\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 2,
	.max_arguments = -1,
	.run = cp_run,
};
