/* SPDX-License-Identifier: MIT */
#include "sgd/sgd.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "sgd/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE 7 /* the order of the images; has no factor in common with DIGITS_TRAIN */
#define WARMUPS 20
#define ALONE_USEC 250000 /* how often rank 0 reports while it trains alone */
#define TOLERANCE 0.01	  /* sums in another order round otherwise, and steps build on each other */

struct training {
	const struct sgd_setup *setup;
	struct sgd *sgd;
	struct mesh mesh;
	struct digit *digits;
	float *weights, *vector;
	double loss, busy_usec; /* of the run that has just ended */
};

/* What each rank tells rank 0 after a run. */
struct tale {
	double busy_usec;
	uint64_t weights; /* hash */
	double loss;
};

void sgd_learn(const float *weights, const struct digit *digits, int step, int learner,
	       int learners, float *vector)
{
	memset(vector, 0, SGD_BYTES);
	for (int i = learner; i < SGD_BATCH; i += learners) {
		uint64_t at = ((uint64_t)step * SGD_BATCH + (uint64_t)i) * STRIDE % DIGITS_TRAIN;
		int guess;

		vector[NETWORK_WEIGHTS] += network_learn(weights, &digits[at], vector, &guess);
	}
}

/* FNV-1a over the bytes. */
static uint64_t sgd_hash(const float *weights)
{
	const unsigned char *bytes = (const unsigned char *)weights;
	uint64_t value = 0xcbf29ce484222325u;

	for (size_t i = 0; i < NETWORK_WEIGHTS * sizeof(*weights); i++)
		value = (value ^ bytes[i]) * 0x100000001b3u;
	return value;
}

/* Brings weights, images and code into the caches, so that the first way is not slower for it. */
static void sgd_warm_up(struct training *t)
{
	network_init(t->weights);
	for (int step = 0; step < WARMUPS; step++)
		sgd_learn(t->weights, t->digits, step, 0, 1, t->vector);
}

static void sgd_strike(const struct training *t, enum phase phase, int step)
{
	if (step == t->sgd->steps / 2)
		fault_strike(t->setup->fault, phase, t->setup->group->rank);
}

/* Rank 0 lets the others know now and then that it is at work. */
static int train_alone(struct training *t, struct failure *err)
{
	const struct group *group = t->setup->group;
	int32_t step = group->rank == 0 ? 0 : t->sgd->steps / 2;

	sgd_strike(t, PHASE_ONE, step);
	do {
		int64_t until = clock_usec() + ALONE_USEC;

		while (group->rank == 0 && step < t->sgd->steps && clock_usec() < until) {
			sgd_learn(t->weights, t->digits, step, 0, 1, t->vector);
			network_step(t->weights, t->vector, SGD_RATE / SGD_BATCH);
			sgd_strike(t, PHASE_ONE, ++step);
		}
		if (control_gather(group->control, NULL, 0, NULL, err) < 0 ||
		    control_share(group->control, &step, sizeof(step), err) < 0)
			return -1;
	} while (step < t->sgd->steps);
	t->loss = (double)t->vector[NETWORK_WEIGHTS] / SGD_BATCH;
	return 0;
}

/* Sums the gradient vector over all ranks, in place. */
static int sum_up(struct training *t, float *vector, struct failure *err)
{
	const struct sgd_setup *s = t->setup;
	struct collective call = {.kind = ALL_REDUCE,
				  .src = vector,
				  .dst = vector,
				  .count = SGD_VECTOR,
				  .type = DTYPE_F32,
				  .op = OP_SUM};
	void *send, *recv;

	if (!s->backend->put)
		return s->backend->collective(s->state, &call, err);
	s->backend->buffers(s->state, &send, &recv);
	call.src = call.dst = recv;
	if (s->backend->put(s->state, recv, vector, SGD_BYTES, err) < 0 ||
	    s->backend->collective(s->state, &call, err) < 0)
		return -1;
	return s->backend->get(s->state, vector, recv, SGD_BYTES, err);
}

static int train_by_sums(struct training *t, struct failure *err)
{
	const struct sgd_setup *s = t->setup;
	const struct group *group = s->group;
	float *vector = t->vector;
	void *send, *recv;

	s->backend->buffers(s->state, &send, &recv);
	if (!s->backend->put)
		vector = recv;
	for (int step = 0; step < t->sgd->steps; step++) {
		int64_t begin;

		sgd_learn(t->weights, t->digits, step, group->rank, group->world, vector);
		sgd_strike(t, PHASE_SUM, step);
		begin = clock_nsec();
		control_begin(group->control, begin / 1000);
		if (sum_up(t, vector, err) < 0)
			return -1;
		t->busy_usec += (double)(clock_nsec() - begin) / 1000;
		network_step(t->weights, vector, SGD_RATE / SGD_BATCH);
		if (step == t->sgd->steps / 2 && fault_hits(s->fault, FAULT_DRIFT, group->rank))
			t->weights[0] += 1;
	}
	control_end(group->control);
	t->loss = (double)vector[NETWORK_WEIGHTS] / SGD_BATCH;
	return 0;
}

