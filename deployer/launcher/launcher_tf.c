/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"

/*
 * For the ranks that may end by themselves soon after the chief: workers of TensorFlow 1.x leave at the
 * same step, and an evaluator at the last checkpoint. Workers of TensorFlow 2 serve for ever
 * (tensorflow.org, "Parameter server training": server.join()), and so does a SidecarEvaluator.
 */
#define GRACE_S 5

/* Roles of tf.estimator's RunConfig (TaskType). All but the evaluator stand in "cluster". */
static const struct job_role_kind tf_roles[] = {
	{"chief", 1, false, "master"}, {"master", 1, false, NULL},   {"worker", 0, false, NULL},
	{"ps", 0, true, NULL},	       {"evaluator", 0, true, NULL}, {0}};

enum { ROLE_CHIEF, ROLE_MASTER, ROLE_WORKER, ROLE_PS, ROLE_EVALUATOR };

/* The role of a rank, and its number there. Without --roles every rank is a worker. */
static const struct job_role_kind *tf_role(const struct job_plan *plan, int rank, int *index)
{
	if (plan->options->roles)
		return job_role_of(plan->options->roles, rank, index);
	*index = rank;
	return &tf_roles[ROLE_WORKER];
}

static bool tf_has(const struct job_plan *plan, int role)
{
	const struct job_roles *roles = plan->options->roles;

	return roles && job_role_count(roles, &tf_roles[role]) > 0;
}

/* Whether one rank leads the others. */
static bool tf_has_chief(const struct job_plan *plan)
{
	return tf_has(plan, ROLE_CHIEF) || tf_has(plan, ROLE_MASTER);
}

/* Adds "ADDRESS:PORT" of every rank of a role, each in quotes. Each rank has a port of its host. */
static void tf_add_addresses(const struct job_plan *plan, const struct job_role_kind *kind,
			     struct str *out)
{
	int index, found = 0;

	for (size_t i = 0; i < plan->host_count; i++) {
		const struct job_host *host = &plan->hosts[i];

		for (int local = 0; local < host->ranks; local++)
			if (tf_role(plan, host->first_rank + local, &index) == kind)
				str_addf(out, "%s\"%s:%s\"", found++ ? "," : "",
					 host->member->host->address,
					 job_port(host, (size_t)local));
	}
}

/* {"chief":[...],"worker":[...]} */
static void tf_add_cluster(const struct job_plan *plan, struct str *out)
{
	int found = 0;

	str_add(out, "{");
	for (int role = ROLE_CHIEF; role < ROLE_EVALUATOR; role++) {
		if (!tf_has(plan, role) && (plan->options->roles || role != ROLE_WORKER))
			continue;
		str_addf(out, "%s\"%s\":[", found++ ? "," : "", tf_roles[role].name);
		tf_add_addresses(plan, &tf_roles[role], out);
		str_add(out, "]");
	}
	str_add(out, "}");
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
 * With parameter servers and a chief the job is done when the chief is. The chief of TensorFlow 2 gives
 * the workers their work, and they do not see its end.
 */
static void tf_set_service(const struct job_plan *plan, const struct job_role_kind *kind,
			   struct job_task *task)
{
	bool is_worker = kind == &tf_roles[ROLE_WORKER];

	task->serves = kind->serves || (is_worker && tf_has(plan, ROLE_PS) && tf_has_chief(plan));
	task->grace_s = task->serves && kind != &tf_roles[ROLE_PS] ? GRACE_S : 0;
}

/*
 * TF_CONFIG (tensorflow.org, "Multi-worker training with Keras" and "Parameter server training").
 * "environment" is for RunConfig of TensorFlow 1.x's contrib.learn: with "cloud" the master is the chief,
 * and without it worker 0 is. Newer ones do not read it.
 */
static int tf_tasks(const struct job_plan *plan, const struct job_host *host,
		    struct job_tasks *tasks, struct error *err)
{
	_cleanup_(str_release) struct str cluster = STR_INIT;
	const char *cloud = tf_has_chief(plan) ? ",\"environment\":\"cloud\"" : "";

	(void)err;
	tf_add_cluster(plan, &cluster);
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);
		int index;
		const struct job_role_kind *kind = tf_role(plan, host->first_rank + local, &index);

		words_addf(&env,
			   "TF_CONFIG={\"cluster\":%s,\"task\":{\"type\":\"%s\",\"index\":%d}%s}",
			   cluster.text, kind->name, index, cloud);
		add_no_proxy(plan, &env);
		/* it keeps variables in memory, and would take all of the workers' GPUs' */
		if (kind == &tf_roles[ROLE_PS] && !plan->options->gpus)
			words_add(&env, "CUDA_VISIBLE_DEVICES=-1");
		job_add_rank_task(plan, host, local, &env, tasks);
		tf_set_service(plan, kind, &tasks->list[tasks->count - 1]);
	}
	return 0;
}

const struct launcher launcher_tf = {
	.name = "tf",
	.help = "TF_CONFIG for TensorFlow's strategies; --roles for parameter servers",
	.rank = 50,
	.component = "",
	.tasks = tf_tasks,
	.roles = tf_roles,
	.trains = "tensorflow",
	.place = PLACE_ROLES,
};
