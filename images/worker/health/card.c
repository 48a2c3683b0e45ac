/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* sched_setaffinity, CPU_SET */
#include "health/card.h"
#include "clock.h"
#include "health/burn.h"
#include "health/copies.h"
#include "json.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TURN_MSEC 10000 /* whoever waits longer for the others goes on without them */
#define XIDS_MAX 16
#define LINE_BYTES 4096 /* POSIX's PIPE_BUF on Linux: so much is written as one piece */

void card_begin(const struct card *card, struct card_line *line)
{
	line->text = NULL;
	line->to = open_memstream(&line->text, &line->length);
	if (!line->to)
		abort();
	fprintf(line->to, "{\"card\": %d, \"phase\": \"%s\"", card->number,
		health_phase_name(card->shared->places[card->number].phase));
}

void card_end(const struct card *card, struct card_line *line)
{
	fputs("}\n", line->to);
	if (fclose(line->to) != 0)
		abort();
	if (line->length > LINE_BYTES || write(card->out, line->text, line->length) < 0)
		_exit(1); /* nobody reads */
	free(line->text);
}

void card_failed(const struct card *card, const char *reason, bool lost)
{
	struct card_line line;

	card_begin(card, &line);
	fputs(", \"error\": ", line.to);
	json_write(line.to, reason);
	fprintf(line.to, "%s", lost ? ", \"lost\": true" : "");
	card_end(card, &line);
}

static void card_phase(struct card *card, int phase)
{
	card->shared->places[card->number].phase = phase;
}

/* Which card was asked for, by its number. */
static int card_open_nvml(struct card *card, struct failure *err)
{
	int code;

	if (nvml_open(&card->nvml, err) < 0)
		return -1;
	code = card->nvml.nvmlDeviceGetHandleByIndex((unsigned)card->number, &card->device);
	if (code == 0)
		return 0;
	card->device = NULL;
	return failure_set(err, STATUS_GPU, -1, "", "NVML error %d: %.200s", code,
			   nvml_means(&card->nvml, code));
}

static void card_census_cuda(struct card *card, int *count, struct failure *err)
{
	if (cuda_open(&card->cuda, err) == 0 && cuda_start(&card->cuda, err) == 0)
		*count = card->cuda.devices;
}

void card_census(struct card *card, const char *host)
{
	struct failure err = {.status = STATUS_PASS}, no_nvml = {.status = STATUS_PASS};
	struct card_line line;
	unsigned cards = 0;
	int count = 0;

	if (nvml_open(&card->nvml, &no_nvml) == 0 && card->nvml.nvmlDeviceGetCount(&cards) == 0)
		count = (int)cards;
	cuda_open(&card->cuda, &err); /* names the driver, and says whether it is one */
	if (count == 0 && err.status == STATUS_PASS)
		card_census_cuda(card, &count, &err);
	if (count > HEALTH_CARDS_MAX)
		count = HEALTH_CARDS_MAX;
	line.to = open_memstream(&line.text, &line.length);
	if (!line.to)
		abort();
	fputs("{\"host\": ", line.to);
	json_write(line.to, host);
	fputs(", \"driver\": ", line.to);
	json_write(line.to, card->cuda.driver);
	fprintf(line.to, ", \"simulated\": %s, ",
		card->cuda.simulated || card->nvml.simulated ? "true" : "false");
	if (no_nvml.status != STATUS_PASS) {
		fputs("\"no_nvml\": ", line.to);
		json_write(line.to, no_nvml.reason);
		fputs(", ", line.to);
	}
	if (count == 0) {
		fputs("\"error\": ", line.to);
		json_write(line.to, err.status != STATUS_PASS ? err.reason : "there is no GPU");
	} else {
		fprintf(line.to, "\"cards\": %d", count);
	}
	card_end(card, &line);
	card->shared->cards = count;
}

