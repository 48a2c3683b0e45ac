/* SPDX-License-Identifier: MIT */
#include "builder/recipe/stack_values.h"

#include "builder/recipe/beside.h"
#include "builder/recipe/companions.h"
#include "builder/recipe/gpu_values.h"
#include "builder/recipe/index_wheels.h"
#include "builder/recipe/pins.h"
#include "builder/recipe/toolkit_values.h"
#include "core/str.h"
#include "plan/component.h"
#include "plan/version.h"

#include <string.h>

#define NVIDIA_IMAGE "docker.io/nvidia/cuda:"
#define DEVEL "-devel-"
#define TOOLKIT "cuda-toolkit-"
#define LINE_COLUMNS 138 /* of a list of packages or labels */
#define INDENT "      "
#define HTTPS "https://" /* what every download of the catalog begins with */

/* Adds a word to the lines of an instruction: behind a blank where it fits, else on a line of its own. */
static void add_wrapped(struct str *lines, size_t *column, const char *word, size_t length)
{
	bool fits = *column && *column + 1 + length <= LINE_COLUMNS;

	str_addf(lines, "%s%.*s",
		 fits		 ? " "
		 : lines->length ? " \\\n" INDENT
				 : INDENT,
		 (int)length, word);
	*column = (fits ? *column + 1 : strlen(INDENT)) + length;
}

const char *package_lines(const char *packages, struct arena *arena)
{
	_cleanup_(str_release) struct str lines = STR_INIT;
	size_t column = 0;

	while (*packages) {
		size_t length = strcspn(packages, ";");

		if (length)
			add_wrapped(&lines, &column, packages, length);
		packages += length + (packages[length] == ';');
	}
	return lines.length ? arena_strdup(arena, lines.text) : "";
}

const char *package_lines_flow(const char *lines, struct arena *arena)
{
	static const char between[] = " \\\n\t";
	_cleanup_(str_release) struct str packages = STR_INIT;

	for (lines += strspn(lines, between); *lines; lines += strspn(lines, between)) {
		size_t length = strcspn(lines, between);

		if (!list_has(packages.text ? packages.text : "", lines, length))
			str_addf(&packages, "%s%.*s", packages.length ? ";" : "", (int)length,
				 lines);
		lines += length;
	}
	return packages.length ? package_lines(packages.text, arena) : "";
}

static void stack_values_set(struct values *values, struct arena *arena, const char *component,
			     const char *name, const char *value)
{
	values_set(values, arena_printf(arena, "%s.%s", component, name), value);
}

/* "11.2" of "11.2.152", "11" with one part. */
static const char *leading(const char *version, int parts, struct arena *arena)
{
	size_t length = 0;

	for (; parts > 0 && version[length]; parts--) {
		length += version[length] == '.';
		length += strcspn(version + length, ".-+");
	}
	return arena_strndup(arena, version, length);
}

/* The row that the choice was made from; when none is exactly so, the first of that version. */
static bool find_row(const struct table *table, const struct choice *choice, size_t *found)
{
	bool any = false;

	for (size_t row = 0; table && row < table->row_count; row++) {
		if (strcmp(table_cell(table, row, "version"), choice->version) != 0)
			continue;
		if (!any)
			*found = row;
		any = true;
		if (strcmp(table_cell(table, row, "run_packages"), choice->run_packages) == 0 &&
		    strcmp(table_cell(table, row, "build_packages"), choice->build_packages) == 0 &&
		    strcmp(table_cell(table, row, "download"), choice->download) == 0 &&
		    strcmp(table_cell(table, row, "pip"), choice->pip) == 0 &&
		    (strcmp(table_cell(table, row, "index"), choice->index) == 0 ||
		     (!*choice->index && *table_cell(table, row, "on_pypi")))) {
			*found = row;
			return true;
		}
	}
	return any;
}

/* The name of the last package of a list. */
static const char *last_name(const char *packages, struct arena *arena)
{
	const char *last = strrchr(packages, ';');

	last = last ? last + 1 : packages;
	return arena_strndup(arena, last, strcspn(last, "="));
}

