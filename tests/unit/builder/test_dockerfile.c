/* SPDX-License-Identifier: MIT */
/* A Dockerfile's text into stages and instructions, and an instruction's text into words. */
#include "tests/unit/support.h"

#include "builder/native/dockerfile.h"
#include "core/str.h"

#include <stdio.h>

static struct dockerfile *parse(struct scratch *s, const char *text)
{
	struct dockerfile *file = ARENA_NEW(&s->arena, struct dockerfile);
	struct error err = {0};

	assert_fine(dockerfile_parse("d/Dockerfile", text, &s->arena, file, &err));
	return file;
}

/* The instruction of that number in the last stage. */
static const struct instruction *at(const struct dockerfile *file, size_t number)
{
	const struct build_stage *stage = &file->stages[file->stage_count - 1];

	assert_in_range(number, 0, stage->count - 1);
	return &stage->list[number];
}

static void test_every_instruction(void **state)
{
	static const char *const names[] = {
		"ARG", "CMD",	"COPY",	      "ENTRYPOINT", "ENV",    "EXPOSE", "LABEL",
		"RUN", "SHELL", "STOPSIGNAL", "USER",	    "VOLUME", "WORKDIR"};
	struct scratch *s = *state;
	struct str text = STR_INIT;
	struct dockerfile *file;

	str_add(&text, "from scratch\n");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		str_addf(&text, "%s [\"a\", \"b\"]\n", names[i]);
	file = parse(s, text.text);
	assert_int_equal(file->stages[0].count, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct instruction *one = at(file, i);
		bool has_json = strstr("CMD COPY ENTRYPOINT RUN SHELL VOLUME", names[i]) != NULL;

		assert_string_equal(instruction_name(one->kind), names[i]);
		assert_int_equal(one->line, (int)i + 2);
		assert_string_equal(one->text, "[\"a\", \"b\"]");
		assert_int_equal(one->exec != NULL, has_json);
		assert_string_equal(one->from, "");
	}
	str_release(&text);
}

static void test_continuations(void **state)
{
	struct scratch *s = *state;
	const struct dockerfile *file = parse(s, "# a comment\n\n  FROM scratch\r\n"
						 "RUN one && \\\n"
						 "   # said between\n"
						 "\n"
						 "   two \\  \n"
						 "#three\n"
						 "\t\n"
						 "    && four   \n"
						 "\tENV A=b\\\nc\\\n  d\n"
						 "RUN five \\\n"
						 "  six");

	assert_int_equal(file->stages[0].line, 3);
	assert_string_equal(at(file, 0)->text, "one &&    two     && four");
	assert_int_equal(at(file, 0)->line, 4);
	assert_string_equal(at(file, 1)->text, "A=bc  d");
	assert_int_equal(at(file, 1)->line, 11);
	assert_string_equal(at(file, 2)->text, "five   six");
	assert_int_equal(file->stages[0].count, 3);
	/* the file ends where more was promised */
	assert_string_equal(at(parse(s, "FROM scratch\nRUN a \\\n"), 0)->text, "a");
	assert_string_equal(at(parse(s, "FROM scratch\nRUN a \\\n\n# end\n"), 0)->text, "a");
	assert_string_equal(at(parse(s, "FROM scratch\nRUN a \\"), 0)->text, "a");
	/* a backslash within a line and two at its end */
	assert_string_equal(at(parse(s, "FROM scratch\nRUN a\\nb\n"), 0)->text, "a\\nb");
	/* as Docker has it: the first of two stays */
	assert_string_equal(at(parse(s, "FROM scratch\nRUN a\\\\\nb\n"), 0)->text, "a\\b");
	assert_string_equal(at(parse(s, "FROM scratch\nRUN echo '#no comment'\n"), 0)->text,
			    "echo '#no comment'");
}

static void assert_exec(struct scratch *s, const char *instruction, const char *expected)
{
	const struct instruction *one =
		at(parse(s, arena_printf(&s->arena, "FROM scratch\n%s\n", instruction)), 0);
	struct str words = STR_INIT;

	if (!one->exec)
		str_add(&words, "no list");
	for (const char *const *word = one->exec; word && *word; word++)
		str_addf(&words, "<%s>", *word);
	assert_string_equal(words.text, expected);
	str_release(&words);
}

