/* SPDX-License-Identifier: MIT */
/*
 * Stand-ins for libcuda.so.1 and libnccl.so.2, for machines without a GPU: "device" memory is the
 * process's own, collectives go through a file that the ranks map. They show that the worker finds
 * and calls the libraries in the right order and understands what they answer; they say nothing
 * about a GPU.
 *
 * Compiled with -DSIMULATED they are those of lab hosts: the GPUs are the lines of the file `gpus`
 * in $RINGUP_SIMULATED or /run/ringup-simulated (see images/simulated/nvidia-smi), less those that
 * $CUDA_VISIBLE_DEVICES leaves out, and the worker calls itself simulated.
 *
 * The environment says what they answer:
 *
 *   STANDIN_LOG=FILE       each call is appended, as "PID NAME"
 *   STANDIN_CUINIT=N       cuInit() returns N
 *   STANDIN_GPUS=N         number of devices (8)
 *   STANDIN_SEES=0,3       the real numbers of the devices that the process sees; with $CUDA_VISIBLE_DEVICES each process
 *                          has devices of its own
 *   STANDIN_NCCL=N         ncclGetVersion() (21803)
 *   STANDIN_HANG=1         a communicator is never ready
 *   STANDIN_ASYNC=N        ncclCommGetAsyncError() answers N after the first collective
 *   STANDIN_STOPPED=1      it does so only once a rank's process is stopped
 *   STANDIN_PROGRESS=1     collectives answer "in progress", and are so for three questions
 *   STANDIN_LATE=N         streams are queues, as on a GPU: a collective starts N microseconds late
 *   STANDIN_LATE_EVERY=N   only every Nth one does (1)
 *   STANDIN_ABORT=N        ncclCommAbort() takes N seconds
 *   STANDIN_WRONG=1        the last element of a sum is one too large
 *   STANDIN_SAYS=FILE      what NCCL writes to $NCCL_DEBUG_FILE when a communicator is made
 *   STANDIN_LAZY=1         it does so at the first collective
 *
 * Compiled with -DSTANDIN_OLD they lack what older libraries lack: graphs and registration.
 */
#ifndef IMAGES_SIMULATED_STANDIN_H
#define IMAGES_SIMULATED_STANDIN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int standin_number(const char *name, int fallback)
{
	const char *text = getenv(name);

	return text ? (int)strtol(text, NULL, 10) : fallback;
}

static inline void standin_log(const char *call)
{
	const char *path = getenv("STANDIN_LOG");
	char line[128];
	int length = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), call);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		abort();
	close(fd);
}

/* What cuStreamCreate() makes. run() calls @work(@arg) in the order of the stream: now, or later on a thread. */
struct standin_stream {
	void (*run)(void (*work)(void *arg), void *arg);
};

#define LOGGED standin_log(__func__)

/*
 * Says that the library is a stand-in: "simulated, driver 550.54.15". Real ones have no such
 * function. The worker looks for it (images/worker/backend/nccl/cuda.h).
 */
const char *ringup_simulated(void);

#endif
