/* SPDX-License-Identifier: MIT */
#include "resolver/request.h"

#include "core/str.h"
#include "core/words.h"
#include "plan/host_set.h"
#include "resolver/allow.h"
#include "resolver/rules/rule_gpu.h"
#include "resolver/gpu_find.h"
#include "resolver/processor.h"
#include "resolver/os_find.h"
#include "resolver/request_words.h"
#include "resolver/rules/rule_driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------------------ */

/* Finds the known word that was meant: it begins the same way, or one contains the other. */
static const char *meant(const char *word, const char *const *known)
{
	const char *near = nearest_word(word, known);

	return near && (near[0] == word[0] || strstr(word, near) || strstr(near, word)) ? near
											: NULL;
}

/* asked.csv: names that people ask for and that are no component. */
static int refuse_asked(const struct model *model, const struct requirement *req, struct error *err)
{
	char *name = arena_strdup(model->arena, req->name);
	const char *because;

	for (char *at = name; (at = strchr(at, '_'));) /* as pip does it: PEP 503 */
		*at = '-';
	because = catalog_named(model->catalog, "asked", name, "because");
	if (!*because)
		return 0;
	error_set(err, ERROR_USAGE, "'%s': %s", req->text, because);
	return error_advise(err, "ask for %s",
			    catalog_named(model->catalog, "asked", name, "instead"));
}

