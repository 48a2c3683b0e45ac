/* SPDX-License-Identifier: MIT */
#include "deployer/access/sshfp.h"

#include "core/str.h"
#include "deployer/ssh/keys/host_key.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <openssl/evp.h>
#include <resolv.h>
#include <string.h>

#define SSHFP_TYPE 44
#define SSHFP_HEADER_BYTES 2 /* algorithm and digest */
#define SSHFP_SHA1 1
#define SSHFP_SHA256 2
#define ANSWER_BYTES_MAX (4 * KIB) /* libc announces 1,200 */
#define ANSWER_TC 0x02	  /* in the third byte: cut to fit a datagram (RFC 1035, section 4.1.1) */
#define ANSWER_RCODE 0x0f /* in the fourth byte */
#define ASK_TRY_S 2
#define ASK_TRIES 2
#define KEY_BASE64_MAX (16 * KIB)

static size_t sshfp_digest_bytes(unsigned digest)
{
	return digest == SSHFP_SHA1 ? 20 : digest == SSHFP_SHA256 ? 32 : 0;
}

static int sshfp_add(const ns_rr *rr, const char *name, struct sshfp *found, struct error *err)
{
	const unsigned char *data = ns_rr_rdata(*rr);
	size_t length = ns_rr_rdlen(*rr);
	struct sshfp_record *record = &found->records[found->count];

	if (length <= SSHFP_HEADER_BYTES)
		return error_set(err, ERROR_FAILED, "DNS: an SSHFP record of %s is cut", name);
	if (data[0] < 1 || data[0] > 4 || !sshfp_digest_bytes(data[1]))
		return 0;
	length -= SSHFP_HEADER_BYTES;
	if (length != sshfp_digest_bytes(data[1]))
		return error_set(err, ERROR_FAILED,
				 "DNS: an SSHFP record of %s has a fingerprint of %zu bytes", name,
				 length);
	if (found->count == SSHFP_RECORDS_MAX)
		return error_set(err, ERROR_FAILED, "DNS: %s has more than %d SSHFP records", name,
				 SSHFP_RECORDS_MAX);
	record->algorithm = data[0];
	record->digest = data[1];
	record->length = length;
	memcpy(record->bytes, data + SSHFP_HEADER_BYTES, length);
	found->count++;
	return 0;
}

static int sshfp_cut(const char *name, struct error *err)
{
	return error_set(err, ERROR_FAILED,
			 "DNS: the SSHFP records of %s do not fit into one datagram", name);
}

int sshfp_parse(const unsigned char *answer, size_t bytes, const char *name, struct sshfp *found,
		struct error *err)
{
	char owner[NS_MAXDNAME]; /* the name, then what its CNAMEs lead to */
	ns_msg msg;
	ns_rr rr;

	*found = (struct sshfp){0};
	snprintf(owner, sizeof(owner), "%s", name);
	if (ends_with(owner, "."))
		owner[strlen(owner) - 1] = '\0';
	if (bytes > NS_MAXMSG || ns_initparse(answer, (int)bytes, &msg) < 0)
		return error_set(err, ERROR_FAILED, "DNS: the answer about %s is damaged", name);
	if (ns_msg_getflag(msg, ns_f_tc))
		return sshfp_cut(name, err);
	if (ns_msg_getflag(msg, ns_f_rcode) != ns_r_noerror &&
	    ns_msg_getflag(msg, ns_f_rcode) != ns_r_nxdomain)
		return error_set(err, ERROR_FAILED, "DNS: the answer about %s is error %d", name,
				 ns_msg_getflag(msg, ns_f_rcode));
	found->authenticated = ns_msg_getflag(msg, ns_f_ad);
	for (int i = 0; i < ns_msg_count(msg, ns_s_an); i++) {
		if (ns_parserr(&msg, ns_s_an, i, &rr) < 0)
			return error_set(err, ERROR_FAILED, "DNS: the answer about %s is damaged",
					 name);
		if (ns_rr_class(rr) != ns_c_in || strcasecmp(ns_rr_name(rr), owner) != 0)
			continue;
		if (ns_rr_type(rr) == SSHFP_TYPE && sshfp_add(&rr, name, found, err) < 0)
			return -1;
		if (ns_rr_type(rr) == ns_t_cname &&
		    ns_name_uncompress(ns_msg_base(msg), ns_msg_end(msg), ns_rr_rdata(rr), owner,
				       sizeof(owner)) < 0)
			return error_set(err, ERROR_FAILED, "DNS: the answer about %s is damaged",
					 name);
	}
	return 0;
}

