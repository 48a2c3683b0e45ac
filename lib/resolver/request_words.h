/* SPDX-License-Identifier: MIT */
/* request_words.h - requests as people write them, and as requirement files and os-release have them. */
#ifndef RESOLVER_REQUEST_WORDS_H
#define RESOLVER_REQUEST_WORDS_H

#include "resolver/model.h"

/* The request in a form that requirement_parse takes. In the model's arena. */
const char *request_tidy(const struct model *model, const char *text);

/* Whether one asks for the build of torch for CPUs, "torch==2.6.0+cpu", as PyTorch's index calls it. */
bool requests_are_for_cpus(const char *const *requests);

#endif
