/* SPDX-License-Identifier: MIT */
/* A training job: what its hosts have, where the ranks go, and what each launcher starts. */
#include "tests/unit/deployer/fleet_support.h"

#include "core/proc.h"
#include "deployer/job/versions.h"
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/mpirun.h"

#define HOSTS                                                                                      \
	"name: lab\nhosts: [{address: 10.0.0.1, name: a, slots: 4}, {address: 10.0.0.2, name: b, " \
	"slots: 1}, {address: 10.0.0.3, name: c}]\ncontainer: {engine: docker}\n"
#define BARE "name: lab\nhosts: [{address: 10.0.0.1, name: a}]\ncontainer: {engine: none}\n"

/* A plan of hosts that have said their facts. */
static struct job_plan *make_plan(struct scratch *s, const char *yaml, struct job_options *options)
{
	static const char *const command[] = {"python3", "train.py", NULL};
	struct fleet *fleet = make_fleet(s, yaml);
	struct job_plan *plan = ARENA_NEW(&s->arena, struct job_plan);

	options->command = command;
	*plan = (struct job_plan){.options = options, .arena = &s->arena, .id = "f00d"};
	plan->hosts = ARENA_ARRAY(&s->arena, fleet->count, struct job_host);
	plan->host_count = fleet->count;
	for (size_t i = 0; i < fleet->count; i++) {
		struct job_host *host = &plan->hosts[i];

		*host = (struct job_host){.member = &fleet->members[i],
					  .rdma = WORDS_INIT(&s->arena),
					  .machine = "",
					  .cores = 8,
					  .gpus = i == 2 ? 4 : 0,
					  .interface = "eth0",
					  .network = "10.0.0.0/24",
					  .ports = WORDS_INIT(&s->arena)};
		for (int k = 0; k < 4; k++)
			words_addf(&host->ports, "%d", 20000 + 100 * (int)i + k);
	}
	return plan;
}

/* A host's answer: a line "NAME=VERSION", and its end unless it never comes. */
static void versions_say(struct job_versions *versions, const struct job_host *host,
			 const char *said)
{
	struct job_event event = {.kind = JOB_EVENT_OUTPUT, .is_whole = true};
	char line[4096];

	if (!said)
		return;
	snprintf(line, sizeof(line), "%s", said);
	event.text = line;
	job_versions_hear(versions, host, &event);
	event = (struct job_event){.kind = JOB_EVENT_EXIT};
	job_versions_hear(versions, host, &event);
}

#define SAME "; install the same on all, or give --mixed-versions"

static char versions_long_line[3000];

static void test_versions(void **state)
{
	static const struct {
		const char *said[3]; /* NULL: no answer in time */
		const char *expected;
	} cases[] = {
		{{"torch=2.4.0", "torch=2.4.0", "torch=2.4.0"}, NULL},
		{{"torch=2.4.0", "torch=2.3.0", "torch=2.4.0"},
		 "the hosts do not have the same torch: 2.4.0 on a, c; 2.3.0 on b" SAME},
		{{"torch=2.4.0", "horovod=0.28.1", "torch=2.4.0"},
		 "the hosts do not have the same torch: 2.4.0 on a, c; none on b" SAME},
		{{"torch=2.4.0", NULL, "torch=2.4.0"}, NULL},
		{{NULL, "torch=2.4.0", "torch=2.3.0"},
		 "the hosts do not have the same torch: 2.4.0 on b; 2.3.0 on c" SAME},
		/* not of the script: no name, or longer than a version is */
		{{"torch=2.4.0", "hello", "torch=2.4.0"},
		 "the hosts do not have the same torch: 2.4.0 on a, c; none on b" SAME},
		{{versions_long_line, "hello", "hello"}, NULL},
		{{"torch=1\x1b[2J", "torch=1", "torch=1"},
		 "the hosts do not have the same torch: 1?[2J on a; 1 on b, c" SAME},
	};

	memset(versions_long_line, '=', sizeof(versions_long_line) - 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct launcher launcher = {.name = "env"};
		struct job_options options = {.launcher = &launcher};
		struct job_plan *plan = make_plan(*state, HOSTS, &options);
		struct job_versions *versions = job_versions_new(plan);
		const char *differs;
		bool all = true;

		for (size_t k = 0; k < 3; k++) {
			versions_say(versions, &plan->hosts[k], cases[i].said[k]);
			all = all && cases[i].said[k];
		}
		assert_int_equal(job_versions_are_known(versions, 1), all);
		assert_int_equal(job_versions_silent(versions) != NULL, !all);
		assert_true(job_versions_are_known(versions, 20000000));
		differs = job_versions_differ(versions);
		if (cases[i].expected)
			assert_string_equal(differs, cases[i].expected);
		else
			assert_null(differs);
	}
}

