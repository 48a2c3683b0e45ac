/* SPDX-License-Identifier: MIT */
#include "resolver/model.h"

#include "core/str.h"

#include <search.h>
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

/*
 * A cell's text that occurs several times for one component is parsed once, and its bits are made
 * once.
 */
struct cell {
	const char *text;
	enum component component;
	struct needs needs;
	struct admitted admitted;
};

static int compare_cells(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;

	return a->component != b->component ? (int)a->component - (int)b->component
					    : strcmp(a->text, b->text);
}

static int parse_cell(struct model *model, const struct value *value, size_t column,
		      enum component component, struct cell **found, struct error *err)
{
	const struct table *table = value->table;
	struct cell key = {.text = table->cells[value->row * table->column_count + column],
			   .component = component};
	void *node = tfind(&key, &model->cells, compare_cells);
	struct cell *cell;

	if (node) {
		*found = *(struct cell **)node;
		return 0;
	}
	cell = ARENA_NEW(model->arena, struct cell);
	*cell = key;
	if (needs_parse(key.text, model->arena, &cell->needs, err) < 0)
		return error_wrap(err, "%s:%zu: %s", table->paths[value->row],
				  table->lines[value->row], table->columns[column]);
	cell->admitted = (struct admitted){.needs = &cell->needs, .arena = model->arena};
	if (!tsearch(cell, &model->cells, compare_cells))
		oom();
	*found = cell;
	return 0;
}

/* The component of a column: "cuda", or "cuda_tested" for versions that were tested. */
static enum component column_component(const char *column, bool *is_tested)
{
	size_t length = strlen(column);
	char name[32];

	*is_tested = length > 7 && strcmp(column + length - 7, "_tested") == 0;
	snprintf(name, sizeof(name), "%.*s", (int)(length - (*is_tested ? 7 : 0)), column);
	return component_by_name(name);
}

/* What rows without such cells share: nobody writes into them. */
static const struct needs *no_needs[COMPONENT_COUNT];
static struct admitted *no_admitted[COMPONENT_COUNT];
static const char *no_brings[COMPONENT_COUNT];

static void set_cell(struct model *model, struct cell *cell, const struct needs ***needs,
		     struct admitted ***admitted)
{
	if (*needs == no_needs) {
		*needs = ARENA_ARRAY(model->arena, COMPONENT_COUNT, const struct needs *);
		*admitted = ARENA_ARRAY(model->arena, COMPONENT_COUNT, struct admitted *);
	}
	(*needs)[cell->component] = &cell->needs;
	(*admitted)[cell->component] = &cell->admitted;
}

/* One column of demands or preferences, for all values of the domain. */
static int read_column(struct model *model, struct domain *domain, const struct table *table,
		       size_t column, struct error *err)
{
	bool is_tested;
	enum component c = column_component(table->columns[column], &is_tested);

	if (c == COMPONENT_NONE || (c == COMPONENT_OS && !is_tested))
		return 0;
	for (size_t row = 0; row < domain->count; row++) {
		struct value *value = &domain->values[row];
		struct cell *cell = NULL;

		if (!*table->cells[row * table->column_count + column])
			continue;
		if (parse_cell(model, value, column, c, &cell, err) < 0)
			return -1;
		set_cell(model, cell, is_tested ? &value->prefers : &value->needs,
			 is_tested ? &value->likes : &value->admits);
		if (!is_tested)
			model->asks[value->component] |= COMPONENT_BIT(c);
	}
	return 0;
}

/* The values are in their final order now. */
static void place_cell(const void *node, VISIT visit, void *arg)
{
	struct cell *cell = *(struct cell *const *)node;
	const struct model *model = arg;

	if (visit != postorder && visit != leaf)
		return;
	cell->admitted.values = model->domains[cell->component].values;
	cell->admitted.count = model->domains[cell->component].count;
}