/*
 * One question to the servers of resolv.conf. *bytes is 0 when there are no records. libc says "no data" also of an
 * answer that was cut before its first record, and "try again" of an error, so the answer itself is looked at.
 */
static int sshfp_send(struct __res_state *state, const char *name,
		      unsigned char answer[static ANSWER_BYTES_MAX], size_t *bytes,
		      struct error *err)
{
	int got;

	memset(answer, 0, ANSWER_BYTES_MAX);
	errno = 0;
	got = res_nquery(state, name, ns_c_in, SSHFP_TYPE, answer, ANSWER_BYTES_MAX);
	*bytes = got < 0 ? 0 : (size_t)got;
	if (*bytes > ANSWER_BYTES_MAX)
		return error_set(err, ERROR_FAILED, "DNS: the answer about %s is too long", name);
	if (got >= 0 || state->res_h_errno == NO_DATA || state->res_h_errno == HOST_NOT_FOUND)
		return 0;
	return error_set(err, ERROR_FAILED,
			 "DNS: no answer to the question for the SSHFP records of %s: %s", name,
			 (answer[3] & ANSWER_RCODE) == ns_r_servfail
				 ? "the server failed, as it does when signatures are wrong"
				 : strerror(errno ? errno : EIO));
}

static int sshfp_ask_as(struct __res_state *state, const char *name, struct sshfp *found,
			struct error *err)
{
	unsigned char answer[ANSWER_BYTES_MAX];
	size_t bytes;

	if (sshfp_send(state, name, answer, &bytes, err) < 0)
		return -1;
	if (answer[2] & ANSWER_TC) {
		/* without the signatures it is shorter */
		state->options &= ~(unsigned long)RES_USE_DNSSEC;
		if (sshfp_send(state, name, answer, &bytes, err) < 0)
			return -1;
	}
	if (answer[2] & ANSWER_TC)
		return sshfp_cut(name, err);
	return bytes ? sshfp_parse(answer, bytes, name, found, err) : 0;
}

int sshfp_ask(const char *name, struct sshfp *found, struct error *err)
{
	struct __res_state state = {0};
	int rc;

	*found = (struct sshfp){0};
	if (res_ninit(&state) < 0)
		return error_set(err, ERROR_FAILED, "DNS: resolv.conf cannot be read");
	state.retrans = ASK_TRY_S;
	state.retry = ASK_TRIES;
	state.options &= ~(unsigned long)RES_USEVC;
	state.options |= RES_USE_EDNS0 | RES_USE_DNSSEC | RES_IGNTC;
	rc = sshfp_ask_as(&state, name, found, err);
#ifdef RES_TRUSTAD
	if (!(state.options & RES_TRUSTAD))
#endif
		found->authenticated = false;
	res_nclose(&state);
	return rc;
}

static unsigned sshfp_algorithm(const char *type)
{
	if (strcmp(type, "ssh-rsa") == 0)
		return 1;
	if (strcmp(type, "ssh-dss") == 0)
		return 2;
	if (starts_with(type, "ecdsa-sha2-"))
		return 3;
	return strcmp(type, "ssh-ed25519") == 0 ? 4 : 0;
}

enum sshfp_verdict sshfp_compare(const struct sshfp *found, const char *type, const char *base64)
{
	unsigned char key[KEY_BASE64_MAX], hash[EVP_MAX_MD_SIZE];
	size_t length = strlen(base64);
	unsigned algorithm = sshfp_algorithm(type), hash_bytes;
	enum sshfp_verdict verdict = SSHFP_NONE;
	size_t got;

	if (!algorithm || length > KEY_BASE64_MAX)
		return SSHFP_NONE;
	got = host_key_decode(base64, key);
	if (!got)
		return SSHFP_NONE;
	for (size_t i = 0; i < found->count; i++) {
		const struct sshfp_record *record = &found->records[i];

		if (record->algorithm != algorithm)
			continue;
		if (EVP_Digest(key, got, hash, &hash_bytes,
			       record->digest == SSHFP_SHA1 ? EVP_sha1() : EVP_sha256(),
			       NULL) != 1 ||
		    hash_bytes != record->length || memcmp(hash, record->bytes, hash_bytes) != 0)
			return SSHFP_OTHER;
		verdict = SSHFP_SAME;
	}
	return verdict;
}
