/* SPDX-License-Identifier: MIT */
/*
 * Element types and reductions: the only file that knows how wide an element is or how two are
 * combined.
 *
 * Names are short (f32) and those of nccl-tests (float) alike. f16, bf16 and the two fp8 types are
 * combined as float and rounded to nearest even after each step; fp8 as in "OCP 8-bit Floating
 * Point Specification" 1.0, where what is too large becomes the largest number (e4m3) or infinity
 * (e5m2). Integers wrap around. `avg` is a sum, then one division by the number of ranks (toward
 * zero for integers), which dtype_scale() does at the end.
 */
#ifndef WORKER_DTYPE_H
#define WORKER_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
	DTYPE_F8E4M3,
	DTYPE_F8E5M2,
	DTYPE_F16,
	DTYPE_BF16,
	DTYPE_F32,
	DTYPE_F64,
	DTYPE_I32,
	DTYPE_I64,
	DTYPE_U8,
	DTYPE_I8,
	DTYPE_U32,
	DTYPE_U64,
	DTYPE_COUNT
};
enum op {
	OP_SUM,
	OP_PROD,
	OP_MIN,
	OP_MAX,
	OP_AVG,
	OP_MULSUM, /* the sum of each rank's input times a number of its own: pattern_scalar() */
	OP_COUNT,
	OP_NONE = OP_COUNT
};

#define ELEMENT_BYTES_MAX 8

/* Parses a name; returns -1 for an unknown one. */
int dtype_parse(const char *name);
int op_parse(const char *name);

/* Short name, nccl-tests' name, size of one element. @type and @op must be in range. */
const char *dtype_name(enum dtype type);
const char *dtype_long_name(enum dtype type);
size_t dtype_bytes(enum dtype type);
const char *op_name(enum op op);

/* dst[i] = a[i] op b[i] for @count elements. @dst may be @a or @b, but must not overlap them
 * otherwise. */
typedef void reduce_fn(void *dst, const void *a, const void *b, size_t count);

/* The reduction for @type and @op, never NULL; OP_AVG and OP_MULSUM give that of OP_SUM. */
reduce_fn *dtype_reducer(enum dtype type, enum op op);

/* data[i] = data[i] / divisor, the last step of OP_AVG. */
void dtype_scale(enum dtype type, void *data, size_t count, int divisor);

/* Largest N such that every integer of -N..N (0..N for unsigned types) is exact in @type. */
int64_t dtype_exact_max(enum dtype type);

/* Stores the small integer @value as one element at @out. */
void dtype_store(enum dtype type, void *out, int64_t value);

bool dtype_is_float(enum dtype type);
bool dtype_is_unsigned(enum dtype type);

/* One element as a number; large ones of 64 bits are rounded. */
double dtype_double(enum dtype type, const void *element);

/* @value as @type holds it, rounded to nearest even (through float for the narrow types). */
double dtype_round(enum dtype type, double value);

/* The most that rounding to a number of @type, which is a float, changes @value: half a unit in its last place,
 * with the type's subnormal numbers. */
double dtype_rounding(enum dtype type, double value);

/* Prints one element as a decimal number into @text of @bytes. */
void dtype_format(enum dtype type, const void *element, char *text, size_t bytes);

#endif
