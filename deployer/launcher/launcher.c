/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include <string.h>

#define X(name) extern const struct launcher launcher_##name;
#include "launcher.list"
#undef X

const struct launcher *const launchers[] = {
#define X(name) &launcher_##name,
#include "launcher.list"
#undef X
	NULL};

const struct launcher *launcher_find(const char *name)
{
	for (const struct launcher *const *l = launchers; *l; l++)
		if (strcmp((*l)->name, name) == 0)
			return *l;
	return NULL;
}

int member_slots(const struct member *member)
{
	int gpus = *member->facts.gpus != '\0';

	for (const char *p = member->facts.gpus; *p; p++)
		gpus += *p == ';';
	if (member->host->slots)
		return member->host->slots;
	return gpus ? gpus : 1;
}
