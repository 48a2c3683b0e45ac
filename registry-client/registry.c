/* SPDX-License-Identifier: MIT */
#include "registry-client/registry.h"

#include "core/file.h"
#include "plan/reference.h"
#include "registry-client/limits.h"
#include "registry-client/http/session.h"
#include "registry-client/http/transfer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void curl_start(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		oom();
}

/* curl would wait for a named pipe for ever, so it gets only files. */
static int check_file(const char *path, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	return file_open(path, &fd, err) < 0 ? error_of_input(err) : 0;
}

static int registry_check_config(const struct registry_config *config, struct error *err)
{
	const char *address = config->address;

	if (!address || !*address ||
	    address[strspn(address,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]")])
		return error_set(
			err, ERROR_USAGE,
			"'%.200s' is not a registry's address; write HOST or HOST:PORT, without https:// and without a path",
			address ? address : "");
	if (config->plain_http && (config->ca_path || config->must_be_tls))
		return error_set(
			err, ERROR_USAGE,
			"registry %s: %s asks for TLS, and plain HTTP is asked for, too; leave out one of the two",
			address, config->ca_path ? config->ca_path : "https://");
	if (config->ca_path && check_file(config->ca_path, err) < 0) {
		error_wrap(err, "the registry's CA file");
		return error_advise(err, "correct 'registry: ca:'");
	}
	if (config->certs.cert_path && (check_file(config->certs.cert_path, err) < 0 ||
					check_file(config->certs.key_path, err) < 0))
		return error_wrap(err, "the client's certificate");
	return 0;
}

/* Docker Hub's registry has another host name than its images. */
static const char *host_of(const char *address)
{
	return strcmp(address, "docker.io") == 0 ? "registry-1.docker.io" : address;
}

static void copy_config(struct registry *r, const struct registry_config *config)
{
	struct arena *arena = &r->arena;

	r->address = arena_strdup(arena, config->address);
	r->is_loopback = reference_is_loopback(config->address);
	r->may_be_plain = (r->is_loopback || config->may_be_plain) && !config->ca_path &&
			  !config->certs.folder && !config->must_be_tls;
	r->base = arena_printf(arena, "%s://%s", config->plain_http ? "http" : "https",
			       host_of(config->address));
	r->connections = config->connections > 0 ? config->connections : CONNECTIONS_DEFAULT;
	r->pause_usec = config->pause_usec ? config->pause_usec : RETRY_FIRST_USEC;
	r->split_bytes = config->split_bytes ? config->split_bytes : SPLIT_BYTES_DEFAULT;
	if (r->connections > CONNECTIONS_MAX)
		r->connections = CONNECTIONS_MAX;
	r->settings.stall_s = config->timeout_s > 0 ? config->timeout_s : STALL_SECONDS_DEFAULT;
	r->settings.no_proxy = r->is_loopback;
	if (config->ca_path)
		r->settings.ca_path = arena_strdup(arena, config->ca_path);
	if (config->certs.ca_pem && !config->ca_path)
		r->settings.ca_pem = arena_strdup(arena, config->certs.ca_pem);
	if (config->certs.cert_path) {
		r->settings.cert_path = arena_strdup(arena, config->certs.cert_path);
		r->settings.key_path = arena_strdup(arena, config->certs.key_path);
	}
	if (config->user && *config->user)
		r->auth.user = arena_strdup(arena, config->user);
	if (config->password.hidden)
		r->auth.password.hidden = arena_strdup(arena, config->password.hidden);
	if (config->identity.hidden)
		r->auth.identity.hidden = arena_strdup(arena, config->identity.hidden);
}

int registry_open(const struct registry_config *config, struct registry **registry,
		  struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct registry *r;

	*registry = NULL;
	if (registry_check_config(config, err) < 0)
		return -1;
	pthread_once(&once, curl_start);
	r = xmalloc(sizeof(*r));
	*r = (struct registry){.arena = ARENA_INIT};
	copy_config(r, config);
	pthread_mutex_init(&r->contact, NULL);
	r->owns_loop = !config->beside;
	r->loop = config->beside ? config->beside->loop : loop_new();
	*registry = r;
	return 0;
}

void registry_close(struct registry *registry)
{
	if (!registry)
		return;
	if (registry->owns_loop)
		loop_free(registry->loop);
	pthread_mutex_destroy(&registry->contact);
	auth_release(&registry->auth);
	arena_release(&registry->arena);
	free(registry);
}

void registry_closep(struct registry **registry)
{
	registry_close(*registry);
	*registry = NULL;
}

static enum transfer_next registry_ask(struct transfer *t)
{
	exchange_request(&t->x, "GET", "%s/v2/", t->registry->base);
	return TRANSFER_SEND;
}

/*
 * Docker's rule: a registry on this machine, or among its insecure-registries, may. Docker and
 * containers-image fall back even where certs.d has a CA for it; here that means TLS.
 */
static bool may_go_plain(const struct transfer *t)
{
	return t->registry->may_be_plain && t->x.result == CURLE_SSL_CONNECT_ERROR &&
	       starts_with(t->registry->base, "https:");
}

static enum transfer_next contact_step(struct transfer *t, struct error *err)
{
	struct registry *r = t->registry;
	struct exchange *x = &t->x;

	if (!x->method)
		return registry_ask(t);
	if (may_go_plain(t)) {
		r->base = arena_printf(&r->arena, "http://%s", r->address);
		return registry_ask(t);
	}
	if (x->result == CURLE_OK && (x->status == 200 || x->status == 401)) {
		r->is_known = true;
		return TRANSFER_DONE;
	}
	if (x->result == CURLE_OK && x->status == 404) {
		error_set(
			err, ERROR_FAILED,
			"%s answered HTTP 404: no registry with the v2 interface lives there; correct 'registry: address:'",
			x->url.text);
		return TRANSFER_FAILED;
	}
	return transfer_failed(t, err);
}

/* A registry that answers gets as many tries as any other work. */
static void contact_recover(struct transfer *t)
{
	if (t->x.result == CURLE_OK)
		t->tries_max = TRIES_MAX;
}

/* `scope` NULL: a token is not asked for. */
static int contact(struct registry *registry, const char *scope, struct error *err)
{
	_cleanup_(transfer_release) struct transfer transfer = {0};
	struct transfer *list[] = {&transfer};

	transfer_init(&transfer, registry, contact_step);
	transfer.recover = contact_recover;
	transfer.x.scope = scope;
	transfer.tries_max = FIRST_CONTACT_TRIES_MAX;
	return transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
}

/* One thread asks; the others wait for what it learns. */
int registry_contact(struct registry *registry, struct error *err)
{
	int rc;

	pthread_mutex_lock(&registry->contact);
	rc = registry->is_known ? 0 : contact(registry, NULL, err);
	pthread_mutex_unlock(&registry->contact);
	return rc;
}

int registry_login(struct registry *registry, struct error *err)
{
	int rc;

	pthread_mutex_lock(&registry->contact);
	rc = contact(registry, "", err);
	pthread_mutex_unlock(&registry->contact);
	return rc;
}
