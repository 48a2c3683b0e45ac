/* SPDX-License-Identifier: MIT */
/* stage_simulated.h - every command that shows GPUs of a lab's making says that they are not real. */
#ifndef CLI_APP_STAGE_SIMULATED_H
#define CLI_APP_STAGE_SIMULATED_H

#include "cli/app/stages.h"

/* Warns once when hosts of the fleet have simulated GPUs; names them. */
void stage_say_simulated(const struct stages *stages);

/* The same for commands that do not probe: by the facts of the last probe, if there are any. */
void stage_say_simulated_on_file(const struct stages *stages);

/* Adds "simulated": true to a document when hosts of the fleet have simulated GPUs. */
void stage_add_simulated(const struct stages *stages, cJSON *json);
void stage_add_simulated_on_file(const struct stages *stages, cJSON *json);

#endif
