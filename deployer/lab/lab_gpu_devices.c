/* SPDX-License-Identifier: MIT */
#include "deployer/lab/lab_gpu_devices.h"

#include "core/file.h"
#include "core/proc.h"
#include "deployer/engine/engine.h"
#include "deployer/lab/lab_state.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *lab_host_path(const struct lab *lab, const struct lab_host *host,
				 const char *relative, struct arena *arena)
{
	return lab_path(lab, arena_printf(arena, "%s/%s", host->name, relative), arena);
}

/* What programs open there: the card's verbs, and the connection manager (docs.kernel.org/infiniband/user_verbs.html). */
static int lab_write_infiniband(const struct lab *lab, const struct lab_host *host,
				struct arena *arena, struct error *err)
{
	static const char *const names[] = {"uverbs0", "rdma_cm"};
	const char *folder = lab_host_path(lab, host, "dev/infiniband", arena);
	bool wanted = host->gpus.infiniband && !lab->loopback;

	if (wanted && folder_make(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = arena_printf(arena, "%s/%s", folder, names[i]);

		if (!wanted)
			unlink(path);
		else if ((mknod(path, S_IFCHR, makedev(1, 3)) < 0 && errno != EEXIST) ||
			 chmod(path, 0666) < 0)
			return error_errno(err, "cannot make the device file %s", path);
	}
	return 0;
}

static int lab_write_cdi(const struct lab *lab, const struct lab_host *host, struct arena *arena,
			 struct error *err)
{
	const char *path = lab_host_path(lab, host, "etc/cdi/nvidia.yaml", arena);
	const struct engine *engine = engine_find(lab->engine);

	if (!*host->gpus.spec || !host->gpus.toolkit || !engine || !engine->needs_cdi) {
		unlink(path);
		return 0;
	}
	return proc_check(WORDS(lab_host_path(lab, host, "gpus/bin/nvidia-ctk", arena), "cdi",
				"generate", "--output", path),
			  err);
}

int lab_gpu_devices_write(const struct lab *lab, const struct lab_host *host, struct arena *arena,
			  struct error *err)
{
	if (lab_write_infiniband(lab, host, arena, err) < 0)
		return -1;
	return lab_write_cdi(lab, host, arena, err);
}
