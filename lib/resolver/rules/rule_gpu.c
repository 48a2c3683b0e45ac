/* SPDX-License-Identifier: MIT */
#include "resolver/rules/rule_gpu.h"
#include "resolver/rules/rule_driver.h"

#include "plan/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long major_of(const char *version)
{
	return strtol(version, NULL, 10);
}

/* The highest and the lowest compute capability of a ">=5.0;<=9.0" cell. */
static const char *bound(const struct value *library, enum version_operator operator,
			 char text[static 32])
{
	const char *cell = value_cell(library, "sm");
	const char *sign = operator== VERSION_GE ? ">=" : "<=";
	const char *at = strstr(cell, sign);

	if (!at)
		return NULL;
	snprintf(text, 32, "%.*s", (int)strcspn(at + 2, ";"), at + 2);
	return text;
}

/* Whether the GPU's first toolkit has the same major version. Its libraries then have PTX. */
static bool same_generation(const struct unit *gpu, const struct value *cuda)
{
	const struct needs *needs = gpu->gpu ? gpu->gpu->needs[COMPONENT_CUDA] : NULL;
	const char *first =
		needs && needs->count ? needs->alternatives[0].clauses[0].version : NULL;

	return first && major_of(cuda->version) >= major_of(first);
}

const char *gpu_first_cuda(const struct model *model, const struct unit *gpu)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const char *first = NULL;

	for (size_t i = 0; i < gpus->count; i++) {
		const struct needs *needs = gpus->values[i].needs[COMPONENT_CUDA];
		const char *sm = value_cell(&gpus->values[i], "sm"), *least;

		if (!needs || !needs->count || major_of(sm) != major_of(gpu->sm) ||
		    version_compare(sm, gpu->sm) > 0 ||
		    needs->alternatives[0].clauses[0].operator!= VERSION_GE)
			continue;
		least = needs->alternatives[0].clauses[0].version;
		if (!first || version_compare(least, first) < 0)
			first = least;
	}
	return first;
}

enum admission gpu_takes_cuda(const struct unit *gpu, const struct value *cuda)
{
	char low[32], high[32];
	const char *least = bound(cuda, VERSION_GE, low), *most = bound(cuda, VERSION_LE, high);
	bool is_too_new = gpu->first_cuda && version_compare(cuda->version, gpu->first_cuda) < 0 &&
			  !version_in_series(cuda->version, gpu->first_cuda);

	if (least && version_compare(gpu->sm, least) < 0)
		return ADMIT_NO;
	if (!is_too_new &&
	    (!most || version_compare(gpu->sm, most) <= 0 || major_of(gpu->sm) == major_of(most)))
		return ADMIT_YES;
	return same_generation(gpu, cuda) ? ADMIT_JIT : ADMIT_NO;
}

static const char *exact_driver(const struct value *cuda)
{
	const struct needs *needs = cuda ? cuda->needs[COMPONENT_DRIVER] : NULL;

	return needs && needs->count && needs->alternatives[0].clause_count
		       ? needs->alternatives[0].clauses[0].version
		       : NULL;
}

/*
 * The first refusal when every GPU of this compute capability is refused; NULL when one is not, or when
 * none is known.
 */
static const char *gpu_refuse_all(const struct model *model, const struct unit *gpu,
				  const char *driver)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const char *refusal = NULL;
	struct unit one = *gpu;

	for (size_t i = 0; i < gpus->count; i++) {
		const char *now;

		if (strcmp(value_cell(&gpus->values[i], "sm"), gpu->sm) != 0)
			continue;
		one.gpu = &gpus->values[i];
		now = driver ? gpu_refuses_driver(model, &one, driver)
			     : gpu_refuses_recipes(model, &one);
		if (!now)
			return NULL;
		refusal = refusal ? refusal : now;
	}
	return refusal;
}

