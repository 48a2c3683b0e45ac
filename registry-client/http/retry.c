/* SPDX-License-Identifier: MIT */
#include "registry-client/http/retry.h"

#include "registry-client/limits.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

uint64_t retry_pause_usec(uint64_t first_usec, int tries)
{
	uint64_t pause = first_usec;
	uint32_t dice = 0;

	for (int i = 1; i < tries && pause < RETRY_LONGEST_USEC; i++)
		pause *= 2;
	if (pause > RETRY_LONGEST_USEC)
		pause = RETRY_LONGEST_USEC;
	if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) < 0)
		dice = UINT32_MAX / 2;
	return pause / 2 + pause / 2 * dice / UINT32_MAX;
}

bool retry_after_usec(const char *value, time_t now, uint64_t *usec)
{
	size_t digits = strspn(value, "0123456789");
	long long seconds;

	if (digits && !value[digits + strspn(value + digits, " \t")]) {
		seconds = digits > 9 ? RETRY_AFTER_SECONDS_MAX : strtoll(value, NULL, 10);
	} else {
		time_t when = curl_getdate(value, NULL);

		if (when < 0)
			return false;
		seconds = when > now ? (long long)(when - now) : 0;
	}
	if (seconds > RETRY_AFTER_SECONDS_MAX)
		seconds = RETRY_AFTER_SECONDS_MAX;
	*usec = (uint64_t)seconds * 1000000;
	return true;
}
