/* SPDX-License-Identifier: MIT */
#include "rendezvous/hello.h"
#include "backend/backend.h"
#include "host/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_boot_id(char *text, size_t bytes)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : -1;

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

void hello_fill(struct hello *hello, const struct options *options, const struct failure *unusable)
{
	struct greeting *greeting = &hello->greeting;
	struct member *member = &hello->intro.member;

	memset(hello, 0, sizeof(*hello));
	greeting->magic = HELLO_MAGIC;
	greeting->protocol = PROTOCOL;
	greeting->rank = (uint32_t)options->rank;
	greeting->world = (uint32_t)options->world;
	memcpy(greeting->secret, options->secret, sizeof(greeting->secret));
	snprintf(greeting->version, sizeof(greeting->version), "%s%s", ALLREDUCE_VERSION,
		 fault_hits(&options->fault, FAULT_VERSION, options->rank) ? "-fault" : "");
	snprintf(greeting->host, sizeof(greeting->host), "%s", options->host);
	memcpy(member->host, greeting->host, sizeof(member->host));
	memcpy(member->version, greeting->version, sizeof(member->version));
	read_boot_id(member->kernel, sizeof(member->kernel));
	member->pid = (uint32_t)getpid();
	member->private_memory = options->no_shm;
	member->cores = (uint32_t)placement_cores();
	if (unusable->status == STATUS_PASS)
		snprintf(member->library, sizeof(member->library), "%s",
			 backend_find(options->backend)->version());
	snprintf(hello->intro.backend, sizeof(hello->intro.backend), "%s",
		 backend_find(options->backend)->name);
	hello->intro.unusable = *unusable;
}

#define END(text) ((text)[sizeof(text) - 1] = '\0')

void hello_tidy(struct hello *hello)
{
	END(hello->greeting.version);
	END(hello->greeting.host);
	END(hello->intro.member.host);
	END(hello->intro.member.kernel);
	END(hello->intro.member.address);
	END(hello->intro.member.version);
	END(hello->intro.member.library);
	END(hello->intro.backend);
	if (hello->intro.unusable.status != STATUS_PASS)
		failure_tidy(&hello->intro.unusable);
}

bool secret_equal(const uint8_t *a, const uint8_t *b)
{
	volatile uint8_t difference = 0;

	for (size_t i = 0; i < SECRET_BYTES; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

/* From /dev/urandom: getrandom() is not in every glibc and kernel that images come with. */
int secret_random(uint8_t *bytes, size_t count, struct failure *err)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, bytes, count) : -1;

	if (fd >= 0)
		close(fd);
	if (got == (ssize_t)count)
		return 0;
	return failure_set(err, STATUS_USAGE, 0, "", "cannot read /dev/urandom: %s",
			   strerror(errno));
}