const char *gpu_refuses_recipes(const struct model *model, const struct unit *gpu)
{
	const char *arch = gpu->gpu ? value_cell(gpu->gpu, "arch") : "";
	const char *own = model->catalog->arch ? model->catalog->arch : ARCH_DEFAULT;

	if (!gpu->gpu)
		return gpu_refuse_all(model, gpu, NULL);
	if (strcmp(arch, "jetpack") == 0)
		return arena_printf(
			model->arena,
			"the %s takes JetPack's own CUDA (Jetson Linux), and recipes are for " ARCH_LIST
			" servers",
			gpu->gpu->version);
	return *arch && strcmp(arch, own) != 0
		       ? arena_printf(model->arena,
				      "hosts with the %s are %s, and the stack is for %s",
				      gpu->gpu->version, arch, own)
		       : NULL;
}

const char *gpu_arch(const struct model *model, const struct unit *gpu)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const char *arch = NULL;

	if (gpu->gpu)
		return value_cell(gpu->gpu, "arch");
	for (size_t i = 0; i < gpus->count; i++) {
		const char *own = value_cell(&gpus->values[i], "arch");

		if (strcmp(value_cell(&gpus->values[i], "sm"), gpu->sm) != 0)
			continue;
		if (arch && strcmp(arch, own) != 0)
			return "";
		arch = own;
	}
	return arch ? arch : "";
}

/* The oldest release of the first CUDA series that knows the GPU; NULL: older than the catalog. */
static const struct value *first_cuda(const struct model *model, const struct value *gpu)
{
	const struct needs *needs = gpu->needs[COMPONENT_CUDA];
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const struct value *oldest = NULL;

	if (!needs || !needs->count || needs->alternatives[0].clauses[0].operator!= VERSION_GE)
		return NULL;
	for (size_t i = 0; i < cuda->count; i++) {
		const struct value *value = &cuda->values[i];

		if (version_in_series(value->version, needs->alternatives[0].clauses[0].version) &&
		    (!oldest || version_compare(value->version, oldest->version) < 0))
			oldest = value;
	}
	return oldest;
}

/* The last branch that drives the GPU, of a ">=340;<=470.999" cell; 0: none is known. */
static long last_branch(const struct value *gpu)
{
	const char *most = strstr(value_cell(gpu, "driver"), "<=");

	return most ? major_of(most + 2) : 0;
}

const char *gpu_refuses_driver(const struct model *model, const struct unit *gpu,
			       const char *driver)
{
	const struct value *first = gpu->gpu ? first_cuda(model, gpu->gpu) : NULL;
	const char *needed = exact_driver(first);
	long last = gpu->gpu ? last_branch(gpu->gpu) : 0;

	if (!gpu->gpu)
		return gpu_refuse_all(model, gpu, driver);
	if (needed && major_of(driver) < major_of(needed))
		return arena_printf(
			model->arena,
			"driver %s does not know the %s: CUDA %s is the first with code for it, and needs a driver of branch %ld or newer",
			driver, gpu->product, first->version, major_of(needed));
	if (last && major_of(driver) > last)
		return arena_printf(
			model->arena,
			"driver %s no longer drives the %s: the last branch that does is %ld",
			driver, gpu->product, last);
	return NULL;
}

enum admission gpu_takes_cudnn(const struct unit *gpu, const struct value *cudnn)
{
	char low[32], high[32];
	const char *least = bound(cudnn, VERSION_GE, low), *most = bound(cudnn, VERSION_LE, high);

	return (least && version_compare(gpu->sm, least) < 0) ||
			       (most && version_compare(gpu->sm, most) > 0)
		       ? ADMIT_NO
		       : ADMIT_YES;
}

/* "3.5-9.0" or one capability: whether code for it runs on `sm`. */
static bool runs(const char *sm, const char *code, size_t length)
{
	char low[32], *high;

	snprintf(low, sizeof(low), "%.*s", (int)length, code);
	high = strchr(low, '-');
	if (high) {
		*high++ = '\0';
		return version_compare(sm, low) >= 0 &&
		       (version_compare(sm, high) <= 0 || major_of(sm) == major_of(high));
	}
	return major_of(sm) == major_of(low) && version_compare(sm, low) >= 0;
}

