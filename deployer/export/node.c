/* SPDX-License-Identifier: MIT */
#include "deployer/export/node.h"

#include "deployer/job/defaults.h"

#include <string.h>

/*
 * Starts the ranks of one node, and ends them all with the status of the first one that fails. It is process 1 of its
 * container, so its own TERM is the trap's, and its end would kill them all: it hands TERM on, which says to a rank that it
 * must write its checkpoint, and waits for them, for the job's grace. The engine kills who takes longer; after a rank's failure that is done here.
 * `first` keeps the first status: a link is there whole or not at all, also when TERM comes meanwhile. Who starts
 * a rank outlives the TERM (a trap), and its rank has TERM's usual meaning. The last node may have fewer ranks.
 */
static const char node_begin[] =
	"ranks= failed=$(mktemp -d)/status\n"
	"first() { echo \"$1\" >\"$failed-$LOCAL_RANK\" && ln \"$failed-$LOCAL_RANK\" \"$failed\" 2>/dev/null || :; }\n"
	"end() {\n"
	"  trap \"\" TERM\n"
	"  kill 0\n"
	"  [ $$ != 1 ] || (sleep ";
static const char node_start[] =
	"; kill -KILL -1) &\n"
	"  [ -z \"$ranks\" ] || wait $ranks\n"
	"  exit \"$(cat \"$failed\" 2>/dev/null || echo 143)\"\n"
	"}\n"
	"trap end TERM\n"
	"first_rank=$((NODE_RANK * LOCAL_WORLD_SIZE))\n"
	"[ $((WORLD_SIZE - first_rank)) -ge \"$LOCAL_WORLD_SIZE\" ] || LOCAL_WORLD_SIZE=$((WORLD_SIZE - first_rank))\n"
	"[ \"$LOCAL_WORLD_SIZE\" -gt 0 ] || exit 0\n";
static const char node_loop[] = "export LOCAL_RANK=0 RANK\n"
				"while [ \"$LOCAL_RANK\" -lt \"$LOCAL_WORLD_SIZE\" ]; do\n"
				"  RANK=$((first_rank + LOCAL_RANK))\n";
/*
 * The same with each rank's number before its lines (scheduler/rank_tag.h). Who writes them does not end with the ranks, and
 * has a second for the last ones; it is not waited for, since a process that a rank has left may hold the pipe.
 */
static const char node_end_tagged[] =
	"  pipe=$failed.$LOCAL_RANK && mkfifo \"$pipe\"\n"
	"  (trap \"\" TERM; exec sed -u \"s/^/[default$LOCAL_RANK]:/\" <\"$pipe\") &\n"
	"  (trap : TERM; \"$@\" >\"$pipe\" 2>&1 || { first $?; sleep 1; kill $$; }) &\n"
	"  ranks=\"$ranks $!\"\n"
	"  LOCAL_RANK=$((LOCAL_RANK + 1))\n"
	"done\n"
	"wait $ranks\n"
	"sleep 1\n";
static const char node_end[] = "  (trap : TERM; \"$@\" || { first $?; kill $$; }) &\n"
			       "  ranks=\"$ranks $!\"\n"
			       "  LOCAL_RANK=$((LOCAL_RANK + 1))\n"
			       "done\n"
			       "wait $ranks\n";

/*
 * The threads of each rank where nobody says how many CPUs the container has: those that it sees, shared out. A variable that comes
 * from elsewhere, as of a Secret, counts more.
 */
static const char *node_threads(const struct export_wish *wish, const char *ranks)
{
	if (wish->is_worker || wish->cpus > 0 || !*export_own_env(wish, WORDS(JOB_THREADS "=")))
		return "";
	return arena_printf(wish->arena,
			    "threads=$(($(nproc) / %s))\n"
			    "export " JOB_THREADS "=${" JOB_THREADS
			    "-$((threads > 0 ? threads : 1))}\n",
			    ranks);
}

/* With --gpus a rank sees those of its own, as with `ringup run`. */
static const char *node_script(const struct export_wish *wish, bool tags)
{
	int gpus = wish->gpus_per_node ? wish->job.gpus : 0;
	const char *own = "";

	if (gpus)
		own = arena_printf(
			wish->arena,
			"  CUDA_VISIBLE_DEVICES=$(seq -s , $((LOCAL_RANK * %d)) $((LOCAL_RANK * %d + %d)))\n"
			"  export CUDA_VISIBLE_DEVICES\n",
			gpus, gpus, gpus - 1);
	return export_text(wish,
			   arena_printf(wish->arena, "%s%d%s%s%s%s%s", node_begin,
					wish->job.grace_s > 0 ? wish->job.grace_s : NODE_GRACE_S,
					node_start, node_threads(wish, "LOCAL_WORLD_SIZE"),
					node_loop, own, tags ? node_end_tagged : node_end));
}

