/* SPDX-License-Identifier: MIT */
/*
 * fake_registry_calls.h - the other half of fake_registry.h: what each call does, and the threads.
 */
#ifndef TESTS_UNIT_REGISTRY_CLIENT_FAKE_REGISTRY_CALLS_H
#define TESTS_UNIT_REGISTRY_CLIENT_FAKE_REGISTRY_CALLS_H

#include "tests/unit/registry-client/fake_registry.h"

/* 202 with the session's address and how far it is. */
static inline void fake_session(struct fake_call *call, const char *id, const char *repository,
				const char *status)
{
	char name[64];
	struct fake_thing *upload;

	snprintf(name, sizeof(name), "upload %s", id);
	upload = fake_find(call->fake, name);
	fake_add(call, "Location", "/v2/%s/blobs/uploads/%s?_state=s%zu", repository, id,
		 upload ? upload->length : 0);
	fake_add(call, "Range", "0-%zu", upload && upload->length ? upload->length - 1 : 0);
	if (call->fake->flags & FAKE_MIN_CHUNK)
		fake_add(call, "OCI-Chunk-Min-Length", "%d", 2 << 20);
	fake_answer(call, status, "", 0);
}

static inline void fake_begin_upload(struct fake_call *call, const char *repository)
{
	char id[32], name[64], digest[512];

	if (fake_query(call, "mount", digest) && call->fake->flags & FAKE_MOUNTS) {
		snprintf(name, sizeof(name), "blob %.50s", digest);
		fake_add(call, "Location", "/v2/%s/blobs/%s", repository, digest);
		fake_answer(call, "201 Created", "", 0);
		return;
	}
	snprintf(id, sizeof(id), "u%d", ++call->fake->next_upload);
	snprintf(name, sizeof(name), "upload %s", id);
	fake_put(call->fake, name, "", "", 0);
	fake_session(call, id, repository, "202 Accepted");
}

static inline void fake_append(struct fake_thing *upload, const char *bytes, size_t length)
{
	upload->bytes = realloc(upload->bytes, upload->length + length + 1);
	memcpy(upload->bytes + upload->length, bytes, length);
	upload->length += length;
}

/* A body that did not come whole: a session that resumes keeps it, any other is dead. */
static inline bool fake_keep_body(struct fake_call *call, struct fake_thing *upload)
{
	if (call->is_torn && !(call->fake->flags & FAKE_RESUMES)) {
		upload->is_torn = true;
		return false;
	}
	if (call->length)
		fake_append(upload, call->body, call->length);
	return !call->is_torn;
}

static inline void fake_finish_upload(struct fake_call *call, struct fake_thing *upload,
				      const char *repository)
{
	char wanted[512] = "", digest[DIGEST_TEXT_BYTES];

	fake_query(call, "digest", wanted);
	digest_of_as(upload->bytes, upload->length, wanted, digest);
	if (strcmp(wanted, digest) != 0) {
		fake_error(call, "400 Bad Request", "DIGEST_INVALID");
		return;
	}
	fake_put_blob_as(call->fake, upload->bytes, upload->length, wanted);
	fake_drop(call->fake, upload->name);
	fake_add(call, "Location", "/v2/%s/blobs/%s", repository, digest);
	fake_answer(call, "201 Created", "", 0);
}

