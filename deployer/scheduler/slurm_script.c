/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_script.h"

#include "core/quote.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/slurm_image.h"
#include "deployer/scheduler/slurm_settings.h"
#include "deployer/scheduler/slurm_stack.h"

#include <stdlib.h>
#include <string.h>

/* They stand in words for what the shell of a task puts there. No other word may have these characters. */
#define MARK_RANK "\001"
#define MARK_ADDRESS "\002"
#define MARK_PORT "\003"
#define MARK_ID "\004"
#define MARK_NODES "\005"
#define MARK_WORLD "\006"
#define MARKS MARK_RANK MARK_ADDRESS MARK_PORT MARK_ID MARK_NODES MARK_WORLD

/* A script at work. */
struct script {
	const struct exporter *exporter;
	const struct export_wish *wish;
	const struct slurm_follow *follow;
	const char *container; /* pyxis, apptainer or none */
	struct str *out;
};

static const char *script_setting(const struct script *s, const char *name)
{
	return export_value(s->exporter, s->wish, name);
}

static bool script_says(const struct script *s, const char *name)
{
	return strcmp(script_setting(s, name), "yes") == 0;
}

bool slurm_script_starts_nodes(const struct export_wish *wish)
{
	return wish->job.launcher->place == PLACE_NODE;
}

static int script_check_words(const struct export_wish *wish, struct error *err)
{
	const struct launcher *launcher = wish->job.launcher;

	for (const char *const *word = wish->job.command; *word; word++)
		if (strpbrk(*word, MARKS))
			return error_set(err, ERROR_USAGE,
					 "a word of the command has a control character");
	if (launcher->place == PLACE_NONE || wish->job.roles)
		return error_set(
			err, ERROR_USAGE,
			"%s'%s' cannot be started by srun; take --launcher env, torchrun, deepspeed, accelerate, or one of MPI",
			wish->job.roles ? "roles of " : "the launcher ", launcher->name);
	if (launcher->place == PLACE_NODE && wish->world != wish->nodes * wish->per_node)
		return error_set(
			err, ERROR_USAGE,
			"%d ranks on %d nodes with up to %d each: %s has as many on every node; choose -n, --nodes and --ppn so",
			wish->world, wish->nodes, wish->per_node, launcher->name);
	return 0;
}

static void script_add_option(const struct script *s, const char *name)
{
	const char *value = script_setting(s, name);

	if (*value)
		str_addf(s->out, "#SBATCH --%s=%s\n", name, value);
}

/* In names of output files '%' and '\\' are sbatch's own (sbatch(1), "filename pattern"). */
static const char *script_pattern(const struct script *s, const char *path)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (; *path; path++)
		str_addf(&out, *path == '%' ? "%c%%" : "%c", *path);
	return arena_strdup(s->wish->arena, out.text);
}

/* Adds an option with one of the files that are followed. */
static void script_add_file(const struct script *s, const char *option, const char *name)
{
	str_add(s->out, option);
	quote_word(s->out, arena_printf(s->wish->arena, "%s/%s",
					script_pattern(s, s->follow->folder), name));
}

/* Slurm before 19.05 knows --gres alone, and of two --gres the later one counts. */
static void script_add_gpus(const struct script *s)
{
	const char *type = script_setting(s, "gpu-type"), *option = script_setting(s, "gpu-option");
	const char *gres = script_setting(s, "gres");
	bool is_gres = strcmp(option, "gres") == 0;
	const char *gpus = arena_printf(s->wish->arena, "%s%s%d", type, *type ? ":" : "",
					s->wish->gpus_per_node);

	if (!s->wish->gpus_per_node || strcmp(option, "none") == 0)
		gpus = "";
	if (*gpus && !is_gres)
		str_addf(s->out, "#SBATCH --gpus-per-node=%s\n", gpus);
	if ((*gpus && is_gres) || *gres)
		str_addf(s->out, "#SBATCH --gres=%s%s%s%s\n", *gpus && is_gres ? "gpu:" : "",
			 is_gres ? gpus : "", *gpus && is_gres && *gres ? "," : "", gres);
}

/* Slurm may give nodes other numbers of ranks than --ppn where the ranks do not fill them (sbatch(1), --distribution). */
static bool script_is_uneven(const struct script *s)
{
	return s->wish->world != s->wish->nodes * s->wish->per_node;
}

