/* SPDX-License-Identifier: MIT */
/*
 * libcurl when it is first needed. Its 30 libraries are two thirds of the program's start and of its memory, and most commands
 * speak no HTTP: so the program is not linked to it, and these functions, which have its names, load it at the first call.
 *
 * What curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt take is a pointer, a long or a curl_off_t. All of them are one word
 * of 64 bits on the processors that the program is built for, and are handed on as one.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

_Static_assert(sizeof(void *) == sizeof(long) && sizeof(curl_off_t) == sizeof(long),
	       "a word for each argument");

#define LATE_CURL_LIBRARY "libcurl.so.4"

static void *late_curl;

static void late_curl_open(void)
{
	late_curl = dlopen(LATE_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* No caller can go on without it, as without memory: somebody has the program without the libraries that it needs. */
static void *late_curl_symbol(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *symbol;

	pthread_once(&once, late_curl_open);
	symbol = late_curl ? dlsym(late_curl, name) : NULL;
	if (!symbol) {
		log_error("HTTP needs " LATE_CURL_LIBRARY
			  ", version 7.83 or newer, which cannot be loaded; install libcurl4");
		abort();
	}
	return symbol;
}

/* The function itself: looked up at the first call, by each thread that comes before the first one has it. */
#define LATE_CURL(name)                                                    \
	static __typeof__(name) *late;                                     \
	__typeof__(name) *call = __atomic_load_n(&late, __ATOMIC_RELAXED); \
	if (!call) {                                                       \
		call = (__typeof__(name) *)late_curl_symbol(#name);        \
		__atomic_store_n(&late, call, __ATOMIC_RELAXED);           \
	}

#define LATE_CURL_CALL(result, name, parameters, arguments) \
	result name parameters                              \
	{                                                   \
		LATE_CURL(name)                             \
		return call arguments;                      \
	}

#define LATE_CURL_DO(name, parameters, arguments) \
	void name parameters                      \
	{                                         \
		LATE_CURL(name)                   \
		call arguments;                   \
	}

#define LATE_CURL_WORD(result, name, handle, option) \
	result name(handle *own, option what, ...)   \
	{                                            \
		LATE_CURL(name)                      \
		va_list arguments;                   \
		void *word;                          \
		va_start(arguments, what);           \
		word = va_arg(arguments, void *);    \
		va_end(arguments);                   \
		return call(own, what, word);        \
	}

LATE_CURL_CALL(CURLcode, curl_global_init, (long flags), (flags))
LATE_CURL_CALL(CURL *, curl_easy_init, (void), ())
LATE_CURL_DO(curl_easy_cleanup, (CURL * easy), (easy))
LATE_CURL_DO(curl_easy_reset, (CURL * easy), (easy))
LATE_CURL_CALL(const char *, curl_easy_strerror, (CURLcode code), (code))
LATE_CURL_CALL(char *, curl_easy_escape, (CURL * easy, const char *text, int length),
	       (easy, text, length))
LATE_CURL_CALL(CURLHcode, curl_easy_header,
	       (CURL * easy, const char *name, size_t index, unsigned origin, int request,
		struct curl_header **header),
	       (easy, name, index, origin, request, header))
LATE_CURL_DO(curl_free, (void *text), (text))
LATE_CURL_CALL(time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused))
LATE_CURL_CALL(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),
	       (list, text))
LATE_CURL_DO(curl_slist_free_all, (struct curl_slist * list), (list))

LATE_CURL_CALL(CURLM *, curl_multi_init, (void), ())
LATE_CURL_CALL(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))
LATE_CURL_CALL(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))
LATE_CURL_CALL(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))
LATE_CURL_CALL(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))
LATE_CURL_CALL(CURLMcode, curl_multi_poll,
	       (CURLM * multi, struct curl_waitfd more[], unsigned count, int timeout_ms,
		int *ready),
	       (multi, more, count, timeout_ms, ready))
LATE_CURL_CALL(CURLMcode, curl_multi_wakeup, (CURLM * multi), (multi))
LATE_CURL_CALL(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))

LATE_CURL_CALL(CURLU *, curl_url, (void), ())
LATE_CURL_DO(curl_url_cleanup, (CURLU * url), (url))
LATE_CURL_CALL(CURLUcode, curl_url_set,
	       (CURLU * url, CURLUPart part, const char *text, unsigned flags),
	       (url, part, text, flags))
/* curl_url_get by another name here: whether its URL is const depends on the version of the header. */
CURLUcode late_curl_url_get(CURLU *url, CURLUPart part, char **text,
			    unsigned flags) __asm__("curl_url_get");

CURLUcode late_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags)
{
	LATE_CURL(curl_url_get)
	return call(url, part, text, flags);
}

LATE_CURL_WORD(CURLcode, curl_easy_setopt, CURL, CURLoption)
LATE_CURL_WORD(CURLcode, curl_easy_getinfo, CURL, CURLINFO)
LATE_CURL_WORD(CURLMcode, curl_multi_setopt, CURLM, CURLMoption)
