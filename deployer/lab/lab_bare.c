/* SPDX-License-Identifier: MIT */
#include "deployer/lab/lab_bare.h"

#include "core/file.h"
#include "core/pool.h"
#include "core/proc.h"
#include "core/progress.h"
#include "core/str.h"
#include "deployer/lab/lab_state.h"

#include <stdio.h>
#include <string.h>

#define UPSTREAM "http://deb.debian.org/debian"

static const struct {
	const char *name, *codename;
} systems[] = {{"debian11", "bullseye"}, {"debian12", "bookworm"}, {"debian13", "trixie"}};

void lab_bare_list(struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(systems); i++)
		str_addf(out, "%s%s", i ? ", " : "", systems[i].name);
}

static const char *lab_bare_codename(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(systems); i++)
		if (strcmp(systems[i].name, name) == 0)
			return systems[i].codename;
	return NULL;
}

static int lab_bare_set(struct lab *lab, const char *text, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str known = STR_INIT;
	const char *system;
	int first, last;

	if (lab_hosts_meant(lab, "--bare", text, &first, &last, &system, arena, err) < 0)
		return -1;
	if (!lab_bare_codename(system)) {
		lab_bare_list(&known);
		return error_set(err, ERROR_USAGE,
				 "--bare: the lab cannot make hosts with '%s'; it can: %s", system,
				 known.text);
	}
	for (int i = first; i <= last; i++) {
		struct lab_host *host = &lab->hosts[i];

		if (host->address && strcmp(host->bare, system) != 0)
			return error_set(
				err, ERROR_USAGE,
				"--bare %s: the host has another system; run 'ringup lab down' first",
				text);
		host->bare = system;
	}
	return 0;
}

/* What a host with a system of its own cannot have, or NULL. */
static const char *lab_bare_refusal(const struct lab *lab, const struct lab_wish *wish)
{
	if (lab->loopback)
		return "it needs hosts in namespaces";
	if (*lab->user || wish->user)
		return "its login is root's, so leave --user out";
	if (strpbrk(lab->folder, ",:"))
		return "the folder's path has a comma or a colon, which an overlay's options cannot hold";
	if (!proc_exists("slirp4netns"))
		return "slirp4netns is not installed (make deps installs it)";
	return NULL;
}

int lab_bare_apply(struct lab *lab, const struct lab_wish *wish, struct arena *arena,
		   struct error *err)
{
	const char *why;

	for (int i = 0; i < lab->host_count; i++)
		if (!lab->hosts[i].bare)
			lab->hosts[i].bare = "";
	for (size_t i = 0; i < wish->bare.count; i++) {
		char *list = arena_strdup(arena, wish->bare.list[i]), *text;

		while ((text = strsep(&list, ",")))
			if (lab_bare_set(lab, text, arena, err) < 0)
				return -1;
	}
	why = wish->bare.count ? lab_bare_refusal(lab, wish) : NULL;
	if (why)
		return error_set(err, ERROR_USAGE, "--bare: %s", why);
	return 0;
}

int lab_bare_check(const struct lab *lab, struct error *err)
{
	for (int i = 0; i < lab->host_count; i++)
		if (*lab->hosts[i].bare && *lab->hosts[i].gpus.spec)
			return error_set(
				err, ERROR_USAGE,
				"--gpus: node%02d is bare, and simulated GPUs need a host with the system of this machine",
				i + 1);
	return 0;
}

static const char *lab_bare_path(const struct lab *lab, const char *system, struct arena *arena)
{
	return lab_path(lab, arena_printf(arena, "bare/%s", system), arena);
}

/* What a person's installation has beside the smallest set of packages is systemd, an sshd and their tools. */
static int lab_bare_make_one(const struct lab *lab, const char *system, struct arena *arena,
			     struct error *err)
{
	const char *path = lab_bare_path(lab, system, arena), *mirror = lab_machine_apt(arena);
	const char *part = arena_printf(arena, "%s.part", path);
	const char *codename = lab_bare_codename(system);
	struct progress_step *step;
	int rc;

	if (file_exists(path))
		return 0;
	if (folder_make(lab_path(lab, "bare", arena), 0700, err) < 0 ||
	    (file_exists(part) && folder_remove(part, err) < 0))
		return -1;
	step = progress_begin(system, "makes the system of the bare hosts");
	/* without networkd, as Debian's installer leaves it, which would wait two minutes for a network of its own */
	rc = proc_check(
		WORDS("mmdebstrap", "--quiet", "--variant=minbase",
		      "--include=systemd-sysv,dbus,openssh-server,iproute2,procps",
		      "--customize-hook=rm -f \"$1\"/etc/machine-id \"$1\"/etc/ssh/ssh_host_*; "
		      "for unit in networkd networkd-wait-online; do ln -sf /dev/null \"$1/etc/systemd/system/systemd-$unit.service\"; done",
		      codename, part,
		      arena_printf(arena, "deb %s %s main", mirror ? mirror : UPSTREAM, codename)),
		err);
	if (rc == 0 && rename(part, path) < 0)
		rc = error_errno(err, "cannot make %s", path);
	progress_end(step, rc == 0, rc == 0 ? "%s made" : "%s failed", codename);
	return rc < 0 ? error_wrap(err, "the system %s of the bare hosts", system) : 0;
}

struct make {
	const struct lab *lab;
	bool wanted[ARRAY_LEN(systems)];
	struct error errors[ARRAY_LEN(systems)];
};

static void make_one(void *arg, size_t index)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct make *make = arg;

	if (make->wanted[index])
		lab_bare_make_one(make->lab, systems[index].name, &arena, &make->errors[index]);
}

int lab_bare_make(const struct lab *lab, struct arena *arena, struct error *err)
{
	struct make *make = ARENA_NEW(arena, struct make);

	make->lab = lab;
	for (int i = 0; i < lab->host_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(systems); k++)
			make->wanted[k] |= strcmp(lab->hosts[i].bare, systems[k].name) == 0;
	pool_each(ARRAY_LEN(systems), ARRAY_LEN(systems), make_one, make);
	for (size_t k = 0; k < ARRAY_LEN(systems); k++)
		if (make->errors[k].kind) {
			*err = make->errors[k];
			return -1;
		}
	return 0;
}

const char *const *lab_bare_words(const struct lab *lab, const struct lab_host *host,
				  const char *netns, struct arena *arena, struct error *err)
{
	struct words words = WORDS_INIT(arena);
	const char *script;

	if (share_path(arena, "deployer/remote/lab_bare.sh", &script, err) < 0)
		return NULL;
	words_add_all(&words, WORDS("sh", script, "network", lab_path(lab, host->name, arena),
				    arena_printf(arena, "/run/netns/%s", netns),
				    arena_printf(arena, "/%s/%s", lab->name, host->name)));
	words_add_all(&words, WORDS("nsenter", arena_printf(arena, "--net=/run/netns/%s", netns),
				    "unshare", "--cgroup", "--mount", "--uts", "--ipc", "--pid",
				    "--fork", "--kill-child"));
	words_add_all(&words, WORDS("sh", script, "host", lab_path(lab, host->name, arena),
				    lab_bare_path(lab, host->bare, arena), host->name,
				    host->address, arena_printf(arena, "%d", lab->port)));
	return words_list(&words);
}
