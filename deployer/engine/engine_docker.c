/* SPDX-License-Identifier: MIT */
#include "deployer/engine/command_line.h"

#include "core/str.h"

#include <stdlib.h>
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
 * The daemon's containerd starts containers. What an old Docker does not know of stands last: its template ends there.
 */
static const char DOCKER_ABILITIES[] =
	"process=$(pidof containerd || pidof dockerd) && echo \"engine_process=${process##* }\"\n"
	"exec docker info --format '" COMMAND_LINE_ABILITY(
		"data_root",
		"{{.DockerRootDir}}") COMMAND_LINE_ABILITY("can_security",
							   "{{range .SecurityOptions}}{{.}};{{end}}")
		COMMAND_LINE_ABILITY("can_runtimes",
				     "{{range $name, $runtime := .Runtimes}}{{$name}};{{end}}")
			COMMAND_LINE_ABILITY(
				"can_controllers",
				"{{if .MemoryLimit}}memory;{{end}}{{if .CPUCfsQuota}}cpu;{{end}}{{if .PidsLimit}}pids;{{end}}") "'\n";

/*
 * "--gpus" takes one CSV word: all, or "device=0,1" in quotes of its own, with the driver
 * capabilities behind it. Source: docs.docker.com, "docker container run", --gpus; the quotes were
 * found by trying.
 */
static void docker_add_gpus_flag(const struct container_wish *wish, struct words *out)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	str_addf(&word, strcmp(wish->gpus, "all") == 0 ? "%s" : "\"device=%s\"", wish->gpus);
	for (size_t i = 0; wish->gpu_capabilities[i]; i++)
		str_addf(&word, "%s%s", i ? "," : ",\"capabilities=", wish->gpu_capabilities[i]);
	if (wish->gpu_capabilities[0])
		str_add_char(&word, '"');
	words_add_all(out, WORDS("--gpus", word.text));
}

/*
 * A host with NVIDIA's runtime and no hook: nvidia-docker2 of old, and Tegra. Source: docs.nvidia.com, "Container Toolkit",
 * Docker specialized configurations.
 */
static void docker_add_gpus_runtime(const struct container_wish *wish, struct words *out)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (size_t i = 0; wish->gpu_capabilities[i]; i++)
		str_addf(&list, "%s%s", i ? "," : "", wish->gpu_capabilities[i]);
	words_add_all(out, WORDS("--runtime", "nvidia"));
	words_addf(out, "--env=NVIDIA_VISIBLE_DEVICES=%s", wish->gpus);
	if (list.length)
		words_addf(out, "--env=NVIDIA_DRIVER_CAPABILITIES=%s", list.text);
}

/* --gpus came with 19.03, and CDI names without a setting of the daemon with 28.3. Source: docs.docker.com, release notes. */
static void docker_add_gpus(const struct container_wish *wish, struct words *out)
{
	const struct abilities *can = wish->can;
	double version = strtod(can->version, NULL);
	bool is_old = *can->version && version < 19.03;

	if (list_has(can->runtimes, "nvidia", strlen("nvidia")) && (is_old || !can->has_gpu_hook))
		docker_add_gpus_runtime(wish, out);
	else if (can->has_cdi && !can->has_gpu_hook && version >= 28)
		command_line_add_cdi(wish, out);
	else
		docker_add_gpus_flag(wish, out);
}

/* SELinux would keep the container from the files of the host that it has; as with Podman it has no label. */
static void docker_add_options(const struct container_wish *wish, struct words *out)
{
	if (wish->can->has_selinux)
		words_add_all(out, WORDS("--security-opt", "label=disable"));
	command_line_options(wish, docker_add_gpus, out);
	command_line_image(wish, out);
}

static void docker_run(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--detach"));
	if (wish->restarts)
		words_add_all(out, WORDS("--restart", "unless-stopped"));
	docker_add_options(wish, out);
}

static void docker_task(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(DOCKER, "run", "--rm"));
	docker_add_options(wish, out);
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
	.permit = "sudo usermod -aG docker USER, then log in anew",
	.settings = "/etc/docker/daemon.json",
	.trust_folder = "/etc/docker/certs.d",
	.probe = (const char *const[]){DOCKER, "version", "--format", "{{.Server.Version}}", NULL},
	.abilities = (const char *const[]){"sh", "-c", DOCKER_ABILITIES, NULL},
	.state = (const char *const[]){DOCKER, "container", "inspect", "--format", STATE_FORMAT,
				       "@{container}", NULL},
	.outlive = (const char *const[]){"timeout", "0.6", DOCKER, "container", "wait",
					 "@{container}", NULL},
	.has_image = (const char *const[]){DOCKER, "image", "inspect", "--format", "{{.Id}}",
					   "@{image}", NULL},
	.pull = (const char *const[]){DOCKER, "--config", "@{config}", "pull", "--quiet",
				      "@{image}", NULL},
	.load = (const char *const[]){DOCKER, "load", "--quiet", NULL},
	.remove = (const char *const[]){DOCKER, "rm", "--force", "--volumes", "@{container}", NULL},
	.stop = (const char *const[]){DOCKER, "stop", "-t", "2", "@{container}", NULL},
	.rename = (const char *const[]){DOCKER, "rename", "@{container}", "@{name}", NULL},
	.resume = (const char *const[]){DOCKER, "start", "@{container}", NULL},
	.restart = (const char *const[]){DOCKER, "restart", "-t", "2", "@{container}", NULL},
	.keep = (const char *const[]){DOCKER, "update", "--restart", "unless-stopped",
				      "@{container}", NULL},
	.images = (const char *const[]){DOCKER, "image", "ls", "--no-trunc", "--digests",
					"--format", "{{.ID}} {{.Digest}} {{.Tag}}", "--filter",
					"reference=@{repository}", NULL},
	.remove_image = (const char *const[]){DOCKER, "image", "rm", "--force", "@{image}", NULL},
	.prune_image = (const char *const[]){DOCKER, "image", "rm", "@{image}", NULL},
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
