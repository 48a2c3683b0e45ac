/* SPDX-License-Identifier: MIT */
/*
 * Pushing to the real Distribution server (docker-registry), over TLS with a password, and into a
 * full disk. Needs root for a small tmpfs, which lives in a mount namespace of this process and
 * goes with it. The servers end with this process, whatever happens to it.
 */
#include "core/clock.h"
#include "core/file.h"
#include "core/proc.h"
#include "oci/layout.h"
#include "registry-client/push.h"
#include "tests/unit/registry-client/registry_support.h"

#include <arpa/inet.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define LAYER_BYTES (9 * 1024 * 1024)
#define DISK "size=6m"

static char folder[] = "/tmp/ringup-push-XXXXXX";
static char layout[64], ca[64], other_ca[64], full[64];
static int tls_port, full_port;
static pid_t tls_pid, full_pid;
static struct descriptor image, layer;

static const char *in_folder(char buffer[static 128], const char *name)
{
	snprintf(buffer, 128, "%s/%s", folder, name);
	return buffer;
}

/* Runs a line of shell in the test's folder: the test's own tools, no outside input. */
static void shell(const char *line)
{
	const char *words[] = {"sh", "-ec", line, NULL};
	struct proc proc = {.words = words, .folder = folder, .timeout_s = 60};
	struct proc_result result;
	struct error err = {0};
	int rc = proc_run(&proc, &result, &err);

	if (rc < 0 || result.status)
		fail_msg("%s: %s%s", line, err.text, result.err.text);
	proc_result_release(&result);
}

static void make_certificates(void)
{
	shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=ca 2>/dev/null; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout other.key -out other.pem -subj /CN=other 2>/dev/null; openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout srv.key -out srv.csr -subj /CN=r 2>/dev/null; echo subjectAltName=IP:127.0.0.1 >ext; openssl x509 -req -in srv.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out srv.pem 2>/dev/null; echo s3cret | htpasswd -Bic htpasswd ops 2>/dev/null");
}

/* One large layer, one small one twice, a config. */
static void make_image(void)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *bytes = malloc(LAYER_BYTES);
	struct descriptor layers[3];
	struct manifest manifest = {
		.media_type = MEDIA_OCI_MANIFEST, .layers = layers, .layer_count = 3};
	struct error err = {0};
	const char *text;
	uint32_t seed = 7;

	for (size_t i = 0; i < LAYER_BYTES; i++)
		bytes[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	assert_int_equal(layout_init(layout, &err), 0);
	assert_int_equal(
		layout_put(layout, bytes, LAYER_BYTES, MEDIA_OCI_LAYER_GZIP, &layers[0], &err), 0);
	assert_int_equal(layout_put(layout, "small", 5, MEDIA_OCI_LAYER_GZIP, &layers[1], &err), 0);
	layer = layers[0];
	layers[2] = layers[1];
	assert_int_equal(layout_put(layout, "{}", 2, MEDIA_OCI_CONFIG, &manifest.config, &err), 0);
	text = manifest_write(&manifest, &arena);
	assert_int_equal(layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, &image, &err),
			 0);
}

static void start_registries(void)
{
	char text[1024], path[128];

	tls_port = free_port();
	snprintf(text, sizeof(text),
		 "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
		 "storage: {filesystem: {rootdirectory: %s/store}}\n"
		 "http: {addr: '127.0.0.1:%d', tls: {certificate: %s/srv.pem, key: %s/srv.key}}\n"
		 "auth: {htpasswd: {realm: lab, path: %s/htpasswd}}\n",
		 folder, tls_port, folder, folder, folder);
	tls_pid = registry_start(text, in_folder(path, "tls.yml"), tls_port);
	full_port = free_port();
	snprintf(text, sizeof(text),
		 "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
		 "storage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: '127.0.0.1:%d'}\n",
		 full, full_port);
	full_pid = registry_start(text, in_folder(path, "full.yml"), full_port);
}

static int group_setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(mkdtemp(folder));
	snprintf(layout, sizeof(layout), "%s/layout", folder);
	snprintf(ca, sizeof(ca), "%s/ca.pem", folder);
	snprintf(other_ca, sizeof(other_ca), "%s/other.pem", folder);
	snprintf(full, sizeof(full), "%s/full", folder);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		print_error("this test needs root, for a small file system of its own\n");
		return -1;
	}
	shell("mkdir full");
	assert_int_equal(mount("none", full, "tmpfs", 0, DISK), 0);
	make_certificates();
	make_image();
	start_registries();
	return 0;
}

