/* SPDX-License-Identifier: MIT */
#include "resolver/explain/reason.h"

#include "core/str.h"
#include "resolver/brought.h"
#include "resolver/rules/breach.h"
#include "resolver/rules/rule_gpu.h"
#include "resolver/rules/rule_image.h"
#include "resolver/explain/explain.h"
#include "resolver/explain/notes.h"
#include "resolver/rules/rule_driver.h"

#include <string.h>

/* One sentence with its sources, built clause by clause. */
struct sentence {
	struct str text, sources;
	struct arena *arena;
};

static void sentence_begin(struct sentence *sentence, struct arena *arena)
{
	sentence->arena = arena;
	str_init(&sentence->text);
	str_init(&sentence->sources);
}

static void add_sources(struct sentence *sentence, const char *ids)
{
	while (*ids) {
		size_t length = strcspn(ids, ";");

		if (length && !list_has(sentence->sources.text, ids, length))
			str_addf(&sentence->sources, "%s%.*s", sentence->sources.length ? ";" : "",
				 (int)length, ids);
		ids += length + (ids[length] == ';');
	}
}

static void add_clause(struct sentence *sentence, const char *clause, const char *sources)
{
	if (*clause)
		str_addf(&sentence->text, "%s%s", sentence->text.length ? "; " : "", clause);
	add_sources(sentence, sources);
}

static void sentence_end(struct sentence *sentence, const char **text, const char **sources)
{
	*text = arena_strdup(sentence->arena, sentence->text.text);
	*sources = arena_strdup(sentence->arena, sentence->sources.text);
	str_release(&sentence->text);
	str_release(&sentence->sources);
}

/* --- what only a higher level would give ---------------------------------------------------- */

/* A stack of a higher level (search.h), which is taken only where no lower one has a stack. */
struct higher {
	enum search_level level;
	struct assignment now;
};

/* Whether a newer version of a framework is known than the one that was chosen. */
static bool has_newer_framework(const struct search *s)
{
	const struct value *first;

	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *value = s->now.chosen[c];

		if (!value || s->fixed[c] || !(COMPONENT_BIT(c) & COMPONENTS_PIP))
			continue;
		search_candidates(s, (enum component)c, &first);
		if (first && version_compare(first->version, value->version) > 0)
			return true;
	}
	return false;
}

/* The newer version of the same component that the higher level has, or NULL. */
static const struct value *newer_of(const struct higher *higher, const struct value *value)
{
	const struct value *other = higher->now.chosen[value->component];

	return (COMPONENT_BIT(value->component) & COMPONENTS_PIP) && other &&
			       version_compare(other->version, value->version) > 0
		       ? other
		       : NULL;
}

/* The lowest level that has a newer framework, if one has. */
static void find_higher(const struct search *s, struct higher *higher)
{
	enum search_level last = s->units->compat ? LEVEL_COMPAT : LEVEL_SOURCE_PYTHON;
	struct search probe = *s;
	bool is_newer = s->model->oldest || !has_newer_framework(s);

	*higher = (struct higher){.level = s->level};
	probe.hints = NULL; /* versions that a lock keeps would hide what there is */
	for (int level = LEVEL_SOURCE_PYTHON; level <= (int)last && !is_newer; level++) {
		probe.level = (enum search_level)level;
		if (level <= (int)s->level || !search_run(&probe))
			continue;
		*higher = (struct higher){probe.level, probe.now};
		for (int c = 0; c < COMPONENT_COUNT && !is_newer; c++)
			is_newer = s->now.chosen[c] && newer_of(higher, s->now.chosen[c]);
	}
}

static const char *higher_means(const struct higher *higher)
{
	return higher->level == LEVEL_COMPAT ? "CUDA's forward compatibility"
					     : "a Python from source";
}

/* --- why this value ------------------------------------------------------------------------ */

