/* SPDX-License-Identifier: MIT */
/* Stand-in for libcuda.so.1: see standin.h. */
#include "driver.h"
#include "kernels.h"
#include "standin.h"
#include "health/burn_kernel.c"

#ifndef SIMULATED
#include <pthread.h>
#endif
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#ifdef SIMULATED
#define GPUS_MAX 64

static struct {
	int count, cuda, indices[GPUS_MAX];
	char driver[32], names[GPUS_MAX][64], uuids[GPUS_MAX][64], buses[GPUS_MAX][16];
} host;

/* Whether $CUDA_VISIBLE_DEVICES lets the GPU through, by its number or UUID. */
static int standin_is_visible(const char *index, const char *uuid)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	while (list) {
		size_t length = strcspn(list, ",");

		if ((strlen(index) == length && strncmp(list, index, length) == 0) ||
		    (length > 4 && strncmp(list, uuid, length) == 0))
			return 1;
		list = list[length] ? list + length + 1 : NULL;
	}
	return !getenv("CUDA_VISIBLE_DEVICES");
}

static void standin_add_gpu(const char *index, const char *uuid, const char *bus, const char *name,
			    const char *profile)
{
	int i = host.count;

	if (i == GPUS_MAX)
		return;
	host.indices[i] = (int)strtol(index, NULL, 10);
	snprintf(host.uuids[i], sizeof(host.uuids[0]), "%s", uuid);
	snprintf(host.buses[i], sizeof(host.buses[0]), "%s", bus);
	snprintf(host.names[i], sizeof(host.names[0]), "%s%s%s (simulated)", name,
		 profile ? " MIG " : "", profile ? profile : "");
	host.count++;
}

/* CUDA takes one MIG device: what $CUDA_VISIBLE_DEVICES names, or the first (NVIDIA's MIG user guide, "CUDA Device Enumeration"). */
static void standin_add_mig(const char *index, const char *bus, const char *name, char *mig)
{
	const char *profile = strsep(&mig, " "), *uuid;

	while ((uuid = strsep(&mig, " ")))
		if (host.count == 0 && standin_is_visible("", uuid))
			standin_add_gpu(index, uuid, bus, name, profile);
}

static void standin_read_driver(void)
{
	FILE *file = standin_file("driver");
	int major = 0, minor = 0;

	if (!file)
		return;
	if (fscanf(file, "%31s %d.%d", host.driver, &major, &minor) == 3)
		host.cuda = 1000 * major + 10 * minor;
	fclose(file);
}

/* The lines are described in images/simulated/nvidia-smi. */
static void standin_read_gpus(void)
{
	FILE *file = standin_file("gpus");
	char line[1024];

	host.count = 0;
	while (file && fgets(line, sizeof(line), file)) {
		char *at = line, *index = strsep(&at, "|"), *uuid = strsep(&at, "|"),
		     *bus = strsep(&at, "|"), *name = strsep(&at, "|"), *mig = at;

		for (int field = 5; mig && field < 10; field++) {
			mig = strchr(mig, '|');
			mig += mig != NULL;
		}
		if (mig)
			mig[strcspn(mig, "\n")] = '\0';
		if (name && mig && *mig)
			standin_add_mig(index, bus, name, mig);
		else if (name && standin_is_visible(index, uuid))
			standin_add_gpu(index, uuid, bus, name, NULL);
	}
	if (file)
		fclose(file);
}

static int gpu_count(void)
{
	return host.count;
}

const char *ringup_simulated(void)
{
	standin_read_driver();
	return host.driver;
}
#else
static int gpu_count(void)
{
	return standin_number("STANDIN_GPUS", 8);
}
#endif

static int busy = 3; /* how often a stream says "not ready" after work was put there */

struct event {
	struct timespec when;
	double made_up_s;
	atomic_int awaited; /* how often it is in the queue */
};

static int capturing, captured;
static int kernels_started;
static double made_up_s; /* that work of --health has taken */
static int current = -1; /* the device of the context */

#ifdef SIMULATED /* runs with the C libraries of containers, too: no threads */
static int standin_is_late(void)
{
	return 0;
}

static int standin_is_busy(void)
{
	return 0;
}

static void standin_queue(void (*work)(void *arg), void *arg)
{
	work(arg);
}

