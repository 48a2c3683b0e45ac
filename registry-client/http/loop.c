/* SPDX-License-Identifier: MIT */
#include "registry-client/http/loop.h"

#include "core/arena.h"
#include "registry-client/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop *loop_new(void)
{
	struct loop *loop = xmalloc(sizeof(*loop));

	*loop = (struct loop){.multi = curl_multi_init()};
	if (!loop->multi)
		oom();
	curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX);
	pthread_mutex_init(&loop->lock, NULL);
	pthread_cond_init(&loop->turned, NULL);
	return loop;
}

static void free_shared(struct shared_blob *blob)
{
	free(blob->place);
	free(blob->repository);
	free(blob);
}

void loop_free(struct loop *loop)
{
	while (loop->shared) {
		struct shared_blob *blob = loop->shared;

		loop->shared = blob->next;
		free_shared(blob);
	}
	curl_multi_cleanup(loop->multi);
	pthread_mutex_destroy(&loop->lock);
	pthread_cond_destroy(&loop->turned);
	free(loop);
}

const struct shared_blob *shared_find(const struct loop *loop, const char *place,
				      const char *repository, const char *digest)
{
	const struct shared_blob *best = NULL;

	for (const struct shared_blob *b = loop->shared; b; b = b->next) {
		if (strcmp(b->digest, digest) != 0 || strcmp(b->place, place) != 0)
			continue;
		if (!best || (b->is_there && !best->is_there))
			best = b;
		if (b->is_there && strcmp(b->repository, repository) == 0)
			return b;
	}
	return best;
}

struct shared_blob *shared_add(struct loop *loop, const char *place, const char *repository,
			       const char *digest, bool is_there)
{
	struct shared_blob *blob = xmalloc(sizeof(*blob));

	*blob = (struct shared_blob){.next = loop->shared,
				     .place = strdup(place),
				     .repository = strdup(repository),
				     .is_there = is_there};
	if (!blob->place || !blob->repository)
		oom();
	snprintf(blob->digest, sizeof(blob->digest), "%s", digest);
	loop->shared = blob;
	return blob;
}

void shared_drop(struct loop *loop, struct shared_blob *blob)
{
	struct shared_blob **place;

	if (!blob)
		return;
	pthread_mutex_lock(&loop->lock);
	for (place = &loop->shared; *place && *place != blob; place = &(*place)->next)
		;
	if (*place && !blob->is_there) {
		*place = blob->next;
		free_shared(blob);
	}
	pthread_mutex_unlock(&loop->lock);
}
