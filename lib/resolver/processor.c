/* SPDX-License-Identifier: MIT */
#include "resolver/processor.h"

#include "plan/arch.h"
#include "resolver/rules/rule_gpu.h"

#include <string.h>

bool processor_is_request(const struct requirement *req)
{
	return strcmp(req->name, "arch") == 0;
}

/* --- what is asked for --------------------------------------------------------------------- */

static int processor_take(const char *name, const char *text, const char **arch, struct error *err)
{
	const char *known = arch_by_name(name);

	if (!known)
		return error_set(err, ERROR_USAGE,
				 "'%s': no stack is for the processor '%s', only for " ARCH_LIST,
				 text, name);
	if (*arch && strcmp(*arch, known) != 0)
		return error_set(
			err, ERROR_USAGE,
			"'%s': another request is for %s, and a stack is for one processor", text,
			*arch);
	*arch = known;
	return 0;
}

int processor_asked(const struct resolve_input *input, struct arena *arena, const char **arch,
		    struct error *err)
{
	struct error ignored = {0};
	struct requirement req;

	*arch = NULL;
	if (input->arch && processor_take(input->arch, "--arch", arch, err) < 0)
		return -1;
	for (const char *const *text = input->requests; *text; text++) {
		if (requirement_parse(*text, arena, &req, &ignored) < 0 ||
		    !processor_is_request(&req))
			continue;
		if (req.clause_count != 1 || req.clauses[0].operator!= VERSION_EQ)
			return error_set(err, ERROR_USAGE,
					 "'%s': a processor is named with ==, as in arch==aarch64",
					 *text);
		if (processor_take(req.clauses[0].version, *text, arch, err) < 0)
			return -1;
	}
	return 0;
}

/* --- what the hosts are -------------------------------------------------------------------- */

static const char *processor_of(const struct facts *facts)
{
	return facts->arch && *facts->arch ? facts->arch : NULL;
}

const char *processor_of_hosts(const struct resolve_input *input)
{
	for (size_t i = 0; i < input->fact_count; i++) {
		const char *arch = processor_of(&input->facts[i]);

		if (arch && arch_by_name(arch))
			return arch_by_name(arch);
	}
	return NULL;
}

const char *processor_of_gpus(const struct model *model, const struct units *units)
{
	for (size_t i = 0; i < units->count; i++) {
		const char *arch = units->list[i].sm ? gpu_arch(model, &units->list[i]) : "";

		if (arch_by_name(arch))
			return arch_by_name(arch);
	}
	return NULL;
}

/* "a, b": the hosts that have this processor. */
static const char *processor_hosts(const struct resolve_input *input, const char *arch,
				   struct arena *arena)
{
	const char *hosts = "";

	for (size_t i = 0; i < input->fact_count; i++) {
		const char *own = processor_of(&input->facts[i]);

		if (own && strcmp(own, arch) == 0)
			hosts = arena_printf(arena, "%s%s%s", hosts, *hosts ? ", " : "",
					     input->facts[i].host);
	}
	return hosts;
}

/* The hosts of one processor, and what they can be a cluster of. */
static void processor_add_group(const struct resolve_input *input, const char *arch,
				const char *because, struct arena *arena, struct unsatisfied *why)
{
	const char *hosts = processor_hosts(input, arch, arena);

	if (!*hosts)
		return;
	unsatisfied_add(why, arena_printf(arena, "host %s (%s)", hosts, arch), because, "");
	if (arch_by_name(arch) && why->group_count < CONFLICTS_MAX)
		why->groups[why->group_count++] =
			(struct group){arena_printf(arena, "host %s", hosts),
				       arena_printf(arena, "arch==%s", arch)};
}

bool processor_differs(const struct resolve_input *input, const char *arch, bool cpu,
		       struct arena *arena, struct unsatisfied *why, const char **because)
{
	for (size_t i = 0; i < input->fact_count; i++) {
		const char *own = processor_of(&input->facts[i]);
		const char *here = processor_hosts(input, arch, arena);

		if (!own || strcmp(own, arch) == 0 || (cpu && !arch_by_name(own)))
			continue;
		*because = !arch_by_name(own)
				   ? arena_printf(arena, "it is %s, and stacks are for " ARCH_LIST,
						  own)
			   : *here ? "an image is for one processor, and the hosts have two"
				   : arena_printf(arena, "it is %s, and the stack is for %s", own,
						  arch);
		if (*here && arch_by_name(own))
			processor_add_group(input, arch, *because, arena, why);
		processor_add_group(input, own, *because, arena, why);
		*because = arena_printf(arena, "host %s: it is %s, and the stack is for %s",
					processor_hosts(input, own, arena), own, arch);
		return true;
	}
	return false;
}
