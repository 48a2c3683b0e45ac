/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/confirm.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_plan.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "core/proc.h"
#include "deployer/doctor/doctor.h"
#include "plan/host_set.h"
#include "plan/lock.h"

#include <string.h>

#define FIX_TIMEOUT_S 600

struct options {
	struct words hosts;
	const char *least;
	bool fix, yes, dry_run, no_tries;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "fix", NULL, "show the commands that are safe or can be undone; run them after a yes",
	 OPT_FLAG, offsetof(struct options, fix)},
	{'y', "yes", NULL, "with --fix: do not ask", OPT_FLAG, offsetof(struct options, yes)},
	{0, "dry-run", NULL, "with --fix: show the commands only", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	{0, "least", "SEVERITY", "error, warning or note: what is shown at least (note)", OPT_TEXT,
	 offsetof(struct options, least)},
	{0, "no-tries", NULL, "do not let the hosts try to reach each other", OPT_FLAG,
	 offsetof(struct options, no_tries)},
	OPT_END,
};

/* What is known and what was found. */
struct examination {
	struct stages s;
	struct findings findings;
	struct finding *list;
	size_t count;
	size_t counts[FINDING_SEVERITIES];
};

/* Whether the stack is for both as for one. */
static bool doctor_are_alike(const struct member *a, const struct member *b)
{
	const struct facts *one = &a->facts, *other = &b->facts;

	return member_is_active(a) && member_is_active(b) &&
	       strcmp(one->driver, other->driver) == 0 && strcmp(one->gpus, other->gpus) == 0 &&
	       strcmp(one->arch, other->arch) == 0;
}

/* Judges a member with all that have its driver and GPUs: they get one sentence, which names them. */
static void doctor_judge_alike(struct stages *s, const struct member *first, struct facts *facts,
			       const char **misfits)
{
	const struct member *members = s->fleet.members;
	size_t count = 0;
	const char *misfit;

	for (size_t i = first->index; i < s->fleet.count; i++)
		if (doctor_are_alike(first, &members[i]))
			facts[count++] = members[i].facts;
	/* without a stack, what a lock has is another file's or an earlier one's */
	misfit = cluster_has_no_stack(&s->cluster) ? "" : stage_misfit(s, facts, count);
	for (size_t i = first->index; i < s->fleet.count; i++)
		if (doctor_are_alike(first, &members[i]))
			misfits[i] = misfit;
}

static void doctor_read_stack(struct stages *s, struct doctor_stack *stack)
{
	const char **misfits = ARENA_ARRAY(s->arena, s->fleet.count + 1, const char *);
	struct facts *facts = ARENA_ARRAY(s->arena, s->fleet.count + 1, struct facts);
	struct error ignored = {0};
	struct lock lock;
	bool found;

	*stack = (struct doctor_stack){"", misfits};
	if (lock_read(stage_lock_path(s), s->arena, &lock, &found, &ignored) == 0 && found)
		stack->accelerator = lock.plan.accelerator;
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!misfits[i] && member_is_active(&s->fleet.members[i]))
			doctor_judge_alike(s, &s->fleet.members[i], facts, misfits);
}

static int doctor_examine(struct examination *e, const struct options *o, struct error *err)
{
	struct stages *s = &e->s;
	struct doctor_stack stack;
	struct patient *patients;
	const char **said;
	size_t count;

	s->details = true;
	if (findings_load(s->arena, &e->findings, err) < 0 || stage_probe(s, err) < 0)
		return -1;
	doctor_read_stack(s, &stack);
	said = ARENA_ARRAY(s->arena, s->fleet.count + 1, const char *);
	if (!o->no_tries && fleet_active(&s->fleet) > 1)
		doctor_try(&s->fleet, said);
	count = doctor_patients(&s->fleet, &stack, said, &patients);
	e->count = findings_of(&e->findings, patients, count, s->arena, &e->list);
	for (size_t i = 0; i < e->count; i++)
		e->counts[e->list[i].row->severity]++;
	return 0;
}

static void doctor_print(const struct examination *e, enum finding_severity least)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct finding *f = &e->list[i];

		if (f->row->severity > least)
			continue;
		say("%-8s %s: %s\n", finding_severity_names[f->row->severity],
		    host_set_fold(words_list(&f->hosts), e->s.arena), f->what);
		say("         breaks: %s\n", f->why);
		say("         fix:    %s%s\n", f->fix, *f->command ? "  [--fix does it]" : "");
		say("         about:  %s (%s)\n", f->row->id, f->row->source);
	}
	say("%zu %s, %zu %s, %zu %s on %zu %s\n", e->counts[FINDING_ERROR],
	    e->counts[FINDING_ERROR] == 1 ? "error" : "errors", e->counts[FINDING_WARNING],
	    e->counts[FINDING_WARNING] == 1 ? "warning" : "warnings", e->counts[FINDING_NOTE],
	    e->counts[FINDING_NOTE] == 1 ? "note" : "notes", fleet_active(&e->s.fleet),
	    fleet_active(&e->s.fleet) == 1 ? "host" : "hosts");
}

