/* SPDX-License-Identifier: MIT */
/*
 * mirrors.h - which places may have an image, and what this machine says of a registry.
 *
 * It is read where Docker and Podman keep it:
 *
 *   - registries.conf, version 2, containers-registries.conf(5): [[registry]] with prefix,
 *     location, insecure, blocked and its [[registry.mirror]], as tables or as inline lists.
 *     $CONTAINERS_REGISTRIES_CONF, else ~/.config/containers/registries.conf, else
 *     /etc/containers/registries.conf; then the *.conf of /etc/containers/registries.conf.d and
 *     ~/.config/containers/registries.conf.d. Of the prefixes that fit the longest counts, and of
 *     two alike the later one.
 *   - /etc/docker/daemon.json: "registry-mirrors", only for Docker Hub, and
 *     "insecure-registries"; docs.docker.com, "dockerd". A file that only the daemon may read is
 *     treated as absent.
 *
 * `insecure` means plain HTTP here: a certificate is never taken unchecked.
 */
#ifndef REGISTRY_CLIENT_PLACES_MIRRORS_H
#define REGISTRY_CLIENT_PLACES_MIRRORS_H

#include "plan/reference.h"
#include "registry-client/places/registries_conf.h"

/* One place that may have the image. */
struct mirror {
	struct reference ref;
	bool plain_http; /* as the URL of a mirror, or `insecure` of registries.conf says */
	bool has_scheme; /* it is a URL: then plain_http is what somebody wrote, http:// or https:// */
	bool is_mirror; /* false: the registry itself, where its name leads */
};

/* In the order in which they are asked; the last one is no mirror, but the registry itself. */
struct mirrors {
	struct mirror list[MIRRORS_MAX + 1];
	size_t count;
};

/*
 * `hub` is a mirror of Docker Hub that is asked before the machine's own ones
 * ("https://HOST[/PATH]"), or "". ERROR_USAGE: a file that cannot be read, or a registry that is
 * blocked. Texts live in the arena.
 */
int mirrors_find(const struct reference *ref, const char *hub, struct arena *arena,
		 struct mirrors *mirrors, struct error *err);

/*
 * Whether a request may go to that very place, whatever mirrors it has: pushes, lists and logins do. A place
 * that registries.conf blocks is ERROR_USAGE; *insecure says whether it calls the place insecure. A
 * reference without a repository stands for the registry as a whole.
 */
int mirrors_admit(const struct reference *ref, struct arena *arena, bool *insecure,
		  struct error *err);

/*
 * Whether the registry is among daemon.json's insecure-registries, by "HOST:PORT", "HOST", or a
 * network ("10.0.0.0/8") that its address is in: then it may answer in plain HTTP. Names are not
 * resolved for this.
 */
int mirrors_docker_insecure(const char *address, struct arena *arena, bool *insecure,
			    struct error *err);

#endif
