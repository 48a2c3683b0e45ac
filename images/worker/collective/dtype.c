/* SPDX-License-Identifier: MIT */
#include "collective/dtype.h"

#include "atomic.h"

#include <inttypes.h>
#include <math.h> /* only what the C library itself has: stand-ins link nothing more */
#include <stdio.h>
#include <string.h>

/* Plain loops, vectorised by the compiler; on x86-64 once for AVX2 and once for the baseline,
 * chosen at load time. Sanitizers cannot run the resolver that chooses, so they get the baseline.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SANITIZED) && \
	(defined(__clang__) || __GNUC__ >= 6)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

#if defined(SANITIZED) || defined(WORKER_OLD_GCC)
#define INDEPENDENT
#elif defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

static inline float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float f16_load(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t scaled = float_bits(bits_float((uint32_t)(half & 0x7fff) << 13) * 0x1p112f);
	uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;

	return bits_float(scaled | special | sign);
}

static inline uint16_t f16_store(float value)
{
	uint32_t bits = float_bits(value), sign = bits & 0x80000000u, size = bits ^ sign;
	uint32_t normal = (size - 0x38000000u + 0xfff + ((size >> 13) & 1)) >> 13;
	uint32_t tiny = float_bits(bits_float(size) + 0.5f) - 0x3f000000u;
	uint32_t huge = size > 0x7f800000u ? 0x7e00 : 0x7c00;
	uint32_t half = size >= 0x47800000u ? huge : size < 0x38800000u ? tiny : normal;

	return (uint16_t)(half | sign >> 16);
}

static inline float bf16_load(uint16_t half)
{
	return bits_float((uint32_t)half << 16);
}

static inline uint16_t bf16_store(float value)
{
	uint32_t bits = float_bits(value);
	uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;

	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40 : rounded);
}

/* e5m2 is the upper half of an f16. */
static inline float f8e5m2_load(uint8_t cell)
{
	return f16_load((uint16_t)(cell << 8));
}

static inline uint8_t f8e5m2_store(float value)
{
	uint32_t bits = float_bits(value), sign = bits >> 24 & 0x80, size = bits & 0x7fffffffu;
	uint32_t normal = (size - 0x38000000u + 0xfffff + ((size >> 21) & 1)) >> 21;
	uint32_t tiny = float_bits(bits_float(size) + 0x1p7f) - 0x43000000u;
	uint32_t huge = size > 0x7f800000u ? 0x7e : 0x7c;

	return (uint8_t)(sign | (size >= 0x47700000u ? huge : size < 0x38800000u ? tiny : normal));
}

/* e4m3 has no infinity, and one mantissa for no number. */
static inline float f8e4m3_load(uint8_t cell)
{
	uint32_t sign = (uint32_t)(cell & 0x80) << 24, size = cell & 0x7f;
	float value = bits_float(size << 20) * 0x1p120f;

	return size == 0x7f ? bits_float(sign | 0x7fc00000u) : bits_float(float_bits(value) | sign);
}

static inline uint8_t f8e4m3_store(float value)
{
	uint32_t bits = float_bits(value), sign = bits >> 24 & 0x80, size = bits & 0x7fffffffu;
	uint32_t normal = (size - 0x3c000000u + 0x7ffff + ((size >> 20) & 1)) >> 20;
	uint32_t tiny = float_bits(bits_float(size) + 0x1p14f) - 0x46800000u;
	uint32_t cell = size < 0x3c800000u ? tiny : normal;

	if (size > 0x7f800000u)
		return (uint8_t)(sign | 0x7f);
	return (uint8_t)(sign | (size > 0x43e00000u || cell > 0x7e ? 0x7e : cell));
}

#define SAME(x) (x)
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))

/*
 * One loop: elements are stored as @cell, combined as @wide after @load, and turned back by @store.
 */
#define REDUCER(name, cell, wide, load, store, combine)                                       \
	CLONES static void name(void *out, const void *left, const void *right, size_t count) \
	{                                                                                     \
		cell *dst = out;                                                              \
		const cell *a = left, *b = right;                                             \
                                                                                              \
		INDEPENDENT for (size_t i = 0; i < count; i++)                                \
		{                                                                             \
			wide x = load(a[i]), y = load(b[i]);                                  \
			dst[i] = (cell)store(combine(x, y));                                  \
		}                                                                             \
	}

/* A byte is divided as an int: there may be more ranks than it can count. */
#define SCALER(name, cell, load, store)                                      \
	static void name(void *data, size_t count, int divisor)              \
	{                                                                    \
		cell *cells = data;                                          \
		__typeof__(load(cells[0]) + 0) by = (__typeof__(by))divisor; \
                                                                             \
		for (size_t i = 0; i < count; i++)                           \
			cells[i] = (cell)store(load(cells[i]) / by);         \
	}

/* Sums and products of integers are taken unsigned: there overflow wraps, and the bits are the
 * same. */
