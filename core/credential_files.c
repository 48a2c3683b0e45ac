/* SPDX-License-Identifier: MIT */
#include "core/credential_files.h"

#include "core/arena.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/proc.h"

#include <string.h>

#define CERTIFICATE_DAYS "825"
#define PASSWORD_BYTES 16

static const char *in(const char *folder, const char *name, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

int certificate_files_make(const char *folder, const char *name, const char *host,
			   struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *ca = in(folder, "ca.pem", &arena), *ca_key = in(folder, "ca.key", &arena);
	const char *key = in(folder, "server.key", &arena), *csr = in(folder, "server.csr", &arena);
	const char *extensions = in(folder, "server.ext", &arena);
	bool is_number = !host[strspn(host, "0123456789.")] || strchr(host, ':');
	const char *text =
		arena_printf(&arena, "subjectAltName=%s:%s%s\nextendedKeyUsage=serverAuth\n",
			     is_number ? "IP" : "DNS", host,
			     strcmp(host, "127.0.0.1") == 0 ? ",DNS:localhost" : "");

	if (file_exists(in(folder, "server.pem", &arena)))
		return 0;
	if (file_write(extensions, text, strlen(text), 0600, err) < 0 ||
	    proc_check(WORDS("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
			     "ec_paramgen_curve:P-256", "-nodes", "-days", CERTIFICATE_DAYS,
			     "-subj", arena_printf(&arena, "/CN=%s CA", name), "-keyout", ca_key,
			     "-out", ca),
		       err) < 0 ||
	    proc_check(WORDS("openssl", "req", "-newkey", "ec", "-pkeyopt",
			     "ec_paramgen_curve:P-256", "-nodes", "-subj",
			     arena_printf(&arena, "/CN=%s", name), "-keyout", key, "-out", csr),
		       err) < 0 ||
	    proc_check(WORDS("openssl", "x509", "-req", "-in", csr, "-CA", ca, "-CAkey", ca_key,
			     "-CAcreateserial", "-days", CERTIFICATE_DAYS, "-extfile", extensions,
			     "-out", in(folder, "server.pem", &arena)),
		       err) < 0)
		return error_wrap(err, "cannot make the certificates of the %s", name);
	return 0;
}

int password_files_make(const char *folder, const char *user, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *path = in(folder, "htpasswd", &arena);
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
	if (file_write(in(folder, "password", &arena), password, strlen(password), 0600, err) < 0)
		return -1;
	return file_write(path, result.out.text, result.out.length, 0600, err);
}
