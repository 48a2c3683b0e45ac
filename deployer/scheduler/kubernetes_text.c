/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/kubernetes_text.h"

#include "core/foreign.h"
#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 1000000

/* One line of a text, not too long. */
static const char *kubernetes_line(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	str_add_bytes(&out, text, strnlen(text, KUBERNETES_MESSAGE_BYTES));
	str_one_line(&out, KUBERNETES_MESSAGE_BYTES);
	return foreign_clean_line(arena_strdup(arena, out.text ? out.text : ""));
}

static const char *kubernetes_words(const cJSON *object, const char *name, struct arena *arena)
{
	const cJSON *member = json_member(object, name);

	return cJSON_IsString(member) ? kubernetes_line(member->valuestring, arena) : "";
}

static bool kubernetes_is(const cJSON *object, const char *name, const char *value)
{
	const cJSON *member = json_member(object, name);

	return cJSON_IsString(member) && strcmp(member->valuestring, value) == 0;
}

/* --- jobs ------------------------------------------------------------------------------------ */

static bool kubernetes_is_one_of(const cJSON *condition, const char *const *types)
{
	for (; *types; types++)
		if (kubernetes_is(condition, "type", *types))
			return true;
	return false;
}

void kubernetes_read_job(const cJSON *json, struct arena *arena, struct kubernetes_job *job)
{
	static const char *const done[] = {"Complete", "Completed", "Succeeded", NULL};
	static const char *const failed[] = {"Failed", NULL};
	static const char *const suspended[] = {"Suspended", NULL};
	const cJSON *status = json_member(json, "status"), *condition;

	*job = (struct kubernetes_job){.reason = "", .message = ""};
	job->is_suspended =
		json_bool(json_member(json, "spec"), "suspend", false) ||
		json_bool(json_member(json_member(json, "spec"), "runPolicy"), "suspend", false);
	job->is_seen = cJSON_IsObject(status) && status->child;
	cJSON_ArrayForEach (condition, json_member(status, "conditions")) {
		bool is_end = kubernetes_is_one_of(condition, done) ||
			      kubernetes_is_one_of(condition, failed);

		if (!kubernetes_is(condition, "status", "True") ||
		    (!is_end && (job->has_ended || !kubernetes_is_one_of(condition, suspended))))
			continue;
		job->is_suspended = !is_end;
		job->has_ended = is_end;
		job->has_failed = is_end && kubernetes_is_one_of(condition, failed);
		job->reason = kubernetes_words(condition, "reason", arena);
		job->message = kubernetes_words(condition, "message", arena);
	}
}

/* --- pods ------------------------------------------------------------------------------------ */

static void kubernetes_read_container(const cJSON *container, struct arena *arena,
				      struct kubernetes_pod *pod)
{
	const cJSON *state = json_member(container, "state");
	const cJSON *waiting = json_member(state, "waiting");
	const cJSON *ended = json_member(state, "terminated");

	pod->has_begun |= json_member(state, "running") || ended ||
			  json_member(json_member(container, "lastState"), "terminated");
	if (waiting && !*pod->waits) {
		pod->waits = kubernetes_words(waiting, "reason", arena);
		pod->message = kubernetes_words(waiting, "message", arena);
	}
	if (!ended || !json_int(ended, "exitCode", 0) || pod->status)
		return;
	pod->has_failed = true;
	pod->status = json_int(ended, "exitCode", 0) & 0xff;
	pod->status = pod->status ? pod->status : 1;
	pod->ended = kubernetes_words(ended, "finishedAt", arena);
	if (!kubernetes_is(ended, "reason", "Error")) {
		pod->waits = kubernetes_words(ended, "reason", arena);
		pod->message = kubernetes_words(ended, "message", arena);
	}
}

