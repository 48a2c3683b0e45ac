/* SPDX-License-Identifier: MIT */
#include "cli/app/confirm.h"

#include "core/foreign.h"
#include "core/term.h"

#include <stdio.h>
#include <strings.h>

int confirm(const char *question, const char *otherwise, struct error *err)
{
	char answer[16] = "";

	if (!term_is_tty(stdin))
		return error_set(err, ERROR_USAGE,
				 "this needs a yes, and there is no terminal to ask at; %s",
				 otherwise);
	say_to(stderr, "%s [y/N] ", question);
	fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin) ||
	    (strcasecmp(answer, "y\n") != 0 && strcasecmp(answer, "yes\n") != 0))
		return error_set(err, ERROR_FAILED, "the answer was no: nothing was changed");
	return 0;
}
