/* SPDX-License-Identifier: MIT */
/* Dockerfiles, and the words of every instruction. */
#include "tests/fuzz/fuzz.h"

#include "builder/native/dockerfile.h"

static const char *value(void *arg, const char *name)
{
	(void)arg;
	fuzz_check(
		name[0] &&
		strlen(name) ==
			strspn(name,
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"));
	return strlen(name) % 3 == 0 ? NULL : strlen(name) % 3 == 1 ? "" : "a $b \"c";
}

static void check_words(const char *text, struct arena *arena)
{
	const char *const *words = NULL, *why = NULL;

	if (dockerfile_words(text, value, NULL, arena, &words, &why) < 0) {
		fuzz_check(why && *why);
		return;
	}
	fuzz_check(words);
	while (*words)
		words++;
}

static void check_stage(const struct dockerfile *file, size_t number, struct arena *arena)
{
	const struct build_stage *stage = &file->stages[number];
	int line = stage->line;

	fuzz_check(*stage->base && stage->name && line > 0);
	fuzz_check(stage->count <= INSTRUCTIONS_MAX);
	fuzz_check(dockerfile_stage(file, stage->base, number) < (int)number);
	if (*stage->name)
		fuzz_check(dockerfile_stage(file, stage->name, number + 1) >= 0);
	for (size_t i = 0; i < stage->count; i++) {
		const struct instruction *at = &stage->list[i];

		fuzz_check(at->line > line && *at->text && !strchr(at->text, '\n'));
		fuzz_check(at->from && at->chown && at->chmod);
		fuzz_check(*instruction_name(at->kind));
		if (at->kind == INSTRUCTION_SHELL || (at->kind == INSTRUCTION_RUN && at->exec))
			fuzz_check(at->exec && at->exec[0]);
		line = at->line;
		check_words(at->text, arena);
		check_words(at->chown, arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct dockerfile *file = ARENA_NEW(&arena, struct dockerfile);
	struct error err = {0};
	int rc = dockerfile_parse("d/Dockerfile", text, &arena, file, &err);

	fuzz_check_error(rc, &err);
	check_words(text, &arena);
	if (rc < 0) {
		fuzz_check(err.kind == ERROR_USAGE);
		fuzz_check(strncmp(err.text, "d/Dockerfile:", 13) == 0);
		return 0;
	}
	fuzz_check(file->stage_count && file->stage_count <= STAGES_MAX && file->arguments);
	for (size_t i = 0; i < file->stage_count; i++)
		check_stage(file, i, &arena);
	return 0;
}
