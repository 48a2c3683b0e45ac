/* SPDX-License-Identifier: MIT */
#include "deployer/job/supervisors.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/bringup/claim.h"
#include "deployer/bringup/operate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOST_LOOKS 4
#define LOST_LOOK_NSEC 200000000
#define SUPERVISOR_DAYS 3650 /* a job may take */
#define PIPE_BYTES (1 << 20)
/* Of what a host says of itself. */
#define RDMA_MAX 64
#define FACTS_MAX 5000
#define CORES_MAX 4096
#define GPUS_MAX 64
#define SAID_BYTES 600
#define PORTS_MAX 4000
#define PORTS_MORE 2 /* beside one per rank */

struct supervisor {
	struct supervisors *all;
	struct member *member;
	int in[2];	 /* what is written to in[1] goes to its stdin */
	struct str told; /* lines that in[1] has not taken */
	struct str line; /* the one that is being read */
	struct job_host facts;
	bool ready, done, ended;
	const char *lost; /* why it ended without its last word */
	int left;
	int fact_count;
	uint64_t heard_usec;
};

struct supervisors {
	struct fleet *fleet;
	const char *id;
	const struct job_options *options;
	supervisors_hear *hear;
	supervisors_hold *hold;
	void *hear_arg;
	void (*control)(void *arg);
	void *control_arg;
	pthread_mutex_t lock;
	pthread_cond_t said;
	atomic_bool given_up;
	struct supervisor *list;
};

/*
 * A host takes a connection and a pipe, and a rank a file (output.h). The usual soft limit of 1024
 * descriptors is for programs that call select(2), and there is none here.
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int supervisors_open(struct supervisors **all, struct fleet *fleet, const char *id,
		     const struct job_options *options, supervisors_hear *hear,
		     supervisors_hold *hold, void *arg, struct error *err)
{
	struct supervisors *s = ARENA_NEW(fleet->arena, struct supervisors);

	*s = (struct supervisors){.fleet = fleet,
				  .id = id,
				  .options = options,
				  .hear = hear,
				  .hold = hold,
				  .hear_arg = arg,
				  .lock = PTHREAD_MUTEX_INITIALIZER,
				  .said = PTHREAD_COND_INITIALIZER};
	s->list = ARENA_ARRAY(fleet->arena, fleet->count, struct supervisor);
	*all = s;
	raise_descriptor_limit();
	for (size_t i = 0; i < fleet->count; i++)
		s->list[i] = (struct supervisor){.all = s,
						 .member = &fleet->members[i],
						 .in = {-1, -1},
						 .told = STR_INIT,
						 .line = STR_INIT};
	for (size_t i = 0; i < fleet->count; i++) {
		struct supervisor *one = &s->list[i];

		if (pipe2(one->in, O_CLOEXEC) < 0) {
			error_errno(err, "cannot make a pipe");
			supervisors_close(s);
			return -1;
		}
		fcntl(one->in[1], F_SETPIPE_SZ, PIPE_BYTES);
		fcntl(one->in[1], F_SETFL, O_NONBLOCK);
		job_host_init(&one->facts, one->member);
	}
	return 0;
}

void supervisors_close(struct supervisors *s)
{
	for (size_t i = 0; i < s->fleet->count; i++) {
		fd_close(&s->list[i].in[0]);
		fd_close(&s->list[i].in[1]);
		str_release(&s->list[i].told);
		str_release(&s->list[i].line);
	}
}

/* A host says anything: what becomes a word or a part of a variable is a name or a network. */
static const char *fact_text(const char *text, struct arena *arena)
{
	size_t length = strlen(text);

	return length < 64 && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789._-:/@") == length
		       ? arena_strdup(arena, text)
		       : "";
}

static int fact_number(const char *text, int most)
{
	int number = job_fact_number(text, 0);

	return number < most ? number : most;
}

