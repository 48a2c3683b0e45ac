/* SPDX-License-Identifier: MIT */
/*
 * rule_image.h - the base image of a stack, and the driver check ("gate") of NVIDIA's images.
 *
 * The images set NVIDIA_REQUIRE_CUDA. The container toolkit refuses to start one unless the
 * driver's own CUDA is new enough, or the driver's branch and the GPU's brand are in its list. That
 * is stricter than minor-version compatibility, and the list shrinks when NVIDIA pushes a tag
 * again. NVIDIA_DISABLE_REQUIRE=true skips it. Source: NVIDIA container-images/cuda, base
 * Dockerfiles.
 */
#ifndef RESOLVER_RULES_RULE_IMAGE_H
#define RESOLVER_RULES_RULE_IMAGE_H

#include "resolver/search/search.h"

struct base_image {
	const char *name;   /* "docker.io/nvidia/cuda:11.2.2-devel-ubuntu20.04", or the OS's own */
	const char *status; /* listed, eol, gone, none */
	const char *wanted; /* the deleted tag that would be taken otherwise; or "" */
	const char *note;   /* one sentence: why this one */
	const char *packages; /* what must be installed on an OS image instead */
	const char *source;
};

/* Whether the newest state of the image's gate refuses a driver of the hosts. */
bool gate_refuses_any(const struct search *search, const struct value *cuda);

/* The sentence about the gate for the first driver it refuses, or NULL. */
const char *gate_sentence(const struct search *search, const struct value *cuda,
			  const char **source);

/* "cuda-toolkit-11-2=11.2.2-1", as NVIDIA's repositories name it; `sign` is catalog_exact_sign's. */
const char *toolkit_package(const char *version, char sign, struct arena *arena);

/*
 * The base image of the assignment; for GPU stacks. NVIDIA's devel image is taken where its runtime image
 * can be pulled, which is what gets deployed; else the OS's own, with packages, where there are such.
 */
void base_image_find(const struct search *search, struct base_image *base);

#endif
