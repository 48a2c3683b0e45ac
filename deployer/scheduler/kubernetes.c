/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/kubernetes.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/log.h"
#include "core/secret.h"
#include "deployer/launcher/launcher.h"
#include "deployer/scheduler/kubectl.h"
#include "deployer/scheduler/kubernetes_text.h"
#include "deployer/scheduler/rank_tag.h"

#include <stdlib.h>
#include <string.h>

/*
 * Sources: kubectl's reference (create, get, logs, delete, config view); kubeflow/training-operator and mpi-operator (label
 * training.kubeflow.org/job-name, job-role), jobset.sigs.k8s.io (label jobset.sigs.k8s.io/jobset-name), Job v1 (label job-name).
 */

#define PODS_PRINTING_MAX "10000" /* that one kubectl follows */
#define STATUS_TIMED_OUT 124	  /* as timeout(1) */
/* An image that is not there may be pushed in a moment, and a registry that is down comes back. */
#define SURE_SECONDS 10
#define UNSURE_SECONDS 300

/* A job as its record and the file beside it name it. */
struct kubernetes_place {
	struct kubernetes_site site;
	const struct kubernetes_kind *kind;
	const char *name;
	const char *roles; /* of its ranks; "" */
};

int kubernetes_site(const char *context, const char *space, struct arena *arena,
		    struct kubernetes_site *site, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const struct kubernetes_site given = {context, ""};
	struct kubectl_said said;
	const cJSON *entry;
	const char *text;

	*site = (struct kubernetes_site){context, space};
	if (kubectl_run(&given, WORDS("config", "view", "--minify", "-o", "json"), NULL, arena,
			&said, err) < 0)
		return -1;
	if (said.status && getenv("KUBERNETES_SERVICE_HOST") && !*context)
		return 0;
	if (said.status && strstr(said.err, "current-context must exist"))
		return error_set(
			err, ERROR_USAGE,
			"kubectl has no current context; 'kubectl config get-contexts' lists those of its configuration (KUBECONFIG, or ~/.kube/config), and 'kubectl config use-context NAME' chooses one");
	if (said.status)
		return kubectl_failed(site, "kubectl config", "", &said, ERROR_USAGE, arena, err);
	if (json_parse(said.out, strlen(said.out), "kubectl's configuration", &json, err) < 0)
		return -1;
	entry = cJSON_GetArrayItem(json_member(json, "contexts"), 0);
	text = json_text(json, "current-context", arena);
	site->context = *context ? context : text ? text : "";
	text = json_text(json_member(entry, "context"), "namespace", arena);
	site->space = *space ? space : text && *text ? text : "default";
	return 0;
}

int kubernetes_knows(const struct kubernetes_site *site, const char *kind, struct arena *arena,
		     bool *knows, struct error *err)
{
	const struct kubernetes_kind *k = kubectl_kind(kind);
	struct kubectl_said said;
	size_t plural = strcspn(k->resource, ".");
	const char *group = strchr(k->resource + plural + 1, '.') + 1;

	if (kubectl_run(site,
			WORDS("api-resources", "--no-headers", "-o", "name",
			      arena_printf(arena, "--api-group=%s", group)),
			NULL, arena, &said, err) < 0)
		return -1;
	*knows = strstr(said.out, arena_printf(arena, "%.*s.%s", (int)plural, k->resource, group));
	return said.status && !*said.out ? kubectl_failed(site, "Kubernetes does not answer", "",
							  &said, ERROR_FAILED, arena, err)
					 : 0;
}

/* --- submitting ------------------------------------------------------------------------------ */

static int kubernetes_note(const struct kubernetes_site *site, const char *roles,
			   const char *folder, struct arena *arena, struct error *err)
{
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();

	json_add_text(json, "context", site->context);
	json_add_text(json, "namespace", site->space);
	json_add_text(json, "roles", roles);
	return json_write(arena_printf(arena, "%s/kubernetes.json", folder), json, 0600, err);
}

