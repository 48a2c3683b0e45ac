/* SPDX-License-Identifier: MIT */
#include "health/burn_kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BURN_ROWS \
	16 /* of the tiles of f32; a round takes one half of them, the next round the other one */
#define TILE 128			   /* columns of a tile */
#define ROW_BYTES (TILE * 4)		   /* of a tile */
#define TILE_BYTES (BURN_ROWS * ROW_BYTES) /* of one of the two */
#define ELEMENTS (2 * BURN_ROWS * TILE)

struct burn_writer {
	char *text;
	size_t length;
};

static void burn_add(struct burn_writer *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void burn_add(struct burn_writer *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->length +=
		(size_t)vsnprintf(w->text + w->length, BURN_TEXT_BYTES - w->length, format, args);
	va_end(args);
}

/* Each element of the tiles is a number between -0.5 and 0.5 that its place is mixed to, the same as burn_element(). */
static void burn_add_fill(struct burn_writer *w)
{
	for (int i = 0; i < ELEMENTS / BURN_THREADS; i++)
		burn_add(w,
			 " add.u32 %%r1, %%tid0, %d;\n mul.lo.u32 %%r2, %%r1, 2654435769;\n"
			 " shr.u32 %%r3, %%r2, 15;\n xor.b32 %%r2, %%r2, %%r3;\n"
			 " mul.lo.u32 %%r2, %%r2, 2246822519;\n shr.u32 %%r2, %%r2, 9;\n"
			 " or.b32 %%r2, %%r2, 0x3f800000;\n mov.b32 %%f1, %%r2;\n"
			 " sub.rn.f32 %%f1, %%f1, 0f3fc00000;\n shl.b32 %%r1, %%r1, 2;\n"
			 " add.u32 %%r1, %%r1, %%tile;\n st.shared.f32 [%%r1], %%f1;\n",
			 i * BURN_THREADS);
	burn_add(w, " bar.sync 0;\n");
}

/* One row of both tiles: eight numbers of each, and all their products. */
static void burn_add_row(struct burn_writer *w, int row)
{
	static const char vector[] = " ld.shared.v4.f32 {%%%c%d, %%%c%d, %%%c%d, %%%c%d}, "
				     "[%%at%c+%d];\n";

	for (int half = 0; half < 2; half++)
		for (int tile = 0; tile < 2; tile++) {
			char c = tile ? 'b' : 'a';
			int n = 4 * half;

			burn_add(w, vector, c, n, c, n + 1, c, n + 2, c, n + 3, c,
				 row * ROW_BYTES + half * ROW_BYTES / 2);
		}
	for (int i = 0; i < 64; i++)
		burn_add(w, " fma.rn.f32 %%c%d, %%a%d, %%b%d, %%c%d;\n", i, i / 8, i % 8, i);
}

/* Up to the kernel's own registers. */
static void burn_add_head(struct burn_writer *w, const char *target, const char *name)
{
	burn_add(w,
		 "%s.address_size 64\n"
		 ".visible .entry %s(.param .u64 p_expected, .param .u64 p_errors,\n"
		 " .param .u32 p_rounds, .param .u32 p_compares)\n"
		 ".maxntid %d, 1, 1\n.minnctapersm 2\n{\n"
		 " .reg .pred %%p<3>;\n .reg .b32 %%r<8>;\n .reg .b64 %%d<4>;\n .reg .f32 %%f<3>;\n"
		 " .reg .b32 %%tid0, %%round, %%rounds;\n .reg .f32 %%c<64>;\n"
		 " ld.param.u32 %%rounds, [p_rounds];\n mov.u32 %%tid0, %%tid.x;\n",
		 target, name, BURN_THREADS);
	for (int i = 0; i < 64; i++)
		burn_add(w, " mov.f32 %%c%d, 0f00000000;\n", i);
}

/* The 64 sums of a thread become one, which is kept or compared. */
static void burn_add_end(struct burn_writer *w)
{
	burn_add(w, " add.u32 %%round, %%round, 1;\n setp.lt.u32 %%p1, %%round, %%rounds;\n"
		    " @%%p1 bra rounds;\n mov.f32 %%f1, 0f00000000;\n");
	for (int i = 0; i < 64; i++)
		burn_add(w, " add.rn.f32 %%f1, %%f1, %%c%d;\n", i);
	burn_add(w, " ld.param.u64 %%d1, [p_expected];\n cvta.to.global.u64 %%d1, %%d1;\n"
		    " mul.wide.u32 %%d2, %%tid0, 4;\n add.u64 %%d1, %%d1, %%d2;\n"
		    " ld.param.u32 %%r1, [p_compares];\n setp.ne.u32 %%p1, %%r1, 0;\n"
		    " @%%p1 bra compare;\n st.global.f32 [%%d1], %%f1;\n ret;\ncompare:\n"
		    " ld.global.u32 %%r2, [%%d1];\n mov.b32 %%r3, %%f1;\n"
		    " setp.eq.u32 %%p2, %%r2, %%r3;\n @%%p2 bra same;\n"
		    " ld.param.u64 %%d3, [p_errors];\n cvta.to.global.u64 %%d3, %%d3;\n"
		    " red.global.add.u32 [%%d3], 1;\nsame:\n ret;\n}\n");
}

/* ---- f32 ---- */

static void burn_add_tiles(struct burn_writer *w)
{
	burn_add(w,
		 " .shared .align 16 .b8 tiles[%d];\n"
		 " .reg .b32 %%tile, %%ata, %%atb, %%basea, %%baseb;\n"
		 " .reg .f32 %%a<8>;\n .reg .f32 %%b<8>;\n mov.u32 %%tile, tiles;\n",
		 2 * TILE_BYTES);
}

/* The rounds: rows 0 to 7, then rows 8 to 15, so that no compiler may keep what it has loaded. */
static void burn_add_rounds(struct burn_writer *w)
{
	burn_add(w,
		 " shr.u32 %%r1, %%tid0, 4;\n shl.b32 %%r1, %%r1, 4;\n"
		 " add.u32 %%basea, %%tile, %%r1;\n"
		 " and.b32 %%r1, %%tid0, 15;\n shl.b32 %%r1, %%r1, 4;\n"
		 " add.u32 %%baseb, %%tile, %%r1;\n add.u32 %%baseb, %%baseb, %d;\n",
		 TILE_BYTES);
	burn_add(w,
		 " mov.u32 %%round, 0;\nrounds:\n and.b32 %%r1, %%round, 1;\n"
		 " mul.lo.u32 %%r1, %%r1, %d;\n add.u32 %%ata, %%basea, %%r1;\n"
		 " add.u32 %%atb, %%baseb, %%r1;\n",
		 TILE_BYTES / 2);
	for (int row = 0; row < BURN_ROWS / 2; row++)
		burn_add_row(w, row);
}

static size_t burn_f32_text(char text[BURN_TEXT_BYTES])
{
	struct burn_writer w = {text, 0};

	burn_add_head(&w, ".version 5.0\n.target sm_50\n", "ringup_burn_f32");
	burn_add_tiles(&w);
	burn_add_fill(&w);
	burn_add_rounds(&w);
	burn_add_end(&w);
	return w.length;
}

/* Bits that do not look like those of the places around. */
static uint32_t burn_mix(uint32_t place)
{
	uint32_t bits = place * 2654435769U;

	bits ^= bits >> 15;
	return bits * 2246822519U;
}

static float burn_element(uint32_t place)
{
	uint32_t bits = burn_mix(place) >> 9 | 0x3f800000U;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value - 1.5F;
}

static float burn_f32_expected(unsigned rounds)
{
	float sums[64] = {0}, all = 0;

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned row = 0; row < BURN_ROWS / 2; row++) {
			unsigned at = (row + (round & 1) * BURN_ROWS / 2) * TILE;
			float a[8], b[8];

			for (unsigned i = 0; i < 8; i++) {
				unsigned column = i % 4 + i / 4 * TILE / 2;

				a[i] = burn_element(at + column);
				b[i] = burn_element(at + column + BURN_ROWS * TILE);
			}
			for (unsigned i = 0; i < 64; i++)
				sums[i] = fmaf(a[i / 8], b[i % 8], sums[i]);
		}
	for (unsigned i = 0; i < 64; i++)
		all += sums[i];
	return all;
}

