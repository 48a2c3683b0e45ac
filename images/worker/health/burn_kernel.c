/* SPDX-License-Identifier: MIT */
#include "health/burn_kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

static void burn_add_head(struct burn_writer *w)
{
	burn_add(w,
		 ".version 5.0\n.target sm_50\n.address_size 64\n"
		 ".visible .entry " BURN_NAME "(.param .u64 p_expected, .param .u64 p_errors,\n"
		 " .param .u32 p_rounds, .param .u32 p_compares)\n"
		 ".maxntid %d, 1, 1\n.minnctapersm 2\n{\n"
		 " .shared .align 16 .b8 tiles[%d];\n"
		 " .reg .pred %%p<3>;\n .reg .b32 %%r<8>;\n .reg .b64 %%d<4>;\n .reg .f32 %%f<3>;\n"
		 " .reg .b32 %%tid0, %%tile, %%ata, %%atb, %%basea, %%baseb, %%round, %%rounds;\n"
		 " .reg .f32 %%a<8>;\n .reg .f32 %%b<8>;\n .reg .f32 %%c<64>;\n"
		 " ld.param.u32 %%rounds, [p_rounds];\n mov.u32 %%tid0, %%tid.x;\n"
		 " mov.u32 %%tile, tiles;\n",
		 BURN_THREADS, 2 * TILE_BYTES);
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
	for (int i = 0; i < 64; i++)
		burn_add(w, " mov.f32 %%c%d, 0f00000000;\n", i);
	burn_add(w,
		 " mov.u32 %%round, 0;\nrounds:\n and.b32 %%r1, %%round, 1;\n"
		 " mul.lo.u32 %%r1, %%r1, %d;\n add.u32 %%ata, %%basea, %%r1;\n"
		 " add.u32 %%atb, %%baseb, %%r1;\n",
		 TILE_BYTES / 2);
	for (int row = 0; row < BURN_ROWS / 2; row++)
		burn_add_row(w, row);
	burn_add(w, " add.u32 %%round, %%round, 1;\n setp.lt.u32 %%p1, %%round, %%rounds;\n"
		    " @%%p1 bra rounds;\n");
}

size_t burn_text(char text[BURN_TEXT_BYTES])
{
	struct burn_writer w = {text, 0};

	burn_add_head(&w);
	burn_add_fill(&w);
	burn_add_rounds(&w);
	burn_add(&w, " mov.f32 %%f1, 0f00000000;\n");
	for (int i = 0; i < 64; i++)
		burn_add(&w, " add.rn.f32 %%f1, %%f1, %%c%d;\n", i);
	burn_add(&w, " ld.param.u64 %%d1, [p_expected];\n cvta.to.global.u64 %%d1, %%d1;\n"
		     " mul.wide.u32 %%d2, %%tid0, 4;\n add.u64 %%d1, %%d1, %%d2;\n"
		     " ld.param.u32 %%r1, [p_compares];\n setp.ne.u32 %%p1, %%r1, 0;\n"
		     " @%%p1 bra compare;\n st.global.f32 [%%d1], %%f1;\n ret;\ncompare:\n"
		     " ld.global.u32 %%r2, [%%d1];\n mov.b32 %%r3, %%f1;\n"
		     " setp.eq.u32 %%p2, %%r2, %%r3;\n @%%p2 bra same;\n"
		     " ld.param.u64 %%d3, [p_errors];\n cvta.to.global.u64 %%d3, %%d3;\n"
		     " red.global.add.u32 [%%d3], 1;\nsame:\n ret;\n}\n");
	return w.length;
}

static float burn_element(uint32_t place)
{
	uint32_t bits = place * 2654435769U;
	float value;

	bits ^= bits >> 15;
	bits = (bits * 2246822519U) >> 9 | 0x3f800000U;
	memcpy(&value, &bits, sizeof(value));
	return value - 1.5F;
}

float burn_expected(unsigned rounds)
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
