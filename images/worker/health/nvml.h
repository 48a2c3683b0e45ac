/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's management library, opened with dlopen() like the CUDA driver: what a card says of itself. Names, numbers
 * and signatures are those of nvml.h (NVML API reference, docs.nvidia.com/deploy/nvml-api); only what the worker calls
 * is here. Functions return an nvmlReturn_t, 0 is NVML_SUCCESS. All but the first five may be NULL: drivers have them
 * since different versions.
 */
#ifndef WORKER_NVML_H
#define WORKER_NVML_H

#include "failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define NVML_NOT_SUPPORTED 3 /* NVML_ERROR_NOT_SUPPORTED */
#define NVML_FUNCTION_NOT_FOUND \
	13		    /* NVML_ERROR_FUNCTION_NOT_FOUND: of a newer library than the driver */
#define NVML_GPU_IS_LOST 15 /* NVML_ERROR_GPU_IS_LOST: the card fell off the bus */

#define NVML_EVENT_XID 0x8ULL /* nvmlEventTypeXidCriticalError */

/* nvmlPciInfo_t */
struct nvml_pci {
	char old_bus[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32]; /* "00000000:07:00.0" */
};

/* nvmlEventData_t; old drivers do not write its last two members */
struct nvml_event {
	void *device;
	unsigned long long type, data; /* data: the Xid */
	unsigned gpu_instance, compute_instance;
};

struct nvml {
	bool simulated; /* a lab host's stand-in */
	int (*nvmlInit)(void);
	int (*nvmlDeviceGetCount)(unsigned *count);
	int (*nvmlDeviceGetHandleByIndex)(unsigned index, void **device);
	int (*nvmlDeviceGetPciInfo)(void *device, struct nvml_pci *pci);
	int (*nvmlDeviceGetName)(void *device, char *text, unsigned bytes);

	const char *(*nvmlErrorString)(int code);
	int (*nvmlDeviceGetUUID)(void *device, char *text, unsigned bytes);
	int (*nvmlDeviceGetSerial)(void *device, char *text, unsigned bytes);
	int (*nvmlDeviceGetModuleId)(void *device, unsigned *module);
	int (*nvmlDeviceGetClockInfo)(void *device, int clock, unsigned *mhz);
	int (*nvmlDeviceGetMaxClockInfo)(void *device, int clock, unsigned *mhz);
	int (*nvmlDeviceGetPowerUsage)(void *device, unsigned *milliwatt);
	int (*nvmlDeviceGetEnforcedPowerLimit)(void *device, unsigned *milliwatt);
	int (*nvmlDeviceGetTemperature)(void *device, int sensor, unsigned *celsius);
	int (*nvmlDeviceGetCurrentClocksThrottleReasons)(void *device, unsigned long long *bits);
	int (*nvmlDeviceGetEccMode)(void *device, int *current, int *pending);
	int (*nvmlDeviceGetTotalEccErrors)(void *device, int error, int counter,
					   unsigned long long *count);
	int (*nvmlDeviceGetRemappedRows)(void *device, unsigned *corrected, unsigned *uncorrected,
					 unsigned *pending, unsigned *failed);
	int (*nvmlDeviceGetRetiredPagesPendingStatus)(void *device, int *pending);
	int (*nvmlDeviceGetCurrPcieLinkWidth)(void *device, unsigned *lanes);
	int (*nvmlDeviceGetMaxPcieLinkWidth)(void *device, unsigned *lanes);
	int (*nvmlDeviceGetCurrPcieLinkGeneration)(void *device, unsigned *generation);
	int (*nvmlDeviceGetMaxPcieLinkGeneration)(void *device, unsigned *generation);
	int (*nvmlDeviceGetMigMode)(void *device, unsigned *current, unsigned *pending);
	int (*nvmlDeviceGetP2PStatus)(void *device, void *peer, int caps, int *status);
	int (*nvmlDeviceGetNvLinkState)(void *device, unsigned link, int *active);
	int (*nvmlDeviceGetNvLinkRemotePciInfo)(void *device, unsigned link, struct nvml_pci *pci);
	int (*nvmlDeviceGetTopologyCommonAncestor)(void *device, void *peer, int *level);
	int (*nvmlEventSetCreate)(void **set);
	int (*nvmlDeviceRegisterEvents)(void *device, unsigned long long types, void *set);
	int (*nvmlEventSetWait)(void *set, struct nvml_event *event, unsigned msec);
};

/* Opens libnvidia-ml.so.1 and initialises it. On failure err->reason says why there is none. */
int nvml_open(struct nvml *nvml, struct failure *err);

/* "0000:07:00.0", as the kernel and CUDA write an address. */
void nvml_bus(const struct nvml_pci *pci, char *text, size_t bytes);

/* What a code means: "not supported", "GPU is lost", ... */
const char *nvml_means(const struct nvml *nvml, int code);

/* What a card says about itself at one moment: a number each, or why there is none. */
enum reading {
	READING_SM_MHZ,
	READING_SM_MHZ_MAX,
	READING_MEMORY_MHZ,
	READING_MEMORY_MHZ_MAX,
	READING_POWER_W,
	READING_LIMIT_W,
	READING_CELSIUS,
	READING_THROTTLE, /* bits, nvmlClocksEventReasons */
	READING_ECC_ON,
	READING_ECC_VOLATILE, /* uncorrected errors since the driver was loaded */
	READING_ECC_AGGREGATE,
	READING_PAGES_PENDING, /* retired pages that wait for a reset (before Ampere) */
	READING_REMAPPED_CORRECTABLE,
	READING_REMAPPED_UNCORRECTABLE,
	READING_REMAP_PENDING,
	READING_REMAP_FAILED,
	READING_PCIE_WIDTH,
	READING_PCIE_WIDTH_MAX,
	READING_PCIE_GENERATION,
	READING_PCIE_GENERATION_MAX,
	READING_MODULE, /* the place on the board, of SXM cards */
	READING_MIG,
	READING_COUNT
};

struct readings {
	int codes[READING_COUNT]; /* 0: the number counts */
	double numbers[READING_COUNT];
};

/* Asks for all of them. Returns NVML_GPU_IS_LOST when the card does not answer any more, else 0. */
int nvml_read(const struct nvml *nvml, void *device, struct readings *readings);

/* One of them. */
int nvml_read_one(const struct nvml *nvml, void *device, enum reading which, double *number);

/* A JSON object: each by its name, a number or a string that says why there is none. */
void nvml_print(const struct nvml *nvml, const struct readings *readings, FILE *to);

#endif
