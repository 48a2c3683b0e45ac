/* SPDX-License-Identifier: MIT */
#include "cli/app/catalog_age.h"

#include "core/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_SECONDS 86400L

/* Seconds since 1970 of the day's beginning in UTC, or -1 when the text is no date. */
static time_t catalog_parse_day(const char *text)
{
	struct tm day = {.tm_isdst = 0};
	const char *end = strptime(text, "%Y-%m-%d", &day);

	return end && !*end && strlen(text) == strlen("2026-11-23") ? timegm(&day) : (time_t)-1;
}

static time_t catalog_now(void)
{
	const char *given = getenv("RINGUP_TODAY");
	time_t day = given ? catalog_parse_day(given) : (time_t)-1;

	return day >= 0 ? day : time(NULL);
}

void catalog_today(char text[static 16])
{
	time_t now = catalog_now();
	struct tm day;

	gmtime_r(&now, &day);
	strftime(text, 16, "%Y-%m-%d", &day);
}

const char *catalog_date(const struct catalog *catalog)
{
	const struct table *table = catalog_table(catalog, "updated");
	const char *newest = "";

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *date = table_cell(table, row, "date");

		if (catalog_parse_day(date) >= 0 && strcmp(date, newest) > 0)
			newest = date;
	}
	return newest;
}

long catalog_age_days(const struct catalog *catalog)
{
	const char *date = catalog_date(catalog);
	time_t then = *date ? catalog_parse_day(date) : (time_t)-1, now = catalog_now();

	return then >= 0 && now > then ? (long)((now - then) / DAY_SECONDS) : 0;
}

void catalog_age_warn(const struct catalog *catalog)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;
	long days = catalog_age_days(catalog);

	if (days <= CATALOG_OLD_DAYS || atomic_flag_test_and_set(&warned))
		return;
	log_warn(
		"the catalog is %ld days old (%s): newer versions are not in it; 'ringup catalog refresh' adds them, and so does a newer ringup",
		days, catalog_date(catalog));
}
