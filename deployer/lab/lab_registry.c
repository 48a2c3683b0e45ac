/* SPDX-License-Identifier: MIT */
/* The lab's registry: the real Distribution server with TLS from a CA of the lab's own, and
 * htpasswd. */
#include "deployer/lab/lab_registry.h"

#include "core/credential_files.h"
#include "core/file.h"
#include "core/proc.h"
#include "core/progress.h"
#include "deployer/lab/lab_process.h"
#include "deployer/lab/lab_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REGISTRY_START_S 30

static const char *registry_host(const struct lab *lab, struct arena *arena)
{
	return lab->loopback ? "127.0.0.1" : arena_printf(arena, "10.83.%d.254", lab->subnet);
}

const char *lab_registry_address(const struct lab *lab, struct arena *arena)
{
	return arena_printf(arena, "%s:%d", registry_host(lab, arena), LAB_REGISTRY_PORT);
}

static int registry_write_config(const struct lab *lab, const char *path, struct arena *arena,
				 struct error *err)
{
	const char *text = arena_printf(
		arena,
		"version: 0.1\n"
		"log: {level: warn, accesslog: {disabled: true}}\n"
		"storage:\n"
		"  filesystem: {rootdirectory: \"%s\"}\n"
		"  delete: {enabled: true}\n"
		"  maintenance: {uploadpurging: {enabled: true, age: 1h, interval: 1h, dryrun: false}}\n"
		"http:\n"
		"  addr: \"%s\"\n"
		"  tls: {certificate: \"%s\", key: \"%s\"}\n"
		"auth:\n"
		"  htpasswd: {realm: ringup-lab, path: \"%s\"}\n",
		lab_path(lab, "registry/data", arena), lab_registry_address(lab, arena),
		lab_path(lab, "registry/server.pem", arena),
		lab_path(lab, "registry/server.key", arena),
		lab_path(lab, "registry/htpasswd", arena));

	return file_write(path, text, strlen(text), 0600, err);
}

int lab_registry_up(struct lab *lab, struct arena *arena, struct error *err)
{
	const char *config = lab_path(lab, "registry/config.yml", arena);
	const char *log = lab_path(lab, "registry/registry.log", arena);
	struct progress_step *step;
	pid_t pid;

	if (lab_process_alive(&lab->registry))
		return 0;
	if (folder_make(lab_path(lab, "registry/data", arena), 0700, err) < 0 ||
	    certificate_files_make(lab_path(lab, "registry", arena), "ringup lab registry",
				   WORDS(registry_host(lab, arena)), err) < 0 ||
	    password_files_make(lab_path(lab, "registry", arena), LAB_REGISTRY_USER, err) < 0 ||
	    registry_write_config(lab, config, arena, err) < 0 ||
	    proc_spawn(WORDS("docker-registry", "serve", config), NULL, log, &pid, err) < 0)
		return -1;
	usleep(50000);
	if (lab_process_note(pid, log, &lab->registry, err) < 0 || lab_save(lab, err) < 0)
		return error_wrap(err, "the lab's registry");
	step = progress_begin("registry", "starts");
	if (!lab_wait_port(registry_host(lab, arena), LAB_REGISTRY_PORT, &lab->registry,
			   REGISTRY_START_S)) {
		progress_end(step, false, "failed");
		return error_set(
			err, ERROR_FAILED,
			"the lab's registry did not start on %s; is the port taken? see %s",
			lab_registry_address(lab, arena), log);
	}
	progress_end(step, true, "https://%s up", lab_registry_address(lab, arena));
	return 0;
}
