/* SPDX-License-Identifier: MIT */
/* What the process of one card does. */
#ifndef WORKER_CARD_H
#define WORKER_CARD_H

#include "backend/nccl/cuda.h"
#include "health/health.h"
#include "health/nvml.h"

struct card {
	int number; /* as NVML counts; without NVML as CUDA does */
	int peer;   /* the other one of a pair (peers.h); -1: none */
	struct health_shared *shared;
	int out;     /* the lines go there, each by one write() */
	int turn[2]; /* a pipe that holds one byte: who has read it may use the host's memory */
	int64_t deadline_usec; /* of clock_usec(), for all that it does */
	int burn_sec;
	struct nvml nvml;
	void *device; /* NVML's handle; NULL: it has none */
	void *events; /* NVML's set, which Xids arrive in; NULL: none */
	struct cuda cuda;
	int cuda_device;
	void *context, *stream, *start, *stop; /* two events */
};

/* A line about the card: card_begin() opens it with its number and its phase, card_end() closes and writes it. */
struct card_line {
	FILE *to;
	char *text;
	size_t length;
};
void card_begin(const struct card *card, struct card_line *line);
void card_end(const struct card *card, struct card_line *line);

/* It came no further: a line with the reason. */
void card_failed(const struct card *card, const char *reason, bool lost);

/* Counts the cards, by NVML or without it by CUDA, and writes the line of the host. */
void card_census(struct card *card, const char *host);

/* All phases. */
void card_measure(struct card *card);

/* Opens CUDA for this card: context, stream and events. Fails with the reason. */
int card_open_cuda(struct card *card, struct failure *err);

/* Waits for its turn among the cards, but not for ever: false when it goes on without it. */
bool card_take_turn(struct card *card);
void card_end_turn(struct card *card);

/* Begins to take the time of what is queued from now on. */
int card_start_clock(struct card *card, struct failure *err);

/* Waits until the queue is empty and stores the seconds since card_start_clock(). What hangs ends at the deadline. */
int card_stop_clock(struct card *card, double *seconds, struct failure *err);

#endif