static void test_json_forms(void **state)
{
	struct scratch *s = *state;

	assert_exec(s, "RUN [\"a b\", \"c\\\"d\", \"$E\", \"\"]", "<a b><c\"d><$E><>");
	assert_exec(s, "RUN [ \"a\" , \\\n \"b\" ]", "<a><b>");
	assert_exec(s, "COPY --from=x [\"a b\", \"c\"]", "<a b><c>");
	assert_exec(s, "CMD []", "");
	assert_exec(s, "ENTRYPOINT []", "");
	/* what is no list of texts is a line for the shell */
	assert_exec(s, "RUN [ -f /etc/passwd ]", "no list");
	assert_exec(s, "CMD [\"a\", 1]", "no list");
	assert_exec(s, "CMD ['a']", "no list");
	assert_exec(s, "RUN [\"a\"] && true", "no list");
	assert_exec(s, "CMD {\"a\": 1}", "no list");
	assert_exec(s, "ENV [\"a\"]", "no list");
}

static void test_options(void **state)
{
	struct scratch *s = *state;
	const struct dockerfile *file =
		parse(s, "FROM scratch\n"
			 "COPY --from=build --chown=7:users   --chmod=0640 a --b c\n"
			 "COPY --from=0 a b\nCOPY a b\n"
			 "RUN ls --all\n");

	assert_string_equal(at(file, 0)->from, "build");
	assert_string_equal(at(file, 0)->chown, "7:users");
	assert_string_equal(at(file, 0)->chmod, "0640");
	assert_string_equal(at(file, 0)->text, "a --b c");
	assert_string_equal(at(file, 1)->from, "0");
	assert_string_equal(at(file, 2)->from, "");
	assert_string_equal(at(file, 2)->chown, "");
	assert_string_equal(at(file, 3)->text, "ls --all");
}

static void test_stages(void **state)
{
	struct scratch *s = *state;
	const struct dockerfile *file =
		parse(s, "ARG VERSION=12\nARG EMPTY\narg Q=\"a b\"\n"
			 "FROM debian:${VERSION} AS base\nRUN a\n"
			 "FROM $EMPTY/x as Second\nRUN b\nRUN c\n"
			 "FROM base\nFROM host:5000/team/x@sha256:abc AS base\n");

	assert_string_equal(file->path, "d/Dockerfile");
	assert_string_equal(file->arguments[0], "VERSION=12");
	assert_string_equal(file->arguments[1], "EMPTY");
	assert_string_equal(file->arguments[2], "Q=a b");
	assert_null(file->arguments[3]);
	assert_int_equal(file->stage_count, 4);
	assert_string_equal(file->stages[0].base, "debian:12");
	assert_string_equal(file->stages[0].name, "base");
	assert_int_equal(file->stages[0].count, 1);
	assert_string_equal(file->stages[1].base, "/x");
	assert_string_equal(file->stages[1].name, "Second");
	assert_int_equal(file->stages[1].count, 2);
	assert_int_equal(file->stages[1].line, 6);
	assert_string_equal(file->stages[2].name, "");
	assert_string_equal(file->stages[3].base, "host:5000/team/x@sha256:abc");

	assert_int_equal(dockerfile_stage(file, "base", 2), 0);
	assert_int_equal(dockerfile_stage(file, "SECOND", 2), 1);
	assert_int_equal(dockerfile_stage(file, "second", 1), -1);
	assert_int_equal(dockerfile_stage(file, "0", 2), 0);
	assert_int_equal(dockerfile_stage(file, "1", 2), 1);
	assert_int_equal(dockerfile_stage(file, "2", 2), -1);
	assert_int_equal(dockerfile_stage(file, "", 2), -1);
	assert_int_equal(dockerfile_stage(file, "-0", 2), -1);
	assert_int_equal(dockerfile_stage(file, "+1", 2), -1);
	assert_int_equal(dockerfile_stage(file, "0x", 2), -1);
	/* of two of one name the nearest, as in Docker */
	assert_int_equal(dockerfile_stage(file, "base", 4), 3);
	assert_int_equal(dockerfile_stage(file, "base", 3), 0);
}

static void refused(struct scratch *s, const char *text, const char *place, const char *why)
{
	struct dockerfile *file = ARENA_NEW(&s->arena, struct dockerfile);
	struct error err;

	assert_fails(dockerfile_parse("d/Dockerfile", text, &s->arena, file, &err), ERROR_USAGE,
		     why);
	assert_true(starts_with(err.text, arena_printf(&s->arena, "d/Dockerfile%s: ", place)));
}

