/* SPDX-License-Identifier: MIT */
#include "health/nvml.h"
#include "backend/library.h"
#include "json.h"

#include <stddef.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"
#define NEEDED 5 /* symbols without which nothing can be said */

/* The symbols, with the suffixes by which nvml.h maps names to their newest versions. */
static const struct {
	const char *symbol;
	size_t offset;
} symbols[] = {
#define SYMBOL(name, suffix)                              \
	{                                                 \
#name suffix, offsetof(struct nvml, name) \
	}
	SYMBOL(nvmlInit, "_v2"),
	SYMBOL(nvmlDeviceGetCount, "_v2"),
	SYMBOL(nvmlDeviceGetHandleByIndex, "_v2"),
	SYMBOL(nvmlDeviceGetPciInfo, "_v3"),
	SYMBOL(nvmlDeviceGetName, ""),
	SYMBOL(nvmlErrorString, ""),
	SYMBOL(nvmlDeviceGetUUID, ""),
	SYMBOL(nvmlDeviceGetSerial, ""),
	SYMBOL(nvmlDeviceGetModuleId, ""),
	SYMBOL(nvmlDeviceGetClockInfo, ""),
	SYMBOL(nvmlDeviceGetMaxClockInfo, ""),
	SYMBOL(nvmlDeviceGetPowerUsage, ""),
	SYMBOL(nvmlDeviceGetEnforcedPowerLimit, ""),
	SYMBOL(nvmlDeviceGetTemperature, ""),
	SYMBOL(nvmlDeviceGetCurrentClocksThrottleReasons, ""),
	SYMBOL(nvmlDeviceGetEccMode, ""),
	SYMBOL(nvmlDeviceGetTotalEccErrors, ""),
	SYMBOL(nvmlDeviceGetRemappedRows, ""),
	SYMBOL(nvmlDeviceGetRetiredPagesPendingStatus, ""),
	SYMBOL(nvmlDeviceGetCurrPcieLinkWidth, ""),
	SYMBOL(nvmlDeviceGetMaxPcieLinkWidth, ""),
	SYMBOL(nvmlDeviceGetCurrPcieLinkGeneration, ""),
	SYMBOL(nvmlDeviceGetMaxPcieLinkGeneration, ""),
	SYMBOL(nvmlDeviceGetMigMode, ""),
	SYMBOL(nvmlDeviceGetP2PStatus, ""),
	SYMBOL(nvmlDeviceGetNvLinkState, ""),
	SYMBOL(nvmlDeviceGetNvLinkRemotePciInfo, "_v2"),
	SYMBOL(nvmlDeviceGetTopologyCommonAncestor, ""),
	SYMBOL(nvmlEventSetCreate, ""),
	SYMBOL(nvmlDeviceRegisterEvents, ""),
	SYMBOL(nvmlEventSetWait, "_v2"),
#undef SYMBOL
	/* since driver 535 under this name as well, and some day under no other */
	{"nvmlDeviceGetCurrentClocksEventReasons",
	 offsetof(struct nvml, nvmlDeviceGetCurrentClocksThrottleReasons)},
};

static const char *const reading_names[READING_COUNT] = {
	[READING_SM_MHZ] = "sm_mhz",
	[READING_SM_MHZ_MAX] = "sm_mhz_max",
	[READING_MEMORY_MHZ] = "memory_mhz",
	[READING_MEMORY_MHZ_MAX] = "memory_mhz_max",
	[READING_POWER_W] = "power_w",
	[READING_LIMIT_W] = "limit_w",
	[READING_CELSIUS] = "celsius",
	[READING_THROTTLE] = "throttle",
	[READING_ECC_ON] = "ecc_on",
	[READING_ECC_VOLATILE] = "ecc_volatile",
	[READING_ECC_AGGREGATE] = "ecc_aggregate",
	[READING_PAGES_PENDING] = "pages_pending",
	[READING_REMAPPED_CORRECTABLE] = "remapped_correctable",
	[READING_REMAPPED_UNCORRECTABLE] = "remapped_uncorrectable",
	[READING_REMAP_PENDING] = "remap_pending",
	[READING_REMAP_FAILED] = "remap_failed",
	[READING_PCIE_WIDTH] = "pcie_width",
	[READING_PCIE_WIDTH_MAX] = "pcie_width_max",
	[READING_PCIE_GENERATION] = "pcie_generation",
	[READING_PCIE_GENERATION_MAX] = "pcie_generation_max",
	[READING_MODULE] = "module",
	[READING_MIG] = "mig",
};

