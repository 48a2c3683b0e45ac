/* SPDX-License-Identifier: MIT */
/*
 * Stand-ins for libcuda.so.1, libnccl.so.2 and libnvidia-ml.so.1, for machines without a GPU: "device" memory is the
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
 *   STANDIN_LOG=FILE       each call is appended, as "PID NAME"; of a kernel its name; each "large copy"; "unaligned"
 *                          buffers; that there is an NCCL_CTA_POLICY
 *   STANDIN_CUINIT=N       cuInit() returns N
 *   STANDIN_GPUS=N         number of devices (8)
 *   STANDIN_SEES=0,3       the real numbers of the devices that the process sees; with $CUDA_VISIBLE_DEVICES each process
 *                          has devices of its own
 *   STANDIN_MEMORY=N       MiB of each device (81920)
 *   STANDIN_CAPABILITY=N   their major compute capability (9)
 *   STANDIN_NCCL=N         ncclGetVersion() (21803)
 *   STANDIN_HANG=1         a communicator is never ready
 *   STANDIN_ASYNC=N        ncclCommGetAsyncError() answers N after the first collective
 *   STANDIN_STOPPED=1      it does so only once a rank's process is stopped
 *   STANDIN_PROGRESS=1     collectives answer "in progress", and are so for three questions
 *   STANDIN_PLACES=1       the log has the address that each collective sends from
 *   STANDIN_LATE=N         streams are queues, as on a GPU: a collective starts N microseconds late
 *   STANDIN_LATE_EVERY=N   only every Nth one does (1)
 *   STANDIN_ABORT=N        ncclCommAbort() takes N seconds
 *   STANDIN_START=N        cuInit() takes N seconds
 *   STANDIN_MODULE=N       cuModuleLoadData() returns N
 *   STANDIN_WRONG=WHAT     a reduction is wrong: `zero`; rank 1 is `missing` or `doubled`; all bits of the `last` element
 *                          are turned over
 *   STANDIN_SAYS=FILE      what NCCL writes to $NCCL_DEBUG_FILE when a communicator is made
 *   STANDIN_LAZY=1         it does so at the first collective
 *
 * For --health time is made up: copies and kernels take what the rates below say, and nothing else. What is wrong with a
 * card stands in the file `health` beside `gpus`, a line each: "INDEX KEY VALUE".
 *
 *   memory, host, fma, mma 80   percent of the usual rate
 *   capability 7           the major compute capability; 9 without this
 *   peer2 80               percent of the usual rate of copies to card 2 and from it, where 2 is the larger number
 *   wrong 3                so many results of the kernel of f32 differ
 *   hang 1                 the kernel never ends
 *   lost 1, lost 2         the card is off the bus: from the start; once the kernel was started
 *   xid 79                 arrives while the kernel runs
 *   throttle 4             the bits of nvmlClocksEventReasons while it runs, 4 is the power cap
 *   ecc, remap_pending, remap_failed, remapped, pages_pending, celsius, sm_mhz, mig, width N: what NVML answers
 *   unsupported 1          a card without ECC and rows to remap, as GeForce cards are
 *   serial 132...          its serial number; cards have none without this
 *   silent 1               NVML never answers
 *
 * Compiled with -DSTANDIN_OLD they lack what older libraries lack: graphs and registration.
 */
#ifndef IMAGES_SIMULATED_STANDIN_H
#define IMAGES_SIMULATED_STANDIN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the made-up time comes from: GB/s and 1e12 operations a second. Round numbers of nobody's card. */
#define STANDIN_MEMORY_GBPS 2000.0
#define STANDIN_HOST_GBPS 50.0
#define STANDIN_PEER_GBPS 400.0
#define STANDIN_TFLOPS 50.0
#define STANDIN_BF16_TFLOPS 500.0

#define STANDIN_LARGE_COPY 65536 /* bytes; more are logged */

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

static inline FILE *standin_file(const char *name)
{
	const char *folder = getenv("RINGUP_SIMULATED");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "/run/ringup-simulated", name);
	return fopen(path, "re");
}

/* What the file `health` says of a card; 0: it says nothing. */
static inline int standin_health_text(int index, const char *key, char text[64])
{
	FILE *file = standin_file("health");
	char name[32], value[64];
	int number, found = 0;

	while (file && fscanf(file, "%d %31s %63s", &number, name, value) == 3)
		if (number == index && strcmp(name, key) == 0) {
			memcpy(text, value, sizeof(value));
			found = 1;
		}
	if (file)
		fclose(file);
	return found;
}

static inline double standin_health(int index, const char *key, double otherwise)
{
	char text[64];

	return standin_health_text(index, key, text) ? strtod(text, NULL) : otherwise;
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
