/* SPDX-License-Identifier: MIT */
#include "resolver/rules/breach.h"

#include "core/str.h"
#include "resolver/allow.h"
#include "resolver/brought.h"
#include "resolver/rules/rule_gpu.h"
#include "resolver/rules/rule_image.h"
#include "resolver/rules/rule_driver.h"
#include "resolver/search/prune.h"

#include <string.h>

static bool kind_fits(const struct value *value, const struct value *os)
{
	return !*value->packages || strcmp(value->packages, os->packages) == 0;
}

/* Packages that are older than the OS's repository are not in it. */
static bool is_before_repository(const struct value *value, const struct value *os)
{
	const char *released = *value->packages ? value_cell(value, "released") : "";

	return *released && strcmp(released, value_cell(os, "since")) < 0;
}

/*
 * CUDA is in NVIDIA's repository for the OS, or NVIDIA made an image of the two. An image gets packages of that
 * repository too, so its key must be known.
 */
static bool cuda_is_for_os(const struct value *cuda, const struct value *os)
{
	if (os->unknown_key)
		return false;
	return (os->admits[COMPONENT_CUDA] && value_admits(os, cuda)) ||
	       (os->images && bit_is_set(os->images, cuda->index));
}

bool rules_fit_system(const struct model *model, const struct value *a, const struct value *b)
{
	const struct value *cuda = a->component == COMPONENT_CUDA ? a : b;
	const struct value *other = cuda == a ? b : a;

	if (cuda->component != COMPONENT_CUDA)
		return true;
	if (other->component == COMPONENT_GCC)
		return value_admits(cuda, other) ||
		       allow_has_needs(model, COMPONENT_CUDA, COMPONENT_GCC);
	return other->component != COMPONENT_OS || cuda_is_for_os(cuda, other) ||
	       allow_has(model, RULE_CUDA_OS);
}

/*
 * Whether no stack has this CUDA on this OS: NVIDIA has nothing of it for the OS, and no wheel brings it. What
 * a stack has, repository_breach looks at.
 */
static bool cuda_is_never_on_os(const struct model *model, const struct value *cuda,
				const struct value *os)
{
	return !cuda_is_for_os(cuda, os) && !bit_is_set(model->cuda_in_wheels, cuda->index);
}

/* Checks the rules that are not plain requirement cells, for the pair in either order. */
static bool pair_breach(const struct model *model, const struct value *a, const struct value *b,
			struct breach *breach)
{
	if (b->component == COMPONENT_OS) {
		/* an OS's glibc is no rule but a fact */
		bool any_os = allow_has(model, RULE_PACKAGES_OS) && a->component != COMPONENT_GLIBC;

		if (!any_os && *a->os && strcmp(a->os, b->version) != 0)
			breach->kind = BREACH_OS;
		else if (!any_os && !kind_fits(a, b))
			breach->kind = BREACH_KIND;
		else if (!any_os && is_before_repository(a, b))
			breach->kind = BREACH_SINCE;
		else if (a->component == COMPONENT_CUDA && cuda_is_never_on_os(model, a, b) &&
			 !allow_has(model, RULE_CUDA_OS))
			breach->kind = BREACH_REPOSITORY;
		else
			return false;
		return true;
	}
	if (!model->cpu && wheels_clash(a, b) && !allow_has(model, RULE_WHEELS_CLASH)) {
		breach->kind = BREACH_WHEELS;
		return true;
	}
	if (a->component == COMPONENT_CUDA && b->component == COMPONENT_DRIVER &&
	    driver_runs(model, b->version, a, false) == ADMIT_NO &&
	    !allow_has(model, RULE_DRIVER_CUDA)) {
		breach->kind = BREACH_DRIVER;
		return true;
	}
	return false;
}

/* nvcc's compiler does not matter where wheels bring the CUDA: compiler_breach looks at what a stack has. */
static bool has_own_rule(const struct model *model, const struct value *value, enum component other)
{
	enum component c = value->component;

	return (c == COMPONENT_OS && other == COMPONENT_CUDA) ||
	       (c == COMPONENT_CUDA && other == COMPONENT_DRIVER) || c == COMPONENT_GPU ||
	       (c == COMPONENT_CUDA && other == COMPONENT_GCC &&
		bit_is_set(model->cuda_in_wheels, value->index));
}