static void *nvml_load(struct nvml *nvml, struct failure *err)
{
	void *handle = library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	memset(nvml, 0, sizeof(*nvml));
	if (!handle) {
		failure_set(
			err, STATUS_GPU, -1, "",
			"%.300s: start the container with the NVIDIA container toolkit's capability utility",
			library_error());
		return NULL;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(handle, symbols[i].symbol);

		if (symbol)
			memcpy((char *)nvml + symbols[i].offset, &symbol, sizeof(symbol));
		if (symbol || i >= NEEDED)
			continue;
		failure_set(err, STATUS_GPU, -1, "",
			    "the NVIDIA driver is too old: no %s in " LIBRARY, symbols[i].symbol);
		return NULL;
	}
	return handle;
}

int nvml_open(struct nvml *nvml, struct failure *err)
{
	void *handle = nvml_load(nvml, err);
	int code;

	if (!handle)
		return -1;
	nvml->simulated = dlsym(handle, "ringup_simulated") != NULL;
	code = nvml->nvmlInit();
	if (code == 0)
		return 0;
	return failure_set(err, STATUS_GPU, -1, "",
			   "nvmlInit: NVML error %d: %.200s: see what nvidia-smi says on the host",
			   code, nvml_means(nvml, code));
}

void nvml_bus(const struct nvml_pci *pci, char *text, size_t bytes)
{
	snprintf(text, bytes, "%04x:%02x:%02x.0", pci->domain & 0xffff, pci->bus & 0xff,
		 pci->device & 0xff);
}

const char *nvml_means(const struct nvml *nvml, int code)
{
	const char *text = NULL;

	if (code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND)
		return "not supported";
	if (code == NVML_GPU_IS_LOST)
		return "GPU is lost";
	if (nvml->nvmlErrorString)
		text = nvml->nvmlErrorString(code);
	return text ? text : "unknown error";
}

/* Calls a function that may be missing. */
#define ASK(function, ...) (nvml->function ? nvml->function(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

static int nvml_read_clock(const struct nvml *nvml, void *device, enum reading which,
			   double *number)
{
	/* nvmlClockType_t: NVML_CLOCK_SM 1, NVML_CLOCK_MEM 2 */
	int clock = which == READING_SM_MHZ || which == READING_SM_MHZ_MAX ? 1 : 2, code;
	unsigned mhz = 0;

	if (which == READING_SM_MHZ || which == READING_MEMORY_MHZ)
		code = ASK(nvmlDeviceGetClockInfo, device, clock, &mhz);
	else
		code = ASK(nvmlDeviceGetMaxClockInfo, device, clock, &mhz);
	*number = mhz;
	return code;
}

static int nvml_read_errors(const struct nvml *nvml, void *device, enum reading which,
			    double *number)
{
	unsigned long long count = 0;
	int on = 0, pending = 0, code;

	if (which == READING_ECC_ON) {
		code = ASK(nvmlDeviceGetEccMode, device, &on, &pending);
		*number = on;
	} else if (which == READING_PAGES_PENDING) {
		code = ASK(nvmlDeviceGetRetiredPagesPendingStatus, device, &pending);
		*number = pending;
	} else {
		/* NVML_MEMORY_ERROR_TYPE_UNCORRECTED 1; NVML_VOLATILE_ECC 0, NVML_AGGREGATE_ECC 1 */
		code = ASK(nvmlDeviceGetTotalEccErrors, device, 1, which == READING_ECC_AGGREGATE,
			   &count);
		*number = (double)count;
	}
	return code;
}

