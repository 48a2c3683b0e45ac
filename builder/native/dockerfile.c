/* SPDX-License-Identifier: MIT */
#include "builder/native/dockerfile.h"

#include "core/json.h"
#include "core/str.h"
#include "core/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define NESTING_MAX 8 /* ${A:-${B:-...}} */

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

static const char *const no_words[] = {NULL};

struct parser {
	const char *at;	     /* the next character of the file */
	int line;	     /* its line */
	const char *comment; /* the line before it */
	int begin;	     /* the line on which the instruction begins */
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

static int dockerfile_bad(struct parser *p, const char *why)
{
	return error_set(p->err, ERROR_USAGE, "%s:%d: %s", p->file->path, p->begin, why);
}

/* The text of a comment above an instruction, without its "#". */
static void take_comment(struct parser *p, const char *text, const char *end)
{
	while (text < end && strchr("# ", *text))
		text++;
	p->comment = arena_strndup(p->arena, text, (size_t)(end - text));
}

/*
 * Reads one instruction as one line: continuations are joined, comment lines between them dropped.
 * False at the end of the file.
 */
static bool next_instruction(struct parser *p, struct str *out)
{
	str_clear(out);
	p->begin = 0;
	p->comment = "";
	while (*p->at) {
		const char *line = p->at, *text = line + strspn(line, BLANKS), *end;
		bool more;

		p->line++;
		end = text + strcspn(text, "\n");
		p->at = end + (*end == '\n');
		while (end > text && strchr(BLANKS, end[-1]))
			end--;
		if (*text == '#' || end == text) {
			if (!p->begin)
				take_comment(p, text, end);
			continue;
		}
		/* blanks before a continuation may stand between two words */
		if (p->begin)
			text = line;
		else
			p->begin = p->line;
		more = end[-1] == '\\';
		str_add_bytes(out, text, (size_t)(end - text) - more);
		if (!more)
			return true;
	}
	str_trim(out);
	return out->length > 0;
}

/*
 * "# escape=`" before anything else would give every backslash another meaning. Dockerfile
 * reference, "Parser directives".
 */
static int check_directives(struct parser *p, const char *text)
{
	for (p->begin = 1; *text == '#'; p->begin++) {
		const char *name = text + 1 + strspn(text + 1, BLANKS);
		const char *sign = name + strcspn(name, BLANKS "=\n"), *value = sign;

		value += strspn(value, BLANKS);
		if (*value != '=')
			return 0;
		value += 1 + strspn(value + 1, BLANKS);
		if (sign - name == 6 && strncasecmp(name, "escape", 6) == 0 && *value != '\\')
			return dockerfile_bad(p, "another escape character than \\ is not taken");
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return 0;
}

/* Takes the first word off the text; "" at its end. */
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

/* The value of an ARG before the first FROM. */
static const char *argument(void *arg, const char *name)
{
	const struct parser *p = arg;
	size_t length = strlen(name);
	const char *value = NULL;

	for (size_t i = 0; i < p->arguments.count; i++)
		if (strncmp(p->arguments.list[i], name, length) == 0 &&
		    p->arguments.list[i][length] == '=')
			value = p->arguments.list[i] + length + 1;
	return value;
}

static int dockerfile_expand(struct parser *p, const char *text, const char *const **words)
{
	const char *why;

	if (dockerfile_words(text, argument, p, p->arena, words, &why) < 0)
		return dockerfile_bad(p, why);
	return 0;
}

static int parse_from(struct parser *p, char *rest)
{
	struct build_stage *stage = &p->file->stages[p->file->stage_count];
	const char *base = cut_word(&rest), *as = cut_word(&rest), *name = cut_word(&rest);
	const char *const *words;

	if (p->file->stage_count == STAGES_MAX)
		return dockerfile_bad(p, "more than 32 stages");
	if (starts_with(base, "--"))
		return dockerfile_bad(p, "FROM takes no options here; write FROM IMAGE [AS NAME]");
	if (dockerfile_expand(p, base, &words) < 0)
		return -1;
	base = words[0] ? words[0] : "";
	if (!*base || (*as && (strcasecmp(as, "as") != 0 || !*name)) || *rest)
		return dockerfile_bad(p, "FROM is written FROM IMAGE [AS NAME]");
	p->file->stage_count++;
	*stage = (struct build_stage){.name = name, .base = base, .line = p->begin};
	stage->list = ARENA_ARRAY(p->arena, INSTRUCTIONS_MAX, struct instruction);
	p->stage = stage;
	return 0;
}

/* Reads ["a", "b"] as words; sets nothing when the text is not a JSON list of strings. */
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
	instruction->exec = words.list ? words.list : no_words;
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
		return dockerfile_bad(p,
				      arena_printf(p->arena, "COPY does not take %.40s", option));
	return 0;
}

/* "<<EOF", "<<-'EOF'", "3<<EOF": BuildKit's rule for a word that begins a here-document. */
static bool has_here_document(const char *text)
{
	for (; *text; text += strcspn(text, BLANKS), text += strspn(text, BLANKS)) {
		const char *name = text + strspn(text, "0123456789");

		if (!starts_with(name, "<<"))
			continue;
		name += 2 + (name[2] == '-');
		name += *name == '"' || *name == '\'';
		if (isalpha((unsigned char)*name) || *name == '_')
			return true;
	}
	return false;
}

static int parse_options(struct parser *p, struct instruction *instruction, char *rest)
{
	while (starts_with(rest, "--")) {
		const char *option = cut_word(&rest);

		if (instruction->kind != INSTRUCTION_COPY)
			return dockerfile_bad(p, arena_printf(p->arena, "%s does not take %.40s",
							      instruction_name(instruction->kind),
							      option));
		if (parse_copy_option(p, instruction, option) < 0)
			return -1;
	}
	instruction->text = rest;
	if (!*rest)
		return dockerfile_bad(p, arena_printf(p->arena, "%s needs something behind it",
						      instruction_name(instruction->kind)));
	if ((instruction->kind == INSTRUCTION_RUN || instruction->kind == INSTRUCTION_COPY) &&
	    has_here_document(rest))
		return dockerfile_bad(
			p, "here-documents are not taken; write the lines with continuations");
	return 0;
}

static int parse_instruction(struct parser *p, const char *name, char *rest)
{
	struct instruction instruction = {
		.line = p->begin, .comment = p->comment, .from = "", .chown = "", .chmod = ""};
	const char *const *words;
	size_t kind = 0;

	while (kind < ARRAY_LEN(kinds) && strcasecmp(name, kinds[kind].name) != 0)
		kind++;
	if (kind == ARRAY_LEN(kinds))
		return dockerfile_bad(
			p, arena_printf(p->arena, "'%.40s' is no instruction that is taken here",
					name));
	instruction.kind = (enum instruction_kind)kind;
	if (parse_options(p, &instruction, rest) < 0)
		return -1;
	if (kinds[kind].takes_json)
		parse_exec(p, &instruction);
	if (kind == INSTRUCTION_RUN && instruction.exec && !instruction.exec[0])
		return dockerfile_bad(p, "RUN needs something behind it");
	if (kind == INSTRUCTION_SHELL && !(instruction.exec && instruction.exec[0]))
		return dockerfile_bad(p, "SHELL is written SHELL [\"program\", \"option\"]");
	if (!p->stage && kind == INSTRUCTION_ARG) {
		if (dockerfile_expand(p, instruction.text, &words) < 0)
			return -1;
		words_add_all(&p->arguments, words);
		return 0;
	}
	if (!p->stage)
		return dockerfile_bad(p, "the first instruction must be FROM");
	if (p->stage->count == INSTRUCTIONS_MAX)
		return dockerfile_bad(p, "more than 512 instructions in one stage");
	p->stage->list[p->stage->count++] = instruction;
	return 0;
}

int dockerfile_parse(const char *path, const char *text, struct arena *arena,
		     struct dockerfile *dockerfile, struct error *err)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct parser p = {.at = text,
			   .arena = arena,
			   .file = dockerfile,
			   .arguments = WORDS_INIT(arena),
			   .err = err};

