/* SPDX-License-Identifier: MIT */
/*
 * registry_site.h - the private registry that 'ringup registry' is about: its files here
 * (registry-client/serve.h) joined with the machine that it runs on (deployer/registry/registry_host.h).
 *
 * Port 5000 is the first registry of a machine; another port is another registry, with a folder,
 * unit and container of its own.
 */
#ifndef CLI_APP_REGISTRY_SITE_H
#define CLI_APP_REGISTRY_SITE_H

#include "cli/app/command.h"
#include "deployer/registry/registry_host.h"
#include "registry-client/registry.h"
#include "registry-client/serve.h"

struct registry_options {
	const char *folder, *address, *user, *mirror, *mirror_ca, *on, *storage, *as, *image;
	bool install, take_over;
};

struct registry_site {
	struct context *ctx;
	struct cluster cluster; /* of the one host, with --on */
	struct fleet fleet;	/* members is NULL on this machine */
	struct registry_host host;
	struct registry_host
		before;	  /* where it was, when site_plan changes that; name NULL: nowhere */
	struct serve own; /* what it was made for; with site_plan what it shall become */
	struct served served;
	bool is_known;	    /* --on names a host of the cluster file */
	bool is_plain;	    /* --on is an address without user and port, and no host of that file */
	bool is_there;	    /* it was made before */
	bool is_in_state;   /* its files here are in .ringup */
	struct owner owner; /* of registries on hosts; see site_hold */
	bool takes_over;
	int lock; /* on the folder; -1: none */
};

/* Finds the registry that was set up; ERROR_USAGE when there is none. site_close it always. */
int site_open(struct context *ctx, const struct registry_options *o, struct registry_site *site,
	      struct error *err);

/* The same for one that may have to be made: what the options do not say is as it was, or usual. */
int site_plan(struct context *ctx, const struct registry_options *o, struct registry_site *site,
	      struct error *err);

/*
 * Makes the folder and keeps other runs from it until site_close. Finds out who we are for a host,
 * so that somebody else's registry there is left alone.
 */
int site_hold(struct registry_site *site, struct error *err);

/*
 * After site_plan: makes the files, starts the server unless it runs with just these, and uses it from here as a client does.
 * *way is systemd, process or container.
 */
int site_start(struct registry_site *site, const struct registry_options *o, const char **way,
	       bool *was_running, struct error *err);

/* After site_open: stops the server and removes all of it from the host, its images too; then its folder here. */
int site_remove(struct registry_site *site, struct error *err);

/* For _cleanup_. */
void site_close(struct registry_site *site);

/* A client of it, logged in as its own user. */
int site_contact(struct registry_site *site, struct registry **registry, struct error *err);

#endif
