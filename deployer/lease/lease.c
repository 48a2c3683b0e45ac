/* SPDX-License-Identifier: MIT */
#include "deployer/lease/lease.h"

#include "deployer/container/gpus.h"
#include "deployer/remote.h"

#include <stdlib.h>
#include <string.h>

#define LEASE_TIMEOUT_S 60
#define LEASE_WORD_BYTES 128
#define LEASE_FIELDS_MAX 6
#define LEASE_QUEUE_MAX 100000

/* --- what a host says -------------------------------------------------------------------------- */

/* A word of the host: letters, digits and a few signs; anything else is "-". */
static const char *lease_word(const char *word, size_t length, struct arena *arena)
{
	static const char signs[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@:+-/";
	const char *copy;

	if (!length || length >= LEASE_WORD_BYTES)
		return "-";
	copy = arena_strndup(arena, word, length);
	return strspn(copy, signs) == length ? copy : "-";
}

/* The words of a line, missing ones "-". How many there are. */
static size_t lease_split(const char *line, struct arena *arena,
			  const char *fields[LEASE_FIELDS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < LEASE_FIELDS_MAX; i++)
		fields[i] = "-";
	while (count < LEASE_FIELDS_MAX) {
		size_t length;

		line += strspn(line, " ");
		length = strcspn(line, " \n");
		if (!length)
			break;
		fields[count++] = lease_word(line, length, arena);
		line += length;
	}
	return count;
}

static void lease_read_gpu(const char *line, struct arena *arena, struct lease_answer *answer)
{
	static const char *const states[] = {[LEASE_FREE] = "free",
					     [LEASE_LEASED] = "leased",
					     [LEASE_USED] = "used",
					     [LEASE_OUTSIDE] = "outside"};
	const char *fields[LEASE_FIELDS_MAX];

	if (lease_split(line, arena, fields) != 3 || answer->gpu_count == answer->most ||
	    strcmp(fields[1], "-") == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (strcmp(fields[2], states[i]) == 0)
			answer->gpus[answer->gpu_count++] =
				(struct lease_gpu){fields[0], fields[1], (enum lease_state)i};
}

static void lease_read_holder(const char *line, bool is_process, struct arena *arena,
			      struct lease_answer *answer)
{
	const char *fields[LEASE_FIELDS_MAX];
	struct lease_holder *holder;

	if (lease_split(line, arena, fields) < 3 || answer->holder_count == answer->most)
		return;
	holder = &answer->holders[answer->holder_count++];
	*holder = is_process ? (struct lease_holder){fields[0], "process", "-",
						     "-",	fields[2], fields[1]}
			     : (struct lease_holder){fields[0], fields[1], fields[2],
						     fields[3], fields[4], fields[5]};
}

static void lease_read_ticket(const char *line, struct arena *arena, struct lease_answer *answer)
{
	const char *fields[LEASE_FIELDS_MAX];

	if (lease_split(line, arena, fields) != 4 || answer->ticket_count == answer->most)
		return;
	answer->tickets[answer->ticket_count++] =
		(struct lease_ticket){fields[0], fields[1], fields[2], fields[3]};
}

/* "GPU-1,GPU-2": what cannot be a UUID is left out, since it becomes a part of a variable. */
static void lease_read_taken(const char *line, struct arena *arena, struct words *taken)
{
	while (*line && *line != '\n' && taken->count < LEASE_GPUS_MAX) {
		size_t length = strcspn(line, ",\n");
		const char *word = lease_word(line, length, arena);

		if (strcmp(word, "-") != 0)
			words_add(taken, word);
		line += length + (line[length] == ',');
	}
}

void lease_answer_parse(const char *text, struct arena *arena, struct lease_answer *answer)
{
	size_t lines = 1;
	long queue;

	*answer = (struct lease_answer){.none = "", .taken = WORDS_INIT(arena)};
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	answer->most = lines < LEASE_GPUS_MAX ? lines : LEASE_GPUS_MAX;
	answer->gpus = ARENA_ARRAY(arena, answer->most, struct lease_gpu);
	answer->holders = ARENA_ARRAY(arena, answer->most, struct lease_holder);
	answer->tickets = ARENA_ARRAY(arena, answer->most, struct lease_ticket);
	answer->none = remote_value(text, "broken", arena);
	answer->is_broken = *answer->none;
	if (!answer->is_broken)
		answer->none = remote_value(text, "none", arena);
	answer->is_host_wide = strcmp(remote_value(text, "scope", arena), "host") == 0;
	queue = strtol(remote_value(text, "queue", arena), NULL, 10);
	answer->queue = queue > 0 && queue < LEASE_QUEUE_MAX ? (int)queue : 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (starts_with(line, "gpu="))
			lease_read_gpu(line + strlen("gpu="), arena, answer);
		else if (starts_with(line, "lease="))
			lease_read_holder(line + strlen("lease="), false, arena, answer);
		else if (starts_with(line, "process="))
			lease_read_holder(line + strlen("process="), true, arena, answer);
		else if (starts_with(line, "ticket="))
			lease_read_ticket(line + strlen("ticket="), arena, answer);
		else if (starts_with(line, "taken="))
			lease_read_taken(line + strlen("taken="), arena, &answer->taken);
	}
}

static size_t lease_count(const struct lease_answer *answer, enum lease_state from,
			  enum lease_state to)
{
	size_t count = 0;

	for (size_t i = 0; i < answer->gpu_count; i++)
		count += answer->gpus[i].state >= from && answer->gpus[i].state <= to;
	return count;
}

size_t lease_gpus_total(const struct lease_answer *answer)
{
	return lease_count(answer, LEASE_FREE, LEASE_USED);
}

size_t lease_gpus_free(const struct lease_answer *answer)
{
	return lease_count(answer, LEASE_FREE, LEASE_FREE);
}

/* --- who has what ------------------------------------------------------------------------------ */

/* "job train of cluster lab (alice@desk) since TIME". */
static const char *lease_holder_text(const struct lease_holder *holder, struct arena *arena)
{
	if (strcmp(holder->kind, "process") == 0)
		return arena_printf(arena, "process %s of %s, without a lease", holder->job,
				    holder->user);
	return arena_printf(arena, "%s of cluster %s (%s) since %s",
			    strcmp(holder->kind, "up") == 0 ? "the container"
			    : strcmp(holder->job, "-") == 0
				    ? "a job without a name"
				    : arena_printf(arena, "job %s", holder->job),
			    holder->cluster, holder->user, holder->since);
}

/* The job stands before the container and the process, since it is who can be asked. */
static const struct lease_holder *lease_holder_of(const struct lease_answer *answer,
						  const char *uuid)
{
	static const char *const order[] = {"job", "up", "process"};

	for (size_t k = 0; k < ARRAY_LEN(order); k++)
		for (size_t i = 0; i < answer->holder_count; i++)
			if (strcmp(answer->holders[i].uuid, uuid) == 0 &&
			    strcmp(answer->holders[i].kind, order[k]) == 0)
				return &answer->holders[i];
	return NULL;
}

const char *lease_gpu_holder(const struct lease_answer *answer, const struct lease_gpu *gpu,
			     struct arena *arena)
{
	const struct lease_holder *holder = lease_holder_of(answer, gpu->uuid);

	return holder ? lease_holder_text(holder, arena) : "";
}

const char *lease_holders_text(const struct lease_answer *answer, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT, indexes = STR_INIT;
	const char *before = "";

	/* GPUs of one holder stand together */
	for (size_t i = 0; i < answer->gpu_count; i++) {
		const struct lease_gpu *gpu = &answer->gpus[i];
		bool is_held = gpu->state == LEASE_LEASED || gpu->state == LEASE_USED;
		const char *holder = is_held ? lease_gpu_holder(answer, gpu, arena) : "";

		if (*before && strcmp(before, holder) != 0) {
			str_addf(&out, "%sGPU %s: %s", out.length ? "; " : "", indexes.text,
				 before);
			str_clear(&indexes);
		}
		if (*holder)
			str_addf(&indexes, "%s%s", indexes.length ? "," : "", gpu->index);
		before = holder;
	}
	if (*before)
		str_addf(&out, "%sGPU %s: %s", out.length ? "; " : "", indexes.text, before);
	return arena_strdup(arena, out.length ? out.text : "");
}

/* --- asking ------------------------------------------------------------------------------------ */

static void lease_add_words(struct member *m, const struct lease_request *r, struct words *out)
{
	words_addf(out, "kind=%s", r->kind);
	words_addf(out, "id=%s", r->id);
	words_addf(out, "owner=%s", m->fleet->owner.id);
	words_addf(out, "cluster=%s", r->cluster);
	words_addf(out, "job=%s", r->job);
	words_addf(out, "user=%s@%s", m->fleet->owner.user, m->fleet->owner.machine);
	if (r->count < 0)
		words_addf(out, "count=%s", r->count == LEASE_COUNT_ALL ? "all" : "free");
	else
		words_addf(out, "count=%d", r->count);
	words_addf(out, "among=%s", r->among);
	words_addf(out, "grace=%d", r->grace_s);
	words_addf(out, "ticket=%s", r->ticket);
	if (strcmp(r->kind, "up") == 0) {
		words_addf(out, "engine=%s", m->engine->name);
		words_addf(out, "container=%s", m->fleet->container);
	}
}

int member_lease(struct member *m, const char *action, const struct lease_request *request,
		 struct lease_answer *answer, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	/* who waits asks for days */
	_cleanup_(arena_release) struct arena scratch = ARENA_INIT;
	struct words arguments = WORDS_INIT(&scratch), words = WORDS_INIT(&scratch);
	/* what was taken is given back also after Ctrl-C */
	struct ssh_command command = {.timeout_s = LEASE_TIMEOUT_S,
				      .even_when_interrupted = strcmp(action, "give") == 0};

	words_add(&arguments, action);
	lease_add_words(m, request, &arguments);
	if (remote_script("lease", arguments.list, &words, err) < 0 || member_connect(m, err) < 0)
		return -1;
	command.words = words.list;
	if (ssh_check(m->ssh, &command, "cannot ask for its GPUs", &result, err) < 0)
		return error_wrap(err, "%s", m->host->name);
	lease_answer_parse(result.out.text ? result.out.text : "", &m->arena, answer);
	return 0;
}

const char *member_lease_among(struct member *m)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (wish.kind == GPU_COUNT && m->engine->has_containers)
		return "up";
	return wish.kind == GPU_NONE ? "-" : gpu_wish_text(&wish, &m->arena);
}
