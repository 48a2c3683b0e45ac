/* SPDX-License-Identifier: MIT */
/*
 * remote.h - the scripts in deployer/remote/, run on a host without leaving a file there.
 */
#ifndef DEPLOYER_REMOTE_H
#define DEPLOYER_REMOTE_H

#include "core/words.h"
#include "core/error.h"

/*
 * Adds the words that run the script: sh -c TEXT NAME ARGUMENT... The script sees `arguments` as
 * $1, $2 and so on, and its stdin is free for data.
 */
int remote_script(const char *name, const char *const *arguments, struct words *words,
		  struct error *err);

/*
 * The value of the first line "KEY=VALUE" of what a script printed, in the arena; "" when there is
 * none. The host may print anything.
 */
const char *remote_value(const char *text, const char *key, struct arena *arena);

#endif
