/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/confirm.h"
#include "cli/app/stage_fleet.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/term.h"
#include "deployer/access/trust.h"

#include <string.h>

struct options {
	struct words hosts;
	const char *list;
};

static const struct opt options[] = {
	HOSTS_OPTION(struct options, hosts),
	{0, "fingerprints", "FILE",
	 "take the keys whose SHA256:... is in the file, and ask nothing", OPT_TEXT,
	 offsetof(struct options, list)},
	OPT_END,
};

static const char *hosts_state(const struct trust_key *key, bool has_list)
{
	static const char *const names[] = {[TRUST_KNOWN] = "known",
					    [TRUST_NEW] = "new",
					    [TRUST_CHANGED] = "CHANGED",
					    [TRUST_REVOKED] = "REVOKED",
					    [TRUST_CERTIFIED] = "certified"};

	return key->state == TRUST_NEW && has_list && !key->listed ? "not in the list"
								   : names[key->state];
}

/* What others see: "same (2 hosts, DNS)", "same (1 host); DNS, not authenticated", "DNS HAS ANOTHER", "-". */
static const char *hosts_seen(const struct trust_key *key, struct arena *arena)
{
	bool counts = key->dns == SSHFP_SAME && key->authenticated;
	const char *same = NULL;

	if (key->other)
		return "ANOTHER KEY";
	if (key->dns == SSHFP_OTHER)
		return key->authenticated ? "DNS HAS ANOTHER"
					  : "DNS HAS ANOTHER, not authenticated";
	if (key->same)
		same = arena_printf(arena, "same (%zu host%s%s)", key->same,
				    key->same > 1 ? "s" : "", counts ? ", DNS" : "");
	else if (counts)
		same = "same (DNS)";
	if (key->dns == SSHFP_NONE || counts)
		return same;
	return same ? arena_printf(arena, "%s; DNS, not authenticated", same)
		    : "DNS, not authenticated";
}

static void hosts_print(const struct stages *s, const struct trust_host *hosts, bool has_list)
{
	struct term_table table;

	term_table_init(
		&table, s->arena,
		WORDS("HOST", "ADDRESS", "TYPE", "FINGERPRINT", "KNOWN_HOSTS", "OTHERS SEE"));
	for (size_t i = 0; i < s->fleet.count; i++)
		for (size_t k = 0; k < hosts[i].count; k++) {
			const struct ssh_target *t = &s->fleet.members[i].target;
			const struct trust_key *key = &hosts[i].keys[k];

			term_table_row(&table,
				       (const char *const[]){
					       t->name,
					       arena_printf(s->arena, "%s:%d", t->address, t->port),
					       key->key.type, key->key.fingerprint,
					       hosts_state(key, has_list),
					       hosts_seen(key, s->arena), NULL});
		}
	term_table_print(&table, stdout);
}

static const char *const hosts_dns[] = {
	[SSHFP_NONE] = "none", [SSHFP_SAME] = "same", [SSHFP_OTHER] = "other"};

static void hosts_print_json(const struct stages *s, const struct trust_host *hosts, bool has_list,
			     size_t added)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "keys");

	for (size_t i = 0; i < s->fleet.count; i++)
		for (size_t k = 0; k < hosts[i].count; k++) {
			const struct trust_key *key = &hosts[i].keys[k];
			cJSON *item = cJSON_CreateObject();

			cJSON_AddItemToArray(list, item);
			cJSON_AddStringToObject(item, "host", s->fleet.members[i].host->name);
			cJSON_AddStringToObject(item, "type", key->key.type);
			cJSON_AddStringToObject(item, "fingerprint", key->key.fingerprint);
			cJSON_AddStringToObject(item, "state", hosts_state(key, has_list));
			cJSON_AddNumberToObject(item, "seen_same", (double)key->same);
			cJSON_AddNumberToObject(item, "seen_other", (double)key->other);
			cJSON_AddStringToObject(item, "dns", hosts_dns[key->dns]);
			cJSON_AddBoolToObject(item, "dns_authenticated", key->authenticated);
		}
	cJSON_AddNumberToObject(json, "added", (double)added);
	stage_json_failed(s, json);
	json_print(stdout, json);
}

