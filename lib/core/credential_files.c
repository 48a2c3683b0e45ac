/* SPDX-License-Identifier: MIT */
#include "core/credential_files.h"

#include "core/arena.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/proc.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CERTIFICATE_DAYS 825
#define CA_DAYS 3650
#define DAY_SECONDS 86400
#define PASSWORD_BYTES 16
#define CERTIFICATE_BYTES_MAX (1 * MIB)

static const char *credential_files_in(const char *folder, const char *name, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

int certificate_expiry(const char *path, int64_t *seconds, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(file_close) FILE *file = NULL;
	X509 *certificate;
	struct tm when = {0};
	struct error ignored;
	size_t length;
	char *pem;
	bool ok;

	if (file_read(path, CERTIFICATE_BYTES_MAX, &arena, &pem, &length, &ignored) == 0 && length)
		file = fmemopen(pem, length, "r");
	certificate = file ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
	ok = certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &when) == 1;
	X509_free(certificate);
	if (!ok)
		return error_set(err, ERROR_FAILED,
				 "%s is not a certificate; remove it, and ringup makes a new one",
				 path);
	*seconds = timegm(&when);
	return 0;
}

int certificate_days_left(int64_t expires)
{
	int64_t left = expires - (int64_t)time(NULL);

	return (int)(left / DAY_SECONDS) - (left < 0);
}

/* How many days the file's certificate is still valid; -1 for a missing or damaged one. */
static int days_left(const char *path)
{
	struct error ignored;
	int64_t expires;

	return certificate_expiry(path, &expires, &ignored) < 0 ? -1
								: certificate_days_left(expires);
}

static bool is_address(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static const char *extensions(const char *const *hosts, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; hosts[i]; i++) {
		const char *host = hosts[i];

		str_addf(&text, "%s%s:%s",
			 i ? "," : "subjectAltName=", is_address(host) ? "IP" : "DNS", host);
		if (strcmp(host, "127.0.0.1") == 0)
			str_add(&text, ",DNS:localhost");
	}
	str_add(&text, "\nextendedKeyUsage=serverAuth\n");
	return arena_strdup(arena, text.text);
}

static int make_ca(const char *name, const char *ca, const char *key, struct arena *arena,
		   struct error *err)
{
	return proc_check(WORDS("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
				"ec_paramgen_curve:P-256", "-nodes", "-days",
				arena_printf(arena, "%d", CA_DAYS), "-subj",
				arena_printf(arena, "/CN=%s CA", name), "-keyout", key, "-out", ca),
			  err);
}

/* A certificate never outlives its CA. */
static int issue(const char *folder, const char *name, struct arena *arena, struct error *err)
{
	const char *ca = credential_files_in(folder, "ca.pem", arena),
		   *csr = credential_files_in(folder, "server.csr", arena);
	int days = days_left(ca);

	if (proc_check(WORDS("openssl", "req", "-newkey", "ec", "-pkeyopt",
			     "ec_paramgen_curve:P-256", "-nodes", "-subj",
			     arena_printf(arena, "/CN=%s", name), "-keyout",
			     credential_files_in(folder, "server.key", arena), "-out", csr),
		       err) < 0)
		return -1;
	return proc_check(
		WORDS("openssl", "x509", "-req", "-in", csr, "-CA", ca, "-CAkey",
		      credential_files_in(folder, "ca.key", arena), "-CAcreateserial", "-days",
		      arena_printf(arena, "%d", days < CERTIFICATE_DAYS ? days : CERTIFICATE_DAYS),
		      "-extfile", credential_files_in(folder, "server.ext", arena), "-out",
		      credential_files_in(folder, "server.pem", arena)),
		err);
}

static bool credential_files_holds(const char *path, const char *text, struct arena *arena)
{
	struct error ignored;
	char *old;

	return file_read(path, 64 * KIB, arena, &old, NULL, &ignored) == 0 &&
	       strcmp(old, text) == 0;
}

int certificate_files_make(const char *folder, const char *name, const char *const *hosts,
			   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *ca = credential_files_in(folder, "ca.pem", &arena),
		   *ca_key = credential_files_in(folder, "ca.key", &arena);
	const char *server = credential_files_in(folder, "server.pem", &arena);
	const char *ext = credential_files_in(folder, "server.ext", &arena),
		   *text = extensions(hosts, &arena);
	bool has_ca = file_exists(ca_key) && days_left(ca) >= CERTIFICATE_RENEW_DAYS;

	if (has_ca && days_left(server) >= CERTIFICATE_RENEW_DAYS &&
	    credential_files_holds(ext, text, &arena))
		return 0;
	/* If this run is interrupted, the next one sees that the certificate is missing. */
	unlink(server);
	if ((!has_ca && make_ca(name, ca, ca_key, &arena, err) < 0) ||
	    file_write(ext, text, strlen(text), 0600, err) < 0 ||
	    issue(folder, name, &arena, err) < 0)
		return error_wrap(err, "cannot make the certificates of the %s", name);
	return 0;
}

int password_files_make(const char *folder, const char *user, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *path = credential_files_in(folder, "htpasswd", &arena);
	char password[2 * PASSWORD_BYTES + 1];
	struct proc proc = {.words = WORDS("htpasswd", "-i", "-n", "-B", user),
			    .input = password,
			    .input_bytes = 2 * PASSWORD_BYTES};

	if (file_exists(path))
		return 0;
	if (random_hex(password, PASSWORD_BYTES, err) < 0 || proc_run(&proc, &result, err) < 0)
		return -1;
	if (result.status != 0)
		return proc_failed(&proc, &result, err);
	if (file_write(credential_files_in(folder, "password", &arena), password, strlen(password),
		       0600, err) < 0)
		return -1;
	return file_write(path, result.out.text, result.out.length, 0600, err);
}
