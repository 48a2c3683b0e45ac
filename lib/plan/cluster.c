/* SPDX-License-Identifier: MIT */
#include "plan/cluster.h"

#include "core/file.h"
#include "core/str.h"
#include "core/yaml.h"

#include <ctype.h>
#include <string.h>

static const char *const NONE[] = {NULL};
static const char *const DEFAULT_CAPABILITIES[] = {"compute", "utility", NULL};

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct loader {
	struct arena *arena;
	struct cluster *cluster;
	struct error *err;
};

/* A word that must be one of a few. */
static int check_choice(const struct yaml *map, const char *key, const char *value,
			const char *const *choices, struct error *err)
{
	const struct yaml *node = yaml_get(map, key);
	const char *near;

	for (const char *const *c = choices; *c; c++)
		if (strcmp(*c, value) == 0)
			return 0;
	near = nearest_word(value, choices);
	return yaml_error(node ? node : map, err, "'%s' cannot be '%s'; %s '%s'", key, value,
			  near ? "did you mean" : "the usual value is", near ? near : choices[0]);
}

static int load_host_map(struct loader *l, const struct yaml *node, struct host *host)
{
	struct error *err = l->err;

	if (yaml_check_keys(node, "a host",
			    KEYS("address", "name", "user", "port", "slots", "gpus", "arch"),
			    err) < 0 ||
	    yaml_get_text(node, "address", &host->address, err) < 0 ||
	    yaml_get_text(node, "name", &host->name, err) < 0 ||
	    yaml_get_text(node, "user", &host->user, err) < 0 ||
	    yaml_get_int(node, "port", 1, 65535, &host->port, err) < 0 ||
	    yaml_get_int(node, "slots", 1, 1024, &host->slots, err) < 0 ||
	    yaml_get_text(node, "gpus", &host->gpus, err) < 0 ||
	    yaml_get_text(node, "arch", &host->arch, err) < 0)
		return -1;
	if (!host->address)
		return yaml_error(node, err, "a host needs an 'address'");
	if (!host->name)
		host->name = host->address;
	return 0;
}

static int add_host(struct loader *l, const struct yaml *node, const struct host *host)
{
	struct cluster *c = l->cluster;

	if (!cluster_host_word(host->address) || !cluster_host_word(host->name))
		return yaml_error(node, l->err, "'%s' is not a host name or address",
				  cluster_host_word(host->address) ? host->name : host->address);
	if (!cluster_host_word(host->user))
		return yaml_error(node, l->err, "'%s' is not a user name", host->user);
	for (size_t i = 0; i < c->host_count; i++)
		if (strcmp(c->hosts[i].name, host->name) == 0)
			return yaml_error(node, l->err, "the host '%s' stands twice", host->name);
	if (c->host_count == CLUSTER_HOSTS_MAX)
		return yaml_error(node, l->err, "more than %d hosts", CLUSTER_HOSTS_MAX);
	c->hosts[c->host_count++] = *host;
	return 0;
}

static int load_hosts(struct loader *l, const struct yaml *root)
{
	const struct yaml *list = yaml_get(root, "hosts");
	const struct host empty = {
		.user = l->cluster->ssh.user, .port = 22, .gpus = "", .arch = ""};

	if (!list || list->kind != YAML_LIST || !list->count)
		return yaml_error(
			list ? list : root, l->err,
			"'hosts' must list at least one host, as in hosts: [node01, node02]");
	l->cluster->hosts = ARENA_ARRAY(l->arena, CLUSTER_HOSTS_MAX, struct host);
	for (size_t i = 0; i < list->count; i++) {
		const struct yaml *item = list->items[i];
		struct host host = empty;
		const char **names, *why;

		if (item->kind == YAML_MAP) {
			if (load_host_map(l, item, &host) < 0 || add_host(l, item, &host) < 0)
				return -1;
			continue;
		}
		if (item->kind != YAML_TEXT)
			return yaml_error(item, l->err, "a host is a name or a map with 'address'");
		if (cluster_expand(item->text, l->arena, &names, &why) < 0)
			return yaml_error(item, l->err, "'%s': %s", item->text, why);
		for (; *names; names++) {
			host.name = host.address = *names;
			if (add_host(l, item, &host) < 0)
				return -1;
		}
	}
	return 0;
}

