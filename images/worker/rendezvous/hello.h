/* SPDX-License-Identifier: MIT */
/*
 * What a rank and rank 0 say to each other before the control plane begins, in this order:
 *
 *	hello (rank)		who it is, and a nonce
 *	challenge (rank 0)	its nonce, and the proof that it knows the secret
 *	answer (rank)		the proof that the rank knows it, too
 *	introduction (rank)	what the others must know of it
 *	welcome (rank 0)	once all are there: the run's id and workload; the members follow
 *
 * A proof is an HMAC-SHA-256 with the secret as its key over a text that says who proves what, the
 * hello, the challenge with both nonces and protocols, and whatever else it vouches for. So a proof is
 * of no use for another side, message, rank or run. Rank 0 proves first: who only listens at its port
 * gets nothing from a rank, and the rank tells it no more than its hello. Nothing is believed before
 * the other side's proof. Without a secret the key is empty, which rendezvous.c allows on loopback only.
 *
 * Hello, challenge and answer never change their shape, so that any two versions of the program can tell
 * each other that they differ; the rest may, together with PROTOCOL. Up to protocol 3 a rank sent the
 * greeting, with the secret in it, and its introduction, and rank 0 spoke only then.
 */
#ifndef WORKER_HELLO_H
#define WORKER_HELLO_H

#include "options.h"

#define HELLO_MAGIC 0x31524157474e4952u	    /* "RINGWAR1" read as a little-endian number */
#define CHALLENGE_MAGIC 0x32524157474e4952u /* "RINGWAR2" */
#define PROTOCOL 7
#define PROTOCOL_PROVEN 4 /* the first one with proofs */

struct greeting {
	uint64_t magic;
	uint32_t protocol;
	uint32_t rank, world;
	uint8_t secret[SECRET_BYTES]; /* up to protocol 3; since then zero */
	char version[VERSION_BYTES];
	char host[HOST_BYTES];
};

struct hello {
	struct greeting greeting;
	uint8_t nonce[NONCE_BYTES];
};

struct challenge {
	uint64_t magic;
	uint32_t protocol, unused;
	char version[VERSION_BYTES];
	uint8_t nonce[NONCE_BYTES];
	uint8_t proof[MAC_BYTES]; /* of all before it */
};

struct answer {
	uint8_t proof[MAC_BYTES];
};

struct introduction {
	struct member member;
	char backend[16];
	struct failure unusable;  /* status STATUS_PASS: the backend is usable */
	uint8_t proof[MAC_BYTES]; /* of all before it */
};

struct welcome {
	uint8_t run_id[RUN_ID_BYTES];
	struct workload workload;
	uint8_t members[MAC_BYTES]; /* SHA-256 of the `world` struct members that follow */
	uint8_t proof[MAC_BYTES];   /* of all before it */
};

/* What both sides have said. */
struct exchange {
	struct hello hello;
	struct challenge challenge;
};

/* Fill the messages of options->rank; the data address of the introduction is left to the caller. The
 * hello and the challenge get new nonces: -1 with *err set if there are none. */
int hello_fill(struct hello *hello, const struct options *options, struct failure *err);
int hello_challenge(struct exchange *exchange, const struct options *options, struct failure *err);
void hello_introduce(struct introduction *intro, const struct options *options,
		     const struct failure *unusable);

/* The proofs. */
enum proof { PROOF_ROOT, PROOF_RANK, PROOF_INTRODUCTION, PROOF_WELCOME };

/* Writes the proof of @what, which vouches for @bytes of @data, too. */
void hello_prove(const struct secret *secret, enum proof what, const struct exchange *exchange,
		 const void *data, size_t bytes, uint8_t proof[MAC_BYTES]);

/* Whether @proof is that; takes the same time for every wrong one. */
bool hello_is_proven(const struct secret *secret, enum proof what, const struct exchange *exchange,
		     const void *data, size_t bytes, const uint8_t proof[MAC_BYTES]);

/* The key of the run's data connections. */
void hello_run_key(const struct secret *secret, const uint8_t run_id[RUN_ID_BYTES],
		   uint8_t key[MAC_BYTES]);

/* What is wrong with fields that came over the network, in words that follow "with"; NULL: nothing.
 * A member is rank @rank of its table. Free text is not refused but tidied. */
const char *hello_problem(const struct greeting *greeting);
const char *hello_member_problem(const struct member *member);
const char *hello_intro_problem(struct introduction *intro);

#endif
