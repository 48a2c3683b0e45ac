/* SPDX-License-Identifier: MIT */
#include "deployer/container/container.h"

#include "core/digest.h"
#include "core/quote.h"
#include "deployer/container/gpus.h"
#include "deployer/container/images.h"

#include <string.h>

#define VALUES_COUNT 5

/*
 * The interface for the workers' data: the one in cluster.yaml, or the one that owns the cluster
 * address.
 */
static const char *interface_of(const struct member *m)
{
	const char *wanted = m->fleet->cluster->container.interface;

	return strcmp(wanted, "auto") == 0 ? m->facts.interface : wanted;
}

static bool has_env(const struct cluster *cluster, const char *name)
{
	for (const char *const *pair = cluster->container.env; *pair; pair++)
		if (starts_with(*pair, name) && (*pair)[strlen(name)] == '=')
			return true;
	return false;
}

/* The GPUs of this host for the engine; "" for none. An engine refuses `all` on a host without a driver. */
static const char *container_gpus(struct member *m, const struct bringup *bringup)
{
	struct gpu_wish wish;

	member_gpu_wish(m, &wish);
	if (strcmp(bringup->accelerator, "cuda") != 0 ||
	    (wish.kind == GPU_ALL && !gpu_count(&m->facts)))
		return "";
	return wish.kind == GPU_COUNT && m->state.leased ? m->state.leased
							 : gpu_wish_text(&wish, &m->arena);
}

static const char *const *container_env(struct member *m)
{
	const struct cluster *cluster = m->fleet->cluster;
	const char *interface = interface_of(m);
	struct words env = WORDS_INIT(&m->arena);
	struct gpu_wish wish;

	words_addf(&env, "RINGUP_HOST=%s", m->host->name);
	/* the second "=" means an exact name; without it NCCL takes every name that begins so */
	if (*interface && !has_env(cluster, "NCCL_SOCKET_IFNAME"))
		words_addf(&env, "NCCL_SOCKET_IFNAME==%s", interface);
	/*
	 * Where NVIDIA's runtime is the engine's default, CUDA images ask for all GPUs by a variable of theirs; "void" gives none.
	 * Source: docs.nvidia.com, container toolkit, "Specialized Configurations with Docker".
	 */
	member_gpu_wish(m, &wish);
	if (wish.kind == GPU_NONE && !has_env(cluster, "NVIDIA_VISIBLE_DEVICES"))
		words_add(&env, "NVIDIA_VISIBLE_DEVICES=void");
	words_add_all(&env, cluster->container.env);
	return words_list(&env);
}

static const char *const *container_volumes(struct member *m)
{
	struct words volumes = WORDS_INIT(&m->arena);

	words_addf(&volumes, "%s/ssh:/etc/ringup/ssh:ro", m->state.folder);
	words_add_all(&volumes, m->fleet->cluster->container.volumes);
	return words_list(&volumes);
}

static void container_add_fabric(const struct member *m, struct container_wish *wish)
{
	static const char *const devices[] = {"/dev/infiniband", NULL};
	static const char *const capabilities[] = {"IPC_LOCK", NULL};

	if (!*m->facts.infiniband || strcmp(m->fleet->cluster->container.devices, "auto") != 0)
		return;
	wish->devices = devices;
	wish->capabilities = capabilities;
}

/* The whole wish except the label with its own hash. */
static struct container_wish container_wish(struct member *m, const struct bringup *bringup,
					    struct words *left_out)
{
	const struct cluster_container *c = &m->fleet->cluster->container;
	struct container_wish wish = container_wish_empty;

	wish.name = m->fleet->container;
	wish.image = bringup->image
			     ? images_name_on_hosts(m->fleet->cluster, bringup->image, &m->arena)
			     : "";
	wish.network = c->network;
	wish.ipc = "private";
	wish.shm_size = c->shm_size;
	wish.memory = c->memory;
	wish.cpus = c->cpus;
	wish.can = &m->state.can;
	wish.gpus = container_gpus(m, bringup);
	wish.gpu_capabilities = c->capabilities;
	wish.env = container_env(m);
	wish.volumes = container_volumes(m);
	wish.limits = c->ulimits;
	wish.privileged = c->privileged;
	container_add_fabric(m, &wish);
	abilities_trim(&m->state.can, &wish, left_out);
	return wish;
}