uint64_t *admitted_mark(struct admitted *admitted)
{
	const char *last = "";
	bool admits = false;

	admitted->bits = ARENA_ARRAY(admitted->arena, admitted->count / 64 + 1, uint64_t);
	for (size_t i = 0; i < admitted->count; i++) {
		const char *version = admitted->values[i].version;

		if (strcmp(version, last) != 0) { /* builds of one version stand together */
			admits = needs_admit(admitted->needs, version);
			last = version;
		}
		if (admits)
			admitted->bits[i / 64] |= 1ULL << (i % 64);
	}
	return admitted->bits;
}

static void keep_cell(void *cell)
{
	(void)cell; /* the arena owns it */
}

/* --- the order in which values are tried -------------------------------------------------- */

/*
 * Packages of the OS and of its package manager come first: a kind that is not in the table has
 * tier 0. A stack for GPUs prefers an Open MPI that is built with CUDA.
 */
struct kind_tier {
	const char *kind;
	int tier, tier_cpu;
};

static const struct kind_tier kind_tiers[] = {
	{"extra", 1, 1}, {"tar", 1, 1}, {"pip", 4, 4}, {"package", 3, 0}, {"source", 2, 2},
};

static int tier_of(const struct model *model, const struct value *value)
{
	if (value->component == COMPONENT_OS) {
		bool based = *value_cell(value, "base");

		return (int)strtol(value_cell(value, "rank"), NULL, 10) +
		       (model->cpu && !based ? 100 : 0);
	}
	/* another vendor's rebuild, 1.15.5+nv22.4: only when nothing else works */
	if (COMPONENT_BIT(value->component) & COMPONENTS_PIP)
		return strchr(value->version, '+') != NULL;
	/* no recipe uses an archive that it cannot check */
	if (*value_cell(value, "download") && !*value_cell(value, "sha256") &&
	    !*value_cell(value, "run_packages"))
		return TIER_UNCHECKED;
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

static int model_compare_names(const struct value *a, const struct value *b)
{
	int order = strncmp(a->version, b->version, strcspn(a->version, "0123456789"));

	return order ? order : -version_compare(a->version, b->version);
}

/* Of the builds of one release, recipes know the checksums of the one that PyPI has. */
static bool is_on_pypi(const struct value *value)
{
	return *value_cell(value, "on_pypi");
}

static int compare_values(const void *left, const void *right, void *arg)
{
	const struct value *a = left, *b = right;
	const struct model *model = arg;
	int order = a->tier - b->tier;

	if (!order)
		order = a->component == COMPONENT_OS ? model_compare_names(a, b)
						     : version_compare(b->version, a->version);
	if (!order && is_on_pypi(a) != is_on_pypi(b))
		return is_on_pypi(a) ? -1 : 1;
	if (!order)
		order = version_compare(tested_cuda(b), tested_cuda(a));
	if (order && a->tier == b->tier && model->oldest)
		order = -order;
	return order ? order : (a->row > b->row) - (a->row < b->row);
}

static int compare_by_version(const void *left, const void *right)
{
	const struct value *const *a = left, *const *b = right;

	return version_compare((*a)->version, (*b)->version);
}

struct value **model_by_version(const struct domain *domain, struct arena *arena)
{
	struct value **sorted = ARENA_ARRAY(arena, domain->count + 1, struct value *);

	for (size_t i = 0; i < domain->count; i++)
		sorted[i] = &domain->values[i];
	qsort(sorted, domain->count, sizeof(*sorted), compare_by_version);
	return sorted;
}

/* The index where the versions of a series begin; they are adjacent. */
static size_t series_begin(struct value *const *sorted, size_t count, const char *series)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (version_compare(sorted[middle]->version, series) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void model_mark_series(struct value *const *sorted, size_t count, const char *series,
		       uint64_t *bits)
{
	for (size_t i = series_begin(sorted, count, series);
	     i < count && version_in_series(sorted[i]->version, series); i++)
		bits[sorted[i]->index / 64] |= 1ULL << (sorted[i]->index % 64);
}

/* CUDA releases without a known image come last, such as 13.4 before NVIDIA publishes its tags. */
static void lower_without_image(struct arena *arena, struct domain *cuda,
				const struct table *images)
{
	struct value **sorted = model_by_version(cuda, arena);
	const char *last = "";

	for (size_t i = 0; i < cuda->count; i++)
		cuda->values[i].tier = 1;
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *version = table_cell(images, row, "cuda");

		if (strcmp(version, last) == 0)
			continue;
		last = version;
		for (size_t i = series_begin(sorted, cuda->count, version);
		     i < cuda->count && version_in_series(sorted[i]->version, version); i++)
			sorted[i]->tier = 0;
	}
}

/* Whether some package manager installs packages of that kind: "apt", "rpm". */
static bool is_package_kind(const struct catalog *catalog, const char *kind)
{
	const struct table *table = catalog_table(catalog, "package_manager");

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "kind"), kind) == 0)
			return true;
	return false;
}

