/* SPDX-License-Identifier: MIT */
/*
 * Does what a text of PTX says, one thread after the other, as far as the worker's verification needs it: the instructions
 * of ptx_ops, registers of 64 bits, and memory that the test lends. An instruction that is not there, a jump to nowhere, a
 * register that is not declared and an access beside the memory that was lent fail the test.
 * Meaning of the instructions: docs.nvidia.com/cuda/parallel-thread-execution.
 */
#ifndef TESTS_UNIT_WORKER_PTX_H
#define TESTS_UNIT_WORKER_PTX_H

#include "tests/unit/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PTX_CODE_MAX 80
#define PTX_NAMES_MAX 48
#define PTX_STEPS_MAX 10000000

enum ptx_op {
	PTX_ADD,
	PTX_SUB,
	PTX_MIN,
	PTX_REM,
	PTX_SHL,
	PTX_SHR,
	PTX_SAR,
	PTX_XOR,
	PTX_AND,
	PTX_MUL,
	PTX_MAD,
	PTX_GE,
	PTX_LT,
	PTX_EQ,
	PTX_SGE,
	PTX_SLE,
	PTX_MOV,
	PTX_BRA,
	PTX_RET,
	PTX_PARAM,
	PTX_LD,
	PTX_LDS,
	PTX_LD2,
	PTX_ST,
	PTX_RED_ADD,
	PTX_RED_MIN
};

/* The name, what it does, and the bytes of its operand in memory or of its registers. */
static const struct {
	const char *name;
	enum ptx_op op;
	int bytes;
} ptx_ops[] = {
	{"add.u64", PTX_ADD, 8},
	{"sub.u64", PTX_SUB, 8},
	{"min.u64", PTX_MIN, 8},
	{"rem.u64", PTX_REM, 8},
	{"shl.b64", PTX_SHL, 8},
	{"shr.u64", PTX_SHR, 8},
	{"shr.s64", PTX_SAR, 8},
	{"xor.b64", PTX_XOR, 8},
	{"and.pred", PTX_AND, 8},
	{"mul.wide.u32", PTX_MUL, 4},
	{"mad.wide.u32", PTX_MAD, 4},
	{"setp.ge.u64", PTX_GE, 8},
	{"setp.lt.u64", PTX_LT, 8},
	{"setp.eq.u64", PTX_EQ, 8},
	{"setp.ge.s64", PTX_SGE, 8},
	{"setp.le.s64", PTX_SLE, 8},
	{"mov.u64", PTX_MOV, 8},
	{"mov.u32", PTX_MOV, 4},
	{"cvt.u64.u32", PTX_MOV, 4},
	{"cvta.to.global.u64", PTX_MOV, 8},
	{"bra", PTX_BRA, 0},
	{"ret", PTX_RET, 0},
	{"ld.param.u64", PTX_PARAM, 8},
	{"ld.global.u8", PTX_LD, 1},
	{"ld.global.u16", PTX_LD, 2},
	{"ld.global.u32", PTX_LD, 4},
	{"ld.global.u64", PTX_LD, 8},
	{"ld.global.s8", PTX_LDS, 1},
	{"ld.global.s16", PTX_LDS, 2},
	{"ld.global.s32", PTX_LDS, 4},
	{"ld.global.s64", PTX_LDS, 8},
	{"ld.global.v2.s64", PTX_LD2, 16},
	{"st.global.u8", PTX_ST, 1},
	{"st.global.u16", PTX_ST, 2},
	{"st.global.u32", PTX_ST, 4},
	{"st.global.u64", PTX_ST, 8},
	{"red.global.add.u64", PTX_RED_ADD, 8},
	{"red.global.min.u64", PTX_RED_MIN, 8},
};

/* The special registers come first. */
enum { PTX_TID, PTX_NTID, PTX_CTAID, PTX_NCTAID, PTX_SPECIAL };

struct ptx_operand {
	int name;	/* of registers, labels or parameters; -1: none */
	int64_t number; /* an immediate, or what is added to an address */
};

struct ptx_instruction {
	enum ptx_op op;
	int bytes, predicate; /* the name of its register; -1: none */
	struct ptx_operand operands[4];
};

struct ptx_kernel {
	struct ptx_instruction code[PTX_CODE_MAX];
	int count, name_count, parameter_count;
	char names[PTX_NAMES_MAX][24];
	int labels[PTX_NAMES_MAX]; /* where a name is a label; -1 */
	uint64_t registers[PTX_NAMES_MAX], parameters[8];
	struct {
		const void *at;
		size_t bytes;
	} lent[4];
};

