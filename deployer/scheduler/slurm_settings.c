/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_settings.h"

#include <regex.h>
#include <string.h>

const struct export_setting slurm_settings[] = {
	{"partition", "the queue", ""},
	{"account", "who pays", ""},
	{"qos", "quality of service", ""},
	{"reservation", "nodes that are kept for somebody", ""},
	{"time", "limit, as 30 (minutes) or 2-12:00:00", ""},
	{"mem", "memory of each node, as 64G; 0 is all", ""},
	{"cpus-per-task", "CPUs of a rank, or of a node's torchrun; Slurm gives one", ""},
	{"constraint", "features of the nodes", ""},
	{"nodelist", "nodes that it must have", ""},
	{"exclude", "nodes that it must not have", ""},
	{"gpu-type", "product, as the nodes' Gres names it: h100", ""},
	{"gpu-option", "how GPUs are asked for: gpus-per-node, gres or none", "gpus-per-node"},
	{"gres", "other resources of each node, as nvme:1", ""},
	{"exclusive", "yes: no other job on the nodes; or user, mcs", ""},
	{"array", "start it so often, as 0-9", ""},
	{"dependency", "jobs before it, as afterok:123", ""},
	{"begin", "not before, as now+2hours", ""},
	{"nice", "lower priority, as 100", ""},
	{"licenses", "as scratch:1", ""},
	{"mem-per-gpu", "memory for each GPU, as 80G", ""},
	{"mem-per-cpu", "memory for each CPU, as 4G", ""},
	{"cpus-per-gpu", "CPUs for each GPU", ""},
	{"gpu-bind", "which GPUs a task sees, as none", ""},
	{"switches", "most switches of the network, as 1@12:00:00", ""},
	{"segment", "nodes of a block that stay together", ""},
	{"hint", "as nomultithread", ""},
	{"threads-per-core", "as 1", ""},
	{"network", "as the site has it", ""},
	{"tmp", "least space in /tmp of a node, as 200G", ""},
	{"comment", "a word for the accounts", ""},
	{"wckey", "as the site has it", ""},
	{"output", "file of what it prints, as logs/%x-%j.out", ""},
	{"mail-type", "when to write: END,FAIL", ""},
	{"mail-user", "to whom", ""},
	{"signal", "before the limit, for a checkpoint: TERM@60", ""},
	{"requeue", "yes: start it again when a node fails", ""},
	{"modules", "environment modules to load first, as cuda/12.4,gcc/13", ""},
	{"interface", "network interface for NCCL and Gloo, as ib0", ""},
	{"mpi", "how ranks of MPI meet, see srun --mpi=list", "pmix"},
	{"container", "auto, pyxis, apptainer or none", "auto"},
	{0},
};

/* Whose values are asked for. */
struct settings {
	const struct exporter *exporter;
	const struct export_wish *wish;
};

static const char *slurm_value(const struct settings *s, const char *name)
{
	return export_value(s->exporter, s->wish, name);
}

bool slurm_setting_is_option(const char *name)
{
	static const char *const others[] = {"gpu-type",  "gpu-option",	  "gres",      "exclusive",
					     "requeue",	  "modules",	  "interface", "mpi",
					     "container", "cpus-per-task"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(others[i], name) == 0)
			return false;
	return true;
}

/* Whether the setting is one of the words, which have a blank between them. */
static int slurm_check_word(const struct settings *s, const char *name, const char *words,
			    struct error *err)
{
	const char *value = slurm_value(s, name);

	if (!*value || strstr(arena_printf(s->wish->arena, " %s ", words),
			      arena_printf(s->wish->arena, " %s ", value)))
		return 0;
	return error_set(err, ERROR_USAGE, "--set %s=%s: it is one of: %s", name, value, words);
}

/* What sbatch(1) takes, as extended regular expressions. */
static const struct slurm_form {
	const char *setting, *form, *needed;
} slurm_forms[] = {
	{"time", "([0-9]+-[0-9]+(:[0-9]+){0,2}|[0-9]+(:[0-9]+){0,2}|UNLIMITED|INFINITE)",
	 "minutes, HOURS:MINUTES:SECONDS, DAYS-HOURS or UNLIMITED are needed"},
	{"mem", "[0-9]+[kKmMgGtT]?[bB]?", "a size is needed, as 64G"},
	{"mem-per-gpu", "[0-9]+[kKmMgGtT]?[bB]?", "a size is needed, as 64G"},
	{"mem-per-cpu", "[0-9]+[kKmMgGtT]?[bB]?", "a size is needed, as 64G"},
	{"tmp", "[0-9]+[kKmMgGtT]?[bB]?", "a size is needed, as 64G"},
	{"cpus-per-task", "0*[1-9][0-9]*", "a number is needed"},
	{"cpus-per-gpu", "0*[1-9][0-9]*", "a number is needed"},
	{"threads-per-core", "0*[1-9][0-9]*", "a number is needed"},
	{"nice", "-?[0-9]+", "a number is needed"},
	{"array", "[0-9]+(-[0-9]+(:[0-9]+)?)?(,[0-9]+(-[0-9]+(:[0-9]+)?)?)*(%[0-9]+)?",
	 "numbers are needed, as 0-9, 1,3,7 or 0-99%4"},
	{"signal",
	 "(R:)?([0-9]+|(SIG)?(HUP|INT|QUIT|ABRT|KILL|ALRM|TERM|USR1|USR2|URG|CONT|STOP|TSTP|TTIN|TTOU))"
	 "(@[0-9]+)?",
	 "a signal and seconds before the limit are needed, as TERM@60"},
	{"mail-type",
	 "(NONE|BEGIN|END|FAIL|REQUEUE|ALL|INVALID_DEPEND|STAGE_OUT|TIME_LIMIT|TIME_LIMIT_(90|80|50)|ARRAY_TASKS|,)+",
	 "it takes BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, ALL and the like, with ',' between"},
};

