/* SPDX-License-Identifier: MIT */
/* Buildah: it has no daemon, and containers-storage keeps its images, as with Podman. */
#include "builder/client/daemonless.h"

/* Buildah has no import, so this builds an image with one ADD, which unpacks the tar. */
static const char import_script[] =
	"folder=$(mktemp -d) || exit\n"
	"trap 'rm -rf \"$folder\"' EXIT\n"
	"cat >\"$folder/base.tar\" || exit\n"
	"printf 'FROM scratch\\nADD base.tar /\\n' >\"$folder/Dockerfile\"\n"
	"buildah bud --quiet --tag \"$1\" \"$folder\"\n";

/* Buildah opens its output a second time, which works only with a pipe. */
static const char save_script[] = "{ buildah push --quiet \"$1\" \"docker-archive:/dev/stdout:$1\" "
				  "|| kill $$; } | cat";

static const struct client_words words = {
	.program = "buildah",
	.answers = (const char *const[]){"buildah", "version", NULL},
	.has_image = (const char *const[]){"buildah", "inspect", "--type", "image", NULL},
	.import_base = (const char *const[]){"sh", "-c", import_script, "import", NULL},
	.build = (const char *const[]){"buildah", "bud", "--runtime", "@runtime", "--network",
				       "host", "--format", "docker", "--layers", NULL},
	.build_there = (const char *const[]){"buildah", "bud", "--network", "host", "--format",
					     "docker", "--layers=false", "--force-rm", NULL},
	.remove = (const char *const[]){"buildah", "rmi", NULL},
	.save = (const char *const[]){"sh", "-c", save_script, "save", NULL},
};

const struct backend backend_buildah = {
	DAEMONLESS_BACKEND, .name = "buildah", .help = "Buildah 1.19 or newer",
	.rank = 4,	    .words = &words,
};