static int load_ssh(struct loader *l, const struct yaml *root)
{
	struct cluster_ssh *ssh = &l->cluster->ssh;
	struct error *err = l->err;
	struct yaml *map;

	*ssh = (struct cluster_ssh){.user = "root",
				    .key = "~/.ssh/id_ed25519",
				    .known_hosts = "~/.ssh/known_hosts",
				    .jump = "",
				    .transport = "auto"};
	if (yaml_get_map(root, "ssh", &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	if (yaml_check_keys(map, "'ssh'",
			    KEYS("user", "key", "known_hosts", "jump", "sudo", "transport"),
			    err) < 0 ||
	    yaml_get_text(map, "user", &ssh->user, err) < 0 ||
	    yaml_get_text(map, "key", &ssh->key, err) < 0 ||
	    yaml_get_text(map, "known_hosts", &ssh->known_hosts, err) < 0 ||
	    yaml_get_text(map, "jump", &ssh->jump, err) < 0 ||
	    yaml_get_bool(map, "sudo", &ssh->sudo, err) < 0 ||
	    yaml_get_text(map, "transport", &ssh->transport, err) < 0)
		return -1;
	if (*ssh->jump && strcmp(ssh->transport, "libssh2") == 0)
		return yaml_error(yaml_get(map, "jump"), err,
				  "'jump' needs 'transport: auto' or 'openssh'");
	return check_choice(map, "transport", ssh->transport, KEYS("auto", "libssh2", "openssh"),
			    err);
}

static int load_registry(struct loader *l, const struct yaml *root)
{
	struct cluster_registry *r = &l->cluster->registry;
	struct error *err = l->err;
	struct yaml *map;

	*r = (struct cluster_registry){.address = "", .namespace = l->cluster->name, .ca = ""};
	if (yaml_get_map(root, "registry", &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	return yaml_check_keys(map, "'registry'", KEYS("address", "namespace", "ca", "insecure"),
			       err) < 0 ||
			       yaml_get_text(map, "address", &r->address, err) < 0 ||
			       yaml_get_text(map, "namespace", &r->namespace, err) < 0 ||
			       yaml_get_text(map, "ca", &r->ca, err) < 0 ||
			       yaml_get_bool(map, "insecure", &r->insecure, err) < 0
		       ? -1
		       : 0;
}

static int load_mirrors(struct loader *l, const struct yaml *root)
{
	struct cluster_mirrors *m = &l->cluster->mirrors;
	struct error *err = l->err;
	struct yaml *map;

	*m = (struct cluster_mirrors){"", "", "", "", ""};
	if (yaml_get_map(root, "mirrors", &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	return yaml_check_keys(map, "'mirrors'", KEYS("apt", "yum", "pip", "docker", "downloads"),
			       err) < 0 ||
			       yaml_get_text(map, "apt", &m->apt, err) < 0 ||
			       yaml_get_text(map, "yum", &m->yum, err) < 0 ||
			       yaml_get_text(map, "pip", &m->pip, err) < 0 ||
			       yaml_get_text(map, "docker", &m->docker, err) < 0 ||
			       yaml_get_text(map, "downloads", &m->downloads, err) < 0
		       ? -1
		       : 0;
}

static int load_image_files(struct loader *l, const struct yaml *map)
{
	struct cluster_image *image = &l->cluster->image;
	const struct yaml *list = yaml_get(map, "files");

	if (!list)
		return 0;
	if (list->kind != YAML_LIST)
		return yaml_error(list, l->err, "'files' must be a list of {from, to}");
	image->files = ARENA_ARRAY(l->arena, list->count, struct cluster_file);
	for (size_t i = 0; i < list->count; i++) {
		struct cluster_file *file = &image->files[image->file_count++];

		if (yaml_check_keys(list->items[i], "a file", KEYS("from", "to"), l->err) < 0 ||
		    yaml_get_text(list->items[i], "from", &file->from, l->err) < 0 ||
		    yaml_get_text(list->items[i], "to", &file->to, l->err) < 0)
			return -1;
		if (!file->from || !file->to || file->to[0] != '/')
			return yaml_error(list->items[i], l->err,
					  "a file needs 'from' and an absolute 'to'");
	}
	return 0;
}

/* Images are built for the machine's own kind until there is a backend that can do others. */
static int check_platforms(const struct yaml *map, const struct cluster_image *image,
			   struct error *err)
{
	for (const char *const *platform = image->platforms; *platform; platform++)
		if (strcmp(*platform, "linux/amd64") != 0)
			return yaml_error(
				yaml_get(map, "platforms"), err,
				"'%s' cannot be built here; 'platforms' takes linux/amd64",
				*platform);
	return 0;
}

static int load_image(struct loader *l, const struct yaml *root)
{
	struct cluster_image *image = &l->cluster->image;
	struct error *err = l->err;
	struct yaml *map;

	*image = (struct cluster_image){.name = l->cluster->name,
					.base = "auto",
					.apt = NONE,
					.yum = NONE,
					.pip = NONE,
					.env = NONE,
					.platforms = NONE};
	if (yaml_get_map(root, "image", &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	return yaml_check_keys(
		       map, "'image'",
		       KEYS("name", "base", "apt", "yum", "pip", "files", "env", "platforms"),
		       err) < 0 ||
			       yaml_get_text(map, "name", &image->name, err) < 0 ||
			       yaml_get_text(map, "base", &image->base, err) < 0 ||
			       yaml_get_words(map, "apt", l->arena, &image->apt, err) < 0 ||
			       yaml_get_words(map, "yum", l->arena, &image->yum, err) < 0 ||
			       yaml_get_words(map, "pip", l->arena, &image->pip, err) < 0 ||
			       yaml_get_words(map, "platforms", l->arena, &image->platforms, err) <
				       0 ||
			       yaml_get_pairs(map, "env", l->arena, &image->env, err) < 0 ||
			       load_image_files(l, map) < 0
		       ? -1
		       : check_platforms(map, image, err);
}

static int load_build(struct loader *l, const struct yaml *root)
{
	struct cluster_build *build = &l->cluster->build;
	struct yaml *map;

	*build = (struct cluster_build){.engine = "auto", .docker_host = ""};
	if (yaml_get_map(root, "build", &map, l->err) < 0)
		return -1;
	if (!map)
		return 0;
	return yaml_check_keys(map, "'build'", KEYS("engine", "docker_host"), l->err) < 0 ||
			       yaml_get_text(map, "engine", &build->engine, l->err) < 0 ||
			       yaml_get_text(map, "docker_host", &build->docker_host, l->err) < 0
		       ? -1
		       : 0;
}

static int load_container(struct loader *l, const struct yaml *root)
{
	struct cluster_container *c = &l->cluster->container;
	struct arena *arena = l->arena;
	struct error *err = l->err;
	struct yaml *map;

	*c = (struct cluster_container){.engine = "auto",
					.sshd_port = 9435,
					.gpus = "all",
					.capabilities = DEFAULT_CAPABILITIES,
					.network = "host",
					.interface = "auto",
					.shm_size = "8g",
					.devices = "auto",
					.volumes = NONE,
					.env = NONE,
					.ulimits = NONE};
	if (yaml_get_map(root, "container", &map, err) < 0)
		return -1;
	if (!map)
		return 0;
	if (yaml_check_keys(map, "'container'",
			    KEYS("engine", "sshd_port", "gpus", "capabilities", "network",
				 "interface", "shm_size", "volumes", "env", "privileged", "ulimits",
				 "devices"),
			    err) < 0 ||
	    yaml_get_text(map, "engine", &c->engine, err) < 0 ||
	    yaml_get_int(map, "sshd_port", 1, 65535, &c->sshd_port, err) < 0 ||
	    yaml_get_text(map, "gpus", &c->gpus, err) < 0 ||
	    yaml_get_words(map, "capabilities", arena, &c->capabilities, err) < 0 ||
	    yaml_get_text(map, "network", &c->network, err) < 0 ||
	    yaml_get_text(map, "interface", &c->interface, err) < 0 ||
	    yaml_get_text(map, "shm_size", &c->shm_size, err) < 0 ||
	    yaml_get_words(map, "volumes", arena, &c->volumes, err) < 0 ||
	    yaml_get_pairs(map, "env", arena, &c->env, err) < 0 ||
	    yaml_get_bool(map, "privileged", &c->privileged, err) < 0 ||
	    yaml_get_pairs(map, "ulimits", arena, &c->ulimits, err) < 0 ||
	    yaml_get_text(map, "devices", &c->devices, err) < 0 ||
	    check_choice(map, "network", c->network, KEYS("host"), err) < 0 ||
	    check_choice(map, "devices", c->devices, KEYS("auto", "none"), err) < 0)
		return -1;
	return 0;
}

/* Names become parts of container names, paths and host names. */
static int check_name(const struct yaml *root, const char *key, const char *name, struct error *err)
{
	const struct yaml *node = yaml_get(root, key);
	size_t length = strlen(name);

	if (length && length <= 40 && islower((unsigned char)name[0]) &&
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0' &&
	    name[length - 1] != '-')
		return 0;
	return yaml_error(
		node ? node : root, err,
		"'%s' is '%s': a name begins with a lower-case letter and takes lower-case letters, digits and '-', 40 at most",
		key, name);
}

/* 'registry serve --on' keeps its own folder and container beside those of the clusters. */
static int check_reserved(const struct yaml *root, const char *name, struct error *err)
{
	if (strcmp(name, "registry") != 0 && !starts_with(name, "registry-"))
		return 0;
	return yaml_error(yaml_get(root, "name"), err,
			  "'name' is '%s': that is ringup's own registry on a host; take another",
			  name);
}

static int load_top(struct loader *l, const struct yaml *root)
{
	struct cluster *c = l->cluster;
	struct error *err = l->err;

	c->name = "ringup";
	c->stack = NONE;
	c->accelerator = "auto";
	if (yaml_check_keys(root, "the file",
			    KEYS("name", "hosts", "ssh", "registry", "stack", "accelerator",
				 "mirrors", "image", "build", "container"),
			    err) < 0 ||
	    yaml_get_text(root, "name", &c->name, err) < 0 ||
	    check_name(root, "name", c->name, err) < 0 || check_reserved(root, c->name, err) < 0 ||
	    yaml_get_words(root, "stack", l->arena, &c->stack, err) < 0 ||

	    yaml_get_text(root, "accelerator", &c->accelerator, err) < 0)
		return -1;
	c->has_stack = yaml_get(root, "stack") != NULL;
	return check_choice(root, "accelerator", c->accelerator, KEYS("auto", "cuda", "cpu"), err);
}

bool cluster_has_no_stack(const struct cluster *cluster)
{
	return cluster->has_stack && !cluster->stack[0] && strcmp(cluster->image.base, "auto") != 0;
}

void cluster_init(const char *path, struct arena *arena, struct cluster *cluster)
{
	static const struct yaml empty = {.kind = YAML_MAP};
	struct error ignored = {0};
	struct loader l = {arena, cluster, &ignored};

	*cluster = (struct cluster){.path = arena_strdup(arena, path),
				    .folder = path_folder(arena, path)};
	load_top(&l, &empty);
	load_ssh(&l, &empty);
	load_registry(&l, &empty);
	load_mirrors(&l, &empty);
	load_image(&l, &empty);
	load_build(&l, &empty);
	load_container(&l, &empty);
}

int cluster_load(const char *path, struct arena *arena, struct cluster *cluster, struct error *err)
{
	struct loader l = {arena, cluster, err};
	struct yaml *root;

	*cluster = (struct cluster){.path = arena_strdup(arena, path),
				    .folder = path_folder(arena, path)};
	if (!file_exists(path))
		return error_set(
			err, ERROR_USAGE,
			"there is no %s; 'ringup lab up' makes one for a practice cluster on this machine, and -f names another file",
			path);
	if (yaml_load(path, arena, &root, err) < 0 || load_top(&l, root) < 0 ||
	    load_ssh(&l, root) < 0 || load_hosts(&l, root) < 0 || load_registry(&l, root) < 0 ||
	    load_mirrors(&l, root) < 0 || load_image(&l, root) < 0 || load_build(&l, root) < 0 ||
	    load_container(&l, root) < 0)
		return -1;
	return 0;
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
