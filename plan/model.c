/* SPDX-License-Identifier: MIT */
#include "plan/model.h"

#include "core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *value_cell(const struct value *value, const char *column)
{
	return table_cell(value->table, value->row, column);
}

const char *value_title(const struct value *value, struct arena *arena)
{
	const char *title = component_titles[value->component];

	if (value->component == COMPONENT_OS)
		return value->version;
	if (*value->built)
		return arena_printf(arena, "%s %s (built for CUDA %s)", title, value->version,
				    value->built);
	return arena_printf(arena, "%s %s", title, value->version);
}

/* --- cells ------------------------------------------------------------------------------- */

static int parse_cell(struct model *model, const struct value *value, const char *column,
		      const struct needs **needs, struct error *err)
{
	const char *text = value_cell(value, column);
	struct needs *parsed;

	if (!*text)
		return 0;
	parsed = ARENA_NEW(model->arena, struct needs);
	if (needs_parse(text, model->arena, parsed, err) < 0)
		return error_wrap(err, "%s:%zu: %s", value->table->paths[value->row],
				  value->table->lines[value->row], column);
	*needs = parsed;
	return 0;
}

static int read_needs(struct model *model, struct value *value, struct error *err)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		char tested[32];

		snprintf(tested, sizeof(tested), "%s_tested", component_names[c]);
		if ((c != COMPONENT_OS &&
		     parse_cell(model, value, component_names[c], &value->needs[c], err) < 0) ||
		    parse_cell(model, value, tested, &value->prefers[c], err) < 0)
			return -1;
	}
	return 0;
}

/* --- the order in which values are tried -------------------------------------------------- */

struct kind_tier {
	const char *kind;
	int tier, tier_cpu;
};

/* What comes with the OS first; a stack for GPUs wants an Open MPI that is built with CUDA. */
static const struct kind_tier kind_tiers[] = {
	{"default", 0, 0}, {"extra", 1, 1}, {"apt", 0, 0},     {"rpm", 0, 0},
	{"tar", 1, 1},	   {"pip", 4, 4},   {"package", 3, 0}, {"source", 2, 2},
};

static int tier_of(const struct model *model, const struct value *value)
{
	if (value->component == COMPONENT_OS) {
		bool based = *value_cell(value, "base");

		return (int)strtol(value_cell(value, "rank"), NULL, 10) +
		       (model->cpu && !based ? 100 : 0);
	}
	/* a rebuild of somebody else's, 1.15.5+nv22.4: only when nothing else will do */
	if (COMPONENT_BIT(value->component) & COMPONENTS_PIP)
		return strchr(value->version, '+') != NULL;
	for (size_t i = 0; i < ARRAY_LEN(kind_tiers); i++)
		if (strcmp(kind_tiers[i].kind, value->kind) == 0)
			return model->cpu ? kind_tiers[i].tier_cpu : kind_tiers[i].tier;
	return 0;
}

/* "11.2" of "==11.2.*", for ordering builds of one release. */
static const char *tested_cuda(const struct value *value)
{
	const struct needs *cuda = value->prefers[COMPONENT_CUDA];

	return cuda && cuda->count && cuda->alternatives[0].clause_count
		       ? cuda->alternatives[0].clauses[0].version
		       : value->built;
}

static int compare_names(const struct value *a, const struct value *b)
{
	int order = strncmp(a->version, b->version, strcspn(a->version, "0123456789"));

	return order ? order : -version_compare(a->version, b->version);
}

static int compare_values(const void *left, const void *right, void *arg)
{
	const struct value *a = left, *b = right;
	const struct model *model = arg;
	int order = a->tier - b->tier;

	if (!order)
		order = a->component == COMPONENT_OS ? compare_names(a, b)
						     : version_compare(b->version, a->version);
	if (!order)
		order = version_compare(tested_cuda(b), tested_cuda(a));
	if (order && a->tier == b->tier && model->oldest)
		order = -order;
	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* CUDA releases that no image is known for come last: 13.4 before NVIDIA publishes its tags. */
static void lower_without_image(struct domain *cuda, const struct table *images)
{
	const char *last = "";
	struct value *found = NULL;

	for (size_t i = 0; i < cuda->count; i++)
		cuda->values[i].tier = 1;
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *version = table_cell(images, row, "cuda");

		if (strcmp(version, last) == 0)
			continue;
		last = version;
		found = NULL;
		for (size_t i = 0; i < cuda->count; i++) {
			found = &cuda->values[i];
			if (version_in_series(found->version, version))
				found->tier = 0;
		}
	}
}

static int build_domain(struct model *model, enum component component, struct error *err)
{
	const struct table *table = catalog_table(model->catalog, component_names[component]);
	struct domain *domain = &model->domains[component];

	if (!table)
		return 0;
	domain->count = table->row_count;
	domain->values = ARENA_ARRAY(model->arena, domain->count + 1, struct value);
	for (size_t row = 0; row < domain->count; row++) {
		struct value *value = &domain->values[row];

		*value = (struct value){.component = component,
					.table = table,
					.row = row,
					.version = table_cell(table, row, "version"),
					.os = table_cell(table, row, "os"),
					.source = table_cell(table, row, "source"),
					.kind = table_cell(table, row, "kind"),
					.built = table_cell(table, row, "built")};
		if (read_needs(model, value, err) < 0)
			return -1;
		value->tier = tier_of(model, value);
	}
	if (component == COMPONENT_CUDA)
		lower_without_image(domain, catalog_table(model->catalog, "image"));
	qsort_r(domain->values, domain->count, sizeof(*domain->values), compare_values, model);
	for (size_t i = 0; i < domain->count; i++)
		domain->values[i].index = i;
	return 0;
}

