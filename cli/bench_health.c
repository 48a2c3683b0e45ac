/* SPDX-License-Identifier: MIT */
#include "cli/bench_health.h"
#include "cli/app/stage_simulated.h"

#include "core/foreign.h"
#include "core/log.h"
#include "core/term.h"
#include "deployer/bench/card_pairs.h"
#include "deployer/bench/cards_history.h"
#include "deployer/bringup/operate.h"

#include <string.h>

#define ANSWER_S 5 /* of the limit, for the way there and back */

struct bench_health {
	struct health_host *hosts; /* per member */
	int limit_s;
};

static int bench_health_ask(struct member *m, void *arg, struct error *err)
{
	struct bench_health *health = arg;
	struct proc_result result = {0};
	const struct engine_value values[] = {{"folder", m->state.folder, NULL}, {0}};
	const char *seconds = arena_printf(&m->arena, "%d", health->limit_s - ANSWER_S);
	const char *program =
		arena_printf(&m->arena, "%sallreduce",
			     engine_expand_word(m->engine->program_folder, values, &m->arena));
	int rc = member_exec(
		m, WORDS(program, "--health", "--host", m->host->name, "--timeout", seconds),
		health->limit_s, &result, err);

	/* what came before a deadline counts, too */
	cards_read(result.out.text ? result.out.text : "", result.out.length, m->host->name,
		   &m->arena, &health->hosts[m->index]);
	if (rc == 0 && result.status != 0 && health->hosts[m->index].count == 0 &&
	    result.err.length) {
		str_one_line(&result.err, CARDS_TEXT_BYTES);
		health->hosts[m->index].error = arena_strdup(&m->arena, result.err.text);
	}
	proc_result_release(&result);
	return rc;
}

static const char *bench_health_cell(const struct health_card *card, enum card_measure measure,
				     struct arena *arena)
{
	return card->measures[measure] > 0 ? arena_printf(arena, "%.4g", card->measures[measure])
					   : NULL;
}

static void bench_health_print(const struct bench_health *health, size_t count,
			       const struct words *findings, const struct cards_past *past,
			       struct arena *a)
{
	struct words notes = WORDS_INIT(a);
	struct term_table table;

	term_table_init(&table, a,
			WORDS("HOST", ">GPU", "MODEL", "SERIAL", ">COPY (GB/s)", ">H2D", ">D2H",
			      ">F32 (TFLOP/s)", ">BF16", ">MHz", ">W", ">C", ">USUAL", "STATE"));
	for (size_t h = 0; h < count; h++)
		for (size_t i = 0; i < health->hosts[h].count; i++) {
			const struct health_card *c = &health->hosts[h].cards[i];
			const char *const cells[] = {
				c->host,
				arena_printf(a, "%d", c->number),
				*c->model ? c->model : NULL,
				*c->serial ? c->serial : NULL,
				bench_health_cell(c, CARD_COPY, a),
				bench_health_cell(c, CARD_H2D, a),
				bench_health_cell(c, CARD_D2H, a),
				bench_health_cell(c, CARD_TFLOPS, a),
				bench_health_cell(c, CARD_BF16_TFLOPS, a),
				c->sm_mhz > 0 ? arena_printf(a, "%.0f", c->sm_mhz) : NULL,
				c->watt > 0 ? arena_printf(a, "%.0f", c->watt) : NULL,
				c->celsius > 0 ? arena_printf(a, "%.0f", c->celsius) : NULL,
				c->usual_percent > 0 ? arena_printf(a, "%.0f %%", c->usual_percent)
						     : NULL,
				c->findings.count  ? "bad"
				: *c->not_measured ? "not measured"
				: c->host_is_slow  ? "slow host"
						   : "well",
			};

			term_table_row(&table, cells);
		}
	term_table_print(&table, stdout);
	card_pairs_describe(health->hosts, count, &notes);
	cards_list_not_measured(health->hosts, count, a, &notes);
	for (size_t i = 0; i < notes.count; i++)
		say("%s\n", notes.list[i]);
	for (size_t i = 0; i < findings->count; i++)
		say("%s\n", findings->list[i]);
	for (size_t i = 0; i < past->fresh.count; i++)
		say("%s\n", past->fresh.list[i]);
	if (past->runs)
		say("compared with the last %zu runs, since %.10s\n", past->runs, past->since);
}

/* What is wrong, compared with the other cards and with earlier runs. */
static void bench_health_judge(struct stages *s, struct bench_health *health,
			       struct cards_past *past, struct words *findings)
{
	size_t count = s->fleet.count;
	struct error err = {0};

	cards_judge(health->hosts, count, s->arena);
	if (cards_history_keep(&s->cluster, health->hosts, count, s->arena, past, &err) < 0)
		log_warn("the history does not get this: %s", err.text);
	cards_list_findings(health->hosts, count, s->arena, findings);
	words_add_all(findings, words_list(&past->gone));
}

int bench_health(struct stages *s, int limit_s, struct error *err)
{
	struct bench_health health = {.limit_s = limit_s > 0 ? limit_s : BENCH_HEALTH_LIMIT_S};
	struct words findings = WORDS_INIT(s->arena);
	struct cards_past past;
	_cleanup_(json_free) cJSON *document = json_document();
	size_t jobs = s->fleet.jobs, count = s->fleet.count;

	health.limit_s = health.limit_s > 2 * ANSWER_S ? health.limit_s : 2 * ANSWER_S;
	health.hosts = ARENA_ARRAY(s->arena, count + 1, struct health_host);
	for (size_t i = 0; i < count; i++)
		cards_read("", 0, s->fleet.members[i].host->name, s->arena, &health.hosts[i]);
	s->fleet.jobs = count; /* the limit is for all of them */
	fleet_each(&s->fleet, bench_health_ask, &health);
	s->fleet.jobs = jobs;
	for (size_t i = 0; i < count; i++)
		if (s->fleet.members[i].failed && health.hosts[i].count == 0)
			health.hosts[i].error = s->fleet.members[i].err.text;
	bench_health_judge(s, &health, &past, &findings);
	cJSON_AddStringToObject(document, "verdict", findings.count ? "bad GPUs" : "pass");
	cJSON_AddItemToObject(document, "findings",
			      cJSON_CreateStringArray(words_list(&findings), (int)findings.count));
	cards_to_json(health.hosts, count, document);
	card_pairs_to_json(health.hosts, count, document);
	cards_history_add_to(&past, document);
	stage_add_simulated(s, document);
	if (s->ctx->json)
		json_print(stdout, document);
	else
		bench_health_print(&health, count, &findings, &past, s->arena);
	if (findings.count == 0)
		return 0;
	return error_set(err, ERROR_VERDICT, "%zu findings on the GPUs; the first: %s",
			 findings.count, findings.list[0]);
}
