/* SPDX-License-Identifier: MIT */
/*
 * Loopback hosts: 127.0.0.2 and the following addresses, each with an sshd of the calling user on a
 * high port. While a lab holds those addresses, the next lab takes 127.0.1.2 and the following
 * ones.
 */
#include "deployer/lab/lab_loopback.h"

#include "core/file.h"
#include "core/proc.h"
#include "core/progress.h"
#include "core/words.h"
#include "deployer/lab/lab_gpus.h"
#include "deployer/lab/lab_process.h"
#include "deployer/lab/lab_state.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
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
 * An sshd that root starts needs its privilege separation folder, which service managers make at
 * boot. The folder stays after the lab, because another lab's sshd may need it.
 */
static int make_run_sshd(struct error *err)
{
	return geteuid() == 0 ? folder_make(LAB_RUN_SSHD, 0755, err) : 0;
}

void lab_loopback_down(const struct lab *lab)
{
	for (int i = 0; i < lab->host_count; i++)
		lab_process_end(&lab->hosts[i].process, false);
}

static bool is_address_free(const char *address)
{
	struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(LOOPBACK_PORT)};
	_cleanup_(fd_close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0 || inet_pton(AF_INET, address, &place.sin_addr) != 1)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)); /* as sshd does */
	return bind(fd, (struct sockaddr *)&place, sizeof(place)) == 0;
}

/* Chooses the third number of the addresses: the first one that leaves all hosts a free address. */
static int loopback_choose_subnet(struct lab *lab, struct arena *arena, struct error *err)
{
	for (int subnet = 0; subnet < 256; subnet++) {
		int free = 0;

		while (free < lab->host_count &&
		       is_address_free(arena_printf(arena, "127.0.%d.%d", subnet, free + 2)))
			free++;
		if (free == lab->host_count) {
			lab->subnet = subnet;
			return 0;
		}
	}
	return error_set(err, ERROR_FAILED, "no loopback addresses with a free port %d are left",
			 LOOPBACK_PORT);
}

/* What sessions have in their environment: each host has its own files on the disk of all. */
static const char *loopback_environment(const struct lab *lab, const struct lab_host *host,
					struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_addf(&words, "RINGUP_STATE_ROOT=%s/state/ringup", lab_path(lab, host->name, arena));
	lab_gpus_environment(lab, host, &words);
	return lab_setenv(&words);
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
	words_addf(&words, "-oSetEnv=%s", loopback_environment(lab, host, arena));
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

/* Addresses are chosen and taken under one lock, so that no other lab takes them in between. */
int lab_loopback_up(struct lab *lab, struct arena *arena, struct error *err)
{
	_cleanup_(fd_close) int lock = -1;
	struct progress_step *step;
	bool is_new = !lab->hosts[0].address;

	if (access(sshd_path(), X_OK) < 0)
		return error_set(
			err, ERROR_FAILED,
			"sshd is not installed; run make deps, or apt-get install openssh-server");
	lab->port = LOOPBACK_PORT;
	if (lab_lock_machine(&lock, err) < 0)
		return -1;
	if (is_new && loopback_choose_subnet(lab, arena, err) < 0)
		return -1;
	for (int i = 0; i < lab->host_count; i++) {
		lab->hosts[i].name = arena_printf(arena, "node%02d", i + 1);
		lab->hosts[i].address = arena_printf(arena, "127.0.%d.%d", lab->subnet, i + 2);
	}
	if (lab_save(lab, err) < 0 || make_run_sshd(err) < 0)
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