static int refuse_name(const struct model *model, const struct requirement *req, struct error *err)
{
	const char *near = meant(req->name, component_names);

	if (refuse_asked(model, req, err) < 0)
		return -1;
	/* tensorflow-gpu, pytorch, libnccl2: a name that contains a known one */
	for (size_t i = 0; !near && component_names[i]; i++)
		if (strstr(req->name, component_names[i]) && strlen(component_names[i]) > 2)
			near = component_names[i];

	error_set(err, ERROR_USAGE, "'%s': nothing is known as '%s'", req->text, req->name);
	return error_advise(
		err,
		near ? "did you mean '%s'?"
		     : "see 'ringup help resolve'; cluster.yaml takes other packages in image.pip, image.apt and image.yum%s",
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

	/* NVIDIA's names of branches: R535 */
	if (strcmp(req->name, "driver") == 0 && (*version == 'R' || *version == 'r') &&
	    isdigit((unsigned char)version[1]))
		version++;
	return ends_with(version, ".*") ? arena_strndup(arena, version, strlen(version) - 2)
					: version;
}

static const char **names_of(const struct model *model, enum component component)
{
	const struct domain *domain = &model->domains[component];
	const char **names = ARENA_ARRAY(model->arena, domain->count + 1, const char *);

	for (size_t i = 0; i < domain->count; i++)
		names[i] = domain->values[i].version;
	return names;
}

/* How many characters two names have in common from the begin, but for case and all but letters and digits. */
static size_t common_begin(const char *a, const char *b)
{
	size_t count = 0;

	for (;; a++, b++) {
		while (*a && !isalnum((unsigned char)*a))
			a++;
		while (*b && !isalnum((unsigned char)*b))
			b++;
		if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return count;
		count++;
	}
}

/* The GPU whose name begins as this one does, or one that is written much alike; NULL: there is none. */
static const char *nearest_gpu(const struct model *model, const char *product)
{
	const char **names = names_of(model, COMPONENT_GPU), *best = NULL, *alike;
	size_t most = 2; /* "T4" begins many names */

	for (const char **name = names; *name; name++)
		if (common_begin(*name, product) > most) {
			most = common_begin(*name, product);
			best = *name;
		}
	alike = nearest_word(product, names);
	return best ? best : alike && common_begin(alike, product) ? alike : NULL;
}

/* "8xH100" or "H100x8": the name in it; NULL: it is neither. */
static const char *without_count(const char *product, struct arena *arena)
{
	size_t digits = strspn(product, "0123456789"), length = strlen(product), end = length;

	if (digits && (product[digits] == 'x' || product[digits] == 'X') && product[digits + 1])
		return product + digits + 1;
	while (end && isdigit((unsigned char)product[end - 1]))
		end--;
	return end > 1 && end < length && (product[end - 1] == 'x' || product[end - 1] == 'X')
		       ? arena_strndup(arena, product, end - 1)
		       : NULL;
}

static int refuse_gpu(const struct model *model, const struct unit *unit, struct error *err)
{
	static const char *const others[] = {"MI1", "MI2", "MI3", "Instinct", "Radeon", "Gaudi"};
	const char *near = nearest_gpu(model, unit->product);
	const char *name = without_count(unit->product, model->arena);
	const struct value *twin;

	error_set(err, ERROR_USAGE, "'%s': the catalog knows no GPU '%s'", unit->text,
		  unit->product);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (starts_with(unit->product, others[i]))
			return error_advise(err,
					    "stacks are for CUDA, and this is no GPU of NVIDIA's");
	if (name && gpu_find(model, name, &twin))
		return error_advise(err, "write gpu==%s: the number of GPUs makes no other stack",
				    name);
	return error_advise(
		err,
		near ? "the nearest it knows is '%s'; 'ringup matrix gpu' lists all, and sm_NN names a compute capability"
		     : "'ringup matrix gpu' lists all, and sm_NN names a compute capability%s",
		near ? near : "");
}

/* "sm_70", "sm120", "compute_90" and "9.0" as compute capabilities: the last digit is the minor number. */
static const char *capability(const char *product, struct arena *arena)
{
	static const char *const begins[] = {"sm_", "sm", "compute_"};
	const char *digits = product;
	size_t length, whole = strspn(product, "0123456789");

	if (whole && whole <= 2 && product[whole] == '.' &&
	    isdigit((unsigned char)product[whole + 1]) && !product[whole + 2])
		return product;
	for (size_t i = 0; i < ARRAY_LEN(begins) && digits == product; i++)
		if (starts_with(product, begins[i]))
			digits = product + strlen(begins[i]);
	length = strlen(digits);
	if (digits == product || length < 2 || length > 4 || strspn(digits, "0123456789") != length)
		return NULL;
	return arena_printf(arena, "%.*s.%s", (int)length - 1, digits, digits + length - 1);
}

static int refuse_capability(const struct unit *unit, const char *near, struct error *err)
{
	size_t major = strcspn(near, ".");

	error_set(err, ERROR_USAGE, "'%s': no GPU has the compute capability %s", unit->text,
		  unit->sm);
	return error_advise(err, "the nearest is sm_%.*s%s, compute capability %s", (int)major,
			    near, near + major + 1, near);
}

static int read_gpu(const struct model *model, struct unit *unit, struct error *err)
{
	const struct value *twin;

	if (!unit->req.clause_count)
		return 0; /* "gpu": any GPU */
	if (!is_exact(&unit->req))
		return error_set(err, ERROR_USAGE,
				 "'%s': a GPU is named with ==, as in gpu==V100 or gpu==sm_70",
				 unit->text);
	unit->is_pin = true;
	unit->product = pinned(&unit->req, model->arena);
	unit->class = "";
	unit->sm = capability(unit->product, model->arena);
	if (unit->sm) {
		const char *near = gpu_capability_nearest(model, unit->sm);

		return strcmp(near, unit->sm) == 0 ? 0 : refuse_capability(unit, near, err);
	}
	unit->gpu = gpu_find(model, unit->product, &twin);
	if (!unit->gpu)
		return refuse_gpu(model, unit, err);
	if (twin)
		return error_set(
			err, ERROR_USAGE,
			"'%s' is the name of more than one GPU: '%s' has compute capability %s, '%s' has %s; write one of them, or sm_NN",
			unit->text, unit->gpu->version, value_cell(unit->gpu, "sm"), twin->version,
			value_cell(twin, "sm"));
	unit->product = unit->gpu->version;
	unit->sm = value_cell(unit->gpu, "sm");
	unit->class = value_cell(unit->gpu, "class");
	return 0;
}

static int read_os(const struct model *model, struct unit *unit, struct error *err)
{
	const char *os, *near;

	if (!is_exact(&unit->req))
		return 0;
	os = pinned(&unit->req, model->arena);
	if (os_is_distribution(model, os))
		return 0;
	near = os_nearest(model, os);
	if (!near)
		near = meant(os, names_of(model, COMPONENT_OS));
	error_set(err, ERROR_USAGE, "'%s': the catalog knows no OS '%s'", unit->text, os);
	return error_advise(err,
			    near ? "the nearest it knows is '%s'; 'ringup matrix os' lists all"
				 : "'ringup matrix os' lists all%s",
			    near ? near : "");
}

/* Refuses "gpu==V100,A100": a comma separates demands on one thing. */
static int refuse_list(const char *text, struct error *err)
{
	const char *comma = strchr(text, ',');

	error_set(err, ERROR_USAGE, "'%s': a request names one GPU", text);
	return error_advise(err, "write %.*s and gpu==%.*s apart", (int)(comma - text), text,
			    (int)strcspn(comma + 1, ","), comma + 1);
}

/* Whether a version of the component may be written so: it begins with a digit, or a row has it. */
static bool is_version(const struct model *model, enum component c, const char *version)
{
	const char **known = names_of(model, c);

	if (c == COMPONENT_DRIVER) {
		version +=
			(*version == 'R' || *version == 'r') && isdigit((unsigned char)version[1]);
		return strspn(version, "0123456789.*") == strlen(version);
	}
	for (; *known; known++)
		if (strcmp(*known, version) == 0)
			return true;
	return isdigit((unsigned char)*version);
}

static int request_check_versions(const struct model *model, const struct unit *unit,
				  struct error *err)
{
	const uint32_t names = COMPONENT_BIT(COMPONENT_GPU) | COMPONENT_BIT(COMPONENT_OS);

	for (size_t i = 0; i < unit->req.clause_count; i++) {
		const char *version = unit->req.clauses[i].version;

		if ((COMPONENT_BIT(unit->component) & names) ||
		    is_version(model, unit->component, version))
			continue;
		error_set(err, ERROR_USAGE, "'%s': '%s' is no version", unit->text, version);
		return unit->component == COMPONENT_DRIVER
			       ? error_advise(err, "write it as in driver==535.104.05")
			       : error_advise(err, "'ringup matrix %s' lists those that are known",
					      component_names[unit->component]);
	}
	return 0;
}

static int read_unit(const struct model *model, const char *text, struct units *units,
		     struct error *err)
{
	struct unit *unit = &units->list[units->count];

	*unit = (struct unit){.text = text};
	if (starts_with(text, "gpu==") && strchr(text, ','))
		return refuse_list(text, err);
	if (requirement_parse(request_tidy(model, text), model->arena, &unit->req, err) < 0)
		return -1;
	unit->req.text = text;
	unit->component = component_by_name(unit->req.name);
	if (processor_is_request(&unit->req))
		return 0;
	if (unit->component == COMPONENT_NONE)
		return refuse_name(model, &unit->req, err);
	if (request_check_versions(model, unit, err) < 0)
		return -1;
	if (unit->component == COMPONENT_GPU && read_gpu(model, unit, err) < 0)
		return -1;
	if (unit->component == COMPONENT_OS && read_os(model, unit, err) < 0)
		return -1;
	if (unit->component == COMPONENT_DRIVER && is_exact(&unit->req)) {
		unit->is_pin = true;
		unit->driver = pinned(&unit->req, model->arena);
	}
	units->asked |= COMPONENT_BIT(unit->component);
	units->count++;
	return 0;
}

static int request_too_many(struct error *err)
{
	return error_set(err, ERROR_USAGE, "more than %d requests, drivers and GPU models",
			 UNITS_MAX);
}

int units_read(const struct model *model, const char *const *requests, struct units *units,
	       struct error *err)
{
	for (; *requests; requests++)
		if (units->count == UNITS_MAX)
			return request_too_many(err);
		else if (read_unit(model, *requests, units, err) < 0)
			return -1;
	return 0;
}

int units_add_base(const struct model *model, const char *base, struct units *units,
		   struct error *err)
{
	const char *os = base ? os_of_image(model->catalog, base, model->arena) : NULL;
	struct unit *unit = &units->list[units->count];

	if (!os)
		return 0;
	if (units->count == UNITS_MAX)
		return request_too_many(err);
	if (read_unit(model, arena_printf(model->arena, "os==%s", os), units, err) < 0)
		return -1;
	unit->text = unit->req.text = arena_printf(model->arena, "image.base: %s", base);
	unit->is_base = true;
	return 0;
}

/* --- hosts -------------------------------------------------------------------------------- */

static struct unit *find_pin(struct units *units, const char *driver, const struct value *gpu)
{
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->list[i];

		if (unit->on && (driver ? unit->driver && strcmp(unit->driver, driver) == 0
					: gpu && unit->gpu == gpu))
			return unit;
	}
	return NULL;
}

