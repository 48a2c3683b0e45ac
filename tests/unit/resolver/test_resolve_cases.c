/* SPDX-License-Identifier: MIT */
/*
 * Every case of tests/cases/resolve/ NAME.case against recipes/catalog: a line "case: NAME", then
 * one "KEY: VALUE" per line, what is asked and what must come of it. tests/cases/resolve/README.md
 * has the keys.
 */
#include "tests/unit/support.h"

#include "core/str.h"
#include "core/words.h"
#include "resolver/resolve.h"

#include <fnmatch.h>
#include <stdio.h>

#define CASES_MAX 4096
#define LINES_MAX 48
#define HOSTS_MAX 8

struct line {
	int number;
	const char *key, *value;
};

struct sample {
	const char *file, *name;
	int number; /* of its "case:" line */
	size_t count;
	struct line lines[LINES_MAX];
};

/* What resolve made of a case. */
struct outcome {
	struct arena arena;
	const struct sample *sample;
	struct plan plan;
	struct unsatisfied why;
	struct error err;
	int rc;
};

static struct catalog catalog;
static struct sample *samples[CASES_MAX];
static size_t sample_count;

/* --- reading the files --------------------------------------------------------------------- */

static void stop(const char *file, int number, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, number, what);
	exit(1);
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static void begin_sample(const char *file, int number, const char *name, struct arena *arena)
{
	struct sample *sample = ARENA_NEW(arena, struct sample);

	if (sample_count == CASES_MAX)
		stop(file, number, "too many cases");
	for (size_t i = 0; i < sample_count; i++)
		if (strcmp(samples[i]->name, name) == 0)
			stop(file, number, "a case of this name was there before");
	*sample = (struct sample){.file = file, .name = name, .number = number};
	samples[sample_count++] = sample;
}

static void read_line(const char *file, int number, char *text, struct arena *arena)
{
	struct sample *sample = sample_count ? samples[sample_count - 1] : NULL;
	char *value = strchr(text, ':');

	if (!*text || *text == '#')
		return;
	if (!value)
		stop(file, number, "no 'KEY: VALUE'");
	*value++ = '\0';
	value = trim(value);
	if (strcmp(text, "case") == 0) {
		begin_sample(file, number, value, arena);
		return;
	}
	if (!sample || sample->file != file)
		stop(file, number, "stands before the first 'case:'");
	if (sample->count == LINES_MAX)
		stop(file, number, "too many lines in one case");
	sample->lines[sample->count++] = (struct line){number, text, value};
}

static void read_file(const char *folder, const char *name, struct arena *arena)
{
	const char *path = arena_printf(arena, "%s/%s", folder, name);
	struct error err = {0};
	size_t before = sample_count;
	char *text, *next;
	int number = 1;

	if (file_read(path, FILE_CEILING_BYTES, arena, &text, NULL, &err) < 0)
		stop(name, 0, err.text);
	for (; text; text = next, number++) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		read_line(name, number, trim(text), arena);
	}
	if (sample_count == before)
		stop(name, 0, "holds no case");
}

/* --- what a case asks ---------------------------------------------------------------------- */

/* "gpu-1 driver=470.57.02 toolkit=1.17.4 gpus=Tesla V100;A100", gpus last. */
static bool read_host(const char *text, struct arena *arena, struct facts *facts)
{
	char *copy = arena_strdup(arena, text), *gpus = strstr(copy, " gpus="), *save = NULL, *word;

	*facts = (struct facts){
		.host = "", .driver = "", .gpus = "", .runtime_gpu = "", .infiniband = ""};
	if (gpus) {
		*gpus = '\0';
		facts->gpus = gpus + strlen(" gpus=");
	}
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (!*facts->host)
			facts->host = word;
		else if (starts_with(word, "driver="))
			facts->driver = word + strlen("driver=");
		else if (starts_with(word, "toolkit="))
			facts->runtime_gpu = word + strlen("toolkit=");
		else if (starts_with(word, "infiniband="))
			facts->infiniband = word + strlen("infiniband=");
		else if (starts_with(word, "arch="))
			facts->arch = word + strlen("arch=");
		else
			return false;
	return *facts->host != '\0';
}