static void set_choice(struct values *values, struct arena *arena, const struct choice *c)
{
	const char *slash = strrchr(c->download, '/');

	stack_values_set(values, arena, c->name, "version", c->version);
	stack_values_set(values, arena, c->name, "major", leading(c->version, 1, arena));
	stack_values_set(values, arena, c->name, "series", leading(c->version, 2, arena));
	stack_values_set(values, arena, c->name, "wheel", c->wheel);
	stack_values_set(values, arena, c->name, "pip", c->pip);
	stack_values_set(values, arena, c->name, "index", c->index);
	stack_values_set(values, arena, c->name, "build", /* ".../whl/cu126": "cu126" */
			 strrchr(c->index, '/') ? strrchr(c->index, '/') + 1 : "");
	stack_values_set(values, arena, c->name, "index_option",
			 ends_with(c->index, ".html") ? "--find-links" : "--extra-index-url");
	stack_values_set(values, arena, c->name, "download", c->download);
	stack_values_set(values, arena, c->name, "path",
			 starts_with(c->download, HTTPS) ? c->download + strlen(HTTPS) : "");
	stack_values_set(values, arena, c->name, "sha256", c->sha256);
	stack_values_set(values, arena, c->name, "archive", slash ? slash + 1 : "");
	stack_values_set(values, arena, c->name, "run_packages", c->run_packages);
	stack_values_set(values, arena, c->name, "build_packages", c->build_packages);
	stack_values_set(values, arena, c->name, "build_packages.first",
			 arena_strndup(arena, c->build_packages, strcspn(c->build_packages, ";=")));
	stack_values_set(values, arena, c->name, "build_packages.last",
			 last_name(c->build_packages, arena));
}

/* A column that lists packages has .lines too, for a RUN. */
static void set_row(struct values *values, struct arena *arena, const char *component,
		    const struct table *table, size_t row)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const char *column = table->columns[i], *cell = table_cell(table, row, column);

		stack_values_set(values, arena, component, column, cell);
		if (ends_with(column, "_packages"))
			stack_values_set(values, arena, component,
					 arena_printf(arena, "%s.lines", column),
					 package_lines(cell, arena));
	}
}

/* Cells of the OS's row that name a row of another table: os.key.fingerprint, os.ml_key.note. */
static void set_references(struct values *values, struct arena *arena,
			   const struct catalog *catalog, const struct table *os, size_t row)
{
	for (size_t t = 0; t < catalog->count; t++) {
		const struct table *table = &catalog->tables[t];

		for (size_t i = 0; i < os->column_count; i++) {
			const char *column = os->columns[i];

			if (strcmp(table->columns[0], "name") != 0 ||
			    !catalog_refers_to(column, catalog->names[t]))
				continue;
			for (size_t k = 1; k < table->column_count; k++)
				stack_values_set(
					values, arena, "os",
					arena_printf(arena, "%s.%s", column, table->columns[k]),
					catalog_named(catalog, catalog->names[t],
						      table_cell(os, row, column),
						      table->columns[k]));
		}
	}
}

/* Whether NVIDIA's repository for the OS has this CUDA: what the OS's cell `cuda` admits. */
static const char *in_repository(const struct choice *cuda, const struct table *os, size_t row,
				 struct arena *arena)
{
	struct needs needs;
	struct error ignored = {0};

	return cuda && *table_cell(os, row, "repository") &&
			       needs_parse(table_cell(os, row, "cuda"), arena, &needs, &ignored) ==
				       0 &&
			       needs_admit(&needs, cuda->version)
		       ? "yes"
		       : "";
}

/* "cell;cell" of two columns, each pair quoted as pip wants it in a list of requirements. */
static const char *wheel_lines(const char *words, const char *sums, struct arena *arena)
{
	const char *text = "";

	while (*words && *sums) {
		size_t word = strcspn(words, ";"), sum = strcspn(sums, ";");

		text = arena_printf(arena, "%s%s      '%.*s --hash=sha256:%.*s'", text,
				    *text ? " \\\n" : "", (int)word, words, (int)sum, sums);
		words += word + (words[word] == ';');
		sums += sum + (sums[sum] == ';');
	}
	return text;
}

/* What NVIDIA has on PyPI of the component's version, for the stack's CUDA. */
static void set_wheels(struct values *values, struct arena *arena, const struct choice *c,
		       const struct table *wheels)
{
	const char *major = values_get(values, "cuda.major");

	for (size_t row = 0; wheels && row < wheels->row_count; row++)
		if (strcmp(table_cell(wheels, row, "component"), c->name) == 0 &&
		    strcmp(table_cell(wheels, row, "version"), c->version) == 0 &&
		    strcmp(table_cell(wheels, row, "built"), major) == 0)
			stack_values_set(values, arena, c->name, "wheels",
					 wheel_lines(table_cell(wheels, row, "pip"),
						     table_cell(wheels, row, "sha256"), arena));
}

