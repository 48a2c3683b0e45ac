/* SPDX-License-Identifier: MIT */
#include "deployer/export/kube.h"
#include "deployer/export/kube_metadata.h"
#include "deployer/export/kube_operator.h"
#include "deployer/export/kube_values.h"
#include "deployer/export/node.h"
#include "deployer/scheduler/kubernetes.h"

#include "core/digest.h"
#include "core/file.h"

#include <string.h>

/*
 * Sources: kubeflow/mpi-operator (pkg/controller/mpi_job_controller.go: where the key and the hostfile are mounted, and
 * what it sets), kubeflow/training-operator 1.9 (pkg/controller.v1/pytorch/envvar.go, tensorflow/tensorflow.go: names
 * of containers and variables), kubernetes.io "Job with Pod-to-Pod Communication" (names of an Indexed Job's pods),
 * kubeflow/trainer 2.0 to 2.3 (pkg/runtime/framework/plugins/torch/torch.go: PET_NODE_RANK and the like),
 * kueue.sigs.k8s.io (the label of a queue), volcano.sh (PodGroup).
 */

enum { KIND_MPIJOB, KIND_PYTORCHJOB, KIND_TFJOB, KIND_TRAINJOB, KIND_JOB, KIND_JOBSET };
static const char *const kube_kinds[] = {"mpijob", "pytorchjob", "tfjob", "trainjob",
					 "job",	   "jobset",	 NULL};

static const struct export_setting kube_settings[] = {
	{"namespace", "of all objects", ""},
	{"context", "of kubectl's configuration, for run --on", ""},
	{"queue", "LocalQueue of Kueue, or with gang=volcano a queue of Volcano", ""},
	{"gang", "volcano: its scheduler starts all pods at once, or none", ""},
	{"priority", "PriorityClass of the pods", ""},
	{"pull-secret", "Secret with the registry's login", ""},
	{"gpu-resource", "what a GPU is called, as nvidia.com/mig-1g.10gb", KUBE_GPU},
	{"claim", "ResourceClaimTemplate of a node's GPUs (DRA), in place of gpu-resource", ""},
	{"rdma-resource", "what RDMA is called: NAME or NAME=COUNT", "rdma/hca_shared_devices_a"},
	{"tolerate", "KEY[=VALUE][:EFFECT] of a taint; may be given again", KUBE_GPU},
	{"node", "LABEL=VALUE that a node must have; may be given again", ""},
	{"label", "KEY=VALUE of the job and its pods; may be given again", ""},
	{"annotation", "KEY=VALUE of the job and its pods; may be given again", ""},
	{"service-account", "of the pods, which get its token then", ""},
	{"env-secret", "Secret whose entries are variables of the ranks", ""},
	{"cpu", "processors that a node's pod asks for", ""},
	{"memory", "memory that a node's pod gets, as 64Gi", ""},
	{"runtime", "ClusterTrainingRuntime of a TrainJob", "torch-distributed"},
	{"user", "number of the user to run as, instead of the image's (not with mpijob)", ""},
	{"group", "number of the group of files in volumes (fsGroup, runAsGroup)", ""},
	{"keep", "seconds that the finished job stays listed (without end)", ""},
	{0}};

extern const struct exporter exporter_kubernetes;

/* Which kind the job is: --kind, or what its launcher's ranks need. */
static int kube_kind(const struct export_wish *wish, struct error *err)
{
	static const int natural[] = {[PLACE_NONE] = KIND_JOB,
				      [PLACE_RANK] = KIND_JOB,
				      [PLACE_NODE] = KIND_PYTORCHJOB,
				      [PLACE_MPI] = KIND_MPIJOB,
				      [PLACE_ROLES] = KIND_TFJOB};
	enum launcher_place place = wish->job.launcher->place;
	int kind = natural[place];

	if (wish->kind)
		for (kind = 0; strcmp(kube_kinds[kind], wish->kind) != 0;)
			kind++;
	/* pods that know their index are enough for all that need no list of hosts and no roles */
	if (kind == natural[place] || (kind == KIND_TRAINJOB && place == PLACE_NODE) ||
	    (kind >= KIND_JOB && (place <= PLACE_NODE || wish->world == 1)))
		return kind;
	return error_set(
		err, ERROR_USAGE,
		"--kind %s cannot start the ranks of the launcher '%s'; take --kind %s, or another --launcher",
		wish->kind, wish->job.launcher->name, kube_kinds[natural[place]]);
}