/* "64g" of Docker is "64G" of sbatch, which counts in 1024s, too. */
static const char *script_memory(const struct script *s)
{
	const char *wanted = s->wish->cluster->container.memory;
	uint64_t bytes;

	if (!parse_bytes(wanted, &bytes) || *script_setting(s, "mem") ||
	    *script_setting(s, "mem-per-gpu") || *script_setting(s, "mem-per-cpu"))
		return "";
	/* rounded up: 0 would be all */
	return arena_printf(s->wish->arena, "#SBATCH --mem=%lluM\n",
			    (unsigned long long)((bytes + MIB - 1) / MIB));
}

/* CPUs of each task: what the setting says, else a share of container.cpus; "" where neither says it. */
static const char *script_cpus(const struct script *s)
{
	const struct export_wish *wish = s->wish;
	int tasks = slurm_script_starts_nodes(wish) ? 1 : wish->per_node;
	double cpus = strtod(wish->cluster->container.cpus, NULL) / tasks;

	if (*script_setting(s, "cpus-per-task") || cpus <= 0 || *script_setting(s, "cpus-per-gpu"))
		return script_setting(s, "cpus-per-task");
	return arena_printf(wish->arena, "%d", cpus < 1 ? 1 : (int)cpus);
}

static void script_add_cpus(const struct script *s)
{
	const char *cpus = script_cpus(s);

	if (*cpus)
		str_addf(s->out, "#SBATCH --cpus-per-task=%s\n", cpus);
	else if (!*script_setting(s, "cpus-per-gpu"))
		str_add(s->out,
			"# Slurm gives a task one CPU; container.cpus, or --set cpus-per-task=N, gives it more.\n");
}

/* What TERM leaves the ranks is the site's KillWait; only before the limit of time can a job have more. */
static void script_add_grace(const struct script *s)
{
	int grace_s = s->wish->job.grace_s;

	if (grace_s > 0 && !*script_setting(s, "signal"))
		str_addf(
			s->out,
			"# The job's grace (%d s) is not Slurm's: KillWait of slurm.conf is. --set signal=TERM@%d comes before the limit.\n",
			grace_s, grace_s);
}

/* (the scripts behind `module` are not written for `set -u`) */
static void script_add_modules(const struct script *s)
{
	char *modules = arena_strdup(s->wish->arena, script_setting(s, "modules"));

	if (!*modules)
		return;
	for (char *c = modules; *c; c++)
		if (*c == ',')
			*c = ' ';
	str_addf(s->out, "module load %s || exit\n", modules);
}

