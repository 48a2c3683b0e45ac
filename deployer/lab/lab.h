/* SPDX-License-Identifier: MIT */
/*
 * lab.h - a practice cluster on this one machine.
 *
 * With root, each host is a set of namespaces (network, mount, pid, uts, ipc). It has its own
 * address on a bridge, its own sshd and container engine, and its own /run, /var/lib/ringup and folders of the
 * engine. When its first process ends, everything in it ends, mounts included. A real
 * Distribution registry with TLS and htpasswd listens on the bridge's own address. Without root,
 * network namespaces or dockerd the lab has loopback hosts instead: one sshd of the calling user
 * per address, and no engine.
 *
 * Hosts may have GPUs that are not there (lab_gpus.h), or a system of their own (lab_bare.h).
 *
 * Everything lies in .ringup/lab beside cluster.yaml; state.json there says what runs.
 */
#ifndef DEPLOYER_LAB_LAB_H
#define DEPLOYER_LAB_LAB_H

#include "core/arena.h"
#include "core/error.h"
#include "core/json.h"
#include "core/words.h"

#include <sys/types.h>

#define LAB_HOSTS_MAX 200
#define LAB_HOSTS_DEFAULT 3
#define LAB_MARK "# Made by 'ringup lab up'"

/* A process that the lab started. The id is not enough: another process may have it by now. */
struct lab_process {
	pid_t pid;
	unsigned long long started; /* field 22 of /proc/PID/stat */
};

/* The simulated GPUs of one host. */
struct lab_gpus {
	const char *spec;   /* "8xH100+2xT4"; "": none */
	const char *driver; /* as --driver gave it; "": the usual one of these GPUs */
	bool nvlink, infiniband;
	bool toolkit; /* NVIDIA's container toolkit is there */
};

struct lab_host {
	const char *name, *address;
	struct lab_process process; /* first process of the host, or its sshd on loopback */
	struct lab_gpus gpus;
	const char *bare; /* its own system (lab_bare.h), "debian12"; "": that of this machine */
	bool gpus_changed, restarts; /* by this run: its GPUs are written anew; it starts again */
};

/* What --gpus and its companions ask for; all empty: the GPUs stay as they are. */
struct lab_gpus_wish {
	struct words gpus;	 /* "8xH100", "node01=8xH100,node02=none" */
	struct words drivers;	 /* "550.54.15", "node02=470.57.02" */
	struct words no_toolkit; /* names of hosts, or "all" */
	bool nvlink, infiniband;
	bool no_nvlink, no_infiniband; /* what hosts have of them goes */
};

struct lab_wish {
	int hosts;	    /* 0: those that are up, or LAB_HOSTS_DEFAULT */
	bool loopback;	    /* even where namespaces are available */
	const char *engine; /* of the hosts; NULL: what they have, or the usual one */
	const char *user;   /* the login's, who is not root; NULL: what they have, or root */
	struct words bare;  /* "debian12", "node01=debian12,node02=debian11": lab_bare.h */
	struct lab_gpus_wish gpus;
};

struct lab {
	const char *folder; /* of cluster.yaml */
	const char *state;  /* FOLDER/.ringup/lab, absolute */
	const char *name;   /* of the bridge and the namespaces: "rl" and four hex digits */
	bool loopback;
	const char *why_loopback; /* one sentence */
	const char *engine;	  /* of its hosts (engine.h): "none" on loopback */
	const char *
		user; /* whose login cluster.yaml has; "": the one who calls (root, where hosts are namespaces) */
	int subnet; /* 10.83.SUBNET.0/24, or 127.0.SUBNET.0/24 of loopback hosts */
	int port;   /* of the hosts' sshd */
	int host_count;
	struct lab_host hosts[LAB_HOSTS_MAX];
	struct lab_process registry;
	const char *written; /* digest of the cluster.yaml that the lab wrote; "" when none */
};

/*
 * Starts what is not running, and a host whose sshd or engine does not answer starts again; starting twice is harmless. Writes cluster.yaml; a cluster.yaml that
 * the lab did not write is an error. Hosts keep their simulated GPUs unless the wish names others.
 */
int lab_up(const char *cluster_path, const struct lab_wish *wish, struct arena *arena,
	   struct lab *lab, struct error *err);

/*
 * Ends and removes everything that lab_up made. It is no error when there is no lab; *found says
 * whether there was one.
 */
int lab_down(const char *cluster_path, struct arena *arena, bool *found, struct error *err);

#endif