static void kubernetes_read_pod(const cJSON *json, struct arena *arena, struct kubernetes_pod *pod)
{
	const cJSON *status = json_member(json, "status"), *item;

	*pod = (struct kubernetes_pod){
		.name = kubernetes_words(json_member(json, "metadata"), "name", arena),
		.node = kubernetes_words(json_member(json, "spec"), "nodeName", arena),
		.is_pending = kubernetes_is(status, "phase", "Pending"),
		.has_failed = kubernetes_is(status, "phase", "Failed"),
		.waits = kubernetes_words(status, "reason", arena),
		.message = kubernetes_words(status, "message", arena),
		.ended = ""};
	cJSON_ArrayForEach (item, json_member(status, "initContainerStatuses")) {
		bool began = pod->has_begun;

		if (!json_member(json_member(item, "state"), "terminated"))
			kubernetes_read_container(item, arena, pod);
		pod->has_begun = began;
	}
	cJSON_ArrayForEach (item, json_member(status, "containerStatuses"))
		kubernetes_read_container(item, arena, pod);
	cJSON_ArrayForEach (item, json_member(status, "conditions")) {
		if (!pod->is_pending || !kubernetes_is(item, "type", "PodScheduled") ||
		    !kubernetes_is(item, "status", "False"))
			continue;
		pod->waits = kubernetes_words(item, "reason", arena);
		pod->message = kubernetes_words(item, "message", arena);
	}
	if (pod->has_failed && !pod->status)
		pod->status = 1;
}

/* Those that failed, by their ends; then the others, by their names. */
static int kubernetes_compare_pods(const void *a, const void *b)
{
	const struct kubernetes_pod *one = a, *other = b;
	int order;

	if (one->has_failed != other->has_failed)
		return one->has_failed ? -1 : 1;
	order = one->has_failed ? strcmp(one->ended, other->ended) : 0;
	return order ? order : strcmp(one->name, other->name);
}

void kubernetes_read_pods(const cJSON *json, struct arena *arena, struct kubernetes_pods *pods)
{
	const cJSON *items = json_member(json, "items"), *item;
	size_t count = (size_t)cJSON_GetArraySize(items);

	*pods = (struct kubernetes_pods){
		.list = ARENA_ARRAY(arena, count + 1, struct kubernetes_pod)};
	cJSON_ArrayForEach (item, items)
		kubernetes_read_pod(item, arena, &pods->list[pods->count++]);
	qsort(pods->list, pods->count, sizeof(*pods->list), kubernetes_compare_pods);
}

/* Its object is the job, or is named for it: NAME-node-0. */
static bool kubernetes_is_of_job(const cJSON *event, const char *job)
{
	const cJSON *name = json_member(json_member(event, "involvedObject"), "name");
	size_t length = strlen(job);

	return cJSON_IsString(name) && strncmp(name->valuestring, job, length) == 0 &&
	       (!name->valuestring[length] || name->valuestring[length] == '-');
}

const char *kubernetes_refusal(const cJSON *events, const char *job, struct arena *arena)
{
	const char *refusal = "", *last = "";
	const cJSON *event;

	cJSON_ArrayForEach (event, json_member(events, "items")) {
		const cJSON *object = json_member(event, "involvedObject");
		const char *reason = kubernetes_words(event, "reason", arena);
		const char *when = kubernetes_words(event, "lastTimestamp", arena);

		if (!starts_with(reason, "FailedCreate") || !kubernetes_is_of_job(event, job) ||
		    strcmp(when, last) < 0)
			continue;
		last = when;
		refusal = arena_printf(arena, "%s %s: %s: %s",
				       kubernetes_words(object, "kind", arena),
				       kubernetes_words(object, "name", arena), reason,
				       kubernetes_words(event, "message", arena));
	}
	return refusal;
}

/* A whole number of at most six digits that ends at the text's end, at '-' or ','. */
static int kubernetes_index(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 6 || (text[digits] && !strchr("-,", text[digits])))
		return -1;
	return (int)strtol(text, NULL, 10);
}

/* "worker-1" among "chief=1,worker=2,ps=1" is 2. */
static int kubernetes_role_task(const char *roles, const char *pod)
{
	size_t name = strcspn(pod, "-");
	int index = pod[name] ? kubernetes_index(pod + name + 1) : -1, first = 0;

	if (!*roles)
		return starts_with(pod, "worker-") ? index : -1;
	for (; *roles && index >= 0 && first <= NUMBER_MAX; roles += *roles == ',') {
		int count = roles[strcspn(roles, "=,")] == '='
				    ? kubernetes_index(roles + strcspn(roles, "=") + 1)
				    : 0;

		if (count < 0)
			return -1;
		if (strncmp(roles, pod, name) == 0 && roles[name] == '=') {
			if (index < count)
				return first + index;
			index -= count; /* a role may stand there again */
		}
		first += count;
		roles += strcspn(roles, ",");
	}
	return -1;
}

