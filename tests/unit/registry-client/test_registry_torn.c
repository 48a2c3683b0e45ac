/* SPDX-License-Identifier: MIT */
/*
 * An upload that is torn in the middle, against the real Distribution server (docker-registry):
 * a proxy between the two cuts one connection while the large layer passes.
 */
#include "core/file.h"
#include "oci/layout.h"
#include "registry-client/push.h"
#include "tests/unit/registry-client/registry_support.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define LAYER_BYTES (9 * 1024 * 1024)

static char folder[] = "/tmp/ringup-torn-XXXXXX";
static char layout[64];
static int registry_port;
static pid_t registry_pid;
static struct descriptor image, layer;

static void start_registry(void)
{
	char path[128], text[512];

	registry_port = free_port();
	snprintf(path, sizeof(path), "%s/config.yml", folder);
	snprintf(text, sizeof(text),
		 "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
		 "storage: {filesystem: {rootdirectory: %s/store}}\nhttp: {addr: '127.0.0.1:%d'}\n",
		 folder, registry_port);
	registry_pid = registry_start(text, path, registry_port);
}

static void make_image(void)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *bytes = malloc(LAYER_BYTES);
	struct manifest manifest = {
		.media_type = MEDIA_OCI_MANIFEST, .layers = &layer, .layer_count = 1};
	struct error err = {0};
	const char *text;

	memset(bytes, 'x', LAYER_BYTES);
	assert_int_equal(layout_init(layout, &err), 0);
	assert_int_equal(layout_put(layout, bytes, LAYER_BYTES, MEDIA_OCI_LAYER_GZIP, &layer, &err),
			 0);
	assert_int_equal(layout_put(layout, "{}", 2, MEDIA_OCI_CONFIG, &manifest.config, &err), 0);
	text = manifest_write(&manifest, &arena);
	assert_int_equal(layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, &image, &err),
			 0);
}

static int group_setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_non_null(mkdtemp(folder));
	snprintf(layout, sizeof(layout), "%s/layout", folder);
	make_image();
	start_registry();
	return 0;
}

static int group_teardown(void **state)
{
	struct error err = {0};

	(void)state;
	registry_end(registry_pid);
	return folder_remove(folder, &err);
}

/* A proxy that cuts connections after so many bytes to the registry. */
struct cutter {
	int fd, port;
	size_t cut_bytes;
	atomic_bool stop;
	atomic_int cuts_left;
	pthread_t thread;
};

struct pipe_pair {
	struct cutter *cutter;
	int client, server;
};

static void *pump(void *arg)
{
	struct pipe_pair *pair = arg;
	struct pollfd fds[] = {{.fd = pair->client, .events = POLLIN},
			       {.fd = pair->server, .events = POLLIN}};
	char *buffer = malloc(65536);
	size_t up = 0;
	bool open = true;

	while (open && !atomic_load(&pair->cutter->stop)) {
		poll(fds, 2, 50);
		for (int i = 0; i < 2 && open; i++) {
			ssize_t got;

			if (!fds[i].revents)
				continue;
			got = read(fds[i].fd, buffer, 65536);
			open = got > 0 &&
			       send(fds[1 - i].fd, buffer, (size_t)got, MSG_NOSIGNAL) > 0;
			up += i == 0 && got > 0 ? (size_t)got : 0;
		}
		if (up > pair->cutter->cut_bytes &&
		    atomic_fetch_sub(&pair->cutter->cuts_left, 1) > 0)
			open = false;
	}
	close(pair->client);
	close(pair->server);
	free(buffer);
	free(pair);
	return NULL;
}

static void *accept_all(void *arg)
{
	struct cutter *cutter = arg;
	pthread_t threads[64];
	size_t count = 0;

	while (!atomic_load(&cutter->stop)) {
		struct pollfd wait = {.fd = cutter->fd, .events = POLLIN};
		struct pipe_pair *pair;

		if (poll(&wait, 1, 50) <= 0 || count == ARRAY_LEN(threads))
			continue;
		pair = malloc(sizeof(*pair));
		*pair = (struct pipe_pair){cutter, accept(cutter->fd, NULL, NULL),
					   connect_to(registry_port)};
		pthread_create(&threads[count++], NULL, pump, pair);
	}
	while (count)
		pthread_join(threads[--count], NULL);
	return NULL;
}

