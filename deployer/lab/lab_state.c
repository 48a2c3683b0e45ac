/* SPDX-License-Identifier: MIT */
/* What the lab remembers between runs, and the cluster.yaml that it writes. */
#include "deployer/lab/lab_state.h"

#include "core/digest.h"
#include "core/file.h"
#include "core/log.h"
#include "core/proc.h"
#include "deployer/lab/lab_registry.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OS_RELEASE_BYTES_MAX (64 * KIB)

const char *lab_path(const struct lab *lab, const char *relative, struct arena *arena)
{
	return arena_printf(arena, "%s/%s", lab->state, relative);
}

int lab_key(const struct lab *lab, const char *relative, struct arena *arena, struct error *err)
{
	const char *path = lab_path(lab, relative, arena);

	if (file_exists(path))
		return 0;
	return proc_check(WORDS("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ringup lab",
				"-f", path),
			  err);
}

int lab_hosts_meant(const struct lab *lab, const char *option, const char *text, int *first,
		    int *last, const char **value, struct arena *arena, struct error *err)
{
	const char *equals = strchr(text, '=');

	*first = 0;
	*last = lab->host_count - 1;
	*value = equals ? equals + 1 : text;
	if (!equals)
		return 0;
	for (int i = 0; i < lab->host_count; i++) {
		const char *name = arena_printf(arena, "node%02d=", i + 1);

		if (!starts_with(text, name))
			continue;
		*first = *last = i;
		return 0;
	}
	return error_set(err, ERROR_USAGE,
			 "%s %s: there is no such lab host; the hosts are node01 to node%02d",
			 option, text, lab->host_count);
}

static struct lab_process process_from(const cJSON *json)
{
	return (struct lab_process){(pid_t)json_int(json, "pid", 0),
				    (unsigned long long)json_number(json, "started", 0)};
}

static void state_add_process(cJSON *json, const char *name, const struct lab_process *process)
{
	cJSON *item = cJSON_AddObjectToObject(json, name);

	cJSON_AddNumberToObject(item, "pid", process->pid);
	cJSON_AddNumberToObject(item, "started", (double)process->started);
}

static const char *state_text(const cJSON *json, const char *name, struct arena *arena)
{
	const char *text = json_text(json, name, arena);

	return text ? text : "";
}

static struct lab_gpus state_gpus(const cJSON *host, struct arena *arena)
{
	const cJSON *json = json_member(host, "gpus");

	return (struct lab_gpus){
		.spec = state_text(json, "spec", arena),
		.driver = state_text(json, "driver", arena),
		.nvlink = json_bool(json, "nvlink", false),
		.infiniband = json_bool(json, "infiniband", false),
		.toolkit = json_bool(json, "toolkit", false),
	};
}

static void state_add_gpus(cJSON *host, const struct lab_gpus *gpus)
{
	cJSON *json;

	if (!gpus->spec || !*gpus->spec)
		return;
	json = cJSON_AddObjectToObject(host, "gpus");
	cJSON_AddStringToObject(json, "spec", gpus->spec);
	cJSON_AddStringToObject(json, "driver", gpus->driver);
	cJSON_AddBoolToObject(json, "nvlink", gpus->nvlink);
	cJSON_AddBoolToObject(json, "infiniband", gpus->infiniband);
	cJSON_AddBoolToObject(json, "toolkit", gpus->toolkit);
}

/* The name comes from the folder, so two labs in two folders have different bridges. */
static const char *lab_name(const char *folder, struct arena *arena)
{
	char digest[DIGEST_TEXT_BYTES];

	digest_of(folder, strlen(folder), digest);
	return arena_printf(arena, "rl%.4s", digest + strlen("sha256:"));
}

