/* SPDX-License-Identifier: MIT */
#include "deployer/registry/registry_host.h"

#include "core/file.h"
#include "core/quote.h"
#include "core/tarball.h"
#include "deployer/records/owner.h"
#include "deployer/remote.h"
#include "deployer/registry/registry_unit.h"

#include <stdlib.h>
#include <string.h>

#define START_TIMEOUT_S 900 /* a container's image may have to be pulled first */
#define MEASURE_TIMEOUT_S 600
#define COLLECT_TIMEOUT_S 3600
#define FILE_BYTES_MAX (1 * MIB)
#define SAID_BYTES 700
#define PROGRAM_IN_IMAGE "registry"

static const char *registry_host_place(const struct registry_host *host)
{
	return host->member ? host->member->host->name : "this machine";
}

static int registry_host_fail(const struct registry_host *host, const char *what,
			      struct proc_result *result, struct error *err)
{
	struct str *said = result->err.length ? &result->err : &result->out;

	str_trim(said);
	str_one_line(said, SAID_BYTES);
	return error_set(err, ERROR_FAILED, "%s: %s: %s", registry_host_place(host), what,
			 said->length ? said->text : "failed without a word");
}

/* Somebody else's registry, by what the script printed. */
static int registry_host_refuse(const struct registry_host *host, const char *said,
				struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct owner owner;

	owner_parse(said, "owner_", &arena, &owner);
	return owner_refuse(registry_host_place(host),
			    arena_printf(&arena, "the registry %s", host->name), &owner,
			    arena_printf(&arena, "ringup registry serve --on %s --take-over",
					 registry_host_place(host)),
			    err);
}

/*
 * Runs the script on this machine or on the host. -1 also when the script fails. The caller
 * releases *result.
 */
static int registry_host_run(const struct registry_host *host, const struct words *words,
			     const struct str *input, int timeout_s, const char *what,
			     struct proc_result *result, struct error *err)
{
	struct proc proc = {.words = words->list, .timeout_s = timeout_s};
	struct ssh_command command = {.words = words->list, .timeout_s = timeout_s};
	int rc;

	*result = (struct proc_result){0};
	if (input) {
		proc.input = command.input = input->text;
		proc.input_bytes = command.input_bytes = input->length;
	}
	if (!host->member)
		rc = proc_run(&proc, result, err);
	else if (member_connect(host->member, err) < 0)
		return error_wrap(err, "%s", host->member->host->name);
	else
		rc = ssh_run(host->member->ssh, &command, result, err);
	if (rc < 0)
		return error_wrap(err, "%s: %s", registry_host_place(host), what);
	if (result->out.overflowed)
		return error_set(err, ERROR_FAILED, "%s: %s: it answered with more than %zu bytes",
				 registry_host_place(host), what, result->out.length);
	if (result->status == OWNER_REFUSED && host->owner)
		return registry_host_refuse(host, result->out.text, err);
	return result->status == 0 ? 0 : registry_host_fail(host, what, result, err);
}

/* Adds KEY=LINE for the script. The line consists of quoted words. */
static void add_line(const char *key, const struct words *words, struct words *out)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	quote_words(&text, words->list);
	words_addf(out, "%s=%s", key, text.text);
}

/* The same with one of the engine's fixed commands. */
static void add_record(const struct registry_host *host, const char *key,
		       const char *const *pattern, struct words *out)
{
	struct words words = WORDS_INIT(out->arena);

	engine_expand(pattern,
		      (const struct engine_value[]){{"container", host->name, NULL},
						    {"tail", "60", NULL},
						    {NULL, NULL, NULL}},
		      &words);
	add_line(key, &words, out);
}

/*
 * The server as a container. It may read files of any owner and listen on a port below 1024, and
 * nothing else.
 */
static struct container_wish registry_host_wish(const struct registry_host *host,
						const char *const *arguments, struct arena *arena)
{
	static const char *const capabilities[] = {"DAC_OVERRIDE", "NET_BIND_SERVICE", NULL};
	struct words volumes = WORDS_INIT(arena), env = WORDS_INIT(arena);
	struct container_wish wish = container_wish_empty;

	words_addf(&volumes, "%s:%s:ro", host->home, host->home);
	words_addf(&volumes, "%s:%s", host->storage, host->storage);
	if (host->has_mirror_ca)
		words_addf(&env, "SSL_CERT_FILE=%s/%s", host->home, REGISTRY_MIRROR_CA);
	wish.image = host->image;
	wish.network = "host";
	wish.volumes = words_list(&volumes);
	wish.env = words_list(&env);
	wish.capabilities = capabilities;
	wish.is_bound = true;
	wish.program = PROGRAM_IN_IMAGE;
	wish.arguments = arguments;
	return wish;
}

/* Adds the lines for a container: one runs the server, one runs the garbage collector. */
static void add_container_lines(const struct registry_host *host, const char *config,
				struct words *out)
{
	struct arena *arena = out->arena;
	const char *serve[] = {"serve", config, NULL};
	const char *collect[] = {"garbage-collect", "--delete-untagged", config, NULL};
	struct words run = WORDS_INIT(arena), task = WORDS_INIT(arena), labels = WORDS_INIT(arena);
	struct container_wish wish = registry_host_wish(host, collect, arena);
	const struct engine *engine = host->engine;

