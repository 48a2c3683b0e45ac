#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup setup: the plan of hosts, what it asks before it changes anything, and what it does to Docker Engine. No package is
# installed here.

load helper
load fleet_hosts
setup() {
	common_setup
	fleet_setup
}

# gpu SLOT DEVICE: the PCI bus of all hosts has a GPU with this number.
gpu() {
	mkdir -p "sys/bus/pci/devices/$1"
	echo 0x10de >"sys/bus/pci/devices/$1/vendor"
	echo 0x030200 >"sys/bus/pci/devices/$1/class"
	echo "$2" >"sys/bus/pci/devices/$1/device"
	export RINGUP_SYS=$PWD/sys
}

# on_system OS: all hosts are of it, as their /etc/os-release says, and root is the folder root.
on_system() {
	export RINGUP_ROOT=$PWD/root
	mkdir -p root/etc root/proc
	cp /proc/meminfo root/proc/meminfo
	echo "$1" >root/etc/os-release
}

@test "the plan: steps with their commands, the hosts folded, nothing changed" {
	local n
	on_system "$(printf 'ID=debian\nVERSION_ID=12')"
	mkdir -p root/etc/docker
	for n in 1 2 3; do on_host "$n" pidof 'exit 1'; done # the machine's own dockerd is none of theirs
	apart ringup setup --dry-run --skip limits --skip time
	says 0
	[ "$(cat ../out)" = "$(printf 'node0%d: adds to /etc/docker/daemon.json: log-driver, log-opts\n' 1 2 3)" ]
	[ -z "$(ls root/etc/docker)" ]
	apart ringup setup --dry-run --skip daemon --skip limits --skip time
	says 0
	grep -qx 'every host has all that it needs' ../out
	apart ringup --json setup --dry-run --skip daemon --skip limits --skip time
	json 'd["steps"] == [] and d["daemon_json"] == []'
}

@test "without a terminal and without --yes nothing is done" {
	local n
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	on_system "$(printf 'ID=debian\nVERSION_ID=12')"
	gpu 0000:17:00.0 0x1db1
	for n in 1 2 3; do
		on_host "$n" id 'case $1 in -u) echo 0 ;; *) exec /usr/bin/id "$@" ;; esac'
		on_host "$n" apt-get "touch $PWD/ran"
		on_host "$n" curl "touch $PWD/ran"
	done
	apart ringup setup --skip daemon --skip limits --driver 535.183.01
	says 2 'add --yes to do it'
	[ ! -e ran ]
}

@test "a driver: the reboot is named, and its version is a version" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	on_system "$(printf 'ID=debian\nVERSION_ID=12')"
	gpu 0000:17:00.0 0x1db1
	apart ringup setup --dry-run --driver 535.183.01 --skip daemon
	says 0
	grep -q '^node\[01-03\]: installs the driver of the repository of NVIDIA and holds its version with the proprietary kernel module; counts after a REBOOT$' ../out
	grep -q '^    set -- 535.183.01; .*"cuda-drivers=$1\*"' ../out
	grep -q "^    setup_repository.sh nvidia packages developer.download.nvidia.com/compute/cuda/repos/debian12/.* EB693B3035CD5710E231E123A4B469963BF863CC ''$" ../out
	grep -q "^node\[01-03\]: installs NVIDIA's container toolkit" ../out
	# Blackwell needs the open module, also beside a GPU that both are for
	gpu 0000:17:00.0 0x2901
	gpu 0000:18:00.0 0x20b2
	apart ringup setup --dry-run --driver 535.183.01 --skip daemon
	says 0
	grep -q 'with the open kernel module; counts after a REBOOT$' ../out
}

@test "options are judged before a host is asked" {
	local wrong
	printf 'hosts: [{name: down, address: 127.0.0.1, port: 1}]\n' >cluster.yaml
	for wrong in "--driver|1; reboot|is no version" "--driver|banana|is no version" "--skip|motor|is no part" \
		"--mirror|mirror:5000|is no address of a mirror" "--mirror|https://|is no address of a mirror" \
		"--mirror|https://mirror/path|without a path" "--insecure-registry|http://registry:5000|is no HOST[:PORT]" \
		"--insecure-registry||is no HOST[:PORT]" "--data-root|data|does not begin with '/'"; do
		IFS='|' read -r option value text <<<"$wrong"
		apart ringup setup --dry-run "$option" "$value"
		says 2 "$option '$value'" "$text"
	done
	apart ringup setup --dry-run --mirror https://mirror:5000/ --insecure-registry 10.0.0.0/8 --skip engine
	says 1 'connection refused'
}

@test "a system without a package of the driver: it is said" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	on_system "$(printf 'ID=debian\nVERSION_ID=9')"
	gpu 0000:17:00.0 0x1db1
	apart ringup setup --dry-run --driver 470.82.01 --skip daemon
	says 0 'node01: no package of driver 470.82.01 is known for debian9 and its GPUs'
}

@test "the registry's CA: the command as it is shown has its registry in it" {
	echo ca >ca.crt
	sed -i 's/^registry:.*/registry: {address: "reg.lan:5000", ca: ca.crt}/' cluster.yaml
	apart ringup setup --dry-run --skip daemon --skip limits --skip time
	says 0
	grep -q "^    set -- '' reg.lan:5000; for folder in /etc/docker/certs.d" ../out
	# one that 'registry serve' makes later holds up nothing
	rm ca.crt
	apart ringup setup --dry-run --skip daemon --skip limits --skip time
	says 0 'registry.ca: ' "ca.crt is not there yet, and is left out: 'ringup registry serve' makes it"
	grep -qx 'every host has all that it needs' ../out
}

