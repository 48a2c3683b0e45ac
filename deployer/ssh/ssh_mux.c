/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh_mux.h"

#include "core/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* PROTOCOL.mux, 11: protocol numbers. */
enum mux_type {
	MUX_HELLO = 0x00000001,
	MUX_NEW_SESSION = 0x10000002,
	MUX_PERMISSION_DENIED = 0x80000002,
	MUX_FAILURE = 0x80000003,
	MUX_EXIT_MESSAGE = 0x80000004,
	MUX_SESSION_OPENED = 0x80000006,
};

#define MUX_VERSION 4
#define MUX_REQUEST 1	      /* the id of the only request of a connection */
#define MUX_NO_ESCAPE ~0U     /* no escape character */
#define MUX_PACKET_BYTES 4096 /* a longer one is none of those that are understood */

struct mux_packet {
	size_t length;
	unsigned char bytes[MUX_PACKET_BYTES];
};

/* --- packets ---------------------------------------------------------------------------------- */

static void mux_add(struct str *packet, uint32_t value)
{
	value = htonl(value);
	str_add_bytes(packet, (const char *)&value, sizeof(value));
}

static void mux_add_text(struct str *packet, const char *text)
{
	mux_add(packet, (uint32_t)strlen(text));
	str_add(packet, text);
}

static bool mux_send(const struct ssh_mux *mux, const struct str *packet)
{
	uint32_t length = htonl((uint32_t)packet->length);

	return file_write_all(mux->fd, &length, sizeof(length)) == 0 &&
	       file_write_all(mux->fd, packet->text, packet->length) == 0;
}

/* The number at the place in the packet, counted in numbers; 0 behind its end. */
static uint32_t mux_number(const struct mux_packet *packet, size_t place)
{
	uint32_t value = 0;

	if ((place + 1) * sizeof(value) <= packet->length)
		memcpy(&value, packet->bytes + place * sizeof(value), sizeof(value));
	return ntohl(value);
}

static bool mux_read(const struct ssh_mux *mux, void *to, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = read(mux->fd, (char *)to + done, bytes - done);

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool mux_receive(const struct ssh_mux *mux, struct mux_packet *packet)
{
	uint32_t length;

	if (!mux_read(mux, &length, sizeof(length)))
		return false;
	packet->length = ntohl(length);
	return packet->length <= sizeof(packet->bytes) &&
	       mux_read(mux, packet->bytes, packet->length);
}

/* --- the connection to the master ------------------------------------------------------------- */

void ssh_mux_close(struct ssh_mux *mux)
{
	fd_close(&mux->fd);
}

static bool mux_hello(const struct ssh_mux *mux)
{
	_cleanup_(str_release) struct str hello = STR_INIT;
	struct mux_packet packet;

	mux_add(&hello, MUX_HELLO);
	mux_add(&hello, MUX_VERSION);
	return mux_send(mux, &hello) && mux_receive(mux, &packet) &&
	       mux_number(&packet, 0) == MUX_HELLO && mux_number(&packet, 1) == MUX_VERSION;
}

bool ssh_mux_open(struct ssh_mux *mux, const char *path, const char *line, int timeout_s)
{
	struct timeval timeout = {.tv_sec = timeout_s};
	struct sockaddr_un where = {.sun_family = AF_UNIX};

	*mux = (struct ssh_mux){.fd = -1, .timeout_s = timeout_s, .line = line};
	if (strlen(path) >= sizeof(where.sun_path))
		return false;
	memcpy(where.sun_path, path, strlen(path));
	mux->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mux->fd >= 0 &&
	    setsockopt(mux->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    setsockopt(mux->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect(mux->fd, (struct sockaddr *)&where, sizeof(where)) == 0 && mux_hello(mux))
		return true;
	ssh_mux_close(mux);
	return false;
}

/* --- one session ------------------------------------------------------------------------------ */

/* OpenSSH sends each descriptor with one byte. */
static bool mux_send_descriptor(const struct ssh_mux *mux, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	ssize_t sent;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	do {
		sent = sendmsg(mux->fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == 1;
}

static int mux_start(void *state, const int standard[3], struct error *err)
{
	_cleanup_(str_release) struct str request = STR_INIT;
	struct ssh_mux *mux = state;
	struct mux_packet packet;

	mux_add(&request, MUX_NEW_SESSION);
	mux_add(&request, MUX_REQUEST);
	mux_add_text(&request, "");
	for (int flag = 0; flag < 4; flag++) /* no terminal, X11, agent, subsystem */
		mux_add(&request, 0);
	mux_add(&request, MUX_NO_ESCAPE);
	mux_add_text(&request, "");
	mux_add_text(&request, mux->line);
	if (!mux_send(mux, &request))
		return error_errno(err, "cannot write to the shared connection");
	for (int i = 0; i < 3; i++)
		if (!mux_send_descriptor(mux, standard[i]))
			return error_errno(err,
					   "cannot hand a descriptor to the shared connection");
	if (!mux_receive(mux, &packet))
		return error_set(err, ERROR_FAILED, "the shared connection does not answer");
	mux->session = mux_number(&packet, 2);
	if (mux_number(&packet, 0) == MUX_SESSION_OPENED && mux_number(&packet, 1) == MUX_REQUEST)
		return 0;
	mux->is_refused = mux_number(&packet, 0) == MUX_FAILURE ||
			  mux_number(&packet, 0) == MUX_PERMISSION_DENIED;
	return error_set(err, ERROR_FAILED, "the shared connection takes no further session");
}

static bool mux_has_ended(void *state, int *status)
{
	const struct ssh_mux *mux = state;
	struct pollfd ready = {.fd = mux->fd, .events = POLLIN};
	struct mux_packet packet;

	*status = 255;
	while (poll(&ready, 1, 0) > 0) {
		if (!mux_receive(mux, &packet))
			return true;
		if (mux_number(&packet, 0) != MUX_EXIT_MESSAGE ||
		    mux_number(&packet, 1) != mux->session)
			continue;
		*status = (int)(mux_number(&packet, 2) & 0xff);
		return true;
	}
	return false;
}

/* The master closes the session of a client that goes. */
static void mux_stop(void *state)
{
	ssh_mux_close(state);
}

const struct proc_runner ssh_mux_runner = {
	.start = mux_start,
	.has_ended = mux_has_ended,
	.stop = mux_stop,
};
