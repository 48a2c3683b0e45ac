/* SPDX-License-Identifier: MIT */
/*
 * Podman 4 and newer, as root or as a user ("rootless"). It has no daemon: nothing starts containers after a boot but
 * systemd, so `keep` writes a unit for the container and `state` tells of it. Where systemd does not run, a container
 * is started again after a failure only. A user's systemd ends with the last login, unless the user may linger.
 */
#include "deployer/engine/command_line.h"

#include "core/str.h"

#include <string.h>

#define PODMAN "podman"
#define PODMAN_GPU_TOOLKIT \
	"install nvidia-container-toolkit and run 'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml'"

/* Source: containers-registries.conf(5). */
#define PODMAN_INSECURE \
	"name it in /etc/containers/registries.conf of the host, [[registry]] with location and insecure = true"

/* `podman start` after a boot, by systemd. Of a user: as long as the user may linger. $1 is the container. */
#define PODMAN_UNIT                                                            \
	"unit=container-$1.service\n"                                          \
	"if [ \"$(id -u)\" = 0 ]; then\n"                                      \
	"	folder=/etc/systemd/system running=/run/systemd/system user=''\n"    \
	"else\n"                                                               \
	"	folder=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user user=--user\n" \
	"	export XDG_RUNTIME_DIR=\"${XDG_RUNTIME_DIR:-/run/user/$(id -u)}\"\n" \
	"	running=$XDG_RUNTIME_DIR/systemd\n"                                  \
	"fi\n"

/* Where systemd does not run, nothing is lacking that could be added. $2 is the format. */
static const char PODMAN_STATE[] = PODMAN_UNIT
	"podman container inspect --format \"$2\" \"$1\" || exit\n"
	"[ -d \"$running\" ] && [ ! -e \"$folder/$unit\" ] || echo container_restarts=always\n";

static const char PODMAN_KEEP[] = PODMAN_UNIT
	"[ -d \"$running\" ] || exit 0\n"
	"mkdir -p \"$folder\" || exit\n"
	"printf '%s\\n' '[Unit]' \"Description=container $1 of ringup\" 'Wants=network-online.target' \\\n"
	"	'After=network-online.target' '' '[Service]' 'Type=oneshot' 'RemainAfterExit=yes' \\\n"
	"	\"ExecStart=$(command -v podman) start $1\" '' '[Install]' \\\n"
	"	\"WantedBy=$([ -z \"$user\" ] && echo multi-user || echo default).target\" >\"$folder/$unit\" || exit\n"
	"systemctl $user daemon-reload && systemctl $user --quiet enable \"$unit\" || exit\n"
	"me=$(id -un)\n"
	"[ -z \"$user\" ] || [ -e \"/var/lib/systemd/linger/$me\" ] || loginctl enable-linger 2>/dev/null ||\n"
	"	echo \"note=the container ends with the last login of $me there, and does not come back after a boot: let root run 'loginctl enable-linger $me' there\"\n";

static const char PODMAN_REMOVE[] =
	PODMAN_UNIT "if [ -e \"$folder/$unit\" ]; then\n"
		    "	[ ! -d \"$running\" ] || systemctl $user --quiet disable \"$unit\"\n"
		    "	rm -f \"$folder/$unit\"\n"
		    "	[ ! -d \"$running\" ] || systemctl $user daemon-reload\n"
		    "fi\n"
		    "exec podman rm --force --time 2 --volumes \"$1\"\n";

/*
 * Podman starts containers itself, so the limits are those of the login. The CA of a registry is a file of the user where
 * Podman has no root. Sources: podman-info(1), containers-certs.d(5).
 */
static const char PODMAN_ABILITIES[] =
	"[ \"$(id -u)\" = 0 ] || echo \"can_trust_folder=${XDG_CONFIG_HOME:-$HOME/.config}/containers/certs.d\"\n"
	"exec podman info --format '" COMMAND_LINE_ABILITY("data_root", "{{.Store.GraphRoot}}")
		COMMAND_LINE_ABILITY(
			"can_security",
			"{{if .Host.Security.Rootless}}name=rootless;{{end}}{{if .Host.Security.SELinuxEnabled}}name=selinux;{{end}}")
			COMMAND_LINE_ABILITY("can_runtimes", "{{.Host.OCIRuntime.Name}}")
				COMMAND_LINE_ABILITY(
					"can_controllers",
					"{{range .Host.CgroupControllers}}{{.}};{{end}}") "'\n";

/* $1 is the folder with the login, which may have none; $2 is the image. */
static const char PODMAN_PULL[] =
	"if [ -e \"$1/config.json\" ]; then\n"
	"	exec podman pull --quiet --authfile \"$1/config.json\" \"$2\"\n"
	"fi\n"
	"exec podman pull --quiet \"$2\"\n";

/* Podman prints a time as Go does; the format is RFC 3339, as Docker's. */
static const char PODMAN_FORMAT[] = COMMAND_LINE_STATE COMMAND_LINE_FIELD(
	"started", ".State.StartedAt.Format \"2006-01-02T15:04:05.999999999Z07:00\"");

