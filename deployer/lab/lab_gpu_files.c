/* SPDX-License-Identifier: MIT */
/* Writes the folder of a host's simulated GPUs. */
#include "deployer/lab/lab_gpu_files.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/str.h"
#include "core/table.h"
#include "deployer/lab/lab_gpu_devices.h"
#include "deployer/lab/lab_state.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PCI buses: the first eight are those of the machine in github.com/NVIDIA/nccl/issues/1264. */
static const char *const lab_buses[LAB_GPUS_MAX] = {
	"18", "2a", "3a", "5d", "9a", "ab", "ba", "db",
	"1b", "2c", "3c", "5e", "9b", "ac", "bb", "dc",
};

#define LAB_MIG_DEVICES 7 /* of a GPU in MIG mode: as many as its smallest profile allows */

struct lab_gpu_files {
	const struct lab *lab;
	const struct lab_host *host;
	const char *folder;
	struct arena *arena;
	struct str *lines; /* of the file `gpus` */
};

static const char *lab_gpus_folder(const struct lab *lab, const struct lab_host *host,
				   struct arena *arena)
{
	return lab_path(lab, arena_printf(arena, "%s/gpus", host->name), arena);
}

static int lab_gpu_put(const struct lab_gpu_files *files, const char *path, const char *text,
		       struct error *err)
{
	const char *full = arena_printf(files->arena, "%s/%s", files->folder, path);

	if (folder_make(path_folder(files->arena, full), 0755, err) < 0)
		return -1;
	return file_write(full, text, strlen(text), 0644, err);
}

/* A file of one line, as those below /sys are. */
static int lab_gpu_put_line(const struct lab_gpu_files *files, const char *folder, const char *name,
			    const char *line, struct error *err)
{
	return lab_gpu_put(files, arena_printf(files->arena, "%s/%s", folder, name),
			   arena_printf(files->arena, "%s\n", line), err);
}

/* The same GPU, and the same part of it, of the same host always has the same UUID. */
static const char *lab_gpu_uuid(const struct lab_gpu_files *files, const char *kind,
				const char *device)
{
	char digest[DIGEST_TEXT_BYTES];
	const char *text = arena_printf(files->arena, "%s/%s/%s", files->lab->folder,
					files->host->name, device);
	const char *hex = digest + strlen("sha256:");

	digest_of(text, strlen(text), digest);
	return arena_printf(files->arena, "%s-%.8s-%.4s-%.4s-%.4s-%.12s", kind, hex, hex + 8,
			    hex + 12, hex + 16, hex + 20);
}

/*
 * The profile and the UUIDs of the GPU's MIG devices; "" where it is not divided. The driver has a folder for each GPU
 * instance (NVIDIA's MIG user guide, "/proc based nvidia-capabilities"; seven of the smallest are numbered from 7 on).
 */
static int lab_gpu_put_mig(const struct lab_gpu_files *files, const struct lab_gpu *gpu,
			   const char **mig, struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	*mig = "";
	if (!gpu->mig)
		return 0;
	str_add(&out, lab_gpu_cell(gpu, "mig"));
	for (int i = 0; i < LAB_MIG_DEVICES; i++) {
		const char *device = arena_printf(files->arena, "%d:%d", gpu->index, i);
		const char *folder = arena_printf(files->arena, "capabilities/gpu%d/mig/gi%d",
						  gpu->index, LAB_MIG_DEVICES + i);
		const char *minor = arena_printf(files->arena, "DeviceFileMinor: %d",
						 3 + 135 * gpu->index + 9 * (LAB_MIG_DEVICES + i));

		str_addf(&out, " %s", lab_gpu_uuid(files, "MIG", device));
		if (lab_gpu_put_line(files, folder, "access", minor, err) < 0)
			return -1;
	}
	*mig = arena_strdup(files->arena, out.text);
	return 0;
}

