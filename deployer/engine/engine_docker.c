/* SPDX-License-Identifier: MIT */
#include "deployer/engine/engine.h"

#include "core/str.h"

#include <string.h>

#define DOCKER "docker"
#define DOCKER_GPU_TOOLKIT \
	"install nvidia-container-toolkit, run 'nvidia-ctk runtime configure --runtime=docker' and 'systemctl restart docker'"

/* A line of `state`. One that waits for its next start counts as running for Docker. */
#define FIELD(name, value) "container_" name "={{" value "}}\n"
/* The same of a label, or nothing: a label that is not there would print as "<no value>". */
#define LABEL(name, label) \
	"container_" name "={{with index .Config.Labels \"org.ringup." label "\"}}{{.}}{{end}}\n"

/* The format of `state`: it reads the container's id, status, labels and image. */
/* clang-format off */
static const char STATE_FORMAT[] =
	FIELD("id", ".Id")
	FIELD("running", "if .State.Restarting}}false{{else}}{{.State.Running}}{{end")
	FIELD("status", ".State.Status")
	FIELD("exit", ".State.ExitCode")
	FIELD("restarts", ".HostConfig.RestartPolicy.Name")
	FIELD("image", ".Config.Image")
	FIELD("started", ".State.StartedAt")
	LABEL("config", "config")
	LABEL("settings", "settings")
	LABEL("owner_id", "cluster-id")
	LABEL("owner_user", "user")
	LABEL("owner_machine", "machine")
	LABEL("owner_folder", "folder")
	LABEL("owner_time", "time");
/* clang-format on */

static void docker_add_text(struct words *out, const char *option, const char *text)
{
	if (*text)
		words_add_all(out, WORDS(option, text));
}

static void docker_add_list(struct words *out, const char *option, const char *const *list)
{
	for (; *list; list++)
		words_add_all(out, WORDS(option, *list));
}

/*
 * "--gpus" takes one CSV word: all, or "device=0,1" in quotes of its own, with the driver
 * capabilities behind it. Source: docs.docker.com, "docker container run", --gpus; the quotes were
 * found by trying.
 */
static void docker_add_gpus(struct words *out, const struct container_wish *wish)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	if (!*wish->gpus)
		return;
	str_addf(&word, strcmp(wish->gpus, "all") == 0 ? "%s" : "\"device=%s\"", wish->gpus);
	for (size_t i = 0; wish->gpu_capabilities[i]; i++)
		str_addf(&word, "%s%s", i ? "," : ",\"capabilities=", wish->gpu_capabilities[i]);
	if (wish->gpu_capabilities[0])
		str_add_char(&word, '"');
	words_add_all(out, WORDS("--gpus", word.text));
}

/* Adds the options between "docker run" and the image. */
static void docker_add_options(struct words *out, const struct container_wish *wish)
{
	docker_add_text(out, "--name", wish->name);
	docker_add_text(out, "--network", wish->network);
	docker_add_text(out, "--ipc", wish->ipc);
	docker_add_text(out, "--shm-size", wish->shm_size);
	docker_add_list(out, "--label", wish->labels);
	for (const char *const *pair = wish->env; *pair; pair++)
		words_addf(out, "--env=%s", *pair);
	docker_add_list(out, "--volume", wish->volumes);
	docker_add_list(out, "--ulimit", wish->limits);
	if (wish->privileged)
		words_add(out, "--privileged");
	docker_add_list(out, "--device", wish->devices);
	if (wish->is_bound)
		words_add_all(out, WORDS("--cap-drop", "ALL"));
	docker_add_list(out, "--cap-add", wish->capabilities);
	if (wish->is_bound)
		words_add_all(out, WORDS("--security-opt", "no-new-privileges"));
	docker_add_gpus(out, wish);
	docker_add_text(out, "--entrypoint", wish->program);
}

static void docker_add_image(struct words *out, const struct container_wish *wish)
{
	words_add(out, wish->image);
	words_add_all(out, wish->arguments);
}

static void docker_run(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--detach"));
	if (wish->restarts)
		words_add_all(out, WORDS("--restart", "unless-stopped"));
	docker_add_options(out, wish);
	docker_add_image(out, wish);
}

static void docker_task(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--rm"));
	docker_add_options(out, wish);
	docker_add_image(out, wish);
}

static bool docker_is_name_taken(const struct error *err)
{
	return strstr(err->text, "is already in use by container");
}

static bool docker_is_image_missing(const struct error *err)
{
	return strstr(err->text, "Unable to find image");
}

/*
 * The registry's refusals, as Docker's client prints them. The one about HTTP is Go's net/http
 * (transport.go, "server gave HTTP response to HTTPS client"); insecure-registries:
 * docs.docker.com, "dockerd", Insecure registries.
 */
