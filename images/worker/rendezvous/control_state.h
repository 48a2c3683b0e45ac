/* SPDX-License-Identifier: MIT */
/*
 * What control.c (calls of the main thread) and control_thread.c (the thread) share. Fields are
 * guarded by `lock` unless they are atomic or said to be fixed at start.
 */
#ifndef WORKER_CONTROL_STATE_H
#define WORKER_CONTROL_STATE_H

#include "rendezvous/control.h"

#include <pthread.h>

#define SETTLE_USEC 300000 /* how long a lost data connection waits for a better explanation */
#define PROBE_USEC 1000000 /* how long a rank may take to say how far it has come */
#define STUCK_USEC 2000000 /* how long a main thread may take to come back after a failure */
/* What other ranks wait longer than rank 0, so that rank 0's story is told. */
#define MARGIN_USEC 2000000
#define STAGE_STEPS (UINT64_C(1) << 32) /* from one control_gather() to the next */
#define LEAVE_USEC 3000000 /* how long a rank may take to give its devices back after a failure */
#define SEND_USEC 5000000  /* deadline of one message */
#define CLOSE_USEC 300000  /* how long rank 0 waits at the end for the others to have read all */

/* How far a rank has come; the payload of FRAME_PONG. */
struct progress {
	uint64_t step, done; /* `done`: see control_awaits() */
	int32_t phase;
	int32_t awaits; /* the rank it waits for, -1: none */
};

/* The far end of one control connection. */
struct peer {
	int fd;		  /* fixed at start, closed at the end; -1: unused (rank 0 itself) */
	atomic_bool gone; /* the connection has ended */
	struct frame head;
	size_t have; /* bytes of head and payload read so far */
	char *body;  /* payload being read */
	bool full;   /* `box` holds a part or share not yet taken by the main thread */
	char *box;
	size_t box_bytes;
	bool answered; /* `progress` is an answer to the last ping */
	struct progress progress;
};

struct control {
	const struct group *group;
	int peer_count; /* fixed: world on rank 0, else 1 */
	struct peer *peers;
	pthread_t thread;
	int wake_fd;	       /* eventfd: the main thread changed something */
	pthread_mutex_t lock;  /* all below that is not atomic */
	pthread_mutex_t sends; /* one message at a time */
	pthread_cond_t changed;

	bool finishing;	    /* the next share is the last */
	bool closing;	    /* the run is over: ends of connections are no news */
	bool stopping;	    /* the thread shall end */
	bool acknowledged;  /* the main thread knows of the failure */
	int64_t leave_usec; /* when the devices must have been given back; 0: not yet under way */
	bool alone;	    /* rank 0 cannot be reached */
	struct failure failure; /* valid once `failed` */
	bool suspected;		/* rank 0: `suspicion` is a report being settled */
	struct failure suspicion;
	bool probing;			    /* all ranks were asked how far they are */
	int64_t earliest_usec, settle_usec; /* when it becomes the failure, at the latest */
	int64_t failed_usec;

	atomic_bool failed;
	atomic_int phase, awaits;
	_Atomic uint64_t step, done;
	_Atomic int64_t step_deadline_usec; /* 0: no step running */
	int64_t spare_usec;		    /* the main thread's: control_spare() */
	int64_t patience_usec; /* the thread's: rank 0 was asked and must answer by then; 0: not */

	void (*stuck)(void *arg, const struct failure *failure, bool alone);
	void *stuck_arg;
};

/* The thread's body; @arg is the struct control. */
void *control_thread(void *arg);

/* Sends one message to peers[@index]; errors are left to the thread, which will see the end of the
 * connection. */
int control_send(struct control *control, int index, enum frame_type type, const void *data,
		 size_t bytes);

/* With the lock held: takes in a report, from rank @from. On other ranks than 0 it becomes the
 * failure at once. */
void control_report(struct control *control, const struct failure *report, int from);

void control_wake(struct control *control);

#endif