/* The name of the slot whose address the card has, from the firmware's table. */
static void card_slot(const char *bus, char *slot, size_t bytes)
{
	DIR *folder = opendir("/sys/bus/pci/slots");
	struct dirent *entry;

	slot[0] = '\0';
	while (folder && !*slot && (entry = readdir(folder))) {
		char path[512], address[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/sys/bus/pci/slots/%s/address", entry->d_name);
		file = fopen(path, "re");
		if (file && fscanf(file, "%31s", address) == 1 && *address &&
		    strncasecmp(bus, address, strlen(address)) == 0)
			snprintf(slot, bytes, "%.63s", entry->d_name);
		if (file)
			fclose(file);
	}
	if (folder)
		closedir(folder);
}

static void card_text(FILE *to, const char *name, char *text, size_t bytes)
{
	text_tidy(text, bytes);
	if (!*text)
		return;
	fprintf(to, ", \"%s\": ", name);
	json_write(to, text);
}

static void card_identity_nvml(struct card *card, char *bus, size_t bytes, FILE *to)
{
	const struct nvml *nvml = &card->nvml;
	struct nvml_pci pci;
	char text[96] = "";

	memset(&pci, 0, sizeof(pci));
	if (nvml->nvmlDeviceGetName(card->device, text, sizeof(text)) == 0)
		card_text(to, "model", text, sizeof(text));
	text[0] = '\0';
	if (nvml->nvmlDeviceGetSerial &&
	    nvml->nvmlDeviceGetSerial(card->device, text, sizeof(text)) == 0)
		card_text(to, "serial", text, sizeof(text));
	text[0] = '\0';
	if (nvml->nvmlDeviceGetUUID &&
	    nvml->nvmlDeviceGetUUID(card->device, text, sizeof(text)) == 0)
		card_text(to, "uuid", text, sizeof(text));
	if (nvml->nvmlDeviceGetPciInfo(card->device, &pci) == 0)
		nvml_bus(&pci, bus, bytes);
}

static void card_identity_cuda(struct card *card, char *bus, size_t bytes, FILE *to)
{
	char text[96] = "";

	if (card->cuda.cuDeviceGet(&card->cuda_device, card->number) != 0)
		return;
	if (card->cuda.cuDeviceGetName(text, sizeof(text), card->cuda_device) == 0)
		card_text(to, "model", text, sizeof(text));
	if (card->cuda.cuDeviceGetPCIBusId(bus, (int)bytes, card->cuda_device) != 0)
		bus[0] = '\0';
}

/* What it is. Without NVML it is CUDA that says so. */
static int card_identify(struct card *card)
{
	struct failure err = {.status = STATUS_PASS};
	char *bus = card->shared->places[card->number].bus, slot[64];
	struct card_line line;

	card_phase(card, HEALTH_IDENTITY);
	if (card_open_nvml(card, &err) < 0 && card->nvml.nvmlDeviceGetHandleByIndex) {
		card_failed(card, err.reason, strstr(err.reason, "is lost") != NULL);
		return -1;
	}
	if (!card->device &&
	    (cuda_open(&card->cuda, &err) < 0 || cuda_start(&card->cuda, &err) < 0)) {
		card_failed(card, err.reason, false);
		return -1;
	}
	card_begin(card, &line);
	if (card->device)
		card_identity_nvml(card, bus, sizeof(card->shared->places[0].bus), line.to);
	else
		card_identity_cuda(card, bus, sizeof(card->shared->places[0].bus), line.to);
	text_tidy(bus, sizeof(card->shared->places[0].bus));
	card_slot(bus, slot, sizeof(slot));
	card_text(line.to, "bus", bus, sizeof(card->shared->places[0].bus));
	card_text(line.to, "slot", slot, sizeof(slot));
	card_end(card, &line);
	return 0;
}

/* Xids that arrived since the set was made. */
static void card_print_xids(struct card *card, FILE *to)
{
	struct nvml_event event;
	int count = 0;

	if (!card->events)
		return;
	fputs(", \"xids\": [", to);
	for (; count < XIDS_MAX; count++) {
		memset(&event, 0, sizeof(event));
		if (card->nvml.nvmlEventSetWait(card->events, &event, 0) != 0)
			break;
		if (event.type & NVML_EVENT_XID)
			fprintf(to, "%s%llu", count ? ", " : "", event.data & 0xffff);
	}
	fputs("]", to);
}

/* Returns -1 when the card does not answer any more: then that has been said. */
static int card_read(struct card *card, int phase)
{
	struct readings readings;
	struct card_line line;
	int code;

	card_phase(card, phase);
	if (!card->device)
		return 0;
	code = nvml_read(&card->nvml, card->device, &readings);
	if (code != 0) {
		card_failed(card, "NVML: GPU is lost: it fell off the bus", true);
		return -1;
	}
	card_begin(card, &line);
	fputs(", \"readings\": ", line.to);
	nvml_print(&card->nvml, &readings, line.to);
	if (phase == HEALTH_AFTER)
		card_print_xids(card, line.to);
	card_end(card, &line);
	if (readings.codes[READING_MIG] != 0 || readings.numbers[READING_MIG] == 0)
		return 0;
	card_phase(card, HEALTH_CONTEXT);
	card_begin(card, &line);
	fputs(", \"not_measured\": \"MIG mode is on, and its parts are not the card: turn it off "
	      "with nvidia-smi -mig 0 to measure it\"",
	      line.to);
	card_end(card, &line);
	return -1;
}

static void card_watch(struct card *card)
{
	const struct nvml *nvml = &card->nvml;

	if (!card->device || !nvml->nvmlEventSetCreate || !nvml->nvmlDeviceRegisterEvents ||
	    !nvml->nvmlEventSetWait || nvml->nvmlEventSetCreate(&card->events) != 0)
		card->events = NULL;
	else if (nvml->nvmlDeviceRegisterEvents(card->device, NVML_EVENT_XID, card->events) != 0)
		card->events = NULL;
}

/* Binds this process to the cores that are near the card: memory of the host is then near, too. */
static void card_bind(const char *bus)
{
	char path[128];
	cpu_set_t near;
	int first, last;
	FILE *file;

	CPU_ZERO(&near);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/local_cpulist", bus);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &first) == 1) {
		if (fscanf(file, "-%d", &last) != 1)
			last = first;
		for (int core = first; core >= 0 && core <= last && core < CPU_SETSIZE; core++)
			CPU_SET(core, &near);
		if (fscanf(file, "%*1[,]") == EOF)
			break;
	}
	if (file)
		fclose(file);
	/* where the container may not use them, it stays where it is */
	if (CPU_COUNT(&near) > 0 && sched_setaffinity(0, sizeof(near), &near) < 0)
		return;
}

