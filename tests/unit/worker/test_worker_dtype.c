/* SPDX-License-Identifier: MIT */
/* The worker's 8-bit floating-point types: every number there and back, and everything in between
 * rounded to the nearest one, of two to the even one. */
#include "tests/unit/support.h"

#include "images/worker/collective/dtype.c"

#include <math.h>

struct format {
	float (*load)(uint8_t cell);
	uint8_t (*store)(float value);
	unsigned last; /* the largest number's bits */
	float most;
};

static const struct format formats[] = {
	{f8e4m3_load, f8e4m3_store, 0x7e, 448},
	{f8e5m2_load, f8e5m2_store, 0x7b, 57344},
};

static void every_number_comes_back(void **state)
{
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		assert_true(formats[f].load((uint8_t)formats[f].last) == formats[f].most);
		for (unsigned cell = 0; cell < 256; cell++) {
			float value = formats[f].load((uint8_t)cell);

			if (isnan(value))
				assert_true(isnan(formats[f].load(formats[f].store(value))));
			else
				assert_int_equal(formats[f].store(value), cell);
		}
	}
}

static void what_is_between_is_rounded_to_even(void **state)
{
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		for (unsigned cell = 0; cell < formats[f].last; cell++) {
			float low = formats[f].load((uint8_t)cell),
			      high = formats[f].load((uint8_t)(cell + 1)),
			      middle = (low + high) / 2;

			assert_int_equal(formats[f].store(middle), cell + (cell & 1));
			assert_int_equal(formats[f].store(nextafterf(middle, 0)), cell);
			assert_int_equal(formats[f].store(nextafterf(middle, high)), cell + 1);
			assert_int_equal(formats[f].store(-middle), 0x80 + cell + (cell & 1));
		}
	}
}

static void what_is_too_large(void **state)
{
	(void)state;
	assert_int_equal(f8e4m3_store(1e9f), 0x7e);
	assert_int_equal(f8e4m3_store(-INFINITY), 0xfe);
	assert_int_equal(f8e5m2_store(1e9f), 0x7c);
	assert_int_equal(f8e5m2_store(-INFINITY), 0xfc);
}

static void small_integers_are_exact(void **state)
{
	(void)state;
	for (int type = 0; type < DTYPE_COUNT; type++) {
		int64_t most = dtype_exact_max((enum dtype)type) < 4096
				       ? dtype_exact_max((enum dtype)type)
				       : 4096;
		unsigned char cell[ELEMENT_BYTES_MAX];

		for (int64_t value = dtype_is_unsigned((enum dtype)type) ? 0 : -most; value <= most;
		     value++) {
			dtype_store((enum dtype)type, cell, value);
			assert_true(dtype_double((enum dtype)type, cell) == (double)value);
		}
	}
}

/* There may be more ranks than a byte can count. */
static void bytes_are_divided_by_any_number(void **state)
{
	uint8_t bytes[] = {0, 200, 255};

	(void)state;
	dtype_scale(DTYPE_U8, bytes, 3, 256);
	assert_int_equal(bytes[1] + bytes[2], 0);
	bytes[2] = 255;
	dtype_scale(DTYPE_U8, bytes, 3, 300);
	assert_int_equal(bytes[2], 0);
	bytes[2] = 255;
	dtype_scale(DTYPE_U8, bytes, 3, 255);
	assert_int_equal(bytes[2], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_comes_back),
		cmocka_unit_test(what_is_between_is_rounded_to_even),
		cmocka_unit_test(what_is_too_large),
		cmocka_unit_test(small_integers_are_exact),
		cmocka_unit_test(bytes_are_divided_by_any_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