	*dockerfile = (struct dockerfile){.path = path};
	if (check_directives(&p, text) < 0)
		return -1;
	while (next_instruction(&p, &line)) {
		char *rest = arena_strdup(arena, line.text);
		const char *name = cut_word(&rest);
		int rc = strcasecmp(name, "FROM") == 0 ? parse_from(&p, rest)
						       : parse_instruction(&p, name, rest);

		if (rc < 0)
			return -1;
	}
	dockerfile->arguments = p.arguments.list ? p.arguments.list : no_words;
	if (!dockerfile->stage_count)
		return error_set(err, ERROR_USAGE, "%s: no FROM in it", path);
	return 0;
}

int dockerfile_stage(const struct dockerfile *dockerfile, const char *name, size_t before)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	for (size_t i = before; i-- > 0;)
		if (*dockerfile->stages[i].name &&
		    strcasecmp(dockerfile->stages[i].name, name) == 0)
			return (int)i;
	if (*name && !*end && name[0] != '-' && name[0] != '+' && number < before)
		return (int)number;
	return -1;
}

int64_t dockerfile_epoch(const struct dockerfile *dockerfile)
{
	static const char name[] = "SOURCE_DATE_EPOCH=";

	for (const char *const *a = dockerfile->arguments; *a; a++)
		if (starts_with(*a, name))
			return strtoll(*a + strlen(name), NULL, 10);
	for (size_t i = 0; i < dockerfile->stage_count; i++)
		for (size_t k = 0; k < dockerfile->stages[i].count; k++) {
			const struct instruction *at = &dockerfile->stages[i].list[k];

			if (at->kind == INSTRUCTION_ARG && starts_with(at->text, name))
				return strtoll(at->text + strlen(name), NULL, 10);
		}
	return 0;
}

