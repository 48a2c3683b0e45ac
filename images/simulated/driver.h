/* SPDX-License-Identifier: MIT */
/* What the stand-in for libcuda.so.1 has, as images/worker/backend/nccl/cuda.h calls it. */
#ifndef IMAGES_SIMULATED_DRIVER_H
#define IMAGES_SIMULATED_DRIVER_H

#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorString(int error, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetPCIBusId(char *bus, int bytes, int device);
int cuDeviceGetUuid_v2(unsigned char *uuid, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease(int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamQuery(void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventQuery(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuDeviceGetByPCIBusId(int *device, const char *bus);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuMemGetInfo_v2(size_t *left, size_t *all);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuCtxEnablePeerAccess(void *peer, unsigned flags);
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		      size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemsetD32Async(uint64_t to, unsigned value, size_t words, void *stream);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads,
		   unsigned threads_y, unsigned threads_z, unsigned shared, void *stream,
		   void **parameters, void **extra);

#ifndef STANDIN_OLD
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);
#endif

#endif