static void add_lead(const struct search *s, const struct higher *higher, const struct value *value,
		     struct sentence *out)
{
	struct str asked = STR_INIT;
	const struct value *first;
	size_t candidates = search_candidates(s, value->component, &first);

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (unit->component == value->component && unit->req.clause_count)
			str_addf(&asked, "%s'%s'", asked.length ? " and " : "", unit->text);
	}
	if (asked.length)
		add_clause(out,
			   arena_printf(out->arena, "%s that %s admits",
					candidates == 1 ? "the only one"
					: value == first
						? (s->model->oldest ? "the oldest" : "the newest")
						: "the best of several",
					asked.text),
			   value->source);
	else
		add_clause(out,
			   candidates == 1    ? "the only one in the catalog"
			   : s->model->oldest ? "the oldest that works"
			   : newer_of(higher, value)
				   ? arena_printf(out->arena, "the newest that works without %s",
						  higher_means(higher))
				   : "the newest that works",
			   value->source);
	if (*value->os)
		add_clause(out, arena_printf(out->arena, "for %s", value->os), "");
	if (!starts_with(value->table->paths[value->row], s->model->catalog->folder))
		add_clause(out,
			   arena_printf(out->arena, "a row of your own: %s:%zu",
					value->table->paths[value->row],
					value->table->lines[value->row]),
			   "");
	str_release(&asked);
}

static void add_driver_clause(const struct search *s, const struct value *cuda,
			      struct sentence *out)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (!unit->driver)
			continue;
		switch (driver_runs(s->model, unit->driver, cuda, unit->compat)) {
		case ADMIT_YES:
			add_clause(out,
				   arena_printf(out->arena, "driver %s runs it (%s)", unit->driver,
						value_cell(cuda, "driver")),
				   cuda->source);
			break;
		case ADMIT_MINOR:
			add_clause(out,
				   arena_printf(
					   out->arena,
					   "driver %s runs it by minor-version compatibility (%s)",
					   unit->driver, value_cell(cuda, "driver_minor")),
				   cuda->source);
			break;
		case ADMIT_COMPAT:
			add_clause(out,
				   arena_printf(out->arena,
						"driver %s runs it by forward compatibility alone",
						unit->driver),
				   cuda->source);
			break;
		default:
			break;
		}
	}
}

static void add_gpu_clause(const struct search *s, const struct value *cuda, struct sentence *out)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (unit->sm)
			add_clause(out,
				   arena_printf(out->arena, "%s has compute capability %s (%s)",
						unit->product, unit->sm, value_cell(cuda, "sm")),
				   unit->gpu ? unit->gpu->source : "");
	}
}

/* Whether the stack has another release of the library than the one that is chosen: a wheel's. */
static bool reason_is_replaced(const struct search *s, const struct value *value)
{
	const char *version = value->version;

	brought_by(s, value->component, &version);
	return strcmp(version, value->version) != 0;
}

static void add_demands(const struct search *s, const struct value *value, struct sentence *out)
{
	for (int c = COMPONENT_TENSORFLOW; c < COMPONENT_COUNT; c++) {
		const struct value *other = s->now.chosen[c];

		if (!other || other == value || reason_is_replaced(s, other))
			continue;
		if (other->needs[value->component] && c != COMPONENT_OS &&
		    needs_admit(other->needs[value->component], value->version))
			add_clause(out, needs_sentence(other, value, out->arena), other->source);
		if (other->prefers[value->component] &&
		    needs_admit(other->prefers[value->component], value->version))
			add_clause(out,
				   arena_printf(out->arena, "what %s was tested with",
						value_title(other, out->arena)),
				   other->source);
	}
	if (value->needs[COMPONENT_CUDA] && s->now.chosen[COMPONENT_CUDA] &&
	    value->component > COMPONENT_CUDA && value->component != COMPONENT_OS)
		add_clause(out,
			   arena_printf(out->arena, "its builds for CUDA %s",
					*value->built ? value->built
						      : value->needs[COMPONENT_CUDA]->text),
			   "");
}

/*
 * Explains by a request that contradicts the value, which says more than what follows from other
 * choices.
 */
static bool explain_by_asked(const struct search *s, const struct value *value, const char **text)
{
	struct search probe = *s;
	const char *source;

	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (!(s->units->asked & COMPONENT_BIT(c)) || c == (int)value->component)
			probe.now.chosen[c] = NULL;
	return rules_explain(&probe, value, text, &source);
}

