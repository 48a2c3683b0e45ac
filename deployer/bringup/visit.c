/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/visit.h"

#include "core/file.h"
#include "core/quote.h"
#include "deployer/container/images.h"
#include "deployer/remote.h"
#include "deployer/container/replace.h"

#include <string.h>

int visit_compare(struct visit *v, struct error *err)
{
	const struct host_state *state = &v->m->state;

	container_describe(v->m, v->bringup, &v->container);
	v->is_first = !*state->mesh && !*state->container_id && !*state->owner.id;
	if (parcel_measure(v->m, v->bringup, &v->parcel, err) < 0)
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
			      struct words *out)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	str_add(&line, before);
	ssh_command_text(&m->target, words, &line);
	words_add(out, line.text);
}

struct visit_out {
	struct member *m;
	struct words *out;
};

static void visit_add_plain(void *arg, const char *const *words)
{
	const struct visit_out *to = arg;

	visit_add_command(to->m, "", words, to->out);
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
	if (parcel_make(m, v->bringup, &v->parcel, err) < 0)
		return -1;
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

static void add_container_commands(struct visit *v, struct words *out)
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

	if (images_come_by_ssh(m->fleet->cluster)) {
		visit_add_command(m,
				  arena_printf(&m->arena, "ringup pull %s docker-archive:-:%s | ",
					       v->bringup->image ? v->bringup->image : "IMAGE",
					       c->wish.image),
				  container_words(m, c, m->engine->load), out);
		has_login = false;
	} else {
		if (has_login)
			visit_add_command(m, login_pipe(v), login, out);
		visit_add_command(m, "", container_words(m, c, m->engine->pull), out);
	}
	if (has_login)
		visit_add_command(m, "", no_login, out);
	replace_each_command(v, visit_add_plain, &(struct visit_out){m, out});
}

/* The words before the script's arguments, with the script in them. */
static int visit_receive_head(struct member *m, const char **head, struct error *err)
{
	struct words words = WORDS_INIT(&m->arena);
	_cleanup_(str_release) struct str line = STR_INIT;

	if (remote_script("receive", WORDS(NULL), &words, err) < 0)
		return -1;
	ssh_command_line(&m->target, words.list, &line);
	*head = arena_strdup(&m->arena, line.text);
	return 0;
}

int bringup_receive_line(struct member *m, const char **line, struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *head;

	if (visit_receive_head(m, &head, err) < 0)
		return -1;
	str_add(&text, "receive=");
	quote_word(&text, head);
	*line = arena_strdup(&m->arena, text.text);
	return 0;
}

/* ssh ... "$receive"' FOLDER CA ...' <TAR */
static int visit_add_files(struct visit *v, struct words *out, struct error *err)
{
	_cleanup_(str_release) struct str line = STR_INIT, arguments = STR_INIT;
	const char *tar;

	if (write_parcel(v, &tar, err) < 0)
		return -1;
	ssh_command_place(&v->m->target, &line);
	str_add(&arguments, " ");
	quote_words(&arguments, visit_receive_arguments(v, false));
	str_add(&line, "\"$receive\"");
	quote_word(&line, arguments.text);
	str_add(&line, " <");
	quote_word(&line, tar);
	words_add(out, line.text);
	return 0;
}

/* What a person wants to know before it happens. */
static const char *visit_changes(struct visit *v)
{
	const struct host_state *state = &v->m->state;
	struct words out = WORDS_INIT(&v->m->arena);
	bool has_container = *state->container_id;

	if (has_container && !owner_is(&state->container_owner, &v->m->fleet->owner))
		words_add(&out, "takes over somebody else's container");
	if (v->container_differs && !has_container)
		words_add(&out, "starts the container");
	else if (v->container_differs && !state->running)
		words_add(&out, "replaces the container, which is stopped");
	if (has_container)
		container_changes(v->m, &v->container, &out);
	if (has_container && !*state->mesh)
		words_add(&out, "its files are gone");
	if (v->files_differ && !out.count)
		words_add(&out, "the cluster's files");
	if (!v->container_differs && member_lacks_keep(v->m))
		words_add(&out, "the container's restart policy");
	return words_join(&out, ", ");
}

int bringup_plan(struct member *m, const struct bringup *bringup, struct bringup_plan *plan,
		 struct error *err)
{
	struct visit v = {.m = m, .bringup = bringup};
	int rc = visit_compare(&v, err);

	*plan = (struct bringup_plan){.changes = "", .commands = WORDS_INIT(&m->arena)};
	if (rc == 0)
		plan->changes = visit_changes(&v);
	if (rc == 0 && v.files_differ)
		rc = visit_add_files(&v, &plan->commands, err);
	if (rc == 0 && v.container_differs)
		add_container_commands(&v, &plan->commands);
	else if (rc == 0 && member_lacks_keep(m))
		visit_add_command(m, "", container_keep_words(m), &plan->commands);
	visit_release(&v);
	return rc;
}