static inline void fake_upload(struct fake_call *call, const char *repository, const char *rest)
{
	char id[32], name[64], range[512];
	unsigned long long from;
	struct fake_thing *upload;

	snprintf(id, sizeof(id), "%.*s", (int)strcspn(rest, "?/"), rest);
	snprintf(name, sizeof(name), "upload %s", id);
	if (!*id) {
		fake_begin_upload(call, repository);
		return;
	}
	upload = fake_find(call->fake, name);
	if (!upload || upload->is_torn) {
		if (strcmp(call->method, "DELETE") == 0)
			fake_drop(call->fake, name);
		fake_error(call, "404 Not Found", "BLOB_UPLOAD_UNKNOWN");
	} else if (strcmp(call->method, "GET") == 0) {
		fake_session(call, id, repository, "204 No Content");
	} else if (strcmp(call->method, "DELETE") == 0) {
		fake_drop(call->fake, name);
		fake_answer(call, "204 No Content", "", 0);
	} else if (fake_header(call, "\nContent-Range:", range) &&
		   (sscanf(range, "%llu-", &from) != 1 || from != upload->length)) {
		fake_session(call, id, repository, "416 Range Not Satisfiable");
	} else if (fake_keep_body(call, upload)) {
		if (strcmp(call->method, "PUT") == 0)
			fake_finish_upload(call, upload, repository);
		else
			fake_session(call, id, repository, "202 Accepted");
	}
}

static inline void fake_put_reference(struct fake_call *call, const char *repository,
				      const char *reference)
{
	const char *subject = strstr(call->body, "\"subject\"");
	char type[512] = "", digest[DIGEST_TEXT_BYTES], name[256];

	digest_of(call->body, call->length, digest);
	fake_header(call, "\nContent-Type:", type);
	fake_put_manifest(call->fake, repository, strchr(reference, ':') ? NULL : reference, type,
			  call->body, call->length);
	if (strncmp(reference, "sha512:", 7) == 0) {
		snprintf(name, sizeof(name), "%.100s %.140s", repository, reference);
		fake_put(call->fake, name, type, call->body, call->length);
	}
	fake_add(call, "Docker-Content-Digest", "%s", digest);
	fake_add(call, "Location", "/v2/%s/manifests/%s", repository, digest);
	subject = subject ? strstr(subject, "sha256:") : NULL;
	if (subject && call->fake->flags & FAKE_REFERRERS)
		fake_add(call, "OCI-Subject", "%.71s", subject);
	fake_answer(call, "201 Created", "", 0);
}

static inline void fake_delete_reference(struct fake_call *call, const char *repository,
					 const char *reference)
{
	bool is_tag = !strchr(reference, ':');
	struct fake_thing *thing;
	char name[400];

	if (!(call->fake->flags & (is_tag ? FAKE_DELETES_TAGS : FAKE_DELETES))) {
		fake_error(call, "405 Method Not Allowed", "UNSUPPORTED");
		return;
	}
	snprintf(name, sizeof(name), "%s %s", repository, reference);
	thing = fake_find(call->fake, name);
	if (!thing) {
		fake_error(call, "404 Not Found", "MANIFEST_UNKNOWN");
		return;
	}
	for (size_t i = 0; !is_tag && i < call->fake->thing_count; i++) {
		struct fake_thing *other = &call->fake->things[i];

		if (other != thing && other->bytes && other->length == thing->length &&
		    memcmp(other->bytes, thing->bytes, thing->length) == 0)
			fake_drop(call->fake, other->name);
	}
	fake_drop(call->fake, name);
	fake_answer(call, "202 Accepted", "", 0);
}

static inline void fake_manifest(struct fake_call *call, const char *repository,
				 const char *reference)
{
	const struct fake_thing *thing;
	char name[400];

	if (strcmp(call->method, "PUT") == 0) {
		fake_put_reference(call, repository, reference);
		return;
	}
	if (strcmp(call->method, "DELETE") == 0) {
		fake_delete_reference(call, repository, reference);
		return;
	}
	snprintf(name, sizeof(name), "%s %s", repository, reference);
	thing = fake_find(call->fake, name);
	if (thing)
		fake_serve(call, thing, false);
	else
		fake_error(call, "404 Not Found", "MANIFEST_UNKNOWN");
}