/* "9.0", or "9.0-11.0": PTX that does not load on anything newer than 11.0. */
static bool compiles(const char *sm, const char *ptx)
{
	char low[32];
	const char *high = strchr(ptx, '-');

	snprintf(low, sizeof(low), "%.*s", (int)strcspn(ptx, "-"), ptx);
	return *ptx && version_compare(sm, low) >= 0 &&
	       (!high || version_compare(sm, high + 1) <= 0);
}

/* Whether the toolkit that the wheel was built with makes code that runs on the GPU. */
static enum admission by_toolkit(const struct model *model, const struct unit *gpu,
				 const struct value *wheel)
{
	const struct domain *cuda = &model->domains[COMPONENT_CUDA];
	const struct needs *tested = wheel->prefers[COMPONENT_CUDA];

	const struct value *built = NULL;

	if (!tested || !cuda->count)
		return ADMIT_YES;
	for (size_t i = 0; i < cuda->count && !built; i++)
		if (needs_admit(tested, cuda->values[i].version))
			built = &cuda->values[i];
	if (!built) /* a toolkit that is older than the catalog knows no GPU that the oldest one here does not */
		built = &cuda->values[cuda->count - 1];
	return gpu_takes_cuda(gpu, built) == ADMIT_YES ? ADMIT_YES : ADMIT_NO;
}

/* Whether another build of the same cuDNN has code for the GPU. */
static bool has_other_cudnn(const struct domain *cudnn, const struct unit *gpu,
			    const struct value *value)
{
	for (size_t i = 0; i < cudnn->count; i++)
		if (strcmp(cudnn->values[i].version, value->version) == 0 &&
		    gpu_takes_cudnn(gpu, &cudnn->values[i]) == ADMIT_YES)
			return true;
	return false;
}

/* The oldest cuDNN whose lower bound the GPU misses, or the newest one whose upper bound it misses. */
static const struct value *gpu_cudnn_beyond(const struct model *model, const struct unit *gpu,
					    enum version_operator operator)
{
	const struct domain *cudnn = &model->domains[COMPONENT_CUDNN];
	const struct value *found = NULL;
	int sign = operator== VERSION_GE ? -1 : 1;
	char text[32];

	for (size_t i = 0; i < cudnn->count; i++) {
		const struct value *value = &cudnn->values[i];
		const char *most = bound(value, operator, text);

		if (most && sign * version_compare(gpu->sm, most) > 0 &&
		    (!found || sign * version_compare(value->version, found->version) > 0) &&
		    !has_other_cudnn(cudnn, gpu, value))
			found = value;
	}
	return found;
}

const struct value *gpu_lost_cudnn(const struct model *model, const struct unit *gpu)
{
	return gpu_cudnn_beyond(model, gpu, VERSION_GE);
}

const struct value *gpu_early_cudnn(const struct model *model, const struct unit *gpu)
{
	return gpu_cudnn_beyond(model, gpu, VERSION_LE);
}

const struct value *gpu_refuses_brought(const struct unit *gpu, const struct value *wheel)
{
	const char *brings = wheel->brings[COMPONENT_CUDNN];

	if (brings && gpu->lost_cudnn && version_compare(brings, gpu->lost_cudnn->version) >= 0)
		return gpu->lost_cudnn;
	if (brings && gpu->early_cudnn && version_compare(brings, gpu->early_cudnn->version) <= 0)
		return gpu->early_cudnn;
	return NULL;
}

bool gpu_runs_code(const struct unit *gpu, const struct value *wheel)
{
	const char *codes = value_cell(wheel, "sm");

	while (*codes) {
		size_t length = strcspn(codes, ";");

		if (runs(gpu->sm, codes, length))
			return true;
		codes += length + (codes[length] == ';');
	}
	return false;
}