/* Whether a cell of the value excludes the other one. */
static bool cell_excludes(const struct model *model, const struct value *value,
			  const struct value *other)
{
	return !value_admits(value, other) && !has_own_rule(model, value, other->component) &&
	       !allow_has_needs(model, value->component, other->component);
}

static bool cell_breach(const struct model *model, const struct value *value,
			const struct value *other, struct breach *breach)
{
	bool needs = cell_excludes(model, value, other);

	if (!needs && !cell_excludes(model, other, value))
		return false;
	breach->kind = needs ? BREACH_NEEDS : BREACH_NEEDED;
	return true;
}

static bool find_pair_breach(const struct model *model, const struct value *a,
			     const struct value *b, struct breach *breach)
{
	breach->other = b;
	breach->blame = COMPONENT_BIT(b->component);
	return cell_breach(model, a, b, breach) || pair_breach(model, a, b, breach) ||
	       pair_breach(model, b, a, breach);
}

bool rules_fit_pair(const struct model *model, const struct value *a, const struct value *b)
{
	struct breach ignored;

	return a->component == b->component || !find_pair_breach(model, a, b, &ignored);
}

const uint64_t *rules_admitted(const struct model *model, const struct value *value,
			       enum component component)
{
	return has_own_rule(model, value, component) ||
			       allow_has_needs(model, value->component, component)
		       ? NULL
		       : admitted_bits(value->admits[component]);
}

/* Whether pair_breach has something to say about them. */
static bool has_pair_rule(enum component a, enum component b)
{
	const uint32_t both = COMPONENT_BIT(a) | COMPONENT_BIT(b);

	return (both & COMPONENT_BIT(COMPONENT_OS)) || !(both & ~COMPONENTS_FRAMEWORK) ||
	       both == (COMPONENT_BIT(COMPONENT_CUDA) | COMPONENT_BIT(COMPONENT_DRIVER));
}

bool rules_concern(const struct model *model, enum component a, enum component b)
{
	return (model->asks[a] & COMPONENT_BIT(b)) || (model->asks[b] & COMPONENT_BIT(a)) ||
	       has_pair_rule(a, b);
}

bool rules_fit_admitted(const struct model *model, const struct value *a, const struct value *b)
{
	struct breach ignored;

	return !cell_excludes(model, b, a) &&
	       (!has_pair_rule(a->component, b->component) ||
		(!pair_breach(model, a, b, &ignored) && !pair_breach(model, b, a, &ignored)));
}

/* --- conflicts.csv ------------------------------------------------------------------------ */

static uint32_t chosen_parts(const struct search *s)
{
	uint32_t parts = 0;

	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (s->now.chosen[c])
			parts |= COMPONENT_BIT(c);
	return parts;
}

/* Whether the rule's conditions on drivers, or on GPUs, hold for this one. */
static bool pin_passes(const struct unit *unit, const struct conflict_rule *rule)
{
	for (size_t k = 0; k < rule->conditions.count; k++) {
		const struct condition *condition = &rule->conditions.list[k];

		if (condition->component == unit->component &&
		    !condition_holds(condition, unit->driver ? unit->driver : unit->product,
				     unit->sm))
			return false;
	}
	return true;
}

/* The first active driver or GPU of the hosts that passes the rule and is beside `other`, unless NULL. */
static const struct unit *find_passing(const struct search *s, int c, size_t rule,
				       const struct unit *other)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if ((s->active >> i & 1) && unit->is_pin && (int)unit->component == c &&
		    (!other || unit_meets(unit, other)) &&
		    pin_passes(unit, &s->model->conflicts[rule]))
			return unit;
	}
	return NULL;
}

/*
 * Whether the hosts' drivers and GPUs pass the rule. They are in no assignment, but rules concern
 * them too. A rule about both is about a driver and a GPU of one host.
 */
static bool pins_pass(const struct search *s, uint32_t components, size_t rule)
{
	bool driver = components & COMPONENT_BIT(COMPONENT_DRIVER);

	if (!driver || !(components & COMPONENT_BIT(COMPONENT_GPU)))
		return find_passing(s, driver ? COMPONENT_DRIVER : COMPONENT_GPU, rule, NULL);
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if ((s->active >> i & 1) && unit->driver &&
		    pin_passes(unit, &s->model->conflicts[rule]) &&
		    find_passing(s, COMPONENT_GPU, rule, unit))
			return true;
	}
	return false;
}