static void supervisor_note_fact(struct supervisor *one, const struct job_event *event)
{
	struct arena *arena = &one->member->arena;
	struct job_host *facts = &one->facts;
	const char *name = event->label;

	if (one->ready || one->fact_count++ > FACTS_MAX)
		return;
	if (strcmp(name, "machine") == 0)
		facts->machine = fact_text(event->text, arena);
	else if (strcmp(name, "cores") == 0)
		facts->cores = fact_number(event->text, CORES_MAX);
	else if (strcmp(name, "gpus") == 0)
		facts->gpus = fact_number(event->text, GPUS_MAX);
	else if (strcmp(name, "interface") == 0)
		facts->interface = fact_text(event->text, arena);
	else if (strcmp(name, "network") == 0)
		facts->network = fact_text(event->text, arena);
	else if (strcmp(name, "rdma") == 0 && facts->rdma.count < RDMA_MAX &&
		 *fact_text(event->text, arena))
		words_add(&facts->rdma, fact_text(event->text, arena));
	else if (strcmp(name, "port") == 0 && job_fact_number(event->text, 0) > 0)
		words_add(&facts->ports, event->text);
}

static void supervisor_note(struct supervisor *one, struct job_event *event)
{
	char other[80];

	one->heard_usec = clock_usec();
	switch (event->kind) {
	case JOB_EVENT_HELLO:
		if (event->number == JOB_PROTOCOL)
			return;
		snprintf(other, sizeof(other),
			 "its ringup-job is of another version (protocol %d); run 'ringup up'",
			 event->number);
		event->kind = JOB_EVENT_TROUBLE;
		event->text = other;
		break;
	case JOB_EVENT_FACT:
		supervisor_note_fact(one, event);
		return;
	case JOB_EVENT_READY:
		one->ready = true;
		return;
	case JOB_EVENT_LEFT:
		one->left = event->number;
		return;
	case JOB_EVENT_DONE:
		one->done = true;
		return;
	default:
		break;
	}
	one->all->hear(one->all->hear_arg, one->member->index, event);
}

/* A line of the supervisor, on the thread of its host. */
static void supervisor_line(void *arg, const char *line)
{
	struct supervisor *one = arg;
	struct job_event event;

	str_clear(&one->line);
	str_add(&one->line, line);
	job_event_read(one->line.text, &event);
	if (event.kind == JOB_EVENT_NONE)
		return;
	pthread_mutex_lock(&one->all->lock);
	supervisor_note(one, &event);
	/* output decides nothing: the deciding thread need not wake for each line of it */
	if (event.kind != JOB_EVENT_OUTPUT && event.kind != JOB_EVENT_BEAT)
		pthread_cond_signal(&one->all->said);
	pthread_mutex_unlock(&one->all->lock);
}

static int supervisor_ports(const struct supervisors *s, const struct member *m)
{
	int ranks = s->options->per_host ? s->options->per_host
		    : s->options->ranks	 ? s->options->ranks
		    : m->host->slots	 ? m->host->slots
					 : 16;

	return (ranks < PORTS_MAX ? ranks : PORTS_MAX) + PORTS_MORE;
}

