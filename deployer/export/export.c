/* SPDX-License-Identifier: MIT */
#include "deployer/export/export.h"

#include "core/digest.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/quote.h"
#include "deployer/job/defaults.h"
#include "plan/gpu_wish.h"
#include "resolver/resolve.h"

#include <ctype.h>
#include <string.h>

#define X(name) extern const struct exporter exporter_##name;
#include "export.list"
#undef X

const struct exporter *const exporters[] = {
#define X(name) &exporter_##name,
#include "export.list"
#undef X
	NULL};

int exporter_find(const char *name, const struct exporter **exporter, struct error *err)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (strcmp((*e)->name, name) == 0) {
			*exporter = *e;
			return 0;
		}
	error_set(err, ERROR_USAGE, "'%s' is nothing that ringup exports to", name);
	for (const struct exporter *const *e = exporters; *e; e++)
		error_advise(err, "%s%s (%s)", e == exporters ? "there are " : "", (*e)->name,
			     (*e)->help);
	return -1;
}

/* The value of NAME=VALUE when the pair has this name, or NULL. */
static const char *export_pair_value(const char *pair, const char *name, size_t length)
{
	return strncmp(pair, name, length) == 0 && pair[length] == '=' ? pair + length + 1 : NULL;
}

static int export_check_setting(const struct exporter *exporter, const struct export_wish *wish,
				const char *pair, struct error *err)
{
	struct words names = WORDS_INIT(wish->arena);
	const char *near;

	for (const struct export_setting *s = exporter->settings; s->name; s++)
		if (export_pair_value(pair, s->name, strlen(s->name)))
			return 0;
	for (size_t i = 0; exporter->settings[i].name; i++)
		words_add(&names, exporter->settings[i].name);
	near = names.count ? nearest_word(arena_strndup(wish->arena, pair, strcspn(pair, "=")),
					  words_list(&names))
			   : NULL;
	if (!names.count)
		return error_set(err, ERROR_USAGE, "--set %s: %s has no settings", pair,
				 exporter->name);
	error_set(err, ERROR_USAGE, "--set %s: %s has no setting of that name%s%s%s", pair,
		  exporter->name, near ? "; did you mean '" : "", near ? near : "",
		  near ? "'?" : "");
	return error_advise(err,
			    "NAME=VALUE; the names are %s ('ringup help export' explains them)",
			    words_join(&names, ", "));
}

int export_check_look(const struct export_wish *wish, const char *const *names, struct error *err)
{
	for (const char *const *pair = wish->settings; *pair; pair++) {
		const char *const *name = names;

		while (*name && !export_pair_value(*pair, *name, strlen(*name)))
			name++;
		if (!*name)
			return error_set(err, ERROR_USAGE,
					 "--set %s: 'status' shows a whole cluster%s", *pair,
					 *names ? ", which --set context and namespace name" : "");
	}
	return 0;
}

int export_check(const struct exporter *exporter, const struct export_wish *wish, struct error *err)
{
	const char *const *kind = exporter->kinds;

	for (const char *const *pair = wish->settings; *pair; pair++)
		if (export_check_setting(exporter, wish, *pair, err) < 0)
			return -1;
	while (wish->kind && kind && *kind && strcmp(*kind, wish->kind) != 0)
		kind++;
	if (!wish->kind || (kind && *kind))
		return 0;
	error_set(err, ERROR_USAGE, "--kind %s: %s has %s", wish->kind, exporter->name,
		  exporter->kinds ? "these kinds:" : "no kinds");
	for (kind = exporter->kinds; kind && *kind; kind++)
		error_advise(err, "%s", *kind);
	return -1;
}

const char *export_value(const struct exporter *exporter, const struct export_wish *wish,
			 const char *name)
{
	const struct export_setting *s = exporter->settings;
	const char *value = NULL, *one;

	for (const char *const *pair = wish->settings; *pair; pair++)
		if ((one = export_pair_value(*pair, name, strlen(name))))
			value = one;
	while (!value && s->name && strcmp(s->name, name) != 0)
		s++;
	return value ? value : s->name ? s->otherwise : "";
}