/* Whether the rule is about such requests. */
static bool is_about(const struct search *s, const struct conflict_rule *rule)
{
	return !(rule->without & components_with_bases(s->units->asked));
}

const struct conflict_rule *rules_refuse_pins(const struct search *s)
{
	const uint32_t pins = COMPONENT_BIT(COMPONENT_DRIVER) | COMPONENT_BIT(COMPONENT_GPU);

	for (size_t k = 0; k < s->model->conflict_count; k++) {
		const struct conflict_rule *rule = &s->model->conflicts[k];
		bool holds =
			rule->refuses && !(rule->components & ~pins) && !bit_is_set(s->waived, k);

		if (holds && pins_pass(s, rule->components, k))
			return rule;
	}
	return NULL;
}

/* Whether what is chosen, and the hosts' drivers and GPUs, pass the rule's conditions on these components. */
static bool sides_pass(const struct search *s, uint32_t components, size_t rule)
{
	uint32_t pins = 0;

	for (int c = 0; c < COMPONENT_COUNT; c++) {
		if (!(components & COMPONENT_BIT(c)))
			continue;
		if (!s->now.chosen[c])
			pins |= COMPONENT_BIT(c);
		else if (!bit_is_set(s->now.chosen[c]->passes, rule))
			return false;
	}
	return !pins || pins_pass(s, pins, rule);
}

void rules_prepare(struct search *s, enum component component)
{
	const struct model *model = s->model;
	uint32_t own = COMPONENT_BIT(component), parts = chosen_parts(s) | own |
							 COMPONENT_BIT(COMPONENT_DRIVER) |
							 COMPONENT_BIT(COMPONENT_GPU);
	uint64_t *threat = s->threats[component];

	memset(threat, 0, model->conflict_words * sizeof(*threat));
	for (size_t k = 0; k < model->conflict_count; k++) {
		const struct conflict_rule *rule = &model->conflicts[k];
		bool complete = rule->refuses && is_about(s, rule) && (rule->components & own) &&
				!(rule->components & ~parts) && !bit_is_set(s->waived, k);

		if (complete && sides_pass(s, rule->components & ~own, k))
			threat[k / 64] |= 1ULL << (k % 64);
	}
}

static bool conflict_breach(const struct search *s, const struct value *value,
			    struct breach *breach)
{
	const uint64_t *threat = s->threats[value->component];

	for (size_t word = 0; word < s->model->conflict_words; word++) {
		uint64_t hit = threat[word] & value->passes[word];

		if (!hit)
			continue;
		breach->kind = BREACH_CONFLICT;
		breach->conflict = &s->model->conflicts[word * 64 + (size_t)__builtin_ctzll(hit)];
		breach->blame = breach->conflict->components & ~COMPONENT_BIT(value->component);
		return true;
	}
	return false;
}

/* --- GPUs that are newer than the toolkit -------------------------------------------------- */

/* Whether a GPU can run this CUDA only by compiling PTX. */
static bool needs_jit(const struct search *s, const struct value *cuda)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const uint8_t *admits = s->units->list[i].admits[COMPONENT_CUDA];

		if (s->active >> i & 1 && admits && admits[cuda->index] == ADMIT_JIT)
			return true;
	}
	return false;
}

/* Whether the GPU can run this CUDA only by compiling PTX, and a driver beside it is older than the CUDA. */
static bool jit_meets_older_driver(const struct search *s, const struct unit *gpu,
				   const struct value *cuda)
{
	if (!gpu->admits[COMPONENT_CUDA] || gpu->admits[COMPONENT_CUDA][cuda->index] != ADMIT_JIT)
		return false;
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		const uint8_t *admits = unit->admits[COMPONENT_CUDA];

		if (s->active >> i & 1 && admits && unit_meets(gpu, unit) &&
		    (admits[cuda->index] == ADMIT_MINOR || admits[cuda->index] == ADMIT_COMPAT ||
		     (unit->driver && admits[cuda->index] == ADMIT_OVERRULED)))
			return true;
	}
	return false;
}

