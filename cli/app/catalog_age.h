/* SPDX-License-Identifier: MIT */
/*
 * catalog_age.h - how old the catalog is: the days since the newest date of updated.csv, which `ringup catalog
 * refresh` writes.
 *
 * Today's date is the system's, or that of RINGUP_TODAY (YYYY-MM-DD), for tests and for runs that must be
 * the same on any day.
 */
#ifndef CLI_APP_CATALOG_AGE_H
#define CLI_APP_CATALOG_AGE_H

#include "resolver/catalog.h"

#define CATALOG_OLD_DAYS 120

/* Today in UTC as "2026-11-23". */
void catalog_today(char text[static 16]);

/* The newest date of updated.csv as it stands there; "" when the catalog has none. */
const char *catalog_date(const struct catalog *catalog);

/* Days from that date to today; 0 when there is no date, or when it is not past. */
long catalog_age_days(const struct catalog *catalog);

/* One warning in the life of the process when the catalog is older than CATALOG_OLD_DAYS. */
void catalog_age_warn(const struct catalog *catalog);

#endif