static void node_add_place(const struct launcher_node *node, struct words *env)
{
	words_addf(env, "NODE_RANK=%s", node->rank);
	words_addf(env, "WORLD_SIZE=%d", node->world);
	words_addf(env, "LOCAL_WORLD_SIZE=%d", node->per_node);
	words_addf(env, "MASTER_ADDR=%s", node->address);
	words_addf(env, "MASTER_PORT=%s", node->port);
	if (node->per_node == 1) {
		words_addf(env, "RANK=%s", node->rank);
		words_add(env, "LOCAL_RANK=0");
	}
}

static int node_cannot(const struct export_wish *wish, struct error *err)
{
	error_set(err, ERROR_USAGE, "the launcher '%s' has nothing that another engine could start",
		  wish->job.launcher->name);
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->place != PLACE_NONE)
			error_advise(err, "take --launcher %s (%s)", (*l)->name, (*l)->help);
	return -1;
}

/* The same for a rank of mpirun, which knows its number on its node from Open MPI or MPICH. */
static const char *node_own_gpus(const struct export_wish *wish)
{
	int gpus = wish->gpus_per_node && !wish->is_worker ? wish->job.gpus : 0;

	if (!gpus)
		return "";
	return arena_printf(
		wish->arena,
		"local=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}\n"
		"CUDA_VISIBLE_DEVICES=$(seq -s , $((local * %d)) $((local * %d + %d)))\n"
		"export CUDA_VISIBLE_DEVICES\n",
		gpus, gpus, gpus - 1);
}

/* Adds a shell that sets what it is told, and becomes the words that follow; nothing where there is nothing to set. */
static void node_add_shell(const struct export_wish *wish, const char *name, const char *threads,
			   const char *gpus, struct words *words)
{
	if (*threads || *gpus)
		words_add_all(words,
			      WORDS("/bin/sh", "-c",
				    export_text(wish, arena_printf(wish->arena, "%s%sexec \"$@\"\n",
								   threads, gpus)),
				    name));
}

/* Words of a launcher that starts the ranks of a node itself: as many on each. */
static int node_add_launcher(const struct export_wish *wish, const struct launcher_node *node,
			     struct words *command, struct words *env, struct error *err)
{
	const struct launcher *launcher = wish->job.launcher;
	struct job_options job = wish->job;
	struct words rank = WORDS_INIT(wish->arena);
	const char *threads = "";

	if (launcher->place == PLACE_NODE && node->world != node->nodes * node->per_node)
		return error_set(
			err, ERROR_USAGE,
			"%d ranks on %d nodes with up to %d each: %s has as many on every node; choose -n, --nodes and --ppn so",
			node->world, node->nodes, node->per_node, launcher->name);
	if (node->per_node > 1)
		threads = node_threads(wish, arena_printf(wish->arena, "%d", node->per_node));
	if (launcher->place == PLACE_NODE)
		node_add_shell(wish, "node", threads, "", command);
	else
		node_add_shell(wish, "rank", threads, node_own_gpus(wish), &rank);
	words_add_all(&rank, export_words(wish, export_command(wish, true)));
	job.command = words_list(&rank);
	/* as launcher/mpirun.c does it on hosts: mpirun alone has one second for them */
	if (launcher->place == PLACE_MPI && job.grace_s > 0) {
		words_addf(env, "OMPI_MCA_odls_base_sigkill_timeout=%d", job.grace_s);
		words_addf(env, "PRTE_MCA_odls_base_sigkill_timeout=%d", job.grace_s);
	}
	return launcher->node_words(&job, node, command, env, err);
}

int export_node(const struct export_wish *wish, const struct launcher_node *node,
		struct words *command, struct words *env, struct error *err)
{
	const struct launcher *launcher = wish->job.launcher;

	if (launcher->place == PLACE_NONE)
		return node_cannot(wish, err);
	if (launcher->node_words)
		return node_add_launcher(wish, node, command, env, err);
	if (launcher->place == PLACE_RANK) {
		node_add_place(node, env);
		if (node->per_node > 1)
			words_add_all(command, WORDS("/bin/sh", "-c", node_script(wish, node->tags),
						     "ranks"));
	}
	words_add_all(command, export_words(wish, export_command(wish, true)));
	return 0;
}
