/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"

/* "node01:2,node02:2": what mpirun's -H takes. */
static const char *host_list(struct member *m)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (size_t i = 0; i < m->fleet->count; i++) {
		const struct member *other = &m->fleet->members[i];

		str_addf(&list, "%s%s:%d", i ? "," : "", other->host->address, member_slots(other));
	}
	return arena_strdup(&m->arena, list.text);
}

/*
 * mpirun in the first container; it reaches the others over their sshd ports, by the mounted
 * ssh_config. Interfaces are given as a network, so that NIC names may differ between hosts. The
 * secret goes by name (-x), not by value. Ranks are laid out host by host, as the plan counts them.
 */
static const char *const *mpirun_words(struct member *m, const struct launch *launch)
{
	struct words words = WORDS_INIT(&m->arena);

	if (m->index != 0)
		return NULL;
	words_add_all(&words, WORDS("with-secret", "mpirun", "--allow-run-as-root", "--np"));
	words_addf(&words, "%d", launch->world);
	words_add_all(&words,
		      WORDS("--host", host_list(m), "--map-by", "slot", "--bind-to", "none"));
	if (*m->facts.interface_cidr)
		words_add_all(&words,
			      WORDS("--mca", "btl_tcp_if_include", m->facts.interface_cidr, "--mca",
				    "oob_tcp_if_include", m->facts.interface_cidr));
	words_add_all(&words, WORDS("-x", "RINGUP_SECRET", "allreduce", "--root"));
	words_addf(&words, "%s:%d", launch->root_address, launch->root_port);
	words_add_all(&words, launch->arguments);
	return words.list;
}

const struct launcher launcher_mpirun = {
	.name = "mpirun",
	.help = "Open MPI's mpirun over the containers' own sshd port",
	.needs_containers = true,
	.words = mpirun_words,
};
