/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

/* Plain SSH: one command per host starts that host's ranks. All ranks meet at rank 0's address. */
static const char *const *ssh_words(struct member *m, const struct launch *launch)
{
	struct words words = WORDS_INIT(&m->arena);

	if (*launch->program->env) {
		words_add(&words, "env");
		words_add_all(&words, launch->program->env);
	}
	launch_add_host_words(m, launch, &words);
	return words.list;
}

const struct launcher launcher_ssh = {
	.name = "ssh",
	.help = "one command per host over SSH; needs no MPI",
	.rank = 10,
	.starts_hosts = true,
	.component = "",
	.words = ssh_words,
};
