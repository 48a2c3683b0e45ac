/* SPDX-License-Identifier: MIT */
#include "deployer/job/leftovers.h"

#include "deployer/bringup/claim.h"
#include "deployer/job/talk.h"
#include "deployer/bringup/operate.h"

#include <stdatomic.h>
#include <string.h>

#define SWEEP_TIMEOUT_S 56 /* after the grace */
#define SAID_BYTES 600

struct leftovers {
	const char *id;
	int grace_s;
	atomic_int count;
};

/* ringup-job sweep --id ID --grace S. */
static const char *const *leftovers_words(struct member *m, const struct leftovers *left)
{
	const struct engine_value values[] = {{"folder", m->state.folder, NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);

	words_addf(&words, "%sringup-job",
		   engine_expand_word(m->engine->program_folder, values, &m->arena));
	words_add_all(&words, WORDS("sweep", "--id", left->id, "--grace"));
	words_addf(&words, "%d", left->grace_s);
	return words.list;
}

static int leftovers_end(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct leftovers *left = arg;

	if (!m->state.folder && member_ask_owner(m, err) < 0)
		return -1;
	if (m->engine->has_containers ? !m->state.running : !*m->state.mesh)
		return 0;
	if (member_exec(m, leftovers_words(m, left), left->grace_s + SWEEP_TIMEOUT_S, &result,
			err) < 0)
		return -1;
	str_one_line(&result.out, SAID_BYTES);
	if (starts_with(result.out.text, "swept "))
		atomic_fetch_add(&left->count,
				 job_fact_number(result.out.text + strlen("swept "), 0));
	if (!result.status)
		return 0;
	str_one_line(&result.err, SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: processes of the job could not be ended%s%s",
			 m->host->name, result.err.length ? ": " : "", result.err.text);
}

void job_end_leftovers(struct fleet *fleet, const char *id, int grace_s, int *count)
{
	struct leftovers left = {.id = id, .grace_s = grace_s};

	fleet_each(fleet, leftovers_end, &left);
	*count = atomic_load(&left.count);
}
