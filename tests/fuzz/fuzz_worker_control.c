/* SPDX-License-Identifier: MIT */
/* The worker's control plane: what the far end of a control connection may send, to rank 0 (first
 * byte even) or to another rank (odd). */
#include "tests/fuzz/fuzz.h"

#include "images/worker/rendezvous/control.h"

#include <sys/socket.h>

#define PART_BYTES 16

static void stuck(void *arg, const struct failure *failure, bool alone)
{
	(void)arg;
	(void)failure;
	(void)alone;
	abort(); /* nobody hangs here */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure err = {.status = STATUS_PASS};
	struct member members[2];
	struct group group = {.world = 2, .timeout_usec = 20000, .members = members};
	char part[PART_BYTES] = "", all[2 * PART_BYTES];
	int pair[2], fds[2] = {-1, -1}, rc;

	if (size == 0)
		return 0;
	memset(members, 0, sizeof(members));
	group.rank = data[0] & 1;
	fuzz_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	fds[group.rank == 0 ? 1 : 0] = pair[0];
	if (size > 1)
		fuzz_check(write(pair[1], data + 1, size - 1) == (ssize_t)size - 1);
	shutdown(pair[1], SHUT_WR);
	group.control = control_start(&group, fds, stuck, NULL, &err);
	fuzz_check(group.control);
	rc = control_gather(group.control, part, sizeof(part), all, &err);
	if (rc == 0)
		rc = control_share(group.control, part, sizeof(part), &err);
	if (rc < 0) {
		control_raise(group.control, &err);
		fuzz_check(err.status > STATUS_PASS && err.status <= STATUS_SLOW);
		fuzz_check(memchr(err.reason, 0, sizeof(err.reason)));
	}
	close(pair[1]);
	control_stop(group.control);
	return 0;
}
