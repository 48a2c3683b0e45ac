/* SPDX-License-Identifier: MIT */
#include "deployer/access/trust.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "deployer/address.h"
#include "deployer/ssh/keys/host_certificate.h"
#include "deployer/ssh/keys/known_hosts.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LIST_CEILING_BYTES (4 * MIB)
#define WITNESSES_MAX 2
#define SCAN_TIMEOUT_S 60
#define DNS_ALL_S 10 /* no more questions begin after that */

struct look {
	struct trust_host *hosts;
	const char *const *listed;
	const char *const *scan; /* the words for a witness */
	struct str said[WITNESSES_MAX];
	size_t witness_count;
	uint64_t dns_begin_usec;
	struct error *dns_errors; /* for each member */
};

static const char *trust_name(const struct ssh_target *t, struct arena *arena)
{
	return *t->host_key_alias ? t->host_key_alias
				  : known_hosts_name(t->address, t->port, arena);
}

static bool trust_is_listed(const char *const *listed, const char *fingerprint)
{
	for (; listed && *listed; listed++)
		if (strcmp(*listed, fingerprint) == 0)
			return true;
	return false;
}

static void trust_compare(struct member *m, const struct known_hosts *known, struct trust_key *key)
{
	const struct known_host_key *where = NULL;

	switch (known_hosts_check(known, key->key.type, key->key.base64, &where)) {
	case KNOWN_HOSTS_MATCH:
		key->state = TRUST_KNOWN;
		return;
	case KNOWN_HOSTS_REVOKED:
		key->state = TRUST_REVOKED;
		break;
	default:
		key->state = TRUST_NEW;
		where = NULL;
		for (size_t i = 0; i < known->count; i++)
			if (!known->keys[i].revoked &&
			    strcmp(known->keys[i].type, key->key.type) == 0)
				where = &known->keys[i];
		if (where)
			key->state = TRUST_CHANGED;
	}
	key->where = where ? arena_printf(&m->arena, "%s:%d", where->path, where->line) : "";
}

/* With a certificate for one of the keys no other one is needed. */
static void trust_certify(struct member *m, struct trust_host *host)
{
	const char *certified = host_certificate_key(&m->target, &m->arena);
	bool found = false;

	for (size_t i = 0; i < host->count; i++)
		found |= strcmp(host->keys[i].key.fingerprint, certified) == 0;
	for (size_t i = 0; i < host->count && found; i++)
		if (host->keys[i].state == TRUST_NEW)
			host->keys[i].state = TRUST_CERTIFIED;
}

static int trust_fetch(struct member *m, void *arg, struct error *err)
{
	struct look *look = arg;
	struct trust_host *host = &look->hosts[m->index];
	struct host_key keys[HOST_KEY_KINDS];
	struct known_hosts known;

	if (known_hosts_load(m->target.known_hosts_all, trust_name(&m->target, &m->arena),
			     &m->arena, &known, err) < 0 ||
	    host_keys_fetch(&m->target, &m->arena, keys, &host->count, err) < 0)
		return -1;
	for (size_t i = 0; i < host->count; i++) {
		host->keys[i] = (struct trust_key){.key = keys[i], .where = ""};
		host->keys[i].listed = trust_is_listed(look->listed, keys[i].fingerprint);
		trust_compare(m, &known, &host->keys[i]);
	}
	if (known.has_authority)
		trust_certify(m, host);
	return 0;
}

static bool trust_has_new(const struct trust_host *host)
{
	for (size_t i = 0; i < host->count; i++)
		if (host->keys[i].state == TRUST_NEW)
			return true;
	return false;
}

static bool trust_is_known(const struct trust_host *host)
{
	for (size_t i = 0; i < host->count; i++)
		if (host->keys[i].state == TRUST_KNOWN)
			return true;
	return false;
}

static bool trust_asks_dns(const struct member *m, const struct trust_host *host)
{
	if (!member_is_active(m) || address_is_number(m->target.address))
		return false;
	for (size_t i = 0; i < host->count; i++)
		if (host->keys[i].state == TRUST_NEW || host->keys[i].state == TRUST_CHANGED)
			return true;
	return false;
}

static int trust_ask_dns_one(struct member *m, void *arg, struct error *err)
{
	struct look *look = arg;
	struct trust_host *host = &look->hosts[m->index];
	struct error *failure = &look->dns_errors[m->index];
	struct sshfp found;

	(void)err;
	if (interrupted() || !trust_asks_dns(m, host))
		return 0;
	if (clock_seconds_since(look->dns_begin_usec) > DNS_ALL_S) {
		error_set(failure, ERROR_FAILED,
			  "DNS: %s was not asked for, since it took too long", m->target.address);
		return 0;
	}
	if (sshfp_ask(m->target.address, &found, failure) < 0)
		return 0;
	for (size_t i = 0; i < host->count; i++) {
		struct trust_key *key = &host->keys[i];

		key->dns = sshfp_compare(&found, key->key.type, key->key.base64);
		key->authenticated = key->dns != SSHFP_NONE && found.authenticated;
	}
	return 0;
}

/* Side by side. What failed is one sentence, since it is as a rule the same for all. */
static void trust_ask_dns(struct fleet *fleet, struct look *look)
{
	const struct error *first = NULL;
	size_t failed = 0;

	look->dns_errors = ARENA_ARRAY(fleet->arena, fleet->count, struct error);
	look->dns_begin_usec = clock_usec();
	fleet_each(fleet, trust_ask_dns_one, look);
	for (size_t i = fleet->count; i-- > 0;)
		if (look->dns_errors[i].kind) {
			first = &look->dns_errors[i];
			failed++;
		}
	if (failed > 1)
		log_info("%s; and so for %zu more", first->text, failed - 1);
	else if (failed)
		log_info("%s", first->text);
}