/* Those of the stored manifests that name the digest as their subject. */
static inline void fake_referrers(struct fake_call *call, const char *digest)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	size_t count = 0;

	str_addf(&text, "{\"schemaVersion\":2,\"mediaType\":\"%s\",\"manifests\":[",
		 MEDIA_OCI_INDEX);
	for (size_t i = 0; i < call->fake->thing_count; i++) {
		const struct fake_thing *thing = &call->fake->things[i];
		const char *subject = thing->bytes ? strstr(thing->bytes, "\"subject\"") : NULL;
		char own[DIGEST_TEXT_BYTES];

		if (!subject || !strstr(subject, digest) || !strstr(thing->name, "sha256:"))
			continue;
		digest_of(thing->bytes, thing->length, own);
		str_addf(
			&text,
			"%s{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu,\"artifactType\":\"application/x\"}",
			count++ ? "," : "", thing->type, own, thing->length);
	}
	str_add(&text, "]}");
	fake_add(call, "Content-Type", MEDIA_OCI_INDEX);
	fake_answer(call, "200 OK", text.text, text.length);
}

/* Tags in pages of two. */
static inline void fake_tags(struct fake_call *call, const char *repository)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	char last[512] = "";
	const char *tag = "";
	size_t count = 0, length = strlen(repository);
	bool passed, more = false;

	passed = !fake_query(call, "last", last);
	str_addf(&text, "{\"name\":\"%s\",\"tags\":[", repository);
	for (size_t i = 0; i < call->fake->thing_count; i++) {
		const struct fake_thing *thing = &call->fake->things[i];

		if (strncmp(thing->name, repository, length) != 0 || thing->name[length] != ' ' ||
		    strchr(thing->name, ':') || !thing->bytes)
			continue;
		if (passed && count == 2)
			more = true;
		if (passed && count < 2)
			str_addf(&text, "%s\"%s\"", count++ ? "," : "",
				 tag = thing->name + length + 1);
		passed |= strcmp(thing->name + length + 1, last) == 0;
	}
	str_add(&text, "]}");
	if (more)
		fake_add(call, "Link", "</v2/%s/tags/list?last=%s&n=2>; rel=\"next\"", repository,
			 tag);
	fake_answer(call, "200 OK", text.text, text.length);
}

/* NAME/blobs/..., NAME/manifests/... */
static inline void fake_route(struct fake_call *call)
{
	char repository[256], name[400], *rest;
	const struct fake_thing *thing;
	const char *path = call->path + strlen("/v2/");

	if ((rest = strstr(call->path, "/blobs/uploads/"))) {
		snprintf(repository, sizeof(repository), "%.*s", (int)(rest - path), path);
		fake_upload(call, repository, rest + strlen("/blobs/uploads/"));
	} else if ((rest = strstr(call->path, "/blobs/"))) {
		snprintf(name, sizeof(name), "blob %.*s",
			 (int)strcspn(rest + strlen("/blobs/"), " ?"), rest + strlen("/blobs/"));
		thing = fake_find(call->fake, name);
		if (thing)
			fake_serve(call, thing, !(call->fake->flags & FAKE_NO_RANGES));
		else
			fake_error(call, "404 Not Found", "BLOB_UNKNOWN");
	} else if ((rest = strstr(call->path, "/manifests/"))) {
		snprintf(repository, sizeof(repository), "%.*s", (int)(rest - path), path);
		fake_manifest(call, repository, rest + strlen("/manifests/"));
	} else if ((rest = strstr(call->path, "/tags/list"))) {
		snprintf(repository, sizeof(repository), "%.*s", (int)(rest - path), path);
		fake_tags(call, repository);
	} else if ((rest = strstr(call->path, "/referrers/")) &&
		   call->fake->flags & FAKE_REFERRERS) {
		snprintf(name, sizeof(name), "%.71s", rest + strlen("/referrers/"));
		fake_referrers(call, name);
	} else {
		fake_error(call, "404 Not Found", "NAME_UNKNOWN");
	}
}

