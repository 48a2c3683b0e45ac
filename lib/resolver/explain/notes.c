/* SPDX-License-Identifier: MIT */
/* The notes of a plan: settings, workarounds and hints that come with the stack. */
#include "resolver/explain/notes.h"

#include "resolver/explain/reason.h"

#include "resolver/brought.h"
#include "resolver/rules/base_tag.h"
#include "resolver/rules/rule_gpu.h"
#include "resolver/rules/rule_image.h"
#include "resolver/rules/rule_driver.h"

#include <string.h>

/* --- what must be said aloud ----------------------------------------------------------------- */

void plan_add_note(struct plan *plan, const char *note)
{
	if (note && *note && plan->note_count < PLAN_NOTES_MAX)
		plan->notes[plan->note_count++] = note;
}

void plan_add_base_notes(struct plan *plan, const struct catalog *catalog, const char *base,
			 struct arena *arena)
{
	const struct choice *cuda = plan_choice(plan, "cuda");
	const char *of_base = base_tag_cuda(base, arena);
	struct base_tag tag;

	base_tag_check(catalog, base, arena, &tag);
	if (tag.because && !tag.refused)
		plan_add_note(plan,
			      arena_printf(arena, "%s: %s [%s]", base, tag.because, tag.source));
	if (*of_base && cuda && *cuda->wheel && strcmp(of_base, cuda->version) != 0)
		plan_add_note(
			plan,
			arena_printf(
				arena,
				"%s loads the CUDA %s that its wheel brings, and not the CUDA %s of image.base %s",
				cuda->wheel, cuda->version, of_base, base));
}

static void note_gate(struct search *s, struct plan *plan)
{
	const char *source, *gate = gate_sentence(s, s->now.chosen[COMPONENT_CUDA], &source);

	if (!gate || !strstr(plan->base.name, "nvidia/cuda"))
		return;
	plan_add_note(plan, arena_printf(s->model->arena, "%s [%s]", gate, source));
	plan->env[plan->env_count++] = "NVIDIA_DISABLE_REQUIRE=true";
}

static void note_compat(struct search *s, struct plan *plan)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];
	const char *dot = strchr(cuda->version, '.');

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		int major = (int)strcspn(cuda->version, "."), minor;

		if (!unit->driver ||
		    driver_runs(s->model, unit->driver, cuda, unit->compat) != ADMIT_COMPAT)
			continue;
		minor = dot ? (int)strcspn(dot + 1, ".") : 0;
		plan_add_note(
			plan,
			arena_printf(
				s->model->arena,
				"driver %s runs CUDA %s by forward compatibility alone: the image needs cuda-compat-%.*s-%.*s, and the hosts an NVIDIA container toolkit that puts it in place (not 1.17.4, which leaves it out; 1.17.5 and later do by a hook; 1.18.0 needs 1.18.1's fix)",
				unit->driver, cuda->version, major, cuda->version, minor,
				dot ? dot + 1 : ""));
		return;
	}
}

static void note_jit(struct search *s, struct plan *plan)
{
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++)
		for (size_t i = 0; i < s->units->count && s->now.chosen[c]; i++) {
			const struct unit *unit = &s->units->list[i];

			if (unit->sm &&
			    gpu_takes_wheel(s->model, unit, s->now.chosen[c]) == ADMIT_JIT)
				plan_add_note(
					plan,
					arena_printf(
						s->model->arena,
						"%s has no machine code for %s (compute capability %s): the driver compiles its PTX at the first start, which takes minutes",
						value_title(s->now.chosen[c], s->model->arena),
						unit->product, unit->sm));
		}
}

