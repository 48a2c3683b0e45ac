/* SPDX-License-Identifier: MIT */
/* A GPU's row by the name that people and nvidia-smi give it. */
#include "plan/request.h"

#include <ctype.h>
#include <string.h>

#define TOKENS_MAX 12
#define TOKEN_BYTES 24

struct tokens {
	size_t count;
	char list[TOKENS_MAX][TOKEN_BYTES];
};

/* Words that say who made it or how much memory it has, not which GPU it is. */
static bool is_noise(const char *token)
{
	static const char *const words[] = {"nvidia", "tesla", "geforce", "generation", "gpu",
					    "hbm2",   "hbm2e", "hbm3",	  "hbm3e",	NULL};
	size_t digits = strspn(token, "0123456789");

	for (const char *const *word = words; *word; word++)
		if (strcmp(token, *word) == 0)
			return true;
	return digits && strcmp(token + digits, "gb") == 0;
}

static void add_token(struct tokens *tokens, const char *text, size_t length)
{
	char *token = tokens->list[tokens->count];

	if (!length || length >= TOKEN_BYTES || tokens->count == TOKENS_MAX)
		return;
	for (size_t i = 0; i < length; i++)
		token[i] = (char)tolower((unsigned char)text[i]);
	token[length] = '\0';
	tokens->count += !is_noise(token);
}

/* Splits at everything but letters and digits, and "rtx3090" behind its letters. */
static void tokenize(const char *text, struct tokens *tokens)
{
	tokens->count = 0;
	while (*text) {
		size_t length = 0, letters;

		while (isalnum((unsigned char)text[length]))
			length++;
		letters = strncasecmp(text, "rtx", 3) == 0 || strncasecmp(text, "gtx", 3) == 0 ? 3
											       : 0;
		if (letters && letters < length) {
			add_token(tokens, text, letters);
			add_token(tokens, text + letters, length - letters);
		} else {
			add_token(tokens, text, length);
		}
		text += length;
		text += *text != '\0';
	}
}

static size_t shared(const struct tokens *a, const struct tokens *b)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (strcmp(a->list[i], b->list[j]) == 0) {
				count++;
				break;
			}
	return count;
}

/* Higher is nearer; negative: one does not hold the other. */
static int score(const struct tokens *asked, const struct tokens *product)
{
	size_t common = shared(asked, product);

	if (!common || (common != asked->count && common != product->count))
		return -1;
	return (int)(common * 16) - (int)(asked->count - common) - (int)(product->count - common);
}

const struct value *gpu_find(const struct model *model, const char *product)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const struct value *best = NULL;
	bool ambiguous = false;
	int highest = -1;
	struct tokens asked, tokens;

	tokenize(product, &asked);
	for (size_t i = 0; i < gpus->count; i++) {
		const struct value *gpu = &gpus->values[i];
		int now;

		tokenize(gpu->version, &tokens);
		now = score(&asked, &tokens);
		if (now > highest) {
			highest = now;
			best = gpu;
			ambiguous = false;
		} else if (best && now == highest) {
			ambiguous |= strcmp(value_cell(best, "sm"), value_cell(gpu, "sm")) != 0;
		}
	}
	return ambiguous ? NULL : best;
}