static int lab_gpu_put_pci(const struct lab_gpu_files *files, const struct lab_gpu *gpu,
			   struct error *err)
{
	const char *pcie = lab_gpu_cell(gpu, "pcie"), *lanes = strchr(pcie, 'x');
	const char *folder = arena_printf(files->arena, "sys/bus/pci/devices/0000:%s:00.0",
					  lab_buses[gpu->index]);
	const char *speed =
		arena_printf(files->arena, "%.*s GT/s PCIe", lanes ? (int)(lanes - pcie) : 0, pcie);
	const char *const lines[][2] = {
		{"vendor", "0x10de"},	       {"class", "0x030200"},
		{"current_link_speed", speed}, {"current_link_width", lanes ? lanes + 1 : "0"},
		{"max_link_speed", speed},     {"max_link_width", lanes ? lanes + 1 : "0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		if (lab_gpu_put_line(files, folder, lines[i][0], lines[i][1], err) < 0)
			return -1;
	return 0;
}

static int lab_gpu_write_one(const struct lab_gpu *gpu, void *arg, struct error *err)
{
	struct lab_gpu_files *files = arg;
	const char *index = arena_printf(files->arena, "%d", gpu->index), *mig;

	if (lab_gpu_put_mig(files, gpu, &mig, err) < 0)
		return -1;
	str_addf(files->lines, "%s|%s|0000:%s:00.0|%s|%s|%s|%s|%s|%s|%s\n", index,
		 lab_gpu_uuid(files, "GPU", index), lab_buses[gpu->index],
		 lab_gpu_cell(gpu, "product"), lab_gpu_cell(gpu, "memory_mib"),
		 lab_gpu_cell(gpu, "compute_cap"), lab_gpu_cell(gpu, "nvlinks"),
		 files->host->gpus.nvlink ? lab_gpu_cell(gpu, "gbytes") : "0",
		 lab_gpu_cell(gpu, "watt"), mig);
	return lab_gpu_put_pci(files, gpu, err);
}

/* The CUDA that a driver says it has: the newest one that came with it or with an older driver. */
static int lab_gpu_cuda(const char *driver, struct arena *arena, const char **cuda,
			struct error *err)
{
	struct table table;
	const char *path, *newest = "", *dot;

	if (share_path(arena, "recipes/catalog/cuda.csv", &path, err) < 0 ||
	    table_load(path, arena, &table, err) < 0)
		return -1;
	for (size_t row = 0; row < table.row_count; row++) {
		const char *bundled = table_cell(&table, row, "driver_bundled");
		const char *version = table_cell(&table, row, "version");

		if (*bundled && version_compare(bundled, driver) <= 0 &&
		    (!*newest || version_compare(version, newest) > 0))
			newest = version;
	}
	dot = strchr(newest, '.');
	*cuda = dot ? arena_strndup(arena, newest,
				    (size_t)(dot - newest) + 1 + strcspn(dot + 1, "."))
		    : "N/A";
	return 0;
}

static int lab_gpu_put_infiniband(const struct lab_gpu_files *files, struct error *err)
{
	static const char port[] = "sys/class/infiniband/mlx5_0/ports/1";

	if (!files->host->gpus.infiniband)
		return 0;
	if (lab_gpu_put_line(files, port, "state", "4: ACTIVE", err) < 0 ||
	    lab_gpu_put_line(files, port, "link_layer", "InfiniBand", err) < 0)
		return -1;
	return lab_gpu_put_line(files, port, "rate", "200 Gb/sec (4X HDR)", err);
}

static int lab_gpu_put_sys(const struct lab_gpu_files *files, const char *driver, struct error *err)
{
	const char *net = arena_printf(files->arena, "%s/sys/class/net", files->folder);

	if (lab_gpu_put_line(files, "sys/module/nvidia", "version", driver, err) < 0 ||
	    lab_gpu_put_infiniband(files, err) < 0 ||
	    folder_make(path_folder(files->arena, net), 0755, err) < 0)
		return -1;
	if (!file_exists(net) && symlink("/sys/class/net", net) < 0)
		return error_errno(err, "cannot make %s", net);
	return 0;
}

/* Copies a file, or removes the copy when the host is to have none. */
static int lab_gpu_copy(const struct lab_gpu_files *files, const char *from, const char *to,
			bool wanted, struct error *err)
{
	const char *path = arena_printf(files->arena, "%s/%s", files->folder, to);
	size_t length;
	char *bytes;

	if (!wanted) {
		unlink(path);
		return 0;
	}
	if (file_read(from, FILE_CEILING_BYTES, files->arena, &bytes, &length, err) < 0 ||
	    folder_make(path_folder(files->arena, path), 0755, err) < 0)
		return -1;
	return file_write(path, bytes, length, 0755, err);
}

static int lab_gpu_put_programs(const struct lab_gpu_files *files, struct error *err)
{
	static const struct {
		const char *name;
		bool of_toolkit;
	} programs[] = {
		{"nvidia-smi", false},
		{"nvidia-ctk", true},
		{"nvidia-cdi-hook", true},
		{"nvidia-container-runtime-hook", true},
	};
	static const struct {
		const char *from, *to;
	} simulated[] = {
		{"simulated-cuda.so", "lib/libcuda.so.1"},
		{"simulated-nccl.so", "lib/libnccl.so.2"},
		{"simulated-nvml.so", "lib/libnvidia-ml.so.1"},
	};
	const char *libraries = path_program_folder(files->arena), *from;

	if (share_path(files->arena, "images/simulated/container.sh", &from, err) < 0 ||
	    lab_gpu_copy(files, from, "container.sh", files->host->gpus.toolkit, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (share_path(files->arena,
			       arena_printf(files->arena, "images/simulated/%s", programs[i].name),
			       &from, err) < 0 ||
		    lab_gpu_copy(files, from,
				 arena_printf(files->arena, "bin/%s", programs[i].name),
				 !programs[i].of_toolkit || files->host->gpus.toolkit, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(simulated); i++)
		if (lab_gpu_copy(files,
				 arena_printf(files->arena, "%s/%s", libraries, simulated[i].from),
				 simulated[i].to, true, err) < 0)
			return -1;
	return 0;
}

static int lab_gpus_write_folder(const struct lab *lab, const struct lab_host *host,
				 struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str lines = STR_INIT;
	struct lab_gpu_files files = {lab, host, lab_gpus_folder(lab, host, arena), arena, &lines};
	const char *driver = lab_gpus_driver(host, arena), *cuda;
	const char *fault = arena_printf(arena, "%s/fault", files.folder);

	for (const char *const *name = WORDS("sys", "capabilities"); *name; name++) {
		const char *folder = arena_printf(arena, "%s/%s", files.folder, *name);

		if (file_exists(folder) && folder_remove(folder, err) < 0)
			return -1;
	}
	if (folder_make(arena_printf(arena, "%s/capabilities", files.folder), 0755, err) < 0)
		return -1;
	unlink(fault); /* what was broken is mended */
	if (lab_gpus_each(host->gpus.spec, arena, lab_gpu_write_one, &files, err) < 0 ||
	    lab_gpu_put(&files, "gpus", lines.text, err) < 0 ||
	    lab_gpu_cuda(driver, arena, &cuda, err) < 0 ||
	    lab_gpu_put(&files, "driver", arena_printf(arena, "%s %s\n", driver, cuda), err) < 0 ||
	    lab_gpu_put(&files, "simulated",
			arena_printf(arena, "%s\n", lab_gpus_text(host, arena)), err) < 0 ||
	    lab_gpu_put_sys(&files, driver, err) < 0)
		return -1;
	return lab_gpu_put_programs(&files, err);
}

int lab_gpus_write(const struct lab *lab, const struct lab_host *host, struct arena *arena,
		   struct error *err)
{
	if (*host->gpus.spec) {
		if (lab_gpus_write_folder(lab, host, arena, err) < 0)
			return -1;
	} else {
		const char *folder = lab_gpus_folder(lab, host, arena);

		if (file_exists(folder) && folder_remove(folder, err) < 0)
			return -1;
	}
	return lab_gpu_devices_write(lab, host, arena, err);
}

void lab_gpus_environment(const struct lab *lab, const struct lab_host *host, struct words *out)
{
	const char *folder = lab_gpus_folder(lab, host, out->arena);

	if (!*host->gpus.spec)
		return;
	words_addf(out, "RINGUP_SIMULATED=%s", folder);
	words_addf(out, "RINGUP_SIMULATED_SHARED=%s", lab_path(lab, "shared", out->arena));
	words_addf(out, "RINGUP_SYS=%s/sys", folder);
	words_addf(out, "LD_LIBRARY_PATH=%s/lib", folder);
	words_addf(out, "PATH=%s/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		   folder);
}
