/* SPDX-License-Identifier: MIT */
#include "rendezvous/hello.h"
#include "backend/backend.h"
#include "host/placement.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PURPOSE_BYTES 32
#define PORT_MAX 65535

static void read_boot_id(char *text, size_t bytes)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : -1;

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void hello_version(char version[VERSION_BYTES], const struct options *options)
{
	snprintf(version, VERSION_BYTES, "%s%s", ALLREDUCE_VERSION,
		 fault_hits(&options->fault, FAULT_VERSION, options->rank) ? "-fault" : "");
}

int hello_fill(struct hello *hello, const struct options *options, struct failure *err)
{
	struct greeting *greeting = &hello->greeting;

	memset(hello, 0, sizeof(*hello));
	greeting->magic = HELLO_MAGIC;
	greeting->protocol = PROTOCOL;
	greeting->rank = (uint32_t)options->rank;
	greeting->world = (uint32_t)options->world;
	hello_version(greeting->version, options);
	snprintf(greeting->host, sizeof(greeting->host), "%s", options->host);
	text_tidy(greeting->host, sizeof(greeting->host));
	return secret_random(hello->nonce, sizeof(hello->nonce), err);
}

int hello_challenge(struct exchange *exchange, const struct options *options, struct failure *err)
{
	struct challenge *challenge = &exchange->challenge;

	memset(challenge, 0, sizeof(*challenge));
	challenge->magic = CHALLENGE_MAGIC;
	challenge->protocol = PROTOCOL;
	hello_version(challenge->version, options);
	if (secret_random(challenge->nonce, sizeof(challenge->nonce), err) < 0)
		return -1;
	hello_prove(&options->secret, PROOF_ROOT, exchange, NULL, 0, challenge->proof);
	return 0;
}

void hello_introduce(struct introduction *intro, const struct options *options,
		     const struct failure *unusable)
{
	struct member *member = &intro->member;

	memset(intro, 0, sizeof(*intro));
	snprintf(member->host, sizeof(member->host), "%s", options->host);
	text_tidy(member->host, sizeof(member->host));
	hello_version(member->version, options);
	read_boot_id(member->kernel, sizeof(member->kernel));
	member->pid = (uint32_t)getpid();
	member->private_memory = options->no_shm;
	member->cores = (uint32_t)placement_cores();
	if (unusable->status == STATUS_PASS)
		snprintf(member->library, sizeof(member->library), "%s",
			 backend_find(options->backend)->version());
	text_tidy(member->library, sizeof(member->library));
	snprintf(intro->backend, sizeof(intro->backend), "%s",
		 backend_find(options->backend)->name);
	intro->unusable = *unusable;
}

void hello_prove(const struct secret *secret, enum proof what, const struct exchange *exchange,
		 const void *data, size_t bytes, uint8_t proof[MAC_BYTES])
{
	static const char purposes[][PURPOSE_BYTES] = {
		[PROOF_ROOT] = "ringup rendezvous: rank 0 is",
		[PROOF_RANK] = "ringup rendezvous: a rank joins",
		[PROOF_INTRODUCTION] = "ringup rendezvous: introduction",
		[PROOF_WELCOME] = "ringup rendezvous: welcome",
	};
	struct hmac hmac;

	hmac_init(&hmac, secret->bytes, secret_length(secret));
	hmac_add(&hmac, purposes[what], PURPOSE_BYTES);
	hmac_add(&hmac, &exchange->hello, sizeof(exchange->hello));
	hmac_add(&hmac, &exchange->challenge, offsetof(struct challenge, proof));
	if (bytes > 0)
		hmac_add(&hmac, data, bytes);
	hmac_finish(&hmac, proof);
}

bool hello_is_proven(const struct secret *secret, enum proof what, const struct exchange *exchange,
		     const void *data, size_t bytes, const uint8_t proof[MAC_BYTES])
{
	uint8_t right[MAC_BYTES];

	hello_prove(secret, what, exchange, data, bytes, right);
	return hmac_equal(right, proof, sizeof(right));
}

void hello_run_key(const struct secret *secret, const uint8_t run_id[RUN_ID_BYTES],
		   uint8_t key[MAC_BYTES])
{
	static const char purpose[PURPOSE_BYTES] = "ringup: the key of a run";
	struct hmac hmac;

	hmac_init(&hmac, secret->bytes, secret_length(secret));
	hmac_add(&hmac, purpose, sizeof(purpose));
	hmac_add(&hmac, run_id, RUN_ID_BYTES);
	hmac_finish(&hmac, key);
}

#define PLAIN(text) text_is_plain(text, sizeof(text))

const char *hello_problem(const struct greeting *greeting)
{
	if (!PLAIN(greeting->host) || !PLAIN(greeting->version) || !greeting->version[0])
		return "a host name or version that is no text";
	return NULL;
}

const char *hello_member_problem(const struct member *member)
{
	if (!PLAIN(member->host) || !PLAIN(member->version) || !PLAIN(member->kernel) ||
	    !PLAIN(member->library))
		return "a host name or version that is no text";
	if (!PLAIN(member->address) || !net_is_numeric(member->address))
		return "an address that is none";
	if (member->port == 0 || member->port > PORT_MAX)
		return "a port that does not exist";
	return NULL;
}

const char *hello_intro_problem(struct introduction *intro)
{
	if (!PLAIN(intro->backend))
		return "a backend that does not exist";
	if (intro->unusable.status != STATUS_PASS)
		failure_tidy(&intro->unusable);
	return hello_member_problem(&intro->member);
}