static void docker_explain_pull(const struct engine_attempt *a, struct error *err)
{
	if (strstr(err->text, "x509") || strstr(err->text, "certificate"))
		error_advise(
			err,
			"the host does not trust the registry %s; set registry.ca in cluster.yaml to the CA that signed its certificate",
			a->registry);
	else if (strstr(err->text, "server gave HTTP response"))
		error_advise(
			err,
			"the registry %s speaks plain HTTP, and 'insecure: true' is only for ringup itself: add \"%s\" to insecure-registries in /etc/docker/daemon.json of the host and restart Docker there, or let 'ringup registry serve' make one with TLS",
			a->registry, a->registry);
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

/*
 * The messages of containerd, runc and NVIDIA's hook. Sources: moby daemon/nvidia_linux.go ("could
 * not select device driver"); nvidia-container-cli's "unknown device" for an index or UUID that is
 * not there; the two limits were seen on machines that are containers themselves.
 */
static void docker_explain_run(struct error *err)
{
	if (strstr(err->text, "could not select device driver"))
		error_advise(err,
			     "NVIDIA's container toolkit is missing there: " DOCKER_GPU_TOOLKIT);
	else if (strstr(err->text, "nvidia-container-cli") && strstr(err->text, "unknown device"))
		error_advise(
			err,
			"the host has no such GPU ('nvidia-smi -L' lists them); correct 'gpus' of the host or container.gpus");
	else if (strstr(err->text, "error setting rlimit"))
		error_advise(
			err,
			"the host does not allow this limit: take it out of container.ulimits, or raise it for its Docker Engine");
	else if (strstr(err->text, "unable to apply caps"))
		error_advise(
			err,
			"the host does not allow these capabilities: is it a container itself?");
}

static void docker_explain(const struct engine_attempt *attempt, struct error *err)
{
	if (attempt->what == ENGINE_PULLS)
		docker_explain_pull(attempt, err);
	else
		docker_explain_run(err);
}

const struct engine engine_docker = {
	.name = "docker",
	.help = "Docker Engine 19.03 or newer",
	.rank = 10,
	.has_containers = true,
	.install = "on Debian and Ubuntu: apt-get install docker.io",
	.gpu_toolkit = DOCKER_GPU_TOOLKIT,
	.start = "systemctl start docker",
	.trust_folder = "/etc/docker/certs.d",
	.probe = (const char *const[]){DOCKER, "version", "--format", "{{.Server.Version}}", NULL},
	.data_root = (const char *const[]){DOCKER, "info", "--format", "{{.DockerRootDir}}", NULL},
	.state = (const char *const[]){DOCKER, "container", "inspect", "--format", STATE_FORMAT,
				       "@{container}", NULL},
	.outlive = (const char *const[]){"timeout", "0.6", DOCKER, "container", "wait",
					 "@{container}", NULL},
	.has_image = (const char *const[]){DOCKER, "image", "inspect", "--format", "{{.Id}}",
					   "@{image}", NULL},
	.pull = (const char *const[]){DOCKER, "--config", "@{config}", "pull", "--quiet",
				      "@{image}", NULL},
	.remove = (const char *const[]){DOCKER, "rm", "--force", "--volumes", "@{container}", NULL},
	.stop = (const char *const[]){DOCKER, "stop", "-t", "2", "@{container}", NULL},
	.rename = (const char *const[]){DOCKER, "rename", "@{container}", "@{name}", NULL},
	.resume = (const char *const[]){DOCKER, "start", "@{container}", NULL},
	.restart = (const char *const[]){DOCKER, "restart", "-t", "2", "@{container}", NULL},
	.keep = (const char *const[]){DOCKER, "update", "--restart", "unless-stopped",
				      "@{container}", NULL},
	.images = (const char *const[]){DOCKER, "image", "ls", "--quiet", "--no-trunc", "--filter",
					"reference=@{repository}", NULL},
	.remove_image = (const char *const[]){DOCKER, "image", "rm", "--force", "@{image}", NULL},
	.logs = (const char *const[]){DOCKER, "logs", "--tail", "@{tail}", "@{container}", NULL},
	.exec = (const char *const[]){DOCKER, "exec", "@{container}", NULL},
	.talk = (const char *const[]){DOCKER, "exec", "--interactive", "@{container}", NULL},
	.with_secret = (const char *const[]){"with-secret", NULL},
	.program_folder = "",
	.run = docker_run,
	.task = docker_task,
	.is_name_taken = docker_is_name_taken,
	.is_image_missing = docker_is_image_missing,
	.explain = docker_explain,
};
