/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/sudo.h"

#include "core/ask.h"
#include "core/quote.h"
#include "core/words.h"

#include <pthread.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	struct arena arena;
	bool asked;
	struct secret password;
	struct error why; /* there is none */
} sudo = {.lock = PTHREAD_MUTEX_INITIALIZER, .arena = ARENA_INIT};

void sudo_add_line(bool by_password, const char *const *words, struct str *line)
{
	str_add(line, by_password ? "sudo -k -S -p '' sh -c 'exec \"$@\"' sh " : "sudo -n ");
	quote_words(line, words);
}

bool sudo_wants_password(const struct proc_result *result)
{
	return result->status == 1 && starts_with(result->err.text, "sudo: ") &&
	       strstr(result->err.text, "password");
}

int sudo_password(const char *place, struct secret *password, struct error *err)
{
	_cleanup_(str_release) struct str question = STR_INIT;

	pthread_mutex_lock(&sudo.lock);
	if (!sudo.asked) {
		str_addf(&question, "%s: password for sudo, there and on the other hosts", place);
		ask_secret(question.text,
			   "give the user sudo without a password (NOPASSWD in sudoers), or call "
			   "ringup from a terminal",
			   &sudo.arena, &sudo.password, &sudo.why);
		sudo.asked = true;
	}
	*password = sudo.password;
	*err = sudo.why;
	pthread_mutex_unlock(&sudo.lock);
	return err->kind ? -1 : 0;
}

char *sudo_input(struct secret password, const void *input, size_t input_bytes, size_t *bytes)
{
	const char *text = secret_reveal(password);
	size_t length = strlen(text);
	char *all = xmalloc(length + 1 + input_bytes);

	memcpy(all, text, length);
	all[length] = '\n';
	if (input_bytes)
		memcpy(all + length + 1, input, input_bytes);
	*bytes = length + 1 + input_bytes;
	return all;
}