/*
 * The files of the user are not given SELinux labels, which would keep other programs of the host from them; the
 * container has no label instead, as NVIDIA advises for its GPUs.
 */
static void podman_add_options(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS("--security-opt", "label=disable"));
	/* Podman's own default is 2048 processes and threads (podman-run(1), --pids-limit) */
	if (wish->can->knows_controllers && abilities_control(wish->can, "pids"))
		words_add_all(out, WORDS("--pids-limit", "-1"));
	command_line_options(wish, command_line_add_cdi, out);
	command_line_image(wish, out);
}

static void podman_run(const struct container_wish *wish, struct words *out)
{
	/* a restart policy is fixed when a container is made, before Podman 5 */
	words_add_all(out,
		      WORDS(PODMAN, "run", "--detach", "--pull", "never", "--restart", "always"));
	podman_add_options(wish, out);
}

static void podman_task(const struct container_wish *wish, struct words *out)
{
	words_add_all(out, WORDS(PODMAN, "run", "--rm"));
	podman_add_options(wish, out);
}

static bool podman_is_name_taken(const struct error *err)
{
	return strstr(err->text, "is already in use by");
}

static bool podman_is_image_missing(const struct error *err)
{
	return strstr(err->text, "image not known") || strstr(err->text, "manifest unknown");
}

/* The messages of Podman 4.3 with runc 1.1, and of containers/common for devices. */
static void podman_explain(const struct engine_attempt *attempt, struct error *err)
{
	if (attempt->what == ENGINE_PULLS)
		command_line_explain_pull(attempt, PODMAN_INSECURE, err);
	else if (strstr(err->text, "unresolvable CDI devices nvidia.com/gpu"))
		error_advise(err,
			     "the host's CDI specification has no such GPU: " PODMAN_GPU_TOOLKIT
			     ", and correct 'gpus' of the host or container.gpus");
	else if (strstr(err->text, "error setting rlimit"))
		error_advise(
			err,
			"the host does not allow this limit: take it out of container.ulimits, or set default_ulimits in /etc/containers/containers.conf of the host to what it allows");
	else if (strstr(err->text, "unable to apply caps"))
		error_advise(
			err,
			"the host does not allow these capabilities: is it a container itself?");
}

const struct engine engine_podman = {
	.name = "podman",
	.help = "Podman 4 or newer",
	.rank = 20,
	.has_containers = true,
	.install = "on Debian, Ubuntu and Fedora's kind: install the package podman",
	.gpu_toolkit = PODMAN_GPU_TOOLKIT,
	.needs_cdi = true,
	.start = "podman system migrate",
	.trust_folder = "/etc/containers/certs.d",
	.probe = (const char *const[]){PODMAN, "version", "--format", "{{.Client.Version}}", NULL},
	.abilities = (const char *const[]){"sh", "-c", PODMAN_ABILITIES, NULL},
	.state = (const char *const[]){"sh", "-c", PODMAN_STATE, "state", "@{container}",
				       PODMAN_FORMAT, NULL},
	.outlive = (const char *const[]){"timeout", "0.6", PODMAN, "container", "wait",
					 "@{container}", NULL},
	.has_image = (const char *const[]){PODMAN, "image", "inspect", "--format", "{{.Id}}",
					   "@{image}", NULL},
	.pull = (const char *const[]){"sh", "-c", PODMAN_PULL, "pull", "@{config}", "@{image}",
				      NULL},
	.load = (const char *const[]){PODMAN, "load", "--quiet", NULL},
	.remove = (const char *const[]){"sh", "-c", PODMAN_REMOVE, "remove", "@{container}", NULL},
	.stop = (const char *const[]){PODMAN, "stop", "-t", "2", "@{container}", NULL},
	.rename = (const char *const[]){PODMAN, "rename", "@{container}", "@{name}", NULL},
	.resume = (const char *const[]){PODMAN, "start", "@{container}", NULL},
	.restart = (const char *const[]){PODMAN, "restart", "-t", "2", "@{container}", NULL},
	.keep = (const char *const[]){"sh", "-c", PODMAN_KEEP, "keep", "@{container}", NULL},
	.images = (const char *const[]){PODMAN, "image", "ls", "--no-trunc", "--digests",
					"--format", "{{.ID}} {{.Digest}} {{.Tag}}", "--filter",
					"reference=@{repository}", NULL},
	/* --force would remove the containers that use it, too */
	.remove_image = (const char *const[]){PODMAN, "image", "rm", "@{image}", NULL},
	.prune_image = (const char *const[]){PODMAN, "image", "rm", "@{image}", NULL},
	.logs = (const char *const[]){PODMAN, "logs", "--tail", "@{tail}", "@{container}", NULL},
	.exec = (const char *const[]){PODMAN, "exec", "@{container}", NULL},
	.talk = (const char *const[]){PODMAN, "exec", "--interactive", "@{container}", NULL},
	.with_secret = (const char *const[]){"with-secret", NULL},
	.program_folder = "",
	.run = podman_run,
	.task = podman_task,
	.is_name_taken = podman_is_name_taken,
	.is_image_missing = podman_is_image_missing,
	.explain = podman_explain,
};