/* A setting that the kind has no place for is an error. `runtime` is a TrainJob's only, which leaves most to it. */
static int kube_check_kind(const struct kube *k, int kind, struct error *err)
{
	static const char *const train[] = {"namespace",    "context",	     "queue",
					    "gpu-resource", "rdma-resource", "cpu",
					    "memory",	    "label",	     "annotation"};

	for (const char *const *pair = k->wish->settings; *pair; pair++) {
		size_t length = strcspn(*pair, "=");
		bool fits = kind != KIND_TRAINJOB;

		for (size_t i = 0; !fits && i < ARRAY_LEN(train); i++)
			fits = strlen(train[i]) == length && strncmp(train[i], *pair, length) == 0;
		if (strncmp(*pair, "runtime=", strlen("runtime=")) == 0)
			fits = kind == KIND_TRAINJOB;
		if (!fits)
			return error_set(err, ERROR_USAGE, "--set %s: %s has no place for it%s",
					 *pair, kube_kinds[kind],
					 kind == KIND_TRAINJOB ? "; its runtime says it" : "");
	}
	return 0;
}

/* Values of settings stand in the manifests as they are. */
static int kube_check(const struct kube *k, int kind, struct error *err)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=-";
	static const char names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *user = kube_value(k, "user"), *gang = kube_value(k, "gang");

	for (const char *const *pair = export_env(k->wish); *pair; pair++)
		if (strspn(*pair, names) != strcspn(*pair, "=") || strchr("0123456789", **pair))
			return error_set(
				err, ERROR_USAGE,
				"the variable '%.*s': Kubernetes takes letters, digits, '.', '_' and '-', and no digit first",
				(int)strcspn(*pair, "="), *pair);
	for (const char *const *pair = k->wish->settings; *pair; pair++)
		/* a context goes to kubectl, and stands in no file; an annotation is quoted, and a taint has a form */
		if (!starts_with(*pair, "context=") && !starts_with(*pair, "annotation=") &&
		    !starts_with(*pair, "tolerate=") && (*pair)[strspn(*pair, allowed)])
			return error_set(err, ERROR_USAGE,
					 "--set %s: letters, digits and ._/=- are allowed", *pair);
	if (kube_check_values(k, kind != KIND_TRAINJOB, err) < 0 ||
	    kube_check_metadata(k, "label", err) < 0 ||
	    kube_check_metadata(k, "annotation", err) < 0)
		return -1;
	if (*user && kind == KIND_MPIJOB)
		return error_set(
			err, ERROR_USAGE,
			"--set user=%s: an MPIJob starts its ranks by sshd, which needs root in its container; take --launcher torchrun or env",
			user);
	if (*kube_value(k, "claim") && !k->wish->gpus_per_node)
		return error_set(err, ERROR_USAGE,
				 "--set claim=%s: the job has no GPUs; say how many with --gpus",
				 kube_value(k, "claim"));
	/* CUDA gives a process one MIG device only: docs.nvidia.com, MIG user guide, "CUDA Visible Devices" */
	if (strstr(kube_value(k, "gpu-resource"), "/mig-") && k->wish->per_node > 1 &&
	    kind != KIND_TFJOB && k->wish->gpus_per_node)
		return error_set(
			err, ERROR_USAGE,
			"--set gpu-resource=%s: a process uses one MIG device, the first that its pod has, and %d ranks share a pod; take --ppn 1 --nodes %d",
			kube_value(k, "gpu-resource"), k->wish->per_node, k->wish->world);
	if (*gang && strcmp(gang, "volcano") != 0)
		return error_set(err, ERROR_USAGE, "--set gang=%s: only volcano is known", gang);
	return 0;
}

