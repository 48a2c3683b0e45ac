/* SPDX-License-Identifier: MIT */
#include "builder/dockerfile.h"

#include "core/json.h"
#include "core/str.h"
#include "core/words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"

static const struct {
	const char *name;
	bool takes_json;
} kinds[] = {
	[INSTRUCTION_ARG] = {"ARG", false},
	[INSTRUCTION_CMD] = {"CMD", true},
	[INSTRUCTION_COPY] = {"COPY", true},
	[INSTRUCTION_ENTRYPOINT] = {"ENTRYPOINT", true},
	[INSTRUCTION_ENV] = {"ENV", false},
	[INSTRUCTION_EXPOSE] = {"EXPOSE", false},
	[INSTRUCTION_LABEL] = {"LABEL", false},
	[INSTRUCTION_RUN] = {"RUN", true},
	[INSTRUCTION_SHELL] = {"SHELL", true},
	[INSTRUCTION_STOPSIGNAL] = {"STOPSIGNAL", false},
	[INSTRUCTION_USER] = {"USER", false},
	[INSTRUCTION_VOLUME] = {"VOLUME", true},
	[INSTRUCTION_WORKDIR] = {"WORKDIR", false},
};

static const char *const no_arguments[] = {NULL};

struct parser {
	const char *at;	     /* the next character of the file */
	int line;	     /* its line */
	const char *comment; /* the line before it */
	int begin;	     /* the line that the instruction under way begins on */
	struct arena *arena;
	struct dockerfile *file;
	struct build_stage *stage; /* NULL before the first FROM */
	struct words arguments;
	struct error *err;
};

const char *instruction_name(enum instruction_kind kind)
{
	return kinds[kind].name;
}

static int bad(struct parser *p, const char *why)
{
	return error_set(p->err, ERROR_USAGE, "%s:%d: %s", p->file->path, p->begin, why);
}

/*
 * One instruction in one line, continuations joined; comment lines between them go. False at the
 * end of the file.
 */
static bool next_instruction(struct parser *p, struct str *out)
{
	str_clear(out);
	p->begin = 0;
	p->comment = "";
	while (*p->at) {
		const char *line = p->at + strspn(p->at, BLANKS);
		size_t length = strcspn(line, "\n"), kept = length;
		bool more;

		p->line++;
		p->at = line + length + (line[length] == '\n');
		while (kept && strchr(BLANKS, line[kept - 1]))
			kept--;
		if (!out->length && (*line == '#' || !kept))
			p->comment = arena_strndup(p->arena, line + strspn(line, "# "),
						   kept - strspn(line, "# "));
		if (*line == '#' || !kept) {
			if (out->length && !kept && !*p->at)
				return true;
			continue;
		}
		if (!p->begin)
			p->begin = p->line;
		more = line[kept - 1] == '\\';
		str_add_bytes(out, line, more ? kept - 1 : kept);
		if (!more)
			return true;
	}
	return out->length > 0;
}

/* Cuts the first word off; "" at the end. */
static char *cut_word(char **text)
{
	char *word = *text + strspn(*text, BLANKS);
	size_t length = strcspn(word, BLANKS);

	*text = word + length;
	if (**text) {
		**text = '\0';
		(*text)++;
	}
	*text += strspn(*text, BLANKS);
	return word;
}

static int parse_from(struct parser *p, char *rest)
{
	struct build_stage *stage = &p->file->stages[p->file->stage_count];
	const char *base = cut_word(&rest), *as = cut_word(&rest), *name = cut_word(&rest);

	if (p->file->stage_count == STAGES_MAX)
		return bad(p, "more than 32 stages");
	if (starts_with(base, "--"))
		return bad(p, "FROM takes no options here; write FROM IMAGE [AS NAME]");
	if (!*base || (*as && (strcasecmp(as, "as") != 0 || !*name)) || *rest)
		return bad(p, "FROM is written FROM IMAGE [AS NAME]");
	p->file->stage_count++;
	*stage = (struct build_stage){.name = name, .base = base, .line = p->begin};
	stage->list = ARENA_ARRAY(p->arena, INSTRUCTIONS_MAX, struct instruction);
	p->stage = stage;
	return 0;
}

