/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm.h"

#include "core/proc.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/rank_tag.h"
#include "deployer/scheduler/slurm_text.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_TIMED_OUT 124 /* as timeout(1) */
#define SLURM_SECONDS 60 /* the commands wait for a busy controller (slurm.conf, MessageTimeout) */

/*
 * In a shell of an allocation (salloc, srun --pty) Slurm's variables tell of that one. sbatch would hand them on to the new job,
 * whose srun takes them for its own options: srun(1), INPUT ENVIRONMENT VARIABLES. Elsewhere they are the person's or the site's.
 */
static const char *const *slurm_env(struct arena *arena)
{
	static const char kept[] = " SLURM_CONF SLURM_CLUSTERS SLURM_JWT ";
	bool is_inside = getenv("SLURM_JOB_ID") || getenv("SLURM_JOBID");
	struct words env = WORDS_INIT(arena);

	for (char **pair = environ; is_inside && *pair; pair++) {
		const char *name = arena_strndup(arena, *pair, strcspn(*pair, "="));

		if ((starts_with(name, "SLURM_") || starts_with(name, "SRUN_")) &&
		    !strstr(kept, arena_printf(arena, " %s ", name)))
			words_add(&env, name);
	}
	words_add(&env, "SLURM_TIME_FORMAT=standard");
	return words_list(&env);
}

int slurm_run(const char *const *words, const char *folder, struct arena *arena, const char **text,
	      int *status, struct error *err)
{
	const struct proc proc = {.words = words,
				  .folder = folder,
				  .timeout_s = SLURM_SECONDS,
				  .env = slurm_env(arena),
				  .joined = status != NULL,
				  .even_when_interrupted = true};
	struct proc_result result = {0};
	int rc;

	*text = "";
	if (!proc_exists(words[0]))
		return error_set(
			err, ERROR_FAILED,
			"there is no %s on PATH; run this on a machine of the Slurm cluster, as its login node",
			words[0]);
	rc = proc_run(&proc, &result, err);
	if (rc == 0 && status)
		*status = result.status;
	else if (rc == 0 && result.status)
		rc = proc_failed(&proc, &result, err);
	if (rc == 0)
		*text = arena_strdup(arena, result.out.text);
	proc_result_release(&result);
	return rc;
}

/* "MPI plugin types are..." and a name on each line after it. */
static const char *slurm_mpi_list(const char *text, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t length;

		at += strspn(at, " \t");
		length = strcspn(at, "\n");
		if (length && !memchr(at, ' ', length))
			words_addf(&words, "%.*s", (int)length, at);
	}
	return words_join(&words, ", ");
}

bool slurm_answers(struct arena *arena)
{
	struct error ignored = {0};
	const char *text;
	int status;

	return proc_exists("scontrol") &&
	       slurm_run(WORDS("scontrol", "ping"), NULL, arena, &text, &status, &ignored) == 0 &&
	       status == 0 && strstr(text, " UP");
}

int slurm_site(struct arena *arena, struct slurm_site *site, struct error *err)
{
	const char *help, *mpi, *version;
	int ignored;

	*site = (struct slurm_site){.version = "", .container = "none", .mpi = "", .gpus = ""};
	if (slurm_run(WORDS("sbatch", "--version"), NULL, arena, &version, NULL, err) < 0 ||
	    slurm_run(WORDS("srun", "--help"), NULL, arena, &help, NULL, err) < 0 ||
	    slurm_run(WORDS("srun", "--mpi=list"), NULL, arena, &mpi, &ignored, err) < 0)
		return -1;
	version += strcspn(version, "0123456789");
	site->version = arena_strndup(arena, version, strcspn(version, " \n"));
	/* Slurm 19.05 and newer */
	site->gpus = strstr(help, "--gpus-per-node") ? "gpus-per-node" : "gres";
	if (strstr(help, "--container-image"))
		site->container = "pyxis";
	else if (proc_exists("apptainer"))
		site->container = "apptainer";
	site->mpi_list = slurm_mpi_list(mpi, arena);
	site->mpi = strstr(mpi, "pmix") ? "pmix" : strstr(mpi, "pmi2") ? "pmi2" : "";
	return 0;
}