static inline bool fake_is_let_in(struct fake_call *call)
{
	char value[512] = "";

	fake_header(call, "\nAuthorization:", value);
	if (call->fake->flags & FAKE_BASIC)
		return strcmp(value, "Basic b3BzOnMzY3JldA==") == 0;
	return strncmp(value, "Bearer ", 7) == 0 && strcmp(value + 7, call->fake->token) == 0;
}

static inline void fake_token(struct fake_call *call)
{
	char text[128];

	snprintf(call->fake->token, sizeof(call->fake->token), "T%d", ++call->fake->next_token);
	snprintf(text, sizeof(text), "{\"token\":\"%s\",\"expires_in\":300}", call->fake->token);
	fake_answer(call, "200 OK", text, strlen(text));
}

static inline void fake_dispatch(struct fake_call *call)
{
	int flags = call->fake->flags;
	const struct fake_rule *rule = call->rule;

	if (rule && rule->status) {
		fake_answer(call, rule->status, rule->body ? rule->body : "",
			    rule->body ? strlen(rule->body) : 0);
	} else if (strncmp(call->path, "/token", 6) == 0) {
		fake_token(call);
	} else if (strncmp(call->path, "/store/", 7) == 0) {
		char name[400];
		const struct fake_thing *thing;

		snprintf(name, sizeof(name), "blob %.*s", (int)strcspn(call->path + 7, " ?"),
			 call->path + 7);
		thing = fake_find(call->fake, name);
		if (thing)
			fake_serve(call, thing, true);
		else
			fake_error(call, "404 Not Found", "BLOB_UNKNOWN");
	} else if (flags & (FAKE_BASIC | FAKE_BEARER) && !fake_is_let_in(call)) {
		if (flags & FAKE_BASIC)
			fake_add(call, "WWW-Authenticate", "Basic realm=\"fake\"");
		else
			fake_add(
				call, "WWW-Authenticate",
				"Bearer realm=\"http://127.0.0.1:%d/token\",service=\"fake\",scope=\"repository:x:pull,push\"",
				call->fake->port);
		fake_error(call, "401 Unauthorized", "UNAUTHORIZED");
	} else if (strcmp(call->path, "/v2/") == 0) {
		fake_answer(call, "200 OK", "{}", 2);
	} else {
		fake_route(call);
	}
}

static inline struct fake_rule *fake_match(struct fake_call *call)
{
	for (size_t i = 0; i < call->fake->rule_count; i++) {
		struct fake_rule *rule = &call->fake->rules[i];

		if ((rule->method && strcmp(rule->method, call->method) != 0) ||
		    !strstr(call->path, rule->path))
			continue;
		rule->hits++;
		if (rule->hits > rule->skip &&
		    (!rule->times || rule->hits <= rule->skip + rule->times))
			return rule;
	}
	return NULL;
}

