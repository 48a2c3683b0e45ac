/* SPDX-License-Identifier: MIT */
#include "cli/init_text.h"

#include "core/foreign.h"
#include "core/str.h"
#include "plan/facts_diff.h"
#include "plan/host_set.h"

#include <ctype.h>
#include <string.h>

#define INIT_NAME_MAX 40

const char *init_name_of(const char *folder, struct arena *arena)
{
	const char *slash = strrchr(folder, '/');
	char *name = arena_strdup(arena, slash ? slash + 1 : folder), *to = name;

	for (const char *from = name; *from && to - name < INIT_NAME_MAX; from++) {
		if (isalnum((unsigned char)*from))
			*to++ = (char)tolower((unsigned char)*from);
		else if (to > name && to[-1] != '-')
			*to++ = '-';
	}
	while (to > name && to[-1] == '-')
		to--;
	*to = '\0';
	return isalpha((unsigned char)*name) && !starts_with(name, "registry") ? name : "train";
}

/* A YAML text in double quotes. */
static void init_add_quoted(struct str *out, const char *text)
{
	str_add(out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_add_char(out, '\\');
		str_add_char(out, *text);
	}
	str_add(out, "\"");
}

static bool init_given(const char *text)
{
	return text && *text;
}

bool init_is_bare(const struct init_wish *wish)
{
	return wish->engine && strcmp(wish->engine, "none") == 0;
}

/* "  KEY: "VALUE"" in a map that is written on one line, with a comma before all but the first. */
static void init_add_key(struct str *out, const char *key, const char *value)
{
	if (!init_given(value))
		return;
	str_addf(out, "%s%s: ", out->text[out->length - 1] == '{' ? "" : ", ", key);
	init_add_quoted(out, value);
}

static void init_add_list(struct str *out, const char *const *list)
{
	str_add(out, "[");
	for (size_t i = 0; list[i]; i++) {
		str_add(out, i ? ", " : "");
		init_add_quoted(out, list[i]);
	}
	str_add(out, "]");
}

/* ---- what the probe said ---- */

static bool init_has_gpus(const struct fleet *fleet)
{
	for (size_t i = 0; fleet && i < fleet->count; i++)
		if (!fleet->members[i].failed && *fleet->members[i].facts.gpus)
			return true;
	return false;
}

static const char *init_host_says(const struct member *m, bool has_engines, struct arena *arena)
{
	const struct facts *f = &m->facts;
	struct words parts = WORDS_INIT(arena);
	size_t gpus = 0;

	if (m->failed)
		return "did not answer";
	for (const char *at = f->gpus; *at; at++)
		gpus += at == f->gpus || *at == ';';
	words_addf(&parts, "%s, %s, %d processors", f->os, f->arch, f->cpus);
	if (gpus)
		words_addf(&parts, "%zu x %.*s, driver %s", gpus, (int)strcspn(f->gpus, ";"),
			   f->gpus, f->driver);
	else if (*f->gpu_error)
		words_add(&parts, "GPUs that cannot be used");
	if (has_engines)
		words_add(&parts,
			  !*f->engine ? "no container engine: ringup setup installs one"
			  : *f->engine_version
				  ? arena_printf(arena, "%s %s", f->engine, f->engine_version)
				  : arena_printf(arena, "%s, which does not answer", f->engine));
	return foreign_clean_line(arena_strdup(arena, words_join(&parts, ", ")));
}

/* "#   node[01-08]: debian12, ..." for hosts that say the same. */
static void init_add_facts(const struct fleet *fleet, bool has_engines, struct arena *arena,
			   struct str *out)
{
	bool *done = ARENA_ARRAY(arena, fleet->count + 1, bool);

	for (size_t i = 0; i < fleet->count; i++) {
		const char *says = init_host_says(&fleet->members[i], has_engines, arena);
		struct words names = WORDS_INIT(arena);

		for (size_t k = i; k < fleet->count && !done[i]; k++)
			if (!done[k] &&
			    strcmp(init_host_says(&fleet->members[k], has_engines, arena), says) ==
				    0) {
				words_add(&names, fleet->members[k].host->name);
				done[k] = k != i;
			}
		if (names.count)
			str_addf(out, "#   %s: %s\n", host_set_fold(words_list(&names), arena),
				 says);
	}
}

/* ---- sections ---- */

static void init_add_hosts(const struct init_wish *wish, const struct fleet *fleet,
			   struct arena *arena, struct str *out)
{
	struct words entries = WORDS_INIT(arena);

