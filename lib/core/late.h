/* SPDX-License-Identifier: MIT */
/*
 * late.h - a library that is loaded when the first of its functions is called.
 *
 * Most commands need neither HTTP nor archives, and a library that is linked costs every one of them its start and its memory, with
 * all libraries that it needs itself. So the program is not linked to such a library. A file of these macros defines functions with
 * the library's own names and types, and callers see the library's header alone.
 *
 * Such a file has, before the macros, a `static struct late late_library`.
 */
#ifndef CORE_LATE_H
#define CORE_LATE_H

struct late {
	const char *file;   /* "libcurl.so.4" */
	const char *advice; /* what is said where it, or a function of it, is not there */
	void *handle;
};

/*
 * The function of that name, from any thread. Where there is none the program ends with the advice: no caller can go on without it,
 * as without memory; somebody has the program without the libraries that it needs.
 */
void *late_symbol(struct late *late, const char *name);

/* The function itself as `call`: looked up at the first call, by each thread that comes before the first one has it. */
#define LATE_LOOK_UP(name)                                                    \
	static __typeof__(name) *late;                                        \
	__typeof__(name) *call = __atomic_load_n(&late, __ATOMIC_RELAXED);    \
	if (!call) {                                                          \
		call = (__typeof__(name) *)late_symbol(&late_library, #name); \
		__atomic_store_n(&late, call, __ATOMIC_RELAXED);              \
	}

/* A function with a result, and one without. */
#define LATE_CALL(result, name, parameters, arguments) \
	result name parameters                         \
	{                                              \
		LATE_LOOK_UP(name)                     \
		return call arguments;                 \
	}

#define LATE_DO(name, parameters, arguments) \
	void name parameters                 \
	{                                    \
		LATE_LOOK_UP(name)           \
		call arguments;              \
	}

#endif