const char *slurm_complaint(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	static const char begin[] = "sbatch: error: ";

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *from = starts_with(at, begin) ? at + strlen(begin) : at;

		if (*from != '\n')
			str_addf(&line, "%s%.*s", line.length ? "; " : "", (int)strcspn(from, "\n"),
				 from);
	}
	return arena_strdup(arena, line.text);
}

#define SLURM_SIGNAL_MEMORY \
	125 /* Slurm's own mark for ranks that its cgroup killed (slurm.h, SIG_OOM) */

/*
 * How a job ends whose output slurmstepd could not open: no signal ended it. Seen with Slurm 22.05; newer ones have the reason
 * RaisedSignal:53 instead of JobLaunchFailure.
 */
#define SLURM_CODE_OUTPUT "0:53"

/* "3:0": the status, or 0:9 for a signal. */
static int slurm_exit_code(const char *text)
{
	int status = (int)strtol(text, NULL, 10) & 0xff;
	const char *colon = strchr(text, ':');
	int number = colon ? (int)strtol(colon + 1, NULL, 10) & 0x7f : 0;

	if (number == SLURM_SIGNAL_MEMORY)
		number = SIGKILL;
	return number && !status ? 128 + number : status;
}

static enum scheduler_phase slurm_phase_of(const char *state)
{
	/* squeue(1), JOB STATE CODES; the others are ends */
	static const char *const runs[] = {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED",
					   "STOPPED", "RESIZING",   "SIGNALING",   "STAGE_OUT"};

	if (!*state)
		return SCHEDULER_GONE;
	if (strcmp(state, "PENDING") == 0 || starts_with(state, "REQUEUE"))
		return SCHEDULER_WAITS;
	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		if (strcmp(state, runs[i]) == 0)
			return SCHEDULER_RUNS;
	return SCHEDULER_ENDED;
}

/*
 * Slurm's accounts keep jobs that the controller has forgotten, where there are accounts: the job's state, its exit code and
 * its nodes.
 */
static const char *slurm_ask_accounts(const char *id, struct arena *arena, const char **code,
				      const char **nodes)
{
	struct error ignored = {0};
	const char *text, *at, *end;

	if (slurm_run(WORDS("sacct", "-X", "-n", "-P", "-j", id, "-o", "State,ExitCode,NodeList"),
		      NULL, arena, &text, NULL, &ignored) < 0 ||
	    !(at = strchr(text, '|')) || !(end = strchr(at + 1, '|')))
		return "";
	*code = arena_strndup(arena, at + 1, (size_t)(end - at - 1));
	*nodes = arena_strndup(arena, end + 1, strcspn(end + 1, "\n"));
	return arena_strndup(arena, text, strcspn(text, "|+ "));
}

/* A number: people edit records, and a word of another form could be an option of the commands. */
static int slurm_check_id(const char *id, struct error *err)
{
	if (*id && !id[strspn(id, "0123456789")])
		return 0;
	return error_set(err, ERROR_USAGE, "'%s' in the job's record is no job of Slurm", id);
}

static int slurm_cancel(const struct job_record *record, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *text, *id = record->id;
	int status;

	if (slurm_check_id(id, err) < 0 ||
	    slurm_run(WORDS("scancel", id), NULL, &arena, &text, &status, err) < 0)
		return -1;
	if (status == 0 || strstr(text, "Invalid job id") || strstr(text, "already completing"))
		return 0;
	return error_set(err, ERROR_FAILED, "scancel %s: %s", id, slurm_complaint(text, &arena));
}