/* A toolkit that is older than the GPU and still makes code that runs on it. */
static void note_older_code(struct search *s, struct plan *plan)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		const struct needs *needs = unit->gpu ? unit->gpu->needs[COMPONENT_CUDA] : NULL;
		const char *most = strstr(value_cell(cuda, "sm"), "<=");

		if (needs && most && !needs_admit(needs, cuda->version) &&
		    version_compare(unit->sm, most + 2) > 0 &&
		    gpu_takes_cuda(unit, cuda) == ADMIT_YES)
			plan_add_note(
				plan,
				arena_printf(
					s->model->arena,
					"CUDA %s makes no code for %s (compute capability %s): its machine code of the same major capability, up to %s, runs there [%s]",
					cuda->version, unit->product, unit->sm, most + 2,
					unit->gpu->source));
	}
}

static void note_driver_hint(struct search *s, struct plan *plan)
{
	for (size_t g = 0; g < s->units->count; g++)
		for (size_t d = 0; d < s->units->count; d++) {
			const struct unit *gpu = &s->units->list[g], *driver = &s->units->list[d];
			const struct needs *needs =
				gpu->gpu ? gpu->gpu->needs[COMPONENT_DRIVER] : NULL;

			if (needs && driver->driver && unit_meets(gpu, driver) &&
			    strchr(driver->driver, '.') && !needs_admit(needs, driver->driver))
				plan_add_note(
					plan,
					arena_printf(
						s->model->arena,
						"%s wants driver %s (a hint without a source), and %s is given",
						gpu->product, needs->text, driver->driver));
		}
}

/* Whether a driver of the hosts fits the condition. */
static bool has_driver(const struct search *s, const struct needs *needs)
{
	for (size_t i = 0; i < s->units->count; i++)
		if (s->units->list[i].driver &&
		    (!needs || needs_admit(needs, s->units->list[i].driver)))
			return true;
	return false;
}

/* Notes that no driver was given, and that no known one supports all GPUs of the hosts. */
static void note_driver_shown(struct search *s, struct plan *plan)
{
	const struct choice *shown = plan_choice(plan, "driver");

	if (!shown || has_driver(s, NULL))
		return;
	for (size_t g = 0; g < s->units->count; g++) {
		const struct value *gpu = s->units->list[g].gpu;
		const struct needs *needs = gpu ? gpu->needs[COMPONENT_DRIVER] : NULL;

		if (needs && !needs_admit(needs, shown->version))
			plan_add_note(
				plan,
				arena_printf(
					s->model->arena,
					"%s wants driver %s (a hint without a source): no known driver is for all of these GPUs, so hosts of each model need one of their own",
					s->units->list[g].product, needs->text));
	}
}

/* Whether a GPU of the hosts fits the condition. */
static bool notes_has_gpu(const struct search *s, const struct condition *condition)
{
	for (size_t i = 0; i < s->units->count; i++)
		if (s->units->list[i].sm &&
		    condition_holds(condition, s->units->list[i].product, s->units->list[i].sm))
			return true;
	return false;
}

static bool notes_holds(const struct search *s, const struct conflict_rule *rule)
{
	for (size_t i = 0; i < rule->conditions.count; i++) {
		const struct condition *condition = &rule->conditions.list[i];
		const struct value *value = s->now.chosen[condition->component];
		const char *version = value ? value->version : NULL;

		if (condition->is_absent && !value)
			continue;
		if (condition->component == COMPONENT_DRIVER && has_driver(s, condition->needs))
			continue;
		if (condition->component == COMPONENT_GPU && notes_has_gpu(s, condition))
			continue;
		if (value)
			brought_by(s, condition->component, &version);
		if (!version || condition->is_absent ||
		    (condition->needs && !needs_admit(condition->needs, version)))
			return false;
	}
	return true;
}

/*
 * Whether another note says it already: note_os() says more about an old OS than a row on only that
 * OS.
 */
static bool is_said(const struct search *s, const struct conflict_rule *rule)
{
	return rule->components == COMPONENT_BIT(COMPONENT_OS) &&
	       *value_cell(s->now.chosen[COMPONENT_OS], "mirror");
}

/* A library that requests name stands beside the one that a wheel brings and loads. */
static void note_beside(struct search *s, const struct value *wheel, const struct value *own,
			struct plan *plan)
{
	const char *brings = wheel ? wheel->brings[own->component] : NULL;