/* PTX that is newer than the driver's own CUDA is not covered by minor-version compatibility. */
static bool has_older_driver(const struct search *s, const struct value *cuda)
{
	const struct value *driver = s->now.chosen[COMPONENT_DRIVER];

	if (driver && driver_runs(s->model, driver->version, cuda, false) != ADMIT_YES)
		return true;
	for (size_t i = 0; i < s->units->count; i++)
		if (s->active >> i & 1 && jit_meets_older_driver(s, &s->units->list[i], cuda))
			return true;
	return false;
}

/* PTX works only for newer GPUs: a GPU of 8.0 cannot use PTX of 12.0. */
static bool has_ptx_for(const struct search *s, const struct value *wheel, const struct value *cuda)
{
	const char *ptx = value_cell(wheel, "ptx");

	for (size_t i = 0; i < s->units->count && *ptx; i++) {
		const struct unit *unit = &s->units->list[i];
		const uint8_t *admits = unit->admits[COMPONENT_CUDA];

		if ((s->active >> i & 1) && unit->sm && admits &&
		    admits[cuda->index] == ADMIT_JIT && version_compare(unit->sm, ptx) < 0)
			return false;
	}
	return *ptx != '\0';
}

static bool jit_breach(const struct search *s, const struct value *cuda, struct breach *breach)
{
	bool any = false;

	if (allow_has(s->model, RULE_GPU_PTX) || !needs_jit(s, cuda))
		return false;
	breach->kind = BREACH_JIT;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];

		if (!wheel)
			continue;
		any |= has_ptx_for(s, wheel, cuda);
		breach->blame |= COMPONENT_BIT(c);
		breach->other = wheel;
	}
	return !any || has_older_driver(s, cuda);
}

/* A wheel whose PTX is newer than the compiler in the driver. */
static bool ptx_breach(const struct search *s, const struct value *cuda, struct breach *breach)
{
	struct stale_driver stale;

	if (allow_has(s->model, RULE_DRIVER_PTX))
		return false;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		if (!s->now.chosen[c] || !find_stale_driver(s, s->now.chosen[c], cuda, &stale))
			continue;
		breach->kind = BREACH_PTX;
		breach->other = s->now.chosen[c];
		breach->blame = COMPONENT_BIT(c);
		if (s->now.chosen[COMPONENT_DRIVER])
			breach->blame |= COMPONENT_BIT(COMPONENT_DRIVER);
		return true;
	}
	return false;
}

/* --- CUDA of the system ---------------------------------------------------------------------- */

/*
 * Whether the value takes something that is NVIDIA's for the OS: a CUDA that no wheel of this stack brings, or
 * whose headers a library of the network is built with, and a cuDNN or NCCL beside the wheel's that is a package,
 * or that is compiled with the toolkit. An archive needs nothing of the OS.
 */
static bool takes_repository(const struct search *s, const struct value *value,
			     const struct value *cuda)
{
	const char *ignored;

	if (value->component != COMPONENT_CUDNN && value->component != COMPONENT_NCCL)
		return (value->component == COMPONENT_CUDA || value->component == COMPONENT_OS) &&
		       ((s->parts & COMPONENTS_FABRIC) || !brings_cuda(s, cuda));
	return strcmp(value->kind, "tar") != 0 && !brought_by(s, value->component, &ignored);
}

/* What decides whether wheels bring the CUDA of the stack. */
static uint32_t blame_of_system(const struct value *value)
{
	uint32_t blame = COMPONENTS_FRAMEWORK | COMPONENTS_BESIDE_TORCH |
			 COMPONENT_BIT(COMPONENT_HOROVOD) | COMPONENTS_FABRIC |
			 COMPONENT_BIT(COMPONENT_CUDA);

	return blame & ~COMPONENT_BIT(value->component);
}

/* A compiler that nvcc refuses, where the stack has a toolkit. */
static bool compiler_breach(const struct search *s, const struct value *value,
			    struct breach *breach)
{
	bool is_cuda = value->component == COMPONENT_CUDA;
	const struct value *cuda = is_cuda ? value : s->now.chosen[COMPONENT_CUDA];
	const struct value *gcc = is_cuda ? s->now.chosen[COMPONENT_GCC] : value;

	if (!cuda || !gcc || gcc->component != COMPONENT_GCC ||
	    rules_fit_system(s->model, cuda, gcc) || brings_cuda(s, cuda))
		return false;
	breach->kind = is_cuda ? BREACH_NEEDS : BREACH_NEEDED;
	breach->other = is_cuda ? gcc : cuda;
	breach->blame = blame_of_system(value) |
			(is_cuda ? COMPONENT_BIT(COMPONENT_GCC) : COMPONENT_BIT(COMPONENT_NCCL));
	return true;
}

