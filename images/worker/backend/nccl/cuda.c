/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* dlinfo */
#include "backend/nccl/cuda.h"
#include "backend/library.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The name without a directory: a plain libcuda.so finds the toolkit's stub (error 34). */
#define LIBRARY "libcuda.so.1"

/* What the driver's refusals mean. Numbers: enum cudaError_enum of cuda.h; 35 is the runtime's
 * cudaErrorInsufficientDriver, which NCCL hands on. */
static const struct {
	int code;
	const char *means;
} verdicts[] = {
	{2, "the GPU has no memory left: lower -e, or see with nvidia-smi who uses it"},
	{34, "this libcuda is the toolkit's stub: take the folder 'stubs' off $LD_LIBRARY_PATH"},
	{35,
	 "the driver is older than this CUDA needs: upgrade the driver, or take an image with an older CUDA"},
	{46,
	 "another process holds the GPU (compute mode 'exclusive'), or it is out of order: see nvidia-smi"},
	{100,
	 "the driver sees no GPU: look at $CUDA_VISIBLE_DEVICES, at the container's --gpus, and at nvidia-smi on the host"},
	{101,
	 "there is no GPU of that number: look at $CUDA_VISIBLE_DEVICES and at the ranks per host"},
	{802,
	 "the system is not ready: on hosts with NVSwitch start nvidia-fabricmanager, in the driver's version"},
	{803,
	 "libcuda and the kernel module are of different drivers: reboot after a driver upgrade, or remove the libcuda that was baked into the image"},
	{804,
	 "the image brings a forward-compatible libcuda (cuda-compat), which this GPU does not support: remove it, or upgrade the driver"},
	{999,
	 "unknown error: the module nvidia_uvm may not be loaded; try nvidia-smi, then see dmesg"},
};

/* The symbols, with the suffixes by which cuda.h maps names to their 64-bit versions. */
static const struct {
	const char *symbol;
	size_t offset;
	bool optional;
} symbols[] = {
#define SYMBOL(name, suffix)                                     \
	{                                                        \
#name suffix, offsetof(struct cuda, name), false \
	}
#define OPTIONAL(name, suffix)                                  \
	{                                                       \
#name suffix, offsetof(struct cuda, name), true \
	}
	SYMBOL(cuInit, ""),
	SYMBOL(cuDriverGetVersion, ""),
	SYMBOL(cuGetErrorString, ""),
	SYMBOL(cuDeviceGetCount, ""),
	SYMBOL(cuDeviceGet, ""),
	SYMBOL(cuDeviceGetName, ""),
	SYMBOL(cuDeviceGetPCIBusId, ""),
	OPTIONAL(cuDeviceGetUuid, ""),
	{"cuDeviceGetUuid_v2", offsetof(struct cuda, cuDeviceGetUuidOfMig), true},
	SYMBOL(cuDevicePrimaryCtxRetain, ""),
	SYMBOL(cuDevicePrimaryCtxRelease, ""),
	SYMBOL(cuCtxSetCurrent, ""),
	SYMBOL(cuCtxSynchronize, ""),
	SYMBOL(cuMemAlloc, "_v2"),
	SYMBOL(cuMemFree, "_v2"),
	SYMBOL(cuMemcpyHtoD, "_v2"),
	SYMBOL(cuMemcpyDtoH, "_v2"),
	SYMBOL(cuStreamCreate, ""),
	SYMBOL(cuStreamDestroy, "_v2"),
	SYMBOL(cuStreamQuery, ""),
	SYMBOL(cuEventCreate, ""),
	SYMBOL(cuEventDestroy, "_v2"),
	SYMBOL(cuEventQuery, ""),
	SYMBOL(cuEventRecord, ""),
	SYMBOL(cuEventElapsedTime, ""),
	OPTIONAL(cuStreamBeginCapture, "_v2"),
	OPTIONAL(cuStreamEndCapture, ""),
	OPTIONAL(cuGraphInstantiateWithFlags, ""),
	OPTIONAL(cuGraphLaunch, ""),
	OPTIONAL(cuGraphExecDestroy, ""),
	OPTIONAL(cuGraphDestroy, ""),
	OPTIONAL(cuDeviceGetByPCIBusId, ""),
	OPTIONAL(cuDeviceGetAttribute, ""),
	OPTIONAL(cuDeviceTotalMem, "_v2"),
	OPTIONAL(cuMemGetInfo, "_v2"),
	OPTIONAL(cuMemHostAlloc, ""),
	OPTIONAL(cuMemcpyDtoDAsync, "_v2"),
	OPTIONAL(cuDeviceCanAccessPeer, ""),
	OPTIONAL(cuCtxEnablePeerAccess, ""),
	OPTIONAL(cuMemcpyPeerAsync, ""),
	OPTIONAL(cuMemcpyHtoDAsync, "_v2"),
	OPTIONAL(cuMemcpyDtoHAsync, "_v2"),
	OPTIONAL(cuMemsetD32Async, ""),
	OPTIONAL(cuModuleLoadData, ""),
	OPTIONAL(cuModuleGetFunction, ""),
	OPTIONAL(cuLaunchKernel, ""),
#undef SYMBOL
#undef OPTIONAL
};