/* ---- bf16 ---- */

#define BF16_A 16	  /* registers of a thread for 4 tiles of the first factor */
#define BF16_REGISTERS 24 /* and for 4 of the second one, all of two numbers each */
#define BF16_DEPTH 16	  /* k of m16n8k16 */

/* Each number is whole, between -128 and 127, and the same as burn_bf16_element(). */
static void burn_add_bf16_fill(struct burn_writer *w)
{
	burn_add(w,
		 " .reg .b32 %%a<%d>;\n .reg .b32 %%first;\n"
		 " mul.lo.u32 %%r4, %%tid0, %d;\n",
		 BF16_REGISTERS, 2 * BF16_REGISTERS);
	for (int i = 0; i < 2 * BF16_REGISTERS; i++) {
		burn_add(w,
			 " add.u32 %%r1, %%r4, %d;\n mul.lo.u32 %%r2, %%r1, 2654435769;\n"
			 " shr.u32 %%r3, %%r2, 15;\n xor.b32 %%r2, %%r2, %%r3;\n"
			 " mul.lo.u32 %%r2, %%r2, 2246822519;\n shr.u32 %%r2, %%r2, 24;\n"
			 " sub.s32 %%r2, %%r2, 128;\n cvt.rn.f32.s32 %%f1, %%r2;\n"
			 " mov.b32 %%r2, %%f1;\n",
			 i);
		if (i % 2 == 0)
			burn_add(w, " shr.u32 %%first, %%r2, 16;\n");
		else
			burn_add(w, " or.b32 %%a%d, %%first, %%r2;\n", i / 2);
	}
}