/* Does what the case asks; the text says what is wrong with its lines, NULL when nothing is. */
static const char *ask(struct outcome *o)
{
	struct words requests = WORDS_INIT(&o->arena), allow = WORDS_INIT(&o->arena);
	struct facts *hosts = ARENA_ARRAY(&o->arena, HOSTS_MAX, struct facts);
	struct resolve_input input = {.accelerator = "auto", .facts = hosts};

	for (size_t i = 0; i < o->sample->count; i++) {
		const struct line *line = &o->sample->lines[i];

		if (strcmp(line->key, "request") == 0)
			words_add(&requests, line->value);
		else if (strcmp(line->key, "allow") == 0)
			words_add(&allow, line->value);
		else if (strcmp(line->key, "accelerator") == 0)
			input.accelerator = line->value;
		else if (strcmp(line->key, "image") == 0)
			input.base = line->value;
		else if (strcmp(line->key, "prefer") == 0)
			input.oldest = strcmp(line->value, "oldest") == 0;
		else if (strcmp(line->key, "host") == 0 &&
			 (input.fact_count == HOSTS_MAX ||
			  !read_host(line->value, &o->arena, &hosts[input.fact_count++])))
			return arena_printf(&o->arena, "line %d is no host", line->number);
	}
	input.allow = words_list(&allow);
	input.requests = requests.list ? requests.list : WORDS(NULL);
	o->rc = resolve(&catalog, &input, &o->arena, &o->plan, &o->why, &o->err);
	return NULL;
}

/* --- what must come of it: each check answers what came instead, NULL when it is right ------- */

/* Cuts the first word off; the rest is returned. */
static const char *cut_word(struct arena *arena, const char *text, const char **word)
{
	size_t length = strcspn(text, " ");

	*word = arena_strndup(arena, text, length);
	return text + length + strspn(text + length, " ");
}

static bool matches(const char *glob, const char *text)
{
	return fnmatch(glob, text, FNM_EXTMATCH) == 0;
}

/* Whether the list is it, or one of its words with ';' between. */
static bool matches_any(struct arena *arena, const char *glob, const char *list)
{
	if (matches(glob, list))
		return true;
	while (*list) {
		size_t length = strcspn(list, ";");

		if (matches(glob, arena_strndup(arena, list, length)))
			return true;
		list += length + (list[length] == ';');
	}
	return false;
}

static const char *check_expect(struct outcome *o, const char *wanted)
{
	const char *came = o->rc == 0			      ? "ok"
			   : o->err.kind == ERROR_UNSATISFIED ? "conflict"
			   : o->err.kind == ERROR_USAGE	      ? "usage"
							      : "another error";

	if (strcmp(came, wanted) == 0)
		return NULL;
	return o->rc == 0 ? came : arena_printf(&o->arena, "%s: %s", came, o->err.text);
}

static const char *check_stack(struct outcome *o, const char *value)
{
	const char *name, *cell = cut_word(&o->arena, value, &name);
	const struct choice *choice = plan_choice(&o->plan, name);
	struct error err = {0};
	struct needs needs;

	if (needs_parse(cell, &o->arena, &needs, &err) < 0)
		return arena_strdup(&o->arena, err.text);
	if (!choice)
		return "it is not in the stack";
	return needs_admit(&needs, choice->version) ? NULL : choice->version;
}

static const char *check_absent(struct outcome *o, const char *name)
{
	const struct choice *choice = plan_choice(&o->plan, name);

	return choice ? choice->version : NULL;
}

static const char *check_package(struct outcome *o, const char *value)
{
	const char *name, *glob = cut_word(&o->arena, value, &name);
	const struct choice *choice = plan_choice(&o->plan, name);

	if (!choice)
		return "it is not in the stack";
	if (matches_any(&o->arena, glob, choice->run_packages) ||
	    matches_any(&o->arena, glob, choice->build_packages) ||
	    matches_any(&o->arena, glob, choice->pip))
		return NULL;
	return arena_printf(&o->arena, "%s: run '%s', build '%s', pip '%s'", choice->version,
			    choice->run_packages, choice->build_packages, choice->pip);
}

/* One text of a choice. */
#define CHECK_CHOICE(member)                                                                 \
	static const char *check_##member(struct outcome *o, const char *value)              \
	{                                                                                    \
		const char *name, *glob = cut_word(&o->arena, value, &name);                 \
		const struct choice *choice = plan_choice(&o->plan, name);                   \
                                                                                             \
		if (!choice)                                                                 \
			return "it is not in the stack";                                     \
		return matches_any(&o->arena, glob, choice->member) ? NULL : choice->member; \
	}