enum admission gpu_takes_wheel(const struct model *model, const struct unit *gpu,
			       const struct value *wheel)
{
	const char *codes = value_cell(wheel, "sm"), *ptx = value_cell(wheel, "ptx");

	if (gpu_refuses_brought(gpu, wheel))
		return ADMIT_NO;
	if (!*codes)
		return by_toolkit(model, gpu, wheel);
	if (gpu_runs_code(gpu, wheel))
		return ADMIT_YES;
	return compiles(gpu->sm, ptx) ? ADMIT_JIT : ADMIT_NO;
}

/* --- PTX and the driver's compiler -------------------------------------------------------- */

/* Whether the unit is an active GPU that runs the wheel only as PTX. */
static bool is_jit(const struct search *s, size_t unit, const struct value *wheel)
{
	const struct unit *gpu = &s->units->list[unit];
	const uint8_t *admits = gpu->admits[wheel->component];

	return (s->active >> unit & 1) && gpu->sm && admits && admits[wheel->index] == ADMIT_JIT;
}

static bool has_jit(const struct search *s, const struct value *wheel)
{
	for (size_t i = 0; i < s->units->count; i++)
		if (is_jit(s, i, wheel))
			return true;
	return false;
}

/*
 * The oldest release of the CUDA series that the wheel was built with. Its driver can compile the
 * PTX.
 */
static const struct value *ptx_maker(const struct search *s, const struct value *wheel)
{
	const struct domain *cuda = &s->model->domains[COMPONENT_CUDA];
	const struct needs *tested = wheel->prefers[COMPONENT_CUDA];
	const struct value *oldest = NULL;

	for (size_t i = 0; tested && i < cuda->count; i++) {
		const struct value *value = &cuda->values[i];

		if (needs_admit(tested, value->version) &&
		    (!oldest || version_compare(value->version, oldest->version) < 0))
			oldest = value;
	}
	return oldest;
}

/* Whether the driver is too old. Forward compatibility brings the toolkit's own compiler. */
static bool is_stale(const struct unit *unit, const struct value *cuda, const char *needed)
{
	const uint8_t *admits = unit->admits[COMPONENT_CUDA];

	return unit->driver && !(admits && admits[cuda->index] == ADMIT_COMPAT) &&
	       !driver_reaches(unit->driver, needed);
}

/* The driver beside this GPU that is too old for the PTX, or NULL. */
static const char *find_driver_beside(const struct search *s, const struct unit *gpu,
				      const struct value *cuda, const char *needed)
{
	const struct value *chosen = s->now.chosen[COMPONENT_DRIVER];

	for (size_t i = 0; i < s->units->count; i++)
		if ((s->active >> i & 1) && unit_meets(gpu, &s->units->list[i]) &&
		    is_stale(&s->units->list[i], cuda, needed))
			return s->units->list[i].driver;
	return chosen && !driver_reaches(chosen->version, needed) ? chosen->version : NULL;
}

bool find_stale_driver(const struct search *s, const struct value *wheel, const struct value *cuda,
		       struct stale_driver *stale)
{
	*stale = (struct stale_driver){0};
	for (size_t i = 0; i < s->units->count && !stale->driver; i++) {
		if (!is_jit(s, i, wheel))
			continue;
		stale->gpu = &s->units->list[i];
		stale->cuda = ptx_maker(s, wheel);
		stale->needed = exact_driver(stale->cuda);
		if (!stale->needed)
			return false;
		stale->driver = find_driver_beside(s, stale->gpu, cuda, stale->needed);
	}
	return stale->driver != NULL;
}

bool driver_compiles_wheels(const struct search *s, const char *driver)
{
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *needed =
			wheel && has_jit(s, wheel) ? exact_driver(ptx_maker(s, wheel)) : NULL;

		if (needed && !driver_reaches(driver, needed))
			return false;
	}
	return true;
}