/* Why this row is not part of the stack: a unit, what was asked for, or what was chosen refuses it. */
static const char *refused_row(struct search *s, const struct value *newer)
{
	const char *text = "", *source;
	struct search probe = *s;

	for (size_t u = 0; u < s->units->count; u++) {
		const uint8_t *admits = s->units->list[u].admits[newer->component];

		if (admits && admits[newer->index] == ADMIT_NO) {
			unit_explain(s->model, &s->units->list[u], newer, &text, &source);
			return text;
		}
	}
	probe.now.chosen[newer->component] = NULL;
	return explain_by_asked(s, newer, &text) || rules_explain(&probe, newer, &text, &source)
		       ? text
		       : "";
}

/* Whether the row goes with the CUDA of the stack. If not, that may only be another build's CUDA. */
static bool fits_cuda(const struct search *s, const struct value *value)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];

	return !cuda || value->component == COMPONENT_CUDA || rules_fit_pair(s->model, value, cuda);
}

/* Why the next newer version is not part of the stack: of its builds, one that goes with the CUDA says most. */
static const char *refused_newer(struct search *s, const struct value *value)
{
	const struct domain *domain = &s->model->domains[value->component];
	const struct value *newer = NULL;
	const char *text;

	for (size_t i = value->index; i-- > 0;) {
		const struct value *row = &domain->values[i];

		if (row->tier != value->tier || version_compare(row->version, value->version) == 0)
			continue;
		if (newer && version_compare(row->version, newer->version) != 0)
			break;
		if (!newer || (!fits_cuda(s, newer) && fits_cuda(s, row)))
			newer = row;
	}
	text = newer ? refused_row(s, newer) : "";
	return *text ? arena_printf(s->model->arena, "not %s: %s", newer->version, text) : "";
}

static struct choice *add_choice(struct plan *plan, const char *name, const char *version)
{
	struct choice *choice = &plan->choices[plan->count++];

	*choice = (struct choice){name, version, "", "", "", "", "", "", "", "", "", "", ""};
	return choice;
}

/* The pip package for CPUs: the same version without the GPU package's name, extra or build. */
static const char *cpu_package(const struct value *value, struct arena *arena)
{
	const char *named = value_cell(value, "pip_cpu");

	if (*named)
		return named;
	switch (value->component) {
	case COMPONENT_TENSORFLOW:
	case COMPONENT_TORCH:
	case COMPONENT_MXNET:
		return arena_printf(arena, "%s==%s", component_names[value->component],
				    value->version);
	default:
		return value_cell(value, "pip");
	}
}

/* Whether the row is of a build without CUDA: docs/catalog.md, "Tables of another processor". */
static bool is_cpu_build(const struct value *value)
{
	const struct needs *cuda = value->needs[COMPONENT_CUDA];

	return cuda && strcmp(cuda->text, "<0") == 0;
}

/* Where pip finds the wheel, or "": on PyPI. */
static const char *wheel_index(const struct search *s, const struct value *value)
{
	if (s->model->cpu && value->component == COMPONENT_TORCH && !is_cpu_build(value))
		return "https://download.pytorch.org/whl/cpu";
	if (s->model->cpu && *value_cell(value, "pip_cpu"))
		return "";
	return *value_cell(value, "on_pypi") ? "" : value_cell(value, "index");
}

static const char *brought_sentence(const struct value *wheel, enum component c,
				    struct arena *arena)
{
	return arena_printf(arena, "the wheel of %s brings it%s; nothing of it is installed beside",
			    value_title(wheel, arena),
			    wheel->brings_range & COMPONENT_BIT(c)
				    ? ", in the set of packages that the recipe installs"
				    : "");
}

static const char *over_sentence(const struct value *wheel, enum component c, struct arena *arena)
{
	return arena_printf(
		arena,
		"asked for; NVIDIA's wheel of it takes the place of the %s %s that the wheel of %s brings",
		component_titles[c], wheel->brings[c], value_title(wheel, arena));
}

static void choose_brought(struct search *s, enum component c, const struct value *wheel,
			   const char *version, struct plan *plan)
{
	struct choice *choice = add_choice(plan, component_names[c], version);
	const char *over = brought_over(s, c);

	choice->wheel = component_names[wheel->component];
	choice->reason = over ? over_sentence(wheel, c, s->model->arena)
			      : brought_sentence(wheel, c, s->model->arena);
	choice->pip = over ? over : "";
	choice->source = wheel->source;
	choice->certainty = value_cell(wheel, "certainty");
}

