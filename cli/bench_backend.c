/* SPDX-License-Identifier: MIT */
#include "cli/bench_backend.h"

#include "cli/app/stage_job.h"
#include "core/log.h"
#include "deployer/container/gpus.h"

#include <string.h>

static bool bench_names_backend(const char *const *arguments)
{
	for (; *arguments; arguments++)
		if (strcmp(*arguments, "--backend") == 0 || starts_with(*arguments, "--backend="))
			return true;
	return false;
}

/* How many GPUs the hosts of the run give, as far as they can be counted. */
static size_t bench_gpus(struct fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct member *m = &fleet->members[i];
		struct gpu_wish wish;

		if (!member_is_active(m))
			continue;
		member_gpu_wish(m, &wish);
		count += gpu_wish_count(&wish, &m->facts);
	}
	return count;
}

/*
 * The GPUs that `gpus` names must be there, and those of a host must work: fewer would be measured, and the report would say that
 * all is well.
 */
static int bench_check_gpus(struct member *m, void *arg, struct error *err)
{
	struct gpu_wish wish;

	(void)arg;
	member_gpu_wish(m, &wish);
	if (member_check_gpu_error(m, err) < 0)
		return error_advise(err, "--exclude %s measures the others, -- --backend cpu CPUs",
				    m->host->name);
	if (gpu_wish_check(&wish, &m->facts, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	return 0;
}

/* Whether the hosts give GPUs, be it such that cannot be used. */
static bool bench_gives_gpus(struct fleet *fleet)
{
	struct error ignored = {0};

	for (size_t i = 0; i < fleet->count; i++)
		if (member_is_active(&fleet->members[i]) &&
		    member_check_gpu_error(&fleet->members[i], &ignored) < 0)
			return true;
	return bench_gpus(fleet);
}

/* Where the image is somebody's own and ringup adds no stack, it is for what the hosts give, as `up` has it. */
static bool bench_is_for_cuda(struct stages *s, const struct plan *plan)
{
	if (plan)
		return strcmp(plan->accelerator, "cuda") == 0;
	return cluster_has_no_stack(&s->cluster) && strcmp(s->cluster.accelerator, "cpu") != 0 &&
	       bench_gives_gpus(&s->fleet);
}

int bench_backend_choose(struct stages *s, const char *const *arguments,
			 struct bench_backend *backend, struct error *err)
{
	struct words words = WORDS_INIT(s->arena);
	const struct choice *nccl;
	const struct plan *plan;

	*backend = (struct bench_backend){.arguments = arguments};
	if (bench_names_backend(arguments))
		return 0;
	if (stage_built_plan(s, &plan, err) < 0)
		return -1;
	if (!bench_is_for_cuda(s, plan))
		return 0;
	fleet_each(&s->fleet, bench_check_gpus, NULL);
	if (fleet_result(&s->fleet, err) < 0)
		return error_advise(err, "nothing was measured");
	nccl = plan ? plan_choice(plan, "nccl") : NULL;
	if (nccl)
		backend->nccl = arena_strdup(s->arena, nccl->version);
	if (plan && !nccl)
		backend->lacking = "the stack has no nccl";
	else if (s->fleet.count && !bench_gpus(&s->fleet))
		backend->lacking = "no host of the run gives a GPU";
	if (backend->lacking) {
		log_warn(
			"CPUs are measured, although the stack is for CUDA: %s; '-- --backend cpu' says that "
			"this is wanted",
			backend->lacking);
		return 0;
	}
	words_add_all(&words, WORDS("--backend", "nccl"));
	words_add_all(&words, arguments);
	backend->arguments = words.list;
	return 0;
}

/* "2.27.3" of "NCCL 2.27.3, driver 575.57.08, CUDA 12.9" and of the package's "2.27.3-1". */
static void bench_compare_nccl(const struct bench_backend *backend, const struct report *report)
{
	const char *measured = starts_with(report->library, "NCCL ") ? report->library + 5 : NULL;
	int length = backend->nccl ? (int)strcspn(backend->nccl, "-") : 0;

	if (!measured || !length ||
	    (strncmp(measured, backend->nccl, (size_t)length) == 0 && measured[length] == ','))
		return;
	log_warn("NCCL %.*s was measured (%s), and the stack has %.*s", (int)strcspn(measured, ","),
		 measured, report->library_file, length, backend->nccl);
}

int bench_backend_judge(const struct bench_backend *backend, struct report *report,
			struct error *err)
{
	bench_compare_nccl(backend, report);
	if (!backend->lacking || strcmp(report->verdict, "pass") != 0)
		return 0;
	report->verdict = "not what was asked";
	report->reason = backend->lacking;
	return error_set(err, ERROR_VERDICT,
			 "not what was asked: CPUs were measured, and the stack is for CUDA: %s",
			 backend->lacking);
}