int card_open_cuda(struct card *card, struct failure *err)
{
	const struct cuda *cuda = &card->cuda;
	const char *bus = card->shared->places[card->number].bus;
	int code;

	if (cuda->version == 0 &&
	    (cuda_open(&card->cuda, err) < 0 || cuda_start(&card->cuda, err) < 0))
		return -1;
	if (cuda->cuDeviceGetByPCIBusId &&
	    cuda->cuDeviceGetByPCIBusId(&card->cuda_device, bus) != 0)
		return failure_set(
			err, STATUS_GPU, -1, "",
			"CUDA does not see it: look at $CUDA_VISIBLE_DEVICES, and at nvidia-smi on the host");
	code = cuda->cuDevicePrimaryCtxRetain(&card->context, card->cuda_device);
	if (code == 0)
		code = cuda->cuCtxSetCurrent(card->context);
	if (code == 0)
		code = cuda->cuStreamCreate(&card->stream, CUDA_STREAM_NON_BLOCKING);
	if (code == 0)
		code = cuda->cuEventCreate(&card->start, 0);
	if (code == 0)
		code = cuda->cuEventCreate(&card->stop, 0);
	return code == 0 ? 0 : cuda_failed(cuda, "the card's context", code, err);
}

int card_start_clock(struct card *card, struct failure *err)
{
	int code = card->cuda.cuEventRecord(card->start, card->stream);

	return code == 0 ? 0 : cuda_failed(&card->cuda, "cuEventRecord", code, err);
}

int card_stop_clock(struct card *card, double *seconds, struct failure *err)
{
	const struct cuda *cuda = &card->cuda;
	float msec = 0;
	int code = cuda->cuEventRecord(card->stop, card->stream);

	if (code != 0)
		return cuda_failed(cuda, "cuEventRecord", code, err);
	while ((code = cuda->cuEventQuery(card->stop)) == CUDA_NOT_READY)
		usleep(200); /* the parent ends what hangs */
	if (code == 0)
		code = cuda->cuEventElapsedTime(&msec, card->start, card->stop);
	*seconds = msec / 1e3;
	return code == 0 ? 0 : cuda_failed(cuda, "the card's work", code, err);
}

