/* SPDX-License-Identifier: MIT */
/*
 * breach.h - a rule that two or more values break: rules.c finds it, and explain.c puts it in
 * words.
 */
#ifndef RESOLVER_RULES_BREACH_H
#define RESOLVER_RULES_BREACH_H

#include "resolver/rules/rules.h"

enum breach_kind {
	BREACH_NEEDS,	   /* the value's own cell excludes the other */
	BREACH_NEEDED,	   /* the other's cell excludes the value */
	BREACH_OS,	   /* a row for another OS */
	BREACH_KIND,	   /* packages for another package manager */
	BREACH_SINCE,	   /* packages that are older than the OS's repository */
	BREACH_REPOSITORY, /* no packages and no image of this CUDA for this OS */
	BREACH_DRIVER,	   /* too old for this CUDA */
	BREACH_JIT,	   /* a GPU newer than the toolkit, and no PTX for it */
	BREACH_PTX,	 /* PTX is all that a wheel has for a GPU, and a driver is too old for it */
	BREACH_WHEELS,	 /* what pip installs with one wheel replaces what the other one needs */
	BREACH_CONFLICT, /* a row of conflicts.csv */
};

struct breach {
	enum breach_kind kind;
	const struct value *other; /* may be NULL for BREACH_JIT; the wheel for BREACH_PTX */
	const struct conflict_rule *conflict;
	uint32_t blame; /* components that take part, except the value's own */
};

/* The first rule that the value breaks with the chosen values. Call rules_prepare first. */
bool breach_find(const struct search *search, const struct value *value, struct breach *breach);

#endif
