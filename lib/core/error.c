/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list args;

	err->kind = kind;
	err->system = 0;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int error_errno(struct error *err, const char *format, ...)
{
	int saved = errno;
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_set(err, ERROR_FAILED, "%.1400s: %s", text, strerror(saved));
	err->system = saved;
	return -1;
}

int error_wrap(struct error *err, const char *format, ...)
{
	char context[512], text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(context, sizeof(context), format, args);
	va_end(args);
	memcpy(text, err->text, sizeof(text));
	snprintf(err->text, sizeof(err->text), "%s: %.1000s", context, text);
	return -1;
}

int error_advise(struct error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list args;

	if (used + 4 >= sizeof(err->text))
		return -1;
	memcpy(err->text + used, "; ", 3);
	va_start(args, format);
	vsnprintf(err->text + used + 2, sizeof(err->text) - used - 2, format, args);
	va_end(args);
	return -1;
}

int error_of_input(struct error *err)
{
	static const int machine[] = {ENOSPC, EDQUOT, EIO, EROFS, ENOMEM, EMFILE, ENFILE};

	for (size_t i = 0; i < ARRAY_LEN(machine); i++)
		if (err->system == machine[i])
			return -1;
	if (err->kind == ERROR_FAILED)
		err->kind = ERROR_USAGE;
	return -1;
}
