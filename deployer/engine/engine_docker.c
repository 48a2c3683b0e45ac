/* SPDX-License-Identifier: MIT */
#include "deployer/engine/command_line.h"

#include "core/str.h"

#include <string.h>

#define DOCKER "docker"
#define DOCKER_GPU_TOOLKIT \
	"install nvidia-container-toolkit, run 'nvidia-ctk runtime configure --runtime=docker' and 'systemctl restart docker'"

/* Source: docs.docker.com, "dockerd", Insecure registries. */
#define DOCKER_INSECURE \
	"add it to insecure-registries in /etc/docker/daemon.json of the host and restart Docker there"

/* The format of `state`: it reads the container's id, status, labels and image. */
static const char STATE_FORMAT[] =
	COMMAND_LINE_STATE COMMAND_LINE_FIELD("restarts", ".HostConfig.RestartPolicy.Name")
		COMMAND_LINE_FIELD("started", ".State.StartedAt");

/*
 * "--gpus" takes one CSV word: all, or "device=0,1" in quotes of its own, with the driver
 * capabilities behind it. Source: docs.docker.com, "docker container run", --gpus; the quotes were
 * found by trying.
 */
static void docker_add_gpus(const struct container_wish *wish, struct words *out)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	str_addf(&word, strcmp(wish->gpus, "all") == 0 ? "%s" : "\"device=%s\"", wish->gpus);
	for (size_t i = 0; wish->gpu_capabilities[i]; i++)
		str_addf(&word, "%s%s", i ? "," : ",\"capabilities=", wish->gpu_capabilities[i]);
	if (wish->gpu_capabilities[0])
		str_add_char(&word, '"');
	words_add_all(out, WORDS("--gpus", word.text));
}

static void docker_run(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--detach"));
	if (wish->restarts)
		words_add_all(out, WORDS("--restart", "unless-stopped"));
	command_line_options(wish, docker_add_gpus, out);
	command_line_image(wish, out);
}

static void docker_task(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--rm"));
	command_line_options(wish, docker_add_gpus, out);
	command_line_image(wish, out);
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
		command_line_explain_pull(attempt, DOCKER_INSECURE, err);
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
	.settings = "/etc/docker/daemon.json",
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