int kubernetes_task(const char *kind, const char *roles, const char *job, const char *pod)
{
	size_t length = strlen(job);
	int index;

	if (strncmp(pod, job, length) != 0 || pod[length] != '-')
		return -1;
	pod += length + 1;
	if (strcmp(kind, "job") == 0)
		return kubernetes_index(pod);
	if (strcmp(kind, "tfjob") == 0)
		return kubernetes_role_task(roles, pod);
	if (strcmp(kind, "jobset") == 0 || strcmp(kind, "trainjob") == 0)
		return starts_with(pod, "node-0-") ? kubernetes_index(pod + strlen("node-0-")) : -1;
	if (strcmp(kind, "pytorchjob") == 0 && starts_with(pod, "master-"))
		return kubernetes_index(pod + strlen("master-"));
	if (strcmp(kind, "pytorchjob") != 0 || !starts_with(pod, "worker-"))
		return -1;
	index = kubernetes_index(pod + strlen("worker-"));
	return index >= 0 ? index + 1 : -1;
}

/* --- what kubectl prints besides ------------------------------------------------------------- */

bool kubernetes_log_line(const char *line, struct arena *arena, const char **pod,
			 const char **stamp, const char **text)
{
	size_t name, length;
	const char *at;

	if (!starts_with(line, "[pod/"))
		return false;
	line += strlen("[pod/");
	name = strcspn(line, "/]");
	at = strstr(line + name, "] ");
	if (!name || line[name] != '/' || !at)
		return false;
	at += 2;
	length = strspn(at, "0123456789-:.TZ+");
	if (length < strlen("2026-11-25T12:00:00Z") || (at[length] && at[length] != ' '))
		return false;
	*pod = arena_strndup(arena, line, name);
	*stamp = arena_strndup(arena, at, length);
	*text = at + length + (at[length] == ' ');
	return true;
}

/* "E1125 12:00:00.1 ..." */
static bool kubernetes_is_own_log(const char *line)
{
	return *line && strchr("EWIF", *line) && strspn(line + 1, "0123456789") == 4;
}

const char *kubernetes_complaint(const char *text, struct arena *arena)
{
	static const char *const heads[] = {"error: ", "Error from server: "};
	_cleanup_(str_release) struct str out = STR_INIT;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t length;

		if (kubernetes_is_own_log(at) || starts_with(at, "Warning: ") || *at == '\n')
			continue;
		for (size_t i = 0; i < ARRAY_LEN(heads); i++)
			if (starts_with(at, heads[i]))
				at += strlen(heads[i]);
		length = strcspn(at, "\n");
		if (out.length < KUBERNETES_MESSAGE_BYTES)
			str_addf(&out, "%s%.*s", out.length ? "; " : "",
				 (int)(length < KUBERNETES_MESSAGE_BYTES
					       ? length
					       : KUBERNETES_MESSAGE_BYTES),
				 at);
	}
	if (!out.length)
		return "it said nothing";
	return kubernetes_line(out.text, arena);
}

/* --- nodes and queues ------------------------------------------------------------------------ */

/* "8", "7910m", or a number; a part of one counts as one. */
static int kubernetes_count(const cJSON *quantity)
{
	char *end;
	double value;

	if (cJSON_IsNumber(quantity))
		value = quantity->valuedouble;
	else if (!cJSON_IsString(quantity))
		return 0;
	else {
		value = strtod(quantity->valuestring, &end);
		if (*end == 'm')
			value = (value + 999) / 1000;
		else if (*end == 'k')
			value *= 1000;
		else if (*end)
			return 0;
	}
	return value > 0 && value <= NUMBER_MAX ? (int)value : 0;
}

/* GPUs of any kind: whole ones of NVIDIA and AMD, and slices (MIG). */
static int kubernetes_gpus(const cJSON *resources)
{
	const cJSON *item;
	int sum = 0;

	cJSON_ArrayForEach (item, resources)
		if (item->string &&
		    (strcmp(item->string, "nvidia.com/gpu") == 0 ||
		     strcmp(item->string, "amd.com/gpu") == 0 ||
		     starts_with(item->string, "nvidia.com/mig-")) &&
		    sum <= NUMBER_MAX)
			sum += kubernetes_count(item);
	return sum;
}

