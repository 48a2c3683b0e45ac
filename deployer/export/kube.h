/* SPDX-License-Identifier: MIT */
/*
 * kube.h - what Kubernetes objects of a job share: the line writer and the pod.
 *
 * Sources: the API reference of Kubernetes (kubernetes.io/docs/reference/kubernetes-api), PodSpec and Job v1; the pod
 * security standard "restricted"; GPU feature discovery's labels (NVIDIA/k8s-device-plugin, internal/lm/resource.go);
 * Volcano's annotation scheduling.k8s.io/group-name.
 */
#ifndef DEPLOYER_EXPORT_KUBE_H
#define DEPLOYER_EXPORT_KUBE_H

#include "deployer/export/export.h"

#define KUBE_GPU "nvidia.com/gpu"
#define KUBE_PORT "29500" /* where ranks meet */

/* Keys of labels and annotations that the files have. */
#define KUBE_PART_OF "app.kubernetes.io/part-of"
#define KUBE_QUEUE "kueue.x-k8s.io/queue-name"
#define KUBE_GROUP "scheduling.k8s.io/group-name"
#define KUBE_LABEL_MAX 63

/* An export that is being written. */
struct kube {
	const struct exporter *exporter;
	const struct export_wish *wish;
	struct str *out;
	const char *name; /* of the job's object, a DNS label */
};

/* What differs between the pods of a job. */
struct kube_pod {
	const char *container; /* its name, which operators look for */
	const char *const *command;
	const char *const *env; /* NAME=VALUE of the launcher, beside those of the job */
	const char *subdomain;	/* of the service that makes names of pods; NULL: none */
	const char *restart;	/* restartPolicy; NULL: the object around it says it */
	const char *secret;	/* Secret with the worker's "secret"; NULL: it needs none */
	int gpus;
	bool has_index; /* NODE_RANK is the pod's index in its Job */
	bool is_rank;	/* it trains: it gets memory to share, volumes and RDMA devices */
	bool is_sshd;	/* it waits for an mpirun elsewhere */
	bool in_group;	/* Volcano's */
};

/* The value of a setting. */
const char *kube_value(const struct kube *kube, const char *name);

/* Adds one line of fixed text and numbers; what comes from outside goes through kube_pair. */
void kube_line(const struct kube *kube, int indent, const char *format, ...) _printf_(3, 4);

/* Adds "KEY: TEXT"; nothing when the text is "". */
void kube_pair(const struct kube *kube, int indent, const char *key, const char *text);

/* The same as the first line of an item of a list. */
void kube_item(const struct kube *kube, int indent, const char *key, const char *text);

/* Adds apiVersion, kind and metadata. */
void kube_begin(const struct kube *kube, const char *version, const char *kind);

/* Adds "template:" and the pod in it. */
void kube_add_template(const struct kube *kube, int indent, const struct kube_pod *pod);

/* Adds what a TrainJob says of a pod itself: image, command, env and resources. */
void kube_add_trainer(const struct kube *kube, int indent, const struct kube_pod *pod);

/* Adds a headless Service with which pods that have these labels find each other before they are ready. */
void kube_add_service(const struct kube *kube, const char *label);

#endif