static const char *const *supervisor_words(struct supervisor *one)
{
	struct member *m = one->member;
	const struct engine_value values[] = {{"folder", m->state.folder, NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);

	words_addf(&words, "%sringup-job",
		   engine_expand_word(m->engine->program_folder, values, &m->arena));
	words_add_all(&words, WORDS("host", "--id", one->all->id, "--address", m->host->address,
				    "--ports"));
	words_addf(&words, "%d", supervisor_ports(one->all, m));
	if (one->all->options->grace_s > 0)
		words_addf(&words, "--grace=%d", one->all->options->grace_s);
	return member_talk_words(m, words.list);
}

/* Why the supervisor ended before it was ready. */
static int supervisor_failed(struct member *m, struct proc_result *result, struct error *err)
{
	str_one_line(&result->err, SAID_BYTES);
	error_set(err, ERROR_FAILED, "%s: ringup-job cannot be started there (status %d): %s",
		  m->host->name, result->status, result->err.text);
	if (result->status == 126 || result->status == 127)
		error_advise(err, "run 'ringup up' to bring it there");
	return -1;
}

static bool supervisor_pauses(void *arg)
{
	const struct supervisor *one = arg;

	return one->all->hold(one->all->hear_arg) && !atomic_load(&one->all->given_up);
}

/* Its process ended, and the connection did not: most likely somebody stopped the container. */
static const char *supervisor_lost(struct member *m, const char *container, const char *started)
{
	const struct timespec pause = {.tv_nsec = LOST_LOOK_NSEC};
	struct error ignored = {0};

	for (int tries = 0; tries < LOST_LOOKS && m->engine->has_containers; tries++) {
		if (member_ask_owner(m, &ignored) < 0)
			break;
		if (!m->state.running)
			return "its container was stopped while the job ran";
		if (strcmp(m->state.container_id, container) != 0)
			return "its container was replaced while the job ran";
		if (strcmp(m->state.started, started) != 0)
			return "its container was started again while the job ran";
		nanosleep(&pause, NULL); /* the engine may not know yet */
	}
	return "the job's supervisor there was killed while the job ran";
}

static int supervisor_talk(struct supervisor *one, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct member *m = one->member;
	const char *container, *started;
	struct ssh_command command = {.input_fd = one->in[0],
				      .timeout_s = SUPERVISOR_DAYS * 86400,
				      .line = supervisor_line,
				      .arg = one,
				      .only_lines = true,
				      .paused = supervisor_pauses,
				      .even_when_interrupted = true,
				      .cancel = &one->all->given_up};

	/* a sync has asked a moment ago */
	if ((!m->state.folder && member_ask_owner(m, err) < 0) || member_check_worker(m, err) < 0)
		return -1;
	container = m->state.container_id;
	started = m->state.started;
	command.words = supervisor_words(one);
	if (ssh_run(m->ssh, &command, &result, err) < 0)
		return one->done ? 0 : error_wrap(err, "%s", m->host->name);
	if (one->ready && !one->done && !atomic_load(&one->all->given_up))
		one->lost = supervisor_lost(m, container, started);
	return one->ready ? 0 : supervisor_failed(m, &result, err);
}

static int supervisor_run(struct member *m, void *arg, struct error *err)
{
	struct supervisors *s = arg;
	struct supervisor *one = &s->list[m->index];
	int rc = supervisor_talk(one, err);

	pthread_mutex_lock(&s->lock);
	one->ended = true;
	pthread_cond_signal(&s->said);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void *supervisors_control(void *arg)
{
	struct supervisors *s = arg;

	s->control(s->control_arg);
	return NULL;
}

void supervisors_run(struct supervisors *s, void (*control)(void *arg), void *arg)
{
	size_t jobs = s->fleet->jobs;
	pthread_t thread;

	s->control = control;
	s->control_arg = arg;
	if (pthread_create(&thread, NULL, supervisors_control, s) != 0)
		oom();
	s->fleet->jobs = s->fleet->count; /* all hosts at once */
	fleet_each(s->fleet, supervisor_run, s);
	s->fleet->jobs = jobs;
	/* one that was left out, because the person interrupted, has ended too */
	supervisors_lock(s);
	for (size_t i = 0; i < s->fleet->count; i++)
		s->list[i].ended = true;
	pthread_cond_signal(&s->said);
	supervisors_unlock(s);
	pthread_join(thread, NULL);
}

void supervisors_lock(struct supervisors *s)
{
	pthread_mutex_lock(&s->lock);
}

void supervisors_unlock(struct supervisors *s)
{
	pthread_mutex_unlock(&s->lock);
}

/* Gives the host's thread as much as it takes now: lines stay whole, however slow the host is. */
static void supervisor_give(struct supervisor *one)
{
	size_t given = 0;

	while (one->in[1] >= 0 && given < one->told.length) {
		ssize_t done = write(one->in[1], one->told.text + given, one->told.length - given);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno != EAGAIN)
			given = one->told
					.length; /* its connection is lost, which is an error of its own */
		if (done < 0)
			break;
		given += (size_t)done;
	}
	str_drop(&one->told, given);
}

void supervisors_wait(struct supervisors *s, int msec)
{
	struct timespec until;

	for (size_t i = 0; i < s->fleet->count; i++)
		supervisor_give(&s->list[i]);

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)msec * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&s->said, &s->lock, &until);
}