static int group_teardown(void **state)
{
	struct error err = {0};

	(void)state;
	registry_end(tls_pid);
	registry_end(full_pid);
	umount(full);
	return folder_remove(folder, &err);
}

struct attempt {
	int port;
	const char *ca, *user, *password, *tag;
	int timeout_s;
};

static int push(const struct attempt *attempt, struct push_report *report, struct error *err)
{
	char address[64];
	struct registry_config config = {.address = address,
					 .ca_path = attempt->ca,
					 .user = attempt->user,
					 .password = {attempt->password},
					 .timeout_s = attempt->timeout_s};
	struct reference ref = {
		.registry = address, .repository = "lab/train", .tag = attempt->tag};
	_cleanup_(registry_closep) struct registry *registry = NULL;

	*err = (struct error){0};
	snprintf(address, sizeof(address), "127.0.0.1:%d", attempt->port);
	assert_int_equal(registry_open(&config, &registry, err), 0);
	return registry_push(registry, layout, &image, &ref, report, err);
}

static void expect(const struct attempt *attempt, const char *words)
{
	struct push_report report;
	struct error err;

	assert_int_equal(push(attempt, &report, &err), -1);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in: %s", words, err.text);
	assert_memory_equal(err.text, "push ", 5);
	assert_non_null(strstr(err.text, "/lab/train: "));
	assert_null(strstr(err.text, "s3cret"));
	assert_null(strstr(err.text, "_state"));
}

#define TLS(t)                                                                              \
	{                                                                                   \
		.port = tls_port, .ca = ca, .user = "ops", .password = "s3cret", .tag = (t) \
	}

/* The manifest's digest under the tag, "" when there is none. */
static void tagged(int port, const char *tag, char digest[static DIGEST_TEXT_BYTES])
{
	char address[64];
	/* a CA means TLS, which the other registry does not speak */
	struct registry_config config = {.address = address,
					 .ca_path = port == tls_port ? ca : NULL,
					 .user = "ops",
					 .password = {"s3cret"}};
	struct reference ref = {.registry = address, .repository = "lab/train", .tag = tag};
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct descriptor found;
	bool is_there;
	struct error err = {0};

	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	assert_int_equal(registry_open(&config, &registry, &err), 0);
	assert_int_equal(registry_head_manifest(registry, &ref, &found, &is_there, &err), 0);
	snprintf(digest, DIGEST_TEXT_BYTES, "%s", is_there ? found.digest : "");
}

/* curl, another client, gets the very bytes. */
static void check_with_curl(const char *what, const struct descriptor *descriptor)
{
	char line[1024], path[128], digest[DIGEST_TEXT_BYTES];
	struct error err = {0};

	snprintf(
		line, sizeof(line),
		"printf 'user = \"ops:s3cret\"\\n' | curl -sSf -K - --cacert ca.pem -H 'Accept: %s' -o got https://127.0.0.1:%d/v2/lab/train/%s/%s",
		descriptor->media_type, tls_port, what, descriptor->digest);
	shell(line);
	assert_int_equal(digest_of_file(in_folder(path, "got"), digest, &err), 0);
	assert_string_equal(digest, descriptor->digest);
}