static int set_packages_kind(const struct catalog *catalog, struct value *value, struct error *err)
{
	const char *manager = value_cell(value, "package_manager");

	value->packages = "";
	if (value->component != COMPONENT_OS) {
		/* rows of one kind stand together */
		if (value->row && strcmp(value->kind, value[-1].kind) == 0)
			value->packages = value[-1].packages;
		else if (*value->kind && is_package_kind(catalog, value->kind))
			value->packages = value->kind;
		return 0;
	}
	if (!*manager)
		return 0;
	value->packages = catalog_named(catalog, "package_manager", manager, "kind");
	return *value->packages
		       ? 0
		       : error_set(err, ERROR_USAGE,
				   "%s:%zu: package_manager.csv has no row with a kind for '%s'",
				   value->table->paths[value->row], value->table->lines[value->row],
				   manager);
}

/* The column `brings`, "cudnn==9.24.0.43;nccl==2.30.7", or with ">=" for a range. */
static void read_brings(struct model *model, struct value *value)
{
	const char *list = value_cell(value, "brings");

	if (*list)
		value->brings = ARENA_ARRAY(model->arena, COMPONENT_COUNT, const char *);
	while (*list) {
		size_t word = strcspn(list, ";"), name = strcspn(list, "=>;");
		bool is_range = starts_with(list + name, ">=");
		enum component c = component_by_name(arena_strndup(model->arena, list, name));

		if (c != COMPONENT_NONE && name + 2 < word &&
		    (is_range || starts_with(list + name, "=="))) {
			value->brings[c] =
				arena_strndup(model->arena, list + name + 2, word - name - 2);
			value->brings_range |= is_range ? COMPONENT_BIT(c) : 0;
		}
		list += word + (list[word] == ';');
	}
}

/* The places of the columns that every value has. */
struct value_columns {
	int version, os, source, kind, built;
};

static int build_domain(struct model *model, enum component component, struct error *err)
{
	const struct table *table = catalog_table(model->catalog, component_names[component]);
	struct domain *domain = &model->domains[component];
	struct value_columns columns;

	if (!table)
		return 0;
	columns = (struct value_columns){.version = table_column(table, "version"),
					 .os = table_column(table, "os"),
					 .source = table_column(table, "source"),
					 .kind = table_column(table, "kind"),
					 .built = table_column(table, "built")};
	domain->values = ARENA_ARRAY(model->arena, domain->count + 1, struct value);
	for (size_t row = 0; row < domain->count; row++) {
		struct value *value = &domain->values[row];

		*value = (struct value){.component = component,
					.table = table,
					.row = row,
					.version = table_at(table, row, columns.version),
					.os = table_at(table, row, columns.os),
					.source = table_at(table, row, columns.source),
					.kind = table_at(table, row, columns.kind),
					.built = table_at(table, row, columns.built),
					.needs = no_needs,
					.prefers = no_needs,
					.admits = no_admitted,
					.likes = no_admitted,
					.brings = no_brings};
		value->tier = tier_of(model, value);
		read_brings(model, value);
		if (set_packages_kind(model->catalog, value, err) < 0)
			return -1;
	}
	for (size_t column = 0; column < table->column_count; column++)
		if (read_column(model, domain, table, column, err) < 0)
			return -1;
	if (component == COMPONENT_CUDA)
		lower_without_image(model->arena, domain, catalog_table(model->catalog, "image"));
	qsort_r(domain->values, domain->count, sizeof(*domain->values), compare_values, model);
	for (size_t i = 0; i < domain->count; i++)
		domain->values[i].index = i;
	return 0;
}

