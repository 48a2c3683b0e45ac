/* SPDX-License-Identifier: MIT */
/* lab_internal.h - between the lab's own files. */
#ifndef DEPLOYER_LAB_LAB_INTERNAL_H
#define DEPLOYER_LAB_LAB_INTERNAL_H

#include "deployer/lab/lab.h"

/* --- lab_process.c --- */
/*
 * Notes when the process started. -1 when it has ended already; the error has the end of its log.
 */
int lab_process_note(pid_t pid, const char *log_path, struct lab_process *process,
		     struct error *err);
bool lab_process_alive(const struct lab_process *process);
/* Ends it (SIGKILL when `hard`), and waits until it is gone. */
void lab_process_end(const struct lab_process *process, bool hard);
/* Waits up to `seconds` for TCP to answer there; false when the process died or time ran out. */
bool lab_wait_port(const char *address, int port, const struct lab_process *process, int seconds);

/* --- lab_state.c --- */
void lab_load(const char *cluster_path, struct arena *arena, struct lab *lab);
int lab_save(const struct lab *lab, struct error *err);
/* Writes cluster.yaml and notes its digest in the lab. A file that a person has changed stays. */
int lab_write_cluster(struct lab *lab, const char *path, struct arena *arena, struct error *err);
/* Whether the file is as the lab wrote it. */
bool lab_owns_cluster(const struct lab *lab, const char *path);

/* --- lab_netns.c: namespace hosts --- */
/* Why this machine cannot have them, or NULL. */
const char *lab_netns_refusal(struct arena *arena);
int lab_netns_up(struct lab *lab, struct arena *arena, struct error *err);
void lab_netns_down(const struct lab *lab, struct arena *arena);

/* --- lab_loopback.c --- */
int lab_loopback_up(struct lab *lab, struct arena *arena, struct error *err);
void lab_loopback_down(const struct lab *lab);

/* --- lab_registry.c --- */
#define LAB_REGISTRY_PORT 5000
#define LAB_REGISTRY_USER "lab"
int lab_registry_up(struct lab *lab, struct arena *arena, struct error *err);
const char *lab_registry_address(const struct lab *lab, struct arena *arena);

/* A path in the lab's folder. */
const char *lab_path(const struct lab *lab, const char *relative, struct arena *arena);
/* A key pair at RELATIVE, made when missing. */
int lab_key(const struct lab *lab, const char *relative, struct arena *arena, struct error *err);

#endif
