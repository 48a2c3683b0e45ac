/* SPDX-License-Identifier: MIT */
#include "plan/cluster.h"

#include "core/file.h"
#include "core/str.h"
#include "plan/arch.h"
#include "plan/cluster_rows.h"
#include "plan/container_check.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PORTS .min = 1, .max = 65535

/* --- top level: checks ---------------------------------------------------------------------- */

/* Names become parts of container names, paths and host names. */
static bool is_cluster_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= 40 && islower((unsigned char)name[0]) &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0' &&
	       name[length - 1] != '-';
}

/*
 * These names belong to 'registry serve --on', whose folder and container are beside those of the
 * clusters.
 */
static bool is_registry_name(const char *name)
{
	return strcmp(name, "registry") == 0 || starts_with(name, "registry-");
}

static int cluster_check_name(const struct yaml_place *at, struct error *err)
{
	const struct cluster *c = at->values;
	const struct yaml *node = at->node ? at->node : at->map;

	if (!is_cluster_name(c->name))
		return yaml_error(
			node, err,
			"'%s' is '%s': a name begins with a lower-case letter and takes lower-case letters, digits and '-', 40 at most",
			at->row->key, c->name);
	if (is_registry_name(c->name))
		return yaml_error(
			node, err,
			"'%s' is '%s': that is ringup's own registry on a host; take another",
			at->row->key, c->name);
	return 0;
}

/* Notes whether the list exists: an empty list and no list differ (cluster_has_no_stack). */
static int cluster_note_stack(const struct yaml_place *at, struct error *err)
{
	struct cluster *c = at->values;

	(void)err;
	c->has_stack = at->node != NULL;
	return 0;
}

static const char *cluster_name(const void *values, const void *root)
{
	(void)values;
	return ((const struct cluster *)root)->name;
}

/* --- registry, mirrors ---------------------------------------------------------------------- */

static int registry_check_address(const struct yaml_place *at, struct error *err)
{
	const struct cluster_registry *registry = at->values;
	const char *scheme = registry->address ? strstr(registry->address, "://") : NULL;

	if (!at->node || !scheme)
		return 0;
	return yaml_error(at->node, err, "'%s' is HOST:PORT, without '%.*s': write '%s'",
			  at->row->key, (int)(scheme - registry->address) + 3, registry->address,
			  scheme + 3);
}

#define AT(member) offsetof(struct cluster_registry, member)
static const struct yaml_row registry_rows[] = {
	{.key = "address",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(address),
	 .note = "required, except with container.engine: none",
	 .help = "HOST:PORT, reached from here and from every host",
	 .check = registry_check_address},
	{.key = "namespace",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(namespace),
	 .note = "the cluster's name",
	 .given = cluster_name,
	 .help = "first part of the repository NAMESPACE/IMAGE"},
	{.key = "ca",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(ca),
	 .note = "the system's CAs",
	 .help = "PEM file with the registry's CA; the hosts' engines get it too"},
	{.key = "insecure",
	 .kind = YAML_ROW_BOOL,
	 .offset = AT(insecure),
	 .value = "false",
	 .help = "plain HTTP from here; a host's engine has a setting of its own"},
	YAML_ROWS_END,
};
#undef AT

#define AT(member) offsetof(struct cluster_mirrors, member)
static const struct yaml_row mirrors_rows[] = {
	{.key = "apt",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(apt),
	 .note = "the distribution's archive",
	 .help = "archive of Debian or Ubuntu for the base and the build"},
	{.key = "yum",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(yum),
	 .note = "the distribution's repositories",
	 .help = "stands for the host and first folder of an RPM system's repositories"},
	{.key = "pip",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(pip),
	 .note = "PyPI",
	 .help = "index of Python packages"},
	{.key = "pytorch",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(pytorch),
	 .note = "download.pytorch.org/whl",
	 .help = "PyTorch's indexes, each below it: URL/cpu, URL/cu126"},
	{.key = "docker",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(docker),
	 .note = "none",
	 .help = "mirror of Docker Hub, URL[/PATH], for base images, pull and copy"},
	{.key = "downloads",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(downloads),
	 .note = "none",
	 .help = "source archives and NVIDIA's repositories, each below its host's name"},
	YAML_ROWS_END,
};
#undef AT