/* The secret that the ranks of ringup's worker share, for a job of that name: it goes over stdin, and stands in no file. */
static int kubernetes_make_secret(const struct kubernetes_site *site, const char *name,
				  struct arena *arena, struct error *err)
{
	char hex[2 * 32 + 1];
	struct kubectl_said said = {0};
	int rc = random_hex(hex, 32, err);

	if (rc == 0)
		rc = kubectl_run(site,
				 WORDS("create", "secret", "generic",
				       arena_printf(arena, "%s" KUBERNETES_SECRET_SUFFIX, name),
				       "--from-file=secret=/dev/stdin"),
				 hex, arena, &said, err);
	secret_wipe_bytes(hex, sizeof(hex));
	if (rc == 0 && said.status)
		return kubectl_failed(site, "kubectl create secret", "", &said, ERROR_FAILED, arena,
				      err);
	return rc;
}

/* Deletes what there is of the manifest and the secret; what a queue or a controller does then is its own matter. */
static int kubernetes_remove(const struct kubernetes_site *site, const char *folder,
			     const char *name, struct arena *arena, struct kubectl_said *said,
			     struct error *err)
{
	struct kubectl_said ignored;
	struct error none = {0};

	kubectl_run(site,
		    WORDS("delete", "secret",
			  arena_printf(arena, "%s" KUBERNETES_SECRET_SUFFIX, name),
			  "--ignore-not-found", "--wait=false"),
		    NULL, arena, &ignored, &none);
	return kubectl_run(site,
			   WORDS("delete", "--ignore-not-found", "--wait=false", "-f",
				 arena_printf(arena, "%s/job.yaml", folder)),
			   NULL, arena, said, err);
}

int kubernetes_submit(const struct kubernetes_site *site, const char *kind, const char *name,
		      const char *roles, bool has_secret, const char *folder, struct arena *arena,
		      const char **id, struct error *err)
{
	struct kubectl_said said = {0}, ignored;
	struct error none = {0};
	int rc;

	if (kubernetes_note(site, roles, folder, arena, err) < 0 ||
	    (has_secret && kubernetes_make_secret(site, name, arena, err) < 0))
		return -1;
	rc = kubectl_run(site, WORDS("create", "-f", arena_printf(arena, "%s/job.yaml", folder)),
			 NULL, arena, &said, err);
	*id = arena_printf(arena, "%s/%s", kind, name);
	if (rc == 0 && !said.status)
		return 0;
	kubernetes_remove(site, folder, name, arena, &ignored, &none);
	return rc < 0 ? rc
		      : kubectl_failed(site, "Kubernetes refuses the job", kind, &said, ERROR_USAGE,
				       arena, err);
}

/* --- a job that is there --------------------------------------------------------------------- */

