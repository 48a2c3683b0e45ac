/* SPDX-License-Identifier: MIT */
/*
 * libcurl when it is first needed (late.h). Its 30 libraries are two thirds of the program's start and of its memory, and most
 * commands speak no HTTP.
 *
 * What curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt take is a pointer, a long or a curl_off_t. All of them are one word
 * of 64 bits on the processors that the program is built for, and are handed on as one.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/late.h"

#include <stdarg.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

_Static_assert(sizeof(void *) == sizeof(long) && sizeof(curl_off_t) == sizeof(long),
	       "a word for each argument");

static struct late late_library = {
	.file = "libcurl.so.4",
	.advice =
		"HTTP needs libcurl.so.4, version 7.83 or newer, which cannot be loaded; install libcurl4",
};

#define LATE_CURL_WORD(result, name, handle, option) \
	result name(handle *own, option what, ...)   \
	{                                            \
		LATE_LOOK_UP(name)                   \
		va_list arguments;                   \
		void *word;                          \
		va_start(arguments, what);           \
		word = va_arg(arguments, void *);    \
		va_end(arguments);                   \
		return call(own, what, word);        \
	}

LATE_CALL(CURLcode, curl_global_init, (long flags), (flags))
LATE_CALL(CURL *, curl_easy_init, (void), ())
LATE_DO(curl_easy_cleanup, (CURL * easy), (easy))
LATE_DO(curl_easy_reset, (CURL * easy), (easy))
LATE_CALL(const char *, curl_easy_strerror, (CURLcode code), (code))
LATE_CALL(char *, curl_easy_escape, (CURL * easy, const char *text, int length),
	  (easy, text, length))
LATE_CALL(CURLHcode, curl_easy_header,
	  (CURL * easy, const char *name, size_t index, unsigned origin, int request,
	   struct curl_header **header),
	  (easy, name, index, origin, request, header))
LATE_DO(curl_free, (void *text), (text))
LATE_CALL(time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused))
LATE_CALL(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),
	  (list, text))
LATE_DO(curl_slist_free_all, (struct curl_slist * list), (list))

LATE_CALL(CURLM *, curl_multi_init, (void), ())
LATE_CALL(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))
LATE_CALL(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))
LATE_CALL(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))
LATE_CALL(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))
LATE_CALL(CURLMcode, curl_multi_poll,
	  (CURLM * multi, struct curl_waitfd more[], unsigned count, int timeout_ms, int *ready),
	  (multi, more, count, timeout_ms, ready))
LATE_CALL(CURLMcode, curl_multi_wakeup, (CURLM * multi), (multi))
LATE_CALL(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))

LATE_CALL(CURLU *, curl_url, (void), ())
LATE_DO(curl_url_cleanup, (CURLU * url), (url))
LATE_CALL(CURLUcode, curl_url_set, (CURLU * url, CURLUPart part, const char *text, unsigned flags),
	  (url, part, text, flags))
/* curl_url_get by another name here: whether its URL is const depends on the version of the header. */
CURLUcode late_curl_url_get(CURLU *url, CURLUPart part, char **text,
			    unsigned flags) __asm__("curl_url_get");

CURLUcode late_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags)
{
	LATE_LOOK_UP(curl_url_get)
	return call(url, part, text, flags);
}

LATE_CURL_WORD(CURLcode, curl_easy_setopt, CURL, CURLoption)
LATE_CURL_WORD(CURLcode, curl_easy_getinfo, CURL, CURLINFO)
LATE_CURL_WORD(CURLMcode, curl_multi_setopt, CURLM, CURLMoption)