static const char *const *container_labels(struct member *m, const char *hash, const char *settings)
{
	struct words labels = WORDS_INIT(&m->arena);

	words_addf(&labels, "org.ringup.cluster=%s", m->fleet->cluster->name);
	words_addf(&labels, "org.ringup.config=%s", hash);
	/* who, when and from where are no reason to make a container anew; the settings are in the hash */
	if (*hash) {
		owner_add_labels(&m->fleet->owner, &labels);
		words_addf(&labels, "org.ringup.settings=%s", settings);
	} else {
		owner_add_id_label(&m->fleet->owner, &labels);
	}
	return words_list(&labels);
}

/* The first 16 hex digits. */
static const char *hash_words(struct member *m, const char *const *words)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	char digest[DIGEST_TEXT_BYTES];

	quote_words(&line, words);
	digest_of(line.text, line.length, digest);
	return arena_strndup(&m->arena, digest + strlen("sha256:"), 16);
}

/* A list is there as a hash: it may be long, and hold what is nobody's business. */
static void settings_add_list(struct member *m, const char *key, const char *const *list,
			      struct words *out)
{
	words_addf(out, "%s=%.8s", key, *list ? hash_words(m, list) : "-");
}

static void settings_add(const char *key, const char *value, struct words *out)
{
	words_addf(out, "%s=%s", key, *value ? value : "-");
}

/* Where its sshd listens, "10.0.0.1:9435", or "none". */
static const char *container_sshd(struct member *m)
{
	return m->sshd_port ? arena_printf(&m->arena, "%s:%d", m->address, m->sshd_port) : "none";
}

static const char *container_settings(struct member *m, const struct container_wish *wish)
{
	struct words out = WORDS_INIT(&m->arena);

	settings_add("shm_size", wish->shm_size, &out);
	settings_add("network", wish->network, &out);
	settings_add("gpus", wish->gpus, &out);
	settings_add("privileged", wish->privileged ? "yes" : "no", &out);
	words_addf(&out, "sshd=%s", container_sshd(m));
	settings_add("memory", wish->memory, &out);
	settings_add("cpus", wish->cpus, &out);
	settings_add_list(m, "capabilities", wish->gpu_capabilities, &out);
	settings_add_list(m, "env", wish->env, &out);
	settings_add_list(m, "volumes", wish->volumes, &out);
	settings_add_list(m, "ulimits", wish->limits, &out);
	settings_add_list(m, "devices", wish->devices, &out);
	return words_join(&out, " ");
}

/*
 * The hash covers the words that start the container, with an empty hash in them, and sshd's
 * address and port.
 */
static void container_set_wish(struct member *m, const struct bringup *bringup,
			       struct container *container)
{
	struct container_wish *wish = &container->wish;
	struct words words = WORDS_INIT(&m->arena);

	container->left_out = (struct words)WORDS_INIT(&m->arena);
	*wish = container_wish(m, bringup, &container->left_out);
	container->config_hash = "";
	container->settings = container_settings(m, wish);
	if (!m->engine->run)
		return;
	wish->labels = container_labels(m, "", "");
	m->engine->run(wish, &words);
	/* sshd reads its address and port only at its start */
	words_addf(&words, "sshd %s", container_sshd(m));
	container->config_hash = hash_words(m, words.list);
	wish->labels = container_labels(m, container->config_hash, container->settings);
}

void container_describe(struct member *m, const struct bringup *bringup,
			struct container *container)
{
	struct engine_value *values = ARENA_ARRAY(&m->arena, VALUES_COUNT, struct engine_value);
	size_t n = 0;