/* Hosts without containers are to have what the lock names; what a job does not load may be missing. */
static void test_versions_of_lock(void **state)
{
	static const struct {
		const char *said, *expected; /* `expected` NULL: the job may begin */
		bool mixed;
	} cases[] = {
		{"torch=2.4.0+cpu", NULL, false},
		{"horovod=0.28.1", NULL, false},
		{"torch=2.1.0",
		 "a has torch 2.1.0, where ringup.lock has 2.4.0; the script of 'ringup recipe --format script' "
		 "installs the lock's, and --mixed-versions runs with what is there",
		 false},
		{NULL, NULL, true},
	};
	struct plan lock = {.count = 1, .choices = {{.name = "torch", .version = "2.4.0"}}};

	source_root(*state);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct launcher launcher = {.name = "env"};
		struct job_options options = {
			.launcher = &launcher, .lock = &lock, .mixed_versions = cases[i].mixed};
		struct job_plan *plan = make_plan(*state, BARE, &options);
		struct job_versions *versions = job_versions_new(plan);
		_cleanup_(str_release) struct str out = STR_INIT;
		struct error err = {0};

		assert_int_equal(job_versions_ask(versions, &plan->hosts[0], &out, &err), 0);
		assert_int_equal(out.length > 0, !cases[i].mixed);
		assert_int_equal(job_versions_are_known(versions, 1), cases[i].mixed);
		versions_say(versions, &plan->hosts[0], cases[i].said);
		assert_true(job_versions_are_known(versions, 2));
		if (cases[i].expected)
			assert_string_equal(job_versions_differ(versions), cases[i].expected);
		else
			assert_null(job_versions_differ(versions));
	}
}

/* Which Python is asked: the one that the command names. */
static void test_versions_python(void **state)
{
	static const struct {
		const char *word, *expected;
	} cases[] = {
		{"/venv/bin/python3.11", "/venv/bin/python3.11"},
		{"cd /code && python train.py", "python"},
		{"true", ""},
		{"pythonista", ""},
	};

	source_root(*state);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct launcher launcher = {.name = "env"};
		struct job_options options = {.launcher = &launcher};
		struct job_plan *plan = make_plan(*state, HOSTS, &options);
		_cleanup_(str_release) struct str out = STR_INIT;
		struct error err = {0};

		options.command = WORDS(cases[i].word);
		assert_fine(job_versions_ask(job_versions_new(plan), plan->hosts, &out, &err));
		assert_non_null(strstr(out.text, "task v\nword sh\nword -c\n"));
		/* behind the script: its name, the Python, MPI, GPUs */
		assert_non_null(
			strstr(out.text, arena_printf(plan->arena, "\nword %s\nword \nword 0\n",
						      cases[i].expected)));
	}
}

/*
 * Ranks yield where their machine has more of them than cores, also when a lab shares it among hosts. Those of such
 * hosts do not take each other's memory for their own host's.
 */
static void test_crowded(void **state)
{
	static const struct {
		const char *machines[3];
		int per_host;
		bool yields, only_tcp;
	} cases[] = {
		{{"m", "m", "m"}, 2, false, true}, /* 6 ranks, 8 cores */
		{{"m", "m", "m"}, 3, true, true},  /* 9 ranks */
		{{"m", "n", "m"}, 3, false, true}, /* 6 and 3 */
		{{"", "", ""}, 3, false, false},   /* nobody says: each has its own */
		{{"m", "n", "o"}, 9, true, false},
	};
	static const char *const told[] = {"A=b", "OMPI_MCA_btl=^openib", NULL};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct job_options options = {.per_host = cases[i].per_host};
		struct job_plan *plan = make_plan(*state, HOSTS, &options);
		struct words env = WORDS_INIT(plan->arena);
		struct error err = {0};

		for (size_t k = 0; k < 3; k++)
			plan->hosts[k].machine = cases[i].machines[k];
		assert_fine(job_plan_ranks(plan, &err));
		mpirun_add_env(plan, &env);
		assert_int_equal(strstr(words_join(&env, " "), "yield_when_idle=1") != NULL,
				 cases[i].yields);
		assert_int_equal(count_word(env.list, "OMPI_MCA_btl=self,tcp"), cases[i].only_tcp);
		options.env = told;
		env = (struct words)WORDS_INIT(plan->arena);
		mpirun_add_env(plan, &env);
		assert_int_equal(count_word(env.list, "OMPI_MCA_btl=self,tcp"), 0);
	}
}

