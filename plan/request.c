/* SPDX-License-Identifier: MIT */
#include "plan/request.h"

#include "core/str.h"
#include "plan/rule_gpu.h"

#include <string.h>

/* --- reading ------------------------------------------------------------------------------ */

static int refuse_name(const struct requirement *req, struct error *err)
{
	const char *near = nearest_word(req->name, component_names);

	error_set(err, ERROR_USAGE, "'%s': nothing is known as '%s'", req->text, req->name);
	return error_advise(err, near ? "did you mean '%s'?" : "see 'ringup help resolve'%s",
			    near ? near : "");
}

static bool is_exact(const struct requirement *req)
{
	return req->clause_count == 1 && req->clauses[0].operator== VERSION_EQ;
}

/* The version of a pin without the ".*" of a series. */
static const char *pinned(const struct requirement *req, struct arena *arena)
{
	const char *version = req->clauses[0].version;

	return ends_with(version, ".*") ? arena_strndup(arena, version, strlen(version) - 2)
					: version;
}

static int refuse_gpu(const struct model *model, const struct unit *unit, struct error *err)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const char **names = ARENA_ARRAY(model->arena, gpus->count + 1, const char *), *near;

	for (size_t i = 0; i < gpus->count; i++)
		names[i] = gpus->values[i].version;
	near = nearest_word(unit->product, names);
	error_set(err, ERROR_USAGE, "'%s': the catalog knows no GPU '%s', or more than one",
		  unit->text, unit->product);
	return error_advise(err,
			    near ? "the nearest it knows is '%s'; 'ringup matrix gpu' lists all, "
				   "and sm_NN names a compute capability"
				 : "'ringup matrix gpu' lists all, and sm_NN names a compute "
				   "capability%s",
			    near ? near : "");
}

/* "sm_70", "sm_120" as compute capabilities: the last digit is the minor number. */
static const char *capability(const char *product, struct arena *arena)
{
	const char *digits = product + strlen("sm_");
	size_t length = strlen(digits);

	if (!starts_with(product, "sm_") || length < 2 || length > 4 ||
	    strspn(digits, "0123456789") != length)
		return NULL;
	return arena_printf(arena, "%.*s.%s", (int)length - 1, digits, digits + length - 1);
}

static int read_gpu(const struct model *model, struct unit *unit, struct error *err)
{
	if (!unit->req.clause_count)
		return 0; /* "gpu": there is one, no matter which */
	if (!is_exact(&unit->req))
		return error_set(err, ERROR_USAGE,
				 "'%s': a GPU is named with ==, as in gpu==V100 or gpu==sm_70",
				 unit->text);
	unit->is_pin = true;
	unit->product = pinned(&unit->req, model->arena);
	unit->class = "";
	unit->sm = capability(unit->product, model->arena);
	if (unit->sm)
		return 0;
	unit->gpu = gpu_find(model, unit->product);
	if (!unit->gpu)
		return refuse_gpu(model, unit, err);
	unit->product = unit->gpu->version;
	unit->sm = value_cell(unit->gpu, "sm");
	unit->class = value_cell(unit->gpu, "class");
	return 0;
}

static int read_unit(const struct model *model, const char *text, struct units *units,
		     struct error *err)
{
	struct unit *unit = &units->list[units->count];
	char *copy = arena_strdup(model->arena, text);

	/* product names have blanks and brackets: 'gpu==GTX Titan X (Maxwell)' */
	if (starts_with(copy, "gpu") && strpbrk(copy, "=<>!~"))
		for (char *at = strpbrk(copy, "=<>!~"); *at; at++)
			if (strchr("()/", *at) || (*at == ' ' && at[1] && !strpbrk(at, "=<>")))
				*at = '_';
	*unit = (struct unit){.text = text};
	if (requirement_parse(copy, model->arena, &unit->req, err) < 0)
		return -1;
	unit->req.text = text;
	unit->component = component_by_name(unit->req.name);
	if (unit->component == COMPONENT_NONE)
		return refuse_name(&unit->req, err);
	if (unit->component == COMPONENT_GPU && read_gpu(model, unit, err) < 0)
		return -1;
	if (unit->component == COMPONENT_DRIVER && is_exact(&unit->req)) {
		unit->is_pin = true;
		unit->driver = pinned(&unit->req, model->arena);
	}
	units->asked |= COMPONENT_BIT(unit->component);
	units->count++;
	return 0;
}

static int too_many(struct error *err)
{
	return error_set(err, ERROR_USAGE, "more than %d requests, drivers and GPU models",
			 UNITS_MAX);
}

int units_read(const struct model *model, const char *const *requests, struct units *units,
	       struct error *err)
{
	for (; *requests; requests++)
		if (units->count == UNITS_MAX)
			return too_many(err);
		else if (read_unit(model, *requests, units, err) < 0)
			return -1;
	return 0;
}

/* --- hosts -------------------------------------------------------------------------------- */

static void name_hosts(const struct model *model, struct unit *unit)
{
	unit->text = arena_printf(model->arena, "%s %s (host %s)", unit->driver ? "driver" : "GPU",
				  unit->driver ? unit->driver : unit->product, unit->hosts);
}

static struct unit *find_pin(struct units *units, const char *driver, const struct value *gpu)
{
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->list[i];

		if (unit->hosts && (driver ? unit->driver && strcmp(unit->driver, driver) == 0
					   : gpu && unit->gpu == gpu))
			return unit;
	}
	return NULL;
}

