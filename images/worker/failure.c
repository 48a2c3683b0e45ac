/* SPDX-License-Identifier: MIT */
#include "failure.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const phases[PHASE_COUNT] = {
	[PHASE_JOIN] = "join",
	[PHASE_VERSION] = "version check",
	[PHASE_BOOTSTRAP] = "bootstrap",
	[PHASE_FIRST] = "first collective",
	[PHASE_RUN] = "run",
	[PHASE_PAIRS] = "pairs",
	[PHASE_LEAVE_ONE_OUT] = "leave-one-out",
	[PHASE_ONE] = "sgd one",
	[PHASE_SUM] = "sgd sum",
	[PHASE_SERVER] = "sgd server",
	[PHASE_ASYNC] = "sgd async",
};

static const char *const verdicts[] = {
	[STATUS_PASS] = "pass",
	[STATUS_USAGE] = "usage",
	[STATUS_DATA] = "wrong data",
	[STATUS_BELOW] = "below threshold",
	[STATUS_TIMEOUT] = "timeout",
	[STATUS_GPU] = "gpu unusable",
	[STATUS_VERSION] = "version mismatch",
	[STATUS_LOST] = "peer lost",
	[STATUS_SLOW] = "slow",
};

const char *phase_name(int phase)
{
	return phase >= 0 && phase < PHASE_COUNT ? phases[phase] : "unknown";
}

const char *verdict_name(int status)
{
	int count = (int)(sizeof(verdicts) / sizeof(verdicts[0]));

	return status >= 0 && status < count ? verdicts[status] : "unknown";
}

int failure_set(struct failure *err, enum status status, int rank, const char *host,
		const char *fmt, ...)
{
	va_list args;

	err->status = (int32_t)status;
	err->rank = rank;
	snprintf(err->host, sizeof(err->host), "%s", host);
	va_start(args, fmt);
	vsnprintf(err->reason, sizeof(err->reason), fmt, args);
	va_end(args);
	return -1;
}

void failure_tidy(struct failure *failure)
{
	text_tidy(failure->host, sizeof(failure->host));
	text_tidy(failure->reason, sizeof(failure->reason));
	if (failure->rank < -1)
		failure->rank = -1;
	if (failure->status <= STATUS_PASS || failure->status > STATUS_SLOW)
		failure->status = STATUS_LOST;
	if (failure->phase < 0 || failure->phase >= PHASE_COUNT)
		failure->phase = PHASE_RUN;
}