/* The OS's own package of this version, where the plan takes another way to it. */
static void set_packaged(struct values *values, struct arena *arena, const struct choice *c,
			 const struct table *table, const char *os)
{
	static const char *const columns[] = {"run_packages", "build_packages"};

	for (size_t row = 0; table && row < table->row_count; row++) {
		if (strcmp(table_cell(table, row, "version"), c->version) != 0 ||
		    strcmp(table_cell(table, row, "os"), os) != 0 ||
		    strcmp(table_cell(table, row, "kind"), "package") != 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
			const char *name = arena_printf(arena, "packaged.%s", columns[i]);
			const char *cell = table_cell(table, row, columns[i]);

			stack_values_set(values, arena, c->name, name, cell);
			stack_values_set(values, arena, c->name,
					 arena_printf(arena, "%s.lines", name),
					 package_lines(cell, arena));
		}
	}
}

static void set_dashed(struct values *values, struct arena *arena)
{
	char *text = arena_strdup(arena, values_get(values, "cuda.series"));
	char *dot = strchr(text, '.');

	if (dot)
		*dot = '-';
	values_set(values, "cuda.dashed", text);
}

/* The image of a tag, when it can be pulled from NVIDIA, or "". */
static const char *listed_image(const char *tag, const struct table *images, struct arena *arena)
{
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *status = table_cell(images, row, "status");

		if (strcmp(table_cell(images, row, "version"), tag) == 0 &&
		    (strcmp(status, "listed") == 0 || strcmp(status, "eol") == 0))
			return arena_printf(arena, NVIDIA_IMAGE "%s", tag);
	}
	return "";
}

/*
 * Of NVIDIA's devel image: the flavour without the toolkit, and the one without cuDNN, from which
 * only the toolkit is taken. "12.4.1-cudnn-devel-ubuntu22.04" has 12.4.1-cudnn-runtime-ubuntu22.04 and
 * 12.4.1-devel-ubuntu22.04 beside it.
 */
static void set_images(const struct plan *plan, const struct table *images, struct arena *arena,
		       struct values *values)
{
	const char *name = plan->base.name ? plan->base.name : "", *runtime = "", *devel = "";
	const char *tag = starts_with(name, NVIDIA_IMAGE) ? name + strlen(NVIDIA_IMAGE) : "";
	const char *flavor = strstr(tag, DEVEL);

	if (flavor) {
		runtime = listed_image(arena_printf(arena, "%.*s-runtime-%s", (int)(flavor - tag),
						    tag, flavor + strlen(DEVEL)),
				       images, arena);
		devel = listed_image(
			arena_printf(arena, "%.*s%s", (int)strcspn(tag, "-"), tag, flavor), images,
			arena);
	}
	values_set(values, "base.runtime", runtime);
	values_set(values, "base.toolkit", *devel ? devel : name);
}

/*
 * "cuda-libraries-11-2=11.2.2-1" of "cuda-toolkit-11-2=11.2.2-1": both are of one version; or "".
 * There is no such package before CUDA 9. Source: runtime Dockerfiles of NVIDIA's container images.
 */
static const char *libraries_package(const char *toolkit, const char *cuda, struct arena *arena)
{
	return starts_with(toolkit, TOOLKIT) && version_compare(cuda, "9") >= 0
		       ? arena_printf(arena, "cuda-libraries-%s", toolkit + strlen(TOOLKIT))
		       : "";
}

static const char *stack_values_join(const char *list, const char *more, struct arena *arena)
{
	return *list && *more ? arena_printf(arena, "%s;%s", list, more) : *list ? list : more;
}

