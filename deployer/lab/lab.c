/* SPDX-License-Identifier: MIT */
#include "deployer/lab/lab.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/private.h"
#include "core/log.h"
#include "core/progress.h"
#include "deployer/ssh/keys/known_hosts.h"
#include "plan/credentials.h"
#include "deployer/lab/lab_bare.h"
#include "deployer/lab/lab_gpus.h"
#include "deployer/engine/engine.h"
#include "deployer/lab/lab_loopback.h"
#include "deployer/lab/lab_netns.h"
#include "deployer/lab/lab_process.h"
#include "deployer/lab/lab_registry.h"
#include "deployer/lab/lab_state.h"

#include <string.h>
#include <unistd.h>

/* A cluster.yaml that a person wrote is never overwritten. */
static int check_cluster_file(const char *path, struct arena *arena, struct error *err)
{
	char *text;

	if (!file_exists(path))
		return 0;
	if (file_read(path, FILE_CEILING_BYTES, arena, &text, NULL, err) < 0)
		return -1;
	if (starts_with(text, LAB_MARK))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"%s is there and was not made by 'ringup lab up'; work in another folder, or name another file with -f",
		path);
}

/* The lab's paths are in settings of sshd and in PATH, where these signs end a path or mean something else. */
static int lab_check_folder(const struct lab *lab, struct error *err)
{
	if (!strpbrk(lab->folder, " \t\n\"'\\%:"))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"the path of the folder '%s' has a blank, a quote, a colon, '%%' or '\\', which sshd's settings cannot hold; make the lab in a folder without one",
		lab->folder);
}

/* Writes the host keys of all lab hosts for ringup's own logins. */
static int write_known_hosts(const struct lab *lab, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	for (int i = 0; i < lab->host_count; i++) {
		const char *path = lab_path(
			lab, arena_printf(arena, "%s/ssh_host_ed25519_key.pub", lab->hosts[i].name),
			arena);
		char *key;

		if (file_read(path, 4096, arena, &key, NULL, err) < 0)
			return -1;
		str_addf(&out, "%s %s", known_hosts_name(lab->hosts[i].address, lab->port, arena),
			 key);
	}
	return file_write(lab_path(lab, "known_hosts", arena), out.text, out.length, 0600, err);
}

/* Writes the login that 'ringup login' would write. */
static int write_credentials(const struct lab *lab, struct arena *arena, struct error *err)
{
	const struct cluster cluster = {.folder = lab->folder};
	struct credentials credentials = {.user = LAB_REGISTRY_USER};
	char *password;

	if (file_read(lab_path(lab, "registry/password", arena), 256, arena, &password, NULL, err) <
	    0)
		return -1;
	credentials.password = (struct secret){password};
	return credentials_store(&cluster, lab_registry_address(lab, arena), &credentials, err);
}

static int lab_start(struct lab *lab, struct arena *arena, struct error *err)
{
	if (lab_key(lab, "id_ed25519", arena, err) < 0)
		return -1;
	if (lab->loopback)
		return lab_loopback_up(lab, arena, err);
	if (lab_bare_make(lab, arena, err) < 0 || lab_netns_up(lab, arena, err) < 0 ||
	    lab_registry_up(lab, arena, err) < 0)
		return -1;
	return write_credentials(lab, arena, err);
}

static int lab_choose_user(struct lab *lab, const char *wanted, struct error *err)
{
	if (!wanted)
		return 0;
	if (!*wanted || strspn(wanted, "abcdefghijklmnopqrstuvwxyz") != strlen(wanted) ||
	    strlen(wanted) > 16 || strcmp(wanted, "root") == 0)
		return error_set(
			err, ERROR_USAGE,
			"'%s' is no user's name here; write up to 16 small letters, as ops",
			wanted);
	if (lab->loopback || (lab->host_count && lab->written && strcmp(lab->user, wanted) != 0))
		return error_set(err, ERROR_USAGE,
				 "%s; run 'ringup lab down' first, and then with --user",
				 lab->loopback ? "loopback hosts have the login of who starts them"
					       : "a lab with other logins is up");
	lab->user = wanted;
	return 0;
}

static int choose_engine(struct lab *lab, const char *wanted, struct error *err)
{
	const char *usual = engine_find("auto")->name;

	if (lab->host_count && !lab->engine) /* a lab of an older ringup */
		lab->engine = lab->loopback ? "none" : usual;
	if (wanted && (!engine_find(wanted) || !engine_find(wanted)->has_containers))
		return error_set(err, ERROR_USAGE,
				 "'%s' is no container engine of a lab; write --engine %s", wanted,
				 usual);
	if (wanted && lab->host_count && strcmp(lab->engine, wanted) != 0)
		return error_set(err, ERROR_USAGE,
				 "a lab with engine: %s is up; run 'ringup lab down' first",
				 lab->engine);
	lab->engine = wanted ? wanted : lab->engine ? lab->engine : usual;
	return 0;
}

