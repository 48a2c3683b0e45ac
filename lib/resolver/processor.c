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

/* "aarch64", a word that no stack is for, or NULL. */
static const char *processor_of(const struct facts *facts)
{
	const char *known = facts->arch ? arch_by_name(facts->arch) : NULL;

	return known ? known : facts->arch && *facts->arch ? facts->arch : NULL;
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

/* "host a", "hosts a, b": those that have this processor; or "". */
static const char *processor_hosts(const struct resolve_input *input, const char *arch,
				   struct arena *arena)
{
	const char *hosts = "";
	size_t count = 0;

	for (size_t i = 0; i < input->fact_count; i++) {
		const char *own = processor_of(&input->facts[i]);

		if (own && strcmp(own, arch) == 0)
			hosts = arena_printf(arena, "%s%s%s", hosts, count++ ? ", " : "",
					     input->facts[i].host);
	}
	return count ? arena_printf(arena, "host%s %s", count > 1 ? "s" : "", hosts) : "";
}

/* The first processor of a host that is not `arch`, or NULL. */
static const char *processor_other(const struct resolve_input *input, const char *arch, bool cpu)
{
	for (size_t i = 0; i < input->fact_count; i++) {
		const char *own = processor_of(&input->facts[i]);

		if (own && strcmp(own, arch) != 0 && (!cpu || arch_by_name(own)))
			return own;
	}
	return NULL;
}

/* The hosts of one processor, and what they can be a cluster of. */
static void processor_add_group(const char *hosts, const char *arch, struct arena *arena,
				struct unsatisfied *why)
{
	if (why->group_count < CONFLICTS_MAX)
		why->groups[why->group_count++] =
			(struct group){hosts, arena_printf(arena, "arch==%s", arch)};
}

bool processor_differs(const struct resolve_input *input, const char *arch, bool cpu,
		       struct arena *arena, struct unsatisfied *why, const char **because)
{
	static const char two[] = "an image is for one processor, and the hosts have two";
	const char *own = processor_other(input, arch, cpu), *hosts, *here, *is;
	bool is_known = own && arch_by_name(own);

	if (!own)
		return false;
	hosts = processor_hosts(input, own, arena);
	here = processor_hosts(input, arch, arena);
	is = arena_printf(arena, "%s %s", strchr(hosts, ',') ? "they are" : "it is", own);
	*because = is_known ? arena_printf(arena, "%s, and the stack is for %s", is, arch)
			    : arena_printf(arena, "%s, and stacks are for " ARCH_LIST, is);
	if (*here && is_known) {
		unsatisfied_add(why, arena_printf(arena, "%s (%s)", here, arch), two, "");
		processor_add_group(here, arch, arena, why);
		processor_add_group(hosts, own, arena, why);
	}
	unsatisfied_add(why, arena_printf(arena, "%s (%s)", hosts, own),
			*here && is_known ? two : *because, "");
	*because = arena_printf(arena, "%s: %s", hosts, *because);
	return true;
}
