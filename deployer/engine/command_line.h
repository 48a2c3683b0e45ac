/* SPDX-License-Identifier: MIT */
/*
 * command_line.h - what Docker's command line and Podman's have in common: the options of `run`, the template of
 * `container inspect`, and the registry's refusals, which both print as Go's libraries word them.
 */
#ifndef DEPLOYER_ENGINE_COMMAND_LINE_H
#define DEPLOYER_ENGINE_COMMAND_LINE_H

#include "deployer/engine/engine.h"

/* A line of an engine's `state`. One that waits for its next start counts as running for Docker. */
#define COMMAND_LINE_FIELD(name, value) "container_" name "={{" value "}}\n"
/* The same of a label, or nothing: a label that is not there would print as "<no value>". */
#define COMMAND_LINE_LABEL(name, label) \
	"container_" name "={{with index .Config.Labels \"org.ringup." label "\"}}{{.}}{{end}}\n"

/* A line of an engine's `abilities`. */
#define COMMAND_LINE_ABILITY(name, value) name "=" value "\n"

/* The template of `state`, without `restarts` and `started`, which the engines write differently. */
/* clang-format off */
#define COMMAND_LINE_STATE \
	COMMAND_LINE_FIELD("id", ".Id") \
	COMMAND_LINE_FIELD("running", "if .State.Restarting}}false{{else}}{{.State.Running}}{{end") \
	COMMAND_LINE_FIELD("status", ".State.Status") \
	COMMAND_LINE_FIELD("exit", ".State.ExitCode") \
	COMMAND_LINE_FIELD("image", ".Config.Image") \
	COMMAND_LINE_LABEL("config", "config") \
	COMMAND_LINE_LABEL("settings", "settings") \
	COMMAND_LINE_LABEL("owner_id", "cluster-id") \
	COMMAND_LINE_LABEL("owner_user", "user") \
	COMMAND_LINE_LABEL("owner_machine", "machine") \
	COMMAND_LINE_LABEL("owner_folder", "folder") \
	COMMAND_LINE_LABEL("owner_time", "time")
/* clang-format on */

/* GPUs by their names in the Container Device Interface: all, an index, or a UUID. */
void command_line_add_cdi(const struct container_wish *wish, struct words *out);

/* Adds the options between "run" and the image; `add_gpus` adds those of wish->gpus, which is not "" then. */
void command_line_options(const struct container_wish *wish,
			  void (*add_gpus)(const struct container_wish *wish, struct words *out),
			  struct words *out);

/* Adds the image, and the arguments of its program. */
void command_line_image(const struct container_wish *wish, struct words *out);

/*
 * Adds what a registry's refusal means. `insecure` is what to do on a host so that its engine speaks plain HTTP with the
 * registry.
 */
void command_line_explain_pull(const struct engine_attempt *attempt, const char *insecure,
			       struct error *err);

#endif
