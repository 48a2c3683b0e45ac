/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_seeds.h"

#include "cli/app/registry_site.h"
#include "cli/app/stage_apply.h"
#include "cli/app/stage_push.h"
#include "core/file.h"
#include "core/log.h"
#include "deployer/bringup/seeds.h"
#include "registry-client/limits.h"
#include "registry-client/registry.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_PORT_FIRST 5100 /* 5000 and those after it are for `registry serve` */
#define SEEDS_PORTS 800

static const char *stage_seeds_folder(const struct stages *s, const char *host)
{
	return cluster_state_path(&s->cluster, arena_printf(s->arena, "seeds/%s", host), s->arena);
}

/* Two clusters that share hosts have different ports, by their ids. */
static int stage_seeds_port(const struct stages *s)
{
	const char *digits = arena_strndup(s->arena, s->fleet.owner.id, 6);

	return SEEDS_PORT_FIRST + (int)(strtoul(digits, NULL, 16) % SEEDS_PORTS);
}

static int stage_seeds_password(struct stages *s, const struct registry_site *site,
				struct credentials *credentials, struct error *err)
{
	char *password;

	if (file_read(site->served.password_path, KIB, s->arena, &password, NULL, err) < 0)
		return -1;
	*credentials = (struct credentials){.user = site->own.user, .password.hidden = password};
	return 0;
}

/* The seed's registry mirrors the cluster's, or `first`, which does. */
static int stage_seeds_start(struct stages *s, const struct member *m, const struct seed *first,
			     struct seed *seed, struct error *err)
{
	_cleanup_(site_close) struct registry_site site = {0};
	const struct cluster_registry *r = &s->cluster.registry;
	const char *folder = stage_seeds_folder(s, m->host->name);
	const struct registry_options o = {
		.on = m->host->name,
		.folder = folder,
		.address = arena_printf(s->arena, ":%d", stage_seeds_port(s)),
		.mirror = arena_printf(s->arena, "http%s://%s", r->insecure && !first ? "" : "s",
				       first ? first->address : r->address),
		.mirror_ca = first ? arena_printf(s->arena, "%s/ca.pem",
						  stage_seeds_folder(s, first->host))
				   : NULL,
	};
	bool was_running;
	const char *way;
	size_t length;
	char *ca;

	unlink(arena_printf(s->arena, "%s/%s", folder, SERVE_MIRROR_CA)); /* of another time */
	if (site_plan(s->ctx, &o, &site, err) < 0)
		return -1;
	if (first)
		site.own.mirror_login = first->credentials;
	if (site_start(&site, &o, &way, &was_running, err) < 0 ||
	    file_read(site.served.ca_path, CERTIFICATE_BYTES_MAX, s->arena, &ca, &length, err) <
		    0 ||
	    stage_seeds_password(s, &site, &seed->credentials, err) < 0)
		return -1;
	seed->host = m->host->name;
	seed->address = arena_strdup(s->arena, site.own.address);
	seed->storage = arena_strdup(s->arena, site.own.storage);
	seed->ca = ca;
	return 0;
}

size_t stage_seeds_choose(struct stages *s, const struct bringup *bringup, struct member ***chosen)
{
	size_t wanted = (size_t)s->cluster.images.seeds, count = 0;

	if (!wanted || !stage_has_containers(s) || !bringup->image || stage_image_is_there(s))
		return 0;
	*chosen = ARENA_ARRAY(s->arena, wanted, struct member *);
	for (size_t i = 0; i < s->fleet.count && count < wanted; i++)
		if (member_is_active(&s->fleet.members[i]))
			(*chosen)[count++] = &s->fleet.members[i];
	return count;
}

void stage_seeds(struct stages *s, struct bringup *bringup)
{
	const char **names = ARENA_ARRAY(s->arena, s->fleet.count, const char *);
	struct member **chosen;
	size_t chosen_count = stage_seeds_choose(s, bringup, &chosen), count = 0;
	struct seed *seeds;

	if (!chosen_count)
		return;
	seeds = ARENA_ARRAY(s->arena, chosen_count, struct seed);
	for (size_t i = 0; i < chosen_count; i++) {
		struct member *m = chosen[i];
		struct error why = {0};

		if (stage_seeds_start(s, m, count ? &seeds[0] : NULL, &seeds[count], &why) < 0) {
			log_warn("%s: it cannot serve the image to other hosts: %s", m->host->name,
				 why.text);
			continue;
		}
		log_info("  %-20s %s serves the image at %s", "seed", m->host->name,
			 seeds[count].address);
		count++;
	}
	fleet_pull_from_seeds(&s->fleet, bringup, seeds, count, names);
	bringup->seed_names = names;
	bringup->image_is_new = false;
}

/* The hosts with a folder of a seed here. */
static const char **stage_seeds_hosts(struct stages *s)
{
	static const char *none[] = {NULL};
	struct error ignored = {0};
	const char **names;

	if (folder_list(cluster_state_path(&s->cluster, "seeds", s->arena), "", s->arena, &names,
			&ignored) < 0)
		return none;
	return names;
}

static int stage_seeds_open(struct stages *s, const char *host, struct registry_site *site,
			    struct error *err)
{
	const struct registry_options o = {.on = host, .folder = stage_seeds_folder(s, host)};

	return site_open(s->ctx, &o, site, err);
}

static bool stage_seeds_concerns(const struct stages *s, const char *host)
{
	const struct cluster *all;
	struct error ignored = {0};

	for (size_t i = 0; i < s->fleet.count; i++)
		if (strcmp(s->fleet.members[i].host->name, host) == 0)
			return !s->fleet.members[i].left_out;
	return context_cluster_or_defaults(s->ctx, &all, &ignored) == 0 && !cluster_host(all, host);
}

void stage_seeds_remove(struct stages *s)
{
	for (const char **host = stage_seeds_hosts(s); *host; host++) {
		_cleanup_(site_close) struct registry_site site = {0};
		struct error why = {0};

		if (!stage_seeds_concerns(s, *host))
			continue;
		if (stage_seeds_open(s, *host, &site, &why) < 0 || site_remove(&site, &why) < 0)
			log_warn(
				"the registry of the seed %s stays: %s; 'ringup down' tries again, and without %s it is forgotten",
				*host, why.text, stage_seeds_folder(s, *host));
		else
			log_info("  %-20s the seed's registry is gone", *host);
	}
}

void stage_seeds_say(struct stages *s, cJSON *json)
{
	cJSON *list = json ? cJSON_AddArrayToObject(json, "seeds") : NULL;

	for (const char **host = stage_seeds_hosts(s); *host; host++) {
		_cleanup_(site_close) struct registry_site site = {0};
		_cleanup_(registry_closep) struct registry *registry = NULL;
		struct error why = {0};
		bool answers = stage_seeds_open(s, *host, &site, &why) == 0 &&
			       site_contact(&site, &registry, &why) == 0 &&
			       registry_contact(registry, &why) == 0;
		const char *address = site.own.address ? site.own.address : "-";
		cJSON *item;

		if (!list) {
			say("seed %s serves the image at %s: %s\n", *host, address,
			    answers ? "answers" : why.text);
			continue;
		}
		item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "host", *host);
		cJSON_AddStringToObject(item, "address", address);
		cJSON_AddBoolToObject(item, "answers", answers);
		json_add_text(item, "error", answers ? NULL : why.text);
	}
}