static const char *kubernetes_node_state(const cJSON *node, struct arena *arena,
					 const char **reason)
{
	const cJSON *condition;
	const char *state = "unknown";

	*reason = "";
	cJSON_ArrayForEach (condition, json_member(json_member(node, "status"), "conditions")) {
		bool is_ready = kubernetes_is(condition, "type", "Ready");
		bool is_true = kubernetes_is(condition, "status", "True");

		if (is_ready)
			state = is_true ? "Ready" : "NotReady";
		/* the others (MemoryPressure ...) are bad when they are true */
		if (is_ready == is_true || **reason ||
		    kubernetes_is(condition, "status", "Unknown"))
			continue;
		*reason = kubernetes_words(condition, is_ready ? "message" : "type", arena);
	}
	if (!json_bool(json_member(node, "spec"), "unschedulable", false))
		return state;
	*reason = **reason ? *reason : "kubectl cordon";
	return arena_printf(arena, "%s, cordoned", state);
}

/* What the pods of the node, which have not ended, ask for. */
static void kubernetes_add_used(const cJSON *pods, struct scheduler_node *node)
{
	const cJSON *pod, *container;
	double cpus = 0;

	cJSON_ArrayForEach (pod, json_member(pods, "items")) {
		const cJSON *spec = json_member(pod, "spec"), *status = json_member(pod, "status");

		if (!kubernetes_is(spec, "nodeName", node->name) ||
		    kubernetes_is(status, "phase", "Succeeded") ||
		    kubernetes_is(status, "phase", "Failed"))
			continue;
		cJSON_ArrayForEach (container, json_member(spec, "containers")) {
			const cJSON *asked =
				json_member(json_member(container, "resources"), "requests");
			const cJSON *cpu = json_member(asked, "cpu");

			if (cJSON_IsString(cpu) && ends_with(cpu->valuestring, "m"))
				cpus += strtod(cpu->valuestring, NULL) / 1000;
			else
				cpus += kubernetes_count(cpu);
			node->gpus_used += kubernetes_gpus(asked);
			if (node->gpus_used > NUMBER_MAX)
				node->gpus_used = NUMBER_MAX;
		}
	}
	node->cpus_used = cpus > 0 && cpus < NUMBER_MAX ? (int)(cpus + 0.999) : 0;
}

void kubernetes_read_nodes(const cJSON *nodes, const cJSON *pods, struct arena *arena,
			   struct scheduler_overview *overview)
{
	const cJSON *items = json_member(nodes, "items"), *item;

	overview->nodes =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(items) + 1, struct scheduler_node);
	cJSON_ArrayForEach (item, items) {
		const cJSON *meta = json_member(item, "metadata");
		const cJSON *has = json_member(json_member(item, "status"), "allocatable");
		struct scheduler_node *node = &overview->nodes[overview->node_count++];

		*node = (struct scheduler_node){.name = kubernetes_words(meta, "name", arena),
						.queues = "-",
						.gpu = kubernetes_words(json_member(meta, "labels"),
									"nvidia.com/gpu.product",
									arena),
						.cpus = kubernetes_count(json_member(has, "cpu")),
						.gpus = kubernetes_gpus(has)};
		node->state = kubernetes_node_state(item, arena, &node->reason);
		kubernetes_add_used(pods, node);
	}
}

void kubernetes_read_queues(const cJSON *queues, struct arena *arena,
			    struct scheduler_overview *overview)
{
	const cJSON *items = json_member(queues, "items"), *item, *condition;

	overview->queues =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(items) + 1, struct scheduler_queue);
	cJSON_ArrayForEach (item, items) {
		const cJSON *status = json_member(item, "status");
		struct scheduler_queue *queue = &overview->queues[overview->queue_count++];

		*queue = (struct scheduler_queue){
			.name = kubernetes_words(json_member(item, "metadata"), "name", arena),
			.state = "unknown",
			.limit = "-",
			.waiting = json_int(status, "pendingWorkloads", 0),
			.running = json_int(status, "admittedWorkloads", 0)};
		cJSON_ArrayForEach (condition, json_member(status, "conditions"))
			if (kubernetes_is(condition, "type", "Active"))
				queue->state = kubernetes_is(condition, "status", "True")
						       ? "Active"
						       : "Inactive";
	}
}
