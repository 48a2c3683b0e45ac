/* SPDX-License-Identifier: MIT */
#include "deployer/engine/engine.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct engine engine_##name;
#include "engine.list"
#undef X

const struct engine *const engines[] = {
#define X(name) &engine_##name,
#include "engine.list"
#undef X
	NULL};

static const char *const none[] = {NULL};

const struct container_wish container_wish_empty = {
	.name = "",
	.image = "",
	.network = "",
	.ipc = "",
	.shm_size = "",
	.memory = "",
	.cpus = "",
	.can = &abilities_unknown,
	.gpus = "",
	.gpu_capabilities = none,
	.labels = none,
	.env = none,
	.volumes = none,
	.limits = none,
	.devices = none,
	.capabilities = none,
	.program = "",
	.arguments = none,
};

bool engine_refuses_login(const char *message)
{
	return strcasestr(message, "permission denied while trying to connect to the");
}

const struct engine *engine_find(const char *name)
{
	const struct engine *best = NULL;
	bool is_auto = strcmp(name, "auto") == 0;

	for (const struct engine *const *e = engines; *e; e++) {
		if (!is_auto && strcmp((*e)->name, name) == 0)
			return *e;
		if (is_auto && (*e)->rank >= 0 && (!best || (*e)->rank < best->rank))
			best = *e;
	}
	return best;
}

static const struct engine_value *engine_value_find(const struct engine_value *values,
						    const char *name, size_t length)
{
	for (; values->name; values++)
		if (strlen(values->name) == length && memcmp(values->name, name, length) == 0)
			return values;
	abort(); /* a record names a value that its caller does not give: a bug in ringup */
}

const char *engine_expand_word(const char *pattern, const struct engine_value *values,
			       struct arena *arena)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	while (*pattern) {
		if (starts_with(pattern, "@{")) {
			size_t length = strcspn(pattern + 2, "}");

			str_add(&word, engine_value_find(values, pattern + 2, length)->text);
			pattern += length + 3;
		} else {
			str_add_char(&word, *pattern++);
		}
	}
	return arena_strdup(arena, word.text);
}

void engine_expand(const char *const *pattern, const struct engine_value *values, struct words *out)
{
	for (; *pattern; pattern++) {
		if ((*pattern)[0] == '@' && (*pattern)[1] != '{')
			words_add_all(out,
				      engine_value_find(values, *pattern + 1, strlen(*pattern + 1))
					      ->words);
		else
			words_add(out, engine_expand_word(*pattern, values, out->arena));
	}
}