	if (fleet) {
		str_add(out, "\n# What the hosts said:\n");
		init_add_facts(fleet, !init_is_bare(wish), arena, out);
	}
	if (!wish->port || wish->port == 22) {
		host_set_fold_words(wish->hosts, &entries);
		str_add(out, "hosts: ");
		init_add_list(out, words_list(&entries));
		str_add(out, "\n");
	} else {
		str_add(out, "hosts:\n");
		host_set_fold_words(wish->hosts, &entries);
		for (size_t i = 0; i < entries.count; i++)
			str_addf(out, "  - {hosts: \"%s\", port: %d}\n", entries.list[i],
				 wish->port);
	}
	str_add(out,
		"# A host starts as many ranks as it has GPUs, or one. For another number write\n"
		"#   - {address: node01, slots: 4}\n");
}

static void init_add_ssh(const struct init_wish *wish, struct str *out)
{
	size_t before;

	str_add(out, "\n# How ringup logs in. Host keys must be in known_hosts.\nssh: {");
	before = out->length;
	init_add_key(out, "user", wish->user);
	init_add_key(out, "key", wish->key);
	init_add_key(out, "known_hosts", wish->known_hosts);
	init_add_key(out, "jump", wish->jump);
	init_add_key(out, "transport", wish->transport);
	if (wish->sudo)
		str_addf(out, "%ssudo: true", out->length > before ? ", " : "");
	str_add(out, "}\n");
}

static void init_add_registry(const struct init_wish *wish, struct str *out)
{
	if (init_given(wish->registry_on))
		str_addf(
			out,
			"\n# 'ringup registry serve --on %s' starts this registry and prints the path of its CA;\n"
			"# then 'ringup login -u ringup'.\n",
			wish->registry_on);
	else
		str_add(out,
			"\n# The private registry of the images; 'ringup login -u USER' keeps a password.\n");
	str_add(out, "registry: {");
	init_add_key(out, "address", wish->registry);
	init_add_key(out, "ca", wish->ca);
	if (wish->insecure)
		str_add(out, ", insecure: true");
	str_add(out, "}\n");
}

static void init_add_stack(const struct init_wish *wish, const struct fleet *fleet, struct str *out)
{
	static const char *const gpu[] = {"openmpi", "nccl", "python", NULL};
	static const char *const cpu[] = {"openmpi", "python", "os==debian12", NULL};
	bool has_gpus = init_has_gpus(fleet);
	static const char *const either[] = {"openmpi", "python", NULL};
	bool is_own = wish->stack && *wish->stack;

	str_add(out,
		wish->is_hosts_stack
			? "\n# What the hosts have: without containers, jobs run with that.\n"
			: "\n# What the image holds; ringup resolves the rest for the drivers and GPUs of the hosts.\n");
	str_add(out,
		"# Add a framework: \"torch\", \"tensorflow==2.15.*\", \"jax\". See 'ringup resolve --explain'.\n"
		"stack: ");
	init_add_list(out, is_own ? wish->stack : !fleet ? either : has_gpus ? gpu : cpu);
	str_addf(out, "\naccelerator: %s%s\n",
		 has_gpus	    ? "cuda"
		 : is_own || !fleet ? "auto"
				    : "cpu",
		 fleet ? "" : "   # nobody asked the hosts yet: CUDA where they have GPUs");
}

static void init_add_container(const struct init_wish *wish, struct str *out)
{
	str_add(out,
		"\n# 'ringup help cluster.yaml' lists all keys.\ncontainer: {sshd_port: 9435, shm_size: 8g");
	if (init_given(wish->engine))
		str_addf(out, ", engine: %s", wish->engine);
	if (init_given(wish->interface))
		init_add_key(out, "interface", wish->interface);
	str_add(out, "}\n");
}

void init_add_text(const struct init_wish *wish, const struct fleet *fleet, struct arena *arena,
		   struct str *out)
{
	str_addf(
		out,
		"# A cluster for ringup, written by 'ringup init'. Next: 'ringup doctor', then 'ringup up'.\n"
		"name: %s\n",
		wish->name);
	init_add_hosts(wish, fleet, arena, out);
	init_add_ssh(wish, out);
	if (init_given(wish->registry))
		init_add_registry(wish, out);
	init_add_stack(wish, fleet, out);
	init_add_container(wish, out);
}