	add_record(host, "engine", engine->probe, out);
	add_record(host, "state", engine->state, out);
	add_record(host, "remove", engine->remove, out);
	add_record(host, "logs", engine->logs, out);
	engine->task(&wish, &task);
	add_line("task", &task, out);
	words_addf(&labels, "org.ringup.config=%s", host->home);
	wish.name = host->name;
	wish.labels = words_list(&labels);
	wish.restarts = true;
	wish.arguments = serve;
	engine->run(&wish, &run);
	add_line("run", &run, out);
}

/* Builds the script's words for a verb. The engine's commands are part of them as lines. */
static int script(const struct registry_host *host, const char *verb, const char *way,
		  const char *program, struct words *words, struct error *err)
{
	const char *config = arena_printf(words->arena, "%s/config.yml", host->home);

	if (remote_script("registry", WORDS(verb), words, err) < 0)
		return -1;
	words_addf(words, "name=%s", host->name);
	words_addf(words, "home=%s", host->home);
	words_addf(words, "storage=%s", host->storage);
	words_addf(words, "port=%d", host->port);
	words_addf(words, "as=%s", way);
	words_addf(words, "program=%s", program);
	if (host->owner) {
		words_addf(words, "owner=%s", owner_text(host->owner, words->arena));
		words_add(words, host->takes_over ? "take=take" : "take=");
	}
	if (host->engine->has_containers)
		add_container_lines(host, config, words);
	return 0;
}

/* A number of a host's answer; 0 when it is none, and at most 2^53, which JSON can hold. */
static uint64_t registry_host_number(const char *text)
{
	const uint64_t most = UINT64_C(1) << 53;
	uint64_t number = 0;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	number = strtoull(text, NULL, 10);
	return number < most ? number : most;
}

static void registry_host_take_line(struct registry_found *found, const char *key,
				    const char *value, struct arena *arena)
{
	const struct {
		const char *key, **text;
		uint64_t *number;
		bool *flag;
	} members[] = {
		{"home", &found->home, NULL, NULL},
		{"storage", &found->storage, NULL, NULL},
		{"program", &found->program, NULL, NULL},
		{"version", &found->version, NULL, NULL},
		{"engine_error", &found->engine_error, NULL, NULL},
		{"as", &found->as, NULL, NULL},
		{"free_bytes", NULL, &found->free_bytes, NULL},
		{"total_bytes", NULL, &found->total_bytes, NULL},
		{"used_bytes", NULL, &found->used_bytes, NULL},
		{"systemd", NULL, NULL, &found->has_systemd},
		{"engine", NULL, NULL, &found->has_engine},
		{"running", NULL, NULL, &found->running},
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (strcmp(members[i].key, key) != 0)
			continue;
		if (members[i].text)
			*members[i].text = arena_strdup(arena, value);
		else if (members[i].number)
			*members[i].number = registry_host_number(value);
		else
			*members[i].flag = strcmp(value, "yes") == 0;
	}
}

/* Whether a registry that runs, or ran, does so in a way that there is. */
static bool registry_host_is_way(const struct registry_found *found)
{
	static const char *const ways[] = {"systemd", "process", "container"};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (strcmp(found->as, ways[i]) == 0)
			return true;
	return !found->running && !*found->as;
}

int registry_host_look(struct registry_host *host, bool measure, struct arena *arena,
		       struct registry_found *found, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(arena);
	char *rest, *text;

	*found = (struct registry_found){.home = "",
					 .storage = "",
					 .program = "",
					 .version = "",
					 .engine_error = "",
					 .as = ""};
	if (script(host, "look", "", "", &words, err) < 0)
		return -1;
	words_add(&words, measure ? "measure=yes" : "measure=");
	if (registry_host_run(host, &words, NULL, measure ? MEASURE_TIMEOUT_S : 0,
			      "cannot look for the registry", &result, err) < 0)
		return -1;
	for (text = strtok_r(result.out.text, "\n", &rest); text;
	     text = strtok_r(NULL, "\n", &rest)) {
		char *equals = strchr(text, '=');

		if (equals) {
			*equals = '\0';
			registry_host_take_line(found, text, equals + 1, arena);
		}
	}
	if (!registry_host_is_way(found))
		return error_set(
			err, ERROR_FAILED,
			"%s: cannot look for the registry: it says that one runs, and not as what (%s)",
			registry_host_place(host), *found->as ? found->as : "no 'as'");
	if (!*found->home || !*found->storage)
		return error_set(err, ERROR_FAILED, "%s: cannot look for the registry: no answer",
				 registry_host_place(host));
	host->home = found->home;
	host->storage = found->storage;
	return 0;
}

int registry_host_install(struct registry_host *host, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&arena);

	if (script(host, "install", "", "", &words, err) < 0)
		return -1;
	return registry_host_run(host, &words, NULL, START_TIMEOUT_S,
				 "cannot install docker-registry", &result, err);
}