const char *const *export_values(const struct exporter *exporter, const struct export_wish *wish,
				 const char *name)
{
	struct words values = WORDS_INIT(wish->arena);
	const char *value;

	for (const char *const *pair = wish->settings; *pair; pair++)
		if ((value = export_pair_value(*pair, name, strlen(name))) && *value)
			words_add(&values, value);
	value = export_value(exporter, wish, name);
	if (!values.count && *value)
		words_add(&values, value);
	return words_list(&values);
}

bool export_is_set(const struct export_wish *wish, const char *name)
{
	const char *value;

	for (const char *const *pair = wish->settings; *pair; pair++)
		if ((value = export_pair_value(*pair, name, strlen(name))) && *value)
			return true;
	return false;
}

static const struct facts *export_facts(const struct export_wish *wish, const struct host *host)
{
	for (size_t i = 0; i < wish->fact_count; i++)
		if (strcmp(wish->facts[i].host, host->name) == 0)
			return &wish->facts[i];
	return NULL;
}

static const char *export_accelerator(const struct export_wish *wish)
{
	return wish->plan ? wish->plan->accelerator : wish->cluster->accelerator;
}

/* Whether the file says how many GPUs the hosts have, or which. */
static bool export_names_gpus(const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->host_count; i++)
		if (*cluster->hosts[i].gpus && strcmp(cluster->hosts[i].gpus, "none") != 0)
			return true;
	return strcmp(cluster->container.gpus, "all") != 0 &&
	       strcmp(cluster->container.gpus, "none") != 0;
}

/* As the lock has it, and before there is one as the resolver will, but for GPUs that the file names on hosts that nobody has asked. */
static bool export_has_gpus(const struct export_wish *wish)
{
	const struct resolve_input input = {.requests = wish->cluster->stack ? wish->cluster->stack
									     : WORDS(NULL),
					    .accelerator = export_accelerator(wish),
					    .facts = wish->facts,
					    .fact_count = wish->fact_count};

	if (strcmp(input.accelerator, "auto") == 0 && !wish->fact_count &&
	    export_names_gpus(wish->cluster))
		return true;
	return resolve_wants_gpus(&input, wish->arena);
}

/* The GPUs that the host gives: what the file names, or what the probe saw; 0 where nobody knows. */
static int export_host_gpus(const struct export_wish *wish, const struct host *host)
{
	const struct facts *facts = export_facts(wish, host);
	struct gpu_wish gpus;
	struct error ignored = {0};

	if (!export_has_gpus(wish) ||
	    gpu_wish_parse(*host->gpus ? host->gpus : wish->cluster->container.gpus, wish->arena,
			   &gpus, &ignored) < 0 ||
	    gpus.kind == GPU_NONE)
		return 0;
	if (facts)
		return (int)gpu_wish_count(&gpus, facts);
	return gpus.kind == GPU_ALL ? 0 : (int)gpus.count;
}

/* Ranks that a host has room for, as job/plan.h counts them. */
static int export_slots(const struct export_wish *wish, const struct host *host)
{
	int per_rank = wish->job.gpus ? wish->job.gpus : 1, gpus = export_host_gpus(wish, host);

	if (wish->job.per_host)
		return wish->job.per_host;
	if (host->slots)
		return host->slots;
	return gpus >= per_rank ? gpus / per_rank : 1;
}

static int export_place_on_hosts(struct export_wish *wish, struct error *err)
{
	const struct cluster *cluster = wish->cluster;
	int wanted = wish->job.ranks;

	wish->per_node = wish->world = 0;
	for (size_t i = 0; i < cluster->host_count && (!wanted || wish->world < wanted); i++) {
		int slots = export_slots(wish, &cluster->hosts[i]);

		if (wanted && wish->world + slots > wanted)
			slots = wanted - wish->world;
		if (slots > wish->per_node)
			wish->per_node = slots;
		wish->world += slots;
		wish->nodes++;
	}
	if (wish->world && (!wanted || wish->world == wanted))
		return 0;
	if (!cluster->host_count)
		return error_set(
			err, ERROR_USAGE,
			"the cluster file has no hosts; say how many nodes the job has: --nodes N, or -n N with --ppn N");
	return error_set(
		err, ERROR_USAGE,
		"the job's %d ranks are more than the hosts of the cluster file have room for (%d); say --nodes N and --ppn N for an engine with other hosts",
		wanted, wish->world);
}