static void standin_delay(void *arg)
{
	(void)arg;
}
#else
/* With $STANDIN_LATE: the stream's work, which its thread does one by one. */
#define QUEUE_MAX 4096
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct {
		void (*work)(void *arg);
		void *arg;
	} ring[QUEUE_MAX];
	unsigned in, out; /* what was put there, what is done */
	int started;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *standin_work(void *arg)
{
	pthread_mutex_lock(&queue.lock);
	for (;;) {
		unsigned at = queue.out % QUEUE_MAX;

		if (queue.in == queue.out) {
			pthread_cond_wait(&queue.changed, &queue.lock);
			continue;
		}
		pthread_mutex_unlock(&queue.lock);
		queue.ring[at].work(queue.ring[at].arg);
		pthread_mutex_lock(&queue.lock);
		queue.out++;
		pthread_cond_broadcast(&queue.changed);
	}
	return arg;
}

static void standin_queue(void (*work)(void *arg), void *arg)
{
	pthread_mutex_lock(&queue.lock);
	if (!queue.started++ && pthread_create(&queue.thread, NULL, standin_work, NULL) != 0)
		abort();
	while (queue.in - queue.out == QUEUE_MAX)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.ring[queue.in % QUEUE_MAX].work = work;
	queue.ring[queue.in++ % QUEUE_MAX].arg = arg;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

static int standin_is_late(void)
{
	return getenv("STANDIN_LATE") != NULL;
}

static int standin_is_busy(void)
{
	int left;

	pthread_mutex_lock(&queue.lock);
	left = queue.in != queue.out;
	pthread_mutex_unlock(&queue.lock);
	return left;
}

static void standin_delay(void *arg)
{
	static int kernels;

	(void)arg;
	if (++kernels % standin_number("STANDIN_LATE_EVERY", 1) == 0)
		usleep((unsigned)standin_number("STANDIN_LATE", 0));
}
#endif

/* A graph is as late as what was recorded, and does nothing: that was done while it was recorded. */
static void standin_run(void (*work)(void *arg), void *arg)
{
	captured += capturing;
	if (!standin_is_late() || capturing) {
		work(arg);
		return;
	}
	standin_queue(standin_delay, NULL);
	standin_queue(work, arg);
}

static void standin_note_time(void *arg)
{
	struct event *event = arg;

	if (clock_gettime(CLOCK_MONOTONIC, &event->when) < 0)
		abort();
	event->made_up_s = made_up_s;
	atomic_fetch_sub(&event->awaited, 1);
}

int cuInit(unsigned flags)
{
	LOGGED;
#ifdef SIMULATED
	standin_read_gpus();
	if (!host.count)
		return 100;
#endif
	sleep((unsigned)standin_number("STANDIN_START", 0));
	return flags ? 1 : standin_number("STANDIN_CUINIT", 0);
}

int cuDriverGetVersion(int *version)
{
	LOGGED;
#ifdef SIMULATED
	standin_read_driver();
	*version = host.cuda;
#else
	*version = 12020;
#endif
	return 0;
}

int cuGetErrorString(int error, const char **text)
{
	*text = "a text of the driver";
	return error == 77777;
}

int cuDeviceGetCount(int *count)
{
	LOGGED;
	*count = gpu_count();
	return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
	LOGGED;
	*device = ordinal;
	return ordinal < gpu_count() ? 0 : 101;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
#ifdef SIMULATED
	snprintf(name, (size_t)bytes, "%s", host.names[device]);
#else
	snprintf(name, (size_t)bytes, "stand-in GPU %d", device);
#endif
	return 0;
}

#ifndef SIMULATED
/* The real number of a device. */
static int standin_device(int device)
{
	const char *at = getenv("STANDIN_SEES");

	for (int i = 0; i < device && at; i++) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return at ? (int)strtol(at, NULL, 10) : device;
}
#endif

int cuDeviceGetPCIBusId(char *bus, int bytes, int device)
{
#ifdef SIMULATED
	snprintf(bus, (size_t)bytes, "%s", host.buses[device]);
#else
	snprintf(bus, (size_t)bytes, "0000:%02x:00.0", standin_device(device) + 1);
#endif
	return 0;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
	memset(uuid, 0, 16);
#ifdef SIMULATED
	int digits = 0;

	for (const char *at = host.uuids[device] + 3; *at && digits < 32; at++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = strchr(hex, *at);

		if (digit)
			uuid[digits / 2] |= (unsigned char)((digit - hex) << (digits % 2 ? 0 : 4));
		digits += digit != NULL;
	}
#else
	int own = getenv("CUDA_VISIBLE_DEVICES") ? (int)getpid() : 0;

	memcpy(uuid, &own, sizeof(own));
	uuid[15] = (unsigned char)(standin_device(device) + 1);
#endif
	return 0;
}

static int contexts[64];

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	LOGGED;
	*context = &contexts[device];
	return 0;
}