/* --- image, build --------------------------------------------------------------------------- */

static int file_check_paths(const struct yaml_place *at, struct error *err)
{
	const struct cluster_file *file = at->values;

	if (yaml_get(at->map, "from") && file->to[0] == '/')
		return 0;
	return yaml_error(at->map, err, "a file needs 'from' and an absolute '%s'", at->row->key);
}

#define AT(member) offsetof(struct cluster_file, member)
static const struct yaml_row file_rows[] = {
	{.key = "from",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(from),
	 .note = "required",
	 .help = "file or folder on this machine"},
	{.key = "to",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(to),
	 .note = "required",
	 .help = "absolute path in the image",
	 .check = file_check_paths},
	YAML_ROWS_END,
};
#undef AT

/* Those that stacks are for. */
static int image_check_platforms(const struct yaml_place *at, struct error *err)
{
	const struct cluster_image *image = at->values;

	for (const char *const *platform = image->platforms; *platform; platform++)
		if (!arch_of_platform(*platform))
			return yaml_error(
				at->node, err,
				"no stack is for '%s'; '%s' takes linux/amd64 and linux/arm64",
				*platform, at->row->key);
	return 0;
}

static int limits_check_unpacked(const struct yaml_place *at, struct error *err)
{
	const struct cluster_limits *limits = at->values;
	uint64_t ignored;

	if (strcmp(limits->unpacked, "auto") == 0 || parse_bytes(limits->unpacked, &ignored))
		return 0;
	return yaml_error(at->node, err, "'%s' is '%s': it takes auto, or a size such as 40G",
			  at->row->key, limits->unpacked);
}

#define AT(member) offsetof(struct cluster_limits, member)
static const struct yaml_row limits_rows[] = {
	{.key = "unpacked",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(unpacked),
	 .value = "auto",
	 .help = "bytes that one image may unpack to here, as in 40G; auto: what the disk has free",
	 .check = limits_check_unpacked},
	{.key = "entries",
	 .kind = YAML_ROW_INT,
	 .offset = AT(entries),
	 .value = "2000000",
	 .help = "files and folders that one image may unpack to here",
	 .min = 1,
	 .max = INT_MAX},
	YAML_ROWS_END,
};
#undef AT

#define AT(member) offsetof(struct cluster_image, member)
static const struct yaml_row image_rows[] = {
	{.key = "name",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(name),
	 .note = "the cluster's name",
	 .given = cluster_name,
	 .help = "last part of the repository NAMESPACE/IMAGE"},
	{.key = "base",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(base),
	 .value = "auto",
	 .help = "what the stack's OS and CUDA want, an image's name, or oci:DIR[:TAG]"},
	{.key = "size",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(size),
	 .value = "full",
	 .help = "full, or small: without the compiler that torch.compile needs at run time",
	 .choices = WORDS("full", "small")},
	{.key = "apt",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(apt),
	 .value = "[]",
	 .help = "more packages of Debian or Ubuntu"},
	{.key = "yum",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(yum),
	 .value = "[]",
	 .help = "more packages of RHEL and its kin"},
	{.key = "pip",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(pip),
	 .value = "[]",
	 .help = "pip requirements, installed for the whole system"},
	{.key = "files",
	 .kind = YAML_ROW_MAPS,
	 .offset = AT(files),
	 .value = "[]",
	 .help = "files and folders to copy into the image",
	 .rows = file_rows,
	 .item = "a file",
	 .item_bytes = sizeof(struct cluster_file),
	 .count_offset = AT(file_count)},
	{.key = "env",
	 .kind = YAML_ROW_PAIRS,
	 .offset = AT(env),
	 .value = "{}",
	 .help = "environment of the image"},
	{.key = "platforms",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(platforms),
	 .value = "[]",
	 .help = "platforms of the image: linux/amd64, linux/arm64 or both",
	 .check = image_check_platforms},
	{.key = "limits", .kind = YAML_ROW_MAP, .offset = AT(limits), .rows = limits_rows},
	YAML_ROWS_END,
};
#undef AT

