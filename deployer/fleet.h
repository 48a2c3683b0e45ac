/* SPDX-License-Identifier: MIT */
/*
 * fleet.h - the hosts of a cluster, worked on side by side.
 *
 * fleet_each runs straight-line code per host on a bounded pool of threads and keeps one error per
 * host. So no host's failure hides another's. Later steps leave out a host that failed.
 */
#ifndef DEPLOYER_FLEET_H
#define DEPLOYER_FLEET_H

#include "core/progress.h"
#include "deployer/engine/engine.h"
#include "deployer/records/owner.h"
#include "deployer/ssh/ssh.h"
#include "plan/cluster.h"
#include "plan/facts.h"

/* What the probe says about the cluster's container on a host; text is "" when there is none. */
struct host_state {
	const char *container_id, *config, *image, *started;
	const char *settings;	      /* of the container, as container.h has them */
	const char *leased;	      /* GPUs of a number in `gpus` (lease/up_leases.h); or NULL */
	const char *mesh;	      /* digest of the ssh files that the host holds */
	const char *folder;	      /* ringup's folder on the host */
	const char *machine;	      /* the same for two names of one machine; "" unknown */
	const char *listening;	      /* who has ports there, as ports.h has them */
	struct owner container_owner; /* by the container's labels */
	struct owner owner;	      /* of the folder */
	const char *status;   /* of the container, in the engine's word: running, paused, exited */
	struct abilities can; /* what the host's engine allows */
	bool running;
	bool restarts; /* the engine starts it again after a failure, a boot or its own restart */
	int exit_status;
};

struct member {
	const struct host *host;
	size_t index;
	struct fleet *fleet;
	const char *address; /* for the workers: the host's own, in numbers once it is known */
	int sshd_port; /* of its container; 0: it has no sshd, or the port is not chosen yet (ports.h) */
	struct ssh_target target;
	struct ssh *ssh;    /* opened at first use, kept */
	struct arena arena; /* this host's own memory: its thread is the only user */
	const struct engine *engine;
	struct facts facts;
	struct host_state state;
	bool changed; /* something was changed on the host by this command */
	bool waits;   /* steps leave it out until its turn comes (struct bringup, rolling) */
	bool failed;
	bool left_out;	   /* the command is about other hosts: it is neither asked nor counted */
	const char *phase; /* what is done on it now, or was when it failed: "probe", "image" */
	struct error err;  /* set when failed */
};

struct fleet {
	const struct cluster *cluster;
	struct arena *arena;
	size_t count;
	struct member *members;
	size_t jobs;	       /* hosts at once */
	const char *container; /* "ringup-NAME": the container's name on every host */
	struct owner owner;    /* of this cluster; owner_nobody until the caller loads it */
	bool takes_over;       /* what belongs to somebody else becomes ours */
};

struct fleet_options {
	int timeout_s; /* to connect and log in; 0: 15 */
	int jobs;      /* 0: 64 */
};

/*
 * Sets the fleet up; connects to nothing. The fleet lives in the arena; fleet_close ends it. ERROR_USAGE when the
 * cluster has no hosts, or its container.engine is none that ringup knows.
 */
int fleet_init(const struct cluster *cluster, const struct fleet_options *options,
	       struct arena *arena, struct fleet *fleet, struct error *err);

/* Closes every connection. For _cleanup_. */
void fleet_close(struct fleet *fleet);

/* Leaves out all members but those with these names. */
void fleet_leave_out(struct fleet *fleet, const char *const *names);

/* Says what the active members do from now on. */
void fleet_phase(struct fleet *fleet, const char *phase);

/* How many members are not left out. */
size_t fleet_asked(const struct fleet *fleet);

/*
 * Calls fn for every member that has not failed, does not wait and is not left out. fn's error is kept with the
 * host.
 */
void fleet_each(struct fleet *fleet, int (*fn)(struct member *member, void *arg, struct error *err),
		void *arg);

/*
 * 0 when no member failed. Otherwise sets one error that names each failed host with its cause:
 * ERROR_PARTIAL when some hosts are fine, ERROR_FAILED (or the members' own kind) when none is.
 */
int fleet_result(const struct fleet *fleet, struct error *err);

size_t fleet_failures(const struct fleet *fleet);

/* Whether steps work on it now: it has not failed, does not wait and is not left out. */
static inline bool member_is_active(const struct member *member)
{
	return !member->failed && !member->waits && !member->left_out;
}

/* How many members are active. */
size_t fleet_active(const struct fleet *fleet);

/* Adds "node01, node02", or "node[01-30]" for many, for the members that `picks` takes; returns how many these are. */
size_t fleet_add_names(const struct fleet *fleet,
		       bool (*picks)(const struct member *member, const void *arg), const void *arg,
		       struct str *out);

/* Opens the member's connection unless it is open already. */
int member_connect(struct member *member, struct error *err);

/* Closes it, where no more commands follow. A later member_connect opens another one. */
void member_disconnect(struct member *member);

/* ssh_check on the member's connection with no input. `what` begins the error's text. */
int member_check(struct member *member, const char *const *words, const char *what,
		 struct error *err);

#endif
