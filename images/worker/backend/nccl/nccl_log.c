/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* mkostemp */
#include "backend/nccl/nccl_log.h"
#include "host/hardware.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 100000
#define WORDS_MAX 4 /* lines of warnings: the first ones tell most */

static char path[256];	/* "": the file has no name any more, or this program keeps no log */
static int log_fd = -1; /* stays open, as NCCL's own does */

void nccl_log_start(void)
{
	const char *folder = getenv("TMPDIR");

	if (getenv("NCCL_DEBUG") || getenv("NCCL_DEBUG_FILE"))
		return;
	snprintf(path, sizeof(path), "%s/ringup-nccl-log.XXXXXX",
		 folder && *folder ? folder : "/tmp");
	log_fd = mkostemp(path, O_CLOEXEC);
	if (log_fd < 0) {
		path[0] = '\0';
		return;
	}
	setenv("NCCL_DEBUG", "INFO", 1);
	setenv("NCCL_DEBUG_FILE", path, 1);
}

/* What is looked for in the lines. */
struct words {
	bool sockets, infiniband, shared, disabled;
};

/* The log from its start; NULL: there is none. */
static FILE *nccl_log_open(void)
{
	int fd = log_fd >= 0 ? dup(log_fd) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (file)
		rewind(file);
	else if (fd >= 0)
		close(fd);
	return file;
}

static void read_words(struct words *words)
{
	char line[1024];
	FILE *file = nccl_log_open();

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

	if (log_fd < 0)
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

void nccl_log_words(char *text, size_t bytes)
{
	char line[256], *warning;
	FILE *file = nccl_log_open();
	size_t used = 0;
	int found = 0;

	text[0] = '\0';
	for (int i = 0;
	     file && i < LINES_MAX && found < WORDS_MAX && fgets(line, sizeof(line), file); i++) {
		warning = strstr(line, "NCCL WARN ");
		if (!warning)
			continue;
		warning[strcspn(warning, "\n")] = '\0';
		text_tidy(warning, sizeof(line) - (size_t)(warning - line));
		if (used + strlen(warning) + 2 > bytes)
			break;
		used += (size_t)snprintf(text + used, bytes - used, "%s\n", warning);
		found++;
	}
	if (file)
		fclose(file);
	nccl_log_stop(); /* the process may end without close() */
}

void nccl_log_stop(void)
{
	if (path[0] != '\0')
		unlink(path);
	path[0] = '\0';
}
