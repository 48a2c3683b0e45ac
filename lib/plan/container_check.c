/* SPDX-License-Identifier: MIT */
#include "plan/container_check.h"

#include <stdbool.h>
#include <string.h>

typedef int container_word_fn(const struct yaml_place *at, const char *word, struct error *err);

/* Checks each word of the list that the place holds; a list that the file does not have is fine. */
static int container_each(const struct yaml_place *at, container_word_fn *check, struct error *err)
{
	const char *const *word =
		*(const char *const *const *)((const char *)at->values + at->row->offset);

	for (; at->node && word && *word; word++)
		if (check(at, *word, err) < 0)
			return -1;
	return 0;
}

static bool container_knows(const char *const *names, const char *text, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && strncmp(*names, text, length) == 0)
			return true;
	return false;
}

static int container_capability(const struct yaml_place *at, const char *name, struct error *err)
{
	static const char *const known[] = {"compute", "utility",  "graphics", "video",
					    "display", "compat32", "ngx",      NULL};

	if (container_knows(known, name, strlen(name)))
		return 0;
	return yaml_error(
		at->node, err,
		"'%s' cannot have '%s'; it takes compute, utility, graphics, video, display, compat32 and ngx",
		at->row->key, name);
}

int container_check_capabilities(const struct yaml_place *at, struct error *err)
{
	return container_each(at, container_capability, err);
}

static int container_volume(const struct yaml_place *at, const char *volume, struct error *err)
{
	size_t source = strcspn(volume, ":");
	bool is_path = memchr(volume, '/', source) || *volume == '.' || *volume == '~';
	const char *target = volume[source] ? volume + source + 1 : volume;

	if (is_path && *volume != '/')
		return yaml_error(
			at->node, err,
			"'%s' has '%s': write the whole path, from / on, as the hosts have it",
			at->row->key, volume);
	if (*target != '/' || !source)
		return yaml_error(
			at->node, err,
			"'%s' has '%s': it takes /ON/HOST:/IN/CONTAINER, with :ro behind it or not",
			at->row->key, volume);
	return 0;
}

int container_check_volumes(const struct yaml_place *at, struct error *err)
{
	return container_each(at, container_volume, err);
}

static int container_variable(const struct yaml_place *at, const char *pair, struct error *err)
{
	if (*pair != '=')
		return 0;
	return yaml_error(at->node, err, "'%s' has a variable without a name", at->row->key);
}

int container_check_env(const struct yaml_place *at, struct error *err)
{
	return container_each(at, container_variable, err);
}

/* A number of digits, or -1. */
static const char *container_limit(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits && strncmp(text, "-1", 2) == 0)
		return text + 2;
	return digits && digits < 20 ? text + digits : NULL;
}

static int container_ulimit(const struct yaml_place *at, const char *pair, struct error *err)
{
	static const char *const known[] = {
		"core",	  "cpu",   "data", "fsize",  "locks",  "memlock",    "msgqueue", "nice",
		"nofile", "nproc", "rss",  "rtprio", "rttime", "sigpending", "stack",	 NULL};
	size_t name = strcspn(pair, "=");
	const char *end = container_limit(pair + name + (pair[name] == '='));

	if (!container_knows(known, pair, name))
		return yaml_error(at->node, err, "'%s' has no '%.*s'; see the man page of prlimit",
				  at->row->key, (int)name, pair);
	if (end && *end == ':')
		end = container_limit(end + 1);
	if (!end || *end)
		return yaml_error(at->node, err,
				  "'%s' has '%s': a limit is a number, SOFT:HARD, or -1 for none",
				  at->row->key, pair);
	return 0;
}

int container_check_ulimits(const struct yaml_place *at, struct error *err)
{
	return container_each(at, container_ulimit, err);
}