/* The number of a name, which is new if @declares. */
static int ptx_name(struct ptx_kernel *k, const char *text, size_t length, bool declares)
{
	for (int i = 0; i < k->name_count; i++)
		if (strlen(k->names[i]) == length && strncmp(k->names[i], text, length) == 0)
			return i;
	if (!declares || k->name_count == PTX_NAMES_MAX || length >= sizeof(k->names[0]))
		fail_msg("PTX: what is %.*s?", (int)length, text);
	memcpy(k->names[k->name_count], text, length);
	k->labels[k->name_count] = -1;
	return k->name_count++;
}

static const char *ptx_skip(const char *at)
{
	return at + strspn(at, " \n,{}[]");
}

static const char *ptx_operand(struct ptx_kernel *k, const char *at, struct ptx_operand *operand)
{
	size_t length = strcspn(at, " ,;+{}[]");

	*operand = (struct ptx_operand){.name = -1};
	if ((*at >= '0' && *at <= '9') || *at == '-') {
		operand->number = strtoll(at, NULL, 10);
		return ptx_skip(at + length);
	}
	operand->name = ptx_name(k, at, length, *at != '%'); /* labels may follow */
	at += length;
	if (*at == '+')
		operand->number = strtoll(at + 1, NULL, 10), at += strcspn(at, "]");
	return ptx_skip(at);
}

/* "@%p bra next" */
static void ptx_read_instruction(struct ptx_kernel *k, const char *at)
{
	struct ptx_instruction *in = &k->code[k->count++];
	size_t length, i = 0, operands = 0;

	assert_in_range(k->count, 1, PTX_CODE_MAX);
	in->predicate = -1;
	if (*at == '@') {
		length = strcspn(++at, " ");
		in->predicate = ptx_name(k, at, length, false);
		at = ptx_skip(at + length);
	}
	length = strcspn(at, " ;");
	while (i < sizeof(ptx_ops) / sizeof(ptx_ops[0]) &&
	       (strlen(ptx_ops[i].name) != length || strncmp(ptx_ops[i].name, at, length) != 0))
		i++;
	if (i == sizeof(ptx_ops) / sizeof(ptx_ops[0]))
		fail_msg("PTX: no instruction %.*s", (int)length, at);
	in->op = ptx_ops[i].op;
	in->bytes = ptx_ops[i].bytes;
	for (at = ptx_skip(at + length); *at != ';'; operands++) {
		assert_in_range(operands, 0, 3);
		at = ptx_operand(k, at, &in->operands[operands]);
	}
}

/* The names of ".reg .b64 %a, %b;" or of one ".param .u64 p_a". */
static void ptx_declare(struct ptx_kernel *k, const char *at, char end)
{
	while (*(at = ptx_skip(at)) != end && *at) {
		size_t length = strcspn(at, " ,;)\n");

		if (*at == '%' || strncmp(at, "p_", 2) == 0)
			ptx_name(k, at, length, true);
		at += length;
	}
}

