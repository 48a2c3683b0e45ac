/* SPDX-License-Identifier: MIT */
#include "builder/recipe/host_script.h"

#include "core/quote.h"
#include "resolver/rules/rule_image.h"

#include <string.h>

/* The line without what only a RUN needs: "cmd; \" ends there, "cmd ARG \" goes on. */
static size_t line_length(const char *line, size_t length)
{
	if (length >= 3 && strncmp(line + length - 3, "; \\", 3) == 0 &&
	    (length == 3 || line[length - 4] != ';'))
		length -= 3;
	while (length && line[length - 1] == ' ')
		length--;
	return length;
}

static bool goes_on(const char *line, size_t length)
{
	return length && line[length - 1] == '\\';
}

/* The lines of one command with its continuations; returns what follows them. */
static const char *host_script_add_command(struct str *out, const char *text, const char *margin)
{
	bool more = true;

	while (more && *text) {
		size_t length = strcspn(text, "\n"), indent = strspn(text, " ");
		int kept;

		indent = indent >= 4 ? 4 : 0; /* that of continuation lines */
		more = goes_on(text, length);
		kept = (int)line_length(text, length) - (int)indent;
		if (kept > 0 && !(kept == 1 && text[indent] == '\\'))
			str_addf(out, "%s%.*s\n", margin, kept, text + indent);
		text += length + (text[length] == '\n');
	}
	return text;
}

void host_script_add_lines(struct str *out, const char *text)
{
	while (*text)
		text = host_script_add_command(out, text, "");
}

/* A RUN's text, from behind "RUN "; returns what follows it. */
static const char *add_run(struct str *out, const char *text)
{
	if (starts_with(text, "set -eu; ")) /* the script's own setting */
		text += strlen("set -eu; ");
	str_add(out, "(\n");
	text = host_script_add_command(out, text, "\t");
	str_add(out, ")\n\n");
	return text;
}

static const char *skip_instruction(const char *text)
{
	bool more = true;

	while (more && *text) {
		size_t length = strcspn(text, "\n");

		more = goes_on(text, length);
		text += length + (text[length] == '\n');
	}
	return text;
}

void host_script_add_steps(struct str *out, const char *section)
{
	const char *comment = NULL; /* it belongs to the RUN below it, or to none */

	while (*section) {
		size_t length = strcspn(section, "\n");

		if (*section == '#') {
			comment = section;
			section += length + (section[length] == '\n');
		} else if (starts_with(section, "RUN ")) {
			if (comment)
				str_addf(out, "%.*s\n", (int)strcspn(comment, "\n"), comment);
			comment = NULL;
			section = add_run(out, section + strlen("RUN "));
		} else {
			section = skip_instruction(section);
		}
	}
}

void host_script_add_copy(struct str *out, const char *path, const char *to, bool is_file)
{
	if (is_file) {
		str_addf(out, "install -D --mode=\"$(stat -c %%a \"$here/%s\")\" \"$here/%s\" ",
			 path, path);
		quote_word(out, to);
		str_add_char(out, '\n');
		return;
	}
	str_add(out, "mkdir -p ");
	quote_word(out, to);
	str_addf(out, "\ncp -R \"$here/%s/.\" ", path);
	quote_word(out, to);
	str_add_char(out, '\n');
}

struct plan *host_script_plan(const struct plan *plan, const struct catalog *catalog,
			      struct arena *arena)
{
	struct plan *host = ARENA_NEW(arena, struct plan);
	const struct choice *cuda = plan_choice(plan, "cuda"), *os = plan_choice(plan, "os");
	const struct table *table = catalog_table(catalog_for(catalog, plan->arch, arena), "os");

	*host = *plan;
	host->base.name = "";
	/* nothing of NVIDIA's stands beside a CUDA that comes with a wheel */
	for (size_t row = 0; cuda && !*cuda->wheel && os && table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "version"), os->version) == 0)
			host->base.packages = toolkit_package(
				cuda->version,
				catalog_exact_sign(catalog,
						   table_cell(table, row, "package_manager")),
				arena);
	return host;
}
