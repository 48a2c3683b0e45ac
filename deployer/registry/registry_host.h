/* SPDX-License-Identifier: MIT */
/*
 * registry_host.h - starts, inspects and stops the Distribution server on this machine or on a
 * host. One script (remote/registry.sh) does the work in both places.
 *
 * The server runs in one of three ways. With its program on PATH it is a systemd unit if the user
 * is root and systemd runs, else a process. Without the program it is a container of the host's
 * engine. Only registry_host_install installs anything. A process does not come back after a boot;
 * a unit and a container do.
 */
#ifndef DEPLOYER_REGISTRY_REGISTRY_HOST_H
#define DEPLOYER_REGISTRY_REGISTRY_HOST_H

#include "deployer/fleet.h"

#define REGISTRY_IMAGE "registry:2.8.3" /* its source: hub.docker.com/_/registry */

struct registry_host {
	struct member *member;	     /* NULL: this machine */
	const struct engine *engine; /* the container engine there */
	const char *name;    /* of unit and container: "ringup-registry", "ringup-registry-5001" */
	const char *home;    /* of its files, absolute; "": in ringup's state folder there */
	const char *storage; /* of its images; "": HOME/data */
	const char *image;   /* for a container */
	int port;
	const struct owner *owner; /* whose it is; NULL: not asked, on this machine */
	bool takes_over;	   /* it may be somebody else's, and becomes the owner's */
	bool has_mirror_ca; /* the server trusts HOME/REGISTRY_MIRROR_CA for its upstream registry */
};

#define REGISTRY_MIRROR_CA "upstream.pem"

/* What the host reports. Text is "" where it reports nothing. */
struct registry_found {
	const char *home, *storage; /* absolute */
	const char *program;	    /* path of the server's program */
	const char *version;	    /* that program's own version text */
	const char *engine_error;   /* why the engine does not answer */
	const char *as;		    /* how it runs or last ran: systemd, process, container */
	bool has_systemd, has_engine, running;
	uint64_t free_bytes, total_bytes; /* of the storage's file system */
	uint64_t used_bytes;		  /* by images; 0 unless measured */
};

/* Inspects the host and changes nothing. Fills home and storage of `host` where they are "". */
int registry_host_look(struct registry_host *host, bool measure, struct arena *arena,
		       struct registry_found *found, struct error *err);

/* Installs Debian's package docker-registry, with its own unit masked. */
int registry_host_install(struct registry_host *host, struct error *err);

/*
 * Chooses how the server runs. `asked` is the wanted way, or NULL for the best available one. An
 * error says what is missing and how to get it.
 */
int registry_host_way(const struct registry_host *host, const struct registry_found *found,
		      const char *asked, const char **way, struct error *err);

/*
 * Copies FOLDER/NAME of this machine to HOME/NAME for each NAME of `files` that exists. Starts the
 * server unless it already runs with exactly these files. Waits until it listens. An error ends
 * with the server's own message.
 */
int registry_host_start(struct registry_host *host, const struct registry_found *found,
			const char *way, const char *folder, const char *const *files,
			struct arena *arena, bool *was_running, struct error *err);

/* Stops the server and keeps it from starting at the next boot. */
int registry_host_stop(struct registry_host *host, bool *was_running, struct error *err);

/* Stops the server and removes its files, its unit, and the images that lie below HOME. */
int registry_host_remove(struct registry_host *host, struct error *err);

/* Frees the space of unreferenced blobs. The server must be stopped: it would lose pushes. */
int registry_host_collect(struct registry_host *host, const struct registry_found *found,
			  const char *way, struct error *err);

#endif