/* Reads the kernel @name of @text. */
static void ptx_read(const char *text, const char *name, struct ptx_kernel *k)
{
	static const char *const special[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"};
	char entry[64];
	const char *at;

	memset(k, 0, sizeof(*k));
	for (int i = 0; i < PTX_SPECIAL; i++)
		ptx_name(k, special[i], strlen(special[i]), true);
	snprintf(entry, sizeof(entry), ".visible .entry %s(", name);
	at = strstr(text, entry);
	assert_non_null(at);
	ptx_declare(k, at + strlen(entry), ')');
	k->parameter_count = k->name_count - PTX_SPECIAL;
	for (at = strchr(at, '{') + 2; *at != '}'; at = strchr(at, '\n') + 1) {
		size_t length;

		at += *at == ' ';
		length = strcspn(at, ":\n");
		if (at[length] == ':')
			k->labels[ptx_name(k, at, length, true)] = k->count;
		else if (strncmp(at, ".reg", 4) == 0)
			ptx_declare(k, at, ';');
		else
			ptx_read_instruction(k, at);
	}
}

/* The address of an operand, whose bytes must lie in what was lent, aligned to their size. */
static unsigned char *ptx_memory(const struct ptx_kernel *k, const struct ptx_operand *operand,
				 int bytes)
{
	uint64_t at = k->registers[operand->name] + (uint64_t)operand->number;

	for (size_t i = 0; i < 4; i++) {
		uint64_t from = (uint64_t)(uintptr_t)k->lent[i].at;

		if (at >= from && at - from + (uint64_t)bytes <= k->lent[i].bytes &&
		    at % (uint64_t)bytes == 0)
			return (unsigned char *)(uintptr_t)at;
	}
	fail_msg("PTX: %d bytes beside the memory", bytes);
	return NULL;
}

static uint64_t ptx_calculate(enum ptx_op op, uint64_t a, uint64_t b, uint64_t c)
{
	switch (op) {
	case PTX_ADD:
		return a + b;
	case PTX_SUB:
		return a - b;
	case PTX_MIN:
		return a < b ? a : b;
	case PTX_REM:
		return a % b;
	case PTX_SHL:
		return a << b;
	case PTX_SHR:
		return a >> b;
	case PTX_SAR:
		return (uint64_t)((int64_t)a >> b);
	case PTX_XOR:
		return a ^ b;
	case PTX_AND:
		return a & b;
	case PTX_MUL:
		return (uint64_t)(uint32_t)a * (uint32_t)b;
	case PTX_MAD:
		return (uint64_t)(uint32_t)a * (uint32_t)b + c;
	case PTX_GE:
		return a >= b;
	case PTX_LT:
		return a < b;
	case PTX_EQ:
		return a == b;
	case PTX_SGE:
		return (int64_t)a >= (int64_t)b;
	case PTX_SLE:
		return (int64_t)a <= (int64_t)b;
	default:
		return a;
	}
}

static void ptx_touch(struct ptx_kernel *k, const struct ptx_instruction *in)
{
	const struct ptx_operand *first = &in->operands[0], *second = &in->operands[1];
	bool loads = in->op == PTX_LD || in->op == PTX_LDS, pair = in->op == PTX_LD2;
	unsigned char *at = ptx_memory(k,
				       loads  ? second
				       : pair ? &in->operands[2]
					      : first,
				       in->bytes);
	unsigned unused = (unsigned)(64 - 8 * (in->bytes % 16));
	uint64_t value = 0;

	if (pair) {
		memcpy(&k->registers[first->name], at, 8);
		memcpy(&k->registers[second->name], at + 8, 8);
		return;
	}
	memcpy(&value, at, (size_t)in->bytes);
	if (in->op == PTX_LDS)
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	if (loads) {
		k->registers[first->name] = value;
		return;
	}
	if (in->op == PTX_ST)
		value = k->registers[second->name];
	else
		value = ptx_calculate(in->op == PTX_RED_ADD ? PTX_ADD : PTX_MIN, value,
				      k->registers[second->name], 0);
	memcpy(at, &value, (size_t)in->bytes);
}

static uint64_t ptx_value(const struct ptx_kernel *k, const struct ptx_operand *operand, int bytes)
{
	uint64_t value =
		operand->name < 0 ? (uint64_t)operand->number : k->registers[operand->name];

	return bytes == 4 ? (uint32_t)value : value;
}

/* One thread, whose special registers are set. Returns how many instructions it took. */
static long ptx_run_thread(struct ptx_kernel *k)
{
	long steps = 0;

	for (int at = 0; at < k->count; steps++) {
		const struct ptx_instruction *in = &k->code[at++];
		const struct ptx_operand *o = in->operands;

		if (steps > PTX_STEPS_MAX)
			fail_msg("PTX: it does not end");
		if (in->predicate >= 0 && !k->registers[in->predicate])
			continue;
		if (in->op == PTX_RET)
			return steps;
		if (in->op == PTX_BRA) {
			at = k->labels[o->name];
			assert_true(at >= 0);
		} else if (in->op == PTX_PARAM) {
			k->registers[o->name] = k->parameters[o[1].name - PTX_SPECIAL];
		} else if (in->op >= PTX_LD) {
			ptx_touch(k, in);
		} else {
			bool wide = in->op == PTX_MAD; /* the third operand is */

			k->registers[o->name] = ptx_calculate(
				in->op, ptx_value(k, &o[1], in->bytes),
				ptx_value(k, &o[2], in->bytes), wide ? ptx_value(k, &o[3], 8) : 0);
		}
	}
	fail_msg("PTX: it does not return");
	return 0;
}

/* Runs all threads, with parameters and memory as they are. */
static void ptx_run(struct ptx_kernel *k, unsigned blocks, unsigned threads)
{
	k->registers[PTX_NTID] = threads;
	k->registers[PTX_NCTAID] = blocks;
	for (unsigned block = 0; block < blocks; block++)
		for (unsigned thread = 0; thread < threads; thread++) {
			memset(k->registers + PTX_SPECIAL, 0xa5,
			       (size_t)(PTX_NAMES_MAX - PTX_SPECIAL) * 8);
			k->registers[PTX_TID] = thread;
			k->registers[PTX_CTAID] = block;
			ptx_run_thread(k);
		}
}

#endif
