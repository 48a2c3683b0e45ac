/* SPDX-License-Identifier: MIT */
/*
 * request.h - requests, and the hosts' drivers and GPUs, as units that admit or exclude values.
 *
 * A unit is one request word, or one driver or GPU model of the hosts. A conflict is a set of
 * units, so a unit is something that a person can change.
 */
#ifndef RESOLVER_REQUEST_H
#define RESOLVER_REQUEST_H

#include "plan/facts.h"
#include "resolver/model.h"

#define UNITS_MAX 64

enum admission {
	ADMIT_NO,
	ADMIT_YES,
	ADMIT_MINOR,	 /* the driver runs this CUDA only by minor-version compatibility */
	ADMIT_JIT,	 /* the GPU is newer than this CUDA: only a wheel's PTX can run */
	ADMIT_SERIES,	 /* another patch version of the series that was asked for */
	ADMIT_COMPAT,	 /* only with the cuda-compat package in the image */
	ADMIT_OVERRULED, /* no, but a person has overruled the rule that says so (allow.h) */
};

struct unit {
	const char *text; /* "torch>=2.1", or "driver 390.48 (host a, b)" */
	enum component component;
	struct requirement req;
	bool is_pin;	    /* a driver or GPU of the hosts: the stack must fit it */
	bool is_base;	    /* the OS of image.base */
	const char *driver; /* of a driver pin: "470.57.02", or a whole branch "470" */
	const char *product, *sm, *class; /* of a GPU pin; class "" when only sm_NN is known */
	const struct value *gpu;	  /* its row, or NULL */
	const char *first_cuda;		  /* of a GPU pin: gpu_first_cuda's */
	const struct value *lost_cudnn;	  /* and gpu_lost_cudnn's */
	const struct value *early_cudnn;  /* and gpu_early_cudnn's */
	const char *hosts;		  /* hosts that have it, folded; NULL for a request */
	uint64_t *on;			  /* a bit for each of them; NULL for a request */
	size_t on_words;
	bool compat; /* of a driver pin: all GPUs beside it may use forward compatibility */
	uint8_t *admits[COMPONENT_COUNT]; /* enum admission per value; NULL: all */
};

#define UNIT_BIT(i) (1ULL << (i))

struct units {
	size_t count;
	struct unit list[UNITS_MAX];
	uint32_t asked; /* components that a request names */
	bool is_auto;	/* a stack for GPUs only because some units ask for it */
	bool compat; /* some driver, or without drivers every GPU, may use forward compatibility */
	size_t unknown_count; /* GPUs of hosts that the catalog does not know */
	const char *unknown[UNITS_MAX];
};

/*
 * Reads the request words. ERROR_USAGE: a word is not a REQ, or names something unknown or an
 * unknown GPU. The error names the nearest known one.
 */
int units_read(const struct model *model, const char *const *requests, struct units *units,
	       struct error *err);

/*
 * Adds the OS of the image that a person gave as the base (NULL: none), under that image's name. An image whose name
 * does not say its OS adds nothing.
 */
int units_add_base(const struct model *model, const char *base, struct units *units,
		   struct error *err);

/* Adds the drivers and GPUs of hosts, each once. */
int units_add_facts(const struct model *model, const struct facts *facts, size_t count,
		    struct units *units, struct error *err);

/*
 * Whether a host has both. Each host's driver has to fit that host's GPUs, and no others. Requests are for
 * all hosts.
 */
bool unit_meets(const struct unit *a, const struct unit *b);

/* A bit for each of them. */
static inline uint64_t units_all(const struct units *units)
{
	return units->count == 64 ? ~0ULL : UNIT_BIT(units->count) - 1;
}

/* Computes what every unit admits. To be called after the last unit is added. */
void units_apply(const struct model *model, struct units *units);

/* Whether the request names this build of a version and no other: "torch==1.10.0+cu113". */
bool unit_names_build(const struct unit *unit, const struct value *value, struct arena *arena);

#endif