#define AT(member) offsetof(struct cluster_build, member)
static const struct yaml_row build_rows[] = {
	{.key = "engine",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(engine),
	 .value = "auto",
	 .help = "build engine: one of those of 'ringup help build', or the first that works"},
	{.key = "docker_host",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(docker_host),
	 .note = "the engine's default",
	 .help = "DOCKER_HOST for build engines that use it"},
	{.key = "userns",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(userns),
	 .value = "auto",
	 .help = "a user namespace for the native engine's steps: auto, always, or never",
	 .choices = WORDS("auto", "always", "never")},
	{.key = "ca",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(ca),
	 .note = "the OS's authorities",
	 .help = "certificates that curl, pip and package managers trust in the build (PEM)"},
	YAML_ROWS_END,
};
#undef AT

/* --- images --------------------------------------------------------------------------------- */

/* The rows stand in this order, so `transfer` is known. */
static int images_check_seeds(const struct yaml_place *at, struct error *err)
{
	const struct cluster_images *images = at->values;

	if (!at->node || !images->seeds || strcmp(images->transfer, "ssh") != 0)
		return 0;
	return yaml_error(
		at->node, err,
		"'seeds' do not go with transfer: ssh: they get the image from a registry");
}

#define AT(member) offsetof(struct cluster_images, member)
static const struct yaml_row images_rows[] = {
	{.key = "keep",
	 .kind = YAML_ROW_INT,
	 .offset = AT(keep),
	 .value = "3",
	 .min = 0,
	 .max = 50,
	 .help = "versions of the image that a host keeps; 0: all"},
	{.key = "transfer",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(transfer),
	 .value = "registry",
	 .help = "registry: hosts pull from it; ssh: they get the image from here, over SSH",
	 .choices = WORDS("registry", "ssh")},
	{.key = "seeds",
	 .kind = YAML_ROW_INT,
	 .offset = AT(seeds),
	 .value = "0",
	 .min = 0,
	 .max = 16,
	 .help = "the first N hosts serve the image to the others; 0: each pulls from the registry",
	 .check = images_check_seeds},
	YAML_ROWS_END,
};
#undef AT

/* --- container ------------------------------------------------------------------------------ */

/* The number, or 0 when the text is none from 1 to 65535. */
static int cluster_port_of(const char *text)
{
	size_t length = strspn(text, "0123456789");
	long port = length && length <= 5 && !text[length] ? strtol(text, NULL, 10) : 0;

	return port <= 65535 ? (int)port : 0;
}

static int container_check_sshd_port(const struct yaml_place *at, struct error *err)
{
	const struct cluster_container *c = at->values;

	if (!at->node || strcmp(c->sshd_port, "auto") == 0 || strcmp(c->sshd_port, "none") == 0 ||
	    cluster_port_of(c->sshd_port))
		return 0;
	return yaml_error(at->node, err,
			  "'%s' must be a number from 1 to 65535, auto or none, not '%s'",
			  at->row->key, c->sshd_port);
}

static bool container_has_limit(const struct cluster_container *c, const char *name)
{
	for (const char *const *limit = c->ulimits; *limit; limit++)
		if (starts_with(*limit, name) && (*limit)[strlen(name)] == '=')
			return true;
	return false;
}

/* A name that is misspelled would require nothing. */
static int container_check_required(const struct yaml_place *at, struct error *err)
{
	static const char *const names[] = {"all", "privileged", "rdma", "memory", "cpus", NULL};
	const struct cluster_container *c = at->values;

	for (const char *const *word = c->required; at->node && *word; word++) {
		const char *const *name = names;

		while (*name && strcmp(*name, *word) != 0)
			name++;
		if (!*name && !container_has_limit(c, *word))
			return yaml_error(
				at->node, err,
				"'required' takes names of 'ulimits', and privileged, rdma, memory, cpus and all, not '%s'",
				*word);
	}
	return 0;
}

/* How much of the text is a number that is not 0, as 1.5; 0: none is. */
static size_t container_number(const char *text)
{
	size_t whole = strspn(text, "0123456789"), part = 0;

	if (whole && text[whole] == '.')
		part = 1 + strspn(text + whole + 1, "0123456789");
	return whole && strcspn(text, "123456789") < whole + part ? whole + part : 0;
}