void lab_load(const char *cluster_path, struct arena *arena, struct lab *lab)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct error ignored = {0};
	const cJSON *item;
	char folder[PATH_MAX];

	if (!realpath(path_folder(arena, cluster_path), folder))
		snprintf(folder, sizeof(folder), "%s", path_folder(arena, cluster_path));
	*lab = (struct lab){.folder = arena_strdup(arena, folder), .user = "", .port = 22};
	lab->state = arena_printf(arena, "%s/.ringup/lab", folder);
	lab->name = lab_name(folder, arena);
	if (json_read(lab_path(lab, "state.json", arena), &json, &ignored) < 0)
		return;
	lab->loopback = json_bool(json, "loopback", false);
	lab->engine = json_text(json, "engine", arena);
	lab->user = state_text(json, "user", arena);
	lab->subnet = json_int(json, "subnet", 0);
	lab->registry = process_from(json_member(json, "registry"));
	lab->written = json_text(json, "written", arena);
	cJSON_ArrayForEach (item, json_member(json, "hosts")) {
		if (lab->host_count == LAB_HOSTS_MAX)
			break;
		lab->hosts[lab->host_count++] = (struct lab_host){
			.name = json_text(item, "name", arena),
			.address = json_text(item, "address", arena),
			.process = process_from(json_member(item, "process")),
			.gpus = state_gpus(item, arena),
			.bare = state_text(item, "bare", arena),
		};
	}
}

int lab_save(const struct lab *lab, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *hosts;

	cJSON_AddStringToObject(json, "name", lab->name);
	cJSON_AddBoolToObject(json, "loopback", lab->loopback);
	json_add_text(json, "engine", lab->engine);
	json_add_text(json, "user", lab->user);
	cJSON_AddNumberToObject(json, "subnet", lab->subnet);
	state_add_process(json, "registry", &lab->registry);
	json_add_text(json, "written", lab->written);
	hosts = cJSON_AddArrayToObject(json, "hosts");
	for (int i = 0; i < lab->host_count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", lab->hosts[i].name);
		cJSON_AddStringToObject(item, "address", lab->hosts[i].address);
		state_add_process(item, "process", &lab->hosts[i].process);
		state_add_gpus(item, &lab->hosts[i].gpus);
		json_add_text(item, "bare", lab->hosts[i].bare);
		cJSON_AddItemToArray(hosts, item);
	}
	return json_write(lab_path(lab, "state.json", &arena), json, 0600, err);
}

/* "Codename: bookworm": this machine's own release, by os-release's VERSION_CODENAME; or NULL. */
static const char *machine_codename(struct arena *arena)
{
	static const char key[] = "\nVERSION_CODENAME=";
	struct error ignored = {0};
	const char *at;
	char *text;

	if (file_read("/etc/os-release", OS_RELEASE_BYTES_MAX, arena, &text, NULL, &ignored) < 0)
		return NULL;
	at = strstr(arena_printf(arena, "\n%s", text), key);
	if (!at)
		return NULL;
	at += strlen(key);
	at += *at == '"';
	return arena_printf(arena, "Codename: %.*s", (int)strcspn(at, "\"\n"), at);
}

const char *lab_machine_apt(struct arena *arena)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *codename = machine_codename(arena);
	struct proc proc = {.words = WORDS("apt-get", "indextargets", "--format", "$(REPO_URI)",
					   "Created-By: Packages", "Origin: Debian", codename)};
	struct error ignored = {0};

	if (!codename || !proc_exists("apt-get") || proc_run(&proc, &result, &ignored) < 0 ||
	    result.status)
		return NULL;
	result.out.text[strcspn(result.out.text, "\n")] = '\0';
	result.out.length = strlen(result.out.text);
	while (result.out.length && result.out.text[result.out.length - 1] == '/')
		result.out.text[--result.out.length] = '\0';
	return result.out.length ? arena_strdup(arena, result.out.text) : NULL;
}

