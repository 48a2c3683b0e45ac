/* SPDX-License-Identifier: MIT */
/* limits.h - what an image may unpack to: `image.limits` of cluster.yaml, and flags that go before it. */
#ifndef CLI_APP_LIMITS_H
#define CLI_APP_LIMITS_H

#include "cli/app/command.h"
#include "oci/budget.h"

struct limit_options {
	const char *max_unpacked; /* a size, or NULL */
	int max_entries;	  /* 0: not given */
};

/* Rows for a command's table; `member` is a struct limit_options of its options. */
#define LIMIT_OPTIONS(type, member)                                                                \
	{0,	   "max-unpacked",                                                                 \
	 "SIZE",   "what an image may unpack to here, as in 40G (what the disk has free)",         \
	 OPT_TEXT, offsetof(type, member.max_unpacked)},                                           \
	{                                                                                          \
		0, "max-entries", "N", "how many files an image may unpack to (2000000)", OPT_INT, \
			offsetof(type, member.max_entries)                                         \
	}

/* The flags, and for what they do not say, the cluster. */
int limits_of(const struct limit_options *options, const struct cluster *cluster,
	      struct budget_limits *limits, struct error *err);

/* The same with the cluster of cluster.yaml, if there is one, or with the defaults. */
int limits_read(struct context *ctx, const struct limit_options *options,
		struct budget_limits *limits, struct error *err);

#endif
