/* SPDX-License-Identifier: MIT */
/*
 * The HTTP side against a registry that misbehaves on purpose: a thread answers every request with
 * what the test's script says, and keeps what it was asked.
 */
#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"
#include "registry-client/manifest.h"
#include "registry-client/registry.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define REQUESTS_MAX 16
#define MANIFEST                                                                             \
	"{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\"," \
	"\"layers\":[]}"

struct answer {
	const char *expect; /* the request must begin so; NULL ends the script */
	/* The whole answer; "@PORT@" becomes the port; NULL: hang up at once; after "FLOOD " it
	 * goes on with header lines for ever. */
	const char *text;
};

struct server {
	int fd, port;
	pthread_t thread;
	atomic_bool stop;
	const struct answer *script;
	size_t count;
	char requests[REQUESTS_MAX][4096];
	char address[64];
};

static void flood(int fd, const char *head)
{
	static const char line[] = "X-Rubbish: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n";

	send(fd, head, strlen(head), MSG_NOSIGNAL);
	while (send(fd, line, strlen(line), MSG_NOSIGNAL) > 0)
		;
}

static void serve_one(struct server *server, int fd)
{
	char *request = server->requests[server->count];
	const struct answer *answer = &server->script[server->count];
	char text[8192];
	size_t length = 0;
	ssize_t got;

	while (length < 4000 && !strstr(request, "\r\n\r\n") &&
	       (got = read(fd, request + length, 4000 - length)) > 0)
		length += (size_t)got;
	if (!length || server->count + 1 >= REQUESTS_MAX)
		return;
	if (answer->expect)
		server->count++;
	if (!answer->expect || !answer->text)
		return;
	if (starts_with(answer->text, "FLOOD ")) {
		flood(fd, answer->text + strlen("FLOOD "));
		return;
	}
	snprintf(text, sizeof(text), "%s", answer->text);
	for (char *hole = strstr(text, "@PORT@"); hole; hole = strstr(text, "@PORT@")) {
		char port[7];

		/* a fixed width keeps the rest where it is: leading zeros are fine in a port */
		snprintf(port, sizeof(port), "%06d", server->port);
		memcpy(hole, port, 6);
	}
	send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
	struct server *server = arg;

	while (!atomic_load(&server->stop)) {
		struct pollfd wait = {.fd = server->fd, .events = POLLIN};
		int fd;

		if (poll(&wait, 1, 50) <= 0)
			continue;
		fd = accept(server->fd, NULL, NULL);
		if (fd < 0)
			continue;
		serve_one(server, fd);
		shutdown(fd, SHUT_RDWR);
		close(fd);
	}
	return NULL;
}

