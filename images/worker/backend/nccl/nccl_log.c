/* SPDX-License-Identifier: MIT */
#include "backend/nccl/nccl_log.h"
#include "host/hardware.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 100000

static char path[256]; /* "": this program keeps no log */

void nccl_log_start(void)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if (getenv("NCCL_DEBUG") || getenv("NCCL_DEBUG_FILE"))
		return;
	snprintf(path, sizeof(path), "%s/ringup-nccl-log.XXXXXX",
		 folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0) {
		path[0] = '\0';
		return;
	}
	close(fd);
	setenv("NCCL_DEBUG", "INFO", 1);
	setenv("NCCL_DEBUG_FILE", path, 1);
}

/* What is looked for in the lines. */
struct words {
	bool sockets, infiniband, shared, disabled;
};

static void read_words(struct words *words)
{
	char line[1024];
	FILE *file = fopen(path, "re");

	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
		words->sockets |= strstr(line, "Using network Socket") != NULL ||
				  strstr(line, "NET/Socket : Using") != NULL;
		words->infiniband |= strstr(line, "Using network IB") != NULL ||
				     strstr(line, "NET/IB : Using") != NULL;
		words->shared |= strstr(line, " via SHM") != NULL;
		words->disabled |= strstr(line, "P2P is disabled") != NULL;
	}
	if (file)
		fclose(file);
}

void nccl_log_check(const struct group *group, struct warnings *warnings)
{
	struct words words = {false, false, false, false};
	struct warning *new = NULL;
	char port[64];

	if (path[0] == '\0')
		return;
	read_words(&words);
	nccl_log_stop();
	if (words.sockets && !words.infiniband && hardware_has_others(group) &&
	    hardware_find_infiniband(port, sizeof(port)))
		new = warning_add(
			warnings,
			"see with NCCL_DEBUG=INFO why NET/IB is refused: libibverbs in the image? /dev/infiniband in the container?",
			"NCCL uses sockets though InfiniBand or RoCE is there");
	if (new)
		snprintf(new->why, sizeof(new->why),
			 "its log says NET/Socket, and port %s is active", port);
	new = NULL;
	if (words.shared || words.disabled)
		new = warning_add(
			warnings,
			"see 'nvidia-smi topo -p2p r', $NCCL_P2P_DISABLE, and the IOMMU's and ACS' settings",
			"GPUs of this host do not reach each other's memory");
	if (new)
		snprintf(new->why, sizeof(new->why), "NCCL's log says that %s",
			 words.disabled ? "P2P is disabled"
					: "they exchange through host memory (SHM)");
}

void nccl_log_stop(void)
{
	if (path[0] != '\0')
		unlink(path);
	path[0] = '\0';
}