#define TYPE(tag, cell, sum_wide, wide, load, store)           \
	REDUCER(tag##_sum, cell, sum_wide, load, store, SUM)   \
	REDUCER(tag##_prod, cell, sum_wide, load, store, PROD) \
	REDUCER(tag##_min, cell, wide, load, store, MIN)       \
	REDUCER(tag##_max, cell, wide, load, store, MAX)       \
	SCALER(tag##_scale, cell, load, store)

TYPE(f8e4m3, uint8_t, float, float, f8e4m3_load, f8e4m3_store)
TYPE(f8e5m2, uint8_t, float, float, f8e5m2_load, f8e5m2_store)
TYPE(f16, uint16_t, float, float, f16_load, f16_store)
TYPE(bf16, uint16_t, float, float, bf16_load, bf16_store)
TYPE(f32, float, float, float, SAME, SAME)
TYPE(f64, double, double, double, SAME, SAME)
TYPE(i32, int32_t, uint32_t, int32_t, SAME, SAME)
TYPE(i64, int64_t, uint64_t, int64_t, SAME, SAME)
TYPE(u8, uint8_t, uint32_t, uint8_t, SAME, SAME)
TYPE(i8, int8_t, uint32_t, int8_t, SAME, SAME)
TYPE(u32, uint32_t, uint32_t, uint32_t, SAME, SAME)
TYPE(u64, uint64_t, uint64_t, uint64_t, SAME, SAME)

#define REDUCERS(tag)                                                             \
	{                                                                         \
		tag##_sum, tag##_prod, tag##_min, tag##_max, tag##_sum, tag##_sum \
	}

static const struct {
	const char *name, *long_name;
	size_t bytes;
	int64_t exact_max;
	reduce_fn *reducers[OP_COUNT];
	void (*scale)(void *data, size_t count, int divisor);
} types[DTYPE_COUNT] = {
	[DTYPE_F8E4M3] = {"f8e4m3", "f8e4m3", 1, 1 << 4, REDUCERS(f8e4m3), f8e4m3_scale},
	[DTYPE_F8E5M2] = {"f8e5m2", "f8e5m2", 1, 1 << 3, REDUCERS(f8e5m2), f8e5m2_scale},
	[DTYPE_F16] = {"f16", "half", 2, 1 << 11, REDUCERS(f16), f16_scale},
	[DTYPE_BF16] = {"bf16", "bfloat16", 2, 1 << 8, REDUCERS(bf16), bf16_scale},
	[DTYPE_F32] = {"f32", "float", 4, 1 << 24, REDUCERS(f32), f32_scale},
	[DTYPE_F64] = {"f64", "double", 8, INT64_C(1) << 53, REDUCERS(f64), f64_scale},
	[DTYPE_I32] = {"i32", "int32", 4, INT32_MAX, REDUCERS(i32), i32_scale},
	[DTYPE_I64] = {"i64", "int64", 8, INT64_MAX, REDUCERS(i64), i64_scale},
	[DTYPE_U8] = {"u8", "uint8", 1, UINT8_MAX, REDUCERS(u8), u8_scale},
	[DTYPE_I8] = {"i8", "int8", 1, INT8_MAX, REDUCERS(i8), i8_scale},
	[DTYPE_U32] = {"u32", "uint32", 4, UINT32_MAX, REDUCERS(u32), u32_scale},
	[DTYPE_U64] = {"u64", "uint64", 8, INT64_MAX, REDUCERS(u64), u64_scale},
};

static const char *const ops[OP_COUNT] = {
	[OP_SUM] = "sum", [OP_PROD] = "prod", [OP_MIN] = "min",
	[OP_MAX] = "max", [OP_AVG] = "avg",   [OP_MULSUM] = "mulsum"};

int dtype_parse(const char *name)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (strcmp(name, types[i].name) == 0 || strcmp(name, types[i].long_name) == 0)
			return i;
	return -1;
}

int op_parse(const char *name)
{
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(name, ops[i]) == 0)
			return i;
	return -1;
}

const char *dtype_name(enum dtype type)
{
	return types[type].name;
}

const char *dtype_long_name(enum dtype type)
{
	return types[type].long_name;
}

size_t dtype_bytes(enum dtype type)
{
	return types[type].bytes;
}

const char *op_name(enum op op)
{
	return ops[op];
}

reduce_fn *dtype_reducer(enum dtype type, enum op op)
{
	return types[type].reducers[op];
}

void dtype_scale(enum dtype type, void *data, size_t count, int divisor)
{
	types[type].scale(data, count, divisor);
}

int64_t dtype_exact_max(enum dtype type)
{
	return types[type].exact_max;
}

union element {
	uint16_t half;
	float f32;
	double f64;
	int32_t i32;
	int64_t i64;
	uint8_t u8;
	int8_t i8;
	uint32_t u32;
	uint64_t u64;
};

void dtype_store(enum dtype type, void *out, int64_t value)
{
	union element e = {.i64 = 0};

	switch (type) {
	case DTYPE_F8E4M3:
		e.u8 = f8e4m3_store((float)value);
		break;
	case DTYPE_F8E5M2:
		e.u8 = f8e5m2_store((float)value);
		break;
	case DTYPE_F16:
		e.half = f16_store((float)value);
		break;
	case DTYPE_BF16:
		e.half = bf16_store((float)value);
		break;
	case DTYPE_F32:
		e.f32 = (float)value;
		break;
	case DTYPE_F64:
		e.f64 = (double)value;
		break;
	case DTYPE_I32:
		e.i32 = (int32_t)value;
		break;
	case DTYPE_U8:
		e.u8 = (uint8_t)value;
		break;
	case DTYPE_I8:
		e.i8 = (int8_t)value;
		break;
	case DTYPE_U32:
		e.u32 = (uint32_t)value;
		break;
	case DTYPE_U64:
	case DTYPE_I64:
	case DTYPE_COUNT:
		e.i64 = value;
	}
	memcpy(out, &e, types[type].bytes);
}

bool dtype_is_float(enum dtype type)
{
	return type <= DTYPE_F64;
}

bool dtype_is_unsigned(enum dtype type)
{
	return type == DTYPE_U8 || type == DTYPE_U32 || type == DTYPE_U64;
}

double dtype_double(enum dtype type, const void *element)
{
	union element e = {.i64 = 0};

	memcpy(&e, element, types[type].bytes);
	switch (type) {
	case DTYPE_F8E4M3:
		return (double)f8e4m3_load(e.u8);
	case DTYPE_F8E5M2:
		return (double)f8e5m2_load(e.u8);
	case DTYPE_F16:
		return (double)f16_load(e.half);
	case DTYPE_BF16:
		return (double)bf16_load(e.half);
	case DTYPE_F32:
		return (double)e.f32;
	case DTYPE_F64:
		return e.f64;
	case DTYPE_I32:
		return e.i32;
	case DTYPE_U8:
		return e.u8;
	case DTYPE_I8:
		return e.i8;
	case DTYPE_U32:
		return e.u32;
	case DTYPE_U64:
		return (double)e.u64;
	case DTYPE_I64:
	case DTYPE_COUNT:
		break;
	}
	return (double)e.i64;
}

double dtype_round(enum dtype type, double value)
{
	union element e = {.i64 = 0};

	switch (type) {
	case DTYPE_F8E4M3:
		return (double)f8e4m3_load(f8e4m3_store((float)value));
	case DTYPE_F8E5M2:
		return (double)f8e5m2_load(f8e5m2_store((float)value));
	case DTYPE_F16:
		return (double)f16_load(f16_store((float)value));
	case DTYPE_BF16:
		return (double)bf16_load(bf16_store((float)value));
	case DTYPE_F32:
		e.f32 = (float)value;
		return (double)e.f32;
	default:
		return value;
	}
}

double dtype_rounding(enum dtype type, double value)
{
	/* bits of the mantissa, exponent of the least normal number */
	static const struct {
		int bits, least;
	} shapes[] = {
		[DTYPE_F8E4M3] = {3, -6}, [DTYPE_F8E5M2] = {2, -14}, [DTYPE_F16] = {10, -14},
		[DTYPE_BF16] = {7, -126}, [DTYPE_F32] = {23, -126},  [DTYPE_F64] = {52, -1022},
	};
	int exponent;

	(void)frexp(value, &exponent); /* of a number from 0.5 to 1 */
	if (value == 0 || exponent - 1 < shapes[type].least)
		exponent = shapes[type].least + 1;
	return ldexp(0.5, exponent - 1 - shapes[type].bits);
}

void dtype_format(enum dtype type, const void *element, char *text, size_t bytes)
{
	union element e = {.i64 = 0};

	memcpy(&e, element, types[type].bytes);
	switch (type) {
	case DTYPE_F8E4M3:
	case DTYPE_F8E5M2:
	case DTYPE_F16:
	case DTYPE_BF16:
	case DTYPE_F32:
		snprintf(text, bytes, "%.9g", dtype_double(type, element));
		break;
	case DTYPE_F64:
		snprintf(text, bytes, "%.17g", e.f64);
		break;
	case DTYPE_I32:
		snprintf(text, bytes, "%" PRId32, e.i32);
		break;
	case DTYPE_U8:
		snprintf(text, bytes, "%u", (unsigned)e.u8);
		break;
	case DTYPE_I8:
		snprintf(text, bytes, "%d", (int)e.i8);
		break;
	case DTYPE_U32:
		snprintf(text, bytes, "%" PRIu32, e.u32);
		break;
	case DTYPE_U64:
		snprintf(text, bytes, "%" PRIu64, e.u64);
		break;
	case DTYPE_I64:
	case DTYPE_COUNT:
		snprintf(text, bytes, "%" PRId64, e.i64);
	}
}