static int card_measure_memory(struct card *card, struct failure *err)
{
	struct card_line line;
	double copy, fill;

	card_phase(card, HEALTH_MEMORY);
	if (copies_memory(card, &copy, &fill, err) < 0)
		return -1;
	card_begin(card, &line);
	fprintf(line.to, ", \"copy_gbps\": %.2f, \"fill_gbps\": %.2f", copy, fill);
	card_end(card, &line);
	return 0;
}

bool card_take_turn(struct card *card)
{
	struct pollfd turn = {.fd = card->turn[0], .events = POLLIN};
	char byte = 0;

	/* the pipe does not block: another card may be faster */
	for (int64_t end = clock_usec() + TURN_MSEC * INT64_C(1000);;) {
		poll(&turn, 1, clock_left_msec(end, TURN_MSEC));
		if (read(card->turn[0], &byte, 1) == 1)
			return true;
		if (clock_usec() >= end)
			return false;
	}
}

void card_end_turn(struct card *card)
{
	if (write(card->turn[1], "t", 1) != 1)
		_exit(1);
}

/* One card after the other, since they share the host's memory and often a PCIe switch. */
static int card_measure_host(struct card *card, struct failure *err)
{
	struct card_line line;
	double to, from;
	bool mine;
	int rc;

	card_phase(card, HEALTH_TURN);
	card_bind(card->shared->places[card->number].bus);
	mine = card_take_turn(card);
	card_phase(card, HEALTH_HOST);
	rc = copies_host(card, &to, &from, err);
	if (mine)
		card_end_turn(card);
	if (rc < 0)
		return -1;
	card_begin(card, &line);
	fprintf(line.to, ", \"h2d_gbps\": %.2f, \"d2h_gbps\": %.2f, \"alone\": %s", to, from,
		mine ? "true" : "false");
	card_end(card, &line);
	return 0;
}

static int card_measure_burn(struct card *card, struct failure *err)
{
	struct card_line line;
	struct burn burn;

	card_phase(card, HEALTH_BURN);
	if (card->burn_sec == 0)
		return 0;
	if (burn_run(card, &burn, err) < 0)
		return -1;
	card_begin(card, &line);
	fprintf(line.to, ", \"tflops\": %.3f", burn.tflops[BURN_F32]);
	if (burn.tflops[BURN_BF16] > 0)
		fprintf(line.to, ", \"bf16_tflops\": %.3f", burn.tflops[BURN_BF16]);
	fprintf(line.to, ", \"wrong\": %llu, \"seconds\": %.2f, \"samples\": %d", burn.wrong,
		burn.seconds, burn.samples);
	if (burn.clocks > 0)
		fprintf(line.to, ", \"sm_mhz\": %.0f", burn.sm_mhz);
	if (burn.power_w > 0)
		fprintf(line.to, ", \"power_w\": %.1f", burn.power_w);
	if (burn.celsius > 0)
		fprintf(line.to, ", \"celsius\": %.0f", burn.celsius);
	fprintf(line.to, ", \"throttle\": %llu", burn.throttle);
	card_end(card, &line);
	return 0;
}

/* Whether NVML, asked now, says that the card is gone. */
static bool card_is_lost(const struct card *card)
{
	double number;

	return card->device && nvml_read_one(&card->nvml, card->device, READING_CELSIUS, &number) ==
				       NVML_GPU_IS_LOST;
}

void card_measure(struct card *card)
{
	struct failure err = {.status = STATUS_PASS};
	bool well = true;

	if (card_identify(card) < 0)
		return;
	card_watch(card);
	if (card_read(card, HEALTH_READINGS) < 0)
		return;
	card_phase(card, HEALTH_CONTEXT);
	if (card_open_cuda(card, &err) < 0 || card_measure_memory(card, &err) < 0 ||
	    card_measure_host(card, &err) < 0 || card_measure_burn(card, &err) < 0) {
		card_failed(card, err.reason, card_is_lost(card));
		well = false;
	}
	if (!card_is_lost(card) && card_read(card, HEALTH_AFTER) < 0)
		return;
	if (well)
		card_phase(card, HEALTH_DONE);
}