static void test_refused(void **state)
{
	struct scratch *s = *state;

	refused(s, "", "", "no FROM");
	refused(s, "# nothing\n", "", "no FROM");
	refused(s, "ARG A=1\n", "", "no FROM");
	refused(s, "RUN a\nFROM x\n", ":1", "the first instruction must be FROM");
	refused(s, "\n\nFROM\n", ":3", "FROM IMAGE [AS NAME]");
	refused(s, "FROM a AS\n", ":1", "FROM IMAGE [AS NAME]");
	refused(s, "FROM a b\n", ":1", "FROM IMAGE [AS NAME]");
	refused(s, "FROM a AS b c\n", ":1", "FROM IMAGE [AS NAME]");
	refused(s, "FROM --platform=linux/arm64 a\n", ":1", "no options");
	refused(s, "FROM ${A\n", ":1", "not closed");
	refused(s, "FROM $A\n", ":1", "FROM IMAGE [AS NAME]");
	refused(s, "FROM a\nADD b c\n", ":2", "'ADD'");
	refused(s, "FROM a\nONBUILD RUN b\n", ":2", "'ONBUILD'");
	refused(s, "FROM a\nHEALTHCHECK NONE\n", ":2", "'HEALTHCHECK'");
	refused(s, "FROM a\nMAINTAINER me\n", ":2", "'MAINTAINER'");
	refused(s, "FROM a\n\nRUN b \\\n  c\nwhat is this\n", ":5", "'what'");
	refused(s, "FROM a\nRUN\n", ":2", "RUN needs something");
	refused(s, "FROM a\nCOPY --from=x\n", ":2", "COPY needs something");
	refused(s, "FROM a\nRUN []\n", ":2", "RUN needs something");
	refused(s, "FROM a\nRUN --mount=type=cache,target=/x b\n", ":2", "RUN does not take --mou");
	refused(s, "FROM a\nCOPY --link b c\n", ":2", "COPY does not take --link");
	refused(s, "FROM a\nSHELL /bin/bash -c\n", ":2", "SHELL is written");
	refused(s, "FROM a\nSHELL []\n", ":2", "SHELL is written");
	refused(s, "FROM a\nRUN <<EOF\necho\nEOF\n", ":2", "here-documents");
	refused(s, "FROM a\nRUN cat <<-'EOF' >x\necho\nEOF\n", ":2", "here-documents");
	refused(s, "FROM a\nCOPY <<EOF /x\necho\nEOF\n", ":2", "here-documents");
	refused(s, "# escape=`\nFROM a\n", ":1", "escape");
	refused(s, "# syntax=docker/dockerfile:1\n#  Escape = `\nFROM a\n", ":2", "escape");
}

/* What looks like the refused, and is not. */
static void test_not_refused(void **state)
{
	struct scratch *s = *state;

	parse(s, "# escape=\\\nFROM a\n");
	parse(s, "# a comment\n# escape=` is only said here\nFROM a\n");
	parse(s, "FROM a\n# escape=`\n");
	parse(s, "# syntax=docker/dockerfile:1\nFROM a\n");
	parse(s, "FROM a\nRUN cat <<<word && echo $((1<<2)) $((1 << 2))\n");
}

static void test_ceilings(void **state)
{
	struct scratch *s = *state;
	struct str text = STR_INIT;

	for (int i = 0; i < STAGES_MAX; i++)
		str_add(&text, "FROM a\n");
	parse(s, text.text);
	str_add(&text, "FROM a\n");
	refused(s, text.text, ":33", "more than 32 stages");
	str_clear(&text);
	str_add(&text, "FROM a\n");
	for (int i = 0; i < INSTRUCTIONS_MAX; i++)
		str_add(&text, "RUN b\n");
	parse(s, text.text);
	str_add(&text, "RUN b\n");
	refused(s, text.text, ":514", "more than 512 instructions");
	str_release(&text);
}

/* --- words ---------------------------------------------------------------------------------- */