	if (brings && !version_in_series(own->version, brings) && !brought_over(s, own->component))
		plan_add_note(
			plan,
			arena_printf(s->model->arena,
				     "%s loads the %s %s that its wheel brings, and not %s [%s]",
				     value_title(wheel, s->model->arena),
				     component_titles[own->component], brings,
				     value_title(own, s->model->arena), wheel->source));
}

/* torch before 2.1 has an NCCL compiled in: Horovod and the worker load the stack's. */
static void note_compiled_in(struct search *s, struct plan *plan)
{
	const struct value *torch = s->now.chosen[COMPONENT_TORCH],
			   *nccl = s->now.chosen[COMPONENT_NCCL];
	const char *own = torch && nccl && !torch->brings[COMPONENT_NCCL]
				  ? value_cell(torch, "nccl_bundled")
				  : "";

	if (*own && !version_in_series(nccl->version, own))
		plan_add_note(
			plan,
			arena_printf(
				s->model->arena,
				"%s has NCCL %s compiled in; what else uses NCCL, and the test of the network, loads %s [%s]",
				value_title(torch, s->model->arena), own,
				value_title(nccl, s->model->arena), torch->source));
}

static void note_libraries(struct search *s, struct plan *plan)
{
	note_compiled_in(s, plan);
	for (int c = 0; c < COMPONENT_COUNT; c++)
		for (int w = COMPONENT_TENSORFLOW; w <= COMPONENT_MXNET; w++)
			if (s->now.chosen[c] && (s->units->asked & COMPONENT_BIT(c)))
				note_beside(s, s->now.chosen[w], s->now.chosen[c], plan);
}

static void note_warnings(struct search *s, struct plan *plan)
{
	for (size_t k = 0; k < s->model->conflict_count; k++) {
		const struct conflict_rule *rule = &s->model->conflicts[k];

		if (!rule->refuses && !rule->is_overruled && !rule->is_met &&
		    notes_holds(s, rule) && !is_said(s, rule))
			plan_add_note(plan, arena_printf(s->model->arena, "%s: %s; %s%s [%s]",
							 rule->text, rule->symptom,
							 rule->is_worked_around
								 ? "the recipe works around it: "
								 : "",
							 rule->fix, rule->source));
	}
}

static void note_os(struct search *s, struct plan *plan)
{
	const struct value *os = s->now.chosen[COMPONENT_OS];
	const char *mirror = value_cell(os, "mirror");

	if (*mirror)
		plan_add_note(
			plan,
			arena_printf(
				s->model->arena,
				"%s reached its end of life in %s: its packages come from %s [%s]",
				os->version, value_cell(os, "eol"), mirror, os->source));
}

/* Another patch version than the one that was asked for (ADMIT_SERIES). */
static void note_series(struct search *s, struct plan *plan)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		const uint8_t *admits = unit->admits[unit->component];
		const struct value *chosen = s->now.chosen[unit->component];

		if (unit->is_pin || !admits || !chosen || admits[chosen->index] != ADMIT_SERIES)
			continue;
		plan_add_note(
			plan,
			arena_printf(
				s->model->arena,
				"%s: %s has %s %s, which counts as the same, because the rules go by the series",
				unit->text, s->now.chosen[COMPONENT_OS]->version,
				component_names[unit->component], chosen->version));
	}
}

/* "libcudnn7=7.6.4.38-1+cuda9.0" when the chosen build is in the machine-learning repository. */
static const char *ml_packages(const struct search *s, enum component c)
{
	const struct value *value = s->now.chosen[c], *os = s->now.chosen[COMPONENT_OS];
	const char *built = value_cell(os, "ml_built");
	struct error ignored = {0};
	struct needs needs;
	const char *version;

	if (!value || brought_by(s, c, &version) || !*built || !*value_cell(os, "ml_repository") ||
	    !*value->built || needs_parse(built, s->model->arena, &needs, &ignored) < 0 ||
	    !needs_admit(&needs, value->built))
		return "";
	return value_cell(value, "run_packages");
}

