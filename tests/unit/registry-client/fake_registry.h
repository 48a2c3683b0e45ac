/* SPDX-License-Identifier: MIT */
/*
 * fake_registry.h - a registry of the test's own, in memory, on threads: right by itself, and wrong
 * where the test's rules say so. It knows manifests, blobs with ranges, uploads in one or in
 * chunks, mounts, tags in pages, referrers and deletes. Every request is kept.
 */
#ifndef TESTS_UNIT_REGISTRY_CLIENT_FAKE_REGISTRY_H
#define TESTS_UNIT_REGISTRY_CLIENT_FAKE_REGISTRY_H

#include "core/digest.h"
#include "core/str.h"
#include "oci/manifest.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the registry can do; without any it is as strict and as poor as the specification allows. */
enum {
	FAKE_BASIC = 1,	     /* user ops, password s3cret */
	FAKE_BEARER = 2,     /* tokens T1, T2, ... of /token; only the newest of a scope counts */
	FAKE_NO_RANGES = 4,  /* 200 to a Range request */
	FAKE_RESUMES = 8,    /* a torn upload keeps what came (Distribution 3) */
	FAKE_REFERRERS = 16, /* GET referrers, OCI-Subject */
	FAKE_MOUNTS = 32,    /* POST ?mount= answers 201 */
	FAKE_DELETES = 64,   /* DELETE by digest */
	FAKE_DELETES_TAGS = 128, /* and by tag */
	FAKE_MIN_CHUNK = 256,	 /* OCI-Chunk-Min-Length: 2 MiB */
};

/* Changes the answers to some requests. */
struct fake_rule {
	const char *method;  /* NULL: any */
	const char *path;    /* part of path and query */
	int skip;	     /* so many matching requests are left alone first */
	int times;	     /* so many are changed; 0: all */
	const char *status;  /* "503 Busy": the answer; NULL: the usual one */
	const char *headers; /* header lines to add, each with \r\n; @PORT@ is the port */
	const char *body;
	const char *drop; /* name of a header that the usual answer does not get */
	size_t cut_in;	  /* hang up after so many bytes of the request's body */
	size_t cut_out;	  /* hang up after so many bytes of the answer's body */
	bool hang_up;	  /* at once */
	bool after;	  /* do the work, then hang up instead of the answer */
	bool flip;	  /* one bit of the body is wrong */
	bool longer;	  /* a byte more than announced in the descriptor */
	int hits;	  /* filled in */
};

#define FAKE_THINGS 256
#define FAKE_REQUESTS 512

struct fake_thing {
	char name[400]; /* "blob DIGEST", "REPO REF", "upload ID" */
	char type[160];
	char *bytes;
	size_t length;
	bool is_torn;
};

struct fake {
	int fd, port, flags;
	struct fake_rule *rules;
	size_t rule_count;
	pthread_t thread;
	pthread_mutex_t lock;
	bool stop;
	struct fake_thing things[FAKE_THINGS];
	size_t thing_count;
	char *requests[FAKE_REQUESTS]; /* the heads */
	size_t request_count;
	int next_upload, next_token;
	int bodies, most_bodies; /* uploads whose bytes come at the same time */
	char address[32];
	char token[16]; /* the newest */
	struct {
		pthread_t thread;
		int fd;
	} clients[FAKE_REQUESTS];
	size_t client_count;
};

/* One request under way. */
struct fake_call {
	struct fake *fake;
	int fd;
	char head[16384], method[16], path[2048];
	char *body;
	size_t length;
	bool is_torn;
	struct fake_rule *rule;
	struct str out; /* header lines */
	bool closes;
};

static inline struct fake_thing *fake_find(struct fake *fake, const char *name)
{
	for (size_t i = 0; i < fake->thing_count; i++)
		if (strcmp(fake->things[i].name, name) == 0 && fake->things[i].bytes)
			return &fake->things[i];
	return NULL;
}