/* One line for each key: "ADDRESS PORT TYPE BASE64". ssh-keyscan names the host itself, in ways of its own. */
static const char SCAN[] =
	"while [ $# -gt 1 ]; do ssh-keyscan -T 5 -p \"$2\" \"$1\" 2>/dev/null | while read -r name type key; do "
	"echo \"$1 $2 $type $key\"; done; shift 2; done";

/* Has up to two hosts that are known look at all that have new keys. */
static void trust_ask_witnesses(struct fleet *fleet, struct look *look)
{
	struct words words = WORDS_INIT(fleet->arena);

	words_add_all(&words, WORDS("sh", "-c", SCAN, "sh"));
	for (size_t i = 0; i < fleet->count; i++) {
		const struct ssh_target *t = &fleet->members[i].target;

		if (member_is_active(&fleet->members[i]) && trust_has_new(&look->hosts[i])) {
			words_add(&words, t->address);
			words_addf(&words, "%d", t->port);
		}
	}
	for (size_t i = 0; i < fleet->count && look->witness_count < WITNESSES_MAX; i++) {
		struct member *m = &fleet->members[i];
		_cleanup_(proc_result_release) struct proc_result result = {0};
		struct ssh_command command = {.words = words.list, .timeout_s = SCAN_TIMEOUT_S};
		struct error ignored = {0};

		if (words.count == 4 || !member_is_active(m) || !trust_is_known(&look->hosts[i]))
			continue;
		if (member_connect(m, &ignored) < 0 ||
		    ssh_run(m->ssh, &command, &result, &ignored) < 0 || !result.out.length)
			continue;
		str_init(&look->said[look->witness_count]);
		str_add(&look->said[look->witness_count++], result.out.text);
	}
}

/* What one witness sees of a key: 1 the same, -1 another of its type, 0 nothing. */
static int trust_seen(const char *said, const struct ssh_target *t, const struct host_key *key,
		      struct arena *arena)
{
	const char *begin = arena_printf(arena, "%s %d %s ", t->address, t->port, key->type);
	char *lines = arena_strdup(arena, said), *line;
	int seen = 0;

	while ((line = strsep(&lines, "\n"))) {
		const char *base64;

		if (!starts_with(line, begin))
			continue;
		base64 = line + strlen(begin);
		if (strncmp(base64, key->base64, strcspn(base64, " \r")) == 0 &&
		    strcspn(base64, " \r") == strlen(key->base64))
			return 1;
		seen = -1;
	}
	return seen;
}

void trust_look(struct fleet *fleet, const char *const *listed, struct trust_host *hosts)
{
	struct look look = {.hosts = hosts, .listed = listed};

	fleet_each(fleet, trust_fetch, &look);
	trust_ask_dns(fleet, &look);
	trust_ask_witnesses(fleet, &look);
	for (size_t w = 0; w < look.witness_count; w++) {
		for (size_t i = 0; i < fleet->count; i++)
			for (size_t k = 0; k < hosts[i].count; k++) {
				struct trust_key *key = &hosts[i].keys[k];
				int seen = trust_seen(look.said[w].text, &fleet->members[i].target,
						      &key->key, fleet->arena);

				key->same += seen == 1;
				key->other += seen == -1;
			}
		str_release(&look.said[w]);
	}
}

bool trust_is_wanted(const struct trust_key *key, bool has_list)
{
	return key->state == TRUST_NEW && !key->other &&
	       (has_list ? key->listed : key->dns != SSHFP_OTHER);
}

/* Adds lines to the end of a file; one that is not there is made for this user alone. */
static int trust_append(const char *path, const char *lines, struct arena *arena, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	size_t length = strlen(lines);
	off_t end;
	char last = '\n';

	if (folder_make(path_folder(arena, path), 0700, err) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd < 0)
		return error_errno(err, "cannot write %s", path);
	end = lseek(fd, 0, SEEK_END);
	if (end > 0 && pread(fd, &last, 1, end - 1) != 1)
		return error_errno(err, "cannot read %s", path);
	if ((last != '\n' && write(fd, "\n", 1) != 1) ||
	    write(fd, lines, length) != (ssize_t)length || fsync(fd) < 0)
		return error_errno(err, "cannot write %s", path);
	return 0;
}

int trust_write(const struct fleet *fleet, const struct trust_host *hosts, bool has_list,
		size_t *added, struct error *err)
{
	*added = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct ssh_target *t = &fleet->members[i].target;
		_cleanup_(str_release) struct str lines = STR_INIT;

		for (size_t k = 0; k < hosts[i].count; k++) {
			const struct trust_key *key = &hosts[i].keys[k];

			if (!trust_is_wanted(key, has_list))
				continue;
			str_addf(&lines, "%s %s %s\n", trust_name(t, fleet->arena), key->key.type,
				 key->key.base64);
			++*added;
		}
		if (lines.length &&
		    trust_append(t->known_hosts[0], lines.text, fleet->arena, err) < 0)
			return -1;
	}
	return 0;
}

int trust_read_list(const char *path, struct words *fingerprints, struct error *err)
{
	char *text, *line;
	int number = 0;

	if (file_read_named(path, LIST_CEILING_BYTES, fingerprints->arena, &text, NULL, err) < 0)
		return error_of_input(err);
	while ((line = strsep(&text, "\n"))) {
		const char *print = strstr(line, "SHA256:");

		number++;
		line += strspn(line, " \t\r");
		if (print)
			words_add(fingerprints, arena_strndup(fingerprints->arena, print,
							      strcspn(print, " \t\r,")));
		else if (*line && *line != '#')
			return error_set(err, ERROR_USAGE, "%s:%d: there is no SHA256:... in it",
					 path, number);
	}
	return 0;
}