/* The hosts that facts tell of, and the one whose driver or GPU is added. */
struct request_hosts {
	const struct facts *facts;
	size_t count, now;
};

static void request_add_host(const struct request_hosts *hosts, struct unit *unit)
{
	unit->on[hosts->now / 64] |= 1ULL << (hosts->now % 64);
}

/* Says which hosts have it, when all are known. */
static void request_name_hosts(const struct model *model, const struct facts *facts, size_t count,
			       struct unit *unit)
{
	struct words names = WORDS_INIT(model->arena), folded = WORDS_INIT(model->arena);

	for (size_t i = 0; i < count; i++)
		if (unit->on[i / 64] >> (i % 64) & 1)
			words_add(&names, facts[i].host);
	host_set_fold_words(words_list(&names), &folded);
	unit->hosts = words_join(&folded, ", ");
	unit->text = arena_printf(model->arena, "%s %s (host %s)", unit->driver ? "driver" : "GPU",
				  unit->driver ? unit->driver : unit->product, unit->hosts);
}

static int request_add_pin(const struct model *model, const struct request_hosts *hosts,
			   const char *driver, const struct value *gpu, struct units *units,
			   struct error *err)
{
	struct unit *unit = find_pin(units, driver, gpu);

	if (unit) {
		request_add_host(hosts, unit);
		return 0;
	}
	if (units->count == UNITS_MAX)
		return request_too_many(err);
	unit = &units->list[units->count++];
	*unit = (struct unit){.component = driver ? COMPONENT_DRIVER : COMPONENT_GPU,
			      .is_pin = true,
			      .driver = driver,
			      .gpu = gpu,
			      .on_words = (hosts->count + 63) / 64};
	unit->on = ARENA_ARRAY(model->arena, unit->on_words, uint64_t);
	unit->req.name = component_names[unit->component];
	if (gpu) {
		unit->product = gpu->version;
		unit->sm = value_cell(gpu, "sm");
		unit->class = value_cell(gpu, "class");
	}
	request_add_host(hosts, unit);
	return 0;
}