static const char *machine_pip(struct arena *arena)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {
		.words = WORDS("python3", "-m", "pip", "config", "get", "global.index-url")};
	const char *env = getenv("PIP_INDEX_URL");
	struct error ignored = {0};

	if (env)
		return env;
	if (!proc_exists("python3") || proc_run(&proc, &result, &ignored) < 0 || result.status)
		return NULL;
	str_trim(&result.out);
	return arena_strdup(arena, result.out.text);
}

/* With GPUs a host has as many ranks as GPUs: that is what is to be practised. */
static void add_hosts(const struct lab *lab, struct str *out)
{
	str_add(out, "hosts:\n");
	for (int i = 0; i < lab->host_count; i++)
		str_addf(out, "  - {name: %s, address: %s, port: %d%s}\n", lab->hosts[i].name,
			 lab->hosts[i].address, lab->port,
			 *lab->hosts[i].gpus.spec ? "" : ", slots: 2");
}

static bool lab_state_has_gpus(const struct lab *lab)
{
	for (int i = 0; i < lab->host_count; i++)
		if (*lab->hosts[i].gpus.spec)
			return true;
	return false;
}

static void lab_add_stack(const struct lab *lab, struct str *out)
{
	if (lab_state_has_gpus(lab))
		str_add(out,
			"stack: [nccl, openmpi, python]   # what fits the simulated GPUs is resolved\n"
			"accelerator: auto\n");
	else if (lab->loopback)
		str_add(out,
			"stack: []                    # these hosts have what this machine has\n"
			"accelerator: cpu\n");
	else
		str_add(out, "stack: [openmpi, python, \"os==debian12\"]   # the rest is resolved\n"
			     "accelerator: cpu\n");
}

static void add_mirrors(struct str *out, struct arena *arena)
{
	const char *apt = lab_machine_apt(arena), *pip = machine_pip(arena);

	if (!apt && !pip)
		return;
	str_add(out, "mirrors:                     # where this machine gets its packages from\n");
	if (apt)
		str_addf(out, "  apt: \"%s\"\n", apt);
	if (pip)
		str_addf(out, "  pip: \"%s\"\n", pip);
}

bool lab_owns_cluster(const struct lab *lab, const char *path)
{
	struct error ignored = {0};
	char digest[DIGEST_TEXT_BYTES];

	return lab->written && digest_of_file(path, digest, &ignored) == 0 &&
	       strcmp(digest, lab->written) == 0;
}

int lab_write_cluster(struct lab *lab, const char *path, struct arena *arena, struct error *err)
{
	const struct passwd *me = getpwuid(geteuid()); /* $USER may name another user */
	_cleanup_(str_release) struct str out = STR_INIT;
	char *digest = arena_alloc(arena, DIGEST_TEXT_BYTES);

	if (file_exists(path) && !lab_owns_cluster(lab, path)) {
		log_info("%s was changed by hand and is left as it is", path);
		return 0;
	}
	str_addf(&out, "%s: a practice cluster on this machine; 'ringup lab down' removes it.\n",
		 LAB_MARK);
	str_add(&out, "name: lab\n");
	add_hosts(lab, &out);
	str_addf(
		&out,
		"ssh: {user: %s, key: .ringup/lab/id_ed25519, known_hosts: .ringup/lab/known_hosts}\n",
		*lab->user ? lab->user
		: me	   ? me->pw_name
			   : "root");
	if (!lab->loopback)
		str_addf(
			&out,
			"registry: {address: \"%s\", namespace: lab, ca: .ringup/lab/registry/ca.pem}\n",
			lab_registry_address(lab, arena));
	lab_add_stack(lab, &out);
	add_mirrors(&out, arena);
	str_add(&out, "image: {name: train}\n");
	str_addf(&out, "container: {engine: %s, sshd_port: 9435, shm_size: 512m}\n", lab->engine);
	digest_of(out.text, out.length, digest);
	lab->written = digest;
	if (file_write(path, out.text, out.length, 0644, err) < 0)
		return -1;
	return lab_save(lab, err);
}
