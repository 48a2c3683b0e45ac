/* SPDX-License-Identifier: MIT */
#include "plan/gpu_wish.h"

#include "core/str.h"
#include "core/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_BYTES_MAX 64
#define DEVICE_PREFIX "device="

static const char HEX[] = "0123456789abcdefABCDEF-";

static bool gpu_is_index(const char *text)
{
	return *text && strlen(text) <= 3 && strspn(text, "0123456789") == strlen(text);
}

/* "0:1" */
static bool gpu_is_mig_index(const char *text)
{
	char copy[DEVICE_BYTES_MAX], *colon;

	snprintf(copy, sizeof(copy), "%s", text);
	colon = strchr(copy, ':');
	if (!colon)
		return false;
	*colon = '\0';
	return gpu_is_index(copy) && gpu_is_index(colon + 1);
}

/* Drivers before 470 called a MIG device "MIG-GPU-.../1/0". */
static bool gpu_is_uuid(const char *text)
{
	const char *rest = starts_with(text, "MIG-GPU-") ? text + strlen("MIG-GPU-")
			   : starts_with(text, "MIG-") || starts_with(text, "GPU-") ? text + 4
										    : NULL;

	return rest && strlen(rest) >= 4 &&
	       rest[strspn(rest, starts_with(text, "MIG-GPU-") ? "0123456789abcdefABCDEF-/"
							       : HEX)] == '\0';
}

static int gpu_wish_refuse(const char *text, struct error *err)
{
	const char *dash = strchr(text, '-');

	error_set(
		err, ERROR_USAGE,
		"'%s' names no GPUs: 'gpus' takes all, none, a number, a list such as 0,1, or UUIDs",
		text);
	if (strcmp(text, "0") == 0)
		return error_advise(err, "write none for no GPU, and device=0 for the first one");
	if (dash && isdigit((unsigned char)*text) && isdigit((unsigned char)dash[1]))
		return error_advise(err, "write each index: 0,1,2,3");
	return -1;
}

static int gpu_wish_add(const char *text, const char *device, struct words *devices,
			struct error *err)
{
	if (strlen(device) >= DEVICE_BYTES_MAX || devices->count == GPU_WISH_MAX ||
	    !(gpu_is_index(device) || gpu_is_mig_index(device) || gpu_is_uuid(device)))
		return gpu_wish_refuse(text, err);
	for (size_t i = 0; i < devices->count; i++)
		if (strcmp(devices->list[i], device) == 0)
			return error_set(err, ERROR_USAGE, "'%s' names the GPU %s twice", text,
					 device);
	words_add(devices, device);
	return 0;
}

static char *gpu_trim(char *device)
{
	device += strspn(device, " ");
	device[strcspn(device, " ")] = '\0';
	return device;
}

static int gpu_wish_parse_list(const char *text, struct words *devices, struct error *err)
{
	char *copy, *device;

	copy = arena_strdup(devices->arena,
			    starts_with(text, DEVICE_PREFIX) ? text + strlen(DEVICE_PREFIX) : text);
	while ((device = strsep(&copy, ",")))
		if (gpu_wish_add(text, gpu_trim(device), devices, err) < 0)
			return -1;
	return 0;
}

int gpu_wish_parse(const char *text, struct arena *arena, struct gpu_wish *wish, struct error *err)
{
	struct words devices = WORDS_INIT(arena);

	*wish = (struct gpu_wish){.kind = GPU_ALL, .devices = words_list(&devices)};
	if (strcmp(text, "all") == 0)
		return 0;
	wish->kind = strcmp(text, "none") == 0 ? GPU_NONE
		     : gpu_is_index(text)      ? GPU_COUNT
					       : GPU_LIST;
	if (wish->kind == GPU_NONE)
		return 0;
	if (wish->kind == GPU_LIST && gpu_wish_parse_list(text, &devices, err) < 0)
		return -1;
	if (wish->kind == GPU_COUNT) {
		long count = strtol(text, NULL, 10);

		if (count < 1 || count > GPU_WISH_MAX)
			return gpu_wish_refuse(text, err);
		for (long i = 0; i < count; i++)
			words_addf(&devices, "%ld", i);
	}
	wish->count = devices.count;
	wish->devices = words_list(&devices);
	return 0;
}

/* --- on a host ------------------------------------------------------------------------------- */