int units_add_facts(const struct model *model, const struct facts *facts, size_t count,
		    struct units *units, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct request_hosts hosts = {facts, count, i};
		const char *at = facts[i].gpus;

		if (*facts[i].driver &&
		    request_add_pin(model, &hosts, facts[i].driver, NULL, units, err) < 0)
			return -1;
		while (*at) {
			size_t length = strcspn(at, ";");
			const char *product = arena_strndup(model->arena, at, length);
			const struct value *twin, *gpu = gpu_find(model, product, &twin);

			if (twin)
				gpu = NULL; /* the name means another GPU too */
			if (!gpu && units->unknown_count < UNITS_MAX)
				units->unknown[units->unknown_count++] = arena_printf(
					model->arena,
					"host %s: the catalog does not know the GPU '%s'; it is left out of account",
					facts[i].host, product);
			else if (gpu && request_add_pin(model, &hosts, NULL, gpu, units, err) < 0)
				return -1;
			at += length + (at[length] == ';');
		}
	}
	for (size_t i = 0; i < units->count; i++)
		if (units->list[i].on)
			request_name_hosts(model, facts, count, &units->list[i]);
	return 0;
}

bool unit_meets(const struct unit *a, const struct unit *b)
{
	if (!a->on || !b->on)
		return true;
	for (size_t i = 0; i < a->on_words; i++)
		if (a->on[i] & b->on[i])
			return true;
	return false;
}

/* --- what a unit admits -------------------------------------------------------------------- */

static uint8_t *new_admits(const struct model *model, struct unit *unit, enum component c)
{
	unit->admits[c] = ARENA_ARRAY(model->arena, model->domains[c].count + 1, uint8_t);
	return unit->admits[c];
}

/* Whether a row of a Python package has exactly this version. If not, == means the series. */
static bool is_known_exactly(const struct domain *domain, const struct requirement *req)
{
	for (size_t i = 0; i < domain->count; i++)
		if (requirement_admits(req, domain->values[i].version))
			return true;
	return false;
}

/*
 * Whether the version names a build: "2.5.6-1+cuda9.0" and "1.8.1+cu111" have the version, then the
 * CUDA.
 */
static bool is_build(const struct value *value, const char *wanted, struct arena *arena)
{
	const char *plus = strchr(wanted, '+');
	const char *version = plus ? arena_strndup(arena, wanted, (size_t)(plus - wanted)) : NULL;

	if (!plus)
		return false;
	/*
	 * cuDNN's packages have a release number that its versions do not have: 8.2.4.15-1+cuda11.4
	 */
	if (!version_in_series(value->version, version) &&
	    !version_in_series(value->version,
			       arena_strndup(arena, version, strcspn(version, "-"))))
		return false;
	if (starts_with(plus, "+cuda"))
		return strcmp(value->built, plus + strlen("+cuda")) == 0;
	return strstr(value_cell(value, "pip"), plus) ||
	       ends_with(value_cell(value, "index"), arena_printf(arena, "/%s", plus + 1));
}

bool unit_names_build(const struct unit *unit, const struct value *value, struct arena *arena)
{
	return unit->component == value->component && is_exact(&unit->req) &&
	       is_build(value, unit->req.clauses[0].version, arena);
}

/*
 * The series of an unknown patch version, such as gcc 9.3.0 where 9.4.0 is known. gcc's rules go by
 * the major version since gcc 5. Before that, and for Python and glibc, they go by the first two
 * numbers. So an unknown patch version counts as its series. "" for other components.
 */