/* --- which OS has an image of which CUDA -------------------------------------------------- */

static struct value *os_by_name(struct model *model, const char *name)
{
	struct domain *domain = &model->domains[COMPONENT_OS];

	for (size_t i = 0; i < domain->count; i++)
		if (strcmp(domain->values[i].version, name) == 0)
			return &domain->values[i];
	return NULL;
}

static void mark_images(struct model *model)
{
	const struct table *images = catalog_table(model->catalog, "image");
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const char *last = "";
	size_t words = cuda->count / 64 + 1;
	uint64_t *current = ARENA_ARRAY(model->arena, words, uint64_t);

	for (size_t i = 0; i < model->domains[COMPONENT_OS].count; i++)
		model->domains[COMPONENT_OS].values[i].images =
			ARENA_ARRAY(model->arena, words, uint64_t);
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *version = table_cell(images, row, "cuda");
		struct value *os = os_by_name(model, table_cell(images, row, "os"));

		if (!os)
			continue;
		if (strcmp(version, last) != 0) {
			memset(current, 0, words * sizeof(*current));
			for (size_t i = 0; i < cuda->count; i++)
				if (version_in_series(cuda->values[i].version, version))
					current[i / 64] |= 1ULL << (i % 64);
			last = version;
		}
		for (size_t i = 0; i < words; i++)
			os->images[i] |= current[i];
	}
}

/* --- conflicts.csv ------------------------------------------------------------------------ */

/* One condition, "horovod<=0.28.1" or "horovod"; false when it is on something else. */
static bool read_condition(struct model *model, const char *text, size_t length,
			   struct condition *condition)
{
	char *copy = arena_strndup(model->arena, text, length);
	size_t name = strspn(copy, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	struct needs *needs = ARENA_NEW(model->arena, struct needs);
	struct error ignored = {0};

	*condition = (struct condition){
		.component = component_by_name(arena_strndup(model->arena, copy, name))};
	if (condition->component == COMPONENT_NONE)
		return false;
	if (!copy[name])
		return true;
	/* a name before each alternative reads better: openmpi==2.1.3|==2.1.4 */
	if (needs_parse(copy + name, model->arena, needs, &ignored) < 0)
		return false;
	condition->needs = needs;
	return true;
}

static bool read_conflict(struct model *model, const struct table *table, size_t row,
			  struct conflict_rule *rule)
{
	const char *at = table_cell(table, row, "when");

	*rule = (struct conflict_rule){
		.id = table_cell(table, row, "id"),
		.text = at,
		.symptom = table_cell(table, row, "symptom"),
		.fix = table_cell(table, row, "fix"),
		.source = table_cell(table, row, "source"),
		.refuses = strcmp(table_cell(table, row, "effect"), "refuse") == 0,
	};
	while (*at) {
		size_t length = strcspn(at, "&"), trimmed = length;
		struct condition *condition = &rule->conditions[rule->condition_count];

		while (trimmed && at[trimmed - 1] == ' ')
			trimmed--;
		if (rule->condition_count++ == CONDITIONS_MAX ||
		    !read_condition(model, at, trimmed, condition))
			return false;
		rule->components |= COMPONENT_BIT(condition->component);
		at += length;
		at += strspn(at, "& ");
	}
	return rule->condition_count > 0;
}

static void read_conflicts(struct model *model)
{
	const struct table *table = catalog_table(model->catalog, "conflicts");

	if (!table)
		return;
	model->conflicts = ARENA_ARRAY(model->arena, table->row_count + 1, struct conflict_rule);
	for (size_t row = 0; row < table->row_count; row++)
		if (read_conflict(model, table, row, &model->conflicts[model->conflict_count]))
			model->conflict_count++;
	model->conflict_words = model->conflict_count / 64 + 1;
}

static bool passes(const struct conflict_rule *rule, const struct value *value)
{
	for (size_t i = 0; i < rule->condition_count; i++)
		if (rule->conditions[i].component == value->component &&
		    rule->conditions[i].needs &&
		    !needs_admit(rule->conditions[i].needs, value->version))
			return false;
	return true;
}

static void mark_conflicts(struct model *model)
{
	for (int c = 0; c < COMPONENT_COUNT; c++)
		for (size_t i = 0; i < model->domains[c].count; i++) {
			struct value *value = &model->domains[c].values[i];

			value->passes = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
			for (size_t k = 0; k < model->conflict_count; k++)
				if (passes(&model->conflicts[k], value))
					value->passes[k / 64] |= 1ULL << (k % 64);
		}
}

int model_build(const struct catalog *catalog, const struct model_options *options,
		struct arena *arena, struct model *model, struct error *err)
{
	*model = (struct model){.catalog = catalog,
				.arena = arena,
				.oldest = options->oldest,
				.cpu = options->cpu,
				.conflict_words = 1};
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (build_domain(model, (enum component)c, err) < 0)
			return -1;
	mark_images(model);
	read_conflicts(model);
	mark_conflicts(model);
	return 0;
}