static int export_place_on_nodes(struct export_wish *wish, struct error *err)
{
	const struct job_options *job = &wish->job;
	const struct cluster *cluster = wish->cluster;

	wish->per_node = job->per_host;
	if (!wish->per_node && job->ranks)
		wish->per_node = (job->ranks + wish->nodes - 1) / wish->nodes;
	if (!wish->per_node)
		wish->per_node = cluster->host_count ? export_slots(wish, &cluster->hosts[0]) : 1;
	if (wish->nodes == 1 && job->ranks && job->ranks < wish->per_node)
		wish->per_node = job->ranks;
	wish->world = job->ranks ? job->ranks : wish->nodes * wish->per_node;
	if (wish->world > wish->nodes * wish->per_node ||
	    wish->world <= (wish->nodes - 1) * wish->per_node)
		return error_set(
			err, ERROR_USAGE,
			"%d ranks do not fill %d nodes with %d ranks each; correct -n, --nodes or --ppn",
			wish->world, wish->nodes, wish->per_node);
	return 0;
}

int export_take_one_node(struct export_wish *wish)
{
	const struct cluster *cluster = wish->cluster;
	struct export_wish whole = *wish;
	struct error ignored = {0};
	int slots = cluster->host_count ? export_slots(wish, &cluster->hosts[0]) : 1;

	if (wish->job.roles)
		return 0;
	whole.nodes = 0;
	if (export_place_on_hosts(&whole, &ignored) < 0) {
		/* its hosts are others, and only ppn says what a node has */
		if (!wish->job.per_host || wish->job.ranks <= slots)
			return 0;
		whole.world = wish->job.ranks;
	} else if (whole.nodes < 2) {
		return 0;
	}
	wish->job.ranks = 0;
	wish->job.per_host = slots;
	return whole.world;
}

int export_place(struct export_wish *wish, struct error *err)
{
	const struct cluster *cluster = wish->cluster;
	int gpus = cluster->host_count ? export_host_gpus(wish, &cluster->hosts[0]) : 0;

	if (*wish->job.workdir && *wish->job.workdir != '/' && *wish->image)
		return error_set(
			err, ERROR_USAGE,
			"workdir %s: a container needs an absolute path (OCI runtime specification, process.cwd)",
			wish->job.workdir);
	/* they say it together, whatever hosts the file has */
	if (!wish->nodes && wish->job.ranks && wish->job.per_host)
		wish->nodes = (wish->job.ranks - 1) / wish->job.per_host + 1;
	if (wish->nodes > EXPORT_NODES_MAX)
		return error_set(err, ERROR_USAGE, "%d nodes: a job has %d at most", wish->nodes,
				 EXPORT_NODES_MAX);
	if ((wish->nodes ? export_place_on_nodes : export_place_on_hosts)(wish, err) < 0)
		return -1;
	wish->gpus_per_node = 0;
	if (wish->job.gpus && strcmp(cluster->container.gpus, "none") == 0)
		return error_set(
			err, ERROR_USAGE,
			"container.gpus is none, and each rank is to have GPUs of its own (%d); correct one of them",
			wish->job.gpus);
	if (wish->job.gpus && strcmp(export_accelerator(wish), "cpu") == 0)
		log_warn(
			"the stack is for CPUs: no rank gets the GPUs of its own (%d) that it is to have",
			wish->job.gpus);
	else if (wish->job.gpus)
		wish->gpus_per_node = wish->per_node * wish->job.gpus;
	else if (export_has_gpus(wish) && strcmp(cluster->container.gpus, "none") != 0)
		wish->gpus_per_node = gpus > 0 ? gpus : wish->per_node;
	return 0;
}