static int add_pin(const struct model *model, const char *host, const char *driver,
		   const struct value *gpu, struct units *units, struct error *err)
{
	struct unit *unit = find_pin(units, driver, gpu);

	if (unit) {
		if (!strstr(unit->hosts, host))
			unit->hosts = arena_printf(model->arena, "%s, %s", unit->hosts, host);
		name_hosts(model, unit);
		return 0;
	}
	if (units->count == UNITS_MAX)
		return too_many(err);
	unit = &units->list[units->count++];
	*unit = (struct unit){.component = driver ? COMPONENT_DRIVER : COMPONENT_GPU,
			      .is_pin = true,
			      .driver = driver,
			      .gpu = gpu,
			      .hosts = host};
	unit->req.name = component_names[unit->component];
	if (gpu) {
		unit->product = gpu->version;
		unit->sm = value_cell(gpu, "sm");
		unit->class = value_cell(gpu, "class");
	}
	name_hosts(model, unit);
	return 0;
}

int units_add_facts(const struct model *model, const struct facts *facts, size_t count,
		    struct units *units, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *at = facts[i].gpus;

		if (*facts[i].driver &&
		    add_pin(model, facts[i].host, facts[i].driver, NULL, units, err) < 0)
			return -1;
		while (*at) {
			size_t length = strcspn(at, ";");
			const char *product = arena_strndup(model->arena, at, length);
			const struct value *gpu = gpu_find(model, product);

			if (!gpu && units->unknown_count < UNITS_MAX)
				units->unknown[units->unknown_count++] =
					arena_printf(model->arena,
						     "host %s: the catalog does not know the GPU "
						     "'%s'; it is left out of account",
						     facts[i].host, product);
			else if (gpu && add_pin(model, facts[i].host, NULL, gpu, units, err) < 0)
				return -1;
			at += length + (at[length] == ';');
		}
	}
	return 0;
}

/* --- what a unit admits -------------------------------------------------------------------- */

static uint8_t *new_admits(const struct model *model, struct unit *unit, enum component c)
{
	unit->admits[c] = ARENA_ARRAY(model->arena, model->domains[c].count + 1, uint8_t);
	return unit->admits[c];
}

/* Whether a row of a Python package has exactly this version: else == means the series. */
static bool is_known_exactly(const struct domain *domain, const struct requirement *req)
{
	for (size_t i = 0; i < domain->count; i++)
		if (requirement_admits(req, domain->values[i].version))
			return true;
	return false;
}

/* "2.5.6-1+cuda9.0" and "1.8.1+cu111" name a build: the version, then the CUDA. */
static bool is_build(const struct value *value, const char *wanted, struct arena *arena)
{
	const char *plus = strchr(wanted, '+');
	const char *version = plus ? arena_strndup(arena, wanted, (size_t)(plus - wanted)) : NULL;

	if (!plus)
		return false;
	/* cuDNN's packages carry a release number that its versions do not: 8.2.4.15-1+cuda11.4 */
	if (!version_in_series(value->version, version) &&
	    !version_in_series(value->version,
			       arena_strndup(arena, version, strcspn(version, "-"))))
		return false;
	if (starts_with(plus, "+cuda"))
		return strcmp(value->built, plus + strlen("+cuda")) == 0;
	return strstr(value_cell(value, "pip"), plus) ||
	       ends_with(value_cell(value, "index"), arena_printf(arena, "/%s", plus + 1));
}

static void admit_request(const struct model *model, struct unit *unit)
{
	const struct domain *domain = &model->domains[unit->component];
	uint8_t *admits = new_admits(model, unit, unit->component);
	bool pip = (COMPONENT_BIT(unit->component) & COMPONENTS_PIP) &&
		   is_known_exactly(domain, &unit->req);
	const char *wanted = is_exact(&unit->req) ? unit->req.clauses[0].version : "";

	for (size_t i = 0; i < domain->count; i++) {
		const char *version = domain->values[i].version;

		admits[i] = (pip ? requirement_admits(&unit->req, version)
				 : requirement_admits_series(&unit->req, version)) ||
			    is_build(&domain->values[i], wanted, model->arena);
	}
}

static void admit_driver(const struct model *model, struct unit *unit, bool compat)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	uint8_t *admits = new_admits(model, unit, COMPONENT_CUDA);

	for (size_t i = 0; i < cuda->count; i++)
		admits[i] = (uint8_t)driver_runs(model, unit->driver, &cuda->values[i], compat);
}

static void admit_gpu(const struct model *model, struct unit *unit)
{
	static const enum component wheels[] = {COMPONENT_TENSORFLOW, COMPONENT_TORCH,
						COMPONENT_MXNET};
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	uint8_t *admits = new_admits(model, unit, COMPONENT_CUDA);

	for (size_t i = 0; i < cuda->count; i++)
		admits[i] = (uint8_t)gpu_takes_cuda(unit, &cuda->values[i]);
	for (size_t w = 0; w < ARRAY_LEN(wheels); w++) {
		const struct domain *domain = &model->domains[wheels[w]];

		admits = new_admits(model, unit, wheels[w]);
		for (size_t i = 0; i < domain->count; i++)
			admits[i] = (uint8_t)gpu_takes_wheel(model, unit, &domain->values[i]);
	}
}

/* Forward compatibility is for data-center GPUs (and Jetson): GeForce answers with error 804. */
static bool may_use_compat(const struct units *units)
{
	bool any = false;

	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->list[i];

		if (!unit->is_pin || unit->component != COMPONENT_GPU)
			continue;
		if (strcmp(unit->class, "datacenter") != 0 && strcmp(unit->class, "jetson") != 0)
			return false;
		any = true;
	}
	return any;
}

void units_apply(const struct model *model, struct units *units)
{
	units->compat = may_use_compat(units);
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->list[i];

		if (unit->is_pin && unit->component == COMPONENT_GPU)
			admit_gpu(model, unit);
		else if (unit->is_pin)
			admit_driver(model, unit, units->compat);
		else if (unit->req.clause_count)
			admit_request(model, unit);
	}
}
