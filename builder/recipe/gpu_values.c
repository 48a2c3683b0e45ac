/* SPDX-License-Identifier: MIT */
#include "builder/recipe/gpu_values.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

struct gpu_texts {
	struct str gencode, torch, flash, engine;
	bool knows_all;
};

/* "8.0" of the product's row, or of sm_80; "" when it is not known. */
static const char *gpu_capability(const struct table *gpus, ssize_t row, const char *product,
				  struct arena *arena)
{
	size_t digits = starts_with(product, "sm_") ? strlen(product) - strlen("sm_") : 0;

	if (row >= 0)
		return table_cell(gpus, (size_t)row, "sm");
	return digits > 1 ? arena_printf(arena, "%.*s.%s", (int)digits - 1, product + 3,
					 product + 3 + digits - 1)
			  : "";
}

static ssize_t product_row(const struct table *gpus, const char *product)
{
	for (size_t row = 0; gpus && row < gpus->row_count; row++)
		if (strcmp(table_cell(gpus, row, "version"), product) == 0)
			return (ssize_t)row;
	return -1;
}

/*
 * torch's builds take "8.6;9.0", Transformer Engine's "86;90". flash-attn makes code for the first
 * capability of each generation only, "80;90".
 */
static void add_capability(struct gpu_texts *texts, const char *sm, struct arena *arena)
{
	const char *between = texts->torch.length ? ";" : "", *dot = strchr(sm, '.');
	const char *digits, *word;

	if (!dot) {
		texts->knows_all = false;
		return;
	}
	digits = arena_printf(arena, "%.*s%s", (int)(dot - sm), sm, dot + 1);
	word = arena_printf(arena, "-gencode=arch=compute_%s,code=sm_%s", digits, digits);
	if (texts->gencode.length && strstr(texts->gencode.text, word))
		return; /* another product of the same capability */
	str_addf(&texts->gencode, "%s%s", texts->gencode.length ? " " : "", word);
	str_addf(&texts->torch, "%s%s", between, sm);
	str_addf(&texts->flash, "%s%ld0", between, strtol(sm, NULL, 10));
	str_addf(&texts->engine, "%s%s", between, digits);
}

static void add_product(struct gpu_texts *texts, const struct table *gpus, const char *product,
			struct arena *arena, struct values *values)
{
	ssize_t row = product_row(gpus, product);
	const char *class = row < 0 ? "" : table_cell(gpus, (size_t)row, "class");

	if (strcmp(class, "geforce") == 0 || strcmp(class, "titan") == 0)
		values_set(values, "gpu.class", class);
	add_capability(texts, gpu_capability(gpus, row, product, arena), arena);
}

void gpu_values(const struct plan *plan, const struct table *gpus, struct arena *arena,
		struct values *values)
{
	const struct choice *gpu = plan_choice(plan, "gpu");
	struct gpu_texts texts = {STR_INIT, STR_INIT, STR_INIT, STR_INIT, true};
	const char *archs = "", *gencode = "";

	for (const char *at = gpu ? gpu->version : ""; *at; at += strspn(at, ", ")) {
		size_t length = strcspn(at, ",");

		add_product(&texts, gpus, arena_strndup(arena, at, length), arena, values);
		at += length;
	}
	if (texts.knows_all && texts.torch.length) {
		gencode = arena_strdup(arena, texts.gencode.text);
		archs = arena_printf(
			arena,
			" TORCH_CUDA_ARCH_LIST='%s' FLASH_ATTN_CUDA_ARCHS='%s' NVTE_CUDA_ARCHS='%s'",
			texts.torch.text, texts.flash.text, texts.engine.text);
	}
	values_set(values, "gpu.gencode", gencode);
	values_set(values, "beside.archs", archs);
	str_release(&texts.gencode);
	str_release(&texts.torch);
	str_release(&texts.flash);
	str_release(&texts.engine);
}
