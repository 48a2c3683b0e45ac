/* SPDX-License-Identifier: MIT */
/*
 * image_words.h - what a person may write under `image:` of cluster.yaml.
 *
 * These words become part of a Dockerfile or a script: they must not end a line early or become two
 * words.
 */
#ifndef BUILDER_RECIPE_IMAGE_WORDS_H
#define BUILDER_RECIPE_IMAGE_WORDS_H

#include "plan/cluster.h"

/* ERROR_USAGE names the file, the key and the word. */
int image_words_check(const struct cluster *cluster, struct error *err);

#endif