static void server_start(struct server *server, const struct answer *script)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
	socklen_t length = sizeof(address);

	*server = (struct server){.script = script};
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(server->fd, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(listen(server->fd, 16), 0);
	server->port = ntohs(address.sin_port);
	snprintf(server->address, sizeof(server->address), "127.0.0.1:%d", server->port);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_stop(struct server *server)
{
	atomic_store(&server->stop, true);
	pthread_join(server->thread, NULL);
	close(server->fd);
}

#define ANSWER(status, headers, body) \
	"HTTP/1.1 " status "\r\nConnection: close\r\n" headers "\r\n" body
#define OK ANSWER("200 OK", "", "{}")
#define GOOD_MANIFEST \
	ANSWER("200 OK", "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n", MANIFEST)

/* Runs registry_get_manifest of lab/train:1 against the script; the error's text in `err`. */
static int get(struct server *server, const struct answer *script, bool with_user, int timeout_s,
	       struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct registry_config config = {.plain_http = true, .timeout_s = timeout_s};
	struct reference ref = {.repository = "lab/train", .tag = "1"};
	struct descriptor descriptor;
	struct registry *registry;
	const char *bytes;
	int rc;

	server_start(server, script);
	config.address = ref.registry = server->address;
	if (with_user) {
		config.user = "ops";
		config.password.hidden = "s3cret";
	}
	*err = (struct error){0};
	assert_int_equal(registry_open(&config, &registry, err), 0);
	rc = registry_get_manifest(registry, &ref, &arena, &descriptor, &bytes, err);
	registry_close(registry);
	server_stop(server);
	if (rc == 0)
		assert_string_equal(bytes, MANIFEST);
	for (size_t i = 0; i < server->count && script[i].expect; i++)
		assert_memory_equal(server->requests[i], script[i].expect,
				    strlen(script[i].expect));
	assert_null(strstr(err->text, "s3cret"));
	return rc;
}

static void assert_says(const struct error *err, const char *words)
{
	if (!strstr(err->text, words))
		fail_msg("'%s' is not in: %s", words, err->text);
}

static const char bearer[] = ANSWER(
	"401 Unauthorized",
	"WWW-Authenticate: Bearer realm=\"http://127.0.0.1:@PORT@/token\",service=\"lab reg\",scope=\"x\"\r\n",
	"");
static const char basic[] =
	ANSWER("401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"\r\n", "");

/* Plain HTTP and TLS cannot both be meant. */
static void test_contradiction(void **state)
{
	const struct registry_config wishes[] = {
		{.address = "a", .plain_http = true, .must_be_tls = true},
		{.address = "a", .plain_http = true, .ca_path = "/dev/null"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wishes); i++) {
		struct registry *registry;
		struct error err = {0};

		assert_int_equal(registry_open(&wishes[i], &registry, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_says(&err, "asks for TLS");
	}
}

static void test_bearer_with_renewal(void **state)
{
	static const struct answer script[] = {
		{"GET /v2/ HTTP", bearer},
		{"GET /token?service=lab%20reg&scope=repository%3Alab%2Ftrain%3Apull HTTP",
		 ANSWER("200 OK", "", "{\"token\":\"T1\",\"expires_in\":300}")},
		{"GET /v2/lab/train/manifests/1", bearer}, /* T1 died early */
		{"GET /token?", ANSWER("200 OK", "", "{\"access_token\":\"T2\"}")},
		{"GET /v2/lab/train/manifests/1", GOOD_MANIFEST},
		{NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), 0);
	assert_int_equal(server.count, 5);
	assert_null(strstr(server.requests[0], "Authorization"));
	/* base64("ops:s3cret") goes to the token service, in a header, never in the URL */
	assert_non_null(strstr(server.requests[1], "Authorization: Basic b3BzOnMzY3JldA==\r\n"));
	assert_non_null(strstr(server.requests[2], "Authorization: Bearer T1\r\n"));
	assert_non_null(strstr(server.requests[4], "Authorization: Bearer T2\r\n"));
}

static void test_bearer_refused(void **state)
{
	static const struct answer script[] = {{"GET /v2/ HTTP", bearer},
					       {"GET /token", ANSWER("401 Unauthorized", "", "")},
					       {NULL, NULL}};
	static const struct answer in_circles[] = {
		{"GET /v2/ HTTP", bearer},
		{"GET /token", ANSWER("200 OK", "", "{\"token\":\"T1\"}")},
		{"GET /v2/lab/train/manifests/1", bearer},
		{"GET /token", ANSWER("200 OK", "", "{\"token\":\"T2\"}")},
		{"GET /v2/lab/train/manifests/1", bearer},
		{NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), -1);
	assert_says(&err, "refused user 'ops' or the password (HTTP 401)");
	assert_int_equal(get(&server, in_circles, true, 5, &err), -1);
	assert_int_equal(server.count, 5);
}

/* Neither to another machine's plain HTTP nor to another scheme. */
static void test_realm_elsewhere_gets_nothing(void **state)
{
	static const struct answer script[] = {
		{"GET /v2/ HTTP",
		 ANSWER("401 Unauthorized",
			"WWW-Authenticate: Bearer realm=\"http://127.0.0.2:@PORT@/token\"\r\n",
			"")},
		{NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), -1);
	assert_says(&err, "neither https nor the registry itself");
	assert_int_equal(server.count, 1);
}

static void test_basic(void **state)
{
	static const struct answer script[] = {{"GET /v2/ HTTP", basic},
					       {"GET /v2/ HTTP", OK},
					       {"GET /v2/lab/train/manifests/1", GOOD_MANIFEST},
					       {NULL, NULL}};
	static const struct answer wrong[] = {
		{"GET /v2/ HTTP", basic}, {"GET /v2/ HTTP", basic}, {NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), 0);
	assert_non_null(strstr(server.requests[2], "Authorization: Basic b3BzOnMzY3JldA==\r\n"));
	assert_int_equal(get(&server, wrong, true, 5, &err), -1);
	assert_says(&err, "refused user 'ops'");
	assert_int_equal(get(&server, wrong, false, 5, &err), -1);
	assert_says(&err, "asks for a user and a password");
	assert_says(&err, "ringup login 127.0.0.1:");
	assert_int_equal(server.count, 1);
}

static void test_redirect_drops_credentials(void **state)
{
	static const struct answer script[] = {
		{"GET /v2/ HTTP", basic},
		{"GET /v2/ HTTP", OK},
		{"GET /v2/lab/train/manifests/1",
		 ANSWER("307 Temporary Redirect",
			"Location: http://127.0.0.2:@PORT@/store?sig=1\r\n", "")},
		{"GET /store?sig=1", GOOD_MANIFEST},
		{NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), 0);
	assert_non_null(strstr(server.requests[2], "Authorization"));
	assert_null(strstr(server.requests[3], "Authorization"));
}

static void test_redirect_in_circles(void **state)
{
	static const char circle[] =
		ANSWER("307 Temporary Redirect", "Location: /v2/lab/train/manifests/1\r\n", "");
	static const struct answer script[] = {
		{"GET /v2/ HTTP", OK}, {"GET", circle}, {"GET", circle},
		{"GET", circle},       {"GET", circle}, {"GET", circle},
		{"GET", circle},       {"GET", circle}, {NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, true, 5, &err), -1);
	assert_says(&err, "redirects in circles");
}

static void test_retries(void **state)
{
	static const struct answer script[] = {
		{"GET /v2/ HTTP", OK},
		{"GET", ANSWER("503 Service Unavailable", "", "")},
		{"GET", NULL}, /* hangs up */
		{"GET", ANSWER("429 Too Many Requests", "Retry-After: 2\r\n", "")},
		{"GET", GOOD_MANIFEST},
		{NULL, NULL}};
	uint64_t start = clock_usec();
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, false, 5, &err), 0);
	assert_int_equal(server.count, 5);
	assert_true(clock_seconds_since(start) > 2);
}

static void test_patience_ends(void **state)
{
	static const char bad[] = ANSWER("502 Bad Gateway", "Content-Type: text/html\r\n",
					 "<html>\033[31mproxy</html>");
	static const struct answer script[] = {{"GET /v2/ HTTP", bad}, {"GET /v2/ HTTP", bad},
					       {"GET /v2/ HTTP", bad}, {"GET /v2/ HTTP", bad},
					       {"GET /v2/ HTTP", bad}, {NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, false, 5, &err), -1);
	assert_says(&err, "HTTP 502 with a web page instead of a registry's answer");
	assert_says(&err, "tried 5 times");
	assert_null(strchr(err.text, '\033'));
}

static void test_answers_in_words(void **state)
{
	static const struct {
		const char *answer, *words;
	} rows[] = {
		{ANSWER("403 Forbidden", "",
			"{\"errors\":[{\"code\":\"DENIED\",\"message\":\"no \\u001b[2Jaccess\",\"detail\":{\"a\":1}}]}"),
		 "HTTP 403, DENIED: no  [2Jaccess {\"a\":1}; ask the registry's owner"},
		{ANSWER("404 Not Found", "", "{\"errors\":[]}"), "has no image 127.0.0.1:"},
		{ANSWER("413 Payload Too Large", "", "<html>"), "web page"},
		{ANSWER("507 Insufficient Storage", "", ""), "disk is full (HTTP 507"},
		{ANSWER("500 Oops", "",
			"{\"errors\":[{\"code\":\"UNKNOWN\",\"message\":\"unknown error\",\"detail\":{\"DriverName\":\"filesystem\",\"Enclosed\":{\"Op\":\"write\",\"Err\":28}}}]}"),
		 "disk is full (HTTP 500, no space left on device)"},
		{ANSWER("302 Found", "Location: gopher://x/\r\n", ""),
		 "not an http or https address"},
		{ANSWER("200 OK",
			"Docker-Content-Digest: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
			MANIFEST),
		 "does not have the digest in its header"},
	};
	struct server server;
	struct error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct answer script[] = {
			{"GET /v2/ HTTP", OK}, {"GET", rows[i].answer}, {NULL, NULL}};

		assert_int_equal(get(&server, script, false, 5, &err), -1);
		assert_says(&err, rows[i].words);
		assert_int_equal(server.count, 2); /* none of these is tried again */
	}
}

static void test_not_a_registry(void **state)
{
	static const struct answer script[] = {{"GET /v2/", ANSWER("404 Not Found", "", "<html>")},
					       {NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, script, false, 5, &err), -1);
	assert_says(&err, "no registry with the v2 interface");
}

/* Answers without an end cost a bounded amount of memory and time. */
static void test_ceilings(void **state)
{
	static const struct answer bodies[] = {
		{"GET /v2/ HTTP", OK}, {"GET", "FLOOD HTTP/1.1 200 OK\r\n\r\n"}, {NULL, NULL}};
	static const struct answer headers[] = {
		{"GET /v2/ HTTP", OK}, {"GET", "FLOOD HTTP/1.1 200 OK\r\n"}, {NULL, NULL}};
	struct server server;
	struct error err;

	(void)state;
	assert_int_equal(get(&server, bodies, false, 20, &err), -1);
	assert_says(&err, "answered more than it may");
	assert_int_equal(get(&server, headers, false, 20, &err), -1);
	assert_says(&err, "answered more than it may");
}

static void test_stall(void **state)
{
	/* The kernel takes the connection; nobody ever answers. */
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	_cleanup_(fd_close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct registry_config config = {.plain_http = true, .timeout_s = 1};
	struct registry *registry;
	struct error err = {0};
	uint64_t start = clock_usec();
	char text[64];

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(listen(fd, 4), 0);
	snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(address.sin_port));
	config.address = text;
	assert_int_equal(registry_open(&config, &registry, &err), 0);
	assert_int_equal(registry_contact(registry, &err), -1);
	assert_says(&err, "no progress for 1 s");
	assert_true(clock_seconds_since(start) < 10);
	registry_close(registry);
}

static void test_bad_config(void **state)
{
	static const char *const bad[] = {"", "https://r:5000", "r:5000/x", "user@r", "r r"};
	struct registry *registry;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct registry_config config = {.address = bad[i]};

		assert_int_equal(registry_open(&config, &registry, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_null(registry);
	}
	assert_int_equal(registry_open(&(struct registry_config){.address = "r:1",
								 .ca_path = "/nonexistent/ca.pem"},
				       &registry, &err),
			 -1);
	assert_says(&err, "/nonexistent/ca.pem");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bearer_with_renewal),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_bearer_refused),
		cmocka_unit_test(test_realm_elsewhere_gets_nothing),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_redirect_drops_credentials),
		cmocka_unit_test(test_redirect_in_circles),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_patience_ends),
		cmocka_unit_test(test_answers_in_words),
		cmocka_unit_test(test_not_a_registry),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_bad_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