static bool repository_breach(const struct search *s, const struct value *value,
			      struct breach *breach)
{
	const struct value *const *chosen = s->now.chosen;
	const struct value *cuda =
		value->component == COMPONENT_CUDA ? value : chosen[COMPONENT_CUDA];
	const struct value *os = value->component == COMPONENT_OS ? value : chosen[COMPONENT_OS];

	if (!cuda || !os || cuda_is_for_os(cuda, os) || !takes_repository(s, value, cuda) ||
	    allow_has(s->model, RULE_CUDA_OS))
		return false;
	breach->kind = BREACH_REPOSITORY;
	breach->other = os == value ? cuda : os;
	breach->blame = blame_of_system(value);
	if (os != value)
		breach->blame |= COMPONENT_BIT(COMPONENT_OS);
	return true;
}

/* ------------------------------------------------------------------------------------------- */

static bool find_other_breach(const struct search *s, const struct value *value,
			      struct breach *breach)
{
	*breach = (struct breach){0};
	if (value->component == COMPONENT_CUDA &&
	    (ptx_breach(s, value, breach) || jit_breach(s, value, breach)))
		return true;
	*breach = (struct breach){0};
	return repository_breach(s, value, breach) || compiler_breach(s, value, breach) ||
	       conflict_breach(s, value, breach);
}

bool breach_find(const struct search *s, const struct value *value, struct breach *breach)
{
	const struct value *os = s->now.chosen[COMPONENT_OS];

	*breach = (struct breach){0};
	/* an OS has one glibc, so a breach by the glibc of another OS explains nothing */
	if (os && value->component == COMPONENT_GLIBC &&
	    find_pair_breach(s->model, value, os, breach))
		return true;
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *other = s->now.chosen[c];

		if (other && c != (int)value->component &&
		    find_pair_breach(s->model, value, other, breach))
			return true;
	}
	return find_other_breach(s, value, breach);
}

bool rules_fit_rest(const struct search *s, const struct value *value, uint32_t *blame)
{
	struct breach breach;

	if (!find_other_breach(s, value, &breach))
		return true;
	*blame |= breach.blame;
	return false;
}

bool rules_fit(const struct search *s, const struct value *value, uint32_t *blame)
{
	struct breach breach;

	if (!breach_find(s, value, &breach))
		return true;
	*blame |= breach.blame;
	return false;
}

static int rank_build(const struct search *s, const struct value *value)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];

	if (value->tier == TIER_UNCHECKED)
		return 3;
	if (!*value->built || !cuda || version_in_series(cuda->version, value->built))
		return 0;
	return version_compare(value->built, cuda->version) < 0 ? 1 : 2;
}

/* Whether the later components' open values all pass the rule's conditions, so that it holds whichever is chosen. */
static bool later_pass(const struct search *s, enum component at, uint32_t later, size_t rule)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct domain *domain = &s->model->domains[c];
		size_t first, i;

		if (!(later & COMPONENT_BIT(c)))
			continue;
		first = prune_next(s, s->live[at], (enum component)c, 0);
		for (i = first; i < domain->count && bit_is_set(domain->values[i].passes, rule);)
			i = prune_next(s, s->live[at], (enum component)c, i + 1);
		if (first == domain->count || i < domain->count)
			return false;
	}
	return true;
}

/*
 * Whether the value has a known defect that published stacks have lived with: alone, with what is chosen, with all that
 * is left to choose, or with the hosts' drivers and GPUs.
 */
static bool has_risk(const struct search *s, const struct value *value)
{
	uint32_t own = COMPONENT_BIT(value->component);
	uint32_t parts = chosen_parts(s) | own | COMPONENT_BIT(COMPONENT_DRIVER) |
			 COMPONENT_BIT(COMPONENT_GPU);

	for (size_t k = 0; k < s->model->conflict_count; k++) {
		const struct conflict_rule *rule = &s->model->conflicts[k];
		uint32_t later = rule->components & ~parts;
		bool holds = rule->is_risk && is_about(s, rule) && (rule->components & own) &&
			     !(later & ~s->parts) && bit_is_set(value->passes, k);

		if (holds && sides_pass(s, rule->components & parts & ~own, k) &&
		    later_pass(s, value->component, later, k))
			return true;
	}
	return false;
}