/* The CUDA repository changed its key in 2022 and never held the old cuDNN and NCCL packages. */
static void note_ml_repository(struct search *s, struct plan *plan)
{
	const struct value *os = s->now.chosen[COMPONENT_OS];
	const char *cudnn = ml_packages(s, COMPONENT_CUDNN), *nccl = ml_packages(s, COMPONENT_NCCL);

	if (!*cudnn && !*nccl)
		return;
	plan_add_note(
		plan,
		arena_printf(
			s->model->arena,
			"%s%s%s: from NVIDIA's machine-learning repository %s, whose key is still %s [%s]",
			cudnn, *cudnn && *nccl ? " and " : "", nccl,
			value_cell(os, "ml_repository"), value_cell(os, "ml_key"), os->source));
}

/*
 * Versions newer than those of Horovod's own tests are allowed, but not guaranteed, so there is a
 * note.
 */
static void note_tested(struct search *s, struct plan *plan)
{
	const struct value *horovod = s->now.chosen[COMPONENT_HOROVOD];

	for (int c = COMPONENT_TENSORFLOW; horovod && c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const struct needs *tested = horovod->prefers[c];

		if (wheel && tested && tested->count &&
		    version_compare(wheel->version, tested->alternatives[0].clauses[0].version) >
			    0 &&
		    !needs_admit(tested, wheel->version))
			plan_add_note(
				plan,
				arena_printf(
					s->model->arena,
					"%s is newer than what %s was tested with (%s %s) [%s]",
					value_title(wheel, s->model->arena),
					value_title(horovod, s->model->arena), component_titles[c],
					tested->text, horovod->source));
	}
}

/* recipes/wheels has sets of packages for one framework each, and two sets would undo each other. */
static void note_unpinned(struct search *s, struct plan *plan)
{
	struct arena *arena = s->model->arena;
	const char *names = NULL, *from = "";
	size_t count = 0;

	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *title = wheel ? value_title(wheel, arena) : NULL;
		const struct choice *choice = wheel ? plan_choice(plan, component_names[c]) : NULL;

		if (!wheel)
			continue;
		count++;
		names = names ? arena_printf(arena, "%s and %s", names, title) : title;
		if (choice && *choice->index)
			from = arena_printf(arena, "%s; %s comes from %s", from, title,
					    choice->index);
	}
	if (count > 1)
		plan_add_note(
			plan,
			arena_printf(
				arena,
				"%s in one image: pip installs them one after the other without checksums, since the sets of packages with checksums are for one framework each%s",
				names, from));
}

static void note_rdma(struct search *s, struct plan *plan)
{
	const struct value *os = s->now.chosen[COMPONENT_OS];

	if (os && !*value_cell(os, "ibverbs_packages"))
		plan_add_note(
			plan,
			arena_printf(
				s->model->arena,
				"no libibverbs is known in the archives of %s: NCCL goes by TCP on InfiniBand and RoCE too [%s]",
				os->version, os->source));
}

void plan_add_notes(struct search *s, struct plan *plan)
{
	if (*plan->base.replaces)
		plan_add_note(plan, arena_printf(s->model->arena, "%s [%s]", plan->base.note,
						 plan->base.source));
	if (!s->model->cpu) {
		note_gate(s, plan);
		note_compat(s, plan);
		note_jit(s, plan);
		note_older_code(s, plan);
		note_driver_hint(s, plan);
		note_driver_shown(s, plan);
		note_rdma(s, plan);
	}
	note_os(s, plan);
	note_unpinned(s, plan);
	note_series(s, plan);
	note_ml_repository(s, plan);
	note_tested(s, plan);
	if (!s->model->cpu)
		note_libraries(s, plan);
	note_warnings(s, plan);
	for (size_t i = 0; i < s->units->unknown_count; i++)
		plan_add_note(plan, s->units->unknown[i]);
}