int cuDevicePrimaryCtxRelease(int device)
{
	LOGGED;
	return device < 0;
}

int cuCtxSetCurrent(void *context)
{
	LOGGED;
#ifdef SIMULATED
	current = context ? host.indices[(int *)context - contexts] : -1;
#endif
	return context ? 0 : 201;
}

int cuCtxSynchronize(void)
{
	while (standin_is_busy())
		usleep(100);
	return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	LOGGED;
	*address = (uint64_t)(uintptr_t)malloc(bytes);
	return *address ? 0 : 2;
}

int cuMemFree_v2(uint64_t address)
{
	LOGGED;
	free((void *)(uintptr_t)address);
	return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	if (bytes > STANDIN_LARGE_COPY)
		standin_log("large copy");
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
	if (bytes > STANDIN_LARGE_COPY)
		standin_log("large copy");
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	static struct standin_stream only = {.run = standin_run};

	LOGGED;
	*stream = &only;
	return flags > 1;
}

int cuStreamDestroy_v2(void *stream)
{
	LOGGED;
	return stream ? 0 : 400;
}

int cuStreamQuery(void *stream)
{
	if (!stream)
		return 400;
	if (standin_is_busy() || busy-- > 0)
		return 600;
	busy = 3;
	return 0;
}

int cuEventCreate(void **event, unsigned flags)
{
	LOGGED;
	*event = calloc(1, sizeof(struct event));
	return flags || !*event;
}

int cuEventDestroy_v2(void *event)
{
	LOGGED;
	free(event);
	return 0;
}

int cuEventQuery(void *event)
{
	if (kernels_started && standin_health(current, "hang", 0) > 0)
		return 600;
	return atomic_load(&((struct event *)event)->awaited) ? 600 : 0;
}

int cuEventRecord(void *event, void *stream)
{
	LOGGED;
	atomic_fetch_add(&((struct event *)event)->awaited, 1);
	if (standin_is_late())
		standin_queue(standin_note_time, event);
	else
		standin_note_time(event);
	return !stream;
}

static int standin_made_up(const struct event *start, const struct event *end, float *milliseconds)
{
	*milliseconds = (float)((end->made_up_s - start->made_up_s) * 1e3);
	return 0;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
	const struct timespec *a = &((struct event *)start)->when,
			      *b = &((struct event *)end)->when;

	if (((struct event *)end)->made_up_s > ((struct event *)start)->made_up_s)
		return standin_made_up(start, end, milliseconds);
	*milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 +
				(double)(b->tv_nsec - a->tv_nsec) / 1e6);
	return 0;
}

#ifndef STANDIN_OLD
static int graphs;

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	LOGGED;
	captured = 0;
	return mode != 1 || !stream || capturing++;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	LOGGED;
	*graph = &graphs;
	return !stream || !capturing--;
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	LOGGED;
	*exec = &capturing;
	return graph != &graphs || flags;
}

int cuGraphLaunch(void *exec, void *stream)
{
	LOGGED;
	for (int i = 0; i < captured && standin_is_late(); i++)
		standin_queue(standin_delay, NULL);
	return exec != &capturing || !stream || capturing;
}

int cuGraphExecDestroy(void *exec)
{
	LOGGED;
	return exec != &capturing;
}

int cuGraphDestroy(void *graph)
{
	LOGGED;
	return graph != &graphs;
}
#endif

/* For --health. Nothing is copied and nothing calculated but what the worker looks at. */
static int standin_take(double amount, double rate, const char *key, void *stream)
{
	made_up_s += amount / 1e9 / (rate * standin_health(current, key, 100) / 100);
	return stream ? 0 : 400;
}

int cuDeviceGetByPCIBusId(int *device, const char *bus)
{
	char own[16];

	for (*device = 0; *device < gpu_count(); ++*device)
		if (cuDeviceGetPCIBusId(own, sizeof(own), *device) == 0 && strcmp(own, bus) == 0)
			return 0;
	return 101;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute == 16   ? 132 /* multiprocessors */
		 : attribute == 75 ? standin_health(device, "capability",
						    standin_number("STANDIN_CAPABILITY", 9))
				   : 0;
	return device < gpu_count() ? 0 : 101;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = (size_t)standin_number("STANDIN_MEMORY", 80 << 10) << 20;
	return device < gpu_count() ? 0 : 101;
}

