/* SPDX-License-Identifier: MIT */
#include "resolver/platforms.h"

#include "core/str.h"
#include "resolver/processor.h"

#include <string.h>

#define PLATFORMS 2 /* what stacks are for (plan/arch.h) */

static const char *const platforms_all[PLATFORMS] = {ARCH_DEFAULT, "aarch64"};

static const char platforms_free[] = "driver;gpu;gcc;glibc;cudnn";

/* --- which ----------------------------------------------------------------------------------- */

/* The processor of the host; those that nothing is known of count as the first. */
static const char *platforms_host(const struct facts *facts)
{
	const char *arch = facts->arch ? arch_by_name(facts->arch) : NULL;

	return arch ? arch : platforms_all[0];
}

static bool platforms_is_wanted(const struct resolve_input *input, const char *arch)
{
	const char *const *platform = input->platforms;

	for (; platform && *platform; platform++)
		if (strcmp(arch_of_platform(*platform), arch) == 0)
			return true;
	if (input->platforms && *input->platforms)
		return false;
	for (size_t i = 0; i < input->fact_count; i++)
		if (strcmp(platforms_host(&input->facts[i]), arch) == 0)
			return true;
	return false;
}

/* Fills `arch` with the processors that are wanted; none when requests, GPUs or the lock decide. */
static int platforms_wanted(const struct resolve_input *input, struct arena *arena,
			    const char *arch[static PLATFORMS], size_t *count, struct error *err)
{
	const char *asked;

	*count = 0;
	if (processor_asked(input, arena, &asked, err) < 0)
		return -1;
	for (size_t i = 0; i < PLATFORMS && !asked; i++)
		if (platforms_is_wanted(input, platforms_all[i]))
			arch[(*count)++] = platforms_all[i];
	return 0;
}

/* The question for one processor, with its hosts. */
static struct resolve_input platforms_part(const struct resolve_input *input, const char *arch,
					   struct arena *arena)
{
	struct resolve_input part = *input;
	struct facts *facts = ARENA_ARRAY(arena, input->fact_count + 1, struct facts);

	part.arch = arch;
	part.facts = facts;
	part.fact_count = 0;
	for (size_t i = 0; i < input->fact_count; i++)
		if (strcmp(platforms_host(&input->facts[i]), arch) == 0)
			facts[part.fact_count++] = input->facts[i];
	return part;
}

/* --- the same versions ----------------------------------------------------------------------- */

/* The first version that differs and may not, or NULL. */
static const struct choice *platforms_difference(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct choice *own = &a->choices[i], *twin = plan_choice(b, own->name);

		if (!list_has(platforms_free, own->name, strlen(own->name)) &&
		    (!twin || strcmp(own->version, twin->version) != 0))
			return own;
	}
	return NULL;
}

static int platforms_differ(const struct plan *a, const struct plan *b, struct error *err)
{
	const struct choice *own = platforms_difference(a, b), *twin;
	bool swapped = !own;

	if (swapped)
		own = platforms_difference(b, a);
	if (!own)
		return 0;
	twin = plan_choice(swapped ? a : b, own->name);
	error_set(err, ERROR_UNSATISFIED,
		  "no stack of the same versions for both processors: %s is %s on %s and %s on %s",
		  own->name, own->version, plan_arch(swapped ? b : a),
		  twin ? twin->version : "not there", plan_arch(swapped ? a : b));
	return error_advise(
		err,
		"ask for a version of %s that both have ('ringup matrix %s'), or make a cluster of each",
		own->name, own->name);
}

static int platforms_resolve(const struct catalog *catalog, const struct resolve_input *input,
			     const char *arch, const struct plan *keep, struct arena *arena,
			     struct plan *plan, struct unsatisfied *why, struct error *err)
{
	struct resolve_input part = platforms_part(input, arch, arena);

	if (keep) {
		part.keep = keep;
		part.move = NULL;
	}
	*why = (struct unsatisfied){0};
	return resolve(catalog, &part, arena, plan, why, err) < 0 ? error_wrap(err, "for %s", arch)
								  : 0;
}

int resolve_platforms(const struct catalog *catalog, const struct resolve_input *input,
		      struct arena *arena, struct plan *plan, struct unsatisfied *why,
		      struct error *err)
{
	struct plan *other = ARENA_NEW(arena, struct plan);
	const char *arch[PLATFORMS];
	struct error ignored = {0};
	size_t count;

	if (platforms_wanted(input, arena, arch, &count, err) < 0)
		return -1;
	if (count < PLATFORMS) {
		struct resolve_input own = *input;

		if (count && input->platforms && *input->platforms)
			own.arch = arch[0];
		return resolve(catalog, &own, arena, plan, why, err);
	}
	if (platforms_resolve(catalog, input, arch[0], NULL, arena, plan, why, err) < 0 ||
	    platforms_resolve(catalog, input, arch[1], plan, arena, other, why, err) < 0)
		return -1;
	/* what the second lacks, the first may have in a version that the second has */
	if (platforms_differ(plan, other, &ignored) < 0 &&
	    platforms_resolve(catalog, input, arch[0], other, arena, plan, why, err) < 0)
		return -1;
	plan->other = other;
	return platforms_differ(plan, other, err);
}

int platforms_check(const struct catalog *catalog, const struct resolve_input *input,
		    struct plan *plan, struct arena *arena, struct unsatisfied *why,
		    struct error *err)
{
	struct plan *other = plan->other ? ARENA_NEW(arena, struct plan) : NULL;
	struct resolve_input part;
	const char *arch[PLATFORMS];
	size_t count;

	if (!other) {
		if (platforms_wanted(input, arena, arch, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			if (count == PLATFORMS && input->platforms && *input->platforms &&
			    strcmp(arch[i], plan_arch(plan)) != 0)
				return error_set(
					err, ERROR_UNSATISFIED,
					"the stack is for %s, and image.platforms has both",
					plan_arch(plan));
		return plan_check(catalog, input, plan, arena, why, err);
	}
	part = platforms_part(input, plan_arch(plan), arena);
	if (plan_check(catalog, &part, plan, arena, why, err) < 0)
		return -1;
	*other = *plan->other;
	part = platforms_part(input, plan_arch(other), arena);
	if (plan_check(catalog, &part, other, arena, why, err) < 0)
		return -1;
	plan->other = other;
	return 0;
}
