/* SPDX-License-Identifier: MIT */
#include "deployer/doctor/doctor.h"

#include "core/str.h"
#include "deployer/remote.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define TRY_TIMEOUT_S 300
#define TRY_FREE_PORT \
	45701 /* nobody is known to listen there: workers take ports that the kernel chooses */

/* ---- networks ---- */

/* "10.0.0.1/24" as its network and mask. */
static bool overlap_parse(const char *cidr, uint32_t *network, uint32_t *mask)
{
	char text[INET_ADDRSTRLEN];
	const char *slash = strchr(cidr, '/');
	struct in_addr in;
	long bits;

	if (!slash || (size_t)(slash - cidr) >= sizeof(text))
		return false;
	memcpy(text, cidr, (size_t)(slash - cidr));
	text[slash - cidr] = '\0';
	bits = strtol(slash + 1, NULL, 10);
	if (inet_pton(AF_INET, text, &in) != 1 || bits < 1 || bits > 32)
		return false;
	*mask = UINT32_MAX << (32 - bits);
	*network = ntohl(in.s_addr) & *mask;
	return true;
}

const char *doctor_overlap(const char *cidr, const char *interface, const char *networks,
			   struct arena *arena)
{
	uint32_t network, mask, other, other_mask;
	char *rest = arena_strdup(arena, networks), *entry;

	if (!overlap_parse(cidr, &network, &mask))
		return "";
	while ((entry = strsep(&rest, ";"))) {
		size_t length = strcspn(entry, " ");

		/* a second address of the same interface is no other way */
		if (!entry[length] || strncmp(entry, interface, length) == 0)
			continue;
		if (overlap_parse(entry + length + 1, &other, &other_mask) &&
		    (network & other_mask & mask) == (other & mask & other_mask))
			return entry;
	}
	return "";
}

/* ---- tries ---- */

/* The ports to try; with `sshd_port: auto` the first one is not known yet. */
static const char *try_ports(const struct cluster *cluster, struct arena *arena)
{
	int port = cluster_sshd_port(cluster);

	return port ? arena_printf(arena, "%d,%d", port, TRY_FREE_PORT)
		    : arena_printf(arena, "%d", TRY_FREE_PORT);
}

static const char *const *try_words(struct member *m, struct words *words, struct error *err)
{
	const struct fleet *fleet = m->fleet;
	struct words arguments = WORDS_INIT(&m->arena);

	words_add(&arguments, facts_text(&m->facts, fact_row("interface_mtu"), &m->arena));
	words_add(&arguments, try_ports(fleet->cluster, &m->arena));
	/* the next one first, so that the packets of all hosts together go to all hosts */
	for (size_t i = 1; i < fleet->count; i++) {
		const struct member *peer = &fleet->members[(m->index + i) % fleet->count];

		if (member_is_active(peer) && *peer->facts.address)
			words_addf(&arguments, "%s=%s", peer->host->name, peer->facts.address);
	}
	if (arguments.count < 3 || remote_script("tries", words_list(&arguments), words, err) < 0)
		return NULL;
	return words->list;
}

static int try_one(struct member *m, void *arg, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = TRY_TIMEOUT_S};
	const char **said = arg;
	struct error ignored = {0};

	(void)err;
	command.words = try_words(m, &words, &ignored);
	if (!command.words || member_connect(m, &ignored) < 0)
		return 0;
	if (ssh_check(m->ssh, &command, "tries", &result, &ignored) == 0)
		said[m->index] = arena_strdup(&m->arena, result.out.text);
	return 0;
}

void doctor_try(struct fleet *fleet, const char **said)
{
	struct progress_step *step = progress_begin("tries", "");

	fleet_each(fleet, try_one, said);
	progress_end(step, true, "each host tried to reach the others");
}

/* ---- patients ---- */

static void patient_line(struct str *out, const char *name, const char *value)
{
	if (value && *value)
		str_addf(out, "%s=%s\n", name, value);
}

/* Loopback addresses reach every host only where all are on one machine, as those of a loopback lab are. */
static bool patient_is_local(const struct fleet *fleet, struct arena *arena)
{
	size_t hostname = fact_row("hostname");
	const char *first = NULL;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];
		const char *name;

		if (!starts_with(m->host->address, "127."))
			return false;
		if (!m->facts.host)
			continue;
		name = facts_text(&m->facts, hostname, arena);
		if (!first)
			first = name;
		if (!*name || strcmp(first, name) != 0)
			return false;
	}
	return first != NULL;
}

static const char *patient_more(const struct member *m, const struct doctor_stack *stack,
				const char *said, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	const struct cluster *cluster = m->fleet->cluster;
	const char *registry = cluster->registry.address;
	int port = cluster_sshd_port(cluster);

	patient_line(&out, "cluster_engine", m->engine->has_containers ? m->engine->name : "none");
	patient_line(&out, "cluster_port",
		     port ? arena_printf(arena, "%d", port) : ""); /* auto: no port is named */
	patient_line(&out, "cluster_registry",
		     arena_strndup(arena, registry, strcspn(registry, ":/")));
	patient_line(&out, "cluster_running", m->state.running ? "yes" : "");
	patient_line(&out, "cluster_hosts", arena_printf(arena, "%zu", m->fleet->count));
	patient_line(&out, "cluster_local", patient_is_local(m->fleet, arena) ? "yes" : "");
	patient_line(&out, "stack_misfit", stack->misfits[m->index]);
	patient_line(&out, "stack_accelerator", stack->accelerator);
	patient_line(&out, "overlap",
		     doctor_overlap(m->facts.interface_cidr, m->facts.interface,
				    facts_text(&m->facts, fact_row("networks"), arena), arena));
	/* what we say comes first: the host's own lines cannot become it */
	str_add(&out, said ? said : "");
	return arena_strdup(arena, out.text);
}

size_t doctor_patients(const struct fleet *fleet, const struct doctor_stack *stack,
		       const char *const *said, struct patient **patients)
{
	size_t count = 0;

	*patients = ARENA_ARRAY(fleet->arena, fleet->count + 1, struct patient);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct member *m = &fleet->members[i];

		if (member_is_active(m))
			(*patients)[count++] = (struct patient){
				.facts = &m->facts,
				.more = patient_more(m, stack, said ? said[i] : NULL,
						     fleet->arena)};
	}
	return count;
}
