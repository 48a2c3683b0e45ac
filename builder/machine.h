/* SPDX-License-Identifier: MIT */
/* machine.h - whether the machine that builds has the processor that the image is for. */
#ifndef BUILDER_MACHINE_H
#define BUILDER_MACHINE_H

#include "builder/backend.h"
#include "core/arena.h"

/*
 * Fails when `arch` (plan/arch.h; "" or NULL: any) is not that of this machine, or of `on` when it is not NULL. The
 * error names both and the next thing to do. A processor that the machine emulates is refused too,
 * because Open MPI then takes hours to compile.
 */
int machine_check(const char *arch, const struct build_host *on, struct arena *arena,
		  struct error *err);

/*
 * Whether the machine, or `on`, has that processor; true for "" and NULL. An error when it cannot be asked.
 */
int machine_fits(const char *arch, const struct build_host *on, struct arena *arena, bool *fits,
		 struct error *err);

#endif