/* As docker and podman take it: 512m, 8g, 1.5gb, a number of bytes. */
static int container_check_size(const struct yaml_place *at, struct error *err)
{
	const char *text = *(const char *const *)((const char *)at->values + at->row->offset);
	size_t length = container_number(text);
	char unit[8];
	uint64_t ignored;

	snprintf(unit, sizeof(unit), "1%s", text + length);
	if (!at->node || !*text ||
	    (length && (parse_bytes(unit, &ignored) || strcmp(unit, "1b") == 0)))
		return 0;
	return yaml_error(at->node, err, "'%s' is '%s': it takes a size such as 512m or 8g",
			  at->row->key, text);
}

static int container_check_cpus(const struct yaml_place *at, struct error *err)
{
	const struct cluster_container *c = at->values;
	size_t length = c->cpus ? container_number(c->cpus) : 0;

	if (!at->node || !*c->cpus || (length && !c->cpus[length]))
		return 0;
	return yaml_error(at->node, err, "'%s' is '%s': it takes a number such as 8 or 1.5",
			  at->row->key, c->cpus);
}

#define AT(member) offsetof(struct cluster_container, member)
static const struct yaml_row container_rows[] = {
	{.key = "engine",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(engine),
	 .value = "auto",
	 .help = "container engine of the hosts; none runs the worker on the host itself"},
	{.key = "sshd_port",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(sshd_port),
	 .value = "9435",
	 .help = "port of the container's sshd; auto: a free one of each host; none: no sshd",
	 .check = container_check_sshd_port},
	{.key = "gpus",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(gpus),
	 .value = "all",
	 .help = "GPUs of CUDA containers: all, none, how many, a list as 0,1, or UUIDs",
	 .check = cluster_check_gpus},
	{.key = "capabilities",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(capabilities),
	 .value = "[compute, utility]",
	 .help = "NVIDIA driver capabilities that come with the GPUs",
	 .check = container_check_capabilities},
	{.key = "network",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(network),
	 .value = "host",
	 .help = "the only value: sshd listens on the host's address",
	 .choices = WORDS("host")},
	{.key = "interface",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(interface),
	 .value = "auto",
	 .help = "NCCL_SOCKET_IFNAME, an exact name; auto: the interface of the host's address"},
	{.key = "shm_size",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(shm_size),
	 .value = "8g",
	 .help = "size of /dev/shm",
	 .check = container_check_size},
	{.key = "memory",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(memory),
	 .note = "no limit",
	 .help = "the most memory that the container may use, as 64g",
	 .check = container_check_size},
	{.key = "cpus",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(cpus),
	 .note = "no limit",
	 .help = "processors that the container may use, as 8",
	 .check = container_check_cpus},
	{.key = "volumes",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(volumes),
	 .value = "[]",
	 .help = "volumes as docker run --volume takes them",
	 .check = container_check_volumes},
	{.key = "env",
	 .kind = YAML_ROW_PAIRS,
	 .offset = AT(env),
	 .value = "{}",
	 .help = "environment of all that runs in the container",
	 .check = container_check_env},
	{.key = "privileged",
	 .kind = YAML_ROW_BOOL,
	 .offset = AT(privileged),
	 .value = "false",
	 .help = "starts the container with --privileged"},
	{.key = "ulimits",
	 .kind = YAML_ROW_PAIRS,
	 .offset = AT(ulimits),
	 .value = "{}",
	 .help = "limits as docker run --ulimit NAME=VALUE takes them",
	 .check = container_check_ulimits},
	{.key = "devices",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(devices),
	 .value = "auto",
	 .help = "auto gives the container InfiniBand where the probe saw it; none never does",
	 .choices = WORDS("auto", "none")},
	{.key = "required",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(required),
	 .value = "[]",
	 .help = "what no host may leave out: a limit, privileged, rdma, memory, cpus, all",
	 .check = container_check_required},
	YAML_ROWS_END,
};
#undef AT

/* --- top level ------------------------------------------------------------------------------ */

#define AT(member) offsetof(struct cluster, member)
#define MAP_ROW(name)                                                                       \
	{                                                                                   \
		.key = #name, .kind = YAML_ROW_MAP, .offset = AT(name), .rows = name##_rows \
	}
