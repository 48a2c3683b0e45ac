/* SPDX-License-Identifier: MIT */
#include "deployer/engine/engine.h"

/* Labels that say whose container it is and what it was made from; read back by `state`. */
static const char STATE_FORMAT[] =
	"container_id={{.Id}}\n"
	"container_running={{.State.Running}}\n"
	"container_exit={{.State.ExitCode}}\n"
	"container_config={{index .Config.Labels \"org.ringup.config\"}}\n"
	"container_image={{.Config.Image}}\n"
	"container_started={{.State.StartedAt}}";

#define DOCKER "docker"

/* It reads its files whoever owns them, and may listen on a port below 1024; nothing else. */
#define SERVER_OPTIONS                                                                      \
	"--network", "host", "--cap-drop", "ALL", "--cap-add", "DAC_OVERRIDE", "--cap-add", \
		"NET_BIND_SERVICE", "--security-opt", "no-new-privileges", "@options",      \
		"--entrypoint", "@{program}", "@{image}", "@arguments"

const struct engine engine_docker = {
	.name = "docker",
	.help = "Docker Engine 19.03 or newer",
	.has_containers = true,
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
	.run = (const char *const[]){DOCKER,
				     "run",
				     "--detach",
				     "--name",
				     "@{container}",
				     "--network",
				     "@{network}",
				     "--ipc",
				     "private",
				     "--shm-size",
				     "@{shm_size}",
				     "--label",
				     "org.ringup.cluster=@{cluster}",
				     "--label",
				     "org.ringup.config=@{config_hash}",
				     "--volume",
				     "@{ssh_folder}:/etc/ringup/ssh:ro",
				     "@options",
				     "@{image}",
				     NULL},
	.name_taken = "is already in use by container",
	.images = (const char *const[]){DOCKER, "image", "ls", "--quiet", "--no-trunc", "--filter",
					"reference=@{repository}", NULL},
	.remove = (const char *const[]){DOCKER, "rm", "--force", "--volumes", "@{container}", NULL},
	.remove_image = (const char *const[]){DOCKER, "image", "rm", "--force", "@{image}", NULL},
	.logs = (const char *const[]){DOCKER, "logs", "--tail", "@{tail}", "@{container}", NULL},
	.exec = (const char *const[]){DOCKER, "exec", "@{container}", NULL},
	.serve = (const char *const[]){DOCKER, "run", "--detach", "--restart", "unless-stopped",
				       "--name", "@{container}", "--label",
				       "org.ringup.config=@{label}", SERVER_OPTIONS, NULL},
	.task = (const char *const[]){DOCKER, "run", "--rm", SERVER_OPTIONS, NULL},
};