/* ["a", "b"] as words; sets nothing when the text is no JSON list of strings. */
static void parse_exec(struct parser *p, struct instruction *instruction)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct words words = WORDS_INIT(p->arena);
	struct error ignored = {0};
	const cJSON *item;

	if (*instruction->text != '[' ||
	    json_parse(instruction->text, strlen(instruction->text), "", &json, &ignored) < 0 ||
	    !cJSON_IsArray(json))
		return;
	cJSON_ArrayForEach (item, json) {
		if (!cJSON_IsString(item))
			return;
		words_add(&words, item->valuestring);
	}
	instruction->exec = words.list;
}

static int parse_copy_option(struct parser *p, struct instruction *instruction, const char *option)
{
	if (starts_with(option, "--from="))
		instruction->from = option + strlen("--from=");
	else if (starts_with(option, "--chown="))
		instruction->chown = option + strlen("--chown=");
	else if (starts_with(option, "--chmod="))
		instruction->chmod = option + strlen("--chmod=");
	else
		return bad(p, arena_printf(p->arena, "COPY does not take %.40s", option));
	return 0;
}

static int parse_options(struct parser *p, struct instruction *instruction, char *rest)
{
	while (starts_with(rest, "--")) {
		const char *option = cut_word(&rest);

		if (instruction->kind != INSTRUCTION_COPY)
			return bad(p, arena_printf(p->arena, "%s does not take %.40s",
						   instruction_name(instruction->kind), option));
		if (parse_copy_option(p, instruction, option) < 0)
			return -1;
	}
	instruction->text = rest;
	if (!*rest)
		return bad(p, arena_printf(p->arena, "%s needs something behind it",
					   instruction_name(instruction->kind)));
	if ((instruction->kind == INSTRUCTION_RUN || instruction->kind == INSTRUCTION_COPY) &&
	    starts_with(rest, "<<"))
		return bad(p, "here-documents are not taken; write the lines with continuations");
	return 0;
}

static int parse_instruction(struct parser *p, const char *name, char *rest)
{
	struct instruction instruction = {
		.line = p->begin, .comment = p->comment, .from = "", .chown = "", .chmod = ""};
	size_t kind = 0;

	while (kind < ARRAY_LEN(kinds) && strcasecmp(name, kinds[kind].name) != 0)
		kind++;
	if (kind == ARRAY_LEN(kinds))
		return bad(p, arena_printf(p->arena, "'%.40s' is no instruction that is taken here",
					   name));
	instruction.kind = (enum instruction_kind)kind;
	if (parse_options(p, &instruction, rest) < 0)
		return -1;
	if (kinds[kind].takes_json)
		parse_exec(p, &instruction);
	if (kind == INSTRUCTION_SHELL && !(instruction.exec && instruction.exec[0]))
		return bad(p, "SHELL is written SHELL [\"program\", \"option\"]");
	if (!p->stage && kind == INSTRUCTION_ARG) {
		words_add(&p->arguments, instruction.text);
		return 0;
	}
	if (!p->stage)
		return bad(p, "the first instruction must be FROM");
	if (p->stage->count == INSTRUCTIONS_MAX)
		return bad(p, "more than 512 instructions in one stage");
	p->stage->list[p->stage->count++] = instruction;
	return 0;
}

int dockerfile_parse(const char *path, const char *text, struct arena *arena,
		     struct dockerfile *dockerfile, struct error *err)
{
	_cleanup_(str_release) struct str line = {0};
	struct parser p = {.at = text,
			   .arena = arena,
			   .file = dockerfile,
			   .arguments = WORDS_INIT(arena),
			   .err = err};

	*dockerfile = (struct dockerfile){.path = path};
	str_init(&line);
	while (next_instruction(&p, &line)) {
		char *rest = arena_strdup(arena, line.text);
		const char *name = cut_word(&rest);
		int rc = strcasecmp(name, "FROM") == 0 ? parse_from(&p, rest)
						       : parse_instruction(&p, name, rest);

		if (rc < 0)
			return -1;
	}
	dockerfile->arguments = p.arguments.list ? p.arguments.list : no_arguments;
	if (!dockerfile->stage_count)
		return error_set(err, ERROR_USAGE, "%s: no FROM in it", path);
	return 0;
}

int dockerfile_stage(const struct dockerfile *dockerfile, const char *name, size_t before)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	for (size_t i = 0; i < before; i++)
		if (*dockerfile->stages[i].name &&
		    strcasecmp(dockerfile->stages[i].name, name) == 0)
			return (int)i;
	if (*name && !*end && name[0] != '-' && name[0] != '+' && number < before)
		return (int)number;
	return -1;
}