# docker_host TEXT: node01 has Docker Engine with this daemon.json and a dockerd that runs, both of this test alone.
docker_host() {
	export RINGUP_ROOT=$PWD/root
	mkdir -p root/etc/docker
	printf '%s\n' "$1" >root/etc/docker/daemon.json
	on_host 1 pidof '[ "$1" != dockerd ] || cat "$HOST_FOLDER/dockerd.pid" 2>/dev/null'
	on_host 1 docker 'case "$1 $2" in
		"version "*) echo 24.0.7 ;;
		"ps -q") cat "$HOST_FOLDER/containers" 2>/dev/null || true ;;
		"info --format") echo "${3#*LiveRestore}" | grep -q Enabled && echo false ;;
		*) exit 1 ;;
	esac'
	on_host 1 systemctl 'echo "$*" >>"$HOST_FOLDER/systemctl"
		case "$*" in "is-active --quiet docker") exit 0 ;; "reload docker" | "restart docker") exit 0 ;; esac; exit 1'
	on_host 1 id 'case $1 in -u) echo 0 ;; *) exec /usr/bin/id "$@" ;; esac'
	echo $$ >hosts/127.0.0.1/dockerd.pid
}

daemon_only='--skip engine --skip toolkit --skip driver --skip fabric --skip time --skip limits --skip registry'

@test "log limits go to a log driver that knows them only: dockerd would not start" {
	docker_host '{"log-driver":"journald","log-opts":{"tag":"x"}}'
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify $daemon_only
	says 0 'keeps its own log-driver'
	grep -qx 'every host has all that it needs' ../out
	[ "$(cat root/etc/docker/daemon.json)" = '{"log-driver":"journald","log-opts":{"tag":"x"}}' ]
}

@test "a flag of dockerd does not become a key of daemon.json too" {
	docker_host '{}'
	sh -c 'read -r _' dockerd --log-driver=json-file --log-opt max-size=1m --graph /srv <> <(:) &
	echo $! >hosts/127.0.0.1/dockerd.pid
	# shellcheck disable=SC2086
	apart ringup setup node01 --dry-run --data-root /data $daemon_only
	kill $!
	says 0 'keeps its own log-driver, log-opts, data-root'
	grep -qx 'every host has all that it needs' ../out
}

@test "Docker Engine takes over what it can by a reload, and restarts where no container runs" {
	docker_host '{"log-driver":"local","log-opts":{"max-size":"1m","max-file":"2"}}'
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify --mirror http://mirror:5000 $daemon_only
	says 0
	grep -qx 'node01: at the end: systemctl reload docker' ../out
	grep -qx 'reload docker' hosts/127.0.0.1/systemctl
	grep -q 'mirror:5000' root/etc/docker/daemon.json
	[ -e root/etc/docker/daemon.json.before-ringup ]
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify --mirror http://mirror:5000 --data-root /data $daemon_only
	says 0
	grep -qx 'node01: at the end: systemctl restart docker (no container runs there)' ../out
	grep -qx 'restart docker' hosts/127.0.0.1/systemctl
}

@test "containers that run are not stopped: what waits for the restart is said before and after" {
	docker_host '{}'
	printf 'c1\nc2\n' >hosts/127.0.0.1/containers
	# shellcheck disable=SC2086
	apart ringup --json setup node01 --dry-run --mirror http://mirror:5000 $daemon_only
	json 'd["engine"] == [{"host": "node01", "after": "wait", "command": "systemctl restart docker", "why": "containers run there: 2, and it would stop them", "reloads": ["registry-mirrors"], "restarts": ["log-driver", "log-opts"]}]'
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify --mirror http://mirror:5000 $daemon_only
	says 0 'log-driver, log-opts: not in force before: systemctl restart docker (containers run there: 2'
	grep -qx 'node01: at the end: systemctl reload docker (registry-mirrors)' ../out
	grep -q 'not in force at the end: log-driver, log-opts: waits for: systemctl restart docker' ../out
	grep -qx 'reload docker' hosts/127.0.0.1/systemctl
	! grep 'restart docker' hosts/127.0.0.1/systemctl
}

@test "a daemon.json that dockerd refuses does not take the place of the old one" {
	docker_host '{"x":1}'
	on_host 1 dockerd 'case "$1" in
		--help) echo "      --validate   Validate daemon configuration and exit" ;;
		--validate) grep -q max-size "$3" && echo "unable to configure the Docker daemon: it is Thursday" >&2 && exit 1 ;;
	esac'
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify $daemon_only
	says 1 'daemon.json stays as it is, because dockerd refuses the new one' 'it is Thursday'
	[ "$(cat root/etc/docker/daemon.json)" = '{"x":1}' ]
	[ ! -e root/etc/docker/daemon.json.ringup-new ]
	! grep 'restart docker\|reload docker' hosts/127.0.0.1/systemctl
}

@test "a host where we are not root: said before anything is asked or done" {
	docker_host '{}'
	on_host 1 id 'case $1 in -u) echo 1000 ;; -un) echo ops ;; *) exec /usr/bin/id "$@" ;; esac'
	on_host 1 sudo 'exit 1'
	# shellcheck disable=SC2086
	apart ringup setup node01 --yes --no-verify $daemon_only
	says 1 'node01: user ops is not root there, and sudo without a password does not work'
	! grep 'adds to' ../out
	[ "$(cat root/etc/docker/daemon.json)" = '{}' ]
	on_host 1 sudo 'exit 0'
	# shellcheck disable=SC2086
	apart ringup setup node01 --dry-run $daemon_only
	says 0 'user ops is not root there, and can become it by sudo: set sudo: true'
	grep -q 'node01: adds to /etc/docker/daemon.json' ../out
}