CHECK_CHOICE(download)
CHECK_CHOICE(index)
CHECK_CHOICE(reason)
CHECK_CHOICE(refused)
CHECK_CHOICE(source)

static const char *check_base(struct outcome *o, const char *glob)
{
	return matches(glob, o->plan.base.name) ? NULL : o->plan.base.name;
}

static const char *check_base_status(struct outcome *o, const char *word)
{
	return strcmp(word, o->plan.base.status) == 0 ? NULL : o->plan.base.status;
}

static const char *check_base_packages(struct outcome *o, const char *glob)
{
	return matches(glob, o->plan.base.packages) ? NULL : o->plan.base.packages;
}

static const char *check_replaces(struct outcome *o, const char *glob)
{
	return matches(glob, o->plan.base.replaces) ? NULL : o->plan.base.replaces;
}

/* The list as one text, when none of it matches. */
static const char *none_of(struct outcome *o, const char *glob, const char *const *list,
			   size_t count)
{
	const char *all = count ? "" : "nothing";

	for (size_t i = 0; i < count; i++) {
		if (matches(glob, list[i]))
			return NULL;
		all = arena_printf(&o->arena, "%s%s%s", all, i ? " | " : "", list[i]);
	}
	return all;
}

static const char *check_env(struct outcome *o, const char *glob)
{
	return none_of(o, glob, o->plan.env, o->plan.env_count);
}

static const char *check_note(struct outcome *o, const char *glob)
{
	return none_of(o, glob, o->plan.notes, o->plan.note_count);
}

static const char *check_no_note(struct outcome *o, const char *glob)
{
	for (size_t i = 0; i < o->plan.note_count; i++)
		if (matches(glob, o->plan.notes[i]))
			return o->plan.notes[i];
	return NULL;
}

static const char *check_conflict(struct outcome *o, const char *request)
{
	const char *came[CONFLICTS_MAX];
	size_t wanted = 0;

	for (size_t i = 0; i < o->sample->count; i++)
		wanted += strcmp(o->sample->lines[i].key, "conflict") == 0;
	for (size_t i = 0; i < o->why.count; i++)
		came[i] = o->why.conflicts[i].request;
	if (wanted != o->why.count)
		return none_of(o, "", came, o->why.count);
	for (size_t i = 0; i < o->why.count; i++)
		if (strcmp(came[i], request) == 0)
			return NULL;
	return none_of(o, "", came, o->why.count);
}

static const char *check_because(struct outcome *o, const char *glob)
{
	const char *came[CONFLICTS_MAX];

	for (size_t i = 0; i < o->why.count; i++)
		came[i] = o->why.conflicts[i].because;
	return none_of(o, glob, came, o->why.count);
}

static const char *check_because_source(struct outcome *o, const char *id)
{
	const char *came[CONFLICTS_MAX];

	for (size_t i = 0; i < o->why.count; i++) {
		came[i] = o->why.conflicts[i].source;
		if (matches_any(&o->arena, id, came[i]))
			return NULL;
	}
	return none_of(o, "", came, o->why.count);
}

static const char *check_suggest(struct outcome *o, const char *glob)
{
	return none_of(o, glob, o->why.suggestions, o->why.suggestion_count);
}

static const char *check_group(struct outcome *o, const char *glob)
{
	const char *came[CONFLICTS_MAX];

	for (size_t i = 0; i < o->why.group_count; i++)
		came[i] = arena_printf(&o->arena, "%s -> %s", o->why.groups[i].members,
				       o->why.groups[i].stack);
	return none_of(o, glob, came, o->why.group_count);
}

static const char *check_overruled(struct outcome *o, const char *glob)
{
	const char *came[PLAN_ALLOW_MAX];

	for (size_t i = 0; i < o->plan.overruled_count; i++)
		came[i] = arena_printf(&o->arena, "%s: %s", o->plan.overruled[i].id,
				       o->plan.overruled[i].because);
	return none_of(o, glob, came, o->plan.overruled_count);
}