static int nvml_read_rows(const struct nvml *nvml, void *device, enum reading which, double *number)
{
	unsigned rows[4] = {0};
	int code = ASK(nvmlDeviceGetRemappedRows, device, &rows[0], &rows[1], &rows[2], &rows[3]);

	*number = rows[which - READING_REMAPPED_CORRECTABLE];
	return code;
}

static int nvml_read_power(const struct nvml *nvml, void *device, enum reading which,
			   double *number)
{
	unsigned milliwatt = 0;
	int code = which == READING_POWER_W
			   ? ASK(nvmlDeviceGetPowerUsage, device, &milliwatt)
			   : ASK(nvmlDeviceGetEnforcedPowerLimit, device, &milliwatt);

	*number = milliwatt / 1e3;
	return code;
}

static int nvml_read_rest(const struct nvml *nvml, void *device, enum reading which, double *number)
{
	unsigned long long bits = 0;
	unsigned value = 0, pending = 0;
	int code = NVML_NOT_SUPPORTED;

	if (which == READING_CELSIUS)
		code = ASK(nvmlDeviceGetTemperature, device, 0, &value);
	else if (which == READING_THROTTLE)
		code = ASK(nvmlDeviceGetCurrentClocksThrottleReasons, device, &bits);
	else if (which == READING_PCIE_WIDTH)
		code = ASK(nvmlDeviceGetCurrPcieLinkWidth, device, &value);
	else if (which == READING_PCIE_WIDTH_MAX)
		code = ASK(nvmlDeviceGetMaxPcieLinkWidth, device, &value);
	else if (which == READING_PCIE_GENERATION)
		code = ASK(nvmlDeviceGetCurrPcieLinkGeneration, device, &value);
	else if (which == READING_PCIE_GENERATION_MAX)
		code = ASK(nvmlDeviceGetMaxPcieLinkGeneration, device, &value);
	else if (which == READING_MODULE)
		code = ASK(nvmlDeviceGetModuleId, device, &value);
	else if (which == READING_MIG)
		code = ASK(nvmlDeviceGetMigMode, device, &value, &pending);
	*number = which == READING_THROTTLE ? (double)bits : value;
	return code;
}

int nvml_read_one(const struct nvml *nvml, void *device, enum reading which, double *number)
{
	*number = 0;
	if (which <= READING_MEMORY_MHZ_MAX)
		return nvml_read_clock(nvml, device, which, number);
	if (which == READING_POWER_W || which == READING_LIMIT_W)
		return nvml_read_power(nvml, device, which, number);
	if (which >= READING_ECC_ON && which <= READING_PAGES_PENDING)
		return nvml_read_errors(nvml, device, which, number);
	if (which >= READING_REMAPPED_CORRECTABLE && which <= READING_REMAP_FAILED)
		return nvml_read_rows(nvml, device, which, number);
	return nvml_read_rest(nvml, device, which, number);
}

int nvml_read(const struct nvml *nvml, void *device, struct readings *readings)
{
	int lost = 0;

	for (int i = 0; i < READING_COUNT; i++) {
		readings->codes[i] =
			nvml_read_one(nvml, device, (enum reading)i, &readings->numbers[i]);
		if (readings->codes[i] == NVML_GPU_IS_LOST)
			lost = NVML_GPU_IS_LOST;
	}
	return lost;
}

void nvml_print(const struct nvml *nvml, const struct readings *readings, FILE *to)
{
	for (int i = 0; i < READING_COUNT; i++) {
		fprintf(to, "%s\"%s\": ", i ? ", " : "{", reading_names[i]);
		if (readings->codes[i] == 0)
			fprintf(to, "%.10g", readings->numbers[i]);
		else
			json_write(to, nvml_means(nvml, readings->codes[i]));
	}
	fputs("}", to);
}