const struct yaml_row cluster_rows[] = {
	{.key = "name",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(name),
	 .value = "ringup",
	 .help = "names the container and the folder on the hosts",
	 .check = cluster_check_name},
	{.key = "hosts",
	 .kind = YAML_ROW_OWN,
	 .note = "required, except for schedulers",
	 .help = "list of names, names with ranges such as node[01-08], and maps",
	 .rows = cluster_host_rows,
	 .check = cluster_read_hosts},
	{.key = "groups",
	 .kind = YAML_ROW_PAIRS,
	 .offset = AT(groups),
	 .value = "{}",
	 .help = "sets of hosts by name, for @NAME in --hosts",
	 .check = cluster_check_groups},
	{.key = "ssh", .kind = YAML_ROW_MAP, .offset = AT(ssh), .rows = cluster_ssh_rows},
	MAP_ROW(registry),
	{.key = "stack",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(stack),
	 .note = "no requests",
	 .help = "requests such as openmpi or python==3.11.*; the rest is resolved",
	 .check = cluster_note_stack},
	{.key = "allow",
	 .kind = YAML_ROW_WORDS,
	 .offset = AT(allow),
	 .note = "none",
	 .help = "ids of rules that the stack may break, as each refusal names them"},
	{.key = "accelerator",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(accelerator),
	 .value = "auto",
	 .help = "cuda for a GPU stack, cpu for one without; auto looks at hosts and requests",
	 .choices = WORDS("auto", "cuda", "cpu")},
	MAP_ROW(mirrors),
	MAP_ROW(image),
	MAP_ROW(images),
	MAP_ROW(build),
	MAP_ROW(container),
	{.key = "jobs",
	 .kind = YAML_ROW_NAMED,
	 .offset = AT(jobs),
	 .note = "none",
	 .help = "training jobs by name, each for 'ringup run NAME'",
	 .rows = cluster_job_rows,
	 .item = "job",
	 .item_bytes = sizeof(struct cluster_job),
	 .count_offset = AT(job_count),
	 .name_offset = offsetof(struct cluster_job, name),
	 .check = cluster_check_jobs},
	YAML_ROWS_END,
};
#undef MAP_ROW
#undef AT

bool cluster_has_no_stack(const struct cluster *cluster)
{
	return cluster->has_stack && !cluster->stack[0] && strcmp(cluster->image.base, "auto") != 0;
}

int cluster_sshd_port(const struct cluster *cluster)
{
	return cluster_port_of(cluster->container.sshd_port);
}

bool cluster_has_sshd(const struct cluster *cluster)
{
	return strcmp(cluster->container.sshd_port, "none") != 0;
}

static int start_cluster(struct cluster *cluster, const char *path, struct arena *arena,
			 struct error *err)
{
	*cluster = (struct cluster){.path = arena_strdup(arena, path),
				    .folder = path_folder(arena, path)};
	return yaml_defaults(cluster_rows, cluster, cluster, arena, err);
}

void cluster_init(const char *path, struct arena *arena, struct cluster *cluster)
{
	struct error ignored = {0};

	start_cluster(cluster, path, arena, &ignored);
}

int cluster_load(const char *path, struct arena *arena, struct cluster *cluster, struct error *err)
{
	struct yaml *root;

	if (start_cluster(cluster, path, arena, err) < 0)
		return -1;
	if (!file_exists(path))
		return error_set(
			err, ERROR_USAGE,
			"there is no %s; 'ringup init HOST...' writes one for your hosts, 'ringup lab up' one for a practice cluster on this machine, and -f names another file",
			path);
	return yaml_load(path, arena, &root, err) < 0
		       ? -1
		       : yaml_read(cluster_rows, "the file", root, cluster, cluster, arena, err);
}

const char *cluster_path(const struct cluster *cluster, const char *path, struct arena *arena)
{
	return path_expand(arena, cluster->folder, path);
}

const char *cluster_state_path(const struct cluster *cluster, const char *relative,
			       struct arena *arena)
{
	return arena_printf(arena, "%s/.ringup/%s", cluster->folder, relative);
}