/* People edit records: what is not as it was written is refused. */
static int kubernetes_find(const struct job_record *record, struct arena *arena,
			   struct kubernetes_place *place, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const char *slash = strchr(record->id, '/'), *context, *space, *roles;

	if (json_read(arena_printf(arena, "%s/kubernetes.json", record->folder), &json, err) < 0)
		return -1;
	context = json_text(json, "context", arena);
	space = json_text(json, "namespace", arena);
	roles = json_text(json, "roles", arena);
	*place = (struct kubernetes_place){
		.roles = roles ? roles : "",
		.site = {context ? context : "", space ? space : ""},
		.kind = slash ? kubectl_kind(arena_strndup(arena, record->id,
							   (size_t)(slash - record->id)))
			      : NULL,
		.name = slash ? slash + 1 : ""};
	if (place->kind && *place->name && *place->name != '-' &&
	    !place->name[strspn(place->name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return 0;
	return error_set(err, ERROR_USAGE, "'%s' in the job's record is no job of Kubernetes",
			 record->id);
}

static const char *kubernetes_roles(const struct job_record *record, struct arena *arena)
{
	struct kubernetes_place place;
	struct error ignored = {0}; /* kubernetes_ask says it */

	return kubernetes_find(record, arena, &place, &ignored) < 0 ? "" : place.roles;
}

static int kubernetes_task_of(const struct kubernetes_place *place,
			      const struct kubernetes_pod *pod)
{
	return kubernetes_task(place->kind->name, place->roles, place->name, pod->name);
}

/* Whether a pod's failure to begin ends by itself; how long to wait for that. */
static void kubernetes_judge_wait(const struct kubernetes_pod *pod, struct arena *arena,
				  struct scheduler_state *state)
{
	static const struct {
		const char *reason, *means;
		bool is_sure;
	} reasons[] = {
		{"ErrImagePull",
		 "the node cannot pull the image; see that it is in the registry, and give the registry's login with --set pull-secret=NAME",
		 false},
		{"ImagePullBackOff",
		 "the node cannot pull the image; see that it is in the registry, and give the registry's login with --set pull-secret=NAME",
		 false},
		{"InvalidImageName", "that is no name of an image; see --image and ringup.lock",
		 true},
		{"ErrImageNeverPull", "the image is not on the node, and the cluster pulls none",
		 true},
		{"CreateContainerConfigError",
		 "a Secret, claim or setting that the pod names is not there", true},
		{"CreateContainerError", "the node's container runtime refuses the container",
		 true},
		{"RunContainerError",
		 "the command or a mount of the pod cannot be used on the node", true},
	};
	static const char *const sure[] = {"not found", "unauthorized", "denied",
					   "manifest unknown", "no such host"};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		bool is_sure = reasons[i].is_sure;

		if (strcmp(pod->waits, reasons[i].reason) != 0)
			continue;
		for (size_t word = 0; word < ARRAY_LEN(sure); word++)
			is_sure |= strstr(pod->message, sure[word]) != NULL;
		state->reason = arena_printf(arena, "pod %s on %s: %s%s%s", pod->name, pod->node,
					     pod->waits, *pod->message ? ": " : "", pod->message);
		state->means = reasons[i].means;
		state->is_hopeless = true;
		state->patience_s = is_sure ? SURE_SECONDS : UNSURE_SECONDS;
		return;
	}
	if (strcmp(pod->waits, "Unschedulable") == 0 ||
	    strcmp(pod->waits, "SchedulingGated") == 0) {
		state->reason =
			arena_printf(arena, "pod %s: %s: %s", pod->name, pod->waits, pod->message);
		state->means = "'ringup status --on kubernetes' shows what the nodes have";
	}
}

static void kubernetes_tell_wait(const struct kubernetes_job *job,
				 const struct kubernetes_pods *pods, struct arena *arena,
				 struct scheduler_state *state)
{
	for (size_t i = 0; i < pods->count && !state->patience_s; i++)
		if (pods->list[i].is_pending)
			kubernetes_judge_wait(&pods->list[i], arena, state);
	if (*state->reason)
		return;
	if (job->is_suspended) {
		state->reason = arena_printf(arena, "Suspended%s%s", *job->message ? ": " : "",
					     job->message);
		state->means = "its queue has not let it begin; 'kubectl get workloads' shows why";
	} else if (!job->is_seen && !pods->count) {
		state->reason = "no pods yet";
		state->means =
			"nothing has acted on it so far; where that stays so, its operator does not run";
	}
}

/* Pods that nobody may make are named by an Event alone. Room in a quota may come; other rules stay. */
static void kubernetes_tell_refusal(const struct kubernetes_place *place, struct arena *arena,
				    struct scheduler_state *state)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct kubectl_said said;
	struct error ignored = {0}; /* Events may be hidden from a person */
	const char *refusal;

	if (kubectl_get(&place->site,
			WORDS("events", "--field-selector=type=Warning,involvedObject.kind!=Pod"),
			arena, &said, &json, &ignored) < 0)
		return;
	refusal = kubernetes_refusal(json, place->name, arena);
	if (!*refusal)
		return;
	state->reason = refusal;
	state->means = kubectl_advice(refusal);
	state->is_hopeless = true;
	state->patience_s = strstr(refusal, "exceeded quota") || !strstr(refusal, "orbidden")
				    ? UNSURE_SECONDS
				    : SURE_SECONDS;
}

/* The failures of pods, and what Kubernetes says of an end that they did not make themselves. */
static void kubernetes_tell_end(const struct kubernetes_place *place,
				const struct kubernetes_job *job,
				const struct kubernetes_pods *pods, struct arena *arena,
				struct scheduler_state *state)
{
	struct scheduler_failure *failures =
		ARENA_ARRAY(arena, pods->count + 1, struct scheduler_failure);
	const struct kubernetes_pod *first = pods->list;

	state->phase = SCHEDULER_ENDED;
	if (!job->has_failed)
		return;
	state->failures = failures;
	for (size_t i = 0; i < pods->count && pods->list[i].has_failed; i++)
		failures[state->failure_count++] = (struct scheduler_failure){
			.host = *pods->list[i].node ? pods->list[i].node : pods->list[i].name,
			.task = kubernetes_task_of(place, &pods->list[i]),
			.status = pods->list[i].status};
	state->status = state->failure_count ? failures[0].status : 1;
	if (strcmp(job->reason, "DeadlineExceeded") == 0) {
		state->status = STATUS_TIMED_OUT;
		state->story =
			"it took longer than its limit of time, and Kubernetes ended it; --limit SECONDS gives it more";
	} else if (state->failure_count && strcmp(first->waits, "OOMKilled") == 0) {
		state->story = arena_printf(
			arena,
			"pod %s on %s used more memory than it has (OOMKilled); --set memory=SIZE gives it more",
			first->name, first->node);
	} else if (state->failure_count && *first->waits) {
		state->story = arena_printf(arena, "Kubernetes ended pod %s on %s: %s%s%s",
					    first->name, first->node, first->waits,
					    *first->message ? ": " : "", first->message);
	} else if (!state->failure_count) {
		state->story = arena_printf(arena, "%s/%s failed: %s: %s", place->kind->name,
					    place->name, job->reason, job->message);
	}
}

static const char *kubernetes_nodes(const struct kubernetes_pods *pods, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	for (size_t i = 0; i < pods->count && words.count < 8; i++)
		if (*pods->list[i].node &&
		    (!words.count || strcmp(words.list[words.count - 1], pods->list[i].node) != 0))
			words_add(&words, pods->list[i].node);
	return arena_printf(arena, "%s%s", words_join(&words, ","), pods->count > 8 ? " ..." : "");
}

/* Each pod's node, for whoever reads the output: once, in the order in which they are seen. */
static int kubernetes_note_nodes(const struct kubernetes_place *place,
				 const struct job_record *record,
				 const struct kubernetes_pods *pods, struct arena *arena,
				 struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (size_t i = 0; i < pods->count; i++) {
		int task = kubernetes_task_of(place, &pods->list[i]);

		if (task >= 0 && *pods->list[i].node)
			str_addf(&out, "%d %s\n", task, pods->list[i].node);
	}
	return out.length ? file_write(arena_printf(arena, "%s/placed.log", record->folder),
				       out.text, out.length, 0600, err)
			  : 0;
}

/* An MPIJob's launcher prints what its ranks do. */
static bool kubernetes_prints(const struct kubernetes_place *place,
			      const struct kubernetes_pod *pod, struct arena *arena)
{
	return pod->has_begun &&
	       (strcmp(place->kind->name, "mpijob") != 0 ||
		starts_with(pod->name, arena_printf(arena, "%s-launcher", place->name)));
}

/* The job as kubectl shows it; json NULL: it is not there. */
static int kubernetes_get_job(const struct kubernetes_place *place, struct arena *arena,
			      cJSON **json, cJSON **pods, struct error *err)
{
	struct kubectl_said said;
	const char *what = arena_printf(arena, "Kubernetes does not answer for %s/%s",
					place->kind->name, place->name);

	*pods = NULL;
	if (kubectl_get(&place->site, WORDS(place->kind->resource, place->name), arena, &said, json,
			err) < 0)
		return -1;
	if (said.status && strstr(said.err, "(NotFound)"))
		return 0;
	if (!said.status &&
	    kubectl_get(&place->site,
			WORDS("pods", "-l",
			      arena_printf(arena, "%s=%s", place->kind->label, place->name)),
			arena, &said, pods, err) < 0)
		return -1;
	return said.status ? kubectl_failed(&place->site, what, place->kind->name, &said,
					    ERROR_FAILED, arena, err)
			   : 0;
}

static int kubernetes_ask(const struct job_record *record, struct arena *arena,
			  struct scheduler_state *state, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	_cleanup_(json_free) cJSON *list = NULL;
	struct kubernetes_place place;
	struct kubernetes_job job;
	struct kubernetes_pods pods;
	bool is_pending = false;

	*state = (struct scheduler_state){.reason = "", .means = "", .nodes = "", .story = ""};
	if (kubernetes_find(record, arena, &place, err) < 0 ||
	    kubernetes_get_job(&place, arena, &json, &list, err) < 0)
		return -1;
	if (!json) {
		state->is_cancelled =
			file_exists(arena_printf(arena, "%s/cancelled", record->folder));
		return 0;
	}
	kubernetes_read_job(json, arena, &job);
	kubernetes_read_pods(list, arena, &pods);
	for (size_t i = 0; i < pods.count; i++) {
		state->printing += kubernetes_prints(&place, &pods.list[i], arena);
		is_pending |= pods.list[i].is_pending;
	}
	state->nodes = kubernetes_nodes(&pods, arena);
	if (job.has_ended)
		kubernetes_tell_end(&place, &job, &pods, arena, state);
	else if (is_pending || (int)pods.count < record->hosts)
		state->phase = SCHEDULER_WAITS;
	else
		state->phase = SCHEDULER_RUNS;
	if (state->phase == SCHEDULER_WAITS && (int)pods.count < record->hosts)
		kubernetes_tell_refusal(&place, arena, state);
	if (state->phase == SCHEDULER_WAITS && !*state->reason)
		kubernetes_tell_wait(&job, &pods, arena, state);
	return kubernetes_note_nodes(&place, record, &pods, arena, err);
}

static int kubernetes_cancel(const struct job_record *record, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct kubernetes_place place;
	struct kubectl_said said;

	if (kubernetes_find(record, &arena, &place, err) < 0 ||
	    file_write(arena_printf(&arena, "%s/cancelled", record->folder), "", 0, 0600, err) <
		    0 ||
	    kubernetes_remove(&place.site, record->folder, place.name, &arena, &said, err) < 0)
		return -1;
	return said.status ? kubectl_failed(&place.site, "kubectl delete", "", &said, ERROR_FAILED,
					    &arena, err)
			   : 0;
}

/* --- what it prints -------------------------------------------------------------------------- */

enum { RAW_PODS, RAW_PLACED };

static const char *const *kubernetes_output(const struct job_record *record, bool follows,
					    const char *since, struct arena *arena,
					    struct error *err)
{
	struct kubernetes_place place;
	struct words words = WORDS_INIT(arena);

	if (kubernetes_find(record, arena, &place, err) < 0)
		return NULL;
	kubectl_begin(&place.site, &words);
	words_add_all(&words, WORDS("logs", "--prefix", "--timestamps", "--tail=-1",
				    "--ignore-errors", "--max-log-requests=" PODS_PRINTING_MAX));
	words_addf(&words, "--selector=%s=%s%s", place.kind->label, place.name,
		   strcmp(place.kind->name, "mpijob") == 0
			   ? ",training.kubeflow.org/job-role=launcher"
			   : "");
	if (follows)
		words_add(&words, "--follow");
	if (*since)
		words_addf(&words, "--since-time=%s", since);
	return words.list;
}

/*
 * Without --timestamps, kubelet joins the pieces of a long line again (pkg/kubelet/kuberuntime/logs/logs.go: it takes the end
 * of line off what the container runtime has tagged as partial).
 */
static const char *const *kubernetes_first(const struct job_record *record, struct arena *arena,
					   struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	_cleanup_(json_free) cJSON *list = NULL;
	struct kubernetes_place place;
	struct kubernetes_pods pods;
	struct words words = WORDS_INIT(arena);

	if (kubernetes_find(record, arena, &place, err) < 0 ||
	    kubernetes_get_job(&place, arena, &json, &list, err) < 0)
		return NULL;
	kubernetes_read_pods(list, arena, &pods);
	for (size_t i = 0; i < pods.count; i++) {
		if (kubernetes_task_of(&place, &pods.list[i]) != 0)
			continue;
		kubectl_begin(&place.site, &words);
		words_add_all(&words, WORDS("logs", "--tail=-1"));
		words_addf(&words, "pod/%s", pods.list[i].name);
		return words.list;
	}
	error_set(err, ERROR_FAILED, "the first pod of %s/%s is not there any more",
		  place.kind->name, place.name);
	return NULL;
}

/* Pods with several ranks, and an MPIJob's launcher, say of each line whose it is. */
static bool kubernetes_has_tags(const struct job_record *record)
{
	return launcher_starts_nodes(record->launcher) ||
	       (record->ranks > 1 &&
		(record->ranks != record->hosts || starts_with(record->id, "mpijob/")));
}

static bool kubernetes_read(const struct job_record *record, const char *roles, int raw,
			    const char *line, struct arena *arena, struct scheduler_line *out)
{
	const char *slash = strchr(record->id, '/'), *pod, *text;
	size_t digits = strspn(line, "0123456789");

	if (raw == RAW_PLACED) {
		out->kind = SCHEDULER_PLACED;
		out->of.task = digits && digits < 7 ? (int)strtol(line, NULL, 10) : -1;
		out->of.host = line[digits] ? line + digits + 1 : "";
		return out->of.task >= 0;
	}
	if (!slash || !kubernetes_log_line(line, arena, &pod, &out->stamp, &out->text))
		return false;
	out->of.task =
		kubernetes_task(arena_strndup(arena, record->id, (size_t)(slash - record->id)),
				roles, slash + 1, pod);
	if (kubernetes_has_tags(record) &&
	    (text = rank_tag(out->text, &out->rank, &out->is_rank_of_node)))
		out->text = text;
	else
		out->rank = -1;
	return true;
}

static bool kubernetes_starts_nodes(const struct job_record *record)
{
	return record->ranks != record->hosts && !starts_with(record->id, "tfjob/");
}

const struct scheduler scheduler_kubernetes = {
	.title = "Kubernetes",
	.has_grace = true,
	.raw = {"pods.log", "placed.log"},
	.starts_nodes = kubernetes_starts_nodes,
	.roles = kubernetes_roles,
	.read = kubernetes_read,
	.ask = kubernetes_ask,
	.cancel = kubernetes_cancel,
	.output = kubernetes_output,
	.first = kubernetes_first,
};

/* --- the cluster ----------------------------------------------------------------------------- */

int kubernetes_look(const struct kubernetes_site *site, struct arena *arena,
		    struct scheduler_overview *overview, struct error *err)
{
	_cleanup_(json_free) cJSON *nodes = NULL;
	_cleanup_(json_free) cJSON *pods = NULL;
	_cleanup_(json_free) cJSON *queues = NULL;
	struct kubectl_said said;
	struct error ignored = {0};

	*overview = (struct scheduler_overview){0};
	if (kubectl_get(site, WORDS("nodes"), arena, &said, &nodes, err) < 0)
		return -1;
	if (said.status)
		return kubectl_failed(site, "Kubernetes does not show its nodes", "", &said,
				      ERROR_FAILED, arena, err);
	/* pods of others, and queues, may be hidden from a person, or not be there */
	if (kubectl_get(site, WORDS("pods", "--all-namespaces"), arena, &said, &pods, &ignored) <
		    0 ||
	    said.status)
		log_warn("what the nodes' GPUs are used for is not known: %s",
			 kubernetes_complaint(said.err, arena));
	kubectl_get(site, WORDS("localqueues.kueue.x-k8s.io"), arena, &said, &queues, &ignored);
	kubernetes_read_nodes(nodes, pods, arena, overview);
	kubernetes_read_queues(queues, arena, overview);
	return 0;
}