/* The head, and as much of the body as the rules let through. False: no more requests. */
static inline bool fake_read(struct fake_call *call)
{
	size_t have = 0, wanted = 0, torn_at = SIZE_MAX;
	char value[512], *end = NULL;
	ssize_t got;

	while (!end && have < sizeof(call->head) - 1) {
		got = recv(call->fd, call->head + have, sizeof(call->head) - 1 - have, 0);
		if (got <= 0)
			return false;
		have += (size_t)got;
		call->head[have] = '\0';
		end = strstr(call->head, "\r\n\r\n");
	}
	if (!end || sscanf(call->head, "%15s %2047s", call->method, call->path) != 2)
		return false;
	pthread_mutex_lock(&call->fake->lock);
	call->rule = fake_match(call);
	pthread_mutex_unlock(&call->fake->lock);
	if (fake_header(call, "\nContent-Length:", value))
		wanted = strtoull(value, NULL, 10);
	call->body = calloc(1, wanted + 1);
	have -= (size_t)(end + 4 - call->head);
	memcpy(call->body, end + 4, have < wanted ? have : wanted);
	if (fake_header(call, "\nExpect:", value))
		fake_send(call, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	end[2] = '\0';
	call->length = have < wanted ? have : wanted;
	if (call->rule && call->rule->cut_in && call->rule->cut_in < wanted)
		torn_at = call->rule->cut_in;
	fake_count_body(call, wanted, 1);
	while (call->length < wanted && call->length < torn_at) {
		size_t room = torn_at < wanted ? torn_at : wanted;

		got = recv(call->fd, call->body + call->length, room - call->length, 0);
		if (got <= 0)
			break;
		call->length += (size_t)got;
	}
	fake_count_body(call, wanted, -1);
	call->is_torn = call->length < wanted;
	return true;
}

static inline bool fake_serve_one(struct fake *fake, int fd)
{
	struct fake_call *call = calloc(1, sizeof(*call));
	struct linger now = {1, 0};
	bool goes_on;

	call->fake = fake;
	call->fd = fd;
	str_init(&call->out);
	goes_on = fake_read(call);
	if (goes_on) {
		pthread_mutex_lock(&fake->lock);
		if (fake->request_count < FAKE_REQUESTS)
			fake->requests[fake->request_count++] = fake_record(call);
		if (call->rule && call->rule->hang_up)
			call->closes = true;
		else
			fake_dispatch(call);
		pthread_mutex_unlock(&fake->lock);
		call->closes |= call->is_torn;
		if (call->closes && call->is_torn)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	}
	goes_on = goes_on && !call->closes;
	free(call->body);
	str_release(&call->out);
	free(call);
	return goes_on;
}

struct fake_client {
	struct fake *fake;
	int fd;
};
static inline void *fake_serve_client(void *arg)
{
	struct fake_client client = *(struct fake_client *)arg;

	free(arg);
	while (fake_serve_one(client.fake, client.fd))
		;
	shutdown(client.fd, SHUT_WR);
	return NULL;
}

static inline void *fake_accept(void *arg)
{
	struct fake *fake = arg;

	for (;;) {
		struct fake_client *client;
		int fd = accept(fake->fd, NULL, NULL);

		if (fd < 0)
			return NULL;
		if (fake->stop || fake->client_count == FAKE_REQUESTS) {
			close(fd);
			continue;
		}
		client = malloc(sizeof(*client));
		*client = (struct fake_client){fake, fd};
		fake->clients[fake->client_count].fd = fd;
		pthread_create(&fake->clients[fake->client_count++].thread, NULL, fake_serve_client,
			       client);
	}
}

static inline void fake_start(struct fake *fake, int flags, struct fake_rule *rules,
			      size_t rule_count)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	*fake = (struct fake){.flags = flags, .rules = rules, .rule_count = rule_count};
	pthread_mutex_init(&fake->lock, NULL);
	fake->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fake->fd, (struct sockaddr *)&address, length) < 0 || listen(fake->fd, 64) < 0 ||
	    getsockname(fake->fd, (struct sockaddr *)&address, &length) < 0)
		abort();
	fake->port = ntohs(address.sin_port);
	snprintf(fake->address, sizeof(fake->address), "127.0.0.1:%d", fake->port);
	pthread_create(&fake->thread, NULL, fake_accept, fake);
}

/* Ends the threads; the requests stay until fake_free. */
static inline void fake_stop(struct fake *fake)
{
	fake->stop = true;
	shutdown(fake->fd, SHUT_RDWR);
	pthread_join(fake->thread, NULL);
	close(fake->fd);
	for (size_t i = 0; i < fake->client_count; i++) {
		shutdown(fake->clients[i].fd, SHUT_RDWR);
		pthread_join(fake->clients[i].thread, NULL);
		close(fake->clients[i].fd);
	}
}

static inline void fake_free(struct fake *fake)
{
	for (size_t i = 0; i < fake->thing_count; i++)
		free(fake->things[i].bytes);
	for (size_t i = 0; i < fake->request_count; i++)
		free(fake->requests[i]);
	pthread_mutex_destroy(&fake->lock);
}

#endif