bool supervisors_ready(const struct supervisors *s)
{
	for (size_t i = 0; i < s->fleet->count; i++)
		if (!s->list[i].ready)
			return false;
	return true;
}

bool supervisors_failed(const struct supervisors *s)
{
	for (size_t i = 0; i < s->fleet->count; i++)
		if (s->list[i].ended && !s->list[i].ready)
			return true;
	return false;
}

bool supervisors_ended(const struct supervisors *s, uint64_t silence_usec)
{
	uint64_t now = clock_usec();

	for (size_t i = 0; i < s->fleet->count; i++)
		if (!s->list[i].ended &&
		    (s->hold(s->hear_arg) || supervisor_silence_usec(s, i, now) <= silence_usec))
			return false;
	return true;
}

const char *supervisors_waiting(const struct supervisors *s, struct arena *arena)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < s->fleet->count; i++)
		if (!s->list[i].ready)
			str_addf(&names, "%s%s", names.length ? ", " : "",
				 s->list[i].member->host->name);
	return arena_strdup(arena, names.text);
}

/* Ends the host's part with an error, since what it was to be told is not whole. */
static void supervisor_end(struct supervisor *one, const char *why)
{
	char text[80];
	struct job_event event = {.kind = JOB_EVENT_TROUBLE, .text = text};

	snprintf(text, sizeof(text), "%s", why);
	fd_close(&one->in[1]);
	one->all->hear(one->all->hear_arg, one->member->index, &event);
}

void supervisor_tell(struct supervisors *s, size_t index, const char *lines)
{
	struct supervisor *one = &s->list[index];

	if (one->ended || one->in[1] < 0)
		return;
	str_add(&one->told, lines);
	if (one->told.overflowed)
		supervisor_end(one, "it does not take what it is told (64 MiB and more)");
	supervisor_give(one);
}

void supervisors_beat(struct supervisors *s)
{
	for (size_t i = 0; i < s->fleet->count; i++)
		if (s->list[i].ready && !s->list[i].told.length)
			supervisor_tell(s, i, "beat\n");
}

void supervisors_tell(struct supervisors *s, const char *lines)
{
	for (size_t i = 0; i < s->fleet->count; i++)
		if (s->list[i].ready)
			supervisor_tell(s, i, lines);
}

void supervisors_stop(struct supervisors *s)
{
	for (size_t i = 0; i < s->fleet->count; i++)
		fd_close(&s->list[i].in[1]);
}

void supervisors_give_up(struct supervisors *s)
{
	atomic_store(&s->given_up, true);
}

void supervisor_facts(const struct supervisors *s, size_t index, struct job_host *host)
{
	*host = s->list[index].facts;
}

bool supervisor_has_ended(const struct supervisors *s, size_t index)
{
	return s->list[index].ended;
}

const char *supervisor_story(const struct supervisors *s, size_t index)
{
	return s->list[index].lost ? s->list[index].lost
				   : "the connection was lost while the job ran";
}

void supervisor_heard(struct supervisors *s, size_t index, uint64_t now)
{
	s->list[index].heard_usec = now;
}

uint64_t supervisor_silence_usec(const struct supervisors *s, size_t index, uint64_t now)
{
	uint64_t heard = s->list[index].heard_usec;

	return heard && now > heard ? now - heard : 0;
}

int supervisor_left(const struct supervisors *s, size_t index)
{
	return s->list[index].left;
}

bool supervisor_is_done(const struct supervisors *s, size_t index)
{
	return s->list[index].done;
}
