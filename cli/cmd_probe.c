/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_fleet.h"
#include "cli/app/stage_simulated.h"
#include "cli/app/stage_plan.h"

#include "core/log.h"
#include "core/str.h"
#include "core/term.h"
#include "deployer/probe.h"
#include "resolver/links/link_notes.h"

#include <string.h>

struct options {
	const char *output;
};

static const struct opt options[] = {
	{'o', "output", "FILE", "also write the facts there", OPT_TEXT,
	 offsetof(struct options, output)},
	OPT_END,
};

static void probe_add_group(struct str *out, size_t count, const char *name, size_t length)
{
	if (count)
		str_addf(out, "%s%zux %.*s", out->length ? ", " : "", count, (int)length, name);
}

/* "8x NVIDIA H100 80GB HBM3, 1x Tesla T4" of a host; "unusable" where nvidia-smi fails. */
static const char *probe_gpus(const struct facts *f, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	const char *at = f->gpus, *name = at;
	size_t count = 0, length = 0;

	for (; *at; at += strcspn(at, ";"), at += *at == ';') {
		size_t own = strcspn(at, ";");

		if (count && own == length && memcmp(at, name, own) == 0) {
			count++;
			continue;
		}
		probe_add_group(&out, count, name, length);
		name = at;
		length = own;
		count = 1;
	}
	probe_add_group(&out, count, name, length);
	return out.length ? arena_strdup(arena, out.text) : *f->gpu_error ? "unusable" : "-";
}

static void print_facts(struct stages *s)
{
	struct term_table table;

	term_table_init(&table, s->arena,
			WORDS("HOST", "OS", "KERNEL", "ARCH", ">CPUS", ">MEMORY", ">DISK FREE",
			      "ENGINE", "INTERFACE", "DRIVER", "GPUS"));
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct facts *f = &s->fleet.members[i].facts;
		char memory[32], disk[32];

		if (s->fleet.members[i].failed)
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
				     *f->driver ? f->driver : "-", probe_gpus(f, s->arena)));
	}
	term_table_print(&table, stdout);
}

/* What runs below what it could. Without a catalog, NVLinks are not judged. */
static void print_notes(struct stages *s)
{
	struct words notes = WORDS_INIT(s->arena);
	struct error ignored = {0};
	const struct catalog *catalog = stage_catalog(s, &ignored) < 0 ? NULL : &s->catalog;

	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed && *s->fleet.members[i].facts.gpu_error)
			log_warn("%s: its GPUs cannot be used: %s", s->fleet.members[i].facts.host,
				 s->fleet.members[i].facts.gpu_error);
	for (size_t i = 0; i < s->fleet.count; i++)
		if (!s->fleet.members[i].failed)
			link_notes(catalog, &s->fleet.members[i].facts, &notes);
	for (size_t i = 0; i < notes.count; i++)
		log_warn("%s", notes.list[i]);
}

static int probe_run(struct context *ctx, void *values, const char *const *arguments,
		     struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const struct options *o = values;
	struct stages s;
	int rc;

	(void)arguments;
	if (stage_cluster(&s, ctx, err) < 0)
		return -1;
	rc = stage_probe(&s, err);
	if (rc == 0) {
		json = fleet_facts_json(&s.fleet);
		stage_add_simulated(&s, json);
		if (o->output)
			rc = json_write(o->output, json, 0644, err);
		if (ctx->json)
			json_print(stdout, json);
		else if (fleet_failures(&s.fleet) < s.fleet.count)
			print_facts(&s);
		print_notes(&s);
	}
	if (rc == 0)
		rc = fleet_result(&s.fleet, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_probe = {
	.name = "probe",
	.arguments = "",
	.summary = "facts of every host",
	.help = "Takes one SSH round trip per host, all side by side, and changes nothing on the hosts.\n"
		"The facts are also kept in .ringup/facts.json. A warning names each link that runs slower than\n"
		"it could: PCIe lanes, NICs of one card, NVLinks.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.run = probe_run,
};