/* The first comment: where it is from, and the commands for what must not stand in a file. */
static void kube_add_head(const struct kube *k, int per_pod, bool needs_secret)
{
	const char *pull = kube_value(k, "pull-secret"), *space = kube_value(k, "namespace");
	const char *in = *space ? arena_printf(k->wish->arena, " -n %s", space) : "";

	kube_line(k, 0, "# %s", k->wish->origin);
	kube_line(k, 0, "# %d rank%s, %d to a pod; written by ringup, and yours to change.",
		  k->wish->world, k->wish->world == 1 ? "" : "s", per_pod);
	if (*k->wish->cluster->container.ulimits)
		kube_line(
			k, 0,
			"# Limits of processes (container.ulimits) are set by the nodes' container runtime.");
	if (!*pull && !needs_secret)
		return;
	kube_line(k, 0, "# Once, before it is applied:");
	if (*pull)
		kube_line(
			k, 0,
			"#   kubectl create secret generic %s%s --type=kubernetes.io/dockerconfigjson"
			" --from-file=.dockerconfigjson=.ringup/auth.json",
			pull, in);
	if (needs_secret)
		kube_line(k, 0,
			  "#   head -c 32 /dev/urandom | base64 |"
			  " kubectl create secret generic %s" KUBERNETES_SECRET_SUFFIX
			  "%s --from-file=secret=/dev/stdin",
			  k->name, in);
}

/* Fills what starts the ranks of a node, in a pod that the engine tells its place. */
static int kube_fill_node(const struct kube *k, const char *rank, const char *address,
			  const char *port, struct kube_pod *pod, struct error *err)
{
	const struct export_wish *wish = k->wish;
	const struct launcher_node node = {.nodes = wish->nodes,
					   .per_node = wish->per_node,
					   .world = wish->world,
					   .tags = kube_has_tags(wish),
					   .id = k->name,
					   .rank = rank,
					   .address = address,
					   .port = port};
	struct words command = WORDS_INIT(wish->arena), env = WORDS_INIT(wish->arena);

	if (export_node(wish, &node, &command, &env, err) < 0)
		return -1;
	pod->command = words_list(&command);
	pod->env = words_list(&env);
	pod->gpus = wish->gpus_per_node;
	pod->is_rank = true;
	if (wish->is_worker && wish->world > 1)
		pod->secret = arena_printf(wish->arena, "%s" KUBERNETES_SECRET_SUFFIX, k->name);
	return 0;
}

/* The operator tells each pod its RANK among the pods, and where the first one is. */
static int kube_write_pytorch(const struct kube *k, struct error *err)
{
	struct kube_pod pod = {.container = "pytorch"};

	if (kube_fill_node(k, "$(RANK)", "$(MASTER_ADDR)", "$(MASTER_PORT)", &pod, err) < 0)
		return -1;
	kube_begin(k, "kubeflow.org/v1", "PyTorchJob");
	kube_line(k, 0, "spec:");
	kube_add_policy(k, k->wish->nodes, 0);
	kube_line(k, 2, "pytorchReplicaSpecs:");
	kube_begin_replicas(k, "Master", 1);
	kube_add_template(k, 6, &pod);
	if (k->wish->nodes == 1)
		return 0;
	kube_begin_replicas(k, "Worker", k->wish->nodes - 1);
	kube_add_template(k, 6, &pod);
	return 0;
}

static const char *kube_tf_role(const char *name)
{
	static const char *const roles[][2] = {{"chief", "Chief"},
					       {"master", "Master"},
					       {"worker", "Worker"},
					       {"ps", "PS"},
					       {"evaluator", "Evaluator"}};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strcmp(roles[i][0], name) == 0)
			return roles[i][1];
	return name;
}

