/* SPDX-License-Identifier: MIT */
#include "resolver/resolve.h"

#include "resolver/admit_beside.h"
#include "resolver/allow.h"
#include "resolver/processor.h"
#include "resolver/request_words.h"
#include "resolver/unsatisfied.h"
#include "resolver/rules/base_tag.h"
#include "resolver/search/conflict.h"
#include "resolver/search/groups.h"
#include "resolver/search/known.h"
#include "resolver/explain/reason.h"
#include "resolver/rules/rules.h"
#include "resolver/explain/explain.h"
#include "resolver/explain/host_notes.h"
#include "resolver/explain/notes.h"
#include "resolver/explain/overruled.h"
#include "resolver/search/suggest.h"

#include <stdlib.h>
#include <string.h>

struct resolver {
	const struct resolve_input *input;
	struct arena *arena;
	struct model model;
	struct units units;
	struct search search;
	const char *hints[COMPONENT_COUNT];
	const char *arch; /* that the stack is for */
	size_t budget;	  /* of each search; 0: none */
	/* overruled before the search: what the hosts or the base image would have refused */
	struct overruled early[2];
	size_t early_count;
	struct unsatisfied *why;
	struct error *err;
};

/* What resolve_begin refuses by a rule, unless a person has overruled it. */
static bool resolve_overrules(struct resolver *r, const char *id, const char *because,
			      const char *source)
{
	if (!allow_names(r->input->allow, id)) {
		r->why->allow[r->why->allow_count++] = id;
		return false;
	}
	r->early[r->early_count++] = (struct overruled){id, because, source};
	return true;
}

/* --- is it a stack for GPUs? --------------------------------------------------------------- */

static uint32_t named_components(const struct resolve_input *input, struct arena *arena)
{
	struct error ignored = {0};
	struct requirement req;
	uint32_t named = 0;

	for (const char *const *text = input->requests; *text; text++) {
		requirement_parse(*text, arena, &req, &ignored);
		named |= COMPONENT_BIT(component_by_name(req.name));
	}
	return named & ~COMPONENT_BIT(COMPONENT_NONE);
}

bool resolve_wants_gpus(const struct resolve_input *input, struct arena *arena)
{
	uint32_t named = named_components(input, arena);

	if (strcmp(input->accelerator, "auto") != 0 || requests_are_for_cpus(input->requests))
		return strcmp(input->accelerator, "cuda") == 0;
	for (size_t i = 0; i < input->fact_count; i++)
		if (*input->facts[i].driver)
			return true;
	return (named & COMPONENTS_GPU) || ((named & COMPONENTS_PIP) && !input->fact_count);
}

/* --- no answer ------------------------------------------------------------------------------ */

static int unsatisfied(struct resolver *r)
{
	return unsatisfied_say(r->why, r->arena, r->err);
}

/* A catalog without CUDA: says which host or request wants GPUs. */
static int refuse_gpus(struct resolver *r)
{
	const struct resolve_input *input = r->input;
	struct error ignored = {0};
	struct requirement req;

	for (size_t i = 0; i < input->fact_count && strcmp(input->accelerator, "auto") == 0; i++)
		if (*input->facts[i].driver)
			unsatisfied_add(
				r->why, arena_printf(r->arena, "host %s", input->facts[i].host),
				arena_printf(
					r->arena,
					"it has NVIDIA driver %s, and this catalog holds no CUDA rows; write accelerator: cpu for a CPU stack",
					input->facts[i].driver),
				"");
	for (const char *const *text = input->requests; *text; text++) {
		if (requirement_parse(*text, r->arena, &req, &ignored) < 0)
			continue;
		if (COMPONENT_BIT(component_by_name(req.name)) & (COMPONENTS_GPU | COMPONENTS_PIP))
			unsatisfied_add(
				r->why, *text,
				arena_printf(r->arena, "the catalog has no rows for %s", req.name),
				"");
	}
	if (!r->why->count)
		unsatisfied_add(
			r->why, "accelerator: cuda",
			"this catalog holds no CUDA rows; write accelerator: cpu for a CPU stack",
			"");
	return unsatisfied(r);
}