static int no_program(const struct registry_host *host, struct error *err)
{
	return error_set(
		err, ERROR_FAILED,
		"%s: neither docker-registry nor registry is a program there; --install installs Debian's package docker-registry, and --as container needs no program",
		registry_host_place(host));
}

static int no_engine(const struct registry_host *host, const struct registry_found *found,
		     struct error *err)
{
	return error_set(err, ERROR_FAILED, "%s: no container engine answers there%s%s",
			 registry_host_place(host), *found->engine_error ? ": " : "",
			 found->engine_error);
}

int registry_host_way(const struct registry_host *host, const struct registry_found *found,
		      const char *asked, const char **way, struct error *err)
{
	bool has_engine = found->has_engine && host->engine->has_containers;

	if (!asked && *found->program)
		asked = found->has_systemd ? "systemd" : "process";
	if (!asked && !has_engine) {
		no_program(host, err);
		return error_advise(err, "no container engine answers there either%s%s",
				    *found->engine_error ? ": " : "", found->engine_error);
	}
	*way = asked ? asked : "container";
	if (strcmp(*way, "container") == 0)
		return has_engine ? 0 : no_engine(host, found, err);
	if (strcmp(*way, "systemd") != 0 && strcmp(*way, "process") != 0)
		return error_set(err, ERROR_USAGE, "--as %s: not systemd, process or container",
				 *way);
	if (!*found->program)
		return no_program(host, err);
	if (strcmp(*way, "systemd") == 0 && !found->has_systemd)
		return error_set(
			err, ERROR_FAILED,
			"%s: no systemd runs there, or the user is not root (set ssh.sudo)",
			registry_host_place(host));
	return 0;
}

/* Leaves out missing files: most registries have no upstream.pem. */
static int pack_files(const char *folder, const char *const *files, struct tarball *tarball,
		      struct arena *arena, struct error *err)
{
	for (; *files; files++) {
		const char *path = arena_printf(arena, "%s/%s", folder, *files);
		size_t length;
		char *bytes;

		if (!file_exists(path))
			continue;
		if (file_read(path, FILE_BYTES_MAX, arena, &bytes, &length, err) < 0 ||
		    tarball_add(tarball, *files, bytes, length, 0600, err) < 0)
			return -1;
	}
	return 0;
}

/* Packs the files, and the unit if there is one, as a tar. The caller frees input->text. */
static int registry_host_pack(const char *folder, const char *const *files, const char *unit,
			      struct arena *arena, struct str *input, struct error *err)
{
	struct tarball tarball;
	char *bytes = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&bytes, &length);
	int rc;

	if (!out)
		oom();
	rc = tarball_init(&tarball, out, "the registry's files", err);
	if (rc == 0)
		rc = pack_files(folder, files, &tarball, arena, err);
	if (rc == 0 && unit)
		rc = tarball_add(&tarball, "unit", unit, strlen(unit), 0600, err);
	if (rc == 0)
		rc = tarball_finish(&tarball, err);
	tarball_release(&tarball);
	fclose(out);
	str_init(input);
	str_add_bytes(input, bytes, length);
	free(bytes);
	return rc;
}

int registry_host_start(struct registry_host *host, const struct registry_found *found,
			const char *way, const char *folder, const char *const *files,
			struct arena *arena, bool *was_running, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str input = {0};
	struct words words = WORDS_INIT(arena);
	const char *unit = NULL;

	if (strcmp(way, "systemd") == 0 &&
	    registry_unit(host, found->program, arena, &unit, err) < 0)
		return -1;
	if (registry_host_pack(folder, files, unit, arena, &input, err) < 0 ||
	    script(host, "start", way, found->program, &words, err) < 0)
		return -1;
	if (registry_host_run(host, &words, &input, START_TIMEOUT_S, "cannot start the registry",
			      &result, err) < 0) {
		if (strstr(err->text, "address already in use"))
			error_advise(
				err,
				"what holds port %d there? Debian's own docker-registry.service takes 5000: systemctl disable --now docker-registry",
				host->port);
		else if (host->engine->has_containers && host->engine->is_image_missing(err))
			error_advise(
				err,
				"load the image %s there, name another with --image, or install the package docker-registry",
				host->image);
		return -1;
	}
	*was_running = strstr(result.out.text, "was_running=yes");
	return 0;
}

int registry_host_remove(struct registry_host *host, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&arena);

	if (script(host, "remove", "", "", &words, err) < 0)
		return -1;
	return registry_host_run(host, &words, NULL, 0, "cannot remove the registry", &result, err);
}

int registry_host_stop(struct registry_host *host, bool *was_running, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&arena);

	if (script(host, "stop", "", "", &words, err) < 0 ||
	    registry_host_run(host, &words, NULL, 0, "cannot stop the registry", &result, err) < 0)
		return -1;
	*was_running = strstr(result.out.text, "was_running=yes");
	return 0;
}

int registry_host_collect(struct registry_host *host, const struct registry_found *found,
			  const char *way, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&arena);

	if (script(host, "collect", way, found->program, &words, err) < 0)
		return -1;
	return registry_host_run(host, &words, NULL, COLLECT_TIMEOUT_S, "cannot collect garbage",
				 &result, err);
}