static bool kube_has_role(const struct job_roles *roles, size_t count,
			  const struct job_role_kind *role)
{
	while (count--)
		if (roles->list[count].kind == role)
			return true;
	return false;
}

/* The operator takes the job's end from it, and else from worker 0 (training-operator, tfjob_controller.go). */
static bool kube_has_chief(const struct job_roles *roles)
{
	for (size_t i = 0; i < roles->count; i++)
		if (strcmp(roles->list[i].kind->name, "chief") == 0 ||
		    strcmp(roles->list[i].kind->name, "master") == 0)
			return true;
	return false;
}

/* "chief=1,worker=2", as the ranks have their roles; "" where all are alike. */
static const char *kube_roles(const struct export_wish *wish)
{
	struct words words = WORDS_INIT(wish->arena);

	for (size_t i = 0; wish->job.roles && i < wish->job.roles->count; i++)
		words_addf(&words, "%s=%d", wish->job.roles->list[i].kind->name,
			   wish->job.roles->list[i].count);
	return words_join(&words, ",");
}

/* A pod per rank, which the operator tells its place by TF_CONFIG. Servers compute on no GPU. */
static int kube_write_tf(const struct kube *k, struct error *err)
{
	const struct job_options *job = &k->wish->job;
	const struct job_role_kind all = {.name = "worker"};
	struct job_role alike = {&all, k->wish->world};
	const struct job_roles roles = job->roles ? *job->roles : (struct job_roles){&alike, 1, 0};
	int gpus = k->wish->gpus_per_node ? k->wish->gpus_per_node / k->wish->per_node : 0;

	(void)err;
	kube_begin(k, "kubeflow.org/v1", "TFJob");
	kube_line(k, 0, "spec:");
	if (!kube_has_chief(&roles))
		kube_line(k, 2, "successPolicy: AllWorkers # not already when worker 0 has ended");
	kube_add_policy(k, k->wish->world, 0);
	kube_line(k, 2, "tfReplicaSpecs:");
	for (size_t i = 0; i < roles.count; i++) {
		const struct job_role_kind *role = roles.list[i].kind;
		bool serves = role->serves && !job->gpus;

		if (kube_has_role(&roles, i, role)) /* one that stands there again */
			continue;
		kube_begin_replicas(k, kube_tf_role(role->name), job_role_count(&roles, role));
		kube_add_template(
			k, 6,
			&(struct kube_pod){
				.container = "tensorflow",
				.command = export_words(k->wish, export_command(k->wish, true)),
				.env = WORDS(NULL),
				.gpus = serves ? 0
					: gpus ? gpus
					       : 0,
				.is_rank = true});
	}
	return 0;
}

/* What the cluster file and the job say, and the runtime of a TrainJob decides. */
static void kube_warn_of_runtime(const struct kube *k)
{
	const struct cluster_container *container = &k->wish->cluster->container;
	struct words lost = WORDS_INIT(k->wish->arena);

	/* the container's own /dev/shm has 64 MiB, too little for NCCL and for loaders of data */
	words_addf(&lost, "container.shm_size (%s)", container->shm_size);
	if (*container->volumes)
		words_add(&lost, "container.volumes");
	if (container->privileged)
		words_add(&lost, "container.privileged");
	if (k->wish->job.timeout_s)
		words_add(&lost, "limit");
	if (k->wish->job.grace_s)
		words_add(&lost, "grace");
	if (k->wish->retries)
		words_add(&lost, "retries");
	log_warn(
		"%s: the runtime %s of the TrainJob decides these; give it a runtime that has them, or take --kind pytorchjob, jobset or job",
		words_join(&lost, ", "), kube_value(k, "runtime"));
}

