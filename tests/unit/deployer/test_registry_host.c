/* SPDX-License-Identifier: MIT */
/* How a registry of ours is to run, its unit, its container, and its address. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/registry/registry_host.h"
#include "registry-client/serve.h"
#include "deployer/registry/registry_unit.h"

static struct registry_host host_with(const char *engine)
{
	return (struct registry_host){.engine = engine_find(engine),
				      .name = "ringup-registry",
				      .home = "/var/lib/ringup/registry",
				      .storage = "/data/images",
				      .image = REGISTRY_IMAGE,
				      .port = 5000};
}

static void test_way(void **state)
{
	static const char program[] = "/usr/bin/docker-registry", none[] = "";
	static const struct {
		const char *program, *asked;
		bool systemd, engine;
		const char *way; /* or a part of the error */
	} rows[] = {
		{program, NULL, true, true, "systemd"},
		{program, NULL, false, true, "process"},
		{program, "process", true, true, "process"},
		{program, "container", true, true, "container"},
		{program, "container", true, false, "! no container engine answers there: gone"},
		{program, "systemd", false, true, "! no systemd runs there"},
		{program, "magic", true, true, "! not systemd, process or container"},
		{none, NULL, true, true, "container"},
		{none, "systemd", true, true, "! --install installs Debian's package"},
		{none, "process", true, true, "! --install installs Debian's package"},
		{none, NULL, true, false, "! --install installs Debian's package"},
		{none, NULL, true, false, "! no container engine answers there either: gone"},
	};
	struct registry_host host = host_with("docker"), bare = host_with("none");
	struct error err = {0};
	const char *way = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct registry_found found = {.program = rows[i].program,
					       .engine_error = "gone",
					       .has_systemd = rows[i].systemd,
					       .has_engine = rows[i].engine};
		int rc = registry_host_way(&host, &found, rows[i].asked, &way, &err);

		if (*rows[i].way == '!') {
			assert_int_equal(rc, -1);
			assert_has(err.text, rows[i].way + 2);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_string_equal(way, rows[i].way);
		assert_int_equal(registry_host_way(&bare, &found, rows[i].asked, &way, &err),
				 strcmp(rows[i].way, "container") == 0 ? -1 : 0);
	}
}

static void test_unit(void **state)
{
	struct registry_host host = host_with("docker");
	struct scratch *s = *state;
	struct error err = {0};
	const char *text;

	assert_fine(registry_unit(&host, "/usr/bin/docker-registry", &s->arena, &text, &err));
	assert_has(text, "\nUser=ringup-registry\n");
	assert_has(text, "\nWorkingDirectory=/var/lib/ringup/registry\n");
	assert_has(
		text,
		"\nExecStart=/usr/bin/docker-registry serve /var/lib/ringup/registry/config.yml\n");
	assert_has(text, "\nReadWritePaths=/data/images\n");
	assert_has(text, "\nRestart=on-failure\n");
	assert_has(text, "\nAmbientCapabilities=\n");
	assert_lacks(text, "SSL_CERT_FILE");
	host.port = 443;
	host.has_mirror_ca = true;
	assert_fine(registry_unit(&host, "/usr/bin/docker-registry", &s->arena, &text, &err));
	assert_has(text, "\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n");
	assert_has(text, "\nEnvironment=SSL_CERT_FILE=/var/lib/ringup/registry/upstream.pem\n");
	host.storage = "/data/%n";
	assert_fails(registry_unit(&host, "/usr/bin/docker-registry", &s->arena, &text, &err),
		     ERROR_USAGE, "'/data/%n'");
	host.storage = "/data\nExecStartPre=/bin/sh";
	assert_fails(registry_unit(&host, "/usr/bin/docker-registry", &s->arena, &text, &err),
		     ERROR_USAGE, "a systemd unit cannot hold");
}

static void test_address(void **state)
{
	static const struct {
		const char *address, *host; /* NULL: it is none */
		int port;
	} rows[] = {
		{"127.0.0.1:5000", "127.0.0.1", 5000},
		{"registry.lab:443", "registry.lab", 443},
		{"[fe80::1]:5000", "fe80::1", 5000},
		{"a:65535", "a", 65535},
		{"a:65536", NULL, 0},
		{"a:0", NULL, 0},
		{"a:", NULL, 0},
		{"a", NULL, 0},
		{":5000", NULL, 0},
		{"a b:5000", NULL, 0},
		{"https://a:5000", NULL, 0},
		{"a:50a", NULL, 0},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int port = 0;
		const char *host = serve_host_of(rows[i].address, &s->arena, &port);

		if (!rows[i].host) {
			assert_null(host);
			continue;
		}
		assert_string_equal(host, rows[i].host);
		assert_int_equal(port, rows[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_way),
		SCRATCH_TEST(test_unit),
		SCRATCH_TEST(test_address),
	};

	return cmocka_run_group_tests_name("registry_host", tests, NULL, NULL);
}