static const char *value(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "A") == 0)
		return "aa";
	if (strcmp(name, "BLANKS") == 0)
		return " b  c ";
	if (strcmp(name, "QUOTE") == 0)
		return "\"'$A";
	return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static void assert_words(struct scratch *s, const char *text, const char *expected)
{
	const char *const *list, *why = "";
	struct str words = STR_INIT;

	if (dockerfile_words(text, value, NULL, &s->arena, &list, &why) < 0)
		fail_msg("<%s>: %s", text, why);
	for (; *list; list++)
		str_addf(&words, "<%s>", *list);
	assert_string_equal(words.text, expected);
	str_release(&words);
}

static void test_words(void **state)
{
	struct scratch *s = *state;

	assert_words(s, "", "");
	assert_words(s, " \t ", "");
	assert_words(s, " a\tb  c ", "<a><b><c>");
	assert_words(s, "\"a b\"'c d'e f", "<a bc de><f>");
	assert_words(s, "\"\" ''", "<><>");
	assert_words(s, "A=\"x y\" B='z \"q\"'", "<A=x y><B=z \"q\">");
	assert_words(s, "a\\ b \\\"c \\$A \\\\", "<a b><\"c><$A><\\>");
	assert_words(s, "\"a\\\"b\\\\c\\$A\\n\"", "<a\"b\\c$A\\n>");
	assert_words(s, "'a\\'b", "<a\\b>");
	assert_words(s, "a\\", "<a\\>");
	assert_words(s, "#a b#c", "<#a><b#c>");
	assert_words(s, "\xc3\xa9 \xff", "<\xc3\xa9><\xff>");
}

static void test_variables(void **state)
{
	struct scratch *s = *state;

	assert_words(s, "$A ${A} x$A.y ${A}B $AB", "<aa><aa><xaa.y><aaB><>");
	assert_words(s, "\"$A ${A}\" '$A ${A}'", "<aa aa><$A ${A}>");
	assert_words(s, "$ a$ $$ $1 \"$\" $-", "<$><a$><$$><><$><$->");
	assert_words(s, "$BLANKS \"$BLANKS\" $QUOTE", "< b  c >< b  c ><\"'$A>");
	assert_words(s, "${A:-x} ${NO:-x} ${EMPTY:-x} ${EMPTY:-}", "<aa><x><x><>");
	assert_words(s, "${A:+x} ${NO:+x}| ${EMPTY:+x}|", "<x><|><|>");
	assert_words(s, "${NO:-a b}c ${NO:-\"}\"} ${NO:-'$A'}", "<a bc><}><$A>");
	assert_words(s, "${NO:-${EMPTY:-$A}} ${NO:-${A:+${NO:-y}}}", "<aa><y>");
	assert_words(s, "\"${NO:-a b}\" \\${A}", "<a b><${A}>");
	assert_words(s, "${NO:-${NO:-${NO:-${NO:-${NO:-${NO:-${NO:-${NO:-x}}}}}}}}", "<x>");
}

static void words_refused(struct scratch *s, const char *text, const char *expected)
{
	const char *const *list, *why = "";

	if (dockerfile_words(text, value, NULL, &s->arena, &list, &why) != -1)
		fail_msg("<%s> is taken", text);
	assert_has(why, expected);
}

static void test_words_refused(void **state)
{
	struct scratch *s = *state;

	words_refused(s, "a \"b", "double quote is not closed");
	words_refused(s, "\"a\\\"", "double quote is not closed");
	words_refused(s, "\"\\", "double quote is not closed");
	words_refused(s, "a 'b", "single quote is not closed");
	words_refused(s, "${A", "not closed");
	words_refused(s, "${", "without a name");
	words_refused(s, "${}", "without a name");
	words_refused(s, "${A:-b", "not closed");
	words_refused(s, "${A:", "not closed");
	words_refused(s, "\"${A:-b\"", "not closed");
	words_refused(s, "${A-b}", "more than a name");
	words_refused(s, "${A:?b}", "more than a name");
	words_refused(s, "${A%b}", "more than a name");
	words_refused(s, "${N:-${N:-${N:-${N:-${N:-${N:-${N:-${N:-${N:-x}}}}}}}}}", "too deeply");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_every_instruction),
		SCRATCH_TEST(test_continuations),
		SCRATCH_TEST(test_json_forms),
		SCRATCH_TEST(test_options),
		SCRATCH_TEST(test_stages),
		SCRATCH_TEST(test_refused),
		SCRATCH_TEST(test_not_refused),
		SCRATCH_TEST(test_ceilings),
		SCRATCH_TEST(test_words),
		SCRATCH_TEST(test_variables),
		SCRATCH_TEST(test_words_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