static void read_driver(char *text, size_t bytes)
{
	int fd = open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : -1;

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static int no_library(const struct cuda *cuda, const char *why, struct failure *err)
{
	if (!strstr(why, "No such file"))
		return failure_set(err, STATUS_GPU, -1, "", "the NVIDIA driver: %s", why);
	if (cuda->driver[0] == '\0')
		return failure_set(err, STATUS_GPU, -1, "",
				   "no NVIDIA driver on this machine: no " LIBRARY
				   " and no kernel module");
	return failure_set(
		err, STATUS_GPU, -1, "",
		"the kernel has NVIDIA driver %s, but there is no " LIBRARY
		" here: start the container with --gpus (NVIDIA container toolkit, capability compute)",
		cuda->driver);
}

/* Stand-ins of lab hosts have a function that says so, with the driver that they stand in for. */
static void cuda_find_standin(struct cuda *cuda, void *handle)
{
	void *symbol = dlsym(handle, "ringup_simulated");
	const char *(*driver)(void);

	cuda->simulated = symbol != NULL;
	if (!symbol)
		return;
	memcpy(&driver, &symbol, sizeof(driver));
	snprintf(cuda->driver, sizeof(cuda->driver), "%s", driver());
}

int cuda_open(struct cuda *cuda, struct failure *err)
{
	struct link_map *map = NULL;
	void *handle;
	int rc;

	memset(cuda, 0, sizeof(*cuda));
	read_driver(cuda->driver, sizeof(cuda->driver));
	handle = library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return no_library(cuda, library_error(), err);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(handle, symbols[i].symbol);

		if (!symbol && !symbols[i].optional)
			return failure_set(err, STATUS_GPU, -1, "",
					   "the NVIDIA driver is too old: no %s in " LIBRARY,
					   symbols[i].symbol);
		memcpy((char *)cuda + symbols[i].offset, &symbol, sizeof(symbol));
	}
	cuda_find_standin(cuda, handle);
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map)
		snprintf(cuda->path, sizeof(cuda->path), "%s", map->l_name);
	rc = cuda->cuDriverGetVersion(&cuda->version);
	return rc == 0 ? 0 : cuda_failed(cuda, "cuDriverGetVersion", rc, err);
}

int cuda_start(struct cuda *cuda, struct failure *err)
{
	int rc = cuda->cuInit(0);

	if (rc != 0)
		return cuda_failed(cuda, "cuInit", rc, err);
	rc = cuda->cuDeviceGetCount(&cuda->devices);
	if (rc == 0 && cuda->devices < 1)
		rc = 100;
	return rc == 0 ? 0 : cuda_failed(cuda, "cuDeviceGetCount", rc, err);
}

int cuda_load(const struct cuda *cuda, const char *text, const struct cuda_kernel *kernels,
	      size_t count, struct failure *err)
{
	void *module = NULL;
	int rc;

	if (!cuda->cuModuleLoadData || !cuda->cuModuleGetFunction || !cuda->cuLaunchKernel)
		return failure_set(err, STATUS_GPU, -1, "",
				   "this libcuda.so.1 loads no kernels: upgrade the driver");
	rc = cuda->cuModuleLoadData(&module, text);
	if (rc != 0)
		return cuda_failed(cuda, "cuModuleLoadData", rc, err);
	for (size_t i = 0; i < count; i++) {
		rc = cuda->cuModuleGetFunction(kernels[i].function, module, kernels[i].name);
		if (rc != 0)
			return cuda_failed(cuda, "cuModuleGetFunction", rc, err);
	}
	return 0;
}

static int cuda_attribute(const struct cuda *cuda, int device, int attribute, int *value,
			  struct failure *err)
{
	int rc;

	if (!cuda->cuDeviceGetAttribute)
		return failure_set(err, STATUS_GPU, -1, "",
				   "this libcuda.so.1 tells no attributes: upgrade the driver");
	rc = cuda->cuDeviceGetAttribute(value, attribute, device);
	return rc == 0 ? 0 : cuda_failed(cuda, "cuDeviceGetAttribute", rc, err);
}

int cuda_processors(const struct cuda *cuda, int device, int *processors, struct failure *err)
{
	return cuda_attribute(cuda, device, CUDA_MULTIPROCESSORS, processors, err);
}

int cuda_capability(const struct cuda *cuda, int device, int *capability, struct failure *err)
{
	int major = 0, minor = 0;

	if (cuda_attribute(cuda, device, CUDA_CAPABILITY_MAJOR, &major, err) < 0 ||
	    cuda_attribute(cuda, device, CUDA_CAPABILITY_MINOR, &minor, err) < 0)
		return -1;
	*capability = 10 * major + minor;
	return 0;
}

int cuda_launch(const struct cuda *cuda, void *function, unsigned blocks, unsigned threads,
		void *stream, void **parameters, struct failure *err)
{
	int rc = cuda->cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters,
				      NULL);

	return rc == 0 ? 0 : cuda_failed(cuda, "cuLaunchKernel", rc, err);
}

int cuda_failed(const struct cuda *cuda, const char *call, int code, struct failure *err)
{
	const char *means = NULL;

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (verdicts[i].code == code)
			means = verdicts[i].means;
	if (!means && (!cuda->cuGetErrorString || cuda->cuGetErrorString(code, &means) != 0))
		means = NULL;
	return failure_set(err, STATUS_GPU, -1, "", "%s: CUDA error %d: %.300s", call, code,
			   means ? means : "unknown");
}