/* --- words with variables put in ------------------------------------------------------------- */

struct lexer {
	const char *at;
	const char *(*value)(void *arg, const char *name);
	void *arg;
	struct arena *arena;
	const char *why;
	int depth;
};

static int add_until(struct lexer *x, const char *stop, struct str *out);

/* ":-WORD" or ":+WORD" behind a name in braces, up to the closing one. */
static int add_otherwise(struct lexer *x, const char *value, struct str *out)
{
	_cleanup_(str_release) struct str word = STR_INIT;
	char how = x->at[1];

	x->at += 2;
	if (++x->depth > NESTING_MAX) {
		x->why = "${...} is nested too deeply";
		return -1;
	}
	if (add_until(x, "}", &word) < 0)
		return -1;
	x->depth--;
	if (how == '-' && (!value || !*value))
		str_add(out, word.text);
	else if (how == '-')
		str_add(out, value);
	else if (value && *value)
		str_add(out, word.text);
	return 0;
}

/* x->at is behind the "$". */
static int add_variable(struct lexer *x, struct str *out)
{
	bool braces = *x->at == '{';
	const char *name = x->at + braces, *value;
	size_t length = strspn(name, NAME_CHARS);

	if (!length) {
		if (braces) {
			x->why = "${ without a name";
			return -1;
		}
		str_add_char(out, '$');
		return 0;
	}
	value = x->value(x->arg, arena_strndup(x->arena, name, length));
	x->at = name + length;
	if (braces && x->at[0] == ':' && (x->at[1] == '-' || x->at[1] == '+')) {
		if (add_otherwise(x, value, out) < 0)
			return -1;
	} else if (value) {
		str_add(out, value);
	}
	if (braces && *x->at != '}') {
		x->why = "${ is not closed, or holds more than a name, :- and :+";
		return -1;
	}
	x->at += braces;
	return 0;
}

static int add_double_quoted(struct lexer *x, struct str *out)
{
	for (x->at++; *x->at && *x->at != '"';) {
		if (*x->at == '\\' && x->at[1] && strchr("\"$\\", x->at[1])) {
			str_add_char(out, x->at[1]);
			x->at += 2;
		} else if (*x->at == '$') {
			x->at++;
			if (add_variable(x, out) < 0)
				return -1;
		} else {
			str_add_char(out, *x->at++);
		}
	}
	if (!*x->at) {
		x->why = "a double quote is not closed";
		return -1;
	}
	x->at++;
	return 0;
}

static int add_single_quoted(struct lexer *x, struct str *out)
{
	const char *end = strchr(x->at + 1, '\'');

	if (!end) {
		x->why = "a single quote is not closed";
		return -1;
	}
	str_add_bytes(out, x->at + 1, (size_t)(end - x->at - 1));
	x->at = end + 1;
	return 0;
}

/* Adds up to one of the `stop` characters outside of quotes, or the end. */
static int add_until(struct lexer *x, const char *stop, struct str *out)
{
	while (*x->at && !strchr(stop, *x->at)) {
		int rc = 0;

		if (*x->at == '"') {
			rc = add_double_quoted(x, out);
		} else if (*x->at == '\'') {
			rc = add_single_quoted(x, out);
		} else if (*x->at == '$') {
			x->at++;
			rc = add_variable(x, out);
		} else {
			if (*x->at == '\\' && x->at[1])
				x->at++;
			str_add_char(out, *x->at++);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

int dockerfile_words(const char *text, const char *(*value)(void *arg, const char *name), void *arg,
		     struct arena *arena, const char *const **list, const char **why)
{
	struct lexer x = {.at = text, .value = value, .arg = arg, .arena = arena};
	struct words words = WORDS_INIT(arena);

	for (;;) {
		_cleanup_(str_release) struct str word = STR_INIT;

		x.at += strspn(x.at, " \t");
		if (!*x.at)
			break;
		if (add_until(&x, " \t", &word) < 0) {
			*why = x.why;
			return -1;
		}
		words_add(&words, word.text);
	}
	*list = words.list ? words.list : no_words;
	return 0;
}
