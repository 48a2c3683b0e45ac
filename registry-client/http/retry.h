/* SPDX-License-Identifier: MIT */
/* retry.h - how long to wait before the next try. */
#ifndef REGISTRY_CLIENT_HTTP_RETRY_H
#define REGISTRY_CLIENT_HTTP_RETRY_H

#include "core/base.h"

#include <time.h>

/*
 * The pause before try number `tries` + 1 (tries from 1): `first_usec`, doubled each time, less a
 * random part of up to a half, so that many clients do not come back at the same moment.
 */
uint64_t retry_pause_usec(uint64_t first_usec, int tries);

/*
 * Reads a Retry-After header: seconds, or a date (RFC 9110, 10.2.3) taken from `now`. False when it
 * is neither. Never more than RETRY_AFTER_SECONDS_MAX.
 */
bool retry_after_usec(const char *value, time_t now, uint64_t *usec);

#endif
