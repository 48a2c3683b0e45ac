/* SPDX-License-Identifier: MIT */
#include "deployer/engine/container.h"

#include "core/digest.h"
#include "core/quote.h"

#include <string.h>

#define VALUES_COUNT 12

/*
 * The interface that workers talk over: cluster.yaml's, or the one that owns the cluster address.
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

/*
 * "--gpus" takes one CSV word: all, or "device=0,1" in quotes of its own, with the driver
 * capabilities behind it (DESIGN.md section 6).
 */
static void add_gpus(struct member *m, struct words *out)
{
	const struct cluster_container *c = &m->fleet->cluster->container;
	const char *gpus = *m->host->gpus ? m->host->gpus : c->gpus;
	_cleanup_(str_release) struct str word = STR_INIT;

	if (strcmp(gpus, "none") == 0)
		return;
	str_addf(&word, strcmp(gpus, "all") == 0 ? "%s" : "\"device=%s\"", gpus);
	for (size_t i = 0; c->capabilities[i]; i++)
		str_addf(&word, "%s%s", i ? "," : ",\"capabilities=", c->capabilities[i]);
	if (c->capabilities[0])
		str_add_char(&word, '"');
	words_add_all(out, WORDS("--gpus", word.text));
}

/* The options that differ between clusters and hosts. */
static const char *const *run_options(struct member *m, const struct bringup *bringup)
{
	const struct cluster *cluster = m->fleet->cluster;
	const struct cluster_container *c = &cluster->container;
	struct words out = WORDS_INIT(&m->arena);
	const char *interface = interface_of(m);

	words_addf(&out, "--env=RINGUP_HOST=%s", m->host->name);
	if (*interface && !has_env(cluster, "NCCL_SOCKET_IFNAME"))
		words_addf(&out, "--env=NCCL_SOCKET_IFNAME==%s", interface);
	for (const char *const *pair = c->env; *pair; pair++)
		words_addf(&out, "--env=%s", *pair);
	for (const char *const *volume = c->volumes; *volume; volume++)
		words_add_all(&out, WORDS("--volume", *volume));
	for (const char *const *limit = c->ulimits; *limit; limit++)
		words_add_all(&out, WORDS("--ulimit", *limit));
	if (c->privileged)
		words_add(&out, "--privileged");
	if (*m->facts.infiniband && strcmp(c->devices, "auto") == 0)
		words_add_all(&out, WORDS("--device", "/dev/infiniband", "--cap-add", "IPC_LOCK"));
	if (strcmp(bringup->accelerator, "cuda") == 0)
		add_gpus(m, &out);
	return out.list;
}

static const char *hash_words(struct member *m, const char *const *words)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	char digest[DIGEST_TEXT_BYTES];

	quote_words(&line, words);
	digest_of(line.text, line.length, digest);
	return arena_strndup(&m->arena, digest + strlen("sha256:"), 16);
}

void container_describe(struct member *m, const struct bringup *bringup,
			struct container *container)
{
	const struct cluster_container *c = &m->fleet->cluster->container;
	struct engine_value *values = ARENA_ARRAY(&m->arena, VALUES_COUNT, struct engine_value);
	struct words words = WORDS_INIT(&m->arena);
	const char *folder = m->state.folder;
	size_t n = 0;

	container->config_folder = arena_printf(&m->arena, "%s/login", folder);
	container->ca_path = "";
	if (bringup->registry_ca && *m->engine->trust_folder)
		container->ca_path = arena_printf(&m->arena, "%s/%s/ca.crt",
						  m->engine->trust_folder, bringup->registry);
	values[n++] = (struct engine_value){"container", m->fleet->container, NULL};
	values[n++] = (struct engine_value){"image", bringup->image ? bringup->image : "", NULL};
	values[n++] = (struct engine_value){"network", c->network, NULL};
	values[n++] = (struct engine_value){"shm_size", c->shm_size, NULL};
	values[n++] = (struct engine_value){"cluster", m->fleet->cluster->name, NULL};
	values[n++] = (struct engine_value){"ssh_folder", arena_printf(&m->arena, "%s/ssh", folder),
					    NULL};
	values[n++] = (struct engine_value){"config", container->config_folder, NULL};
	values[n++] = (struct engine_value){"options", NULL, run_options(m, bringup)};
	values[n++] = (struct engine_value){"tail", "20", NULL};
	values[n] = (struct engine_value){"config_hash", "", NULL};
	container->values = values;
	engine_expand(m->engine->run, values, &words);
	/* sshd reads where it listens at its start only */
	words_addf(&words, "sshd %s:%d", m->host->address, c->sshd_port);
	container->config_hash = hash_words(m, words.list);
	values[n].text = container->config_hash;
}

const char *const *container_words(struct member *m, const struct container *container,
				   const char *const *pattern)
{
	struct words words = WORDS_INIT(&m->arena);

	engine_expand(pattern, container->values, &words);
	return words.list;
}
