/* SPDX-License-Identifier: MIT */
#include "deployer/job/roles.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define ROLE_DIGITS_MAX 6
#define ROLES_RANKS_MAX 1000000 /* ringup-job reads no rank above it */

static int roles_misuse(const char *text, const char *part, const struct job_role_kind *known,
			struct error *err)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (; known->name; known++)
		str_addf(&names, "%s%s", names.length ? ", " : "", known->name);
	return error_set(err, ERROR_USAGE,
			 "--roles %s: '%s' is no ROLE=NUMBER; the roles are %s, as in --roles %s",
			 text, part, names.text, "chief=1,worker=2,ps=1");
}

/* Reads "worker=2". */
static bool role_read(char *part, const struct job_role_kind *known, struct job_role *role)
{
	char *equals = strchr(part, '=');
	size_t digits = equals ? strspn(equals + 1, "0123456789") : 0;

	if (!digits || digits > ROLE_DIGITS_MAX || equals[1 + digits])
		return false;
	*role = (struct job_role){.count = (int)strtol(equals + 1, NULL, 10)};
	for (; known->name && !role->kind; known++)
		if (strlen(known->name) == (size_t)(equals - part) &&
		    strncmp(known->name, part, (size_t)(equals - part)) == 0)
			role->kind = known;
	return role->kind && role->count > 0;
}

static int roles_check(const char *text, const struct job_roles *roles, struct error *err)
{
	bool works = false;

	for (size_t i = 0; i < roles->count; i++)
		for (size_t k = 0; roles->list[i].kind->also && k < roles->count; k++)
			if (strcmp(roles->list[k].kind->name, roles->list[i].kind->also) == 0)
				return error_set(
					err, ERROR_USAGE,
					"--roles %s: '%s' and '%s' mean the same role, and a job has one of them",
					text, roles->list[i].kind->name, roles->list[i].kind->also);
	for (size_t i = 0; i < roles->count; i++) {
		const struct job_role_kind *kind = roles->list[i].kind;

		works |= !kind->serves;
		if (kind->most && job_role_count(roles, kind) > kind->most)
			return error_set(err, ERROR_USAGE,
					 "--roles %s: a job has at most %d rank with the role '%s'",
					 text, kind->most, kind->name);
	}
	if (!works)
		return error_set(err, ERROR_USAGE,
				 "--roles %s: all these ranks serve others, so the job would never "
				 "end; add ranks that work",
				 text);
	return 0;
}

int job_roles_parse(const char *text, const struct job_role_kind *known, struct arena *arena,
		    struct job_roles *roles, struct error *err)
{
	char *rest = arena_strdup(arena, text), *part;
	size_t parts = 1;

	for (const char *p = text; *p; p++)
		parts += *p == ',';
	*roles = (struct job_roles){.list = ARENA_ARRAY(arena, parts, struct job_role)};
	while ((part = strsep(&rest, ","))) {
		struct job_role *role = &roles->list[roles->count];

		if (!role_read(part, known, role))
			return roles_misuse(text, part, known, err);
		roles->count++;
		roles->ranks += role->count;
		if (roles->ranks > ROLES_RANKS_MAX)
			return roles_misuse(text, part, known, err);
	}
	return roles_check(text, roles, err);
}

const struct job_role_kind *job_role_of(const struct job_roles *roles, int rank, int *index)
{
	int first = 0;

	*index = 0;
	for (size_t i = 0; i < roles->count; i++) {
		const struct job_role *role = &roles->list[i];

		if (rank < first + role->count) {
			*index += rank - first;
			for (size_t k = 0; k < i; k++)
				*index += roles->list[k].kind == role->kind ? roles->list[k].count
									    : 0;
			return role->kind;
		}
		first += role->count;
	}
	return NULL;
}

int job_role_count(const struct job_roles *roles, const struct job_role_kind *kind)
{
	int count = 0;

	for (size_t i = 0; i < roles->count; i++)
		count += roles->list[i].kind == kind ? roles->list[i].count : 0;
	return count;
}
