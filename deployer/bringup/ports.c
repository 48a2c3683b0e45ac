/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/ports.h"

#include "core/str.h"
#include "deployer/remote.h"

#include <stdlib.h>
#include <string.h>

#define PORTS_WHO_BYTES 60

const char *ports_range(const struct cluster *cluster, struct arena *arena)
{
	int port = cluster_sshd_port(cluster);

	if (port)
		return arena_printf(arena, "%d %d", port, port);
	if (!cluster_has_sshd(cluster))
		return "0 0";
	return arena_printf(arena, "%d %d", CLUSTER_SSHD_PORT_FIRST,
			    CLUSTER_SSHD_PORT_FIRST + CLUSTER_SSHD_PORTS - 1);
}

/* The port on which the probed container's sshd listens, by its label; 0 when it does not say. */
static int ports_of_container(const struct member *m)
{
	const char *at = strstr(m->state.settings, "sshd="), *colon;

	if (!m->state.running || !at)
		return 0;
	for (colon = at + strcspn(at, " "); colon > at && *colon != ':'; colon--)
		;
	return colon > at ? (int)strtol(colon + 1, NULL, 10) : 0;
}

/* An earlier ringup's container says nothing of its port; then it is the one that the file has. */
static bool ports_is_own(const struct member *m, int port)
{
	return m->state.running && (!*m->state.settings || ports_of_container(m) == port);
}

/* Who has the port: "nginx (process 77)", "another program", or NULL when it is free. */
static const char *ports_holder(struct member *m, int port)
{
	const char *listening = m->state.listening ? m->state.listening : "";
	_cleanup_(str_release) struct str who = STR_INIT;
	size_t length;

	for (; *listening; listening += length + (listening[length] == ';')) {
		char *end;

		length = strcspn(listening, ";");
		if (strtol(listening, &end, 10) != port || *end != ' ' || ports_is_own(m, port))
			continue;
		str_add_bytes(&who, end + 1, length - (size_t)(end + 1 - listening));
		str_one_line(&who, PORTS_WHO_BYTES);
		end = who.length ? strrchr(who.text, '/') : NULL;
		if (!end)
			return "another program";
		return arena_printf(&m->arena, "%.*s (process %s)", (int)(end - who.text), who.text,
				    end + 1);
	}
	return NULL;
}

/* " of the container NAME" when the holder is a process of one, and "" when it is not, or nobody can say. */
static const char *ports_container(struct member *m, const char *holder)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *process = strstr(holder, "(process "), *name;
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {0};
	struct error ignored = {0};

	if (!process || !m->ssh)
		return "";
	process = arena_printf(&m->arena, "%ld", strtol(process + strlen("(process "), NULL, 10));
	if (remote_script("port_container", WORDS(m->engine->name, process), &words, &ignored) < 0)
		return "";
	command.words = words.list;
	if (ssh_run(m->ssh, &command, &result, &ignored) < 0)
		return "";
	str_one_line(&result.out, PORTS_WHO_BYTES);
	name = remote_value(result.out.text, "container", &m->arena);
	return *name ? arena_printf(&m->arena, " of the container %s", name) : "";
}

static int ports_check_fixed(struct member *m, struct error *err)
{
	const char *holder = ports_holder(m, m->sshd_port);

	if (!holder)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s: port %d on %s, which the container's sshd is to have, is taken by %s%s: end that (ss -ltnp shows it), or set container.sshd_port to another port or to auto",
		m->host->name, m->sshd_port, m->address, holder, ports_container(m, holder));
}

static int ports_choose(struct member *m, struct error *err)
{
	if (!m->sshd_port)
		m->sshd_port = ports_of_container(m);
	if (m->sshd_port && !ports_holder(m, m->sshd_port))
		return 0;
	for (int i = 0; i < CLUSTER_SSHD_PORTS; i++) {
		m->sshd_port = CLUSTER_SSHD_PORT_FIRST + i;
		if (!ports_holder(m, m->sshd_port))
			return 0;
	}
	return error_set(err, ERROR_FAILED,
			 "%s: no port from %d to %d is free there; set container.sshd_port",
			 m->host->name, CLUSTER_SSHD_PORT_FIRST,
			 CLUSTER_SSHD_PORT_FIRST + CLUSTER_SSHD_PORTS - 1);
}

static int ports_check_one(struct member *m, void *arg, struct error *err)
{
	const struct cluster *cluster = arg;

	return cluster_sshd_port(cluster) ? ports_check_fixed(m, err) : ports_choose(m, err);
}

void fleet_check_ports(struct fleet *fleet)
{
	if (cluster_has_sshd(fleet->cluster) && fleet->members[0].engine->has_containers)
		fleet_each(fleet, ports_check_one, (void *)(uintptr_t)fleet->cluster);
}