/* squeue(1), JOB REASON CODES; those with '_' are sentences of slurmctld (job_scheduler.c) */
static const struct {
	const char *reason;
	bool is_hopeless;
	const char *means;
} slurm_reasons[] = {
	{"Resources", false, "all that it needs is in use, and it is the next one to get it"},
	{"Priority", false, "jobs with a higher priority wait, too"},
	{"PartitionDown", false,
	 "its partition takes jobs but starts none; 'scontrol show partition' shows the state, and its administrator changes it"},
	{"PartitionInactive", false, "its partition is inactive; ask its administrator"},
	{"PartitionConfig", true,
	 "it asks for more nodes than the partition has; ask for fewer with --nodes, or for another one with --set partition=NAME"},
	{"PartitionNodeLimit", true,
	 "it asks for more nodes than the partition gives one job, or its nodes are down; see 'ringup status --on slurm'"},
	{"PartitionTimeLimit", true,
	 "it asks for more time than the partition gives; ask for less with --set time=MINUTES"},
	{"BadConstraints", true, "no node can ever satisfy what it asks for"},
	{"ReqNodeNotAvail", false,
	 "a node that it needs is down, drained or reserved; see 'ringup status --on slurm'"},
	{"Nodes_required_for_job_are_DOWN", false,
	 "nodes that it needs are down, drained, or kept for jobs of partitions with a higher priority; see 'ringup status --on slurm'"},
	{"Dependency", false, "it waits for the jobs of --set dependency"},
	{"DependencyNeverSatisfied", true,
	 "it can never start: a job that it was to wait for has ended otherwise than --set dependency says"},
	{"launch_failed_requeued_held", false,
	 "a node could not start it, and Slurm holds it; 'scontrol release' lets it try again, and the node's slurmd.log says why it failed"},
	{"job_requeued_in_held_state", false, "it is held; 'scontrol release' lets it go"},
	{"JobHoldMaxRequeue", false,
	 "Slurm has started it again too often, and holds it; 'scontrol release' lets it try again"},
	{"JobArrayTaskLimit", false, "its array has as many tasks at once as --set array gives it"},
	{"AccountNotAllowed", true,
	 "its account may not use the partition; choose another with --set account=NAME or --set partition=NAME"},
	{"QOSNotAllowed", true,
	 "its quality of service is not for this account or partition; choose another with --set qos=NAME"},
	{"ReservationDeleted", true,
	 "its reservation has been deleted; choose another with --set reservation=NAME"},
	{"DeadLine", true, "it can no longer end before its deadline"},
	{"Cleaning", false, "what it left in an earlier start is being cleaned up"},
	{"Prolog", false, "the nodes' prolog has not ended"},
	{"FrontEndDown", false, "no front end node is there to start it"},
	{"BurstBufferResources", false, "the burst buffer has no room for it yet"},
	{"BurstBufferStageIn", false, "its files are on the way into the burst buffer"},
	{"JobHeldUser", false, "it is held; 'scontrol release' lets it go"},
	{"JobHeldAdmin", false, "an administrator holds it"},
	{"BeginTime", false, "it may not begin before its time, as after a failed start"},
	{"Licenses", false, "a license that it needs is in use"},
	{"Reservation", false, "it waits for its reservation to begin"},
	{"InvalidAccount", true, "its account is not valid; choose one with --set account=NAME"},
	{"InvalidQOS", true, "its quality of service is not valid; see --set qos=NAME"},
	{"NodeDown", false, "a node that it needs is down"},
};

const char *slurm_reason(const char *reason, bool *is_hopeless)
{
	size_t length = strcspn(reason, ",");

	*is_hopeless = false;
	for (size_t i = 0; i < ARRAY_LEN(slurm_reasons); i++)
		if (strlen(slurm_reasons[i].reason) == length &&
		    strncmp(reason, slurm_reasons[i].reason, length) == 0) {
			*is_hopeless = slurm_reasons[i].is_hopeless;
			return slurm_reasons[i].means;
		}
	/* QOSMaxWallDurationPerJobLimit, QOSMinGRES */
	*is_hopeless = strstr(reason, "PerJob") || starts_with(reason, "QOSMin");
	if (*is_hopeless)
		return "it asks for more, or less, than your account or quality of service gives one job; 'sacctmgr show qos' shows the limits";
	if (starts_with(reason, "QOS") || starts_with(reason, "Assoc") ||
	    (starts_with(reason, "Max") && strstr(reason, "Per")))
		return "a limit of your account or quality of service is reached; 'sacctmgr show assoc' shows the limits";
	return "";
}