static int choose_kind(struct lab *lab, int host_count, bool force_loopback, struct arena *arena,
		       struct error *err)
{
	if (lab->host_count > host_count)
		return error_set(
			err, ERROR_USAGE,
			"a lab of %d hosts is up; run 'ringup lab down' before starting one of %d",
			lab->host_count, host_count);
	if (lab->host_count && lab->loopback == false && !force_loopback) {
		lab->host_count = host_count;
		return 0;
	}
	if (force_loopback)
		lab->why_loopback = "--loopback was given";
	else if (lab->host_count && lab->loopback)
		lab->why_loopback = "the lab has such hosts";
	else
		lab->why_loopback = lab_netns_refusal(lab->engine, arena);
	if (lab->host_count && lab->loopback != (lab->why_loopback != NULL))
		return error_set(err, ERROR_USAGE,
				 "a lab of the other kind is up; run 'ringup lab down' first");
	lab->loopback = lab->why_loopback != NULL;
	if (lab->loopback)
		lab->engine = "none";
	if (lab->loopback)
		log_warn("loopback hosts with engine: none, because %s", lab->why_loopback);
	lab->host_count = host_count;
	return 0;
}

/* A host whose engine and sshd must see other GPUs ends here, as for a reboot, and starts later. */
static int lab_set_gpus(struct lab *lab, const struct lab_gpus_wish *wish, struct arena *arena,
			struct error *err)
{
	if (lab_gpus_apply(lab, wish, arena, err) < 0 || lab_bare_check(lab, err) < 0)
		return -1;
	for (int i = 0; i < lab->host_count; i++) {
		struct lab_host *host = &lab->hosts[i];

		host->name = arena_printf(arena, "node%02d", i + 1);
		if (!host->gpus_changed)
			continue;
		if (host->restarts)
			lab_process_end(&host->process, !lab->loopback);
		if (folder_make(lab_path(lab, host->name, arena), 0700, err) < 0 ||
		    lab_gpus_write(lab, host, arena, err) < 0)
			return error_wrap(err, "lab host %s", host->name);
	}
	return folder_make(lab_path(lab, "shared", arena), 0700, err);
}

int lab_up(const char *cluster_path, const struct lab_wish *wish, struct arena *arena,
	   struct lab *lab, struct error *err)
{
	_cleanup_(fd_close) int lock = -1;
	int hosts = wish->hosts ? wish->hosts : LAB_HOSTS_DEFAULT;

	if (hosts < 1 || hosts > LAB_HOSTS_MAX)
		return error_set(err, ERROR_USAGE, "--hosts takes 1 to %d", LAB_HOSTS_MAX);
	if (check_cluster_file(cluster_path, arena, err) < 0)
		return -1;
	lab_load(cluster_path, arena, lab);
	if (lab_check_folder(lab, err) < 0)
		return -1;
	if (!wish->hosts && lab->host_count)
		hosts = lab->host_count;
	if (private_folder(arena_printf(arena, "%s/.ringup", lab->folder), err) < 0 ||
	    private_folder(lab->state, err) < 0 ||
	    file_lock(lab_path(lab, "lock", arena), &lock, err) < 0 ||
	    choose_engine(lab, wish->engine, err) < 0 ||
	    choose_kind(lab, hosts, wish->loopback, arena, err) < 0 ||
	    lab_choose_user(lab, wish->user, err) < 0 ||
	    lab_bare_apply(lab, wish, arena, err) < 0 ||
	    lab_set_gpus(lab, &wish->gpus, arena, err) < 0)
		return -1;
	if (lab_start(lab, arena, err) < 0)
		return error_advise(err, "'ringup lab down' removes what was started");
	if (write_known_hosts(lab, arena, err) < 0)
		return -1;
	return lab_write_cluster(lab, cluster_path, arena, err);
}

/* Removes the cluster file that the lab wrote, unless a person has changed it. */
static void remove_cluster_files(const struct lab *lab, const char *cluster_path,
				 struct arena *arena)
{
	if (!lab_owns_cluster(lab, cluster_path))
		return;
	unlink(cluster_path);
	unlink(arena_printf(arena, "%s/ringup.lock", lab->folder));
}

int lab_down(const char *cluster_path, struct arena *arena, bool *found, struct error *err)
{
	struct lab *lab = ARENA_NEW(arena, struct lab);
	struct progress_step *step;
	int rc;

	lab_load(cluster_path, arena, lab);
	*found = file_exists(lab_path(lab, "state.json", arena));
	if (!*found)
		return 0;
	step = progress_begin("lab", "ends its processes");
	lab_process_end(&lab->registry, false);
	if (lab->loopback)
		lab_loopback_down(lab);
	else
		lab_netns_down(lab, arena);
	progress_state(step, "removes its files");
	remove_cluster_files(lab, cluster_path, arena);
	rc = folder_remove(arena_printf(arena, "%s/.ringup", lab->folder), err);
	progress_end(step, rc == 0, rc == 0 ? "down" : "not all of it could be removed");
	return rc;
}