static void test_ranks(void **state)
{
	static const struct {
		int ranks, per_host, gpus;
		int expected[3];
	} cases[] = {
		{0, 0, 0, {4, 1, 4}}, /* slots, slots, one per GPU */
		{5, 0, 0, {4, 1, 0}}, {3, 0, 0, {3, 0, 0}}, {0, 2, 0, {2, 2, 2}},
		{3, 2, 0, {2, 1, 0}}, {0, 0, 2, {4, 1, 2}}, /* two GPUs for each rank */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct job_options options = {.ranks = cases[i].ranks,
					      .per_host = cases[i].per_host,
					      .gpus = cases[i].gpus};
		struct job_plan *plan = make_plan(*state, HOSTS, &options);
		struct error err = {0};
		int world = 0;

		assert_fine(job_plan_ranks(plan, &err));
		for (size_t k = 0; k < 3; k++) {
			int ranks = k < plan->host_count ? plan->hosts[k].ranks : 0;

			assert_int_equal(ranks, cases[i].expected[k]);
			if (!ranks)
				continue;
			assert_int_equal(plan->hosts[k].first_rank, world);
			assert_ptr_equal(job_host_of(plan, world + ranks - 1), &plan->hosts[k]);
			world += ranks;
		}
		assert_int_equal(plan->world, world);
		assert_null(job_host_of(plan, world));
	}
}