/* The nodes of a list that are down, with why: "node02 (Not responding)"; "" when none is. */
static const char *slurm_down(const char *nodes, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);
	struct error ignored = {0};
	const char *text;

	if (!*nodes || slurm_run(WORDS("sinfo", "-h", "-N", "-n", nodes, "-t", "down,drain,fail",
				       "-o", "%N|%E"),
				 NULL, arena, &text, NULL, &ignored) < 0)
		return "";
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t name = strcspn(at, "|\n"), line = strcspn(at, "\n");
		const char *word = name < line ? arena_printf(arena, "%.*s (%.*s)", (int)name, at,
							      (int)(line - name - 1), at + name + 1)
					       : arena_strndup(arena, at, line);

		/* a node of two partitions stands there twice */
		if (!words.count || strcmp(words.list[words.count - 1], word) != 0)
			words_add(&words, word);
	}
	return words_join(&words, ", ");
}

/* Ends that are a node's fault. */
static const struct {
	const char *word, *before, *behind; /* the job's number */
} slurm_faults[] = {
	{"NODE_FAIL", "a node went down while job ", " ran"},
	{"BOOT_FAIL", "a node did not boot for job ", ""},
	{"LAUNCH_FAILED", "a node could not start job ", ", and its slurmd.log says why"},
};

/* Whether it is one of them. */
static bool slurm_tell_fault(const char *id, const char *word, const char *nodes,
			     struct arena *arena, struct scheduler_state *state)
{
	const char *down;

	for (size_t i = 0; i < ARRAY_LEN(slurm_faults); i++) {
		if (strcmp(slurm_faults[i].word, word) != 0)
			continue;
		down = slurm_down(nodes, arena);
		state->status = 1;
		state->story = arena_printf(
			arena,
			"%s%s%s%s%s; 'ringup status --on slurm' shows the nodes, and --set requeue=yes starts such a job again",
			slurm_faults[i].before, id, slurm_faults[i].behind, *down ? ": " : "",
			down);
		return true;
	}
	return false;
}

/* The script writes into the job's folder, on the first of its nodes. */
static void slurm_tell_output(const struct job_record *record, const char *host,
			      struct arena *arena, struct scheduler_state *state)
{
	char whole[PATH_MAX];

	state->status = 1;
	state->story = arena_printf(
		arena,
		"%s cannot write to %s: start ringup in a folder that the nodes share; if they share it, slurmd.log there says why",
		*host ? host
		: *state->nodes && !strchr(state->nodes, ' ')
			? state->nodes /* not "None assigned" */
			: "its first node",
		realpath(record->folder, whole) ? whole : record->folder);
}

/* What Slurm's word for an end that no rank made means. */
static void slurm_tell_end(const char *id, const char *word, const char *nodes, struct arena *arena,
			   struct scheduler_state *state)
{
	if (strcmp(word, "COMPLETED") == 0 || strcmp(word, "CANCELLED") == 0 ||
	    strcmp(word, "FAILED") == 0) {
		state->is_cancelled = *word == 'C' && word[1] == 'A';
		state->status = strcmp(word, "COMPLETED") == 0 ? 0 : state->status;
		return;
	}
	if (slurm_tell_fault(id, word, nodes, arena, state))
		return;
	state->status = state->status ? state->status : 1;
	if (strcmp(word, "TIMEOUT") == 0 || strcmp(word, "DEADLINE") == 0) {
		state->status = STATUS_TIMED_OUT;
		state->story = arena_printf(
			arena,
			"job %s took longer than its limit of time, and Slurm ended it; --limit SECONDS gives it more, as far as the partition does",
			id);
	} else if (strcmp(word, "PREEMPTED") == 0) {
		state->story = arena_printf(
			arena,
			"job %s had to give way to one with a higher priority; --set requeue=yes puts such a job back into the queue",
			id);
	} else if (strcmp(word, "OUT_OF_MEMORY") == 0) {
		state->status = 128 + SIGKILL;
		state->story = arena_printf(
			arena, "job %s used more memory than it has; --set mem=SIZE gives it more",
			id);
	}
}