/* What a job says by itself stays the same in all of Trainer 2; its ways to patch a runtime do not. */
static int kube_write_train_job(const struct kube *k, struct error *err)
{
	struct kube_pod pod = {0};
	struct words command = WORDS_INIT(k->wish->arena);

	if (kube_fill_node(k, "$(PET_NODE_RANK)", "$(PET_MASTER_ADDR)", "$(PET_MASTER_PORT)", &pod,
			   err) < 0)
		return -1;
	if (*k->wish->job.workdir) { /* it has no place of its own */
		words_add_all(&command, WORDS("/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
					      export_text(k->wish, k->wish->job.workdir)));
		words_add_all(&command, pod.command);
		pod.command = words_list(&command);
	}
	kube_warn_of_runtime(k);
	kube_line(
		k, 0,
		"# Volumes, shared memory, rights, nodes, priority, limit, grace and retries are the runtime's.");
	kube_begin(k, "trainer.kubeflow.org/v1alpha1", "TrainJob");
	kube_line(k, 0, "spec:");
	kube_line(k, 2, "runtimeRef:");
	kube_pair(k, 4, "name", kube_value(k, "runtime"));
	kube_line(k, 2, "trainer:");
	kube_line(k, 4, "numNodes: %d", k->wish->nodes);
	kube_line(k, 4, "numProcPerNode: %d", k->wish->per_node);
	kube_add_trainer(k, 4, &pod);
	return 0;
}

static void kube_add_pod_group(const struct kube *k)
{
	kube_begin(k, "scheduling.volcano.sh/v1beta1", "PodGroup");
	kube_line(k, 0, "spec:");
	kube_line(k, 2, "minMember: %d", k->wish->nodes);
	kube_pair(k, 2, "queue", kube_value(k, "queue"));
	kube_pair(k, 2, "priorityClassName", kube_value(k, "priority"));
	kube_line(k, 0, "---");
}

/* The Job's spec: all pods at once, which know their index. The first that fails ends it. */
static void kube_add_job(const struct kube *k, int indent, const struct kube_pod *pod)
{
	kube_line(k, indent, "completionMode: Indexed");
	kube_line(k, indent, "completions: %d", k->wish->nodes);
	kube_line(k, indent, "parallelism: %d", k->wish->nodes);
	kube_line(
		k, indent,
		"backoffLimit: 0 # one pod alone cannot be started again: the others have lost it");
	if (k->wish->job.timeout_s)
		kube_line(k, indent, "activeDeadlineSeconds: %d", k->wish->job.timeout_s);
	kube_add_template(k, indent, pod);
}

/* What every Kubernetes has: a Job whose pods know their index, and names for them. */
static int kube_write_job(const struct kube *k, struct error *err)
{
	struct kube_pod pod = {.container = "rank",
			       .restart = "Never",
			       .has_index = true,
			       .in_group = *kube_value(k, "gang"),
			       .subdomain = k->name};
	const char *first = arena_printf(k->wish->arena, "%s-0.%s", k->name, k->name);

	if (kube_fill_node(k, "$(NODE_RANK)", first, KUBE_PORT, &pod, err) < 0)
		return -1;
	kube_add_service(k, "job-name");
	if (pod.in_group)
		kube_add_pod_group(k);
	if (k->wish->retries)
		kube_line(
			k, 0,
			"# It is not started again: a JobSet (--kind jobset) can be, with all of its pods.");
	kube_begin(k, "batch/v1", "Job");
	kube_line(k, 0, "spec:");
	if (*kube_value(k, "keep"))
		kube_line(k, 2, "ttlSecondsAfterFinished: %s", kube_value(k, "keep"));
	kube_add_job(k, 2, &pod);
	return 0;
}

/*
 * A set of one Job, which makes the names of its pods itself, and starts all of them again when one fails
 * (jobset.sigs.k8s.io, "Failure policy"; the names are NAME-node-0-INDEX.NAME).
 */