static void test_too_many_ranks(void **state)
{
	struct job_options options = {.ranks = 10};
	struct job_plan *plan = make_plan(*state, HOSTS, &options);
	struct error err = {0};

	assert_int_equal(job_plan_ranks(plan, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_has(err.text, "-n 10");
	assert_has(err.text, "(9)");
}

/* Ranks that see GPUs of their own never share one. A host that shows none may have them all the same. */
static void test_too_many_gpus(void **state)
{
	struct job_options options = {.per_host = 3, .gpus = 2};
	struct job_plan *plan = make_plan(*state, HOSTS, &options);
	struct error err = {0};

	assert_fails(job_plan_ranks(plan, &err), ERROR_USAGE,
		     "c: 3 ranks with 2 GPUs each take 6, and it has 4");
}

static const char *joined(struct scratch *s, const char *const *list)
{
	struct words words = WORDS_INIT(&s->arena);

	words_add_all(&words, list);
	return words_join(&words, " ");
}

static void test_defaults(void **state)
{
	struct job_options options = {0};
	struct job_plan *plan = make_plan(*state, HOSTS, &options);
	struct error err = {0};

	assert_fine(job_plan_ranks(plan, &err));
	assert_string_equal(
		joined(*state, job_host_defaults(plan, &plan->hosts[0])),
		"PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1 OMP_NUM_THREADS=2 NCCL_SOCKET_IFNAME==eth0 GLOO_SOCKET_IFNAME=eth0 TP_SOCKET_IFNAME=eth0 HOROVOD_GLOO_IFACE=eth0 UCX_NET_DEVICES=eth0");
	words_add(&plan->hosts[0].rdma, "mlx5_0:1");
	words_add(&plan->hosts[0].rdma, "mlx5_1:1");
	assert_non_null(strstr(joined(*state, job_host_defaults(plan, &plan->hosts[0])),
			       " UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1,eth0"));
	plan->hosts[0].interface = "lo";
	assert_null(strstr(joined(*state, job_host_defaults(plan, &plan->hosts[0])), "UCX_NET"));
	plan->hosts[0].interface = "";
	plan->hosts[0].cores = 1;
	assert_string_equal(joined(*state, job_host_defaults(plan, &plan->hosts[0])),
			    "PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1 OMP_NUM_THREADS=1");
}

/* Without a container, the ranks see the GPUs that `gpus` names; in one, the engine has numbered them from 0. */
static void test_gpus_of_bare_hosts(void **state)
{
	static const struct {
		const char *yaml, *all, *first, *second;
	} cases[] = {
		{"hosts: [{address: a, gpus: \"2,5\"}]\ncontainer: {engine: none}\n",
		 "CUDA_VISIBLE_DEVICES=2,5", "CUDA_VISIBLE_DEVICES=2", "CUDA_VISIBLE_DEVICES=5"},
		{"hosts: [{address: a, gpus: 2}]\ncontainer: {engine: none}\n",
		 "CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1"},
		{"hosts: [{address: a, gpus: \"2,5\"}]\ncontainer: {engine: docker}\n", NULL,
		 "CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch *s = *state;
		struct job_options options = {.gpus = 1, .command = WORDS("x")};
		struct fleet *fleet = make_fleet(s, cases[i].yaml);
		struct job_tasks tasks = {.arena = &s->arena};
		struct words first = WORDS_INIT(&s->arena), second = WORDS_INIT(&s->arena);
		struct job_plan plan;
		struct error err = {0};
		const char *defaults;

		assert_fine(job_plan_init(&plan, fleet, &options, &s->arena, &err));
		plan.hosts[0].gpus = cases[i].all ? 8 : 2;
		assert_fine(job_plan_ranks(&plan, &err));
		assert_int_equal(plan.world, 2);
		defaults = joined(s, job_host_defaults(&plan, &plan.hosts[0]));
		if (cases[i].all)
			assert_has(defaults, cases[i].all);
		else
			assert_lacks(defaults, "CUDA_VISIBLE_DEVICES");
		job_add_rank_task(&plan, &plan.hosts[0], 0, &first, &tasks);
		job_add_rank_task(&plan, &plan.hosts[0], 1, &second, &tasks);
		assert_string_equal(joined(s, first.list), cases[i].first);
		assert_string_equal(joined(s, second.list), cases[i].second);
	}
}

/* A GPU that is gone is named; what is not counted by indexes, or hidden, is not judged. */
static void test_gone_gpus_of_bare_hosts(void **state)
{
	static const struct {
		const char *gpus;
		int has;
		const char *gone;
	} cases[] = {
		{"8", 7, "the GPU 7 of 'gpus' is not there: it has 7"},
		{"1,6,7", 7, "the GPU 7 of 'gpus' is not there"},
		{"device=2", 2, "the GPU 2 of 'gpus' is not there"},
		{"0:9", 1, NULL},
		{"GPU-1234abcd", 1, NULL},
		{"all", 7, NULL},
		{"8", 8, NULL},
		{"8", 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch *s = *state;
		struct job_options options = {.command = WORDS("x")};
		struct fleet *fleet = make_fleet(
			s,
			arena_printf(
				&s->arena,
				"hosts: [{address: a, gpus: \"%s\"}]\ncontainer: {engine: none}\n",
				cases[i].gpus));
		struct job_plan plan;
		struct error err = {0};

		assert_fine(job_plan_init(&plan, fleet, &options, &s->arena, &err));
		plan.hosts[0].gpus = cases[i].has;
		if (!cases[i].gone) {
			assert_fine(job_plan_ranks(&plan, &err));
			continue;
		}
		assert_int_equal(job_plan_ranks(&plan, &err), -1);
		assert_has(err.text, cases[i].gone);
		assert_int_equal(err.kind, ERROR_PARTIAL);
	}
}

/* What a launcher starts on one host: a line per task, its environment first. */
static const char *tasks_with(struct scratch *s, const char *yaml, const char *launcher,
			      size_t host, int gpus)
{
	struct job_options options = {.per_host = 2, .gpus = gpus};
	struct job_plan *plan = make_plan(s, yaml, &options);
	struct job_tasks tasks = {.arena = &s->arena};
	_cleanup_(str_release) struct str text = STR_INIT;
	struct error err = {0};

	assert_fine(launcher_find_for_job(launcher, &(struct launcher_wish){0}, &options.launcher,
					  &err));
	assert_fine(job_plan_ranks(plan, &err));
	assert_fine(options.launcher->tasks(plan, &plan->hosts[host], &tasks, &err));
	for (size_t i = 0; i < tasks.count; i++)
		str_addf(&text, "%s: %s%s%s\n", tasks.list[i].label, joined(s, tasks.list[i].env),
			 *tasks.list[i].env ? " " : "", joined(s, tasks.list[i].words));
	return arena_strdup(&s->arena, text.text);
}

static const char *tasks_of(struct scratch *s, const char *yaml, const char *launcher, size_t host)
{
	return tasks_with(s, yaml, launcher, host, 1);
}

/* The words that mpirun starts as a rank, run: what the rank sees of the GPUs that its host was given. */
static void test_own_gpus(void **state)
{
	static const struct {
		const char *place, *given, *seen; /* `seen` NULL: it does not begin */
	} cases[] = {
		{"OMPI_COMM_WORLD_LOCAL_RANK=0", "GPU-a,GPU-b,GPU-c,GPU-d", "GPU-a,GPU-b"},
		{"OMPI_COMM_WORLD_LOCAL_RANK=1", "GPU-a,GPU-b,GPU-c,GPU-d", "GPU-c,GPU-d"},
		{"MPI_LOCALRANKID=1", "7,5,2,3", "2,3"},
		{"HOROVOD_LOCAL_RANK=0", "4,9", "4,9"},
		{"OMPI_COMM_WORLD_LOCAL_RANK=1", "4,9,1", NULL},
		{"MPI_LOCALRANKID=0", "", NULL},
		{"NOTHING=0", "4,9", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch *s = *state;
		struct job_options options = {.per_host = 2, .gpus = 2};
		struct job_plan *plan = make_plan(s, HOSTS, &options);
		struct words all = WORDS_INIT(&s->arena), words = WORDS_INIT(&s->arena);
		const char *const *rank;
		struct proc_result result;
		struct error err = {0};

		options.command =
			WORDS("sh", "-c", "echo \"$CUDA_VISIBLE_DEVICES $1\"", "x", "b  c");
		mpirun_add_rank_words(plan, &plan->hosts[0], &all);
		for (rank = all.list; strcmp(*rank, "--") != 0;)
			rank++;
		words_add_all(&words,
			      WORDS("env", "-u", "OMPI_COMM_WORLD_LOCAL_RANK", cases[i].place));
		words_addf(&words, "CUDA_VISIBLE_DEVICES=%s", cases[i].given);
		words_add_all(&words, rank + 1);
		assert_fine(proc_run(&(struct proc){.words = words.list}, &result, &err));
		assert_int_equal(result.status != 0, !cases[i].seen);
		if (cases[i].seen)
			assert_string_equal(result.out.text,
					    arena_printf(&s->arena, "%s b  c\n", cases[i].seen));
		else
			assert_has(result.err.text, "has no 2 GPUs of its own");
		proc_result_release(&result);
	}
}

static void test_tasks(void **state)
{
	assert_string_equal(
		tasks_of(*state, HOSTS, "env", 1),
		"2: RANK=2 WORLD_SIZE=6 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 NODE_RANK=1 MASTER_ADDR=10.0.0.1 MASTER_PORT=20000 CUDA_VISIBLE_DEVICES=0 python3 train.py\n"
		"3: RANK=3 WORLD_SIZE=6 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 NODE_RANK=1 MASTER_ADDR=10.0.0.1 MASTER_PORT=20000 CUDA_VISIBLE_DEVICES=1 python3 train.py\n");
	assert_has(tasks_of(*state, HOSTS, "mpirun", 0), "; exec \"$@\" rank 1 python3 train.py\n");
	assert_has(tasks_of(*state, HOSTS, "horovodrun", 0),
		   "; exec \"$@\" rank 1 python3 train.py\n");
	assert_string_equal(
		tasks_with(*state, HOSTS, "mpirun", 0, 0),
		"t0: OMPI_MCA_rmaps_base_mapping_policy=slot PRTE_MCA_rmaps_default_mapping_policy=slot OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_plm_rsh_no_tree_spawn=1 PRTE_MCA_plm_ssh_no_tree_spawn=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma HYDRA_LAUNCHER=ssh OMPI_MCA_btl_tcp_if_include=10.0.0.0/24 OMPI_MCA_oob_tcp_if_include=10.0.0.0/24 PRTE_MCA_prte_if_include=10.0.0.0/24 HYDRA_IFACE=eth0 sh -c case $(mpirun --version 2>&1) in *'Open MPI'*) set -- --allow-run-as-root \"$@\" ;; esac\nexec mpirun \"$@\" mpirun -np 6 --host 10.0.0.1:2,10.0.0.2:2,10.0.0.3:2 ringup-job rank --id f00d -- python3 train.py\n");
	assert_string_equal(tasks_of(*state, HOSTS, "mpirun", 1), "");
	assert_has(
		tasks_with(*state, HOSTS, "horovodrun", 0, 0),
		" HYDRA_IFACE=eth0 horovodrun -np 6 -H 10.0.0.1:2,10.0.0.2:2,10.0.0.3:2 --disable-cache --network-interfaces eth0 ringup-job rank --id f00d -- python3 train.py\n");
	assert_string_equal(tasks_of(*state, HOSTS, "horovodrun", 2), "");
	assert_has(tasks_of(*state, HOSTS, "horovodrun-gloo", 0),
		   " --network-interfaces eth0 --gloo ringup-job rank --id f00d -- ");
	assert_has(
		tasks_of(*state, BARE, "horovodrun-gloo", 0),
		" -H 10.0.0.1:2 --disable-cache --gloo /var/lib/ringup/lab/bin/ringup-job rank ");
	assert_string_equal(
		tasks_of(*state, HOSTS, "torchrun", 1),
		"t0: PYTHONUNBUFFERED=1 PET_LOCAL_ADDR=10.0.0.2 torchrun --nnodes=3 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_id=f00d --rdzv_endpoint=10.0.0.1:20000 --rdzv_conf=is_host=0 --redirects=1 --tee=1 --no_python ringup-job rank --id f00d --address 10.0.0.2 -- python3 train.py\n");
	assert_has(tasks_of(*state, BARE, "torchrun", 0),
		   " /var/lib/ringup/lab/bin/ringup-job rank ");
	assert_has(
		tasks_of(*state, HOSTS, "tf", 2),
		"5: TF_CONFIG={\"cluster\":{\"worker\":[\"10.0.0.1:20000\",\"10.0.0.1:20001\",\"10.0.0.2:20100\",\"10.0.0.2:20101\",\"10.0.0.3:20200\",\"10.0.0.3:20201\"]},\"task\":{\"type\":\"worker\",\"index\":5}} no_proxy=localhost,127.0.0.1,10.0.0.1,10.0.0.2,10.0.0.3 ");
}

/* The task that `tf` makes for each rank of a job with roles, all hosts in turn. */
static struct job_tasks role_tasks(struct scratch *s, const char *text)
{
	struct job_options *options = ARENA_NEW(&s->arena, struct job_options);
	struct job_roles *roles = ARENA_NEW(&s->arena, struct job_roles);
	struct job_plan *plan = make_plan(s, HOSTS, options);
	struct job_tasks tasks = {.arena = &s->arena};
	struct error err = {0};

	assert_fine(launcher_find_for_job("auto", &(struct launcher_wish){.has_roles = true},
					  &options->launcher, &err));
	assert_fine(job_roles_parse(text, options->launcher->roles, &s->arena, roles, &err));
	options->roles = roles;
	options->ranks = roles->ranks;
	options->per_host = 2;
	assert_fine(job_plan_ranks(plan, &err));
	for (size_t i = 0; i < plan->host_count; i++)
		assert_fine(options->launcher->tasks(plan, &plan->hosts[i], &tasks, &err));
	return tasks;
}

static void test_roles(void **state)
{
	struct job_tasks t = role_tasks(*state, "chief=1,worker=2,ps=1,evaluator=1");
	static const char cluster[] =
		"TF_CONFIG={\"cluster\":{\"chief\":[\"10.0.0.1:20000\"],\"worker\":[\"10.0.0.1:20001\",\"10.0.0.2:20100\"],\"ps\":[\"10.0.0.2:20101\"]},\"task\":";

	assert_int_equal(t.count, 5);
	for (size_t i = 0; i < t.count; i++) {
		assert_has(t.list[i].env[0], cluster);
		assert_int_equal(job_label_rank(t.list[i].label), i);
		assert_int_equal(t.list[i].serves, i != 0);
		assert_int_equal(t.list[i].grace_s > 0, i != 0 && i != 3);
		assert_int_equal(count_word(t.list[i].env, "CUDA_VISIBLE_DEVICES=-1"), i == 3);
	}
	assert_has(t.list[0].env[0], "{\"type\":\"chief\",\"index\":0},\"environment\":\"cloud\"}");
	assert_has(t.list[2].env[0],
		   "{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}");
	assert_has(t.list[3].env[0], "{\"type\":\"ps\",\"index\":0},");
	assert_has(t.list[4].env[0], "{\"type\":\"evaluator\",\"index\":0},");
	/* without a chief the workers are who the job waits for, and worker 0 is the chief of TF 1.x */
	t = role_tasks(*state, "worker=1,ps=1,worker=1,ps=1");
	assert_true(!t.list[0].serves && t.list[1].serves && !t.list[2].serves && t.list[3].serves);
	assert_has(
		t.list[3].env[0],
		"{\"worker\":[\"10.0.0.1:20000\",\"10.0.0.2:20100\"],\"ps\":[\"10.0.0.1:20001\",\"10.0.0.2:20101\"]},\"task\":{\"type\":\"ps\",\"index\":1}}");
	/* nor do they serve without a parameter server */
	t = role_tasks(*state, "master=1,worker=1");
	assert_true(!t.list[0].serves && !t.list[1].serves);
	assert_has(t.list[0].env[0], "{\"master\":[\"10.0.0.1:20000\"],\"worker\":");
}

static void test_no_roles(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "'' is no ROLE=NUMBER"},
		{"chief", "'chief' is no ROLE=NUMBER"},
		{"worker=2,boss=1",
		 "'boss=1' is no ROLE=NUMBER; the roles are chief, master, worker, ps, evaluator"},
		{"work=2", "the roles are"},
		{"worker=0", "'worker=0'"},
		{"worker=-1", "'worker=-1'"},
		{"worker=1x", "'worker=1x'"},
		{"worker=99999999999", "'worker=99999999999'"},
		{"worker=999999,ps=999999", "'ps=999999'"},
		{"worker=1,", "'' is no"},
		{"chief=2", "at most 1 rank with the role 'chief'"},
		{"chief=1,worker=1,chief=1", "at most 1 rank with the role 'chief'"},
		{"ps=1,evaluator=1", "would never end"},
		{"master=1,worker=1,chief=1", "'chief' and 'master' mean the same role"},
	};
	struct scratch *s = *state;
	const struct launcher *tf, *env;
	struct job_roles roles;
	struct error err = {0};

	assert_fine(
		launcher_find_for_job("tf", &(struct launcher_wish){.has_roles = true}, &tf, &err));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		err = (struct error){0};
		assert_fails(job_roles_parse(cases[i].text, tf->roles, &s->arena, &roles, &err),
			     ERROR_USAGE, cases[i].says);
	}
	err = (struct error){0};
	assert_fails(launcher_find_for_job("env", &(struct launcher_wish){.has_roles = true}, &env,
					   &err),
		     ERROR_USAGE, "the launcher 'env' knows no roles");
	assert_has(err.text, "take --launcher tf");
}

/* `auto`: by what the stack trains with. */
static void test_auto(void **state)
{
	static const struct {
		const char *component;
		const char *expected;
	} cases[] = {{"torch", "env"}, {"tensorflow", "tf"}, {"horovod", "mpirun"}};
	const struct launcher *launcher;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plan plan = {.count = 1, .choices = {{.name = cases[i].component}}};

		assert_fine(launcher_find_for_job("auto", &(struct launcher_wish){.plan = &plan},
						  &launcher, &err));
		assert_string_equal(launcher->name, cases[i].expected);
	}
	assert_fine(launcher_find_for_job("auto", &(struct launcher_wish){0}, &launcher, &err));
	assert_string_equal(launcher->name, "env");
	assert_fine(launcher_find_for_job("ssh", &(struct launcher_wish){0}, &launcher, &err));
	assert_int_equal(launcher_find_for_job("rsh", &(struct launcher_wish){0}, &launcher, &err),
			 -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_has(err.text, "mpirun");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_versions),
		FLEET_TEST(test_crowded),
		FLEET_TEST(test_versions_of_lock),
		FLEET_TEST(test_versions_python),
		FLEET_TEST(test_ranks),
		FLEET_TEST(test_too_many_ranks),
		FLEET_TEST(test_too_many_gpus),
		FLEET_TEST(test_gpus_of_bare_hosts),
		FLEET_TEST(test_gone_gpus_of_bare_hosts),
		FLEET_TEST(test_defaults),
		FLEET_TEST(test_own_gpus),
		FLEET_TEST(test_tasks),
		FLEET_TEST(test_roles),
		FLEET_TEST(test_no_roles),
		FLEET_TEST(test_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