static int slurm_check_forms(const struct settings *s, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(slurm_forms); i++) {
		const struct slurm_form *form = &slurm_forms[i];
		const char *value = slurm_value(s, form->setting);
		regex_t compiled;
		int rc;

		if (!*value)
			continue;
		rc = regcomp(&compiled, arena_printf(s->wish->arena, "^%s$", form->form),
			     REG_EXTENDED | REG_ICASE | REG_NOSUB);
		if (rc == 0) {
			rc = regexec(&compiled, value, 0, NULL, 0);
			regfree(&compiled);
		}
		if (rc != 0)
			return error_set(err, ERROR_USAGE, "--set %s=%s: %s", form->setting, value,
					 form->needed);
	}
	return 0;
}

/* sbatch(1): of these two the one excludes the other. */
static const char *const slurm_rivals[][2] = {
	{"mem", "mem-per-cpu"},		{"mem", "mem-per-gpu"},
	{"mem-per-cpu", "mem-per-gpu"}, {"cpus-per-task", "cpus-per-gpu"},
	{"hint", "threads-per-core"},
};

static int slurm_check_rivals(const struct settings *s, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(slurm_rivals); i++) {
		const char *one = slurm_rivals[i][0], *other = slurm_rivals[i][1];

		if (*slurm_value(s, one) && *slurm_value(s, other))
			return error_set(
				err, ERROR_USAGE,
				"--set %s=%s and --set %s=%s exclude each other for sbatch; say one of them",
				one, slurm_value(s, one), other, slurm_value(s, other));
	}
	return 0;
}

/* sbatch(1), --signal: without "B:" the steps get it, and their ranks; with it bash alone, which ends with its steps. */
static int slurm_check_signal(const struct settings *s, struct error *err)
{
	const char *value = slurm_value(s, "signal");
	const char *colon = strchr(value, ':');

	if (!colon || strspn(value, "BbRr") != (size_t)(colon - value) ||
	    strcspn(value, "Bb") > (size_t)(colon - value))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"--set signal=%s: with B: the script's own shell gets it, and the ranks do not: it would end the job; say --set signal=%s, which the ranks get",
		value, colon + 1);
}

/* Where no image takes them, the script exports the variables, and bash ends at a name that it does not take. */
static int slurm_check_env(const struct settings *s, struct error *err)
{
	static const char readonly[] = "BASHOPTS;BASH_VERSINFO;EUID;PPID;SHELLOPTS;UID";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	for (const char *const *pair = export_env(s->wish); *pair; pair++) {
		size_t length = strcspn(*pair, "=");
		const char *name = arena_strndup(s->wish->arena, *pair, length);

		if (length && !strchr("0123456789", *name) && strspn(name, letters) == length &&
		    !list_has(readonly, name, length))
			continue;
		return error_set(
			err, ERROR_USAGE,
			"the variable '%s' of the job or of container.env: bash exports none of that name; without an image it takes letters, digits and '_', and UID and the like are its own",
			name);
	}
	return 0;
}

/* Each becomes a part of an #SBATCH line, which no shell reads and a line end would end. */
int slurm_check_settings(const struct exporter *exporter, const struct export_wish *wish,
			 const char *container, struct error *err)
{
	const struct settings all = {exporter, wish}, *s = &all;
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:,@%/+=*&|^[]()?-";
	const char *memory = wish->cluster->container.memory;
	uint64_t bytes;

	for (const char *const *pair = wish->settings; *pair; pair++)
		if ((*pair)[strspn(*pair, allowed)])
			return error_set(err, ERROR_USAGE,
					 "--set %s: '%c' cannot stand in an option of sbatch",
					 *pair, (*pair)[strspn(*pair, allowed)]);
	if (slurm_check_word(s, "container", "auto pyxis apptainer none", err) < 0 ||
	    slurm_check_word(s, "gpu-option", "gpus-per-node gres none", err) < 0 ||
	    slurm_check_word(s, "exclusive", "yes no user mcs", err) < 0 ||
	    slurm_check_word(s, "requeue", "yes no", err) < 0 || slurm_check_rivals(s, err) < 0 ||
	    slurm_check_signal(s, err) < 0 || slurm_check_forms(s, err) < 0 ||
	    (strcmp(container, "none") == 0 && slurm_check_env(s, err) < 0))
		return -1;
	if (*memory && !parse_bytes(memory, &bytes) && !*slurm_value(s, "mem"))
		return error_set(
			err, ERROR_USAGE,
			"container.memory: %s: sbatch wants a whole number; say --set mem=SIZE, as 1536M",
			memory);
	if (strcmp(container, "none") != 0 && !*wish->image)
		return error_set(
			err, ERROR_USAGE,
			"--set container=%s needs an image in a registry, and ringup.lock names none; 'ringup up' or 'ringup push' puts it there",
			container);
	return 0;
}
