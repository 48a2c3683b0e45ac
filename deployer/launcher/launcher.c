/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/quote.h"
#include "deployer/container/gpus.h"
#include "deployer/launcher/own_words.h"
#include "deployer/bringup/operate.h"

#include <openssl/rand.h>
#include <stdatomic.h>
#include <string.h>

/* The rendezvous listens above the well-known ports and below Linux's ephemeral ones (32768). */
#define PORT_FIRST 20000
#define PORT_COUNT 10000
#define LAST_WORDS_BYTES 600

#define X(name) extern const struct launcher launcher_##name;
#include "launcher.list"
#undef X

const struct launcher *const launchers[] = {
#define X(name) &launcher_##name,
#include "launcher.list"
#undef X
	NULL};

static int launcher_unknown(const char *name, bool for_jobs, struct error *err)
{
	const char *begin = "there are ";

	error_set(err, ERROR_USAGE, "there is no launcher '%s'%s", name,
		  for_jobs ? " for jobs" : " for the worker");
	for (const struct launcher *const *l = launchers; *l; l++) {
		if (for_jobs ? !(*l)->tasks : !(*l)->words)
			continue;
		error_advise(err, "%s%s (%s)", begin, (*l)->name, (*l)->help);
		begin = "";
	}
	return -1;
}

int launcher_find(const char *name, const struct launcher **launcher, struct error *err)
{
	*launcher = NULL;
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->words && (name ? strcmp((*l)->name, name) == 0
					 : !*launcher || (*l)->rank < (*launcher)->rank))
			*launcher = *l;
	return *launcher ? 0 : launcher_unknown(name, false, err);
}

/* How well it fits, for `auto`: the command is its own, or it trains the stack. */
static int launcher_fitness(const struct launcher *l, const struct launcher_wish *wish)
{
	if (wish->command && l->command && own_words_begin(wish->command, l->command))
		return 2;
	return l->trains && wish->plan && plan_choice(wish->plan, l->trains);
}

static bool launcher_is_better(const struct launcher *l, const struct launcher *other,
			       const struct launcher_wish *wish)
{
	int fitness = launcher_fitness(l, wish),
	    others = other ? launcher_fitness(other, wish) : -1;

	return fitness > others || (fitness == others && l->rank < other->rank);
}

static int launcher_misuse_roles(const struct launcher *launcher, struct error *err)
{
	error_set(err, ERROR_USAGE, "the launcher '%s' knows no roles", launcher->name);
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->roles)
			error_advise(err, "take --launcher %s, or leave --roles out", (*l)->name);
	return -1;
}

static bool launcher_is_starter(const struct launcher *l, const char *const *command)
{
	for (const char *const *name = l->starters; name && *name; name++)
		if (own_words_begin(command, (const char *const[]){*name, NULL}))
			return true;
	return false;
}

/* Where "-n 4" and the like are all options, what is behind them is the program; NULL: nobody knows. */
static const char *const *launcher_started(const char *const *command, const char **ranks)
{
	static const char *const counts[] = {"-n", "-np", "--n", "--np", "-c"};

	*ranks = "N";
	for (command++; *command && **command == '-'; command += 2) {
		bool is_count = false;

		for (size_t i = 0; i < ARRAY_LEN(counts); i++)
			is_count = is_count || strcmp(*command, counts[i]) == 0;
		if (!is_count || !command[1])
			return NULL;
		*ranks = command[1];
	}
	return *command ? command : NULL;
}

/* What the command is called: "python3 -m MODULE", or its program. */
static const char *launcher_spelling(const char *const *command)
{
	const char *slash = strrchr(*command, '/'), *program = slash ? slash + 1 : *command;
	bool is_module = starts_with(program, "python") && command[1] &&
			 strcmp(command[1], "-m") == 0 && command[2];

	return is_module ? command[2] : program;
}

/* Other words for a launcher, of which each rank would start one of its own: they are advised, not understood. */
static int launcher_check_spelling(const char *const *command, struct error *err)
{
	const char *called = launcher_spelling(command);

	for (const struct launcher *const *l = launchers; *l; l++)
		for (const char *const *other = (*l)->spellings; other && *other; other++) {
			_cleanup_(str_release) struct str words = STR_INIT;

			if (strcmp(called, *other) != 0)
				continue;
			quote_words(&words, (*l)->command
						    ? (*l)->command
						    : (const char *const[]){*(*l)->starters, NULL});
			error_set(err, ERROR_USAGE,
				  "each rank would start %s again, with ranks of its own", called);
			return error_advise(err,
					    "ringup run -- %s ...: ringup gives it hosts and ranks",
					    words.text);
		}
	return 0;
}