static int kube_write_job_set(const struct kube *k, struct error *err)
{
	struct kube_pod pod = {.container = "rank",
			       .restart = "Never",
			       .has_index = true,
			       .in_group = *kube_value(k, "gang")};
	const char *first = arena_printf(k->wish->arena, "%s-node-0-0.%s", k->name, k->name);

	if (kube_fill_node(k, "$(NODE_RANK)", first, KUBE_PORT, &pod, err) < 0)
		return -1;
	if (pod.in_group)
		kube_add_pod_group(k);
	kube_begin(k, "jobset.x-k8s.io/v1alpha2", "JobSet");
	kube_line(k, 0, "spec:");
	if (*kube_value(k, "keep"))
		kube_line(k, 2, "ttlSecondsAfterFinished: %s", kube_value(k, "keep"));
	kube_line(k, 2, "failurePolicy:");
	kube_line(k, 4, "maxRestarts: %d # of all pods together", k->wish->retries);
	if (k->wish->retries && k->wish->job.timeout_s) {
		kube_line(k, 4, "rules: # a job that took too long is not started again");
		kube_line(k, 6, "- name: limit");
		kube_line(k, 6, "  action: FailJobSet");
		kube_line(k, 6, "  onJobFailureReasons: [DeadlineExceeded]");
	}
	kube_line(k, 2, "replicatedJobs:");
	kube_line(k, 4, "- name: node");
	kube_line(k, 6, "replicas: 1");
	kube_line(k, 6, "template:");
	kube_line(k, 8, "spec:");
	kube_add_job(k, 10, &pod);
	return 0;
}

/*
 * "$(NAME)" is Kubernetes' own and "$$" is "$" (k8s.io/kubernetes/third_party/forked/golang/expansion): what means itself
 * has such a "$" twice.
 */
static const char *kube_escape(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (const char *c = text; *c; c++) {
		bool is_special =
			*c == '$' && (c[1] == '(' || c[1] == '$' || (c > text && c[-1] == '$'));

		str_addf(&out, is_special ? "$%c" : "%c", *c);
	}
	return arena_strdup(arena, out.text);
}

static void kube_add_kustomization(const struct kube *k, const char *file,
				   struct export_files *files)
{
	export_add(
		k->wish, files, "kustomization.yaml",
		arena_printf(
			k->wish->arena,
			"# kubectl apply -k . ; an overlay names this folder in its own `resources`\n"
			"# No namePrefix and no nameSuffix: pods find each other by the name. 'ringup export --name NAME' gives another.\n"
			"apiVersion: kustomize.config.k8s.io/v1beta1\n"
			"kind: Kustomization\n"
			"resources:\n"
			"  - %s\n",
			file));
}

static int kube_write(const struct export_wish *given, struct export_files *files,
		      struct error *err)
{
	static int (*const writers[])(const struct kube *k, struct error *err) = {
		kube_write_mpi,	      kube_write_pytorch, kube_write_tf,
		kube_write_train_job, kube_write_job,	  kube_write_job_set};
	_cleanup_(str_release) struct str out = STR_INIT;
	struct export_wish wish = *given;
	const struct kube k = {.exporter = &exporter_kubernetes,
			       .wish = &wish,
			       .out = &out,
			       .name = export_dns_name(wish.job.name, wish.arena)};
	const char *file = arena_printf(wish.arena, "%s.yaml", k.name);
	int kind = kube_kind(&wish, err);

