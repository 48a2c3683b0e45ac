/* SPDX-License-Identifier: MIT */
/*
 * dlopen(), or the reason why there is none: a program that is linked statically (build.sh with
 * STATIC=1) has no use of shared objects that need a libc of their own.
 */
#ifndef WORKER_LIBRARY_H
#define WORKER_LIBRARY_H

#include <dlfcn.h>
#include <stddef.h>

/* As dlopen(). */
static inline void *library_open(const char *path, int flags)
{
#ifdef ALLREDUCE_STATIC
	(void)path;
	(void)flags;
	return NULL;
#else
	return dlopen(path, flags);
#endif
}

/* As dlerror(): why the last library_open() failed, NULL if it did not. */
static inline const char *library_error(void)
{
#ifdef ALLREDUCE_STATIC
	return "this allreduce is linked statically and opens no libraries; build it without STATIC=1";
#else
	return dlerror();
#endif
}

#endif
