/* SPDX-License-Identifier: MIT */
/*
 * Stand-in for libnvidia-ml.so.1: see standin.h. Prototypes as in images/worker/health/nvml.h. The cards are those of the
 * file `gpus`. Their clocks, power and temperatures have the form and the kind of numbers that nvidia-smi -q recorded in
 * tests/cases/probe/gpus; codes are nvmlReturn_t.
 */
#include "standin.h"
#include "health/nvml.h"

#define GPUS_MAX 64

int nvmlInit_v2(void);
const char *nvmlErrorString(int code);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci);
int nvmlDeviceGetName(void *device, char *text, unsigned bytes);
int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes);
int nvmlDeviceGetSerial(void *device, char *text, unsigned bytes);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatt);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatt);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);
int nvmlDeviceGetEccMode(void *device, int *current, int *pending);
int nvmlDeviceGetTotalEccErrors(void *device, int error, int counter, unsigned long long *count);
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
			      unsigned *pending, unsigned *failed);
int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *lanes);
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *lanes);
int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *generation);
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *generation);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetP2PStatus(void *device, void *peer, int caps, int *status);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct nvml_pci *pci);
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level);
int nvmlEventSetCreate(void **set);
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
int nvmlEventSetWait_v2(void *set, struct nvml_event *event, unsigned msec);

struct gpu {
	int index, watt, links;
	char uuid[64], bus[32], name[64], mig[16]; /* mig: the profile of its MIG devices */
	int told;				   /* its Xid has arrived */
};

static struct gpu gpus[GPUS_MAX];
static unsigned gpu_count;

const char *ringup_simulated(void)
{
	return "";
}

int nvmlInit_v2(void)
{
	FILE *file = standin_file("gpus");
	char line[1024];

	while (file && fgets(line, sizeof(line), file) && gpu_count < GPUS_MAX) {
		struct gpu *gpu = &gpus[gpu_count];

		/* images/simulated/nvidia-smi says what stands there */
		gpu_count +=
			sscanf(line,
			       "%d|%63[^|]|%31[^|]|%55[^|]|%*[^|]|%*[^|]|%d|%*[^|]|%d|%15[^ \n]",
			       &gpu->index, gpu->uuid, gpu->bus, gpu->name, &gpu->links, &gpu->watt,
			       gpu->mig) >= 6;
	}
	if (file)
		fclose(file);
	return file ? 0 : 9; /* NVML_ERROR_DRIVER_NOT_LOADED */
}

const char *nvmlErrorString(int code)
{
	return code == 9 ? "Driver Not Loaded" : "a text of NVML";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = gpu_count;
	return 0;
}

static double nvml_value(void *device, const char *key, double otherwise)
{
	return standin_health(((struct gpu *)device)->index, key, otherwise);
}

static int nvml_state(void *device)
{
	while (nvml_value(device, "silent", 0) > 0)
		sleep(1);
	return nvml_value(device, "lost", 0) == 1 || getenv("STANDIN_LOST") ? NVML_GPU_IS_LOST : 0;
}

static int nvml_answer(void *device, unsigned *to, const char *key, unsigned otherwise)
{
	*to = (unsigned)nvml_value(device, key, otherwise);
	return nvml_state(device);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &gpus[index];
	return index < gpu_count ? nvml_state(&gpus[index]) : 2;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci)
{
	struct gpu *gpu = device;

	return sscanf(gpu->bus, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) == 3
		       ? nvml_state(device)
		       : 999;
}

int nvmlDeviceGetName(void *device, char *text, unsigned bytes)
{
	snprintf(text, bytes, "%s", ((struct gpu *)device)->name);
	return nvml_state(device);
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes)
{
	snprintf(text, bytes, "%s", ((struct gpu *)device)->uuid);
	return nvml_state(device);
}

int nvmlDeviceGetSerial(void *device, char *text, unsigned bytes)
{
	char serial[64];

	if (!standin_health_text(((struct gpu *)device)->index, "serial", serial))
		return NVML_NOT_SUPPORTED;
	snprintf(text, bytes, "%s", serial);
	return nvml_state(device);
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
	return nvml_answer(device, mhz, clock == 1 ? "sm_mhz" : "memory_mhz",
			   clock == 1 ? 1980 : 2619);
}

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	return nvml_answer(device, mhz, "-", clock == 1 ? 1980 : 2619);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatt)
{
	return nvml_answer(device, milliwatt, "-", (unsigned)((struct gpu *)device)->watt * 900);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatt)
{
	return nvml_answer(device, milliwatt, "-", (unsigned)((struct gpu *)device)->watt * 1000);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	return sensor ? 2 : nvml_answer(device, celsius, "celsius", 55);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
	*bits = (unsigned long long)nvml_value(device, "throttle", 0);
	return nvml_state(device);
}

static int nvml_memory(void *device)
{
	return nvml_value(device, "unsupported", 0) > 0 ? NVML_NOT_SUPPORTED : nvml_state(device);
}

int nvmlDeviceGetEccMode(void *device, int *current, int *pending)
{
	*current = *pending = 1;
	return nvml_memory(device);
}

int nvmlDeviceGetTotalEccErrors(void *device, int error, int counter, unsigned long long *count)
{
	(void)counter;
	*count = (unsigned long long)nvml_value(device, "ecc", 0);
	return error == 1 ? nvml_memory(device) : 2;
}

int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
			      unsigned *pending, unsigned *failed)
{
	*corrected = 0;
	*uncorrected = (unsigned)nvml_value(device, "remapped", 0);
	*pending = (unsigned)nvml_value(device, "remap_pending", 0);
	*failed = (unsigned)nvml_value(device, "remap_failed", 0);
	return nvml_memory(device);
}

int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *lanes)
{
	return nvml_answer(device, lanes, "width", 16);
}

int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *lanes)
{
	return nvml_answer(device, lanes, "-", 16);
}

int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *generation)
{
	return nvml_answer(device, generation, "-", 5);
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *generation)
{
	return nvml_answer(device, generation, "-", 5);
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*pending = 0;
	return nvml_answer(device, current, "mig", *((struct gpu *)device)->mig != '\0');
}

/* As with an NVSwitch: the links lead to it, and it has an address that no card has. */
int nvmlDeviceGetP2PStatus(void *device, void *peer, int caps, int *status)
{
	*status = caps == 2 && ((struct gpu *)device)->links && ((struct gpu *)peer)->links ? 0 : 5;
	return nvml_state(device);
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active)
{
	*active = (int)link < ((struct gpu *)device)->links;
	return *active ? nvml_state(device) : 2;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct nvml_pci *pci)
{
	*pci = (struct nvml_pci){.bus = 0xc0 + link};
	return nvml_state(device);
}

int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, int *level)
{
	*level = device == peer ? 0 : 50;
	return nvml_state(device);
}

int nvmlEventSetCreate(void **set)
{
	static void *only;

	*set = &only;
	return 0;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
	*(void **)set = device;
	return types == NVML_EVENT_XID ? 0 : NVML_NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(void *set, struct nvml_event *event, unsigned msec)
{
	struct gpu *gpu = *(void **)set;
	int xid = (int)nvml_value(gpu, "xid", 0);

	if (msec || xid == 0 || gpu->told++)
		return 10; /* NVML_ERROR_TIMEOUT */
	*event = (struct nvml_event){.device = gpu, .type = NVML_EVENT_XID, .data = (unsigned)xid};
	return 0;
}