static int slurm_ask(const struct job_record *record, struct arena *arena,
		     struct scheduler_state *state, struct error *err)
{
	const char *text, *word, *code = "", *host = "", *id = record->id;
	int status;

	*state = (struct scheduler_state){.reason = "", .means = "", .nodes = "", .story = ""};
	if (slurm_check_id(id, err) < 0 || slurm_run(WORDS("scontrol", "-o", "show", "job", id),
						     NULL, arena, &text, &status, err) < 0)
		return -1;
	if (status != 0 && !strstr(text, "Invalid job id"))
		return error_set(err, ERROR_FAILED, "Slurm does not answer for job %s: %s", id,
				 slurm_complaint(text, arena));
	if (status == 0) {
		word = slurm_field(text, "JobState", arena);
		state->reason = slurm_field(text, "Reason", arena);
		state->nodes = slurm_field(text, "NodeList", arena);
		code = slurm_field(text, "ExitCode", arena);
		host = slurm_field(text, "BatchHost", arena);
		if (strcmp(state->reason, "None") == 0)
			state->reason = "";
		state->means = slurm_reason(state->reason, &state->is_hopeless);
	} else {
		word = slurm_ask_accounts(id, arena, &code, &state->nodes);
	}
	state->status = slurm_exit_code(code);
	state->phase = slurm_phase_of(word);
	if (state->phase == SCHEDULER_ENDED && strcmp(code, SLURM_CODE_OUTPUT) == 0)
		slurm_tell_output(record, host, arena, state);
	else if (state->phase == SCHEDULER_ENDED)
		slurm_tell_end(id, word, state->nodes, arena, state);
	return 0;
}

static bool slurm_starts_nodes(const struct job_record *record)
{
	return launcher_starts_nodes(record->launcher);
}

/* The files of slurm_script. */
enum { RAW_PLACED, RAW_OUT, RAW_ERR, RAW_BATCH };

static bool slurm_read(const struct job_record *record, const char *roles, int raw,
		       const char *line, struct arena *arena, struct scheduler_line *out)
{
	struct scheduler_failure failure;
	const char *text;
	int task;

	(void)roles;
	out->is_error = raw != RAW_OUT;
	if (raw != RAW_BATCH && (text = slurm_labelled(line, &task))) {
		out->of.task = task;
		if (raw == RAW_PLACED) {
			out->kind = SCHEDULER_PLACED;
			out->of.host = arena_strdup(arena, text);
		}
		out->text = text;
		if (raw == RAW_OUT && slurm_starts_nodes(record) &&
		    (text = rank_tag(text, &out->rank, &out->is_rank_of_node)))
			out->text = text;
		else
			out->rank = -1;
		return true;
	}
	out->is_error = true;
	if (slurm_task_failed(line, arena, &failure.host, &failure.task, &failure.status)) {
		out->kind = SCHEDULER_FAILED;
		out->of = failure;
	}
	return true;
}

const struct scheduler scheduler_slurm = {
	.title = "Slurm",
	.raw = {"placed.log", "out.log", "err.log", "batch.log"},
	.starts_nodes = slurm_starts_nodes,
	.read = slurm_read,
	.ask = slurm_ask,
	.cancel = slurm_cancel,
};

/* Lines of text that begin so. */
static size_t slurm_lines(const char *text, const char *begin)
{
	size_t count = 0;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		count += starts_with(at, begin);
	return count;
}

static int slurm_number(const char *record, const char *key, struct arena *arena)
{
	return (int)strtol(slurm_field(record, key, arena), NULL, 10);
}

/* Lines of "PARTITION,PARTITION|STATE" with both: a job that waits in several is in each. */
static int slurm_jobs(const char *queue, const char *partition, const char *state)
{
	size_t length = strlen(partition);
	int count = 0;

	for (const char *at = queue; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *end = at + strcspn(at, "|\n");
		bool is_there = false;

		if (*end != '|' || !starts_with(end + 1, state))
			continue;
		for (; at < end; at += *at == ',') {
			size_t name = strcspn(at, ",|");

			is_there |= name == length && strncmp(at, partition, length) == 0;
			at += name;
		}
		count += is_there;
	}
	return count;
}

