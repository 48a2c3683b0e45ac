/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"

/* Adds "ADDRESS:PORT" of every rank, each in quotes. Each rank has a port of its host. */
static void add_workers(const struct job_plan *plan, struct str *out)
{
	for (size_t i = 0; i < plan->host_count; i++)
		for (int local = 0; local < plan->hosts[i].ranks; local++)
			str_addf(out, "%s\"%s:%s\"", i || local ? "," : "",
				 plan->hosts[i].member->host->address,
				 job_port(&plan->hosts[i], (size_t)local));
}

/* The hosts are reached directly: a proxy makes gRPC wait for ever. */
static void add_no_proxy(const struct job_plan *plan, struct words *env)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	str_add(&list, "localhost,127.0.0.1");
	for (size_t i = 0; i < plan->host_count; i++)
		str_addf(&list, ",%s", plan->hosts[i].member->host->address);
	words_addf(env, "no_proxy=%s", list.text);
	words_addf(env, "no_grpc_proxy=%s", list.text);
}

/*
 * TF_CONFIG of MultiWorkerMirroredStrategy: every rank is a worker (tensorflow.org, "Multi-worker
 * training with Keras").
 */
static int tf_tasks(const struct job_plan *plan, const struct job_host *host,
		    struct job_tasks *tasks, struct error *err)
{
	_cleanup_(str_release) struct str workers = STR_INIT;

	(void)err;
	add_workers(plan, &workers);
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);
		int rank = host->first_rank + local;

		words_addf(
			&env,
			"TF_CONFIG={\"cluster\":{\"worker\":[%s]},\"task\":{\"type\":\"worker\",\"index\":%d}}",
			workers.text, rank);
		add_no_proxy(plan, &env);
		job_add_rank_task(plan, host, local, &env, tasks);
	}
	return 0;
}

const struct launcher launcher_tf = {
	.name = "tf",
	.help = "TF_CONFIG for TensorFlow's MultiWorkerMirroredStrategy",
	.rank = 50,
	.component = "",
	.tasks = tf_tasks,
	.trains = "tensorflow",
};
