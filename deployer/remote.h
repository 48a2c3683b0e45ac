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
 * The same for a script of sections, remote/NAME/NN-*.sh in the order of their names, and with
 * `details` those of remote/NAME/details/ behind them. The words are sh -s ARGUMENT..., and *input
 * is the script, for its stdin: it may be longer than a command line, and a login shell that takes no
 * line ends in a word (csh) does not matter. Programs that it starts have an empty stdin.
 */
int remote_sections(const char *name, bool details, const char *const *arguments,
		    struct words *words, const char **input, struct error *err);

/*
 * The value of the first line "KEY=VALUE" of what a script printed, in the arena; "" when there is
 * none. The host may print anything.
 */
const char *remote_value(const char *text, const char *key, struct arena *arena);

#endif