static int build_domains(struct model *model, struct error *err)
{
	int rc = 0;

	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct table *table = catalog_table(model->catalog, component_names[c]);

		model->domains[c].count = table ? table->row_count : 0;
	}
	for (int c = 0; c < COMPONENT_COUNT && rc == 0; c++)
		rc = build_domain(model, (enum component)c, err);
	if (rc == 0)
		twalk_r(model->cells, place_cell, model);
	tdestroy(model->cells, keep_cell);
	model->cells = NULL;
	return rc;
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

/* Nothing is installed from a repository whose key cannot be checked. */
static void mark_keys(struct model *model)
{
	const struct domain *oses = &model->domains[COMPONENT_OS];

	for (size_t i = 0; catalog_table(model->catalog, "key") && i < oses->count; i++) {
		const char *key = value_cell(&oses->values[i], "key");

		if (*key && !*catalog_named(model->catalog, "key", key, "fingerprint") &&
		    !*catalog_named(model->catalog, "key", key, "sha256"))
			oses->values[i].unknown_key = key;
	}
}

static void mark_images(struct model *model)
{
	const struct table *images = catalog_table(model->catalog, "image");
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const char *last = "";
	size_t words = cuda->count / 64 + 1, begin = 0, end = 0;
	struct value **sorted = model_by_version(cuda, model->arena), *os = NULL;

	for (size_t i = 0; i < model->domains[COMPONENT_OS].count; i++)
		model->domains[COMPONENT_OS].values[i].images =
			ARENA_ARRAY(model->arena, words, uint64_t);
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *version = table_cell(images, row, "cuda");
		const char *name = table_cell(images, row, "os");

		if (!os || strcmp(name, os->version) != 0) /* the tags of an OS stand together */
			os = os_by_name(model, name);
		if (!os)
			continue;
		if (strcmp(version, last) != 0) {
			begin = end = series_begin(sorted, cuda->count, version);
			while (end < cuda->count &&
			       version_in_series(sorted[end]->version, version))
				end++;
			last = version;
		}
		for (size_t i = begin; i < end; i++)
			os->images[sorted[i]->index / 64] |= 1ULL << (sorted[i]->index % 64);
	}
}

static void mark_wheels(struct model *model)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	struct value **sorted = model_by_version(cuda, model->arena);

	model->cuda_in_wheels = ARENA_ARRAY(model->arena, cuda->count / 64 + 1, uint64_t);
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++)
		for (size_t k = 0; k < model->domains[c].count; k++) {
			const char *series = model->domains[c].values[k].brings[COMPONENT_CUDA];

			if (series)
				model_mark_series(sorted, cuda->count, series,
						  model->cuda_in_wheels);
		}
}

/* --- conflicts.csv ------------------------------------------------------------------------ */

/* False when a condition concerns something other than a component, or cannot be read. */
static bool read_conflict(struct model *model, const struct table *table, size_t row,
			  struct conflict_rule *rule)
{
	const char *when = table_cell(table, row, "when");
	const char *effect = table_cell(table, row, "effect");

	*rule = (struct conflict_rule){
		.id = table_cell(table, row, "id"),
		.text = when,
		.symptom = table_cell(table, row, "symptom"),
		.fix = table_cell(table, row, "fix"),
		.source = table_cell(table, row, "source"),
		.refuses = strcmp(effect, "refuse") == 0,
		.is_risk = strcmp(effect, "risk") == 0,
		.is_worked_around = strcmp(effect, "workaround") == 0,
	};
	conditions_read(when, model->arena, &rule->conditions);
	for (size_t i = 0; i < rule->conditions.count; i++) {
		const struct condition *condition = &rule->conditions.list[i];

		if (condition->component == COMPONENT_NONE || condition->mistake)
			return false;
		if (condition->is_absent)
			rule->without |= COMPONENT_BIT(condition->component);
		else
			rule->components |= COMPONENT_BIT(condition->component);
	}
	return rule->conditions.count > 0;
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
	for (size_t i = 0; i < rule->conditions.count; i++) {
		const struct condition *condition = &rule->conditions.list[i];

		if (condition->component == value->component &&
		    !condition_holds(condition, value->version, value_cell(value, "sm")))
			return false;
	}
	return true;
}

