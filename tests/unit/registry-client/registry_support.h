/* SPDX-License-Identifier: MIT */
/*
 * registry_support.h - the real Distribution server (docker-registry) beside a test. It ends with
 * the test's process, whatever happens to it.
 */
#ifndef TESTS_UNIT_REGISTRY_CLIENT_REGISTRY_SUPPORT_H
#define TESTS_UNIT_REGISTRY_CLIENT_REGISTRY_SUPPORT_H

#include "core/file.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* A port of 127.0.0.1 that is free now. */
static inline int free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	_cleanup_(fd_close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	return ntohs(address.sin_port);
}

/* A connection to 127.0.0.1, or -1. */
static inline int connect_to(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fd_close(&fd);
	return fd;
}

/* Writes the config to `path`, starts the server and waits until it answers on the port. */
static inline pid_t registry_start(const char *config_text, const char *path, int port)
{
	struct error err = {0};
	pid_t pid;

	assert_int_equal(file_write(path, config_text, strlen(config_text), 0600, &err), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!freopen("/dev/null", "w", stdout);
		(void)!freopen("/dev/null", "w", stderr);
		execlp("docker-registry", "docker-registry", "serve", path, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 200; i++) {
		_cleanup_(fd_close) int fd = connect_to(port);

		if (fd >= 0)
			return pid;
		usleep(50000);
	}
	fail_msg("docker-registry did not start");
	return pid;
}

/* Ends it and waits for that; 0 is fine. */
static inline void registry_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

#endif
