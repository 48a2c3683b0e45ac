/* SPDX-License-Identifier: MIT */
#include "plan/arch.h"

#include "core/str.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *arch, *image;
	const char *names[4]; /* others that it has */
} arch_known[] = {
	{"x86_64", "amd64", {"amd64", "x86-64", "x64"}},
	{"aarch64", "arm64", {"arm64", "sbsa", "arm64-sbsa"}},
};

const char *arch_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(arch_known); i++) {
		if (strcmp(arch_known[i].arch, name) == 0)
			return arch_known[i].arch;
		for (const char *const *other = arch_known[i].names; *other; other++)
			if (strcmp(*other, name) == 0)
				return arch_known[i].arch;
	}
	return NULL;
}

const char *arch_of_image(const char *arch)
{
	for (size_t i = 0; i < ARRAY_LEN(arch_known); i++)
		if (strcmp(arch_known[i].arch, arch) == 0)
			return arch_known[i].image;
	return arch;
}

const char *arch_of_platform(const char *platform)
{
	static const char os[] = "linux/";

	if (!starts_with(platform, os))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(arch_known); i++)
		if (strcmp(platform + strlen(os), arch_known[i].image) == 0)
			return arch_known[i].arch;
	return NULL;
}