/* Whether each release of a package beside torch asks for CUDA: flash-attn, not torchvision. */
static bool is_for_gpus_only(const struct model *model, enum component c)
{
	const struct domain *domain = &model->domains[c];

	if (!(COMPONENT_BIT(c) & COMPONENTS_BESIDE_TORCH))
		return (COMPONENT_BIT(c) & COMPONENTS_GPU) != 0;
	for (size_t i = 0; i < domain->count; i++)
		if (!domain->values[i].needs[COMPONENT_CUDA])
			return false;
	return true;
}

/* Refuses requests for GPU components when accelerator is cpu. */
static int check_accelerator(struct resolver *r)
{
	if (!r->model.cpu)
		return 0;
	for (size_t i = 0; i < r->units.count; i++) {
		const struct unit *unit = &r->units.list[i];

		if (!is_for_gpus_only(&r->model, unit->component) || unit->hosts)
			continue;
		unsatisfied_add(r->why, unit->text, "accelerator: cpu means a stack without GPUs",
				"");
		return unsatisfied(r);
	}
	return 0;
}

/* Refuses hosts that have another processor than the stack. */
static int check_architecture(struct resolver *r)
{
	struct unsatisfied why = {.arch = r->why->arch};
	const char *because;

	if (!processor_differs(r->input, r->arch, r->model.cpu, r->arena, &why, &because) ||
	    resolve_overrules(r, allow_rule_ids[RULE_ARCH], because, ""))
		return 0;
	why.allow[why.allow_count++] = allow_rule_ids[RULE_ARCH];
	*r->why = why;
	return unsatisfied(r);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Sets the versions to keep, of everything that may not move. */
static void set_hints(struct resolver *r)
{
	const struct plan *keep = r->input->keep;

	for (size_t i = 0; keep && i < keep->count; i++) {
		enum component c = component_by_name(keep->choices[i].name);
		bool moves = false;

		for (const char *const *name = r->input->move; name && *name; name++)
			moves |= strcmp(*name, keep->choices[i].name) == 0;
		if (c != COMPONENT_NONE && !moves)
			r->hints[c] = keep->choices[i].version;
	}
	r->search.hints = r->hints;
}

/* The image that a person gave as the base, or NULL. */
static const char *given_base(const struct resolve_input *input)
{
	return input->base && strcmp(input->base, "auto") != 0 ? input->base : NULL;
}

/* Checks that a given base image can be pulled. */
static int check_base(struct resolver *r)
{
	struct base_tag tag;

	if (!given_base(r->input))
		return 0;
	base_tag_check(r->model.catalog, r->input->base, r->arena, &tag);
	if (!tag.refused ||
	    resolve_overrules(r, tag.id,
			      arena_printf(r->arena, "%s: %s", r->input->base, tag.because),
			      tag.source))
		return 0;
	unsatisfied_add(r->why, arena_printf(r->arena, "image.base: %s", r->input->base),
			tag.because, tag.source);
	if (tag.instead)
		r->why->suggestions[r->why->suggestion_count++] =
			arena_printf(r->arena, "image.base: %s", tag.instead);
	return unsatisfied(r);
}

static void add_notes(struct resolver *r, struct plan *plan)
{
	const struct resolve_input *input = r->input;

	plan_add_host_notes(&r->search, input->facts, input->fact_count, plan);
	if (given_base(input))
		plan_add_base_notes(plan, r->model.catalog, input->base, r->arena);
	if (given_base(input) && !(r->units.asked & COMPONENT_BIT(COMPONENT_OS)))
		plan_add_note(
			plan,
			arena_printf(
				r->arena,
				"the OS of image.base %s is not known here, and the recipe is for %s: name its OS in the stack, as os==ubuntu22.04",
				input->base, plan_choice(plan, "os")->version));
	for (size_t i = 0; i < plan->allow_count; i++)
		if (!plan_breaks(plan, plan->allow[i]))
			plan_add_note(
				plan,
				arena_printf(r->arena,
					     "--allow %s: this stack does not break that rule",
					     plan->allow[i]));
}

/* What the plan may break, and what it does break. */
static void resolve_add_overruled(struct resolver *r, struct plan *plan)
{
	for (size_t i = 0; i < r->early_count; i++)
		plan_overrule(plan, r->early[i].id, r->early[i].because, r->early[i].source);
	overruled_find(&r->search, plan);
}

/* Unknown names are usage errors, for any catalog. */
static int check_words(struct resolver *r)
{
	for (const char *const *text = r->input->requests; *text; text++) {
		struct requirement req;

		if (requirement_parse(*text, r->arena, &req, r->err) < 0)
			return -1;
		if (component_by_name(req.name) == COMPONENT_NONE)
			return units_read(&r->model, WORDS(*text), &r->units, r->err);
	}
	return 0;
}

/*
 * Removes CUDA from the model, so that it neither chooses nor explains anything in a stack for
 * CPUs.
 */
static void leave_out_gpus(struct model *model)
{
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (COMPONENT_BIT(c) & COMPONENTS_GPU)
			model->domains[c].count = 0;
}

/* Sets up the search anew; what is fixed stays. */
static void begin_search(struct resolver *r)
{
	const struct value *fixed[COMPONENT_COUNT];

	memcpy(fixed, r->search.fixed, sizeof(fixed));
	/* another search may need a component that one unit adds, so all are set up */
	search_init(&r->search, &r->model, &r->units, (1U << COMPONENT_COUNT) - 1);
	r->search.budget = r->budget;
	memcpy(r->search.fixed, fixed, sizeof(fixed));
	set_hints(r);
}

/* The catalog as a model for that processor, and what the stack has to fit. */
static int resolve_read(struct resolver *r, const struct catalog *catalog, const char *arch)
{
	const struct resolve_input *input = r->input;
	struct model_options options = {.oldest = input->oldest,
					.cpu = !resolve_wants_gpus(input, r->arena)};

	catalog = catalog_for(catalog, arch, r->arena);
	r->arch = arch ? arch : ARCH_DEFAULT;
	r->why->arch = catalog->arch;
	r->units = (struct units){0};
	if (model_build(catalog, &options, r->arena, &r->model, r->err) < 0)
		return -1;
	if (!options.cpu && !r->model.domains[COMPONENT_CUDA].count)
		return check_words(r) < 0 ? -1 : refuse_gpus(r);
	if (units_read(&r->model, input->requests, &r->units, r->err) < 0 ||
	    units_add_base(&r->model, given_base(input), &r->units, r->err) < 0)
		return -1;
	model_admit_beside(&r->model, &r->units);
	return r->model.cpu ? 0
			    : units_add_facts(&r->model, input->facts, input->fact_count, &r->units,
					      r->err);
}

/* The processor is the first that something says; GPUs are known only when the catalog is read. */
static int resolve_read_all(struct resolver *r, const struct catalog *catalog)
{
	const char *arch;

	if (processor_asked(r->input, r->arena, &arch, r->err) < 0)
		return -1;
	if (!arch)
		arch = processor_of_hosts(r->input);
	if (resolve_read(r, catalog, arch) < 0)
		return -1;
	if (arch)
		return 0;
	arch = processor_of_gpus(&r->model, &r->units);
	if (!arch)
		arch = r->input->kept_arch;
	return arch && strcmp(arch, r->arch) != 0 ? resolve_read(r, catalog, arch) : 0;
}

static int resolve_begin(struct resolver *r, const struct catalog *catalog,
			 const struct resolve_input *input, struct arena *arena,
			 struct unsatisfied *why, struct error *err)
{
	*r = (struct resolver){.input = input, .arena = arena, .why = why, .err = err};
	*why = (struct unsatisfied){0};
	if (resolve_read_all(r, catalog) < 0)
		return -1;
	model_mark_met(&r->model, input->met);
	if (allow_check(&r->model, input->allow, err) < 0)
		return -1;
	r->units.is_auto = strcmp(input->accelerator, "auto") == 0;
	units_apply(&r->model, &r->units);
	if (r->model.cpu)
		leave_out_gpus(&r->model);
	begin_search(r);
	return check_accelerator(r) < 0 || check_architecture(r) < 0 ? -1 : check_base(r);
}

static bool try_levels(struct resolver *r)
{
	uint64_t all = r->search.active;
	int levels = r->units.compat ? LEVEL_COUNT : LEVEL_COMPAT;

	for (int level = LEVEL_PLAIN; level < levels; level++) {
		r->search.level = (enum search_level)level;
		if (units_work(&r->search, all))
			return true;
	}
	return false;
}

/* Whether there is a stack when only these rules are overruled; `but` is left out. */
static bool try_allowed(struct resolver *r, const char *const *ids, const char *but)
{
	allow_nothing(&r->model);
	for (; ids && *ids; ids++)
		if (*ids != but)
			allow_add(&r->model, *ids);
	units_apply(&r->model, &r->units);
	begin_search(r);
	return try_levels(r);
}

/* A stack that keeps all rules, or else one that breaks some that may be broken. */
static bool resolve_find(struct resolver *r)
{
	const char *const *allow = r->input->allow;

	return try_levels(r) || (allow && *allow && try_allowed(r, allow, NULL));
}

/* How long is looked for advice: one that is longer than it has to be is advice, too. */
#define ALLOW_NODES 5000

/* Whether the conflict gives this sentence as a reason, perhaps among others. */
static bool is_told(const struct unsatisfied *why, const char *sentence)
{
	for (size_t i = 0; i < why->count; i++)
		if (strstr(why->conflicts[i].because, sentence))
			return true;
	return false;
}

/*
 * The stack that these rules refuse, with what they say of it. The conflict may be about another rule and
 * another version: a person who overrules has to know what comes of it.
 */
static const char *describe_allowed(struct resolver *r, const char *const *ids)
{
	struct plan *plan = ARENA_NEW(r->arena, struct plan);
	const char *text = "", *title = "the stack";

	if (!try_allowed(r, ids, NULL))
		return NULL;
	overruled_find(&r->search, plan);
	for (int c = COMPONENT_COUNT; c-- > 0;)
		if (r->search.now.chosen[c] && (COMPONENT_BIT(c) & COMPONENTS_PIP))
			title = value_title(r->search.now.chosen[c], r->arena);
	for (size_t i = 0; i < plan->overruled_count; i++)
		if (!is_told(r->why, plan->overruled[i].because))
			text = arena_printf(r->arena, "%s%s%s", text, *text ? "; " : "",
					    plan->overruled[i].because);
	return *text ? arena_printf(r->arena, "%s is refused: %s", title, text) : NULL;
}

/* Which rules a person would have to overrule: of those that a stack breaks when all may be broken, the needed. */
static void suggest_allow(struct resolver *r)
{
	struct plan *plan = ARENA_NEW(r->arena, struct plan);
	const char *ids[PLAN_ALLOW_MAX + 1] = {NULL};
	size_t count = 0;

	r->budget = ALLOW_NODES;
	allow_everything(&r->model);
	units_apply(&r->model, &r->units);
	begin_search(r);
	if (!try_levels(r))
		return;
	overruled_find(&r->search, plan);
	for (; count < plan->overruled_count; count++)
		ids[count] = plan->overruled[count].id;
	for (size_t i = 0; i < count && count > 1;) {
		if (!try_allowed(r, ids, ids[i])) {
			i++;
			continue;
		}
		memmove(&ids[i], &ids[i + 1], (count - i) * sizeof(*ids));
		count--;
	}
	r->why->allowed = count ? describe_allowed(r, ids) : NULL;
	for (size_t i = 0; i < count; i++)
		if (!allow_names(r->input->allow, ids[i]))
			r->why->allow[r->why->allow_count++] = ids[i];
}

/* A component of the stack that the catalog has no rows of, or COMPONENT_NONE. */
static enum component missing_component(const struct resolver *r, uint32_t parts)
{
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if ((parts & COMPONENT_BIT(c)) && !r->model.domains[c].count)
			return c;
	return COMPONENT_NONE;
}

static int refuse_missing(struct resolver *r, enum component missing)
{
	const char *name = component_names[missing], *request = name;

	for (size_t i = r->units.count; i-- > 0;)
		if (r->units.list[i].component == missing)
			request = r->units.list[i].text;
	unsatisfied_add(
		r->why, request,
		r->why->arch ? arena_printf(r->arena, "the catalog has no %s for %s", name, r->arch)
			     : arena_printf(r->arena, "the catalog has no %s.csv, or no row in it",
					    name),
		"");
	return unsatisfied(r);
}

static int resolve_explain(struct resolver *r)
{
	enum component missing =
		missing_component(r, stack_parts(&r->model, &r->units, r->search.active));
	const struct conflict_rule *known;
	uint64_t set;

	if (missing != COMPONENT_NONE)
		return refuse_missing(r, missing);
	r->search.hints = NULL;
	set = conflict_set(&r->search);
	known = known_conflict(&r->search, set);
	if (known) {
		known_explain(&r->search, set, known, r->why);
		conflict_suggest(&r->search, set, r->why);
	} else {
		conflict_explain(&r->search, set, r->why);
	}
	groups_find(&r->search, set, r->why);
	suggest_allow(r);
	return unsatisfied(r);
}

static void begin_plan(const struct resolver *r, const struct catalog *catalog, struct plan *plan)
{
	size_t count = 0;

	while (r->input->requests[count])
		count++;
	*plan = (struct plan){.accelerator = r->model.cpu ? "cpu" : "cuda",
			      .arch = r->model.catalog->arch,
			      .revision = arena_strdup(r->arena, catalog->revision),
			      .request_count = count,
			      .requests = ARENA_ARRAY(r->arena, count + 1, const char *)};
	for (size_t i = 0; i < count; i++)
		plan->requests[i] = arena_strdup(r->arena, r->input->requests[i]);
	for (const char *const *id = r->input->allow; id && *id; id++)
		if (plan->allow_count < PLAN_ALLOW_MAX)
			plan->allow[plan->allow_count++] = arena_strdup(r->arena, *id);
}

int resolve(const struct catalog *catalog, const struct resolve_input *input, struct arena *arena,
	    struct plan *plan, struct unsatisfied *why, struct error *err)
{
	struct resolver *r = ARENA_NEW(arena, struct resolver);

	*plan = (struct plan){.accelerator = "cpu", .revision = ""};
	if (resolve_begin(r, catalog, input, arena, why, err) < 0)
		return -1;
	begin_plan(r, catalog, plan);
	if (!resolve_find(r))
		return resolve_explain(r);
	plan_from_search(&r->search, plan);
	resolve_add_overruled(r, plan);
	add_notes(r, plan);
	return 0;
}

/* --- every stack ------------------------------------------------------------------------------ */

static const enum component main_parts[] = {COMPONENT_TENSORFLOW, COMPONENT_TORCH,   COMPONENT_JAX,
					    COMPONENT_MXNET,	  COMPONENT_HOROVOD, COMPONENT_CUDA,
					    COMPONENT_OS,	  COMPONENT_PYTHON};

struct walk {
	struct resolver *resolver;
	const struct catalog *catalog;
	size_t left;
	bool (*each)(const struct plan *plan, void *arg);
	void *arg;
	struct assignment best; /* it is given first */
};

/* An OS's Python and the same version from source count as one here, and builds of one version do not. */
static bool is_same_part(const struct value *a, const struct value *b)
{
	return a == b ||
	       (a && b && a->component == COMPONENT_PYTHON && strcmp(a->version, b->version) == 0);
}

/* Whether the search has found the best stack again, as far as stacks differ here. */
static bool walk_is_best(const struct walk *walk)
{
	for (size_t i = 0; i < ARRAY_LEN(main_parts); i++)
		if (!is_same_part(walk->resolver->search.now.chosen[main_parts[i]],
				  walk->best.chosen[main_parts[i]]))
			return false;
	return true;
}

static bool walk_give(struct walk *walk)
{
	struct plan *plan = ARENA_NEW(walk->resolver->arena, struct plan);

	begin_plan(walk->resolver, walk->catalog, plan);
	plan_from_search(&walk->resolver->search, plan);
	resolve_add_overruled(walk->resolver, plan);
	add_notes(walk->resolver, plan);
	return walk->each(plan, walk->arg) && --walk->left > 0;
}

/* Whether one of the earlier values that are `given` is the same part. */
static bool walk_has_given(const struct ranked *order, const bool *given, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (given[i] && is_same_part(order[i].value, order[at].value))
			return true;
	return false;
}

/* Fixes one main component after the other; false when enough were given. */
static bool walk_parts(struct walk *walk, size_t part)
{
	struct search *s = &walk->resolver->search;
	const struct domain *domain;
	const struct ranked *order;
	bool *given;

	while (part < ARRAY_LEN(main_parts) && !(s->parts & COMPONENT_BIT(main_parts[part])))
		part++;
	if (part == ARRAY_LEN(main_parts))
		return search_run(s) && !walk_is_best(walk) ? walk_give(walk) : true;
	domain = &s->model->domains[main_parts[part]];
	order = search_order(s, domain);
	given = ARENA_ARRAY(walk->resolver->arena, domain->count, bool);
	for (size_t i = 0; i < domain->count; i++) {
		s->fixed[main_parts[part]] = order[i].value;
		if (walk_has_given(order, given, i) || !search_run(s))
			continue;
		given[i] = true;
		if (!walk_parts(walk, part + 1))
			return false;
	}
	s->fixed[main_parts[part]] = NULL;
	return true;
}

int resolve_all(const struct catalog *catalog, const struct resolve_input *input, size_t limit,
		bool (*each)(const struct plan *plan, void *arg), void *arg, struct arena *arena,
		struct unsatisfied *why, struct error *err)
{
	struct resolver *r = ARENA_NEW(arena, struct resolver);
	struct walk walk = {
		.resolver = r, .catalog = catalog, .left = limit, .each = each, .arg = arg};

	if (resolve_begin(r, catalog, input, arena, why, err) < 0)
		return -1;
	if (!resolve_find(r))
		return resolve_explain(r);
	/* other components than the main ones may have decided it, so the walk might begin with another one */
	walk.best = r->search.now;
	if (walk_give(&walk))
		walk_parts(&walk, 0);
	return 0;
}

/* --- is a plan of yesterday still a stack? ---------------------------------------------------- */

/* The values are free again if nothing fits without them either: then the requests and the hosts are what to explain. */
static void free_fixed(struct resolver *r)
{
	const struct value *fixed[COMPONENT_COUNT];

	memcpy(fixed, r->search.fixed, sizeof(fixed));
	memset(r->search.fixed, 0, sizeof(fixed));
	if (resolve_find(r))
		memcpy(r->search.fixed, fixed, sizeof(fixed));
}

/* Explains the first of the fixed values that a unit or a rule does not allow. */
static int explain_fixed(struct resolver *r)
{
	struct search *s = &r->search;
	const char *text = NULL, *source = "";

	s->now = (struct assignment){0};
	for (int c = 0; c < COMPONENT_COUNT && !text; c++) {
		const struct value *value = s->fixed[c];

		if (!value)
			continue;
		units_explain(&r->model, &r->units, value, &text, &source);
		if (!text)
			rules_explain(s, value, &text, &source);
		s->now.chosen[c] = value;
		if (text)
			unsatisfied_add(r->why,
					arena_printf(r->arena, "%s==%s", component_names[c],
						     value->version),
					text, source);
	}
	if (!text) {
		free_fixed(r);
		return resolve_explain(r);
	}
	suggest_allow(r);
	error_set(r->err, ERROR_UNSATISFIED, "%s", text);
	return unsatisfied_advise(r->why, r->arena, r->err);
}

int plan_check(const struct catalog *catalog, const struct resolve_input *input, struct plan *plan,
	       struct arena *arena, struct unsatisfied *why, struct error *err)
{
	struct resolver *r = ARENA_NEW(arena, struct resolver);
	const struct choice *os = plan_choice(plan, "os");
	struct resolve_input own = *input;

	own.kept_arch = plan_arch(plan);
	if (resolve_begin(r, catalog, &own, arena, why, err) < 0)
		return -1;
	if (strcmp(plan_arch(plan), r->arch) != 0) {
		unsatisfied_add(why, arena_printf(arena, "arch==%s", r->arch),
				arena_printf(arena, "the stack is for %s", plan_arch(plan)), "");
		return unsatisfied(r);
	}
	for (size_t i = 0; i < plan->count; i++) {
		enum component c = component_by_name(plan->choices[i].name);

		if (c == COMPONENT_NONE || c == COMPONENT_DRIVER || c == COMPONENT_GPU)
			continue;
		/* a library of a wheel is no row of the system's, whatever has its version */
		if (*plan->choices[i].wheel && c != COMPONENT_CUDA)
			continue;
		r->search.fixed[c] = model_find_choice(&r->model.domains[c], &plan->choices[i], os);
		if (!r->search.fixed[c])
			r->search.fixed[c] =
				model_find_choice(&r->model.domains[c], &plan->choices[i], NULL);
		if (!r->search.fixed[c]) /* no row of today's catalog excludes it */
			return 0;
	}
	if (!resolve_find(r))
		return explain_fixed(r);
	resolve_add_overruled(r, plan);
	return 0;
}