static void cutter_start(struct cutter *cutter, int cuts, size_t cut_bytes)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	*cutter = (struct cutter){.port = free_port(), .cuts_left = cuts, .cut_bytes = cut_bytes};
	cutter->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_port = htons((uint16_t)cutter->port);
	assert_int_equal(bind(cutter->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(cutter->fd, 16), 0);
	assert_int_equal(pthread_create(&cutter->thread, NULL, accept_all, cutter), 0);
}

/* Pushes through a proxy that cuts so many connections, each after so many bytes. */
static int push(int cuts, size_t cut_bytes, const char *tag, struct push_report *report,
		struct error *err)
{
	struct cutter cutter;
	char address[64];
	struct registry_config config = {.address = address, .timeout_s = 10};
	struct reference ref = {.registry = address, .repository = "lab/train", .tag = tag};
	_cleanup_(registry_closep) struct registry *registry = NULL;
	int rc;

	*err = (struct error){0};
	cutter_start(&cutter, cuts, cut_bytes);
	snprintf(address, sizeof(address), "127.0.0.1:%d", cutter.port);
	assert_int_equal(registry_open(&config, &registry, err), 0);
	rc = registry_push(registry, layout, &image, &ref, report, err);
	atomic_store(&cutter.stop, true);
	pthread_join(cutter.thread, NULL);
	close(cutter.fd);
	return rc;
}

/* The bytes as the registry keeps them. */
static void check_store(void)
{
	char path[256], digest[DIGEST_TEXT_BYTES];
	const char *hex = layer.digest + 7;
	struct error err = {0};

	snprintf(path, sizeof(path), "%s/store/docker/registry/v2/blobs/sha256/%.2s/%s/data",
		 folder, hex, hex);
	assert_int_equal(digest_of_file(path, digest, &err), 0);
	assert_string_equal(digest, layer.digest);
}

static void tag_path(char path[static 256], const char *tag)
{
	snprintf(path, 256, "%s/store/docker/registry/v2/repositories/lab/train/_manifests/tags/%s",
		 folder, tag);
}

static void forget_store(void)
{
	struct error err = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/store/docker", folder);
	assert_int_equal(folder_remove(path, &err), 0);
}

/*
 * Less than the smallest chunk gets through: an error, and no tag; the next command goes through.
 */
static void test_nothing_passes(void **state)
{
	struct push_report report;
	struct error err;
	char path[256];

	(void)state;
	assert_int_equal(push(1000, 100 * 1024, "always", &report, &err), -1);
	assert_non_null(strstr(err.text, "tried 5 times"));
	assert_non_null(strstr(err.text, "blob sha256:"));
	assert_null(strstr(err.text, "_state"));
	tag_path(path, "always");
	assert_false(file_exists(path));
	assert_int_equal(push(0, 0, "always", &report, &err), 0);
	assert_true(file_exists(path));
	check_store();
}

static void test_one_cut(void **state)
{
	char path[256];
	struct push_report report;
	struct error err;

	(void)state;
	forget_store();
	if (push(1, LAYER_BYTES / 2, "torn", &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(report.blobs_sent, 2);
	assert_true(report.bytes_sent > LAYER_BYTES + 2);
	tag_path(path, "torn");
	assert_true(file_exists(path));
	check_store();
}

/* No connection lives long enough for the layer: it goes in chunks, a connection each. */
static void test_every_connection_cut(void **state)
{
	struct push_report report;
	struct error err;

	(void)state;
	forget_store();
	if (push(1000, LAYER_BYTES / 2, "chunks", &report, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(report.blobs_sent, 2);
	/* what was sent is not what arrived: sockets and the proxy hold some MiB */
	assert_true(report.bytes_sent < 3 * LAYER_BYTES);
	check_store();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_passes),
		cmocka_unit_test(test_one_cut),
		cmocka_unit_test(test_every_connection_cut),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
