/* SPDX-License-Identifier: MIT */
/* Loopback hosts: 127.0.0.2 and on, each with an sshd of the calling user on a high port. */
#include "deployer/lab/lab_internal.h"

#include "core/file.h"
#include "core/proc.h"
#include "core/progress.h"
#include "core/words.h"

#include <string.h>
#include <unistd.h>

#define LOOPBACK_PORT 9422
#define SSHD_START_S 20
#define LAB_RUN_SSHD "/run/sshd"

/* sshd must be started by its full path; /usr/sbin is seldom on a user's PATH. */
static const char *sshd_path(void)
{
	return access("/usr/sbin/sshd", X_OK) == 0 ? "/usr/sbin/sshd" : "/usr/local/sbin/sshd";
}

/*
 * sshd started by root wants its privilege separation folder; service managers make it at boot. One
 * that we make is noted, so that 'lab down' takes it away again.
 */
static int make_run_sshd(const struct lab *lab, struct arena *arena, struct error *err)
{
	if (geteuid() != 0 || file_exists(LAB_RUN_SSHD))
		return 0;
	if (folder_make(LAB_RUN_SSHD, 0755, err) < 0)
		return -1;
	return file_write(lab_path(lab, "made-run-sshd", arena), "", 0, 0600, err);
}

void lab_loopback_down(const struct lab *lab, struct arena *arena)
{
	for (int i = 0; i < lab->host_count; i++)
		lab_process_end(&lab->hosts[i].process, false);
	if (file_exists(lab_path(lab, "made-run-sshd", arena)))
		rmdir(LAB_RUN_SSHD);
}

static int start_sshd(struct lab *lab, int index, struct arena *arena, struct error *err)
{
	struct lab_host *host = &lab->hosts[index];
	const char *state = lab_path(lab, host->name, arena);
	const char *log = arena_printf(arena, "%s/sshd.log", state);
	struct words words = WORDS_INIT(arena);
	char *public_key;
	pid_t pid;

	if (lab_process_alive(&host->process))
		return 0;
	if (folder_make(state, 0700, err) < 0 ||
	    lab_key(lab, arena_printf(arena, "%s/ssh_host_ed25519_key", host->name), arena, err) <
		    0 ||
	    file_read(lab_path(lab, "id_ed25519.pub", arena), 4096, arena, &public_key, NULL, err) <
		    0 ||
	    file_write(arena_printf(arena, "%s/authorized_keys", state), public_key,
		       strlen(public_key), 0600, err) < 0)
		return -1;
	words_add_all(&words, WORDS(sshd_path(), "-D", "-f", "/dev/null", "-E", log, "-h"));
	words_addf(&words, "%s/ssh_host_ed25519_key", state);
	words_addf(&words, "-oPidFile=%s/sshd.pid", state);
	words_addf(&words, "-oListenAddress=%s", host->address);
	words_addf(&words, "-oPort=%d", lab->port);
	words_addf(&words, "-oAuthorizedKeysFile=%s/authorized_keys", state);
	/* each "host" keeps its files apart, although all share one disk */
	words_addf(&words, "-oSetEnv=RINGUP_STATE_ROOT=%s/state/ringup", state);
	words_add_all(&words,
		      WORDS("-oStrictModes=no", "-oUsePAM=no", "-oPasswordAuthentication=no",
			    "-oKbdInteractiveAuthentication=no", "-oMaxStartups=200"));
	if (proc_spawn(words.list, NULL, log, &pid, err) < 0)
		return -1;
	usleep(50000);
	if (lab_process_note(pid, log, &host->process, err) < 0)
		return -1;
	if (!lab_wait_port(host->address, lab->port, &host->process, SSHD_START_S))
		return error_set(err, ERROR_FAILED, "its sshd did not start; see %s", log);
	return 0;
}

int lab_loopback_up(struct lab *lab, struct arena *arena, struct error *err)
{
	struct progress_step *step;

	if (access(sshd_path(), X_OK) < 0)
		return error_set(
			err, ERROR_FAILED,
			"sshd is not installed; run make deps, or apt-get install openssh-server");
	lab->port = LOOPBACK_PORT;
	for (int i = 0; i < lab->host_count; i++) {
		lab->hosts[i].name = arena_printf(arena, "node%02d", i + 1);
		lab->hosts[i].address = arena_printf(arena, "127.0.0.%d", i + 2);
	}
	if (lab_save(lab, err) < 0 || make_run_sshd(lab, arena, err) < 0)
		return -1;
	step = progress_begin("hosts", "start");
	for (int i = 0; i < lab->host_count; i++) {
		if (start_sshd(lab, i, arena, err) == 0)
			continue;
		progress_end(step, false, "failed");
		lab_save(lab, err);
		return error_wrap(err, "lab host %s", lab->hosts[i].name);
	}
	progress_end(step, true, "%d loopback hosts up", lab->host_count);
	return lab_save(lab, err);
}
