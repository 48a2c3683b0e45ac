/* SPDX-License-Identifier: MIT */
/*
 * daemon_json.h - settings that ringup adds to an engine's /etc/docker/daemon.json.
 *
 * The file belongs to the host's administrator: a key that is there keeps its value. Maps are merged
 * key by key, and lists get the entries that they lack. Keys of the file: Docker's reference of dockerd,
 * "Daemon configuration file". A key is left out where another one of the file, or a flag of dockerd, would make
 * dockerd refuse it: then it would not start any more.
 */
#ifndef DEPLOYER_SETUP_DAEMON_JSON_H
#define DEPLOYER_SETUP_DAEMON_JSON_H

#include "core/json.h"
#include "core/words.h"

/*
 * Merges `wanted` into the text of the file ("" or NULL: there is none) and gives the new text in the
 * arena, or NULL when nothing is to be added. `flags` has a line flag_NAME=VALUE for each flag of the
 * dockerd that runs (remote/setup_look.sh); NULL: none. Adds to `kept` each key, as "log-opts.max-size", whose
 * value in the file is another one than the wanted one or that forbids a wanted one, and to `added` each that
 * is new. ERROR_USAGE when the text is no JSON object: then nothing may be written.
 */
int daemon_json_merge(const char *text, const char *flags, const cJSON *wanted, struct arena *arena,
		      const char **merged, struct words *added, struct words *kept,
		      struct error *err);

/* Whether a running dockerd takes over this key ("log-opts.max-size") at SIGHUP, without a restart. */
bool daemon_json_reloads(const char *key);

#endif
