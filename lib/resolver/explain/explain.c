/* SPDX-License-Identifier: MIT */
/* Turns the rules of rules.c and the units of request.c into sentences. */
#include "resolver/explain/explain.h"

#include "resolver/rules/breach.h"

#include "core/str.h"
#include "resolver/search/known.h"
#include "resolver/rules/rule_gpu.h"

#include <string.h>

/* "==2.7.*|>=3.3;<3.7" as people read it: "==2.7.* or >=3.3,<3.7". */
static const char *readable(const char *cell, struct arena *arena)
{
	struct str out = STR_INIT;
	char *text;

	for (; *cell; cell++) {
		if (*cell == '|')
			str_add(&out, " or ");
		else
			str_add_char(&out, *cell == ';' ? ',' : *cell);
	}
	text = arena_strdup(arena, out.text);
	str_release(&out);
	return text;
}

/* An OS has one glibc: "; ubuntu16.04 has 2.23". */
static const char *os_has(const struct value *value, struct arena *arena)
{
	if (value->component != COMPONENT_GLIBC || !*value->os)
		return "";
	return arena_printf(arena, ", and %s has %s", value->os, value->version);
}

const char *needs_sentence(const struct value *value, const struct value *other,
			   struct arena *arena)
{
	if (strcmp(value->needs[other->component]->text, "<0") == 0)
		return arena_printf(arena, "%s goes with no %s%s%s", value_title(value, arena),
				    component_titles[other->component],
				    other->component == COMPONENT_CUDA ? ", " : "",
				    other->component == COMPONENT_CUDA ? value_cell(value, "note")
								       : "");
	return arena_printf(arena, "%s needs %s %s", value_title(value, arena),
			    component_titles[other->component],
			    readable(value->needs[other->component]->text, arena));
}

static const char *joined(const char *a, const char *b, struct arena *arena)
{
	return strcmp(a, b) == 0 || !*b ? a : arena_printf(arena, "%s;%s", a, b);
}

/* "H100 PCIe (9.0)": the first GPU that this CUDA has no machine code for. */
static const char *newer_gpu(const struct search *s, const struct value *cuda)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		const uint8_t *admits = unit->admits[COMPONENT_CUDA];

		if ((s->active >> i & 1) && unit->sm && admits && admits[cuda->index] == ADMIT_JIT)
			return arena_printf(s->model->arena, "%s (%s)", unit->product, unit->sm);
	}
	return "a GPU that is there";
}

static const char *jit_sentence(const struct search *s, const struct value *cuda,
				const struct breach *breach)
{
	struct arena *arena = s->model->arena;
	const char *range = readable(value_cell(cuda, "sm"), arena);

	if (!breach->other)
		return arena_printf(arena,
				    "CUDA %s makes code for compute capability %s, and %s is newer",
				    cuda->version, range, newer_gpu(s, cuda));
	return arena_printf(
		arena,
		"CUDA %s makes code for compute capability %s, %s is newer, and %s brings no PTX that the driver can compile for it",
		cuda->version, range, newer_gpu(s, cuda), value_title(breach->other, arena));
}

static const char *ptx_sentence(const struct search *s, const struct value *cuda,
				const struct value *wheel)
{
	struct arena *arena = s->model->arena;
	struct stale_driver stale;

	find_stale_driver(s, wheel, cuda, &stale);
	return arena_printf(
		arena,
		"%s has no machine code for %s (compute capability %s), only PTX made by CUDA %s; driver %s cannot compile that, and minor-version compatibility does not help: it takes driver >=%s",
		value_title(wheel, arena), stale.gpu->product, stale.gpu->sm, stale.cuda->version,
		stale.driver, stale.needed);
}

/* JAX keeps the NVIDIA libraries that another wheel brought, if it can use them. */
static const char *shared_sentence(const struct value *jax, const struct value *other,
				   struct arena *arena)
{
	const struct needs *needs = jax->needs[COMPONENT_CUDNN];
	bool is_cudnn = needs && other->brings[COMPONENT_CUDNN] &&
			!needs_admit(needs, other->brings[COMPONENT_CUDNN]);
	enum component c = is_cudnn ? COMPONENT_CUDNN : COMPONENT_NCCL;

