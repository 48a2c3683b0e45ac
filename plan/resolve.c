/* SPDX-License-Identifier: MIT */
#include "plan/resolve.h"

#include "core/str.h"

#include <string.h>

/* DESIGN.md section 3: the words a request may begin with. */
static const char *const known_names[] = {
	"driver", "gpu", "cuda",    "cudnn",	  "nccl",  "openmpi", "python", "gcc",
	"glibc",  "os",	 "horovod", "tensorflow", "torch", "mxnet",   NULL,
};

/* What a CPU stack is made of, in the order of choice: the OS decides what the others may be. */
static const char *const cpu_components[] = {"os", "glibc", "gcc", "python", "openmpi", NULL};

struct resolver {
	const struct catalog *catalog;
	struct arena *arena;
	size_t request_count;
	struct requirement *requests;
	struct plan *plan;
	struct unsatisfied *why;
	struct error *err;
};

static bool is_listed(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int parse_requests(struct resolver *r, const char *const *texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	r->requests = ARENA_ARRAY(r->arena, count, struct requirement);
	r->plan->requests = ARENA_ARRAY(r->arena, count + 1, const char *);
	for (; r->request_count < count; r->request_count++) {
		struct requirement *req = &r->requests[r->request_count];
		const char *near;

		if (requirement_parse(texts[r->request_count], r->arena, req, r->err) < 0)
			return -1;
		r->plan->requests[r->plan->request_count++] = req->text;
		if (is_listed(known_names, req->name))
			continue;
		near = nearest_word(req->name, known_names);
		error_set(r->err, ERROR_USAGE, "'%s': nothing is known as '%s'", req->text,
			  req->name);
		return error_advise(r->err,
				    near ? "did you mean '%s'?" : "see 'ringup help resolve'%s",
				    near ? near : "");
	}
	return 0;
}

static void add_conflict(struct resolver *r, const char *request, const char *because,
			 const char *source)
{
	if (r->why->count < CONFLICTS_MAX)
		r->why->conflicts[r->why->count++] = (struct conflict){request, because, source};
}

static int unsatisfied(struct resolver *r)
{
	struct unsatisfied *why = r->why;

	error_set(r->err, ERROR_UNSATISFIED, "no stack satisfies the request");
	for (size_t i = 0; i < why->count; i++) {
		size_t used = strlen(r->err->text);

		snprintf(r->err->text + used, sizeof(r->err->text) - used, "%s%s: %s",
			 i ? "; " : ": ", why->conflicts[i].request, why->conflicts[i].because);
	}
	if (why->suggestion_count)
		error_advise(r->err, "this would work: %s", why->suggestions[0]);
	return -1;
}

/* Whether every request on the name, but for `except`, admits the version. */
static bool is_admitted(const struct resolver *r, const char *name, const char *version,
			const struct requirement *except)
{
	for (size_t i = 0; i < r->request_count; i++)
		if (&r->requests[i] != except && strcmp(r->requests[i].name, name) == 0 &&
		    !requirement_admits(&r->requests[i], version))
			return false;
	return true;
}

static bool row_fits_os(const struct resolver *r, const struct table *table, size_t row)
{
	const char *row_os = table_cell(table, row, "os");
	const struct choice *os = plan_choice(r->plan, "os");

	return !*row_os || !os || strcmp(row_os, os->version) == 0;
}

static void choose(struct resolver *r, const char *name, const struct table *table, size_t row,
		   size_t candidates)
{
	struct choice *choice = &r->plan->choices[r->plan->count];
	const struct choice *os = plan_choice(r->plan, "os");
	const char *asked = NULL;

	*choice = (struct choice){.name = name,
				  .version = table_cell(table, row, "version"),
				  .source = table_cell(table, row, "source"),
				  .run_packages = table_cell(table, row, "run_packages"),
				  .build_packages = table_cell(table, row, "build_packages")};
	for (size_t i = 0; i < r->request_count; i++)
		if (strcmp(r->requests[i].name, name) == 0 && r->requests[i].clause_count)
			asked = r->requests[i].text;
	choice->reason = arena_printf(
		r->arena, "%s%s%s: %s", candidates > 1 ? "the newest of several" : "the only one",
		os && strcmp(name, "os") != 0 ? arena_printf(r->arena, " for %s", os->version) : "",
		asked ? arena_printf(r->arena, " that '%s' admits", asked) : " in the catalog",
		table_cell(table, row, "note"));
	r->plan->count++;
}

/* The newest row for the OS that the requests admit when `except` is left out; -1 when none is. */
static int newest_row(const struct resolver *r, const char *name, const struct table *table,
		      const struct requirement *except, size_t *candidates)
{
	int best = -1;

	*candidates = 0;
	for (size_t row = 0; row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (!row_fits_os(r, table, row) || !is_admitted(r, name, version, except))
			continue;
		(*candidates)++;
		if (best < 0 ||
		    version_compare(version, table_cell(table, (size_t)best, "version")) > 0)
			best = (int)row;
	}
	return best;
}

/* " for debian12", or nothing while the OS itself is chosen. */
static const char *for_os(const struct resolver *r)
{
	const struct choice *os = plan_choice(r->plan, "os");

	return os ? arena_printf(r->arena, " for %s", os->version) : "";
}

/* Why no row was left: the one request without which there would be one, or all that stand
 * together. */
static int explain_empty(struct resolver *r, const char *name, const struct table *table)
{
	size_t candidates;

	for (size_t i = 0; i < r->request_count; i++) {
		const struct requirement *req = &r->requests[i];
		int row = newest_row(r, name, table, req, &candidates);
		const char *version;

		if (strcmp(req->name, name) != 0 || row < 0)
			continue;
		version = table_cell(table, (size_t)row, "version");
		add_conflict(r, req->text,
			     arena_printf(r->arena, "the newest %s%s in the catalog%s is %s", name,
					  for_os(r), candidates > 1 ? " that the rest admits" : "",
					  version),
			     table_cell(table, (size_t)row, "source"));
		r->why->suggestions[r->why->suggestion_count++] =
			arena_printf(r->arena, "%s==%s", name, version);
		return unsatisfied(r);
	}
	for (size_t i = 0; i < r->request_count; i++)
		if (strcmp(r->requests[i].name, name) == 0)
			add_conflict(r, r->requests[i].text,
				     arena_printf(r->arena,
						  "no %s%s in the catalog is admitted by it and "
						  "the others",
						  name, for_os(r)),
				     "");
	if (!r->why->count)
		add_conflict(r, name,
			     arena_printf(r->arena, "the catalog has no %s%s", name, for_os(r)),
			     "");
	return unsatisfied(r);
}

static int choose_component(struct resolver *r, const char *name)
{
	const struct table *table = catalog_table(r->catalog, name);
	size_t candidates;
	int row;

	if (!table) {
		add_conflict(r, name, arena_printf(r->arena, "the catalog has no %s.csv", name),
			     "");
		return unsatisfied(r);
	}
	row = newest_row(r, name, table, NULL, &candidates);
	if (row < 0)
		return explain_empty(r, name, table);
	choose(r, name, table, (size_t)row, candidates);
	return 0;
}

/* Requests and hosts that ask for what a CPU stack does not hold. */
static int check_accelerator(struct resolver *r, const struct resolve_input *input)
{
	if (strcmp(input->accelerator, "cuda") == 0) {
		add_conflict(r, "accelerator: cuda",
			     "this catalog holds no CUDA rows; take accelerator: cpu", "");
		return unsatisfied(r);
	}
	for (size_t i = 0; i < input->fact_count && strcmp(input->accelerator, "auto") == 0; i++) {
		const struct facts *f = &input->facts[i];

		if (!*f->driver)
			continue;
		add_conflict(
			r, arena_printf(r->arena, "host %s", f->host),
			arena_printf(
				r->arena,
				"it has NVIDIA driver %s, and this catalog holds no CUDA rows; "
				"write accelerator: cpu for a CPU stack",
				f->driver),
			"");
		return unsatisfied(r);
	}
	for (size_t i = 0; i < r->request_count; i++) {
		const struct requirement *req = &r->requests[i];

		if (is_listed(cpu_components, req->name))
			continue;
		add_conflict(r, req->text,
			     arena_printf(r->arena, "the catalog has no rows for %s", req->name),
			     "");
		return unsatisfied(r);
	}
	return 0;
}

int resolve(const struct catalog *catalog, const struct resolve_input *input, struct arena *arena,
	    struct plan *plan, struct unsatisfied *why, struct error *err)
{
	struct resolver r = {
		.catalog = catalog, .arena = arena, .plan = plan, .why = why, .err = err};

	*plan = (struct plan){.accelerator = "cpu",
			      .revision = arena_strdup(arena, catalog->revision)};
	*why = (struct unsatisfied){0};
	if (parse_requests(&r, input->requests) < 0 || check_accelerator(&r, input) < 0)
		return -1;
	for (const char *const *name = cpu_components; *name; name++)
		if (choose_component(&r, *name) < 0)
			return -1;
	return 0;
}

const struct choice *plan_choice(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->choices[i].name, name) == 0)
			return &plan->choices[i];
	return NULL;
}
