/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_simulated.h"
#include "cli/app/stage_plan.h"

#include "core/foreign.h"
#include "core/log.h"
#include "core/str.h"
#include "core/term.h"
#include "deployer/probe.h"
#include "plan/facts_diff.h"
#include "plan/host_set.h"
#include "plan/gpu_wish.h"
#include "resolver/links/link_notes.h"

#include <string.h>

struct options {
	const char *output;
	struct words hosts;
	bool diff;
};

static const struct opt options[] = {
	{'o', "output", "FILE", "also write the facts there", OPT_TEXT,
	 offsetof(struct options, output)},
	{0, "diff", NULL, "only what differs between hosts, and from the last probe", OPT_FLAG,
	 offsetof(struct options, diff)},
	HOSTS_OPTION(struct options, hosts),
	OPT_END,
};

/* "8x NVIDIA H100 80GB HBM3" of a host; "unusable" where nvidia-smi fails. */
static const char *probe_gpus(const struct facts *f, struct arena *arena)
{
	return *f->gpus ? gpu_products(f->gpus, arena) : *f->gpu_error ? "unusable" : "-";
}

/* "+3600 s" of a clock that is ahead of this machine's. */
static const char *probe_clock(double skew, struct arena *arena)
{
	return skew > -1 && skew < 1 ? "0 s" : arena_printf(arena, "%+.0f s", skew);
}

static void print_facts(struct stages *s)
{
	struct term_table table;

	term_table_init(&table, s->arena,
			WORDS("HOST", "OS", "KERNEL", "ARCH", ">CPUS", ">MEMORY", ">DISK FREE",
			      "ENGINE", "INTERFACE", ">CLOCK", "DRIVER", "GPUS"));
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct facts *f = &s->fleet.members[i].facts;
		char memory[32], disk[32];

		if (s->fleet.members[i].failed || s->fleet.members[i].left_out)
			continue;
		term_table_row(&table,
			       WORDS(f->host, f->os, f->kernel, f->arch,
				     arena_printf(s->arena, "%d", f->cpus),
				     format_bytes(memory, (uint64_t)f->memory_bytes),
				     format_bytes(disk, (uint64_t)f->disk_free_bytes),
				     *f->engine ? arena_printf(s->arena, "%s %s", f->engine,
							       f->engine_version)
						: "-",
				     *f->interface ? f->interface : "-",
				     probe_clock(f->clock_skew_seconds, s->arena),
				     *f->driver ? f->driver : "-", probe_gpus(f, s->arena)));
	}
	term_table_print(&table, stdout);
}

static bool probe_counts(const struct stages *s, size_t i)
{
	return !s->fleet.members[i].failed && !s->fleet.members[i].left_out;
}

/* What runs below what it could. Without a catalog, NVLinks are not judged. */
static void print_notes(struct stages *s)
{
	struct words notes = WORDS_INIT(s->arena);
	struct error ignored = {0};
	const struct catalog *catalog = stage_catalog(s, &ignored) < 0 ? NULL : &s->catalog;

	for (size_t i = 0; i < s->fleet.count; i++)
		if (probe_counts(s, i) && *s->fleet.members[i].facts.gpu_error)
			log_warn("%s: its GPUs cannot be used: %s", s->fleet.members[i].facts.host,
				 s->fleet.members[i].facts.gpu_error);
	for (size_t i = 0; i < s->fleet.count; i++)
		if (probe_counts(s, i))
			link_notes(catalog, &s->fleet.members[i].facts, &notes);
	for (size_t i = 0; i < notes.count; i++)
		log_warn("%s", notes.list[i]);
}

/* What the hosts say, and what they said before, as the diff needs it. */
struct probe_sides {
	const struct facts **now, **before; /* before: NULL where the host was not probed */
	size_t count;
};

static void probe_take_sides(const struct stages *s, const struct fleet *earlier,
			     struct probe_sides *sides)
{
	sides->now = ARENA_ARRAY(s->arena, s->fleet.count + 1, const struct facts *);
	sides->before = ARENA_ARRAY(s->arena, s->fleet.count + 1, const struct facts *);
	sides->count = 0;
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (m->failed || m->left_out)
			continue;
		for (size_t k = 0; k < earlier->count; k++)
			if (earlier->members[k].host == m->host)
				sides->before[sides->count] = &earlier->members[k].facts;
		sides->now[sides->count++] = &m->facts;
	}
}

static const char *probe_known(const char *value)
{
	return *value ? value : "(unknown)";
}

static void probe_print_differences(const struct probe_sides *sides, struct arena *arena)
{
	struct fact_difference *list;
	size_t count = facts_differences(sides->now, sides->count, arena, &list);

	say("between the hosts: %zu %s\n", count, count == 1 ? "difference" : "differences");
	for (size_t i = 0; i < count; i++) {
		const struct fact_row *row = &fact_rows[list[i].row];

		say("  %s (%s)\n", row->key, row->meaning);
		for (size_t g = 0; g < list[i].group_count; g++)
			say("    %s: %s\n",
			    host_set_fold(words_list(&list[i].groups[g].hosts), arena),
			    probe_known(list[i].groups[g].value));
	}
}