static void burn_add_bf16_round(struct burn_writer *w)
{
	burn_add(w, " mov.u32 %%round, 0;\nrounds:\n");
	for (int tile = 0; tile < 16; tile++) {
		int a = tile / 4 * 4, b = BF16_A + tile % 4 * 2, c = 4 * tile;

		burn_add(
			w,
			" mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
			" {%%c%d, %%c%d, %%c%d, %%c%d}, {%%a%d, %%a%d, %%a%d, %%a%d}, {%%a%d, %%a%d},"
			" {%%c%d, %%c%d, %%c%d, %%c%d};\n",
			c, c + 1, c + 2, c + 3, a, a + 1, a + 2, a + 3, b, b + 1, c, c + 1, c + 2,
			c + 3);
	}
	for (int i = 0; i < BF16_A; i++)
		burn_add(w, " xor.b32 %%a%d, %%a%d, 0x80008000;\n", i, i);
}

static size_t burn_bf16_text(char text[BURN_TEXT_BYTES])
{
	struct burn_writer w = {text, 0};

	burn_add_head(&w, ".version 7.0\n.target sm_80\n", "ringup_burn_bf16");
	burn_add_bf16_fill(&w);
	burn_add_bf16_round(&w);
	burn_add_end(&w);
	return w.length;
}

/* One of the two numbers in a register of a thread. */
static float burn_bf16_element(unsigned thread, unsigned reg, unsigned half)
{
	uint32_t place = (thread * BF16_REGISTERS + reg) * 2 + half;

	return (float)((int)(burn_mix(place) >> 24) - 128);
}

/*
 * Which thread of the warp and which register has an element of the factors: "Matrix Fragments for mma.m16n8k16" in the
 * manual of PTX. Thread 0 has of each product the rows 0 and 8 and the columns 0 and 1.
 */
static float burn_bf16_product(unsigned tile_a, unsigned tile_b, unsigned row, unsigned column)
{
	float sum = 0;

	for (unsigned k = 0; k < BF16_DEPTH; k++) {
		unsigned group = k % 8 / 2, late = k / 8;

		sum += burn_bf16_element(group, 4 * tile_a + row / 8 + 2 * late, k % 2) *
		       burn_bf16_element(4 * column + group, BF16_A + 2 * tile_b + late, k % 2);
	}
	return sum;
}

/* What a round adds the next one takes away. */
static float burn_bf16_expected(unsigned rounds)
{
	float all = 0;

	for (unsigned i = 0; i < 64 && rounds % 2; i++)
		all += burn_bf16_product(i / 16, i / 4 % 4, i % 4 / 2 * 8, i % 2);
	return all;
}

const struct burn_kernel burn_kernels[BURN_KINDS] = {
	[BURN_F32] = {.name = "ringup_burn_f32",
		      .capability = 50,
		      .rounds = 1024,
		      .thread_flop = 2.0 * 64 * (BURN_ROWS / 2) * 1024,
		      .text = burn_f32_text,
		      .expected = burn_f32_expected},
	[BURN_BF16] = {.name = "ringup_burn_bf16",
		       .capability = 80,
		       .rounds = 4095, /* odd: sums are left */
		       .thread_flop = 2.0 * 16 * 8 * BF16_DEPTH / 32 * 16 * 4095,
		       .text = burn_bf16_text,
		       .expected = burn_bf16_expected},
};
