/* SPDX-License-Identifier: MIT */
/*
 * kubernetes_text.h - what kubectl prints of jobs, pods, nodes and queues, taken apart. Anybody who may write into the
 * cluster chooses some of it: what cannot be read is "", 0 or false. Text lives in the arena and is never NULL.
 *
 * Sources: the API reference of Kubernetes (kubernetes.io/docs/reference/kubernetes-api): Job, Pod and Node v1;
 * kubeflow/training-operator, pkg/apis/kubeflow.org/v1/common_types.go (JobCondition); jobset.sigs.k8s.io (JobSet);
 * kueue.sigs.k8s.io (ClusterQueue, LocalQueue).
 */
#ifndef DEPLOYER_SCHEDULER_KUBERNETES_TEXT_H
#define DEPLOYER_SCHEDULER_KUBERNETES_TEXT_H

#include "core/json.h"
#include "deployer/scheduler/overview.h"

#define KUBERNETES_MESSAGE_BYTES 400 /* of what others wrote, in a sentence of ours */

/* A job of any kind, by its conditions. */
struct kubernetes_job {
	bool has_ended, has_failed;
	bool is_suspended;	      /* a queue holds it back */
	bool is_seen;		      /* its controller has written some status */
	const char *reason, *message; /* of the end, or of the suspension */
};

struct kubernetes_pod {
	const char *name, *node;
	bool is_pending, has_begun; /* has_begun: its container has run, so it may have printed */
	bool has_failed;
	const char *waits,
		*message; /* why it does not begin, or was ended: "Unschedulable", "ErrImagePull" ... */
	int status;	  /* of its container, where it has failed */
	const char *ended; /* when; "" */
};

struct kubernetes_pods {
	struct kubernetes_pod *list; /* those that failed first, in the order of their ends */
	size_t count;
};

void kubernetes_read_job(const cJSON *json, struct arena *arena, struct kubernetes_job *job);
void kubernetes_read_pods(const cJSON *json, struct arena *arena, struct kubernetes_pods *pods);

/*
 * The last warning in a list of Events that says why a pod of the job, or of what belongs to it, is not made: "Job NAME:
 * FailedCreate: ..."; "" if none does.
 */
const char *kubernetes_refusal(const cJSON *events, const char *job, struct arena *arena);

/*
 * The number of a pod among those of its job, by its name; -1: it has none, as an MPIJob's. A TFJob's pods are numbered as the
 * ranks of its `roles`, "chief=1,worker=2,ps=1": by role, in that order. "": all of them are workers.
 */
int kubernetes_task(const char *kind, const char *roles, const char *job, const char *pod);

/* A line of `kubectl logs --prefix --timestamps`: "[pod/NAME/CONTAINER] STAMP TEXT". *text points into the line. */
bool kubernetes_log_line(const char *line, struct arena *arena, const char **pod,
			 const char **stamp, const char **text);

/*
 * What kubectl said, in one line of at most KUBERNETES_MESSAGE_BYTES: without the lines of its own log, warnings and
 * what stands before the words of the server.
 */
const char *kubernetes_complaint(const char *text, struct arena *arena);

/* Nodes, with what the pods (those of all namespaces, or none) have of them. */
void kubernetes_read_nodes(const cJSON *nodes, const cJSON *pods, struct arena *arena,
			   struct scheduler_overview *overview);
/* LocalQueues of Kueue, or ClusterQueues. */
void kubernetes_read_queues(const cJSON *queues, struct arena *arena,
			    struct scheduler_overview *overview);

#endif
