/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/kubectl.h"

#include "core/proc.h"
#include "deployer/scheduler/kubernetes_text.h"

#include <string.h>

#define KUBECTL_SECONDS 90

static const struct kubernetes_kind kinds[] = {
	{"mpijob", "mpijobs.v2beta1.kubeflow.org", "training.kubeflow.org/job-name",
	 "Kubeflow's MPI operator"},
	{"pytorchjob", "pytorchjobs.v1.kubeflow.org", "training.kubeflow.org/job-name",
	 "Kubeflow's training operator"},
	{"tfjob", "tfjobs.v1.kubeflow.org", "training.kubeflow.org/job-name",
	 "Kubeflow's training operator"},
	{"trainjob", "trainjobs.v1alpha1.trainer.kubeflow.org", "jobset.sigs.k8s.io/jobset-name",
	 "Kubeflow Trainer 2"},
	{"job", "jobs.v1.batch", "job-name", "Kubernetes itself"},
	{"jobset", "jobsets.v1alpha2.jobset.x-k8s.io", "jobset.sigs.k8s.io/jobset-name",
	 "the JobSet controller"},
};

const struct kubernetes_kind *kubectl_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static int kubectl_run_with(const char *const *words, const char *input, struct arena *arena,
			    struct kubectl_said *said, struct error *err)
{
	const struct proc proc = {.words = words,
				  .input = input,
				  .input_bytes = input ? strlen(input) : 0,
				  .timeout_s = KUBECTL_SECONDS,
				  .even_when_interrupted = true};
	struct proc_result result = {0};
	int rc;

	*said = (struct kubectl_said){.out = "", .err = ""};
	if (!proc_exists("kubectl"))
		return error_set(
			err, ERROR_FAILED,
			"there is no kubectl on PATH; install it (kubernetes.io/docs/tasks/tools), and log in to the cluster");
	rc = proc_run(&proc, &result, err);
	if (rc == 0)
		*said = (struct kubectl_said){.out = arena_strdup(arena, result.out.text),
					      .err = arena_strdup(arena, result.err.text),
					      .status = result.status};
	proc_result_release(&result);
	return rc;
}

void kubectl_begin(const struct kubernetes_site *site, struct words *words)
{
	words_add(words, "kubectl");
	if (*site->context)
		words_addf(words, "--context=%s", site->context);
	if (*site->space)
		words_addf(words, "--namespace=%s", site->space);
}

int kubectl_run(const struct kubernetes_site *site, const char *const *more, const char *input,
		struct arena *arena, struct kubectl_said *said, struct error *err)
{
	struct words words = WORDS_INIT(arena);

	kubectl_begin(site, &words);
	words_add(&words, "--request-timeout=30s");
	words_add_all(&words, more);
	return kubectl_run_with(words.list, input, arena, said, err);
}

const char *kubectl_advice(const char *said)
{
	static const struct {
		const char *has, *advice;
	} cases[] = {
		{"exceeded quota",
		 "ask for less, or for more quota; 'kubectl describe quota' shows it"},
		{"violates PodSecurity",
		 "the namespace allows less than the job asks for; choose another one with --set namespace=NAME"},
		{"orbidden",
		 "ask who runs the cluster for that right, or choose a namespace where you have it with --set namespace=NAME"},
		{"namespaces \"",
		 "'kubectl get namespaces' lists those that there are; choose one with --set namespace=NAME"},
		{"completionMode",
		 "this cluster's Kubernetes is older than 1.25, and its Jobs give pods no number; take --kind jobset, or one of Kubeflow's"},
		{"cannot locate context",
		 "'kubectl config get-contexts' lists those that there are; choose one with --set context=NAME"},
		{"does not exist",
		 "'kubectl config get-contexts' lists those that there are; choose one with --set context=NAME"},
		{"localhost:8080",
		 "kubectl has no configuration: set KUBECONFIG, or write ~/.kube/config as the cluster's own page says"},
		{"nauthorized", "log in to the cluster again, as its own page says"},
		{"must be logged in", "log in to the cluster again, as its own page says"},
		{"onnection",
		 "see 'kubectl cluster-info', and whether the context is the right one"},
		{"dial tcp",
		 "see 'kubectl cluster-info', and whether the context is the right one"},
		{"onnect to the server",
		 "see 'kubectl cluster-info', and whether the context is the right one"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (strstr(said, cases[i].has))
			return cases[i].advice;
	return "";
}

static void kubectl_advise(const char *said, const char *kind, struct error *err)
{
	const struct kubernetes_kind *known = kubectl_kind(kind);
	const char *advice = kubectl_advice(said);

	if (known &&
	    (strstr(said, "no matches for kind") || strstr(said, "have a resource type"))) {
		error_advise(
			err,
			"%s is not installed there; install it, or take a launcher and a kind that need nothing: --launcher torchrun or env with --kind job",
			known->maker);
		return;
	}
	if (*advice)
		error_advise(err, "%s", advice);
}

int kubectl_failed(const struct kubernetes_site *site, const char *what, const char *kind,
		   const struct kubectl_said *said, enum error_kind error, struct arena *arena,
		   struct error *err)
{
	error_set(err, error, "%s (context \"%s\", namespace \"%s\"): %s", what, site->context,
		  site->space, kubernetes_complaint(said->err, arena));
	kubectl_advise(said->err, kind, err);
	return -1;
}

int kubectl_get(const struct kubernetes_site *site, const char *const *more, struct arena *arena,
		struct kubectl_said *said, cJSON **json, struct error *err)
{
	struct words words = WORDS_INIT(arena);

	*json = NULL;
	words_add(&words, "get");
	words_add_all(&words, more);
	words_add_all(&words, WORDS("-o", "json"));
	if (kubectl_run(site, words.list, NULL, arena, said, err) < 0)
		return -1;
	return said->status
		       ? 0
		       : json_parse(said->out, strlen(said->out), "kubectl's answer", json, err);
}
