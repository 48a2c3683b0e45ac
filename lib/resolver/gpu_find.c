/* SPDX-License-Identifier: MIT */
/*
 * Finds a GPU's row by the name that people and nvidia-smi use; has the known compute capabilities.
 */
#include "resolver/gpu_find.h"

#include "resolver/request.h"

#include "core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 12
#define TOKEN_BYTES 24

struct tokens {
	size_t count;
	char list[TOKENS_MAX][TOKEN_BYTES];
};

/* Words for the maker or the memory, which do not say which GPU it is. */
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

/* What people write behind a model's number without a blank: "1080ti", "h100nvl", "6000ada". */
static bool is_suffix(const char *text, size_t length)
{
	static const char *const words[] = {"ti",  "super", "ada",  "nvl",  "pcie",
					    "sxm", "sxm2",  "sxm4", "sxm5", NULL};

	for (const char *const *word = words; *word; word++)
		if (strlen(*word) == length && strncasecmp(*word, text, length) == 0)
			return true;
	return false;
}

/* Adds a word; "rtx3090" and "1080ti" are two words each, "rtx6000ada" is three. */
static void add_word(struct tokens *tokens, const char *word, size_t length)
{
	size_t letters =
		strncasecmp(word, "rtx", 3) == 0 || strncasecmp(word, "gtx", 3) == 0 ? 3 : 0;
	size_t number;

	if (letters < length) {
		add_token(tokens, word, letters);
		word += letters;
		length -= letters;
	}
	/* up to its number, with the letters before it: "h100" of "h100nvl" */
	number = strcspn(word, "0123456789");
	number += number < length ? strspn(word + number, "0123456789") : 0;
	if (number >= length || !isdigit((unsigned char)word[number - 1]) ||
	    !is_suffix(word + number, length - number))
		number = length;
	add_token(tokens, word, number);
	add_token(tokens, word + number, length - number);
}

/* Splits at everything but letters and digits. */
static void tokenize(const char *text, struct tokens *tokens)
{
	tokens->count = 0;
	while (*text) {
		size_t length = 0;

		while (isalnum((unsigned char)text[length]))
			length++;
		add_word(tokens, text, length);
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

/* Higher is nearer. Negative when neither name contains the other. */
static int score(const struct tokens *asked, const struct tokens *product)
{
	size_t common = shared(asked, product);

	if (!common || (common != asked->count && common != product->count))
		return -1;
	return (int)(common * 16) - (int)(asked->count - common) - (int)(product->count - common);
}

const struct value *gpu_find(const struct model *model, const char *product,
			     const struct value **twin)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const struct value *best = NULL;
	int highest = -1;
	struct tokens asked, tokens;

	*twin = NULL;
	tokenize(product, &asked);
	for (size_t i = 0; i < gpus->count; i++) {
		const struct value *gpu = &gpus->values[i];
		int now;

		tokenize(gpu->version, &tokens);
		now = score(&asked, &tokens);
		if (now > highest) {
			highest = now;
			best = gpu;
			*twin = NULL;
		} else if (best && now == highest &&
			   strcmp(value_cell(best, "sm"), value_cell(gpu, "sm")) != 0) {
			*twin = gpu;
		}
	}
	return best;
}

/* --- compute capabilities ------------------------------------------------------------------ */

/*
 * Source: CUDA C++ Programming Guide, "Compute Capabilities"; nvcc --list-gpu-arch. 10.1 is 11.0
 * since CUDA 13. Newer ones come from their rows in gpu.csv.
 */
static const char *const capabilities[] = {
	"2.0", "2.1", "3.0", "3.2",  "3.5",  "3.7",  "5.0",  "5.2",  "5.3",
	"6.0", "6.1", "6.2", "7.0",  "7.2",  "7.5",  "8.0",  "8.6",  "8.7",
	"8.8", "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1",
};

/* 120 of "12.0". */
static long capability_number(const char *sm)
{
	const char *dot = strchr(sm, '.');

	return strtol(sm, NULL, 10) * 10 + (dot ? strtol(dot + 1, NULL, 10) : 0);
}

/* Lower is nearer: "sm_12" lacks a digit of sm_120, "sm_99" has the major number of sm_90. */
static long distance(long asked, long known)
{
	long apart = labs(asked - known);

	if (known / 10 == asked)
		return known % 10;
	return asked / 10 == known / 10 ? 10 + apart : 100 + apart;
}

const char *gpu_capability_nearest(const struct model *model, const char *sm)
{
	const struct domain *gpus = &model->domains[COMPONENT_GPU];
	const char *best = NULL;

	for (size_t i = 0; i < ARRAY_LEN(capabilities) + gpus->count; i++) {
		const char *known =
			i < ARRAY_LEN(capabilities)
				? capabilities[i]
				: value_cell(&gpus->values[i - ARRAY_LEN(capabilities)], "sm");

		if (strcmp(known, sm) == 0)
			return known;
		if (!best || distance(capability_number(sm), capability_number(known)) <
				     distance(capability_number(sm), capability_number(best)))
			best = known;
	}
	return best;
}
