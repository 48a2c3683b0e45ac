/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_stack.h"

#include "core/quote.h"
#include "deployer/bringup/host_stack.h"
#include "deployer/job/versions.h"

#include <string.h>

/* What stands before the script's own arguments: sh -c TEXT NAME. */
#define SCRIPT_WORDS 4

/* Whether one of the script's arguments asks for anything. */
static bool stack_is_asked(const char *const *arguments)
{
	bool any = false;

	for (; *arguments; arguments++)
		any = any || (**arguments && strcmp(*arguments, "0") != 0);
	return any;
}

int slurm_stack_add(const struct export_wish *wish, const char *where, struct str *out,
		    struct error *err)
{
	struct words words = WORDS_INIT(wish->arena);
	const char *const *arguments;

	if (!wish->plan || wish->job.mixed_versions)
		return 0;
	if (job_versions_words(&wish->job, wish->gpus_per_node, &words, err) < 0)
		return -1;
	arguments = words_list(&words) + SCRIPT_WORDS;
	if (!stack_is_asked(arguments))
		return 0;
	str_addf(
		out,
		"\n# Each node says which libraries the job would load there: those of ringup.lock, or it does not begin.\n"
		"says=$(cat <<'SAYS'\n%sSAYS\n)\n"
		"said=$(srun --nodes=\"$SLURM_JOB_NUM_NODES\" --ntasks=\"$SLURM_JOB_NUM_NODES\" --ntasks-per-node=1%s \\\n"
		"\tbash -c 'sh -c \"$@\" | sed \"s/^/$SLURMD_NODENAME /\"' node \"$says\" versions ",
		words.list[SCRIPT_WORDS - 2], where);
	quote_words(out, arguments);
	str_add(out, " | sort)\n"
		     "declare -A nodes\n"
		     "differs=\n"
		     "while read -r node line; do\n"
		     "\twhat=\n"
		     "\tcase $line in\n");
	host_stack_add_cases(wish->plan, out);
	str_add(out,
		"\tesac\n"
		"\t[ -z \"$what\" ] || { nodes[$what]+=,$node; differs=yes; }\n"
		"done <<<\"$said\"\n"
		"[ -z \"$differs\" ] || for what in \"${!nodes[@]}\"; do\n"
		"\techo \"$(scontrol show hostlist \"${nodes[$what]#,}\") has $what; the script of 'ringup recipe --format script'"
		" installs the lock's, and 'ringup run --mixed-versions' runs with what is there\" >&2\n"
		"done\n"
		"[ -z \"$differs\" ]\n");
	return 0;
}