/* Why it is no newer version: one that only a higher level gives, or the next one. */
static const char *reason_refused(struct search *s, const struct higher *higher,
				  const struct value *value)
{
	const struct value *newer = newer_of(higher, value);

	return newer ? arena_printf(s->model->arena, "not %s: it takes %s; ask for '%s==%s'",
				    newer->version, higher_means(higher),
				    component_names[newer->component], newer->version)
		     : refused_newer(s, value);
}

/* A request gets an older release than there is, since the newer one takes what nobody has asked for. */
static void note_held_back(const struct search *s, const struct higher *higher, struct plan *plan)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *value = s->now.chosen[c];
		const struct value *newer = value && (s->units->asked & COMPONENT_BIT(c))
						    ? newer_of(higher, value)
						    : NULL;

		if (newer)
			plan_add_note(
				plan,
				arena_printf(
					s->model->arena,
					"%s is the newest without %s; a request for '%s==%s' takes it",
					value_title(value, s->model->arena), higher_means(higher),
					component_names[c], newer->version));
	}
}

static void reason_choose(struct search *s, const struct higher *higher, enum component c,
			  struct plan *plan)
{
	const struct value *value = s->now.chosen[c], *wheel;
	const char *version;
	struct sentence out;
	struct choice *choice;

	if (!value)
		return;
	wheel = brought_by(s, c, &version);
	if (wheel && c != COMPONENT_CUDA) {
		choose_brought(s, c, wheel, version, plan);
		return;
	}
	sentence_begin(&out, s->model->arena);
	add_lead(s, higher, value, &out);
	if (c == COMPONENT_CUDA) {
		add_driver_clause(s, value, &out);
		add_gpu_clause(s, value, &out);
	}
	if (wheel)
		add_clause(&out, brought_sentence(wheel, c, s->model->arena), wheel->source);
	add_demands(s, value, &out);
	add_clause(&out, value_cell(value, "note"), "");
	choice = add_choice(plan, component_names[c], value->version);
	sentence_end(&out, &choice->reason, &choice->source);
	choice->wheel = wheel ? component_names[wheel->component] : "";
	choice->certainty = value_cell(value, "certainty");
	choice->run_packages = value_cell(value, "run_packages");
	choice->build_packages = value_cell(value, "build_packages");
	choice->pip =
		s->model->cpu ? cpu_package(value, s->model->arena) : value_cell(value, "pip");
	choice->index = wheel_index(s, value);
	choice->download = value_cell(value, "download");
	choice->sha256 = value_cell(value, "sha256");
	choice->refused = reason_refused(s, higher, value);
}

/* --- drivers and GPUs ------------------------------------------------------------------------ */

/* Whether no GPU of the hosts is newer than the driver, by the hints of gpu.csv. */
static bool knows_gpus(const struct search *s, const char *driver)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct value *gpu = s->units->list[i].gpu;

		if (gpu && gpu->needs[COMPONENT_DRIVER] &&
		    !needs_admit(gpu->needs[COMPONENT_DRIVER], driver))
			return false;
	}
	return true;
}

/* Whether all of the stack's rules hold with the driver in it: PTX, and known conflicts. */
static bool driver_fits(const struct search *s, const struct value *driver)
{
	struct search probe = *s;
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];
	uint32_t ignored = 0;

	probe.now.chosen[COMPONENT_DRIVER] = NULL;
	rules_prepare(&probe, COMPONENT_DRIVER);
	if (!rules_fit_rest(&probe, driver, &ignored))
		return false;
	probe.now.chosen[COMPONENT_DRIVER] = driver;
	probe.now.chosen[COMPONENT_CUDA] = NULL;
	rules_prepare(&probe, COMPONENT_CUDA);
	return rules_fit_rest(&probe, cuda, &ignored);
}

/*
 * The lowest known driver that satisfies the requests and runs the CUDA of the stack. It knows the
 * GPUs if there is such a driver.
 */