	container->config_folder = arena_printf(&m->arena, "%s/login", m->state.folder);
	container->ca_path = "";
	if (bringup->registry_ca && *m->engine->trust_folder)
		container->ca_path =
			arena_printf(&m->arena, "%s/%s/ca.crt",
				     *m->state.can.trust_folder ? m->state.can.trust_folder
								: m->engine->trust_folder,
				     bringup->registry);
	container_set_wish(m, bringup, container);
	values[n++] = (struct engine_value){"container", container->wish.name, NULL};
	values[n++] = (struct engine_value){"image", container->wish.image, NULL};
	values[n++] = (struct engine_value){"config", container->config_folder, NULL};
	values[n++] = (struct engine_value){"tail", "20", NULL};
	values[n] = (struct engine_value){0};
	container->values = values;
}

const char *const *container_words(struct member *m, const struct container *container,
				   const char *const *pattern)
{
	struct words words = WORDS_INIT(&m->arena);

	engine_expand(pattern, container->values, &words);
	return words.list;
}

static const char *const *container_own_words(struct member *m, const char *const *pattern)
{
	const struct engine_value values[] = {{"container", m->state.container_id, NULL}, {0}};
	struct words words = WORDS_INIT(&m->arena);

	engine_expand(pattern, values, &words);
	return words.list;
}

const char *const *container_remove_words(struct member *m)
{
	return container_own_words(m, m->engine->remove);
}

bool member_lacks_keep(const struct member *m)
{
	return m->engine->has_containers && m->state.running && !m->state.restarts;
}

const char *const *container_keep_words(struct member *m)
{
	return container_own_words(m, m->engine->keep);
}

const char *const *container_run_words(struct member *m, const struct container *container)
{
	struct words words = WORDS_INIT(&m->arena);

	m->engine->run(&container->wish, &words);
	return words.list;
}

/* The value of the key in "key=value key=value"; NULL when it is not there. */
static const char *settings_value(const char *settings, const char *key, struct arena *arena)
{
	size_t length = strlen(key);

	for (const char *at = settings; *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (strncmp(at, key, length) == 0 && at[length] == '=')
			return arena_strndup(arena, at + length + 1, word - length - 1);
		at += word;
	}
	return NULL;
}

static void container_add_settings(struct member *m, const struct container *container,
				   struct words *out)
{
	/* shown with their values, and lists, which are hashes */
	static const char *const plain[] = {"shm_size", "memory",     "cpus", "network",
					    "gpus",	"privileged", NULL};
	static const char *const lists[] = {"capabilities", "env",     "volumes",
					    "ulimits",	    "devices", NULL};
	const char *old = m->state.settings, *a, *b;
	struct arena *arena = &m->arena;

	for (const char *const *key = plain; *key; key++) {
		a = settings_value(old, *key, arena);
		b = settings_value(container->settings, *key, arena);
		if (a && strcmp(a, b) != 0)
			words_addf(out, "container.%s %s -> %s", *key, a, b);
	}
	for (const char *const *key = lists; *key; key++) {
		a = settings_value(old, *key, arena);
		if (a && strcmp(a, settings_value(container->settings, *key, arena)) != 0)
			words_addf(out, "container.%s", *key);
	}
	a = settings_value(old, "sshd", arena);
	b = settings_value(container->settings, "sshd", arena);
	if (a && strcmp(a, b) != 0)
		words_addf(out, "its sshd %s -> %s", a, b);
}

/* The first digits of the digest; an image without one is not in the registry yet. */
static const char *container_short_image(const char *image, struct arena *arena)
{
	const char *digest = strstr(image, "@sha256:");

	return digest ? arena_printf(arena, "%.12s", digest + strlen("@sha256:")) : "a new one";
}

void container_changes(struct member *m, const struct container *container, struct words *out)
{
	size_t before = out->count;

	if (strcmp(m->state.config, container->config_hash) == 0)
		return;
	if (strcmp(m->state.image, container->wish.image) != 0)
		words_addf(out, "image %s -> %s", container_short_image(m->state.image, &m->arena),
			   container_short_image(container->wish.image, &m->arena));
	container_add_settings(m, container, out);
	if (out->count == before)
		words_add(out, "its configuration");
}
