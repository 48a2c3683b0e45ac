/* SPDX-License-Identifier: MIT */
/*
 * registry_host.h - the Distribution server on this machine or on a host: started, looked at,
 * stopped. One script (remote/registry.sh) does it in both places.
 *
 * It runs in one of three ways. With its program on PATH it is a systemd unit where root has
 * systemd, else a process; without the program it is a container of the host's engine. Nothing is
 * installed but by registry_host_install. A process does not come back after a boot; the other two
 * do.
 */
#ifndef DEPLOYER_REGISTRY_HOST_H
#define DEPLOYER_REGISTRY_HOST_H

#include "deployer/fleet.h"

#define REGISTRY_IMAGE "registry:2.8.3" /* its source: hub.docker.com/_/registry */

struct registry_host {
	struct member *member;	     /* NULL: this machine */
	const struct engine *engine; /* of containers there */
	const char *name;    /* of unit and container: "ringup-registry", "ringup-registry-5001" */
	const char *home;    /* of its files there, absolute; "": where ringup's state lies there */
	const char *storage; /* of its images; "": HOME/data */
	const char *image;   /* for a container */
	int port;
	bool has_mirror_ca; /* HOME/REGISTRY_MIRROR_CA is to be trusted for what it pulls through */
};

#define REGISTRY_MIRROR_CA "upstream.pem"

/* What the host says. Text is "" where there is nothing. */
struct registry_found {
	const char *home, *storage; /* absolute */
	const char *program;	    /* path of the server's program */
	const char *version;	    /* what that says of itself */
	const char *engine_error;   /* why the engine does not answer */
	const char *as;		    /* how it runs, or ran last: systemd, process, container */
	bool has_systemd, has_engine, running;
	uint64_t free_bytes, total_bytes; /* of the storage's file system */
	uint64_t used_bytes;		  /* by images; 0 unless measured */
};

/* Asks; changes nothing. Fills home and storage of `host` where they are "". */
int registry_host_look(struct registry_host *host, bool measure, struct arena *arena,
		       struct registry_found *found, struct error *err);

/* Installs Debian's package docker-registry, with its own unit masked. */
int registry_host_install(struct registry_host *host, struct error *err);

/*
 * How it is to run. `asked`: NULL for the best way there is. An error says what is missing, and how
 * to get it.
 */
int registry_host_way(const struct registry_host *host, const struct registry_found *found,
		      const char *asked, const char **way, struct error *err);

/*
 * Puts FOLDER/NAME of this machine to HOME/NAME for each of `files` that is there, and starts the
 * server unless it runs with just these. Waits until it listens. An error ends with what the server
 * said.
 */
int registry_host_start(struct registry_host *host, const struct registry_found *found,
			const char *way, const char *folder, const char *const *files,
			struct arena *arena, bool *was_running, struct error *err);

/* Ends it, also for the next boot. */
int registry_host_stop(struct registry_host *host, bool *was_running, struct error *err);

/* Frees the space of blobs that nothing names. It must not run meanwhile: it would lose pushes. */
int registry_host_collect(struct registry_host *host, const struct registry_found *found,
			  const char *way, struct error *err);

/*
 * The systemd unit: a user of its own that sees the machine read-only but for `storage`. Errors: a
 * path with characters that a unit cannot hold as they are.
 */
int registry_unit(const struct registry_host *host, const char *program, struct arena *arena,
		  const char **text, struct error *err);

#endif