void export_add(const struct export_wish *wish, struct export_files *files, const char *name,
		const char *text)
{
	if (files->count < EXPORT_FILES_MAX)
		files->list[files->count++] =
			(struct export_file){name, arena_strdup(wish->arena, text)};
}

/* Adds the pairs; one takes the place of an earlier one with its name. */
static void export_add_pairs(struct words *env, const char *const *pairs, size_t count)
{
	for (size_t i = 0; i < count && pairs && pairs[i]; i++) {
		size_t length = strcspn(pairs[i], "="), at = 0;

		while (at < env->count && !export_pair_value(env->list[at], pairs[i], length))
			at++;
		if (at < env->count)
			env->list[at] = pairs[i];
		else
			words_add(env, pairs[i]);
	}
}

const char *const *export_env(const struct export_wish *wish)
{
	struct words env = WORDS_INIT(wish->arena);

	if (wish->plan)
		export_add_pairs(&env, wish->plan->env, wish->plan->env_count);
	export_add_pairs(&env, wish->cluster->container.env, SIZE_MAX);
	export_add_pairs(&env, wish->job.env, SIZE_MAX);
	return export_words(wish, words_list(&env));
}

const char *const *export_own_env(const struct export_wish *wish, const char *const *pairs)
{
	struct words own = WORDS_INIT(wish->arena);
	const char *const *all = export_env(wish);

	for (; *pairs; pairs++) {
		const char *const *said = all;

		while (*said && !export_pair_value(*said, *pairs, strcspn(*pairs, "=")))
			said++;
		if (!*said)
			words_add(&own, *pairs);
	}
	return words_list(&own);
}

const char *const *export_defaults(const struct export_wish *wish, const char *threads)
{
	struct words env = WORDS_INIT(wish->arena);

	if (!wish->is_worker)
		job_defaults_add(&env, threads);
	return export_own_env(wish, words_list(&env));
}

const char *export_threads(const struct export_wish *wish, int ranks)
{
	int threads = (int)(wish->cpus / ranks);

	return wish->cpus > 0 ? arena_printf(wish->arena, "%d", threads > 0 ? threads : 1) : NULL;
}

