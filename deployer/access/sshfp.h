/* SPDX-License-Identifier: MIT */
/*
 * sshfp.h - the fingerprints of a host's keys in DNS: records of type SSHFP.
 *
 * Sources: RFC 4255 (the record; RSA 1, DSA 2, SHA-1), RFC 6594 (ECDSA 3, SHA-256), RFC 7479 (Ed25519 4); RFC 4035
 * section 3.2.3 and RFC 6840 section 5.8 for the AD bit; resolv.conf(5) for `trust-ad`.
 *
 * Whoever can send datagrams can forge an answer. So a record is worth something only when a resolver that
 * resolv.conf trusts (`options trust-ad`) says that it has checked the signatures: libc hands the AD bit on then, and
 * else clears it (glibc 2.31; with an older one no answer counts as authenticated).
 */
#ifndef DEPLOYER_ACCESS_SSHFP_H
#define DEPLOYER_ACCESS_SSHFP_H

#include "core/error.h"

#define SSHFP_RECORDS_MAX 32
#define SSHFP_BYTES_MAX 32 /* of a SHA-256 */

struct sshfp {
	size_t count;
	bool authenticated; /* the AD bit */
	struct sshfp_record {
		unsigned char algorithm, digest; /* 1 to 4; 1: SHA-1, 2: SHA-256 */
		unsigned char bytes[SSHFP_BYTES_MAX];
		size_t length;
	} records[SSHFP_RECORDS_MAX];
};

enum sshfp_verdict {
	SSHFP_NONE,  /* DNS has nothing about a key of this type */
	SSHFP_SAME,  /* every record of its type is the key's */
	SSHFP_OTHER, /* one is not: ssh(1) refuses that, too */
};

/*
 * The records in a DNS answer that belong to the name or to what its CNAMEs lead to. Algorithms and digests that
 * nobody knows are left out. ERROR_FAILED when the answer is cut, loops, says that it failed, has a digest of a wrong
 * length, or more than SSHFP_RECORDS_MAX records.
 */
int sshfp_parse(const unsigned char *answer, size_t bytes, const char *name, struct sshfp *found,
		struct error *err);

/*
 * Asks DNS for the name as it stands (no search list), in at most about ten seconds, over UDP alone: libc has no
 * deadline for TCP. No records are no error. ERROR_FAILED when there is no answer, or none that can be read.
 */
int sshfp_ask(const char *name, struct sshfp *found, struct error *err);

/* What the records say about a key, which is given by its type ("ssh-ed25519") and its wire form in base64. */
enum sshfp_verdict sshfp_compare(const struct sshfp *found, const char *type, const char *base64);

#endif
