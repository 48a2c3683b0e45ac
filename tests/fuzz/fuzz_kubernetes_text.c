/* SPDX-License-Identifier: MIT */
/* What kubectl prints: everybody who may write into the cluster chooses some of it. */
#include "tests/fuzz/fuzz.h"

#include "deployer/scheduler/kubernetes_text.h"
#include "deployer/scheduler/rank_tag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct kubernetes_job job;
	struct kubernetes_pods pods;
	struct scheduler_overview overview = {0};
	struct error err = {0};
	const char *pod, *stamp, *rest;
	bool is_of_node;
	int rank;

	if ((rest = rank_tag(text, &rank, &is_of_node)))
		fuzz_check(rest > text && rest <= text + strlen(text) && rank >= 0);
	fuzz_check(strlen(kubernetes_complaint(text, &arena)) <= 2 * KUBERNETES_MESSAGE_BYTES);
	if (kubernetes_log_line(text, &arena, &pod, &stamp, &rest))
		fuzz_check(rest <= text + strlen(text) &&
			   kubernetes_task("job", "", "j", pod) >= -1 &&
			   kubernetes_task("tfjob", text, "j", pod) >= -1);
	if (json_parse(text, strlen(text), "fuzz", &json, &err) < 0)
		return 0;
	kubernetes_read_job(json, &arena, &job);
	fuzz_check(job.reason && job.message && (job.has_ended || !job.has_failed));
	kubernetes_read_pods(json, &arena, &pods);
	for (size_t i = 0; i < pods.count; i++)
		fuzz_check(pods.list[i].status >= 0 && pods.list[i].status < 256 &&
			   pods.list[i].waits && pods.list[i].node);
	fuzz_check(kubernetes_refusal(json, "j", &arena) != NULL);
	kubernetes_read_nodes(json, json, &arena, &overview);
	kubernetes_read_queues(json, &arena, &overview);
	fuzz_check(overview.node_count == overview.queue_count);
	return 0;
}