/* Whether the value completes a known conflict that a person has overruled. */
static bool completes_overruled(const struct search *s, const struct value *value)
{
	for (size_t k = 0; k < s->model->conflict_count; k++) {
		const struct conflict_rule *rule = &s->model->conflicts[k];
		uint32_t own = COMPONENT_BIT(value->component);
		bool holds = rule->is_overruled && is_about(s, rule) && (rule->components & own) &&
			     bit_is_set(value->passes, k);

		if (holds && sides_pass(s, rule->components & ~own, k))
			return true;
	}
	return false;
}

/* How many overruled rules the value breaks with the hosts and with what is chosen. */
static int count_overruled(const struct search *s, const struct value *value)
{
	const struct model *strict = s->model->strict;
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];
	bool is_system = !brings_cuda(s, value->component == COMPONENT_CUDA ? value : cuda);
	int count = completes_overruled(s, value);

	for (size_t i = 0; i < s->units->count; i++) {
		const uint8_t *admits = s->units->list[i].admits[value->component];

		count += (s->active >> i & 1) && admits && admits[value->index] == ADMIT_OVERRULED;
	}
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *other = s->now.chosen[c];

		count += other && (!rules_fit_pair(strict, value, other) ||
				   (is_system && !rules_fit_system(strict, value, other)));
	}
	return count;
}

/* Whether the value was tested with a CUDA that the requests admit. */
static bool likes_asked_cuda(const struct search *s, const struct value *value)
{
	const struct domain *cuda = &s->model->domains[COMPONENT_CUDA];
	const uint64_t *liked = admitted_bits(value->likes[COMPONENT_CUDA]);

	for (size_t i = 0; liked && i < cuda->count; i++)
		if (bit_is_set(liked, i) && search_admits(s, &cuda->values[i]))
			return true;
	return false;
}

/* Whether the frameworks that are chosen can use the CUDA that the wheel brings. */
static bool brings_what_fits(const struct search *s, const struct value *wheel)
{
	const char *series = wheel->brings[COMPONENT_CUDA];

	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET && series; c++) {
		const struct value *other = s->now.chosen[c];

		if (other && other->needs[COMPONENT_CUDA] &&
		    !needs_admit(other->needs[COMPONENT_CUDA], series))
			return false;
	}
	return true;
}

/*
 * Whether another build of the release is better: it was tested with what a request about CUDA admits, or brings a CUDA
 * that the chosen frameworks use too, and this one was and does not.
 */
static bool has_better_build(const struct search *s, const struct value *value)
{
	const struct domain *domain = &s->model->domains[value->component];
	bool asked =
		(s->units->asked & COMPONENT_BIT(COMPONENT_CUDA)) && !likes_asked_cuda(s, value);
	bool shared = !brings_what_fits(s, value);
	uint32_t blame = 0;

	if (!*value_cell(value, "brings") || (!asked && !shared))
		return false;
	for (size_t i = 0; i < domain->count; i++) {
		const struct value *other = &domain->values[i];

		if (other != value && strcmp(other->version, value->version) == 0 &&
		    search_admits(s, other) && (!asked || likes_asked_cuda(s, other)) &&
		    (!shared || brings_what_fits(s, other)) && rules_fit(s, other, &blame))
			return true;
	}
	return false;
}

int rules_rank(const struct search *s, const struct value *value)
{
	const char *hint = s->hints ? s->hints[value->component] : NULL;
	int rank = 1 + rank_build(s, value);

	if (hint && strcmp(hint, value->version) == 0)
		return 0;
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *other = s->now.chosen[c];

		const uint64_t *liked =
			other ? admitted_bits(other->likes[value->component]) : NULL;

		if (liked && !bit_is_set(liked, value->index))
			rank += 2;
	}
	if (value->component == COMPONENT_CUDA)
		rank += gate_refuses_any(s, value) + (brings_cuda(s, value) ? 0 : RANK_UNUSED_CUDA);
	rank += has_risk(s, value) + has_better_build(s, value);
	if (s->model->strict && !(COMPONENT_BIT(value->component) & COMPONENTS_FRAMEWORK))
		rank += RANK_OVERRULED * count_overruled(s, value);
	return rank < RANK_MAX ? rank : RANK_MAX - 1;
}
