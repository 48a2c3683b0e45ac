/* SPDX-License-Identifier: MIT */
/*
 * processor.h - which processor a stack is for: what the requests say, else what the hosts are, else
 * what the GPUs are joined to (gpu.csv, `arch`), else that of the stack that is kept, else x86_64.
 */
#ifndef RESOLVER_PROCESSOR_H
#define RESOLVER_PROCESSOR_H

#include "resolver/request.h"
#include "resolver/resolve.h"

/* Whether the request word is about the processor: "arch==aarch64". It is no unit of the search. */
bool processor_is_request(const struct requirement *req);

/*
 * What --arch and the requests name; NULL: nothing. ERROR_USAGE: a processor that no stack is for, a
 * request without ==, or two of them.
 */
int processor_asked(const struct resolve_input *input, struct arena *arena, const char **arch,
		    struct error *err);

/* The processor of the first host that tells one which stacks are for, or NULL. */
const char *processor_of_hosts(const struct resolve_input *input);

/* The processor that the first of the GPUs is joined to, where there is only one, or NULL. */
const char *processor_of_gpus(const struct model *model, const struct units *units);

/*
 * Whether hosts have another processor than `arch`: an image is for one. *why then says which hosts
 * have which, and *because is a sentence of it. In a stack for GPUs an unknown processor is refused
 * too; in one without GPUs it is nobody's business.
 */
bool processor_differs(const struct resolve_input *input, const char *arch, bool cpu,
		       struct arena *arena, struct unsatisfied *why, const char **because);

#endif