static void test_push_twice(void **state)
{
	const struct attempt attempt = TLS("1"), another = TLS("2");
	struct push_report report;
	struct error err;
	char digest[DIGEST_TEXT_BYTES];

	(void)state;
	if (push(&attempt, &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(report.blobs_total, 3);
	assert_int_equal(report.blobs_sent, 3);
	assert_int_equal(report.bytes_sent, LAYER_BYTES + 5 + 2);
	assert_string_equal(report.digest, image.digest);
	assert_false(report.tag_was_there);
	check_with_curl("blobs", &layer);
	check_with_curl("manifests", &image);
	tagged(tls_port, "1", digest);
	assert_string_equal(digest, image.digest);

	assert_int_equal(push(&attempt, &report, &err), 0);
	assert_int_equal(report.blobs_sent, 0);
	assert_int_equal(report.bytes_sent, 0);
	assert_true(report.tag_was_there);

	assert_int_equal(push(&another, &report, &err), 0);
	assert_int_equal(report.blobs_sent, 0);
	assert_false(report.tag_was_there);
	tagged(tls_port, "2", digest);
	assert_string_equal(digest, image.digest);
}

static void test_wrong_credentials(void **state)
{
	struct attempt attempt = TLS("3");

	(void)state;
	attempt.password = "wrong";
	expect(&attempt, "refused user 'ops' or the password (HTTP 401)");
	attempt.user = NULL;
	expect(&attempt, "asks for a user and a password");
}

static void test_untrusted(void **state)
{
	struct attempt attempt = TLS("3");
	char words[128];

	(void)state;
	attempt.ca = other_ca;
	snprintf(words, sizeof(words), "its certificate is not trusted by %s", other_ca);
	expect(&attempt, words);
	attempt.ca = NULL;
	expect(&attempt, "its certificate is not trusted by the system's CAs");
}

static void test_nobody_there(void **state)
{
	struct attempt attempt = TLS("3");

	(void)state;
	attempt.port = free_port();
	expect(&attempt, "connection refused; is the registry running?");
}

/*
 * Loopback and insecure-registries count only while nobody asks for TLS: each of the ways to ask
 * for it rules plain HTTP out. The last row shows that the registry would have answered.
 */
static void test_no_fallback(void **state)
{
	const struct registry_config wishes[] = {
		{.may_be_plain = true, .must_be_tls = true},
		{.may_be_plain = true, .ca_path = ca},
		{.may_be_plain = true, .certs = {.folder = "/etc/docker/certs.d/x"}},
		{.may_be_plain = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wishes); i++) {
		bool asks = i + 1 < ARRAY_LEN(wishes);
		struct registry_config config = wishes[i];
		struct error err = {0};
		struct registry *registry;
		char address[64];

		snprintf(address, sizeof(address), "127.0.0.1:%d", full_port);
		config.address = address;
		assert_int_equal(registry_open(&config, &registry, &err), 0);
		assert_int_equal(registry_contact(registry, &err), asks ? -1 : 0);
		registry_close(registry);
		if (asks)
			assert_non_null(strstr(err.text, "does not speak TLS"));
	}
}

/* Plain HTTP on loopback is found by itself; the disk holds less than the layer. */
static void test_disk_full(void **state)
{
	const struct attempt attempt = {.port = full_port, .tag = "1"};
	char words[256], digest[DIGEST_TEXT_BYTES];

	(void)state;
	snprintf(
		words, sizeof(words),
		"/lab/train: blob %.19s: the registry's disk is full (HTTP 500, no space left on device); free space there and run the same command again: it sends only what is missing",
		layer.digest);
	expect(&attempt, words);
	tagged(full_port, "1", digest);
	assert_string_equal(digest, "");
	/* Space is made: the same command goes through. */
	assert_int_equal(mount("none", full, "tmpfs", MS_REMOUNT, "size=64m"), 0);
	{
		struct push_report report;
		struct error err;

		if (push(&attempt, &report, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(report.blobs_total, 3);
	}
	tagged(full_port, "1", digest);
	assert_string_equal(digest, image.digest);
}

static void test_damaged_here(void **state)
{
	const struct attempt attempt = {.port = full_port, .tag = "damaged"};
	char path[LAYOUT_PATH_BYTES], moved[LAYOUT_PATH_BYTES + 8], digest[DIGEST_TEXT_BYTES];
	struct error err = {0};

	(void)state;
	/* A fresh store, so that the blob is asked for. */
	shell("rm -rf full/docker");
	assert_int_equal(layout_blob_path(layout, layer.digest, path, &err), 0);
	snprintf(moved, sizeof(moved), "%s.kept", path);
	assert_int_equal(rename(path, moved), 0);
	expect(&attempt, "is missing from");
	snprintf(
		moved, sizeof(moved),
		"cp layout/blobs/sha256/%s.kept layout/blobs/sha256/%s && printf X | dd of=layout/blobs/sha256/%s bs=1 seek=1000 conv=notrunc 2>/dev/null",
		layer.digest + 7, layer.digest + 7, layer.digest + 7);
	shell(moved);
	expect(&attempt, "is damaged on this machine's disk");
	tagged(full_port, "damaged", digest);
	assert_string_equal(digest, "");
	snprintf(moved, sizeof(moved), "%s.kept", path);
	assert_int_equal(rename(moved, path), 0);
}

/* In a process of its own: the flag stays up. */
static void test_interrupted(void **state)
{
	const struct attempt attempt = TLS("interrupted");
	char digest[DIGEST_TEXT_BYTES];
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		struct push_report report;
		struct error err;

		interrupt_setup();
		raise(SIGINT);
		push(&attempt, &report, &err);
		_exit(err.kind);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), ERROR_INTERRUPTED);
	tagged(tls_port, "interrupted", digest);
	assert_string_equal(digest, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_twice),   cmocka_unit_test(test_wrong_credentials),
		cmocka_unit_test(test_untrusted),    cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_no_fallback),  cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_damaged_here), cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