/* "ID ID", or "nothing". */
static const char *check_overrule(struct outcome *o, const char *ids)
{
	const char *came = o->why.allow_count ? "" : "nothing";

	for (size_t i = 0; i < o->why.allow_count; i++)
		came = arena_printf(&o->arena, "%s%s%s", came, i ? " " : "", o->why.allow[i]);
	return strcmp(came, ids) == 0 ? NULL : came;
}

static const char *check_error(struct outcome *o, const char *glob)
{
	return matches(glob, o->err.text) ? NULL : o->err.text;
}

static const struct key {
	const char *name;
	const char *(*check)(struct outcome *o, const char *value); /* NULL: part of the question */
} keys[] = {
	{"request", NULL},
	{"allow", NULL},
	{"accelerator", NULL},
	{"prefer", NULL},
	{"image", NULL},
	{"host", NULL},
	{"expect", check_expect},
	{"stack", check_stack},
	{"absent", check_absent},
	{"package", check_package},
	{"download", check_download},
	{"index", check_index},
	{"reason", check_reason},
	{"refused", check_refused},
	{"source", check_source},
	{"base", check_base},
	{"base-status", check_base_status},
	{"base-packages", check_base_packages},
	{"replaces", check_replaces},
	{"env", check_env},
	{"note", check_note},
	{"no-note", check_no_note},
	{"conflict", check_conflict},
	{"because", check_because},
	{"because-source", check_because_source},
	{"suggest", check_suggest},
	{"group", check_group},
	{"overruled", check_overruled},
	{"overrule", check_overrule},
	{"error", check_error},
};

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

/* --- one case ------------------------------------------------------------------------------ */

/* What of the outcome is wrong, a line each. */
static void check_lines(struct outcome *o, struct str *wrong)
{
	size_t expects = 0;

	for (size_t i = 0; i < o->sample->count; i++) {
		const struct line *line = &o->sample->lines[i];
		const struct key *key = find_key(line->key);
		const char *came = !key		? "there is no such key"
				   : key->check ? key->check(o, line->value)
						: NULL;

		expects += strcmp(line->key, "expect") == 0;
		if (!came)
			continue;
		str_addf(wrong, "\n%s:%d: %s: %s: %s: came: %s", o->sample->file, line->number,
			 o->sample->name, line->key, line->value, came);
		if (strcmp(line->key, "expect") == 0)
			return; /* the rest would say the same again */
	}
	if (expects != 1)
		str_addf(wrong, "\n%s:%d: %s: needs one 'expect:'", o->sample->file,
			 o->sample->number, o->sample->name);
}

static void test_sample(void **state)
{
	struct outcome *o = xmalloc(sizeof(*o));
	char text[4096];
	const char *broken;
	struct str wrong = STR_INIT;

	*o = (struct outcome){.arena = ARENA_INIT, .sample = *state};
	broken = ask(o);
	if (broken)
		str_addf(&wrong, "\n%s:%d: %s: %s", o->sample->file, o->sample->number,
			 o->sample->name, broken);
	else
		check_lines(o, &wrong);
	snprintf(text, sizeof(text), "%s", wrong.text);
	str_release(&wrong);
	arena_release(&o->arena);
	free(o);
	if (*text)
		fail_msg("%s", text);
}

static int run_samples(struct arena *arena)
{
	struct CMUnitTest *tests = ARENA_ARRAY(arena, sample_count + 1, struct CMUnitTest);

	for (size_t i = 0; i < sample_count; i++)
		tests[i] = (struct CMUnitTest){.name = samples[i]->name,
					       .test_func = test_sample,
					       .initial_state = samples[i]};
	/* what cmocka_run_group_tests_name() calls with the size of an array that is fixed */
	return _cmocka_run_group_tests("resolve_cases", tests, sample_count, NULL, NULL);
}

int main(void)
{
	struct scratch s = {ARENA_INIT, NULL};
	const char *root = source_root(&s), *folder, **names;
	struct error err = {0};
	int failed;

	folder = arena_printf(&s.arena, "%s/tests/cases/resolve", root);
	if (folder_list(folder, ".case", &s.arena, &names, &err) < 0 ||
	    catalog_load(arena_printf(&s.arena, "%s/recipes/catalog", root), &s.arena, &catalog,
			 &err) < 0)
		stop(folder, 0, err.text);
	for (; *names; names++)
		read_file(folder, *names, &s.arena);
	failed = run_samples(&s.arena);
	arena_release(&s.arena);
	return failed;
}