static cJSON *doctor_json(const struct examination *e, enum finding_severity least)
{
	cJSON *json = json_document(), *array = cJSON_AddArrayToObject(json, "findings");

	cJSON_AddBoolToObject(json, "ok", e->counts[FINDING_ERROR] == 0);
	for (size_t i = 0; i < e->count; i++) {
		const struct finding *f = &e->list[i];
		cJSON *item = cJSON_CreateObject();

		if (f->row->severity <= least) {
			cJSON_AddStringToObject(item, "id", f->row->id);
			cJSON_AddStringToObject(item, "severity",
						finding_severity_names[f->row->severity]);
			cJSON_AddItemToObject(item, "hosts",
					      cJSON_CreateStringArray(words_list(&f->hosts),
								      (int)f->hosts.count));
			cJSON_AddStringToObject(item, "what", f->what);
			cJSON_AddStringToObject(item, "why", f->why);
			cJSON_AddStringToObject(item, "fix", f->fix);
			json_add_text(item, "command", f->command);
			cJSON_AddStringToObject(item, "source", f->row->source);
			cJSON_AddItemToArray(array, item);
		} else {
			cJSON_Delete(item);
		}
	}
	return json;
}

/* ---- --fix ---- */

/* Runs on one host every command whose finding names it. The first that fails ends its turn. */
static int doctor_fix_one(struct member *m, void *arg, struct error *err)
{
	const struct examination *e = arg;

	for (size_t i = 0; i < e->count; i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		const struct finding *f = &e->list[i];
		const char *const words[] = {"sh", "-c", f->command, NULL};
		struct ssh_command command = {.words = words, .timeout_s = FIX_TIMEOUT_S};
		bool is_ours = false;

		for (size_t h = 0; h < f->hosts.count; h++)
			is_ours |= strcmp(f->hosts.list[h], m->host->name) == 0;
		if (!*f->command || !is_ours)
			continue;
		if (member_connect(m, err) < 0)
			return -1;
		if (ssh_check(m->ssh, &command, f->row->id, &result, err) < 0)
			return error_wrap(err, "%s", m->host->name);
		m->changed = true;
	}
	return 0;
}

/* Shows the commands on standard error, so that --json stays one document. Returns how many there are. */
static size_t doctor_show_commands(const struct examination *e)
{
	size_t count = 0;

	for (size_t i = 0; i < e->count; i++) {
		const struct finding *f = &e->list[i];

		if (!*f->command)
			continue;
		if (!count++)
			log_info("what --fix does:");
		log_info("  %s: %s", host_set_fold(words_list(&f->hosts), e->s.arena), f->command);
	}
	return count;
}

static int doctor_fix(struct examination *e, const struct options *o, struct error *err)
{
	size_t count = doctor_show_commands(e), changed = 0;

	if (!count) {
		log_info("nothing that --fix does by itself");
		return 0;
	}
	if (o->dry_run)
		return 0;
	if (!o->yes && confirm("run them?", "add --yes to run them", err) < 0)
		return -1;
	fleet_each(&e->s.fleet, doctor_fix_one, e);
	for (size_t i = 0; i < e->s.fleet.count; i++)
		changed += e->s.fleet.members[i].changed;
	log_info("commands ran on %zu of %zu hosts; 'ringup doctor' looks again", changed,
		 fleet_asked(&e->s.fleet));
	return 0;
}

static int doctor_least(const char *text, enum finding_severity *least, struct error *err)
{
	*least = FINDING_NOTE;
	if (!text)
		return 0;
	for (size_t i = 0; i < FINDING_SEVERITIES; i++)
		if (strcmp(text, finding_severity_names[i]) == 0) {
			*least = (enum finding_severity)i;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--least '%s' is none of error, warning and note", text);
}

static int doctor_report(struct examination *e, const struct options *o,
			 enum finding_severity least, struct error *err)
{
	if (e->s.ctx->json) {
		_cleanup_(json_free) cJSON *json = doctor_json(e, least);

		json_print(stdout, json);
	} else if (fleet_active(&e->s.fleet)) {
		doctor_print(e, least);
	}
	if ((o->fix || o->dry_run) && doctor_fix(e, o, err) < 0)
		return -1;
	if (fleet_result(&e->s.fleet, err) < 0)
		return -1;
	if (e->counts[FINDING_ERROR])
		return error_set(err, ERROR_VERDICT,
				 "%zu %s must be mended before the cluster works",
				 e->counts[FINDING_ERROR],
				 e->counts[FINDING_ERROR] == 1 ? "finding" : "findings");
	return 0;
}

static int doctor_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	struct examination e = {0};
	const struct options *o = values;
	enum finding_severity least;
	int rc;

	if (doctor_least(o->least, &least, err) < 0 || stage_cluster(&e.s, ctx, err) < 0 ||
	    stage_ask_only(&e.s, &o->hosts, arguments, err) < 0)
		return -1;
	rc = doctor_examine(&e, o, err);
	if (rc == 0)
		rc = doctor_report(&e, o, least, err);
	fleet_close(&e.s.fleet);
	return rc;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[HOST...]",
	.summary = "what is wrong with the hosts, what it breaks, and how to mend it",
	.help = "Probes the hosts, lets them try to reach each other, and judges what they say by the rows of\n"
		"recipes/findings.csv. The same finding on several hosts is printed once. Nothing is changed without\n"
		"--fix, which runs only commands that are safe or can be undone; a second time changes nothing.\n"
		"\n"
		"The exit status is 0 without errors (warnings and notes do not count), 5 with errors, 4 when some\n"
		"hosts could not be asked and 1 when none could.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = doctor_run,
};