static void script_add_head(const struct script *s)
{
	const struct export_wish *wish = s->wish;

	str_addf(
		s->out,
		"#!/bin/bash\n"
		"# %s\n"
		"# The job '%s' of the cluster '%s': sbatch reads the lines below, then runs the rest on the first node.\n"
		"#SBATCH --job-name=%s\n"
		"#SBATCH --nodes=%d\n",
		wish->origin, wish->job.name, wish->cluster->name, wish->job.name, wish->nodes);
	if (script_is_uneven(s))
		str_addf(s->out,
			 "#SBATCH --ntasks=%d\n"
			 "# With --ntasks that is how many a node has at most.\n"
			 "#SBATCH --ntasks-per-node=%d\n",
			 wish->world, wish->per_node);
	else
		str_addf(s->out, "#SBATCH --ntasks-per-node=%d\n",
			 slurm_script_starts_nodes(wish) ? 1 : wish->per_node);
	script_add_gpus(s);
	for (const struct export_setting *set = slurm_settings; set->name; set++)
		if (slurm_setting_is_option(set->name))
			script_add_option(s, set->name);
	script_add_cpus(s);
	str_add(s->out, script_memory(s));
	if (script_says(s, "exclusive"))
		str_add(s->out, "#SBATCH --exclusive\n");
	else if (strcmp(script_setting(s, "exclusive"), "no") != 0)
		script_add_option(s, "exclusive");
	/* (a second start must not empty the file of the first) */
	str_add(s->out, !script_says(s, "requeue") ? "#SBATCH --no-requeue\n"
			: s->follow		   ? "#SBATCH --requeue\n"
				    : "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
	script_add_grace(s);
	if (s->follow) {
		script_add_file(s, "#SBATCH --open-mode=append\n#SBATCH --output=", "batch.log");
		str_add(s->out, "\n");
	}
	script_add_modules(s);
	str_add(s->out, "set -euo pipefail\n");
}

static void script_add_env(const struct script *s)
{
	const char *interface = script_setting(s, "interface");
	const char *cpus = script_cpus(s), *capabilities;
	const char *const *pairs = export_env(s->wish);
	bool is_image = strcmp(s->container, "none") != 0, is_other;

	/* a site, or --export=NONE, may keep the script's variables from srun's tasks (sbatch(1), --export) */
	str_add(s->out, "export SLURM_EXPORT_ENV=ALL\n");
	/* since Slurm 22.05 srun does not take it from sbatch (its release notes) */
	if (*cpus)
		str_addf(s->out, "export SRUN_CPUS_PER_TASK=%s\n", cpus);
	if (*interface)
		str_addf(s->out, "export NCCL_SOCKET_IFNAME=%s GLOO_SOCKET_IFNAME=%s\n", interface,
			 interface);
	capabilities = slurm_capabilities(s->wish, &is_other);
	if (*capabilities && strcmp(s->container, "pyxis") == 0) {
		str_add(s->out, "export ");
		quote_word(s->out, capabilities);
		str_add(s->out, " # for enroot's hook\n");
	}
	for (; *pairs && !is_image; pairs++) { /* else script_add_image_env */
		str_add(s->out, "export ");
		quote_word(s->out, *pairs);
		str_add(s->out, "\n");
	}
}

/* On hosts ringup's own supervisor sets them. What the shell that submits has, and pyxis' image, counts more. */
static void script_add_defaults(const struct script *s)
{
	static const char threads[] =
		"$((SLURM_CPUS_ON_NODE > ranks ? SLURM_CPUS_ON_NODE / ranks : 1))";
	const char *const *pairs = export_defaults(s->wish, threads);

	if (!*pairs)
		return;
	str_add(s->out,
		"\n# What every rank has unless something says otherwise: a share of its node's CPUs, too.\n");
	if (slurm_script_starts_nodes(s->wish))
		str_addf(s->out, "ranks=%d\n", s->wish->per_node);
	else
		str_add(s->out, "ranks=${SLURM_TASKS_PER_NODE%%[(,]*}\n");
	for (; *pairs; pairs++) {
		int name = (int)strcspn(*pairs, "=");

		str_addf(s->out, "export %.*s=${%.*s-%s}\n", name, *pairs, name, *pairs,
			 *pairs + name + 1);
	}
}

/* The worker proves by a secret that it may join: a new one each time, in a file of the job's own. */
static void script_add_secret(const struct script *s)
{
	if (!s->wish->is_worker)
		return;
	str_add(s->out, "\n# What the ranks prove to each other; it is in no log.\n"
			"umask 077\n");
	if (s->follow) {
		str_add(s->out, "RINGUP_SECRET_FILE=");
		quote_word(s->out, arena_printf(s->wish->arena, "%s/secret", s->follow->folder));
	} else {
		str_add(s->out, "RINGUP_SECRET_FILE=$PWD/secret.$SLURM_JOB_ID");
	}
	str_add(s->out,
		"\nexport RINGUP_SECRET_FILE\n"
		"head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \\n' >\"$RINGUP_SECRET_FILE\"\n");
}

static void script_add_end(const struct script *s)
{
	const char *secret = s->wish->is_worker ? "rm -f \"$RINGUP_SECRET_FILE\"; " : "";

	if (!s->follow) {
		if (*secret)
			str_addf(s->out, "trap 'rm -f \"$RINGUP_SECRET_FILE\"' EXIT\n");
		return;
	}
	str_add(s->out, "\n# For who follows the job where Slurm keeps no accounts.\nended=");
	quote_word(s->out, arena_printf(s->wish->arena, "%s/ended", s->follow->folder));
	str_addf(s->out, "\nrm -f \"$ended\"\ntrap 'status=$?; %secho $status >\"$ended\"' EXIT\n",
		 secret);
}

/* How many ranks Slurm gave each node: SLURM_TASKS_PER_NODE is as "2(x3),1". */
static void script_add_sizes(const struct script *s)
{
	if (script_is_uneven(s))
		str_add(s->out,
			"\n# How many ranks each node has.\n"
			"sizes=()\n"
			"for part in ${SLURM_TASKS_PER_NODE//,/ }; do\n"
			"\ttimes=${part#*x} times=${times%)}\n"
			"\t[[ $part == *x* ]] || times=1\n"
			"\tfor ((i = 0; i < times; i++)); do sizes+=(\"${part%(*}\"); done\n"
			"done\n"
			"export sizes_of_nodes=\"${sizes[*]}\"\n");
}

/* TF_CONFIG's list of workers: each task has its node and a port of its own. */
static void script_add_workers(const struct script *s)
{
	if (s->wish->job.launcher->place != PLACE_ROLES)
		return;
	str_addf(s->out,
		 "\n# TF_CONFIG names every worker: a node and a port.\n"
		 "workers=\n"
		 "rank=0%s\n"
		 "no_proxy=${no_proxy:-localhost} # a proxy would make gRPC wait for ever\n"
		 "for node in $(scontrol show hostnames \"$SLURM_JOB_NODELIST\"); do\n"
		 "\taddress=$(address \"$node\")\n"
		 "\tno_proxy+=,$address\n"
		 "\tfor ((i = 0; i < %s; i++, rank++)); do\n"
		 "\t\tworkers+=\"${workers:+,}\\\"$address:$((MASTER_PORT + rank))\\\"\"\n"
		 "\tdone\n"
		 "%s"
		 "done\n"
		 "export workers no_proxy no_grpc_proxy=$no_proxy\n",
		 script_is_uneven(s) ? " node_rank=0" : "",
		 script_is_uneven(s) ? "${sizes[node_rank]} && rank < SLURM_NTASKS"
				     : "SLURM_NTASKS_PER_NODE",
		 script_is_uneven(s) ? "\tnode_rank=$((node_rank + 1))\n" : "");
}

static void script_add_image(const struct script *s)
{
	const char *sif = slurm_sif(s->wish);
	bool is_http = s->wish->cluster->registry.insecure && slurm_has_own_registry(s->wish);

	slurm_add_registry(s->wish, s->container, s->out);
	if (strcmp(s->container, "apptainer") != 0)
		return;
	str_addf(
		s->out,
		"\n# One file for all nodes; a login is apptainer's own: apptainer registry login\n"
		"if ! [ -e %s ]; then\n"
		"\tapptainer pull%s %s.$SLURM_JOB_ID docker://%s\n"
		"\tmv %s.$SLURM_JOB_ID %s\n"
		"fi\n",
		sif, is_http ? " --no-https" : "", sif, s->wish->image, sif, sif);
}

/* What leads into the image, and to the folder there: words between those of srun and the command, as `where`. */
static bool script_has_where(const struct script *s)
{
	return strcmp(s->container, "none") != 0 || *s->wish->job.workdir;
}

static void script_add_pyxis(const struct script *s, const struct words *volumes)
{
	bool is_other;

	slurm_capabilities(s->wish, &is_other);
	str_addf(s->out, "\t--container-image=%s\n", slurm_enroot_image(s->wish));
	if (is_other)
		str_add(s->out, "\t--container-env=" SLURM_CAPABILITIES "\n");
	if (!volumes->count && !s->wish->is_worker)
		return;
	str_add(s->out, "\t--container-mounts=");
	if (volumes->count)
		quote_word(s->out, words_join(volumes, ","));
	if (s->wish->is_worker)
		str_addf(s->out, "%s\"${RINGUP_SECRET_FILE%%/*}:${RINGUP_SECRET_FILE%%/*}\"",
			 volumes->count ? "," : "");
	str_add(s->out, "\n");
}

static void script_add_apptainer(const struct script *s, const struct words *volumes)
{
	/* the user's home is there, and its ~/.local would come before the image's packages (apptainer.org, bind paths) */
	str_addf(s->out, "\tapptainer exec%s --env PYTHONNOUSERSITE=1\n",
		 s->wish->gpus_per_node ? " --nv" : "");
	for (size_t i = 0; i < volumes->count; i++) {
		str_add(s->out, "\t--bind ");
		quote_word(s->out, volumes->list[i]);
		str_add(s->out, "\n");
	}
	if (s->wish->is_worker)
		str_add(s->out, "\t--bind \"${RINGUP_SECRET_FILE%/*}\"\n");
}

/*
 * Inside of the image, where the image's own variables would win over exported ones: with pyxis all of them
 * (github.com/NVIDIA/pyxis, --container-env), with Apptainer PATH and LD_LIBRARY_PATH.
 */
static void script_add_image_env(const struct script *s)
{
	const char *const *pairs = export_env(s->wish);

	if (!*pairs)
		return;
	str_add(s->out, "\tenv");
	for (; *pairs; pairs++) {
		str_add(s->out, " ");
		quote_word(s->out, *pairs);
	}
	str_add(s->out, "\n");
}

static int script_add_where(const struct script *s, struct error *err)
{
	const char *workdir = s->wish->job.workdir;
	struct words volumes = WORDS_INIT(s->wish->arena);
	bool is_pyxis = strcmp(s->container, "pyxis") == 0;
	bool is_apptainer = strcmp(s->container, "apptainer") == 0;

	if (strcmp(s->container, "none") == 0 && *s->wish->cluster->container.volumes)
		str_add(s->out,
			"\n# Without a container there are no volumes (container.volumes): the ranks see the nodes' own folders.\n");
	if (!script_has_where(s))
		return 0;
	if (slurm_volumes(s->wish, s->container, &volumes, err) < 0)
		return -1;
	str_add(s->out, "\n# Where the ranks run.\nwhere=(\n");
	if (is_pyxis)
		script_add_pyxis(s, &volumes);
	if (is_apptainer)
		script_add_apptainer(s, &volumes);
	if (*workdir) {
		str_add(s->out, is_pyxis       ? "\t--container-workdir="
				: is_apptainer ? "\t--pwd "
					       : "\t--chdir=");
		quote_word(s->out, workdir);
		str_add(s->out, "\n");
	}
	if (is_apptainer)
		str_addf(s->out, "\t%s\n", slurm_sif(s->wish));
	if (is_pyxis || is_apptainer)
		script_add_image_env(s);
	str_add(s->out, ")\n");
	return 0;
}

/* One word for the shell of a task: marks become its variables. */
static void script_add_marked(const struct script *s, struct str *out, const char *word)
{
	const char *const variables[] = {
		"$SLURM_NODEID",
		"$MASTER_ADDR",
		"$MASTER_PORT",
		"$SLURM_JOB_ID",
		"$SLURM_NNODES",
		arena_printf(s->wish->arena, "$((SLURM_NNODES * %d))", s->wish->per_node)};

	if (!strpbrk(word, MARKS)) {
		quote_word(out, word);
		return;
	}
	str_add(out, "\"");
	for (; *word; word++)
		if (*word > 0 && *word <= (char)ARRAY_LEN(variables))
			str_add(out, variables[*word - 1]);
		else
			str_addf(out, strchr("\"$`\\", *word) ? "\\%c" : "%c", *word);
	str_add(out, "\"");
}

/*
 * A rank takes its own from those that Slurm gave the node. With --gpus-per-task Slurm would forbid it the others, and
 * NCCL and MPI could not copy between them directly. Sources: github.com/NVIDIA/nccl, issue 1066; NVIDIA/pyxis, 73;
 * open-mpi/ompi, 11949.
 */
static void script_add_own_gpus(const struct script *s, struct str *out)
{
	const struct export_wish *wish = s->wish;
	int gpus = wish->gpus_per_node ? wish->job.gpus : 0;

	/* TensorFlow takes the memory of all GPUs that it sees, so ranks that share a node share them out */
	if (!gpus && wish->job.launcher->place == PLACE_ROLES && wish->per_node > 1)
		gpus = wish->gpus_per_node / wish->per_node;
	if (!gpus)
		return;
	str_addf(
		out,
		"\tIFS=, read -ra given <<<\"${CUDA_VISIBLE_DEVICES:-}\"\n"
		"\tif ((${#given[@]} < (SLURM_LOCALID + 1) * %d)); then\n"
		"\t\techo \"rank $SLURM_PROCID on $SLURMD_NODENAME is to have %d GPUs of its own, and Slurm gave its node these: ${CUDA_VISIBLE_DEVICES:-none}\" >&2\n"
		"\t\texit 1\n"
		"\tfi\n"
		"\texport CUDA_VISIBLE_DEVICES=$(IFS=,; echo \"${given[*]:SLURM_LOCALID * %d:%d}\")\n",
		gpus, gpus, gpus, gpus);
}

/*
 * What starts a node's ranks, as one word for bash. A launcher that has no place for Slurm's own number of nodes has that of
 * `wish` in its words, so `is_fixed`.
 */
static int script_node_words(const struct script *s, struct str *out, bool *is_fixed,
			     struct error *err)
{
	const struct export_wish *wish = s->wish;
	struct job_options job = wish->job;
	struct words words = WORDS_INIT(wish->arena), env = WORDS_INIT(wish->arena);
	const struct launcher_node node = {.nodes = wish->nodes,
					   .per_node = wish->per_node,
					   .world = wish->world,
					   .nodes_word = MARK_NODES,
					   .world_word = MARK_WORLD,
					   .tags = s->follow != NULL,
					   .id = MARK_ID,
					   .rank = MARK_RANK,
					   .address = MARK_ADDRESS,
					   .port = MARK_PORT};
	_cleanup_(str_release) struct str inner = STR_INIT;

	job.command = export_command(wish, false);
	if (job.launcher->node_words(&job, &node, &words, &env, err) < 0)
		return -1;
	*is_fixed = true;
	str_add(&inner, env.count ? "exec env" : "exec");
	for (size_t i = 0; i < env.count; i++) {
		str_add(&inner, " ");
		script_add_marked(s, &inner, env.list[i]);
	}
	for (size_t i = 0; i < words.count; i++) {
		str_add(&inner, " ");
		script_add_marked(s, &inner, words.list[i]);
		if (strpbrk(words.list[i], MARK_NODES))
			*is_fixed = false;
	}
	str_add(out, " bash -c ");
	quote_word(out, inner.text);
	return 0;
}

/* What each task of the step runs, where Slurm starts every rank. */
static void script_rank_words(const struct script *s, struct str *out)
{
	const struct export_wish *wish = s->wish;
	const struct launcher *launcher = wish->job.launcher;
	const char *const *command = export_command(wish, false);

	if (launcher->place == PLACE_MPI && !(wish->gpus_per_node && wish->job.gpus)) {
		str_add(out, " ");
		quote_words(out, command);
		return;
	}
	str_add(out, " bash -c '\n");
	script_add_own_gpus(s, out);
	if (launcher->place != PLACE_MPI && script_is_uneven(s))
		str_add(out, "\tread -ra sizes <<<\"$sizes_of_nodes\"\n");
	if (launcher->place != PLACE_MPI)
		str_addf(
			out,
			"\texport RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID\n"
			"\texport NODE_RANK=$SLURM_NODEID LOCAL_WORLD_SIZE=%s\n",
			script_is_uneven(s) ? "${sizes[SLURM_NODEID]}" : "$SLURM_NTASKS_PER_NODE");
	if (launcher->place == PLACE_ROLES)
		str_add(out,
			"\texport TF_CONFIG=\"{\\\"cluster\\\":{\\\"worker\\\":[$workers]},"
			"\\\"task\\\":{\\\"type\\\":\\\"worker\\\",\\\"index\\\":$SLURM_PROCID}}\"\n");
	str_add(out, "\texec \"$@\"' rank ");
	quote_words(out, command);
}

/* A person may give another number of nodes to sbatch, or write it into the file. */
static void script_add_guard(const struct script *s)
{
	str_addf(
		s->out,
		"\n# The words of %s name the nodes, so there is one number that fits.\n"
		"if [ \"$SLURM_NNODES\" != %d ]; then\n"
		"\techo \"this script is for %d nodes, and Slurm gave it $SLURM_NNODES; write it again with: ringup export slurm --nodes $SLURM_NNODES\" >&2\n"
		"\texit 1\n"
		"fi\n",
		s->wish->job.launcher->name, s->wish->nodes, s->wish->nodes);
}

/*
 * Slurm's plug-in for PMIx lets a rank out of MPI_Init before the others are ready for its messages, when it gathers
 * data in a ring: they crash in MPI_Init, more often on a busy node. Source: github.com/open-mpi/ompi, issue 12495; here
 * with Slurm 22.05 and Open MPI 4.1.4 in 2 of 17 starts on a busy machine, and in none of 60 with a tree.
 */
static void script_add_pmix(const struct script *s)
{
	if (s->wish->job.launcher->place == PLACE_MPI &&
	    strncmp(script_setting(s, "mpi"), "pmix", 4) == 0)
		str_add(s->out,
			"\n# The way of PMIx in which no rank leaves MPI_Init too early (open-mpi/ompi, issue 12495).\n"
			"export SLURM_PMIX_FENCE=tree\n");
}

/*
 * The step that proves that all ranks can begin. pyxis imports the image anew for each step, which takes minutes, and a name that
 * keeps it for the next one leaves it on the nodes after a job that is cancelled (container_scope=global, the default of its
 * config.c): there the proof is without the image.
 */
static void script_add_proof(const struct script *s, const char *where)
{
	bool is_pyxis = strcmp(s->container, "pyxis") == 0;

	str_addf(
		s->out,
		"\n# Every rank begins once, and says where: what cannot start shows before the job does.\n%s"
		"srun --label --kill-on-bad-exit=1",
		is_pyxis ? "# Without the image, which pyxis imports anew for each step.\n" : "");
	if (s->follow)
		script_add_file(s, " --open-mode=append --output=", "placed.log");
	str_addf(s->out, "%s sh -c 'echo \"$SLURMD_NODENAME\"'\n", is_pyxis ? "" : where);
}

static int script_add_steps(const struct script *s, struct error *err)
{
	const struct export_wish *wish = s->wish;
	const char *where = script_has_where(s) ? " \"${where[@]}\"" : "";
	_cleanup_(str_release) struct str task = STR_INIT;
	bool is_fixed = false;

	if (!slurm_script_starts_nodes(wish))
		script_rank_words(s, &task);
	else if (script_node_words(s, &task, &is_fixed, err) < 0)
		return -1;
	if (is_fixed)
		script_add_guard(s);
	script_add_pmix(s);
	script_add_proof(s, where);
	if (strcmp(s->container, "none") == 0 && slurm_stack_add(wish, where, s->out, err) < 0)
		return -1;
	/* the worker's ranks end by themselves when one is lost, and rank 0 has a report to write */
	str_addf(s->out, "\nsrun --kill-on-bad-exit=%d", !wish->is_worker);
	if (wish->job.launcher->place == PLACE_MPI)
		str_addf(s->out, " --mpi=%s", script_setting(s, "mpi"));
	if (s->follow) {
		script_add_file(s, " --label --open-mode=append --output=", "out.log");
		script_add_file(s, " --error=", "err.log");
	}
	str_addf(s->out, "%s%s\n", where, task.text);
	return 0;
}

int slurm_script(const struct exporter *exporter, const struct export_wish *wish,
		 const struct slurm_follow *follow, struct str *out, struct error *err)
{
	struct script s = {.exporter = exporter, .wish = wish, .follow = follow, .out = out};

	s.container = script_setting(&s, "container");
	if (strcmp(s.container, "auto") == 0)
		s.container = *wish->image ? "pyxis" : "none";
	if (slurm_check_settings(exporter, wish, s.container, err) < 0 ||
	    script_check_words(wish, err) < 0)
		return -1;
	script_add_head(&s);
	str_add(out,
		"\n# The ranks meet on the first node, at the address that Slurm has of it, or by its name where Slurm shows no nodes.\n"
		"address() {\n"
		"\tlocal has\n"
		"\thas=$(scontrol show node \"$1\" 2>/dev/null | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p') || :\n"
		"\techo \"${has:-$1}\"\n"
		"}\n"
		"first=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n 1p)\n"
		"MASTER_ADDR=$(address \"$first\")\n"
		"MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))\n"
		"export MASTER_ADDR MASTER_PORT\n");
	script_add_env(&s);
	script_add_defaults(&s);
	script_add_secret(&s);
	script_add_end(&s);
	script_add_sizes(&s);
	script_add_workers(&s);
	script_add_image(&s);
	if (script_add_where(&s, err) < 0)
		return -1;
	return script_add_steps(&s, err);
}