/* By the parts between its "_". TOKENIZERS_PARALLELISM is no TOKEN. */
static bool export_names_secret(const char *name, struct arena *arena)
{
	static const char secrets[] =
		" PASSWORD PASSWD PASSPHRASE SECRET TOKEN CREDENTIAL CREDENTIALS APIKEY ";
	char *words = arena_strdup(arena, name), *word, *last = words;
	bool found = false;

	for (char *c = words; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	while ((word = strsep(&words, "_"))) {
		found |= strstr(secrets, arena_printf(arena, " %s ", word)) != NULL;
		last = word;
	}
	if (strstr(" FILE PATH DIR ", arena_printf(arena, " %s ", last)))
		return false;
	return found || (strcmp(last, "KEY") == 0 && strchr(name, '_'));
}

void export_warn_of_secrets(const struct exporter *exporter, const struct export_wish *wish)
{
	struct words found = WORDS_INIT(wish->arena);
	bool has_way = false;

	for (const char *const *pair = export_env(wish); *pair; pair++) {
		size_t length = strcspn(*pair, "=");
		const char *name = arena_strndup(wish->arena, *pair, length);

		if ((*pair)[length] && (*pair)[length + 1] &&
		    export_names_secret(name, wish->arena))
			words_add(&found, name);
	}
	for (const struct export_setting *s = exporter->settings; s->name; s++)
		has_way |= strcmp(s->name, "env-secret") == 0;
	if (!found.count)
		return;
	log_warn("%s: %s in the file for everybody who reads it; leave %s out and %s",
		 words_join(&found, ", "),
		 found.count > 1 ? "the values stand" : "the value stands",
		 found.count > 1 ? "them" : "it",
		 has_way ? "use --set env-secret=NAME, a Secret of that cluster"
			 : "set it in the environment of who starts the job");
}

const char *export_text(const struct export_wish *wish, const char *text)
{
	return wish->escape ? wish->escape(text, wish->arena) : text;
}

/* As the first process of a container it would get TERM alone, and ignore it (signal(7), pid_namespaces(7)). */
static const char export_hand_on[] = "setsid /bin/sh -c \"$@\" &\n"
				     "trap 'kill -TERM -$!' TERM\n"
				     "while kill -0 $! 2>/dev/null; do wait $!; status=$?; done\n"
				     "exit $status\n";

const char *const *export_command(const struct export_wish *wish, bool hands_on)
{
	const char *const *command = wish->job.command;
	struct words words = WORDS_INIT(wish->arena);

	if (strcmp(command[0], "/bin/sh") != 0 || !command[1] || strcmp(command[1], "-c") != 0 ||
	    !command[2])
		return command;
	words_add_all(&words, WORDS("/bin/sh", "-c"));
	if (hands_on)
		words_add_all(&words, WORDS(export_hand_on, "text"));
	words_addf(&words, "trap 'exit 143' TERM\n%s", command[2]);
	words_add_all(&words, command + 3);
	return words_list(&words);
}

const char *const *export_words(const struct export_wish *wish, const char *const *list)
{
	struct words words = WORDS_INIT(wish->arena);

	for (; *list; list++)
		words_add(&words, export_text(wish, *list));
	return words_list(&words);
}

static bool export_has_word(const struct words *words, const char *word, size_t length)
{
	for (size_t i = 0; i < words->count; i++)
		if (strncmp(words->list[i], word, length) == 0 && !words->list[i][length])
			return true;
	return false;
}

const char *const *export_products(const struct export_wish *wish)
{
	struct words products = WORDS_INIT(wish->arena);

	for (size_t i = 0; i < wish->fact_count; i++)
		for (const char *at = wish->facts[i].gpus; *at; at += *at == ';') {
			size_t length = strcspn(at, ";");

			if (length && !export_has_word(&products, at, length))
				words_addf(&products, "%.*s", (int)length, at);
			at += length;
		}
	return words_list(&products);
}

bool export_has_rdma(const struct export_wish *wish)
{
	bool found = false;

	for (size_t i = 0; i < wish->fact_count; i++)
		found |= *wish->facts[i].infiniband != '\0';
	return found && strcmp(wish->cluster->container.devices, "auto") == 0;
}

struct export_volume export_volume(const char *text, struct arena *arena)
{
	size_t source = strcspn(text, ":"), target = 0;
	const char *rest = text + source;
	struct export_volume volume = {.source = arena_strndup(arena, text, source),
				       .is_name = !memchr(text, '/', source)};

	if (*rest)
		target = strcspn(++rest, ":");
	volume.target = arena_strndup(arena, rest, target);
	for (rest += target; *rest; rest += strcspn(rest, ","))
		if (strncmp(++rest, "ro", 2) == 0 && (!rest[2] || rest[2] == ','))
			volume.is_read_only = true;
	return volume;
}

const char *export_line(const char *const *words, struct arena *arena)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	quote_words(&line, words);
	/* the line separators of Unicode would end a comment of YAML, too */
	return foreign_clean_line(arena_strdup(arena, line.text));
}

const char *export_dns_name(const char *name, struct arena *arena)
{
	char label[EXPORT_NAME_MAX + 1], digest[DIGEST_TEXT_BYTES];
	size_t length = 0;
	const char *at = name;

	while (*at && !isalnum((unsigned char)*at))
		at++;
	if (isdigit((unsigned char)*at))
		length = (size_t)snprintf(label, sizeof(label), "job-");
	for (; *at && length < EXPORT_NAME_MAX; at++) {
		char c = (char)tolower((unsigned char)*at);

		label[length++] = isalnum((unsigned char)c) ? c : '-';
	}
	while (length && label[length - 1] == '-')
		length--;
	if (!length)
		return "job";
	if (!*at)
		return arena_strndup(arena, label, length);
	digest_of(name, strlen(name), digest);
	return arena_printf(arena, "%.*s-%.5s", EXPORT_NAME_MAX - 6, label,
			    digest + DIGEST_PREFIX_BYTES);
}