static inline struct fake_thing *fake_put(struct fake *fake, const char *name, const char *type,
					  const void *bytes, size_t length)
{
	struct fake_thing *thing = fake_find(fake, name);

	if (!thing && fake->thing_count < FAKE_THINGS)
		thing = &fake->things[fake->thing_count++];
	if (!thing)
		return &fake->things[0];
	free(thing->bytes);
	*thing = (struct fake_thing){.bytes = malloc(length + 1), .length = length};
	memcpy(thing->bytes, bytes, length);
	thing->bytes[length] = '\0';
	snprintf(thing->name, sizeof(thing->name), "%s", name);
	snprintf(thing->type, sizeof(thing->type), "%s", type);
	return thing;
}

static inline void fake_drop(struct fake *fake, const char *name)
{
	struct fake_thing *thing = fake_find(fake, name);

	if (thing) {
		free(thing->bytes);
		thing->bytes = NULL;
		thing->name[0] = '\0';
	}
}

/* By the algorithm of the digest `like`. */
static inline void fake_put_blob_as(struct fake *fake, const void *bytes, size_t length,
				    const char *like)
{
	char name[160] = "blob ";

	digest_of_as(bytes, length, like, name + 5);
	fake_put(fake, name, "", bytes, length);
}

static inline void fake_put_blob(struct fake *fake, const void *bytes, size_t length)
{
	fake_put_blob_as(fake, bytes, length, "sha256:");
}

/* Under its digest and, when not NULL, a tag. */
static inline void fake_put_manifest(struct fake *fake, const char *repository, const char *tag,
				     const char *type, const void *bytes, size_t length)
{
	char name[400], digest[DIGEST_TEXT_BYTES];

	digest_of(bytes, length, digest);
	snprintf(name, sizeof(name), "%s %s", repository, digest);
	fake_put(fake, name, type, bytes, length);
	snprintf(name, sizeof(name), "%s %s", repository, tag ? tag : digest);
	if (tag)
		fake_put(fake, name, type, bytes, length);
}

/* A header of the request, in `value`; false: not there. */
static inline bool fake_header(const struct fake_call *call, const char *name, char value[512])
{
	const char *line = strcasestr(call->head, name);

	if (!line)
		return false;
	line += strlen(name);
	line += strspn(line, ": ");
	snprintf(value, 512, "%.*s", (int)strcspn(line, "\r\n"), line);
	return true;
}

/* A value of the query, percent signs undone for ':' alone. */
static inline bool fake_query(const struct fake_call *call, const char *name, char value[512])
{
	const char *found = strstr(call->path, name);
	size_t n = 0;

	if (!found || found[strlen(name)] != '=')
		return false;
	for (found += strlen(name) + 1; *found && *found != '&' && n < 511; found++) {
		if (strncasecmp(found, "%3A", 3) == 0 || strncasecmp(found, "%2F", 3) == 0) {
			value[n++] = found[1] == '3' ? ':' : '/';
			found += 2;
		} else {
			value[n++] = *found;
		}
	}
	value[n] = '\0';
	return true;
}

static inline bool fake_send(struct fake_call *call, const char *bytes, size_t length)
{
	while (length) {
		ssize_t done = send(call->fd, bytes, length, MSG_NOSIGNAL);

		if (done <= 0)
			return false;
		bytes += done;
		length -= (size_t)done;
	}
	return true;
}

static inline void fake_add(struct fake_call *call, const char *name, const char *format, ...)
	_printf_(3, 4);
static inline void fake_add(struct fake_call *call, const char *name, const char *format, ...)
{
	va_list args;

	if (call->rule && call->rule->drop && strcasecmp(call->rule->drop, name) == 0)
		return;
	str_addf(&call->out, "%s: ", name);
	va_start(args, format);
	str_vaddf(&call->out, format, args);
	va_end(args);
	str_add(&call->out, "\r\n");
}

/* "@PORT@" made the port. */
static inline void fake_add_lines(struct fake_call *call, const char *lines)
{
	const char *hole;

	while ((hole = strstr(lines, "@PORT@"))) {
		str_add_bytes(&call->out, lines, (size_t)(hole - lines));
		str_addf(&call->out, "%d", call->fake->port);
		lines = hole + 6;
	}
	str_add(&call->out, lines);
}

