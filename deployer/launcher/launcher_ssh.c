/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

/*
 * Plain SSH: one command per host, which starts that host's ranks; they meet at rank 0's address.
 */
static const char *const *ssh_words(struct member *m, const struct launch *launch)
{
	struct words words = WORDS_INIT(&m->arena);

	if (m->engine->has_containers) {
		words_add_all(&words, WORDS("with-secret", "allreduce"));
	} else {
		words_add(&words, "env");
		words_addf(&words, "RINGUP_SECRET_FILE=%s/ssh/secret", m->state.folder);
		words_addf(&words, "%s/bin/with-secret", m->state.folder);
		words_addf(&words, "%s/bin/allreduce", m->state.folder);
	}
	words_add(&words, "--rank");
	words_addf(&words, "%d", launch->first_ranks[m->index]);
	words_add(&words, "--procs");
	words_addf(&words, "%d", member_slots(m));
	words_add(&words, "--world");
	words_addf(&words, "%d", launch->world);
	words_add(&words, "--root");
	words_addf(&words, "%s:%d", launch->root_address, launch->root_port);
	words_add_all(&words, WORDS("--bind", m->host->address, "--host", m->host->name));
	words_add_all(&words, launch->arguments);
	return words.list;
}

const struct launcher launcher_ssh = {
	.name = "ssh",
	.help = "one command per host over SSH; needs no MPI",
	.words = ssh_words,
};
