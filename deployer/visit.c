/* SPDX-License-Identifier: MIT */
#include "deployer/visit.h"

#include "core/file.h"
#include "core/quote.h"
#include "deployer/remote.h"
#include "deployer/replace.h"

#include <string.h>

int visit_compare(struct visit *v, struct error *err)
{
	const struct host_state *state = &v->m->state;

	container_describe(v->m, v->bringup, &v->container);
	if (parcel_make(v->m, v->bringup, &v->parcel, err) < 0)
		return -1;
	/*
	 * a host without the files has lost the folder, and a running container still has the lost
	 * one mounted
	 */
	v->container_differs = v->m->engine->has_containers &&
			       (!state->running || !*state->mesh ||
				strcmp(state->config, v->container.config_hash) != 0);
	v->files_differ = v->container_differs || !owner_is(&state->owner, &v->m->fleet->owner) ||
			  strcmp(state->mesh, v->parcel.digest) != 0;
	return 0;
}

const char *const *visit_receive_arguments(const struct visit *v, bool keeps)
{
	struct words words = WORDS_INIT(&v->m->arena);

	words_add_all(
		&words,
		WORDS(v->m->state.folder, v->container.ca_path,
		      v->m->fleet->takes_over ? "take" : "",
		      keeps && v->container_differs && *v->m->state.container_id ? "keep" : ""));
	return words.list;
}

void visit_release(struct visit *v)
{
	parcel_release(&v->parcel);
}

int visit_explain(const struct visit *v, int what, struct error *err)
{
	const struct bringup *b = v->bringup;
	const struct engine_attempt attempt = {
		.what = what,
		.registry = b->registry,
		.user = b->credentials.user ? b->credentials.user : "",
		.data_root = v->m->facts.data_root,
	};

	if (v->m->engine->explain)
		v->m->engine->explain(&attempt, err);
	return -1;
}

static void visit_add_command(struct member *m, const char *before, const char *const *words,
			      const char *after, struct str *out)
{
	str_add(out, before);
	ssh_command_text(&m->target, words, out);
	str_addf(out, "%s\n", after);
}

struct visit_out {
	struct member *m;
	struct str *out;
};

static void visit_add_plain(void *arg, const char *const *words)
{
	const struct visit_out *to = arg;

	visit_add_command(to->m, "", words, "", to->out);
}

/*
 * Writes the tar to a file that only its owner can read, so that the printed command can be pasted.
 */
static int write_parcel(struct visit *v, const char **path, struct error *err)
{
	struct member *m = v->m;

	*path = cluster_state_path(m->fleet->cluster,
				   arena_printf(&m->arena, "keys/%s.tar", m->host->name),
				   &m->arena);
	return file_write(*path, v->parcel.tar, v->parcel.tar_bytes, 0600, err);
}

/* Reads the login from its file or helper and pipes it on, so that no command line holds it. */
static const char *login_pipe(struct visit *v)
{
	const struct credentials *c = &v->bringup->credentials;
	const char *registry = v->bringup->registry;

	if (c->helper)
		return arena_printf(
			&v->m->arena,
			"printf %%s '%s' | docker-credential-%s get | jq '{auths: {\"%s\": {auth: (.Username + \":\" + .Secret | @base64)}}}' | ",
			registry, c->helper, registry);
	return arena_printf(&v->m->arena, "jq '{auths: {\"%s\": .auths[\"%s\"]}}' %s | ", registry,
			    registry, c->path);
}

static void add_container_commands(struct visit *v, struct str *out)
{
	struct member *m = v->m;
	const struct container *c = &v->container;
	bool has_login = credentials_are_there(&v->bringup->credentials);
	const char *no_login[] = {"rm", "-rf", c->config_folder, NULL};
	const char *login[] = {"sh",
			       "-c",
			       "umask 077; mkdir -p \"$1\" && cat >\"$1/config.json\"",
			       "login",
			       c->config_folder,
			       NULL};

	if (has_login)
		visit_add_command(m, login_pipe(v), login, "", out);
	visit_add_command(m, "", container_words(m, c, m->engine->pull), "", out);
	if (has_login)
		visit_add_command(m, "", no_login, "", out);
	replace_each_command(v, visit_add_plain, &(struct visit_out){m, out});
}

int bringup_commands(struct member *m, const struct bringup *bringup, struct str *out,
		     struct error *err)
{
	struct visit v = {.m = m, .bringup = bringup};
	struct words receive = WORDS_INIT(&m->arena);
	const char *tar;
	int rc = visit_compare(&v, err);
	bool keeps = rc == 0 && !v.container_differs && member_lacks_keep(m);

	if (rc == 0 && !v.files_differ)
		str_addf(out, "# %s: %s\n", m->host->name,
			 keeps ? "the container's restart policy" : "nothing to do");
	if (rc == 0 && v.files_differ) {
		str_addf(out, "# %s: the cluster's files%s\n", m->host->name,
			 v.container_differs ? ", the image and the container" : "");
		rc = remote_script("receive", visit_receive_arguments(&v, false), &receive, err);
		if (rc == 0)
			rc = write_parcel(&v, &tar, err);
		if (rc == 0)
			visit_add_command(m, "", receive.list, arena_printf(&m->arena, " <%s", tar),
					  out);
	}
	if (rc == 0 && v.container_differs)
		add_container_commands(&v, out);
	if (keeps)
		visit_add_command(m, "", container_keep_words(m), "", out);
	visit_release(&v);
	return rc;
}
