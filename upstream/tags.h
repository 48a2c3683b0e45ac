/* SPDX-License-Identifier: MIT */
/*
 * tags.h - the tags of nvidia/cuda on Docker Hub: image.csv.
 *
 * A tag is CUDA[-cudnn[N]]-FLAVOR-OS, as NVIDIA's documentation of its images says ("12.4.1-cudnn-devel-ubuntu22.04").
 */
#ifndef UPSTREAM_TAGS_H
#define UPSTREAM_TAGS_H

#include "upstream/refresh.h"

#define TAGS_REPOSITORY "docker.io/nvidia/cuda"

struct image_tag {
	const char *cuda;   /* "12.4.1" */
	const char *cudnn;  /* "8" of cudnn8, "yes" of cudnn, "" without */
	const char *flavor; /* base, runtime or devel */
	const char *os;	    /* "ubuntu22.04" */
};

/* False: a tag of another form (latest, an old alias, a release candidate, a GUI). */
bool tag_parse(const char *text, struct arena *arena, struct image_tag *tag);

/*
 * image.csv. Only tags of an OS of the catalog count, since the oldest CUDA of a row that is listed. Tags that have gone are
 * contradictions: the row says that it is listed.
 */
int refresh_images(struct refresh *refresh, struct error *err);

#endif
