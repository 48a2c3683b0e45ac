/* SPDX-License-Identifier: MIT */
#include "sgd/digits.h"
#include "sgd/digits_data.h"

#include <stdlib.h>

#define IMAGES_PER_LINE 5

struct digit *digits_load(void)
{
	struct digit *digits = calloc(DIGITS_COUNT, sizeof(*digits));

	if (!digits)
		abort();
	for (int i = 0; i < DIGITS_COUNT; i++) {
		const char *text =
			digits_data[i / IMAGES_PER_LINE] + i % IMAGES_PER_LINE * (1 + DIGIT_PIXELS);

		digits[i].label = text[0] - '0';
		for (int pixel = 0; pixel < DIGIT_PIXELS; pixel++)
			digits[i].pixels[pixel] = (float)(text[1 + pixel] - 'a') / 16;
	}
	return digits;
}
