/* SPDX-License-Identifier: MIT */
#include "deployer/engine/command_line.h"

#include "core/str.h"

#include <string.h>

static void command_line_add_text(struct words *out, const char *option, const char *text)
{
	if (*text)
		words_add_all(out, WORDS(option, text));
}

static void command_line_add_list(struct words *out, const char *option, const char *const *list)
{
	for (; *list; list++)
		words_add_all(out, WORDS(option, *list));
}

/*
 * The names that nvidia-ctk writes. Source: docs.nvidia.com, "Container Toolkit", Support for Container Device Interface.
 */
void command_line_add_cdi(const struct container_wish *wish, struct words *out)
{
	for (const char *at = wish->gpus; *at; at += *at == ',') {
		int length = (int)strcspn(at, ",");

		words_addf(out, "--device=nvidia.com/gpu=%.*s", length, at);
		at += length;
	}
}

void command_line_options(const struct container_wish *wish,
			  void (*add_gpus)(const struct container_wish *wish, struct words *out),
			  struct words *out)
{
	command_line_add_text(out, "--name", wish->name);
	command_line_add_text(out, "--network", wish->network);
	command_line_add_text(out, "--ipc", wish->ipc);
	command_line_add_text(out, "--shm-size", wish->shm_size);
	command_line_add_text(out, "--memory", wish->memory);
	command_line_add_text(out, "--cpus", wish->cpus);
	command_line_add_list(out, "--label", wish->labels);
	for (const char *const *pair = wish->env; *pair; pair++)
		words_addf(out, "--env=%s", *pair);
	command_line_add_list(out, "--volume", wish->volumes);
	command_line_add_list(out, "--ulimit", wish->limits);
	if (wish->privileged)
		words_add(out, "--privileged");
	command_line_add_list(out, "--device", wish->devices);
	if (wish->is_bound)
		words_add_all(out, WORDS("--cap-drop", "ALL"));
	command_line_add_list(out, "--cap-add", wish->capabilities);
	if (wish->is_bound)
		words_add_all(out, WORDS("--security-opt", "no-new-privileges"));
	if (*wish->gpus)
		add_gpus(wish, out);
	command_line_add_text(out, "--entrypoint", wish->program);
}

void command_line_image(const struct container_wish *wish, struct words *out)
{
	words_add(out, wish->image);
	words_add_all(out, wish->arguments);
}

/* The one about HTTP is Go's net/http (transport.go, "server gave HTTP response to HTTPS client"). */
void command_line_explain_pull(const struct engine_attempt *a, const char *insecure,
			       struct error *err)
{
	if (strstr(err->text, "x509") || strstr(err->text, "certificate"))
		error_advise(
			err,
			"the host does not trust the registry %s; set registry.ca in cluster.yaml to the CA that signed its certificate",
			a->registry);
	else if (strstr(err->text, "server gave HTTP response"))
		error_advise(
			err,
			"the registry %s speaks plain HTTP, and 'insecure: true' is only for ringup itself: %s, or let 'ringup registry serve' make one with TLS",
			a->registry, insecure);
	else if (strstr(err->text, "unauthorized") || strstr(err->text, "401") ||
		 strstr(err->text, "no basic auth credentials"))
		error_advise(err,
			     "the registry %s refused user '%s'; log in again: ringup login %s",
			     a->registry, *a->user ? a->user : "(none)", a->registry);
	else if (strstr(err->text, "refused") || strstr(err->text, "no route"))
		error_advise(err, "can this host reach the registry %s?", a->registry);
	else if (strstr(err->text, "no space left"))
		error_advise(err, "free space under %s and run this again",
			     *a->data_root ? a->data_root : "its data folder");
}