	return arena_printf(arena, "%s needs %s %s, and the wheel of %s brings %s",
			    value_title(jax, arena), component_titles[c],
			    readable(jax->needs[c]->text, arena), value_title(other, arena),
			    other->brings[c]);
}

static const char *wheels_sentence(const struct value *a, const struct value *b,
				   struct arena *arena)
{
	const struct value *tensorflow = a->component == COMPONENT_TENSORFLOW ? a : b;
	const struct value *torch = tensorflow == a ? b : a;

	if (a->component == COMPONENT_JAX || b->component == COMPONENT_JAX)
		return a->component == COMPONENT_JAX ? shared_sentence(a, b, arena)
						     : shared_sentence(b, a, arena);
	return arena_printf(
		arena,
		"pip replaces the NCCL %s and cuDNN %s of %s by the %s and %s that %s brings, and it cannot use them",
		torch->brings[COMPONENT_NCCL], torch->brings[COMPONENT_CUDNN],
		value_title(torch, arena), tensorflow->brings[COMPONENT_NCCL],
		tensorflow->brings[COMPONENT_CUDNN], value_title(tensorflow, arena));
}

static const char *driver_sentence(const struct value *cuda, struct arena *arena)
{
	const char *minor = value_cell(cuda, "driver_minor");
	const char *exact = readable(value_cell(cuda, "driver"), arena);

	const char *floor = value_cell(cuda, "driver");

	if (!*minor ||
	    version_compare(minor + strspn(minor, ">= "), floor + strspn(floor, ">= ")) >= 0)
		return arena_printf(arena, "CUDA %s needs driver %s", cuda->version, exact);
	return arena_printf(arena, "CUDA %s needs driver %s, or %s by minor-version compatibility",
			    cuda->version, exact, minor);
}

/* Of a cuDNN or NCCL that is NVIDIA's for the OS, it is the stack's CUDA that decides. */
static const char *repository_sentence(const struct search *s, const struct value *value,
				       const struct value *other)
{
	const struct value *os = value->component == COMPONENT_OS ? value : other;
	const struct value *cuda = value->component == COMPONENT_CUDA ? value
				   : os == value		      ? other
						 : s->now.chosen[COMPONENT_CUDA];

	if (os->unknown_key && value_admits(os, cuda))
		return arena_printf(
			s->model->arena,
			"the fingerprint of NVIDIA's key for %s (%s) is not known "
			"here, and its packages cannot be checked; ask for %s",
			os->version, os->unknown_key,
			catalog_named(s->model->catalog, "key", os->unknown_key, "instead"));
	return arena_printf(s->model->arena, "NVIDIA has neither packages nor images of %s for %s",
			    value_title(cuda, s->model->arena), os->version);
}

void breach_explain(const struct search *s, const struct value *value, const struct breach *breach,
		    const char **text, const char **source)
{
	struct arena *arena = s->model->arena;
	const struct value *other = breach->other;

	*source = other ? joined(value->source, other->source, arena) : value->source;
	switch (breach->kind) {
	case BREACH_NEEDS:
		*text = arena_printf(arena, "%s%s", needs_sentence(value, other, arena),
				     os_has(other, arena));
		*source = value->source;
		return;
	case BREACH_NEEDED:
		*text = arena_printf(arena, "%s%s", needs_sentence(other, value, arena),
				     os_has(value, arena));
		*source = other->source;
		return;
	case BREACH_OS: {
		const struct value *bound = *value->os ? value : other;

		*text = arena_printf(arena, "%s is for %s, not for %s", value_title(bound, arena),
				     bound->os, (bound == value ? other : value)->version);
		return;
	}
	case BREACH_KIND: {
		const struct value *os = value->component == COMPONENT_OS ? value : other;
		const struct value *packed = os == value ? other : value;

		*text = arena_printf(
			arena, "%s is known as %s packages only, which do not go together with %s",
			value_title(packed, arena), packed->kind, os->version);
		return;
	}
	case BREACH_SINCE: {
		const struct value *os = value->component == COMPONENT_OS ? value : other;
		const struct value *packed = os == value ? other : value;

		*text = arena_printf(arena,
				     "%s is of %s, and NVIDIA's repository for %s began in %s",
				     value_title(packed, arena), value_cell(packed, "released"),
				     os->version, value_cell(os, "since"));
		return;
	}
	case BREACH_REPOSITORY:
		*text = repository_sentence(s, value, other);
		return;
	case BREACH_DRIVER:
		*text = driver_sentence(value->component == COMPONENT_CUDA ? value : other, arena);
		return;
	case BREACH_JIT:
		*text = jit_sentence(s, value, breach);
		return;
	case BREACH_PTX:
		*text = ptx_sentence(s, value, other);
		return;
	case BREACH_WHEELS:
		*text = wheels_sentence(value, other, arena);
		*source = value->component == COMPONENT_TORCH ? value->source : other->source;
		return;
	case BREACH_CONFLICT:
		*text = known_sentence(breach->conflict, arena);
		*source = breach->conflict->source;
		return;
	}
}

