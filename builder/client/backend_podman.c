/* SPDX-License-Identifier: MIT */
/* Podman: it has no daemon, and containers-storage keeps its images. */
#include "builder/client/daemonless.h"

static const struct client_words words = {
	.program = "podman",
	.answers = (const char *const[]){"podman", "version", NULL},
	.has_image = (const char *const[]){"podman", "image", "exists", NULL},
	.import_base = (const char *const[]){"podman", "import", "--quiet", "-", NULL},
	.build = (const char *const[]){"podman", "--runtime", "@runtime", "build", "--network",
				       "host", "--format", "docker", "--layers", NULL},
	.build_there = (const char *const[]){"podman", "build", "--network", "host", "--format",
					     "docker", "--layers=false", "--force-rm", NULL},
	.remove = (const char *const[]){"podman", "image", "rm", NULL},
	.save = (const char *const[]){"podman", "save", "--format", "docker-archive", NULL},
};

const struct backend backend_podman = {
	DAEMONLESS_BACKEND, .name = "podman", .help = "Podman 3 or newer",
	.rank = 3,	    .words = &words,
};
