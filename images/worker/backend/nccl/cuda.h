/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API, opened with dlopen() so that one program runs with and without a GPU and
 * needs no toolkit to be built. Names, numbers and signatures are those of cuda.h (CUDA Driver API
 * reference, docs.nvidia.com/cuda/cuda-driver-api); only what the worker calls is here. Functions
 * that return int return a CUresult, 0 is CUDA_SUCCESS.
 */
#ifndef WORKER_CUDA_H
#define WORKER_CUDA_H

#include "failure.h"

#include <stdbool.h>
#include <stddef.h>

typedef uint64_t cuda_address; /* CUdeviceptr */

struct cuda {
	char path[512];	 /* the file that was opened */
	char driver[32]; /* the kernel module's version, "" if none is loaded */
	bool simulated;	 /* a lab host's stand-in: there is no GPU, and the CPU does the work */
	int version;	 /* cuDriverGetVersion(): 1000 * major + 10 * minor; 0: not open */
	int devices;	 /* cuDeviceGetCount(), after cuda_start() */

	int (*cuInit)(unsigned flags);
	int (*cuDriverGetVersion)(int *version);
	int (*cuGetErrorString)(int error, const char **text);
	int (*cuDeviceGetCount)(int *count);
	int (*cuDeviceGet)(int *device, int ordinal);
	int (*cuDeviceGetName)(char *name, int bytes, int device);
	int (*cuDeviceGetPCIBusId)(char *bus, int bytes, int device);
	int (*cuDeviceGetUuid)(uint8_t uuid[16], int device);	   /* NULL before CUDA 9.2 */
	int (*cuDeviceGetUuidOfMig)(uint8_t uuid[16], int device); /* _v2; NULL before CUDA 11.4 */
	int (*cuDevicePrimaryCtxRetain)(void **context, int device);
	int (*cuDevicePrimaryCtxRelease)(int device);
	int (*cuCtxSetCurrent)(void *context);
	int (*cuCtxSynchronize)(void);
	int (*cuMemAlloc)(cuda_address *address, size_t bytes);
	int (*cuMemFree)(cuda_address address);
	int (*cuMemcpyHtoD)(cuda_address to, const void *from, size_t bytes);
	int (*cuMemcpyDtoH)(void *to, cuda_address from, size_t bytes);
	int (*cuStreamCreate)(void **stream, unsigned flags);
	int (*cuStreamDestroy)(void *stream);
	int (*cuStreamQuery)(void *stream);
	int (*cuEventCreate)(void **event, unsigned flags);
	int (*cuEventDestroy)(void *event);
	int (*cuEventQuery)(void *event);
	int (*cuEventRecord)(void *event, void *stream);
	int (*cuEventElapsedTime)(float *milliseconds, void *start, void *end);

	/* NULL in drivers before CUDA 11.4 */
	int (*cuStreamBeginCapture)(void *stream, int mode);
	int (*cuStreamEndCapture)(void *stream, void **graph);
	int (*cuGraphInstantiateWithFlags)(void **exec, void *graph, unsigned long long flags);
	int (*cuGraphLaunch)(void *exec, void *stream);
	int (*cuGraphExecDestroy)(void *exec);
	int (*cuGraphDestroy)(void *graph);

	/* for --health and kernels; each may be NULL */
	int (*cuDeviceGetByPCIBusId)(int *device, const char *bus);
	int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
	int (*cuDeviceTotalMem)(size_t *bytes, int device);
	int (*cuMemGetInfo)(size_t *free_bytes, size_t *all_bytes);
	int (*cuMemHostAlloc)(void **memory, size_t bytes, unsigned flags);
	int (*cuMemcpyDtoDAsync)(cuda_address to, cuda_address from, size_t bytes, void *stream);
	int (*cuMemcpyHtoDAsync)(cuda_address to, const void *from, size_t bytes, void *stream);
	int (*cuMemcpyDtoHAsync)(void *to, cuda_address from, size_t bytes, void *stream);
	int (*cuDeviceCanAccessPeer)(int *can, int device, int peer);
	int (*cuCtxEnablePeerAccess)(void *peer, unsigned flags);
	int (*cuMemcpyPeerAsync)(cuda_address to, void *to_context, cuda_address from,
				 void *from_context, size_t bytes, void *stream);
	int (*cuMemsetD32Async)(cuda_address to, unsigned value, size_t words, void *stream);
	int (*cuModuleLoadData)(void **module, const void *image);
	int (*cuModuleGetFunction)(void **function, void *module, const char *name);
	int (*cuLaunchKernel)(void *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
			      unsigned threads, unsigned threads_y, unsigned threads_z,
			      unsigned shared_bytes, void *stream, void **parameters, void **extra);
};

#define CUDA_MULTIPROCESSORS 16	 /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
#define CUDA_CAPABILITY_MAJOR 75 /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
#define CUDA_CAPABILITY_MINOR 76

#define CUDA_CAPTURE_THREAD_LOCAL 1 /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */

#define CUDA_NOT_READY 600	   /* CUDA_ERROR_NOT_READY: the stream has work left */
#define CUDA_STREAM_NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */

/* Opens libcuda.so.1 and fills *cuda; asks the driver nothing but its version. On failure
 * err->reason says why there is none, and cuda->driver still tells of the kernel module. */
int cuda_open(struct cuda *cuda, struct failure *err);

/* cuInit() and the number of devices; fails if there is none or the driver refuses. */
int cuda_start(struct cuda *cuda, struct failure *err);

/* A kernel of a text of PTX: its name, and where its CUfunction goes. */
struct cuda_kernel {
	const char *name;
	void **function;
};

/* Has the driver compile @text for the current context's device, and fills the functions of @kernels ([count]). */
int cuda_load(const struct cuda *cuda, const char *text, const struct cuda_kernel *kernels,
	      size_t count, struct failure *err);

/* How many multiprocessors the device has. */
int cuda_processors(const struct cuda *cuda, int device, int *processors, struct failure *err);

/* Its compute capability: 10 * major + minor. */
int cuda_capability(const struct cuda *cuda, int device, int *capability, struct failure *err);

/* Puts a kernel of cuda_load() into @stream. */
int cuda_launch(const struct cuda *cuda, void *function, unsigned blocks, unsigned threads,
		void *stream, void **parameters, struct failure *err);

/* Sets *err to STATUS_GPU: "@call: error @code: what it means and what to do". Returns -1. */
int cuda_failed(const struct cuda *cuda, const char *call, int code, struct failure *err);

#endif
