/* SPDX-License-Identifier: MIT */
#include "builder/recipe/beside.h"

#include "core/quote.h"
#include "core/str.h"
#include "plan/component.h"

#include <string.h>

struct beside {
	struct str wheels, indexed, sdists, built, checked, modules, nvcc, with, replaced;
};

#define PACKAGE_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

static void beside_add_word(struct str *words, const char *word)
{
	str_add_char(words, ' ');
	quote_word(words, word);
}

/* "torchvision==0.10.1+cu111" beside torch==1.9.1+cu111; xformers has no such versions. */
static const char *beside_local(const struct values *values, const char *pip, const char *kind,
				struct arena *arena)
{
	const char *plus = strchr(values_get(values, "torch.pip"), '+');

	return plus && strcmp(kind, "local") == 0 ? arena_printf(arena, "%s%s", pip, plus) : pip;
}

/* The names in " 'numpy<2' h5py", as alternatives of a regular expression. */
static void beside_add_names(struct str *names, const char *words)
{
	while (*(words += strcspn(words, PACKAGE_NAME))) {
		size_t length = strspn(words, PACKAGE_NAME);

		str_addf(names, "%s%.*s", names->length ? "|" : "", (int)length, words);
		words += length;
		words += strcspn(words, " ");
	}
}

static void beside_add(struct beside *all, const struct values *values, const struct choice *c,
		       struct arena *arena)
{
	const char *sdist = values_get(values, arena_printf(arena, "%s.sdist", c->name));
	const char *kind = values_get(values, arena_printf(arena, "%s.torch_index", c->name));
	const char *module = values_get(values, arena_printf(arena, "%s.module", c->name));
	const char *with = values_get(values, arena_printf(arena, "%s.with", c->name));

	if (starts_with(c->pip, c->name)) /* not nvidia-nvshmem-cu13, which nvshmem is on PyPI */
		str_addf(&all->checked, " %s==%s", c->name, c->version);
	else
		str_addf(&all->checked, " %s", c->pip);
	if (strcmp(values_get(values, arena_printf(arena, "%s.jit", c->name)), "nvcc") == 0)
		str_addf(&all->nvcc, "%s%s", all->nvcc.length ? " and " : "", c->name);
	if (*module)
		str_addf(&all->modules, ", %s", module);
	str_add(&all->with, with);
	beside_add_names(&all->replaced, with);
	if (*sdist) {
		str_addf(&all->sdists, "%s      '%s --hash=sha256:%s'",
			 all->sdists.length ? " \\\n" : "", sdist, c->sha256);
		str_addf(&all->built, "%s%s", all->built.length ? " and " : "", sdist);
	}
	if (strcmp(sdist, c->pip) == 0)
		return;
	beside_add_word(&all->wheels, c->pip);
	if (*kind)
		beside_add_word(&all->indexed, beside_local(values, c->pip, kind, arena));
}

void beside_values(const struct plan *plan, struct arena *arena, struct values *values)
{
	struct beside all = {STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT,
			     STR_INIT, STR_INIT, STR_INIT, STR_INIT};
	const char *replaced;
	const struct {
		const char *name;
		struct str *text;
	} lists[] = {
		{"beside.wheels", &all.wheels},	    {"beside.indexed", &all.indexed},
		{"beside.sdists", &all.sdists},	    {"beside.built", &all.built},
		{"beside.checked", &all.checked},   {"beside.modules", &all.modules},
		{"beside.nvcc", &all.nvcc},	    {"beside.with", &all.with},
		{"beside.replaced", &all.replaced},
	};

	for (size_t i = 0; i < plan->count; i++) {
		enum component c = component_by_name(plan->choices[i].name);

		if (c != COMPONENT_NONE && (COMPONENT_BIT(c) & COMPONENTS_BESIDE_TORCH))
			beside_add(&all, values, &plan->choices[i], arena);
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		values_set(values, lists[i].name,
			   lists[i].text->length ? arena_strdup(arena, lists[i].text->text) : "");
		str_release(lists[i].text);
	}
	replaced = values_get(values, "beside.replaced");
	if (*replaced)
		values_set(values, "beside.replaced",
			   arena_printf(arena, " | grep -vE '^(%s)=='", replaced));
}