static void probe_print_changes(const struct probe_sides *sides, struct arena *arena)
{
	size_t *rows = ARENA_ARRAY(arena, fact_row_count, size_t), total = 0, unknown = 0;

	for (size_t i = 0; i < sides->count; i++) {
		size_t count = sides->before[i]
				       ? facts_changes(sides->before[i], sides->now[i], arena, rows)
				       : 0;

		unknown += !sides->before[i];
		for (size_t r = 0; r < count; r++)
			say("%s  %s %s: %s, was %s\n", total++ ? "" : "since the last probe:\n",
			    sides->now[i]->host, fact_rows[rows[r]].key,
			    probe_known(facts_text(sides->now[i], rows[r], arena)),
			    probe_known(facts_text(sides->before[i], rows[r], arena)));
	}
	if (!total)
		say("since the last probe: 0 differences\n");
	if (unknown)
		say("  %zu of %zu hosts had not been probed before\n", unknown, sides->count);
}

static void probe_differences_json(const struct probe_sides *sides, struct arena *arena,
				   cJSON *json)
{
	struct fact_difference *list;
	size_t count = facts_differences(sides->now, sides->count, arena, &list);
	cJSON *array = cJSON_AddArrayToObject(json, "differences");

	for (size_t i = 0; i < count; i++) {
		cJSON *item = cJSON_CreateObject(), *groups;

		cJSON_AddStringToObject(item, "fact", fact_rows[list[i].row].key);
		groups = cJSON_AddArrayToObject(item, "groups");
		for (size_t g = 0; g < list[i].group_count; g++) {
			const struct fact_group *group = &list[i].groups[g];
			cJSON *one = cJSON_CreateObject();

			cJSON_AddStringToObject(one, "value", group->value);
			cJSON_AddItemToObject(one, "hosts",
					      cJSON_CreateStringArray(words_list(&group->hosts),
								      (int)group->hosts.count));
			cJSON_AddItemToArray(groups, one);
		}
		cJSON_AddItemToArray(array, item);
	}
}

static cJSON *probe_diff_json(const struct probe_sides *sides, struct arena *arena)
{
	cJSON *json = json_document(), *changes;
	size_t *rows = ARENA_ARRAY(arena, fact_row_count, size_t);

	probe_differences_json(sides, arena, json);
	changes = cJSON_AddArrayToObject(json, "changes");
	for (size_t i = 0; i < sides->count; i++) {
		size_t count = sides->before[i]
				       ? facts_changes(sides->before[i], sides->now[i], arena, rows)
				       : 0;

		for (size_t r = 0; r < count; r++) {
			cJSON *item = cJSON_CreateObject();

			cJSON_AddStringToObject(item, "host", sides->now[i]->host);
			cJSON_AddStringToObject(item, "fact", fact_rows[rows[r]].key);
			cJSON_AddStringToObject(item, "before",
						facts_text(sides->before[i], rows[r], arena));
			cJSON_AddStringToObject(item, "now",
						facts_text(sides->now[i], rows[r], arena));
			cJSON_AddItemToArray(changes, item);
		}
	}
	return json;
}

static void probe_show_diff(struct stages *s, const struct fleet *earlier)
{
	struct probe_sides sides;

	probe_take_sides(s, earlier, &sides);
	if (s->ctx->json) {
		_cleanup_(json_free) cJSON *json = probe_diff_json(&sides, s->arena);

		stage_json_failed(s, json);
		json_print(stdout, json);
	} else if (sides.count) {
		probe_print_differences(&sides, s->arena);
		probe_print_changes(&sides, s->arena);
	}
}

static int probe_show(struct stages *s, const struct options *o, const struct fleet *earlier,
		      struct error *err)
{
	_cleanup_(json_free) cJSON *json = fleet_facts_json(&s->fleet);

	stage_add_simulated(s, json);
	if (o->output && json_write(o->output, json, 0644, err) < 0)
		return -1;
	stage_json_failed(s, json);
	if (o->diff)
		probe_show_diff(s, earlier);
	else if (s->ctx->json)
		json_print(stdout, json);
	else if (fleet_failures(&s->fleet) < fleet_asked(&s->fleet))
		print_facts(s);
	if (!o->diff)
		print_notes(s);
	return 0;
}

static int probe_run(struct context *ctx, void *values, const char *const *arguments,
		     struct error *err)
{
	const struct options *o = values;
	struct fleet earlier = {0};
	struct error ignored = {0};
	struct stages s;
	int rc;

	if (stage_cluster(&s, ctx, err) < 0 || stage_ask_only(&s, &o->hosts, arguments, err) < 0)
		return -1;
	s.details = true;
	stage_read_facts(&s, &earlier,
			 &ignored); /* a file that cannot be read is no earlier probe */
	rc = stage_probe(&s, err);
	if (rc == 0)
		rc = probe_show(&s, o, &earlier, err);
	if (rc == 0)
		rc = fleet_result(&s.fleet, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_probe = {
	.name = "probe",
	.arguments = "[HOST...]",
	.summary = "facts of every host",
	.help = "Takes one SSH round trip per host, all side by side, and changes nothing on the hosts.\n"
		"The facts are also kept in .ringup/facts.json. A warning names each link that runs slower than\n"
		"it could: PCIe lanes, NICs of one card, NVLinks.\n"
		"--diff names the facts in which hosts of one cluster should agree and do not, the largest group of\n"
		"hosts first, and what is not as it was at the last probe. 'ringup doctor' judges the facts.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = probe_run,
};