size_t gpu_count(const struct facts *facts)
{
	size_t count = *facts->gpus != '\0';

	for (const char *p = facts->gpus; *p; p++)
		count += *p == ';';
	return count;
}

bool gpu_wish_is_mig(const char *device)
{
	return starts_with(device, "MIG-") || strchr(device, ':');
}

/* By its index or its UUID; where the driver says nothing of MIG devices, it may be there. */
static bool gpu_has_part(const char *device, const struct facts *facts)
{
	size_t length = strlen(device);

	for (const char *at = facts->gpu_parts; *at; at += strcspn(at, ";"), at += *at == ';') {
		size_t index = strcspn(at, " ;"), entry = strcspn(at, ";");

		if ((index == length && strncmp(at, device, length) == 0) ||
		    (index < entry && entry - index - 1 == length &&
		     strncmp(at + index + 1, device, length) == 0))
			return true;
	}
	return !*facts->gpu_parts;
}

const char *gpu_wish_beyond(const struct gpu_wish *wish, size_t count)
{
	for (size_t i = 0; i < wish->count; i++)
		if (gpu_is_index(wish->devices[i]) && strtoul(wish->devices[i], NULL, 10) >= count)
			return wish->devices[i];
	return NULL;
}

static bool gpu_is_there(const char *device, const struct facts *facts)
{
	if (gpu_wish_is_mig(device))
		return gpu_has_part(device, facts);
	if (gpu_is_index(device))
		return strtoul(device, NULL, 10) < gpu_count(facts);
	for (const char *at = facts->gpu_uuids; *at;) {
		size_t length = strcspn(at, ";");

		if (length == strlen(device) && strncmp(at, device, length) == 0)
			return true;
		at += length + (at[length] == ';');
	}
	return false;
}

size_t gpu_wish_count(const struct gpu_wish *wish, const struct facts *facts)
{
	size_t count = 0;

	if (wish->kind == GPU_ALL)
		return gpu_count(facts);
	for (size_t i = 0; i < wish->count; i++)
		count += gpu_is_there(wish->devices[i], facts);
	return count;
}

static int gpu_refuse_missing(const char *device, const struct facts *facts, struct error *err)
{
	size_t count = gpu_count(facts);

	if (gpu_wish_is_mig(device))
		return error_set(
			err, ERROR_FAILED,
			"the MIG device %s is asked for, and the host does not have it: it has %s; correct 'gpus' ('nvidia-smi -L' lists them)",
			device, facts->gpu_parts);
	return error_set(
		err, ERROR_FAILED,
		"the GPU %s is asked for, and the host does not have it: it has %zu%s; correct 'gpus' ('nvidia-smi -L' lists them)",
		device, count, count ? ", counted from 0" : "");
}

int gpu_wish_check(const struct gpu_wish *wish, const struct facts *facts, struct error *err)
{
	size_t count = gpu_count(facts);

	if (wish->kind == GPU_COUNT && wish->count > count)
		return error_set(err, ERROR_FAILED,
				 "%zu GPUs are asked for, and the host has %zu; correct 'gpus'",
				 wish->count, count);
	for (size_t i = 0; i < wish->count; i++)
		if (!gpu_is_there(wish->devices[i], facts))
			return gpu_refuse_missing(wish->devices[i], facts, err);
	return 0;
}

const char *gpu_wish_text(const struct gpu_wish *wish, struct arena *arena)
{
	struct words devices = WORDS_INIT(arena);

	if (wish->kind == GPU_ALL)
		return "all";
	words_add_all(&devices, wish->devices);
	return words_join(&devices, ",");
}

static void gpu_add_products(struct str *out, size_t count, const char *name, size_t length)
{
	if (count)
		str_addf(out, "%s%zux %.*s", out->length ? ", " : "", count, (int)length, name);
}

const char *gpu_products(const char *names, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	const char *at = names, *name = at;
	size_t count = 0, length = 0;

	for (; *at; at += strcspn(at, ";"), at += *at == ';') {
		size_t own = strcspn(at, ";");

		if (count && own == length && memcmp(at, name, own) == 0) {
			count++;
			continue;
		}
		gpu_add_products(&out, count, name, length);
		name = at;
		length = own;
		count = 1;
	}
	gpu_add_products(&out, count, name, length);
	return arena_strdup(arena, out.length ? out.text : "");
}
