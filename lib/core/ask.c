/* SPDX-License-Identifier: MIT */
#include "core/ask.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/foreign.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define ANSWER_BYTES 1024

static pthread_mutex_t one_question = PTHREAD_MUTEX_INITIALIZER;

/* A line, in `answer` without its end; what does not fit is an error. */
static int ask_read_line(int terminal, char answer[static ANSWER_BYTES], struct error *err)
{
	size_t length = 0;

	for (;;) {
		struct pollfd ready = {.fd = terminal, .events = POLLIN};
		char c;

		if (interrupt_check(err) < 0)
			return -1;
		if (poll(&ready, 1, INTERRUPT_POLL_MSEC) <= 0)
			continue;
		if (read(terminal, &c, 1) != 1)
			return error_set(err, ERROR_FAILED, "the terminal is gone");
		if (c == '\n')
			break;
		if (length + 1 == ANSWER_BYTES)
			return error_set(err, ERROR_USAGE, "the answer is too long");
		answer[length++] = c;
	}
	answer[length] = '\0';
	return 0;
}

static int ask_hidden(int terminal, const char *question, char answer[static ANSWER_BYTES],
		      struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct termios old, quiet;
	bool is_quiet = tcgetattr(terminal, &old) == 0;
	int rc;

	str_addf(&text, "%s: ", question);
	foreign_clean_line(text.text);
	if (is_quiet) {
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(terminal, TCSAFLUSH, &quiet);
	}
	rc = write(terminal, text.text, strlen(text.text)) < 0
		     ? error_errno(err, "cannot write to the terminal")
		     : ask_read_line(terminal, answer, err);
	if (is_quiet)
		tcsetattr(terminal, TCSAFLUSH, &old);
	if (write(terminal, "\n", 1) < 0 && rc == 0)
		rc = error_errno(err, "cannot write to the terminal");
	return rc;
}

int ask_secret(const char *question, const char *otherwise, struct arena *arena,
	       struct secret *secret, struct error *err)
{
	_cleanup_(fd_close) int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	char answer[ANSWER_BYTES] = "";
	int rc;

	if (terminal < 0)
		return error_set(err, ERROR_USAGE, "there is no terminal to ask at; %s", otherwise);
	pthread_mutex_lock(&one_question);
	rc = ask_hidden(terminal, question, answer, err);
	pthread_mutex_unlock(&one_question);
	if (rc == 0)
		*secret = secret_copy(answer, arena);
	secret_wipe_bytes(answer, sizeof(answer));
	return rc;
}
