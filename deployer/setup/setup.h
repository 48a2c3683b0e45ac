/* SPDX-License-Identifier: MIT */
/*
 * setup.h - what a bare host lacks to run the cluster, as steps, and doing them.
 *
 * The steps are rows of recipes/setup.csv, in the order in which they are done:
 *   id         a name of its own
 *   part       engine, toolkit, driver, fabric, time, limits or registry: what a person may leave out
 *   condition  when a host needs it: condition.h. A host that has had the step does not
 *   what       what it does, without a full stop
 *   command    for a shell of the host, as root. $1 is the driver's version, $2 the registry; a comma is
 *              written as @{comma}. "@NAME WORD..." is the script remote/setup_NAME.sh with these words, of which
 *              $1 to $6 are values: $3 is NVIDIA's repository for the host (HOST/PATH), $4 the name of its key
 *              there, $5 the key's fingerprint and $6 its file's checksum, by os.csv and key.csv of the catalog
 *   after      nothing, reboot: it counts from the next boot on, and ringup boots no host; or engine: it counts
 *              from the next start of Docker Engine on (daemon_turn.h)
 *   source     a page that explains it
 * Conditions know the names of facts, and setup_engine, setup_driver, setup_registry_ca and setup_nvidia: the
 * catalog has a repository of NVIDIA's for the host, and its key is known.
 */
#ifndef DEPLOYER_SETUP_SETUP_H
#define DEPLOYER_SETUP_SETUP_H

#include "core/json.h"
#include "deployer/doctor/condition.h"
#include "deployer/fleet.h"
#include "deployer/setup/daemon_turn.h"
#include "resolver/catalog.h"

struct setup_step {
	const char *id, *part, *what, *command, *source;
	bool reboot, restarts_engine;
	struct condition *condition;
};

struct setup_steps {
	size_t count;
	struct setup_step *steps;
};

/* What the person wants. */
struct setup_wish {
	const char *engine;	       /* docker or podman */
	const char *driver;	       /* "" none */
	const char *const *skip;       /* parts that are left out; NULL-terminated */
	const char *registry;	       /* address; "" none */
	const char *registry_ca;       /* PEM text; NULL: none */
	const struct catalog *catalog; /* NULL: no repository of NVIDIA's is known */
	const cJSON *daemon;	       /* settings for daemon.json; NULL: none */
	bool has_settings;	       /* the engine is one with a daemon.json: it is looked at */
	bool only_plan; /* nothing will be done: a host where we are not root is no error */
};

/* What the values $1 to $6 of a command are on a host. */
#define SETUP_VALUES 6

/* One host's part of the plan. */
struct setup_turn {
	bool *needs;	    /* by step */
	const char *daemon; /* the new daemon.json, or NULL */
	const char *values[SETUP_VALUES];
	struct words added, kept; /* its keys: daemon_json.h */
	struct daemon_turn engine;
	const char
		*not_root; /* why nothing can be done there, as a sentence; "" where we are root */
};

/* Reads recipes/setup.csv. ERROR_USAGE with its line when a row is wrong. */
int setup_load(struct arena *arena, struct setup_steps *steps, struct error *err);

/* The same of a file's text, which is taken apart; `path` is for errors. */
int setup_parse(const char *path, char *text, size_t length, struct arena *arena,
		struct setup_steps *steps, struct error *err);

/* Which steps these facts need; `needs` has room for all. */
void setup_needs(const struct setup_steps *steps, const struct setup_wish *wish,
		 const struct facts *facts, struct arena *arena, bool *needs);

/* The command as it runs on a host with these values, for a person to read and to copy. */
const char *setup_shown(const struct setup_step *step, const char *const values[SETUP_VALUES],
			struct arena *arena);

/*
 * The plan of every active member of a probed fleet, by member->index; looks at their Docker Engine and its
 * daemon.json, in one round trip. A member whose file is broken fails, and so does one that needs something where
 * we are not root. In the fleet's arena.
 */
struct setup_turn *setup_plan(struct fleet *fleet, const struct setup_steps *steps,
			      const struct setup_wish *wish);

/*
 * Does the plan, hosts side by side. The first step that fails ends its host's turn, but for the engine's: what
 * was written counts.
 */
void setup_do(struct fleet *fleet, const struct setup_steps *steps, const struct setup_wish *wish,
	      struct setup_turn *turns);

/*
 * Lets every active member run a container made of its own /bin/true (remote/setup_check.sh), which needs
 * no registry. A member where it does not run fails.
 */
void setup_verify(struct fleet *fleet, const char *engine);

#endif
