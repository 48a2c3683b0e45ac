/* SPDX-License-Identifier: MIT */
/*
 * condition.h - the conditions of recipes/findings.csv.
 *
 *   condition  all { or all }              all   one { and one }
 *   one        not one | ( condition ) | test
 *   test       NAME                        it is known, and neither "no" nor "0"
 *              missing(NAME)               it is not known
 *              differs(NAME)               hosts of the fleet do not agree on it; a number that is not known counts not
 *              VALUE OPERATOR VALUE        VALUE: NAME, 'text', a number, count(NAME)
 *              any NAME OPERATOR VALUE     one entry of a list with ';' between is so
 *   OPERATOR   == != < <= > >= contains like has
 *
 * `like` compares with a pattern of fnmatch(3), and `has` looks for an entry of a list. Two numbers
 * compare as numbers; other texts are equal or not, and lie before or behind each other as versions
 * do (plan/version.h). What is not known compares with nothing: every test but missing() is false.
 */
#ifndef DEPLOYER_DOCTOR_CONDITION_H
#define DEPLOYER_DOCTOR_CONDITION_H

#include "core/arena.h"
#include "core/error.h"

#define CONDITION_DEPTH_MAX 32 /* of brackets and "not" */

struct condition;

/* Where names get their values. */
struct condition_world {
	/* The value of a name; "" unknown. Never NULL. */
	const char *(*value)(const void *arg, const char *name);
	bool (*differs)(const void *arg, const char *name);
	const void *arg;
};

/*
 * Parses it into the arena. ERROR_USAGE says what is wrong and where. `known` says which names there
 * are; NULL allows all.
 */
int condition_parse(const char *text, bool (*known)(const char *name), struct arena *arena,
		    struct condition **condition, struct error *err);

bool condition_holds(const struct condition *condition, const struct condition_world *world);

#endif