int cuMemGetInfo_v2(size_t *left, size_t *all)
{
	*left = *all = (size_t)1 << 22;
	return 0;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	*memory = malloc(bytes);
	return *memory && !flags ? 0 : 2;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	return to && from ? standin_take(2.0 * (double)bytes, STANDIN_MEMORY_GBPS, "memory", stream)
			  : 1;
}

int cuMemsetD32Async(uint64_t to, unsigned value, size_t words, void *stream)
{
	return to && value
		       ? standin_take(4.0 * (double)words, STANDIN_MEMORY_GBPS, "memory", stream)
		       : 1;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	return to && from ? standin_take((double)bytes, STANDIN_HOST_GBPS, "host", stream) : 1;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
	return to && from ? standin_take((double)bytes, STANDIN_HOST_GBPS, "host", stream) : 1;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = 1;
	return device != peer && device < gpu_count() && peer < gpu_count() ? 0 : 101;
}

int cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
	return peer && !flags ? 0 : 1;
}

static int standin_index(void *context)
{
#ifdef SIMULATED
	return host.indices[(int *)context - contexts];
#else
	return (int)((int *)context - contexts);
#endif
}

int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		      size_t bytes, void *stream)
{
	int a = standin_index(to_context), b = standin_index(from_context), saved = current, rc;
	char key[32];

	if (!to || !from || a == b)
		return 1;
	snprintf(key, sizeof(key), "peer%d", a > b ? a : b);
	current = a < b ? a : b;
	rc = standin_take((double)bytes, STANDIN_PEER_GBPS, key, stream);
	current = saved;
	return rc;
}

static int standin_launch_verify(const struct standin_kernel *kernel, unsigned blocks, void *stream,
				 void **parameters)
{
	struct standin_launch *launch = standin_launch_of(kernel, parameters);

	standin_log(kernel->name);
	if (!stream || !blocks)
		abort();
	if (standin_is_late())
		standin_queue(standin_verify, launch);
	else
		standin_verify(launch);
	return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
	*module = (void *)(uintptr_t)image;
	return strstr(image, ".visible .entry ") ? standin_number("STANDIN_MODULE", 0)
						 : 218; /* CUDA_ERROR_INVALID_PTX */
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = standin_kernel_of(module, name);
	return *function ? 0 : 500; /* CUDA_ERROR_NOT_FOUND */
}

static int standin_burn(const char *name, unsigned blocks, unsigned threads, void *stream,
			void **parameters)
{
	float *expected = (float *)(uintptr_t) * (uint64_t *)parameters[0];
	uint32_t *errors = (uint32_t *)(uintptr_t) * (uint64_t *)parameters[1];
	unsigned rounds = *(unsigned *)parameters[2], compares = *(unsigned *)parameters[3];
	int is_f32 = strcmp(name, burn_kernels[BURN_F32].name) == 0;
	const struct burn_kernel *kernel = &burn_kernels[is_f32 ? BURN_F32 : BURN_BF16];

	if (threads != BURN_THREADS || rounds != kernel->rounds)
		return 1;
	kernels_started = 1;
	if (standin_health(current, "lost", 0) > 0) {
		setenv("STANDIN_LOST", "1", 1); /* for the stand-in of NVML */
		return 719;			/* CUDA_ERROR_LAUNCH_FAILED */
	}
	if (!compares)
		*expected = kernel->expected(rounds);
	else
		*errors = (uint32_t)(is_f32 ? standin_health(current, "wrong", 0) : 0);
	return standin_take(kernel->thread_flop * threads * blocks / 1e3,
			    is_f32 ? STANDIN_TFLOPS : STANDIN_BF16_TFLOPS, is_f32 ? "fma" : "mma",
			    stream);
}

int cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads,
		   unsigned threads_y, unsigned threads_z, unsigned shared, void *stream,
		   void **parameters, void **extra)
{
	if (y * z * threads_y * threads_z != 1 || shared || extra)
		return 1;
	if (((const struct standin_kernel *)function)->bytes > 0)
		return standin_launch_verify(function, blocks, stream, parameters);
	return standin_burn(((const struct standin_kernel *)function)->name, blocks, threads,
			    stream, parameters);
}