/* A rule that does not concern the component is passed without a look at its conditions. */
static void mark_conflicts(struct model *model)
{
	size_t *concern = ARENA_ARRAY(model->arena, model->conflict_count + 1, size_t);

	for (int c = 0; c < COMPONENT_COUNT; c++) {
		size_t concern_count = 0;

		for (size_t k = 0; k < model->conflict_count; k++)
			if ((model->conflicts[k].components | model->conflicts[k].without) &
			    COMPONENT_BIT(c))
				concern[concern_count++] = k;
		for (size_t i = 0; i < model->domains[c].count; i++) {
			struct value *value = &model->domains[c].values[i];

			value->passes = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
			memset(value->passes, 0xff, model->conflict_words * sizeof(uint64_t));
			for (size_t k = 0; k < concern_count; k++)
				if (!passes(&model->conflicts[concern[k]], value))
					value->passes[concern[k] / 64] &=
						~(1ULL << (concern[k] % 64));
		}
	}
}

/*
 * Marks conflicts of two components, which are checked ahead (prune.h). Others are checked once all
 * their components are chosen.
 */
static void mark_pairs(struct model *model)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct domain *domain = &model->domains[c];

		model->pair_rules[c] = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
		for (size_t k = 0; k < model->conflict_count; k++) {
			struct conflict_rule *rule = &model->conflicts[k];

			if (!rule->refuses || !(rule->components & COMPONENT_BIT(c)) ||
			    __builtin_popcount(rule->components) != 2 || rule->without)
				continue;
			model->pair_rules[c][k / 64] |= 1ULL << (k % 64);
			rule->passing[c] =
				ARENA_ARRAY(model->arena, domain->count / 64 + 1, uint64_t);
			for (size_t i = 0; i < domain->count; i++)
				if (bit_is_set(domain->values[i].passes, k))
					rule->passing[c][i / 64] |= 1ULL << (i % 64);
		}
	}
}

void model_mark_rules(struct model *model)
{
	model->has_driver_rule = false;
	for (size_t k = 0; k < model->conflict_count; k++)
		model->has_driver_rule |=
			(model->conflicts[k].refuses || model->conflicts[k].is_overruled) &&
			(model->conflicts[k].components & COMPONENT_BIT(COMPONENT_DRIVER));
	mark_pairs(model);
}

int model_build(const struct catalog *catalog, const struct model_options *options,
		struct arena *arena, struct model *model, struct error *err)
{
	*model = (struct model){.catalog = catalog,
				.arena = arena,
				.oldest = options->oldest,
				.cpu = options->cpu,
				.conflict_words = 1};
	if (build_domains(model, err) < 0)
		return -1;
	mark_images(model);
	mark_keys(model);
	mark_wheels(model);
	read_conflicts(model);
	mark_conflicts(model);
	model_mark_rules(model);
	return 0;
}

void model_mark_met(struct model *model, const char *const *met)
{
	for (size_t i = 0; i < model->conflict_count; i++)
		for (const char *const *id = met; id && *id; id++)
			if (strcmp(model->conflicts[i].id, *id) == 0)
				model->conflicts[i].is_met = true;
}

const struct value *model_find_choice(const struct domain *domain, const struct choice *choice,
				      const struct choice *os)
{
	const struct value *found = NULL;

	for (size_t i = 0; i < domain->count; i++) {
		const struct value *value = &domain->values[i];

		if (strcmp(value->version, choice->version) != 0 ||
		    (os && *value->os && strcmp(value->os, os->version) != 0))
			continue;
		if (!found)
			found = value;
		if (strcmp(value_cell(value, "run_packages"), choice->run_packages) == 0 &&
		    strcmp(value_cell(value, "sha256"), choice->sha256) == 0 &&
		    strcmp(value_cell(value, "pip"), choice->pip) == 0 &&
		    (strcmp(value_cell(value, "index"), choice->index) == 0 ||
		     (!*choice->index && *value_cell(value, "on_pypi"))))
			return value;
	}
	return found;
}
