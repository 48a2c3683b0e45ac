/* SPDX-License-Identifier: MIT */
#include "core/late.h"

#include "core/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

void *late_symbol(struct late *late, const char *name)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	void *symbol;

	pthread_mutex_lock(&mutex);
	if (!late->handle)
		late->handle = dlopen(late->file, RTLD_NOW | RTLD_LOCAL);
	symbol = late->handle ? dlsym(late->handle, name) : NULL;
	pthread_mutex_unlock(&mutex);
	if (!symbol) {
		log_error(late->advice);
		abort();
	}
	return symbol;
}