static int train_by_server(struct training *t, bool async, struct failure *err)
{
	const struct server server = {.group = t->setup->group,
				      .mesh = &t->mesh,
				      .digits = t->digits,
				      .fault = t->setup->fault,
				      .steps = t->sgd->steps,
				      .async = async};

	return server_run(&server, t->weights, &t->loss, &t->busy_usec, err);
}

static int train_in_step(struct training *t, struct failure *err)
{
	return train_by_server(t, false, err);
}

static int train_async(struct training *t, struct failure *err)
{
	return train_by_server(t, true, err);
}

static const struct way {
	const char *name;
	enum phase phase;
	int (*train)(struct training *t, struct failure *err);
	int idle;     /* ranks that do not learn */
	bool checked; /* weights and loss are those of all ranks */
} ways[SGD_RUNS] = {
	{"one", PHASE_ONE, train_alone, 0, false},
	{"sum", PHASE_SUM, train_by_sums, 0, true},
	{"server", PHASE_SERVER, train_in_step, 1, false},
	{"async", PHASE_ASYNC, train_async, 1, false},
};

/* Rank 0: are the ranks' weights the same, and is the loss that of rank 0 alone? */
static void sgd_judge(const struct training *t, const struct tale *tales, struct failure *verdict)
{
	const struct group *group = t->setup->group;
	double alone = t->sgd->runs[0].loss, difference = fabs(tales[0].loss - alone);

	for (int rank = 1; rank < group->world; rank++) {
		const char *host = group->members[rank].host;

		if (tales[rank].weights == tales[0].weights &&
		    memcmp(&tales[rank].loss, &tales[0].loss, sizeof(tales[0].loss)) == 0)
			continue;
		failure_set(
			verdict, STATUS_DATA, rank, host,
			"after %d steps of SGD rank %d (%s) has other weights than rank 0 (loss %.9g and %.9g): a sum went wrong",
			t->sgd->steps, rank, host, tales[rank].loss, tales[0].loss);
		return;
	}
	if (difference > TOLERANCE * (alone + 0.1))
		failure_set(
			verdict, STATUS_DATA, -1, "",
			"after %d steps of SGD the loss is %.6f, but %.6f when rank 0 trains alone",
			t->sgd->steps, tales[0].loss, alone);
}

static void fill_run(const struct training *t, const struct way *way, const struct tale *tales,
		     double seconds, struct sgd_run *run)
{
	int world = t->setup->group->world;
	bool alone = way->train == train_alone;

	run->name = way->name;
	run->learners = alone ? 1 : world - way->idle;
	run->seconds = seconds;
	run->steps_per_second = t->sgd->steps / seconds;
	run->efficiency =
		run->steps_per_second / (t->sgd->runs[0].steps_per_second * run->learners);
	for (int rank = way->idle; rank < world && !alone; rank++)
		run->share += tales[rank].busy_usec / 1e6 / seconds / run->learners;
	run->loss = t->loss;
	network_judge(t->weights, t->digits + DIGITS_TRAIN, DIGITS_COUNT - DIGITS_TRAIN,
		      &run->test_loss, &run->test_right);
}

static int train(struct training *t, const struct way *way, struct tale *tales,
		 struct failure *verdict, struct failure *err)
{
	struct control *control = t->setup->group->control;
	struct tale own = {.busy_usec = 0};
	int64_t begin;

	control_phase(control, way->phase);
	network_init(t->weights);
	t->busy_usec = t->loss = 0;
	if (control_barrier(control, err) < 0)
		return -1;
	begin = clock_nsec();
	if (way->train(t, err) < 0)
		return -1;
	own.busy_usec = t->busy_usec;
	own.loss = t->loss;
	own.weights = sgd_hash(t->weights);
	if (control_gather(control, &own, sizeof(own), tales, err) < 0)
		return -1;
	if (t->setup->group->rank == 0) {
		fill_run(t, way, tales, (double)(clock_nsec() - begin) / 1e9,
			 &t->sgd->runs[t->sgd->count++]);
		if (way->checked) {
			t->sgd->weights = own.weights;
			sgd_judge(t, tales, verdict);
		}
	}
	return control_share(control, verdict, sizeof(*verdict), err);
}

int sgd_run(const struct sgd_setup *setup, struct sgd *sgd, struct failure *verdict,
	    struct failure *err)
{
	struct training t = {.setup = setup, .sgd = sgd, .digits = digits_load()};
	struct tale *tales = calloc((size_t)setup->group->world, sizeof(*tales));
	int rc = 0;

	sgd->steps = (int)setup->group->workload.sgd_steps;
	t.weights = malloc(NETWORK_WEIGHTS * sizeof(*t.weights));
	t.vector = malloc(SGD_BYTES);
	if (!tales || !t.weights || !t.vector)
		abort();
	mesh_init(&t.mesh, setup->group);
	if (setup->group->rank == 0)
		sgd_warm_up(&t);
	for (int i = 0; i < SGD_RUNS && rc == 0 && verdict->status == STATUS_PASS; i++)
		if (setup->group->world > ways[i].idle)
			rc = train(&t, &ways[i], tales, verdict, err);
	mesh_release(&t.mesh);
	free(tales);
	free(t.weights);
	free(t.vector);
	free(t.digits);
	return rc;
}
