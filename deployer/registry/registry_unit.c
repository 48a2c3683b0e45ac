/* SPDX-License-Identifier: MIT */
/*
 * The systemd unit of the registry. It has a fixed user and not DynamicUser. The images may lie on
 * any disk (--storage) and must belong to the same user after each start. DynamicUser would move
 * them under /var/lib/private or change the owner of all of them. Sources: systemd.exec(5),
 * systemd.service(5).
 */
#include "deployer/registry/registry_unit.h"

#include "deployer/registry/registry_host.h"

#include <string.h>

#define PORT_PRIVILEGED 1024

static const char FORMAT[] =
	"# Written by 'ringup registry serve'; 'ringup registry stop' disables it.\n"
	"[Unit]\n"
	"Description=Container registry of ringup, port %d\n"
	"Wants=network-online.target\n"
	"After=network-online.target\n"
	"RequiresMountsFor=%s\n"
	"StartLimitIntervalSec=0\n" /* a mirror cannot start while the other is down */
	"\n"
	"[Service]\n"
	"User=ringup-registry\n"
	"Group=ringup-registry\n"
	"WorkingDirectory=%s\n"
	"ExecStart=%s serve %s/config.yml\n"
	"%sRestart=on-failure\n"
	"RestartSec=5\n"
	"UMask=0077\n"
	"LimitNOFILE=65536\n"
	"ProtectSystem=strict\n"
	"ReadWritePaths=%s\n"
	"ProtectHome=read-only\n"
	"PrivateDevices=yes\n"
	"ProtectHostname=yes\n"
	"ProtectClock=yes\n"
	"ProtectKernelTunables=yes\n"
	"ProtectKernelModules=yes\n"
	"ProtectKernelLogs=yes\n"
	"ProtectControlGroups=yes\n"
	"ProtectProc=invisible\n"
	"RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK\n"
	"RestrictNamespaces=yes\n"
	"RestrictRealtime=yes\n"
	"RestrictSUIDSGID=yes\n"
	"LockPersonality=yes\n"
	"MemoryDenyWriteExecute=yes\n"
	"NoNewPrivileges=yes\n"
	"SystemCallArchitectures=native\n"
	"SystemCallFilter=@system-service\n"
	"CapabilityBoundingSet=%s\n"
	"AmbientCapabilities=%s\n"
	"\n"
	"[Install]\n"
	"WantedBy=multi-user.target\n";

/* Other characters have a meaning in a unit: '%' is a specifier, and a space ends a word. */
static int registry_unit_check_path(const char *path, struct error *err)
{
	if (path[0] == '/' &&
	    !path[strspn(path,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-")])
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"a systemd unit cannot hold the path '%s'; take one of letters, digits and /._+-, or run it with --as process",
		path);
}

int registry_unit(const struct registry_host *host, const char *program, struct arena *arena,
		  const char **text, struct error *err)
{
	const char *capability = host->port < PORT_PRIVILEGED ? "CAP_NET_BIND_SERVICE" : "";
	const char *environment = host->has_mirror_ca
					  ? arena_printf(arena, "Environment=SSL_CERT_FILE=%s/%s\n",
							 host->home, REGISTRY_MIRROR_CA)
					  : "";

	if (registry_unit_check_path(host->home, err) < 0 ||
	    registry_unit_check_path(host->storage, err) < 0 ||
	    registry_unit_check_path(program, err) < 0)
		return -1;
	*text = arena_printf(arena, FORMAT, host->port, host->storage, host->home, program,
			     host->home, environment, host->storage, capability, capability);
	return 0;
}
