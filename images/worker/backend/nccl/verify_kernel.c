/* SPDX-License-Identifier: MIT */
#include "backend/nccl/verify_kernel.h"

#include "collective/pattern.h"

#define AS_TEXT(number) #number
#define NUMBER(number) AS_TEXT(number)
#define PERIOD NUMBER(PATTERN_PERIOD)

/* What both kernels begin with: %i is the element, %slot its place in the table; one step of all threads is %step
 * elements, which are %turn places. Each element comes to the label `again`, and leaves by `next`. */
#define BEGIN(name, bytes, more)                                                            \
	".visible .entry " name #bytes "(.param .u64 p_data, .param .u64 p_table,\n"        \
	" .param .u64 p_count" more ")\n{\n"                                                \
	" .reg .pred %p, %q;\n .reg .b32 %block, %blocks, %threads, %thread;\n"             \
	" .reg .b64 %data, %table, %count, %result, %i, %step, %slot, %turn, %at, %from;\n" \
	" .reg .b64 %value, %sign, %low, %high, %wrong, %first;\n"                          \
	" ld.param.u64 %data, [p_data];\n ld.param.u64 %table, [p_table];\n"                \
	" ld.param.u64 %count, [p_count];\n"                                                \
	" cvta.to.global.u64 %data, %data;\n cvta.to.global.u64 %table, %table;\n"          \
	" mov.u32 %block, %ctaid.x;\n mov.u32 %blocks, %nctaid.x;\n"                        \
	" mov.u32 %threads, %ntid.x;\n mov.u32 %thread, %tid.x;\n"                          \
	" cvt.u64.u32 %i, %thread;\n mad.wide.u32 %i, %block, %threads, %i;\n"              \
	" mul.wide.u32 %step, %blocks, %threads;\n"                                         \
	" rem.u64 %slot, %i, " PERIOD ";\n rem.u64 %turn, %step, " PERIOD ";\n"             \
	" mov.u64 %wrong, 0;\n mov.u64 %first, -1;\n"                                       \
	"again:\n setp.ge.u64 %p, %i, %count;\n @%p bra done;\n"

#define END                                                               \
	"next:\n add.u64 %i, %i, %step;\n add.u64 %slot, %slot, %turn;\n" \
	" setp.lt.u64 %p, %slot, " PERIOD ";\n @%p bra again;\n"          \
	" sub.u64 %slot, %slot, " PERIOD ";\n bra again;\ndone:\n"

#define ADDRESS(to, base, index, shift) \
	" shl.b64 " to ", " index ", " #shift ";\n add.u64 " to ", " to ", " base ";\n"

/* For elements of @bytes, 1 << @shift, which are @bits. */
#define FILL(bytes, shift, bits)                                                           \
	BEGIN(VERIFY_FILL, bytes, "")                                                      \
	ADDRESS("%from", "%table", "%slot", shift)                                         \
	" ld.global.u" #bits                                                               \
	" %value, [%from];\n" ADDRESS("%at", "%data", "%i", shift) " st.global.u" #bits    \
								   " [%at], %value;\n" END \
								   " ret;\n}\n"

/* The key: a negative element is turned over but for its sign; @unused is 65 - @bits. */
#define COMPARE(bytes, shift, bits, unused)                                                      \
	BEGIN(VERIFY_COMPARE, bytes, ", .param .u64 p_result")                                   \
	ADDRESS("%at", "%data", "%i", shift)                                                     \
	" ld.global.s" #bits " %value, [%at];\n"                                                 \
	" shr.s64 %sign, %value, 63;\n shr.u64 %sign, %sign, " #unused ";\n"                     \
	" xor.b64 %value, %value, %sign;\n" ADDRESS(                                             \
		"%from", "%table", "%slot",                                                      \
		4) " ld.global.v2.s64 {%low, %high}, [%from];\n"                                 \
		   " setp.ge.s64 %p, %value, %low;\n setp.le.s64 %q, %value, %high;\n"           \
		   " and.pred %p, %p, %q;\n @%p bra next;\n"                                     \
		   " add.u64 %wrong, %wrong, 1;\n min.u64 %first, %first, %i;\n" END             \
		   " setp.eq.u64 %p, %wrong, 0;\n @%p bra quit;\n"                               \
		   " ld.param.u64 %result, [p_result];\n cvta.to.global.u64 %result, %result;\n" \
		   " red.global.add.u64 [%result], %wrong;\n"                                    \
		   " red.global.min.u64 [%result+8], %first;\nquit:\n ret;\n}\n"

const char verify_text[] = ".version 5.0\n.target sm_50\n.address_size 64\n" FILL(1, 0, 8)
	FILL(2, 1, 16) FILL(4, 2, 32) FILL(8, 3, 64) COMPARE(1, 0, 8, 57) COMPARE(2, 1, 16, 49)
		COMPARE(4, 2, 32, 33) COMPARE(8, 3, 64, 1);