static const char *series_of(const struct unit *unit, struct arena *arena)
{
	const char *version = unit->req.clauses[0].version;
	size_t length = strcspn(version, ".");

	if (!is_exact(&unit->req) || strpbrk(version, "*+-"))
		return "";
	if (unit->component != COMPONENT_GCC && unit->component != COMPONENT_PYTHON &&
	    unit->component != COMPONENT_GLIBC)
		return "";
	if ((unit->component != COMPONENT_GCC || strtol(version, NULL, 10) < 5) && version[length])
		length += 1 + strcspn(version + length + 1, ".");
	return version[length] ? arena_strndup(arena, version, length) : "";
}

static void admit_series(const struct model *model, struct unit *unit)
{
	const struct domain *domain = &model->domains[unit->component];
	const char *series = series_of(unit, model->arena);
	uint8_t *admits = unit->admits[unit->component];

	for (size_t i = 0; i < domain->count && *series; i++)
		if (!admits[i] && version_in_series(domain->values[i].version, series))
			admits[i] = ADMIT_SERIES;
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
	admit_series(model, unit);
}

static uint8_t overruled(const struct model *model, enum allow_rule rule, enum admission admission)
{
	return admission == ADMIT_NO && allow_has(model, rule) ? ADMIT_OVERRULED
							       : (uint8_t)admission;
}

static void admit_driver(const struct model *model, struct unit *unit)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	uint8_t *admits = new_admits(model, unit, COMPONENT_CUDA);

	for (size_t i = 0; i < cuda->count; i++)
		admits[i] =
			overruled(model, RULE_DRIVER_CUDA,
				  driver_runs(model, unit->driver, &cuda->values[i], unit->compat));
}

/* A wheel, or what is built here, has code for some compute capabilities only. */
static void admit_code(const struct model *model, struct unit *unit, enum component c)
{
	const struct domain *domain = &model->domains[c];
	uint8_t *admits = new_admits(model, unit, c);

	for (size_t i = 0; i < domain->count; i++)
		admits[i] = overruled(model, RULE_GPU_WHEEL,
				      gpu_takes_wheel(model, unit, &domain->values[i]));
}

static void admit_gpu(const struct model *model, struct unit *unit)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const struct domain *cudnn = &model->domains[COMPONENT_CUDNN];
	uint8_t *admits = new_admits(model, unit, COMPONENT_CUDA);

	unit->first_cuda = gpu_first_cuda(model, unit);
	unit->lost_cudnn = gpu_lost_cudnn(model, unit);
	unit->early_cudnn = gpu_early_cudnn(model, unit);
	for (size_t i = 0; i < cuda->count; i++)
		admits[i] = overruled(model, RULE_GPU_CUDA, gpu_takes_cuda(unit, &cuda->values[i]));
	admits = new_admits(model, unit, COMPONENT_CUDNN);
	for (size_t i = 0; i < cudnn->count; i++)
		admits[i] =
			overruled(model, RULE_GPU_CUDNN, gpu_takes_cudnn(unit, &cudnn->values[i]));
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (COMPONENT_BIT(c) & (COMPONENTS_FRAMEWORK | COMPONENTS_BESIDE_TORCH))
			admit_code(model, unit, (enum component)c);
}

/*
 * Forward compatibility works only on data-center GPUs and Jetson; on GeForce it fails with error
 * 804. It is a matter of a host's driver and that host's GPUs; `driver` is NULL for all GPUs.
 */
static bool may_use_compat(const struct units *units, const struct unit *driver)
{
	bool any = false;

	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->list[i];

		if (!unit->is_pin || unit->component != COMPONENT_GPU ||
		    (driver && !unit_meets(driver, unit)))
			continue;
		if (strcmp(unit->class, "datacenter") != 0 && strcmp(unit->class, "jetson") != 0)
			return false;
		any = true;
	}
	return any;
}

static void request_apply_compat(struct units *units)
{
	bool has_driver = false;

	units->compat = false;
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->list[i];

		if (!unit->driver)
			continue;
		has_driver = true;
		unit->compat = may_use_compat(units, unit);
		units->compat |= unit->compat;
	}
	if (!has_driver)
		units->compat = may_use_compat(units, NULL);
}

void units_apply(const struct model *model, struct units *units)
{
	request_apply_compat(units);
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->list[i];

		if (unit->is_pin && unit->component == COMPONENT_GPU)
			admit_gpu(model, unit);
		else if (unit->is_pin)
			admit_driver(model, unit);
		else if (unit->req.clause_count)
			admit_request(model, unit);
	}
}