static const struct value *least_driver(const struct search *s)
{
	const struct domain *drivers = &s->model->domains[COMPONENT_DRIVER];
	const struct value *least = NULL, *knowing = NULL;

	for (size_t i = 0; i < drivers->count; i++) {
		const struct value *driver = &drivers->values[i];

		if (!search_admits(s, driver) ||
		    driver_runs(s->model, driver->version, s->now.chosen[COMPONENT_CUDA], false) ==
			    ADMIT_NO ||
		    !driver_compiles_wheels(s, driver->version) || !driver_fits(s, driver))
			continue;
		if (!least || version_compare(driver->version, least->version) < 0)
			least = driver;
		if (knows_gpus(s, driver->version) &&
		    (!knowing || version_compare(driver->version, knowing->version) < 0))
			knowing = driver;
	}
	return knowing ? knowing : least;
}

/* The hosts' drivers or GPU products, "A, B". */
static const char *pins(const struct search *s, enum component c)
{
	struct str list = STR_INIT;
	char *text;

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (unit->is_pin && unit->component == c)
			str_addf(&list, "%s%s", list.length ? ", " : "",
				 c == COMPONENT_DRIVER ? unit->driver : unit->product);
	}
	text = list.length ? arena_strdup(s->model->arena, list.text) : NULL;
	str_release(&list);
	return text;
}

static void choose_driver(const struct search *s, struct plan *plan)
{
	const char *given = pins(s, COMPONENT_DRIVER);
	const struct value *least = given ? NULL : least_driver(s);
	struct choice *choice;

	if (!given && !least)
		return;
	choice = add_choice(plan, "driver", given ? given : least->version);
	choice->source = s->now.chosen[COMPONENT_CUDA]->source;
	choice->reason =
		given ? "it is there: the stack is made to fit it"
		      : arena_printf(
				s->model->arena,
				"the oldest known driver that runs CUDA %s%s; any newer one does too",
				s->now.chosen[COMPONENT_CUDA]->version,
				pins(s, COMPONENT_GPU) ? " and knows the GPUs" : "");
}

static void choose_gpu(const struct search *s, struct plan *plan)
{
	const char *given = pins(s, COMPONENT_GPU);
	struct choice *choice;
	struct sentence out;

	if (!given)
		return;
	choice = add_choice(plan, "gpu", given);
	sentence_begin(&out, s->model->arena);
	for (size_t i = 0; i < s->units->count; i++)
		if (s->units->list[i].sm)
			add_clause(&out,
				   arena_printf(out.arena, "%s: compute capability %s",
						s->units->list[i].product, s->units->list[i].sm),
				   s->units->list[i].gpu ? s->units->list[i].gpu->source : "");
	sentence_end(&out, &choice->reason, &choice->source);
}

static void reason_set_base(struct search *s, struct plan *plan)
{
	struct base_image base;
	const char *ignored;

	plan->base = (struct plan_base){"", "", "", "", "", ""};
	if (s->model->cpu || brought_by(s, COMPONENT_CUDA, &ignored))
		return;
	base_image_find(s, &base);
	plan->base = (struct plan_base){base.name,     base.status, base.wanted,
					base.packages, base.note,   base.source};
}

void plan_from_search(struct search *s, struct plan *plan)
{
	static const enum component order[] = {
		COMPONENT_TENSORFLOW,	COMPONENT_TORCH,
		COMPONENT_JAX,		COMPONENT_MXNET,
		COMPONENT_HOROVOD,	COMPONENT_TORCHVISION,
		COMPONENT_TORCHAUDIO,	COMPONENT_DEEPSPEED,
		COMPONENT_FLASH_ATTN,	COMPONENT_TRANSFORMER_ENGINE,
		COMPONENT_XFORMERS,	COMPONENT_MEGATRON_CORE,
		COMPONENT_TRITON,	COMPONENT_NVSHMEM,
		COMPONENT_CUDA,		COMPONENT_CUDNN,
		COMPONENT_NCCL,		COMPONENT_OS,
		COMPONENT_GLIBC,	COMPONENT_GCC,
		COMPONENT_PYTHON,	COMPONENT_OPENMPI,
		COMPONENT_UCX,		COMPONENT_LIBFABRIC,
		COMPONENT_AWS_OFI_NCCL,
	};

	struct higher higher;

	find_higher(s, &higher);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		reason_choose(s, &higher, order[i], plan);
	reason_set_base(s, plan);
	if (!s->model->cpu) {
		choose_driver(s, plan);
		choose_gpu(s, plan);
	}
	note_held_back(s, &higher, plan);
	plan_add_notes(s, plan);
}