/* The command starts ranks by itself, and each rank would do so. */
static int launcher_check_command(const struct launcher *chosen, bool is_auto,
				  const char *const *command, struct error *err)
{
	if (launcher_check_spelling(command, err) < 0)
		return -1;
	for (const struct launcher *const *l = launchers; *l; l++) {
		_cleanup_(str_release) struct str line = STR_INIT;
		const char *ranks, *const *program;

		if (!launcher_is_starter(*l, command) || (!is_auto && *l != chosen))
			continue;
		program = launcher_started(command, &ranks);
		if (program)
			quote_words(&line, program);
		error_set(
			err, ERROR_USAGE,
			"each rank would start '%s' again; ringup starts it itself, and its options come from -n, --ppn, --hosts and --gpus",
			*command);
		error_advise(err, "ringup run --launcher %s -n %s -- %s", (*l)->name, ranks,
			     line.length ? line.text : "CMD");
		return error_advise(err, "ringup run -n %s -- %s, where the program needs no %s",
				    ranks, line.length ? line.text : "CMD", (*l)->name);
	}
	return 0;
}

int launcher_find_for_job(const char *name, const struct launcher_wish *wish,
			  const struct launcher **launcher, struct error *err)
{
	bool is_auto = strcmp(name, "auto") == 0;

	*launcher = NULL;
	for (const struct launcher *const *l = launchers; *l; l++) {
		if (!(*l)->tasks)
			continue;
		if (!is_auto ? strcmp((*l)->name, name) == 0
			     : (!wish->has_roles || (*l)->roles) &&
				       launcher_is_better(*l, *launcher, wish))
			*launcher = *l;
	}
	if (!*launcher)
		return launcher_unknown(name, true, err);
	if (wish->command && launcher_check_command(*launcher, is_auto, wish->command, err) < 0)
		return -1;
	return wish->has_roles && !(*launcher)->roles ? launcher_misuse_roles(*launcher, err) : 0;
}

void launcher_add_count(struct words *words, const char *option, const char *word, int number)
{
	if (word)
		words_addf(words, "--%s=%s", option, word);
	else
		words_addf(words, "--%s=%d", option, number);
}

bool launcher_starts_nodes(const char *name)
{
	for (const struct launcher *const *l = launchers; *l; l++)
		if (strcmp((*l)->name, name) == 0)
			return (*l)->place == PLACE_NODE;
	return false;
}

bool launcher_has_words(const char *const *command)
{
	for (const struct launcher *const *l = launchers; *l; l++)
		if (*command && (launcher_is_starter(*l, command) ||
				 ((*l)->command && own_words_begin(command, (*l)->command))))
			return true;
	return false;
}

int member_slots(struct member *member)
{
	struct gpu_wish wish;
	size_t gpus;

	if (member->host->slots)
		return member->host->slots;
	member_gpu_wish(member, &wish);
	gpus = gpu_wish_count(&wish, &member->facts);
	return gpus ? (int)gpus : 1;
}

/* Adds the program's words with every @{NAME} replaced. */
static void launcher_add_words(struct member *m, const struct launch *launch,
			       const char *const *pattern, struct words *out)
{
	struct arena *arena = &m->arena;
	const struct program *program = launch->program;
	const char *folder;
	const struct engine_value values[] = {
		{"world", arena_printf(arena, "%d", launch->world), NULL},
		{"root", arena_printf(arena, "%s:%d", launch->root_address, launch->root_port),
		 NULL},
		{"address", m->address, NULL},
		{"host", m->host->name, NULL},
		{"rank", arena_printf(arena, "%d", launch->first_ranks[m->index]), NULL},
		{"ranks", arena_printf(arena, "%d", program->ranks[m->index]), NULL},
		{"folder", m->state.folder, NULL},
		{0}};

	folder = engine_expand_word(m->engine->program_folder, values, arena);
	words_addf(out, "%s%s", folder, engine_expand_word(*pattern, values, arena));
	engine_expand(pattern + 1, values, out);
}

/* Without a container, the ranks of a host see the GPUs that `gpus` names and no others. */
static void launcher_add_gpus(struct member *m, struct words *out)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (m->engine->has_containers || wish.kind == GPU_ALL)
		return;
	words_add(out, "env");
	words_addf(out, "CUDA_VISIBLE_DEVICES=%s", gpu_wish_text(&wish, &m->arena));
}

/* Adds the words that give a host's first process the secret; the launcher's words follow. */
static void launcher_add_secret(struct member *m, const struct launch *launch, struct words *out)
{
	const struct engine_value values[] = {{"folder", m->state.folder, NULL}, {0}};

	launcher_add_gpus(m, out);
	if (launch->program->needs_secret)
		engine_expand(m->engine->with_secret, values, out);
}

void launch_add_rank_words(struct member *m, const struct launch *launch, struct words *out)
{
	launcher_add_words(m, launch, launch->program->rank_words, out);
}

