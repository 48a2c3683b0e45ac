/* SPDX-License-Identifier: MIT */
/*
 * The control plane: one TCP connection from each rank to rank 0, served by one thread per rank
 * that never takes part in the collectives. It carries barriers and results, notices which rank
 * died, hangs or failed, and makes all ranks end with the same reason.
 *
 * How a failure travels: a rank calls control_raise(); rank 0 settles what the cause was (it asks
 * every rank how far it has come before it blames a timeout on one, and also where a rank has seen a
 * failure that need not be its own: `rank` is -1) and tells all; each rank then
 * finds control_failed() true, and its control_raise() fills in rank 0's version of the story. If
 * the main thread does not come back within STUCK_USEC, because it hangs inside of a library,
 * `stuck` is called on the control thread and must not return. The same happens to a main thread that
 * hangs while it gives its devices back, after control_leave().
 */
#ifndef WORKER_CONTROL_H
#define WORKER_CONTROL_H

#include "atomic.h"
#include "group.h"

#include <stdnoreturn.h>

#define FRAME_BYTES_MAX (16u << 20) /* ceiling of one message */
#define NAMING_USEC 3000000	    /* from the end of a wait until the awaited rank is known */

/* Messages: this header, then `bytes` bytes of payload. */
enum frame_type {
	FRAME_WELCOME = 1, /* root to rank: struct welcome, then the members (rendezvous.c) */
	FRAME_PART,	   /* rank to root: one part of control_gather() */
	FRAME_SHARE,	   /* root to rank: the payload of control_share() */
	FRAME_FAIL,	   /* rank to root: struct failure as the rank saw it */
	FRAME_ABORT,	   /* root to rank: struct failure, final */
	FRAME_PING,	   /* root to rank: how far are you? */
	FRAME_PONG	   /* rank to root: struct progress */
};

struct frame {
	uint32_t type;
	uint32_t bytes;
};

/* Microseconds that a rank waits for another one, so that the awaited rank is named within --timeout.
 * With a timeout of less than 6 seconds the wait is 3 seconds or the timeout, whichever is shorter,
 * and the rank is named up to NAMING_USEC after the timeout. */
int64_t control_wait_usec(int timeout_sec);

/* Takes over @fds: on rank 0 one connection per rank ([0] unused), elsewhere fds[0] leads to rank
 * 0. @timeout_usec is the longest wait for another rank. @stuck(arg, failure, alone) is described
 * above; @alone is what control_raise() would return. Starts the thread. The caller keeps
 * @group, which must outlive the result. NULL with *err set if there is no thread or memory
 * for it. */
struct control *control_start(const struct group *group, const int *fds,
			      void (*stuck)(void *arg, const struct failure *failure, bool alone),
			      void *arg, struct failure *err);

/* Collects @bytes from every rank into @all (rank 0: world * @bytes; elsewhere unused, may be
 * NULL). Always followed by control_share(), which sends @bytes from rank 0 to all others. Together
 * with no bytes they are a barrier. */
int control_gather(struct control *control, const void *part, size_t bytes, void *all,
		   struct failure *err);
int control_share(struct control *control, void *data, size_t bytes, struct failure *err);
int control_barrier(struct control *control, struct failure *err);

/* The last barrier: after it a rank may leave without being called lost. */
int control_finish(struct control *control, struct failure *err);

/* Says how far this rank has come. A step is one collective: from control_begin() to the next one
 * or to control_end() the control thread watches the time, and raises a timeout if the step takes
 * longer than the group's. Steps are counted anew from each control_gather(), so that those of two
 * ranks can be compared also where not all do the same between two of them. */
void control_phase(struct control *control, enum phase phase);
void control_begin(struct control *control, int64_t now_usec);
void control_end(struct control *control);

/* How much longer than the group's timeout the steps from now on may take, since they are more than one collective; 0: no
 * longer. */
void control_spare(struct control *control, int64_t usec);

/* Notes that data is awaited from @rank, -1: none, and how much of the step's data has come before:
 * any measure that grows alike on all ranks. */
void control_awaits(struct control *control, int rank, uint64_t done);

/* Cheap: for wait loops. Once true, give up and call control_raise() with whatever you know. */
bool control_failed(const struct control *control);

/* Reports *err and replaces it by what rank 0 decided. Returns true if rank 0 could not be reached,
 * so that this rank must report the failure itself. */
bool control_raise(struct control *control, struct failure *err);

/* What is to be said has been said, and only the devices remain to be given back, which may hang:
 * control_stop() must be called within LEAVE_USEC, or after a run that passed within the group's
 * timeout. Else `stuck` is called. */
void control_leave(struct control *control);

/* Ends the thread, closes the connections and frees. */
void control_stop(struct control *control);

#endif
