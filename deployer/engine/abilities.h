/* SPDX-License-Identifier: MIT */
/*
 * abilities.h - what one host's engine allows: asked of the engine, and seen at the process that starts its containers.
 *
 * The probe prints it as lines "can_NAME=VALUE" (remote/probe/95-engine.sh) beside its facts. What is not there is not known, and then
 * the engine is asked for everything, as it may allow it.
 */
#ifndef DEPLOYER_ENGINE_ABILITIES_H
#define DEPLOYER_ENGINE_ABILITIES_H

#include "core/words.h"

#include <stdbool.h>
#include <stdint.h>

struct container_wish;

/* Text is never NULL; "" is not known, or none. */
struct abilities {
	bool is_rootless;      /* containers run in a user's own namespace */
	bool has_selinux;      /* it labels files and processes */
	bool knows_capability; /* capabilities below is known */
	uint64_t capabilities; /* of the process that starts containers: bits of capabilities(7) */
	int last_capability;   /* the highest one that the kernel has */
	const char *limits;    /* the highest values, "memlock:8388608;nofile:20000" */
	const char *controllers; /* of control groups, "cpu;memory;pids"; see knows_controllers */
	bool knows_controllers;
	const char *runtimes;  /* "nvidia;runc" */
	const char *version;   /* of the engine, "20.10.24" */
	bool has_gpu_hook;     /* NVIDIA's hook is there, as --gpus needs it */
	bool has_cdi;	       /* NVIDIA's devices are specified for CDI */
	bool lacks_rdma;       /* this user may not use /dev/infiniband */
	bool lacks_rdma_files; /* the host has InfiniBand or RoCE, and no file in /dev/infiniband */
	const char *trust_folder; /* as the engine's record has it, where it is another one here */
};

/* Nothing is known. */
extern const struct abilities abilities_unknown;

/* From the lines of the probe, which a host may have written as it likes; the texts are in the arena. */
void abilities_parse(const char *text, struct arena *arena, struct abilities *out);

/* Whether the controller is there, or not known. */
bool abilities_control(const struct abilities *can, const char *controller);

/*
 * Takes out of the wish what the engine does not allow. Adds two words for each: its name, as `container.required`
 * has it (a limit's, privileged, rdma, memory, cpus), and a sentence. The wish's lists are new ones in the arena of `left_out` then.
 */
void abilities_trim(const struct abilities *can, struct container_wish *wish,
		    struct words *left_out);

#endif
