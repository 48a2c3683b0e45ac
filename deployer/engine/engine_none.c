/* SPDX-License-Identifier: MIT */
#include "deployer/engine/engine.h"

static const char *const nothing[] = {"true", NULL};
static const char *const no_words[] = {NULL};

/* No containers: the stack is the host's own, and ringup only adds the worker and its secret. */
const struct engine engine_none = {
	.name = "none",
	.help = "no containers: runs on the hosts themselves",
	.rank = -1,
	.has_containers = false,
	.install = "",
	.gpu_toolkit = "",
	.start = "",
	.trust_folder = "",
	.probe = nothing,
	.abilities = nothing,
	.state = nothing,
	.outlive = nothing,
	.has_image = nothing,
	.pull = nothing,
	.images = nothing,
	.load = nothing,
	.remove = nothing,
	.stop = nothing,
	.rename = nothing,
	.resume = nothing,
	.restart = nothing,
	.keep = nothing,
	.remove_image = nothing,
	.prune_image = nothing,
	.logs = nothing,
	.exec = no_words,
	.talk = no_words,
	.with_secret = (const char *const[]){"env", "RINGUP_SECRET_FILE=@{folder}/ssh/secret",
					     "@{folder}/bin/with-secret", NULL},
	.program_folder = "@{folder}/bin/",
};