/*
 * The GPUs that jobs have: GresUsed of `scontrol -d`. AllocTRES knows GPUs only where the site counts them
 * (slurm.conf, AccountingStorageTRES).
 */
static int slurm_gpus_used(const char *record, struct arena *arena)
{
	const char *used = slurm_field(record, "GresUsed", arena);

	return slurm_gpus(strstr(used, "gpu") ? used : slurm_field(record, "AllocTRES", arena));
}

static void slurm_read_node(const char *record, struct arena *arena, struct scheduler_node *node)
{
	const char *gres = slurm_field(record, "Gres", arena);
	const char *gpu = strstr(gres, "gpu:");
	size_t product = gpu ? strcspn(gpu + 4, ":,(") : 0;

	*node = (struct scheduler_node){
		.name = slurm_field(record, "NodeName", arena),
		.state = slurm_field(record, "State", arena),
		.queues = slurm_field(record, "Partitions", arena),
		.reason = slurm_sentence(record, "Reason", arena),
		.gpu = gpu && gpu[4 + product] == ':' ? arena_strndup(arena, gpu + 4, product) : "",
		.cpus = slurm_number(record, "CPUTot", arena),
		.cpus_used = slurm_number(record, "CPUAlloc", arena),
		.gpus = slurm_gpus(gres),
		.gpus_used = slurm_gpus_used(record, arena),
		.memory_mib = slurm_number(record, "RealMemory", arena),
	};
}

static void slurm_read_partition(const char *record, const char *queue, struct arena *arena,
				 struct scheduler_queue *partition)
{
	*partition = (struct scheduler_queue){
		.name = slurm_field(record, "PartitionName", arena),
		.state = slurm_field(record, "State", arena),
		.limit = slurm_field(record, "MaxTime", arena),
		.is_default = strcmp(slurm_field(record, "Default", arena), "YES") == 0,
		.nodes = slurm_number(record, "TotalNodes", arena),
	};
	partition->waiting = slurm_jobs(queue, partition->name, "PENDING");
	partition->running = slurm_jobs(queue, partition->name, "RUNNING");
}

/* "" where they are for operators only (slurm.conf(5), PrivateData). */
static int slurm_look_at_nodes(struct arena *arena, const char **nodes, struct error *err)
{
	if (slurm_run(WORDS("scontrol", "-d", "-o", "show", "node"), NULL, arena, nodes, NULL,
		      err) == 0)
		return 0;
	if (!strstr(err->text, "Access/permission denied"))
		return -1;
	*err = (struct error){0};
	*nodes = "";
	return 0;
}

int slurm_look(struct arena *arena, struct scheduler_overview *overview, struct error *err)
{
	const char *nodes, *partitions, *queue;

	if (slurm_look_at_nodes(arena, &nodes, err) < 0 ||
	    slurm_run(WORDS("scontrol", "-o", "show", "partition"), NULL, arena, &partitions, NULL,
		      err) < 0 ||
	    slurm_run(WORDS("squeue", "-h", "-o", "%P|%T"), NULL, arena, &queue, NULL, err) < 0)
		return -1;
	*overview = (struct scheduler_overview){
		.nodes = ARENA_ARRAY(arena, slurm_lines(nodes, "NodeName=") + 1,
				     struct scheduler_node),
		.queues = ARENA_ARRAY(arena, slurm_lines(partitions, "PartitionName=") + 1,
				      struct scheduler_queue)};
	for (const char *at = nodes; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (starts_with(at, "NodeName="))
			slurm_read_node(arena_strndup(arena, at, strcspn(at, "\n")), arena,
					&overview->nodes[overview->node_count++]);
	for (const char *at = partitions; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (starts_with(at, "PartitionName="))
			slurm_read_partition(arena_strndup(arena, at, strcspn(at, "\n")), queue,
					     arena, &overview->queues[overview->queue_count++]);
	return 0;
}
