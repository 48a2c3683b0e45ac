/* SPDX-License-Identifier: MIT */
#include "cli/app/place_docker.h"

#include "core/file.h"
#include "core/proc.h"
#include "oci/archive/archive.h"
#include "oci/archive/export.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define CLIENT_TIMEOUT_S 7200
#define INSPECT_TIMEOUT_S 30

/* The daemon's client at one end of a pipe, the archive's reader or writer at the other. */
struct client {
	struct proc proc;
	int fd; /* its end */
	int rc;
	struct error err;
};

static void *run_client(void *arg)
{
	struct client *client = arg;
	_cleanup_(proc_result_release) struct proc_result result = {0};

	client->rc = proc_run(&client->proc, &result, &client->err);
	if (client->rc == 0 && result.status != 0)
		client->rc = proc_failed(&client->proc, &result, &client->err);
	fd_close(&client->fd);
	return NULL;
}

static int start_client(struct client *client, bool it_writes, pthread_t *thread, int *our_end,
			struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	client->fd = ends[it_writes];
	*our_end = ends[!it_writes];
	client->proc.timeout_s = CLIENT_TIMEOUT_S;
	if (it_writes)
		client->proc.output_fd = client->fd;
	else
		client->proc.input_fd = client->fd;
	if (pthread_create(thread, NULL, run_client, client) == 0)
		return 0;
	fd_close(&ends[0]);
	fd_close(&ends[1]);
	return error_set(err, ERROR_FAILED, "cannot start a thread");
}

/* What the client says goes before what its broken pipe made us say. */
static int end_client(struct client *client, pthread_t thread, const char *name, int rc,
		      struct error *err)
{
	pthread_join(thread, NULL);
	if (client->rc < 0 && (rc == 0 || err->kind != ERROR_INTERRUPTED)) {
		*err = client->err;
		return err->kind == ERROR_INTERRUPTED
			       ? -1
			       : error_wrap(err, "docker-daemon:%s", name ? name : "");
	}
	return rc;
}

int docker_save(const char *name, const char *layout, const struct archive_options *options,
		struct arena *arena, struct descriptor *manifest, struct error *err)
{
	struct client client = {.proc = {.words = WORDS("docker", "image", "save", "--", name)}};
	pthread_t thread;
	int fd, rc;

	if (start_client(&client, true, &thread, &fd, err) < 0)
		return -1;
	rc = archive_import(fd, layout, options, arena, manifest, err);
	fd_close(&fd);
	return end_client(&client, thread, name, rc, err);
}

const char *docker_image_id(const char *name, struct arena *arena)
{
	const struct proc proc = {
		.words = WORDS("docker", "image", "inspect", "--format", "{{.Id}}", "--", name),
		.timeout_s = INSPECT_TIMEOUT_S};
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};

	if (proc_run(&proc, &result, &ignored) < 0 || result.status != 0)
		return "";
	return arena_strndup(arena, result.out.text, strcspn(result.out.text, "\n"));
}

int docker_load(const char *layout, const struct descriptor *manifest, const char *name,
		struct error *err)
{
	struct client client = {.proc = {.words = WORDS("docker", "image", "load", "--quiet")}};
	pthread_t thread;
	int fd, rc;

	if (start_client(&client, false, &thread, &fd, err) < 0)
		return -1;
	rc = archive_export(layout, manifest, name, fd, err);
	fd_close(&fd);
	return end_client(&client, thread, name, rc, err);
}