/* The packages of the whole stack, by whose they are: the OS's, or NVIDIA's. */
static void set_packages(const struct plan *plan, struct arena *arena, struct values *values)
{
	const char *libraries = values_get(values, "base.libraries");
	const char *deployed = *libraries ? libraries : plan->base.packages;
	const char *run[2] = {"", *values_get(values, "cuda.build_only") ? "" : deployed};
	const char *build[2] = {"", *libraries ? plan->base.packages : ""};
	static const char *const owners[] = {"distribution", "nvidia"};

	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *c = &plan->choices[i];
		enum component component = component_by_name(c->name);
		size_t owner = component != COMPONENT_NONE &&
			       (COMPONENT_BIT(component) & COMPONENTS_GPU) != 0;

		run[owner] = stack_values_join(run[owner], c->run_packages, arena);
		build[owner] = stack_values_join(build[owner], c->build_packages, arena);
	}
	for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
		stack_values_set(values, arena, owners[i], "run_packages", run[i]);
		stack_values_set(values, arena, owners[i], "build_packages", build[i]);
		stack_values_set(values, arena, owners[i], "run_packages.lines",
				 package_lines(run[i], arena));
		stack_values_set(values, arena, owners[i], "build_packages.lines",
				 package_lines(build[i], arena));
	}
}

static void set_texts(const struct plan *plan, struct arena *arena, struct values *values)
{
	_cleanup_(str_release) struct str comments = STR_INIT, labels = STR_INIT;

	size_t column = 0;
	const char *label;

	str_add(&labels, "LABEL org.ringup.cluster-image=1");
	/* the same text for two processors would be one image to a registry */
	if (plan->arch) {
		str_addf(&comments, "# arch %s\n", plan->arch);
		label = arena_printf(arena, "org.ringup.stack.arch=\"%s\"", plan->arch);
		add_wrapped(&labels, &column, label, strlen(label));
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *c = &plan->choices[i];

		str_addf(&comments, "# %s %s - %s [%s]\n", c->name, c->version, c->reason,
			 c->source);
		label = arena_printf(arena, "org.ringup.stack.%s=\"%s\"", c->name, c->version);
		add_wrapped(&labels, &column, label, strlen(label));
	}
	for (size_t i = 0; i < plan->overruled_count; i++)
		str_addf(&comments, "# overruled by --allow %s: %s [%s]\n", plan->overruled[i].id,
			 plan->overruled[i].because, plan->overruled[i].source);
	str_trim(&comments);
	values_set(values, "choices", arena_strdup(arena, comments.text));
	values_set(values, "labels", arena_strdup(arena, labels.text));
}

int stack_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
		 struct values *values, struct error *err)
{
	const struct choice *os = plan_choice(plan, "os");
	size_t row;

	catalog = catalog_for(catalog, plan->arch, arena);
	if (!os || !find_row(catalog_table(catalog, "os"), os, &row))
		return error_set(err, ERROR_FAILED, "the catalog has no row for the OS %s on %s",
				 os ? os->version : "(none)", plan_arch(plan));
	set_references(values, arena, catalog, catalog_table(catalog, "os"), row);
	values_set(
		values, "cuda.in_repository",
		in_repository(plan_choice(plan, "cuda"), catalog_table(catalog, "os"), row, arena));
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *c = &plan->choices[i];
		const struct table *table = catalog_table(catalog, c->name);

		if (!*c->wheel && find_row(table, c, &row))
			set_row(values, arena, c->name, table, row);
		set_choice(values, arena, c);
	}
	for (size_t i = 0; i < plan->count; i++)
		set_packaged(values, arena, &plan->choices[i],
			     catalog_table(catalog, plan->choices[i].name), os->version);
	for (size_t i = 0; i < plan->count; i++)
		set_wheels(values, arena, &plan->choices[i], catalog_table(catalog, "wheel"));
	set_dashed(values, arena);
	gpu_values(plan, catalog_table(catalog, "gpu"), arena, values);
	values_set(values, "os.release", os->version + strcspn(os->version, "0123456789"));
	values_set(values, "accelerator", plan->accelerator);
	values_set(values, "arch", plan_arch(plan));
	values_set(values, "base.name", plan->base.name);
	values_set(values, "base.status", plan->base.status);
	values_set(values, "base.packages", plan->base.packages);
	set_images(plan, catalog_table(catalog, "image"), arena, values);
	values_set(values, "base.libraries",
		   libraries_package(plan->base.packages ? plan->base.packages : "",
				     values_get(values, "cuda.version"), arena));
	set_texts(plan, arena, values);
	if (companions_values(plan, catalog, arena, values, err) < 0 ||
	    index_wheels_values(plan, catalog, arena, values, err) < 0)
		return -1;
	beside_values(plan, arena, values);
	toolkit_values(plan, arena, values);
	set_packages(plan, arena, values);
	return pins_values(plan, arena, values, err);
}