bool rules_explain(struct search *s, const struct value *value, const char **text,
		   const char **source)
{
	struct breach breach;

	rules_prepare(s, value->component);
	if (!breach_find(s, value, &breach))
		return false;
	breach_explain(s, value, &breach, text, source);
	return true;
}

void unit_explain(const struct model *model, const struct unit *unit, const struct value *value,
		  const char **text, const char **source)
{
	struct arena *arena = model->arena;

	*source = value->source;
	if (!unit->is_pin)
		*text = arena_printf(arena, "'%s' excludes %s", unit->text,
				     value_title(value, arena));
	else if (unit->driver)
		*text = driver_sentence(value, arena);
	else if (value->component == COMPONENT_CUDA && unit->first_cuda &&
		 version_compare(value->version, unit->first_cuda) < 0)
		*text = arena_printf(
			arena,
			"CUDA %s makes no code that runs on %s (compute capability %s): CUDA %s is the first",
			value->version, unit->product, unit->sm, unit->first_cuda);
	else if (value->component == COMPONENT_CUDA)
		*text = arena_printf(arena,
				     "CUDA %s makes code for compute capability %s; %s has %s",
				     value->version, readable(value_cell(value, "sm"), arena),
				     unit->product, unit->sm);
	else if (value->component == COMPONENT_CUDNN)
		*text = arena_printf(arena, "%s is for compute capability %s; %s has %s",
				     value_title(value, arena),
				     readable(value_cell(value, "sm"), arena), unit->product,
				     unit->sm);
	else if (gpu_refuses_brought(unit, value) &&
		 (gpu_runs_code(unit, value) || *value_cell(value, "ptx")))
		*text = arena_printf(
			arena,
			"%s brings cuDNN %s, and %s %s cuDNN is for compute capability %s; %s has %s",
			value_title(value, arena), value->brings[COMPONENT_CUDNN],
			gpu_refuses_brought(unit, value) == unit->lost_cudnn ? "since" : "until",
			gpu_refuses_brought(unit, value)->version,
			readable(value_cell(gpu_refuses_brought(unit, value), "sm"), arena),
			unit->product, unit->sm);
	else if (!*value_cell(value, "sm"))
		*text = arena_printf(
			arena,
			"the CUDA that the wheel of %s is built with makes no machine code for %s (compute capability %s)",
			value_title(value, arena), unit->product, unit->sm);
	else
		*text = arena_printf(
			arena,
			"%s %s%s%s has machine code for compute capability %s%s%s; %s has %s",
			*value_cell(value, "sdist") ? "what is built of" : "the wheel of",
			value_title(value, arena), *value_cell(value, "index") ? " from " : "",
			value_cell(value, "index"), readable(value_cell(value, "sm"), arena),
			*value_cell(value, "ptx") ? " and PTX of " : " and no PTX",
			value_cell(value, "ptx"), unit->product, unit->sm);
}

void units_explain(const struct model *model, const struct units *units, const struct value *value,
		   const char **text, const char **source)
{
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->list[i];
		const uint8_t *admits = unit->admits[value->component];
		const char *said;

		if (!admits || admits[value->index] != ADMIT_NO)
			continue;
		unit_explain(model, unit, value, &said, source);
		if (unit->is_pin) /* its text names the hosts */
			said = arena_printf(model->arena, "%s: %s", unit->text, said);
		*text = *text ? arena_printf(model->arena, "%s; %s", *text, said) : said;
	}
}