	if (kind < 0 || kube_check_kind(&k, kind, err) < 0 || kube_check(&k, kind, err) < 0)
		return -1;
	kube_add_head(&k, kind == KIND_TFJOB ? 1 : wish.per_node,
		      wish.is_worker && kind != KIND_MPIJOB && wish.world > 1);
	/* slices of GPUs are counted by the ranks: the probe counts whole GPUs */
	if (wish.gpus_per_node && strcmp(kube_value(&k, "gpu-resource"), KUBE_GPU) != 0)
		wish.gpus_per_node = wish.per_node * (wish.job.gpus ? wish.job.gpus : 1);
	wish.escape = kube_escape;
	/* what a pod asks for it may use */
	wish.cpus = kube_cpus(kube_value(&k, "cpu"));
	if (kube_cpus(wish.cluster->container.cpus) > wish.cpus)
		wish.cpus = kube_cpus(wish.cluster->container.cpus);
	if (writers[kind](&k, err) < 0)
		return -1;
	export_add(&wish, files, file, out.text);
	kube_add_kustomization(&k, file, files);
	return 0;
}

/* A name of its own in the namespace, where others have jobs, too: NAME-3fa2c. */
static int kube_name(struct export_wish *wish, struct error *err)
{
	enum { BYTES = 3 };
	char hex[2 * BYTES + 1];

	if (random_hex(hex, BYTES, err) < 0)
		return -1;
	wish->job.name = arena_printf(wish->arena, "%.*s-%s", EXPORT_NAME_MAX - 2 * BYTES - 1,
				      export_dns_name(wish->job.name, wish->arena), hex);
	return 0;
}

/* What the person leaves open: an operator that is not there is done without, where a plain Job does. */
static int kube_settle_kind(struct export_wish *wish, const struct kubernetes_site *site,
			    struct error *err)
{
	int kind = kube_kind(wish, err);
	bool knows = true;

	if (kind < 0)
		return -1;
	if (!wish->kind && kind == KIND_PYTORCHJOB) {
		if (kubernetes_knows(site, kube_kinds[kind], wish->arena, &knows, err) < 0)
			return -1;
		kind = knows ? kind : KIND_JOB;
	}
	wish->kind = kube_kinds[kind];
	return 0;
}

static int kube_check_run(const struct export_wish *wish, struct error *err)
{
	if (*wish->image)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"pods need an image that the cluster can pull; 'ringup up' or 'ringup push' puts it into the registry, and ringup.lock names it");
}

static int kube_submit(struct export_wish *wish, const char *folder, const char **id,
		       struct error *err)
{
	struct export_files files = {0};
	struct kubernetes_site site;
	const char *path = arena_printf(wish->arena, "%s/job.yaml", folder);
	bool has_secret;

	if (kubernetes_site(export_value(&exporter_kubernetes, wish, "context"),
			    export_value(&exporter_kubernetes, wish, "namespace"), wish->arena,
			    &site, err) < 0 ||
	    kube_name(wish, err) < 0 || kube_settle_kind(wish, &site, err) < 0 ||
	    kube_write(wish, &files, err) < 0 ||
	    file_write(path, files.list[0].text, strlen(files.list[0].text), 0600, err) < 0)
		return -1;
	has_secret = wish->is_worker && wish->world > 1 && strcmp(wish->kind, "mpijob") != 0;
	return kubernetes_submit(&site, wish->kind, wish->job.name, kube_roles(wish), has_secret,
				 folder, wish->arena, id, err);
}

static int kube_look(const struct export_wish *wish, struct scheduler_overview *overview,
		     struct error *err)
{
	struct kubernetes_site site;

	return export_check_look(wish, WORDS("context", "namespace"), err) < 0 ||
			       kubernetes_site(
				       export_value(&exporter_kubernetes, wish, "context"),
				       export_value(&exporter_kubernetes, wish, "namespace"),
				       wish->arena, &site, err) < 0
		       ? -1
		       : kubernetes_look(&site, wish->arena, overview, err);
}

const struct exporter exporter_kubernetes = {
	.name = "kubernetes",
	.help = "Kubeflow's jobs, or an Indexed Job where no operator is installed",
	.kinds = kube_kinds,
	.settings = kube_settings,
	.needs_image = true,
	.write = kube_write,
	.check_run = kube_check_run,
	.submit = kube_submit,
	.look = kube_look,
	.scheduler = &scheduler_kubernetes,
};
