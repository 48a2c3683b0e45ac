/* SPDX-License-Identifier: MIT */
/*
 * gpu_wish.h - the key `gpus` of a host or of containers, and what it means on a host.
 *
 *   all, none
 *   4                    a number: the first four
 *   0,1 or device=3      indexes as nvidia-smi shows them; one alone needs "device=", as in Docker's --gpus
 *   0:1                  a MIG device, as GPU:DEVICE
 *   GPU-..., MIG-...     UUIDs, as 'nvidia-smi -L' shows them
 */
#ifndef PLAN_GPU_WISH_H
#define PLAN_GPU_WISH_H

#include "core/arena.h"
#include "core/error.h"
#include "plan/facts.h"

#define GPU_WISH_MAX 256 /* GPUs that one host may be asked for */

enum gpu_wish_kind { GPU_ALL, GPU_NONE, GPU_COUNT, GPU_LIST };

struct gpu_wish {
	enum gpu_wish_kind kind;
	size_t count;		    /* GPU_COUNT, GPU_LIST: how many */
	const char *const *devices; /* the same two: "0", "0:1", "GPU-...", "MIG-..." */
};

/* ERROR_USAGE when the text is none of the forms above, or names a device twice; the text does not name the key. */
int gpu_wish_parse(const char *text, struct arena *arena, struct gpu_wish *wish, struct error *err);

/* Whether a device of a wish is a part of a GPU. */
bool gpu_wish_is_mig(const char *device);

/* How many GPUs a host has, by its facts. */
size_t gpu_count(const struct facts *facts);

/* "8x NVIDIA H100 80GB HBM3, 1x Tesla T4" of product names with ';' between, as facts have them. In the arena. */
const char *gpu_products(const char *names, struct arena *arena);

/* The first index of the wish that a host with so many GPUs does not have; NULL: none. UUIDs and MIG devices are not judged. */
const char *gpu_wish_beyond(const struct gpu_wish *wish, size_t count);

/* How many of them the wish takes; what the host does not have is not counted. */
size_t gpu_wish_count(const struct gpu_wish *wish, const struct facts *facts);

/*
 * ERROR_FAILED when the host has not all that the wish names; the text says what it has. MIG devices are taken for
 * there where the facts do not tell of them.
 */
int gpu_wish_check(const struct gpu_wish *wish, const struct facts *facts, struct error *err);

/* The devices with ',' between, "all" or "" for none. In the arena. */
const char *gpu_wish_text(const struct gpu_wish *wish, struct arena *arena);

#endif