void launch_add_host_words(struct member *m, const struct launch *launch, struct words *out)
{
	launcher_add_words(m, launch, launch->program->host_words, out);
}

const char *const *launch_words(struct member *m, const struct launch *launch,
				const struct launcher *launcher)
{
	struct words words = WORDS_INIT(&m->arena);
	const char *const *own = launcher->words(m, launch);

	if (!own)
		return NULL;
	launcher_add_secret(m, launch, &words);
	words_add_all(&words, own);
	return words.list;
}

/* Whether the launcher can start this program on such hosts; *why is a reason when not. */
static bool launch_fits(const struct fleet *fleet, const struct launcher *launcher,
			const struct program *program, const char **why)
{
	*why = "";
	if (launcher->needs_containers && !fleet->members[0].engine->has_containers)
		*why = "it needs containers, and the hosts have none";
	else if (launcher->needs_containers && !cluster_has_sshd(fleet->cluster))
		*why = "it needs an sshd in the containers, and container.sshd_port is none";
	else if (launcher->starts_hosts && !program->host_words)
		*why = "it starts one command per host, and the program is started once per rank";
	return !**why;
}

static int launch_check(const struct fleet *fleet, const struct launcher *launcher,
			const struct program *program, struct error *err)
{
	const char *why, *other;

	if (launch_fits(fleet, launcher, program, &why))
		return 0;
	error_set(err, ERROR_USAGE, "the launcher '%s' cannot start %s: %s", launcher->name,
		  program->title, why);
	for (const struct launcher *const *l = launchers; *l; l++)
		if ((*l)->words && launch_fits(fleet, *l, program, &other))
			error_advise(err, "take --launcher %s", (*l)->name);
	return -1;
}

int launch_plan(struct fleet *fleet, const struct launcher *launcher, const struct program *program,
		int timeout_s, struct arena *arena, struct launch *launch, struct error *err)
{
	int *first = ARENA_ARRAY(arena, fleet->count, int), world = 0;
	unsigned int random = 0;

	if (launch_check(fleet, launcher, program, err) < 0)
		return -1;
	for (size_t i = 0; i < fleet->count; i++) {
		first[i] = world;
		world += program->ranks[i];
	}
	RAND_bytes((unsigned char *)&random, sizeof(random));
	*launch = (struct launch){
		.fleet = fleet,
		.program = program,
		.world = world,
		.first_ranks = first,
		.root_address = fleet->members[0].address,
		.root_port = PORT_FIRST + (int)(random % PORT_COUNT),
		.timeout_s = timeout_s,
	};
	return 0;
}

/* What the hosts of one run share. */
struct launch_under_way {
	const struct launch *launch;
	const struct launcher *launcher;
	struct proc_result *root;
	/* a host cannot start its ranks, so the others stop waiting for them */
	atomic_bool given_up;
};

static int launch_fail(struct member *m, const struct program *program, struct proc_result *result,
		       struct error *err)
{
	str_add(&result->out, result->err.text);
	str_one_line(&result->out, LAST_WORDS_BYTES);
	return error_set(
		err, ERROR_FAILED,
		"%s: %s cannot be started (status %d): %s; run 'ringup up' to mend the cluster",
		m->host->name, program->title, result->status, result->out.text);
}

static int launch_one(struct member *m, void *arg, struct error *err)
{
	struct launch_under_way *run = arg;
	struct proc_result *result = ARENA_NEW(&m->arena, struct proc_result);
	const char *const *words = launch_words(m, run->launch, run->launcher);
	struct ssh_command command = {
		.timeout_s = run->launch->timeout_s, .holds_input = true, .cancel = &run->given_up};
	int rc = 0;

	if (!words)
		return 0;
	command.words = member_guarded_words(m, words);
	if (member_connect(m, err) < 0 || ssh_run(m->ssh, &command, result, err) < 0) {
		/* this host stopped because another one failed; that error is the reason */
		rc = atomic_load(&run->given_up) ? 0 : error_wrap(err, "%s", m->host->name);
	} else if (run->launch->program->never_began(result)) {
		atomic_store(&run->given_up, true);
		rc = launch_fail(m, run->launch->program, result, err);
	} else if (m->index == 0) {
		*run->root = *result;
		return 0;
	}
	proc_result_release(result);
	return rc;
}

void launch_run(const struct launch *launch, const struct launcher *launcher,
		struct proc_result *root)
{
	struct launch_under_way run = {.launch = launch, .launcher = launcher, .root = root};
	struct fleet *fleet = launch->fleet;
	size_t jobs = fleet->jobs;

	*root = (struct proc_result){0};
	fleet->jobs = fleet->count; /* ranks wait for each other: all hosts at once */
	fleet_each(fleet, launch_one, &run);
	fleet->jobs = jobs;
}