static inline void fake_answer(struct fake_call *call, const char *status, const char *body,
			       size_t length)
{
	bool is_head = strcmp(call->method, "HEAD") == 0;
	struct fake_rule *rule = call->rule;
	_cleanup_(str_release) struct str head = STR_INIT;
	char *copy = NULL;

	if (rule && rule->headers)
		fake_add_lines(call, rule->headers);
	if (rule && (rule->flip || rule->longer) && length) {
		copy = malloc(length + 1);
		memcpy(copy, body, length);
		copy[length] = 'x';
		copy[0] = (char)(copy[0] ^ rule->flip);
		length += rule->longer;
		body = copy;
	}
	str_addf(&head, "HTTP/1.1 %s\r\n%s", status, call->out.text);
	if (!strcasestr(call->out.text, "Content-Length:"))
		str_addf(&head, "Content-Length: %zu\r\n", length);
	str_add(&head, "\r\n");
	call->closes |= rule && (rule->status || rule->cut_out);
	if (rule && rule->cut_out && length > rule->cut_out)
		length = rule->cut_out;
	if (!(rule && rule->after) && fake_send(call, head.text, head.length) && !is_head)
		fake_send(call, body, length);
	call->closes |= rule && rule->after;
	free(copy);
}

static inline void fake_error(struct fake_call *call, const char *status, const char *code)
{
	char body[256];

	snprintf(body, sizeof(body), "{\"errors\":[{\"code\":\"%s\",\"message\":\"fake\"}]}", code);
	fake_add(call, "Content-Type", "application/json");
	fake_answer(call, status, body, strlen(body));
}

/* GET and HEAD of stored bytes, with ranges. */
static inline void fake_serve(struct fake_call *call, const struct fake_thing *thing,
			      bool has_ranges)
{
	unsigned long long from = 0, to = thing->length - 1;
	char range[512], digest[DIGEST_TEXT_BYTES];

	digest_of(thing->bytes, thing->length, digest);
	fake_add(call, "Docker-Content-Digest", "%s", digest);
	fake_add(call, "Content-Type", "%s",
		 *thing->type ? thing->type : "application/octet-stream");
	if (!has_ranges || !fake_header(call, "\nRange:", range) ||
	    sscanf(range, "bytes=%llu-%llu", &from, &to) < 1) {
		fake_answer(call, "200 OK", thing->bytes, thing->length);
	} else if (from >= thing->length) {
		fake_error(call, "416 Range Not Satisfiable", "RANGE_INVALID");
	} else {
		to = to < thing->length ? to : thing->length - 1;
		fake_add(call, "Content-Range", "bytes %llu-%llu/%zu", from, to, thing->length);
		fake_answer(call, "206 Partial Content", thing->bytes + from, to - from + 1);
	}
}

/* How many requests begin so and hold the words. */
static inline size_t fake_count(const struct fake *fake, const char *begin, const char *words)
{
	size_t count = 0;

	for (size_t i = 0; i < fake->request_count; i++)
		count += strncmp(fake->requests[i], begin, strlen(begin)) == 0 &&
			 (!words || strstr(fake->requests[i], words));
	return count;
}

static inline void fake_count_body(struct fake_call *call, size_t wanted, int change)
{
	if (!wanted || !strstr(call->path, "/blobs/uploads/"))
		return;
	pthread_mutex_lock(&call->fake->lock);
	call->fake->bodies += change;
	if (call->fake->bodies > call->fake->most_bodies)
		call->fake->most_bodies = call->fake->bodies;
	pthread_mutex_unlock(&call->fake->lock);
}

/* The head, and the form of a token request: who looks at it sees both. */
static inline char *fake_record(const struct fake_call *call)
{
	bool is_form = strncmp(call->path, "/token", 6) == 0 && call->length < 4096;
	char *text = NULL;

	if (asprintf(&text, "%s%.*s", call->head, is_form ? (int)call->length : 0, call->body) < 0)
		abort();
	return text;
}

#include "tests/unit/registry-client/fake_registry_calls.h"

#endif