/* Keys that known_hosts has otherwise are no decision of this command. */
static int hosts_refuse(const struct stages *s, const struct trust_host *hosts, bool has_list,
			struct error *err)
{
	for (size_t i = 0; i < s->fleet.count; i++)
		for (size_t k = 0; k < hosts[i].count; k++) {
			const struct trust_key *key = &hosts[i].keys[k];
			const char *name = s->fleet.members[i].host->name;

			if (key->state == TRUST_CHANGED || key->state == TRUST_REVOKED)
				return error_set(
					err, ERROR_FAILED,
					"%s: its key %s is %s in %s: someone may be in between; if the host was installed anew, remove the old line there",
					name, key->key.fingerprint,
					key->state == TRUST_CHANGED ? "another one" : "revoked",
					key->where);
			if (key->other)
				return error_set(
					err, ERROR_FAILED,
					"%s: another host sees another %s key of it: someone may be in between; it was not added",
					name, key->key.type);
			if (key->state == TRUST_NEW && key->dns == SSHFP_OTHER && !has_list)
				return error_set(
					err, ERROR_FAILED,
					"%s: DNS has the fingerprint of another %s key (SSHFP of %s, %s): someone may be in between, or the record is old; it was not added; --fingerprints FILE decides otherwise",
					name, key->key.type, s->fleet.members[i].target.address,
					key->authenticated ? "authenticated" : "not authenticated");
			if (has_list && key->state == TRUST_NEW && !key->listed)
				return error_set(
					err, ERROR_FAILED,
					"%s: its key %s is not in the list of fingerprints", name,
					key->key.fingerprint);
		}
	return 0;
}

static size_t hosts_wanted(const struct stages *s, const struct trust_host *hosts, bool has_list)
{
	size_t wanted = 0;

	for (size_t i = 0; i < s->fleet.count; i++)
		for (size_t k = 0; k < hosts[i].count; k++)
			wanted += trust_is_wanted(&hosts[i].keys[k], has_list);
	return wanted;
}

/* One question for all hosts; a list of fingerprints is the answer. */
static int hosts_decide(const struct stages *s, size_t wanted, const char *list, struct error *err)
{
	const char *path = s->fleet.members[0].target.known_hosts[0];

	if (wanted && starts_with(path, "/dev/"))
		return error_set(
			err, ERROR_USAGE,
			"%s, the UserKnownHostsFile of ~/.ssh/config, keeps no keys; name a file by ssh.known_hosts in the cluster file",
			path);
	if (!wanted || list)
		return 0;
	return confirm(arena_printf(s->arena, "Are these the hosts' own keys? Then %zu go into %s.",
				    wanted, path),
		       "give the fingerprints by --fingerprints FILE, one a line", err);
}

static int hosts_trust(struct stages *s, const char *list, struct error *err)
{
	struct words listed = WORDS_INIT(s->arena);
	struct trust_host *hosts = ARENA_ARRAY(s->arena, s->fleet.count, struct trust_host);
	size_t added = 0;
	int rc;

	if (list && trust_read_list(list, &listed, err) < 0)
		return -1;
	trust_look(&s->fleet, list ? words_list(&listed) : NULL, hosts);
	if (!s->ctx->json)
		hosts_print(s, hosts, list);
	rc = hosts_decide(s, hosts_wanted(s, hosts, list), list, err);
	if (rc == 0)
		rc = trust_write(&s->fleet, hosts, list, &added, err);
	if (s->ctx->json) /* also for who reads it to decide */
		hosts_print_json(s, hosts, list, added);
	else if (rc == 0)
		say_to(stderr, "%zu key%s added to known_hosts\n", added, added == 1 ? "" : "s");
	if (rc < 0)
		return -1;
	return fleet_result(&s->fleet, err) < 0 ? -1 : hosts_refuse(s, hosts, list, err);
}

static int hosts_run(struct context *ctx, void *values, const char *const *arguments,
		     struct error *err)
{
	struct options *o = values;
	struct stages s;
	int rc;

	if (strcmp(arguments[0], "trust") != 0)
		return error_set(err, ERROR_USAGE, "hosts: there is only 'trust', and no '%s'",
				 arguments[0]);
	if (stage_cluster(&s, ctx, err) < 0 || stage_select(&s, &o->hosts, NULL, err) < 0)
		return -1;
	rc = hosts_trust(&s, o->list, err);
	fleet_close(&s.fleet);
	return rc;
}

const struct command command_hosts = {
	.name = "hosts",
	.arguments = "trust",
	.summary = "shows the hosts' keys, and adds them to known_hosts after a yes",
	.help = "'hosts trust' fetches the host keys of all hosts, over their jump hosts, too, and prints their\n"
		"fingerprints beside what known_hosts has and what hosts that are known already see from their\n"
		"place. It asks once for all, and adds only new keys. With --fingerprints it asks nothing and adds\n"
		"those of the list: what ssh-keygen -lf printed on the hosts can be given as it is. A key that\n"
		"differs from known_hosts is never replaced. Where a host's address is a name, fingerprints that DNS\n"
		"has for it (SSHFP) are shown, too: they count where the resolver has checked their signatures and\n"
		"resolv.conf has 'options trust-ad', and a key that differs is not added. A host with a certificate\n"
		"of an authority in known_hosts (@cert-authority) needs no line of its own.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = hosts_run,
};
