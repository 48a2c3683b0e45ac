/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_image.h"

#include <string.h>

#define SIF_DIGITS 12
#define IMAGE_CAPABILITIES SLURM_CAPABILITIES "=compute,utility" /* recipes/cuda */

const char *slurm_sif(const struct export_wish *wish)
{
	const char *digest = strstr(wish->image, "sha256:");

	return arena_printf(wish->arena, "%s-%.*s.sif", wish->cluster->name, SIF_DIGITS,
			    digest ? digest + strlen("sha256:") : "image");
}

const char *slurm_enroot_image(const struct export_wish *wish)
{
	char *image = arena_strdup(wish->arena, wish->image), *slash, *at;

	/* without a registry enroot takes Docker Hub's, which is not at docker.io */
	if (starts_with(image, "docker.io/"))
		image += strlen("docker.io/");
	else if ((slash = strchr(image, '/')))
		*slash = '#';
	if ((at = strchr(image, '@')))
		*at = ':';
	return image;
}

const char *slurm_capabilities(const struct export_wish *wish, bool *is_other)
{
	const char *const *pairs = export_env(wish);
	struct words names = WORDS_INIT(wish->arena);
	const char *pair;

	*is_other = false;
	words_add_all(&names, wish->cluster->container.capabilities);
	while (*pairs && !starts_with(*pairs, SLURM_CAPABILITIES "="))
		pairs++;
	if (!wish->gpus_per_node || (!*pairs && !names.count))
		return "";
	pair = *pairs ? *pairs
		      : arena_printf(wish->arena, SLURM_CAPABILITIES "=%s",
				     words_join(&names, ","));
	*is_other = strcmp(pair, IMAGE_CAPABILITIES) != 0;
	return pair;
}

int slurm_volumes(const struct export_wish *wish, const char *container, struct words *volumes,
		  struct error *err)
{
	const char *const *volume = wish->cluster->container.volumes;

	for (; *volume && strcmp(container, "none") != 0; volume++) {
		const struct export_volume v = export_volume(*volume, wish->arena);

		if (v.is_name)
			return error_set(
				err, ERROR_USAGE,
				"container.volumes: %s: '%s' is a volume of a container engine, and Slurm's nodes have folders; give the path of one",
				*volume, v.source);
		/* neither --container-mounts nor --bind has a way to write one that is a part of a path */
		if (strchr(v.source, ',') || strchr(v.target, ','))
			return error_set(
				err, ERROR_USAGE,
				"container.volumes: %s: a comma parts volumes for %s, so none can stand in a path; give the folder another name, or a symbolic link to it",
				*volume, container);
		words_addf(volumes, "%s:%s%s", v.source, v.target, v.is_read_only ? ":ro" : "");
	}
	return 0;
}

bool slurm_has_own_registry(const struct export_wish *wish)
{
	const char *address = wish->cluster->registry.address;
	size_t length = strlen(address);

	return length && strncmp(wish->image, address, length) == 0 && wish->image[length] == '/';
}

void slurm_add_registry(const struct export_wish *wish, const char *container, struct str *out)
{
	const struct cluster_registry *registry = &wish->cluster->registry;
	bool is_pyxis = strcmp(container, "pyxis") == 0;

	if (!slurm_has_own_registry(wish))
		return;
	if (registry->insecure && is_pyxis)
		str_add(out,
			"\n# The registry speaks plain HTTP: enroot takes it with ENROOT_ALLOW_HTTP yes in the nodes' enroot.conf.\n");
	if (*registry->ca && (is_pyxis || strcmp(container, "apptainer") == 0))
		str_add(out,
			"\n# The registry has an authority of its own (registry.ca): the nodes' system must trust it, too.\n");
}
