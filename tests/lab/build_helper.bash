# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the tests that build images: a folder and a cache of their own, the machine's archives, ways to look
# into an image with other tools than ringup, and the proof that nothing of a build is left.

bats_require_minimum_version 1.5.0
# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"
# shellcheck source=tests/lab/seed.bash
source "$BATS_TEST_DIRNAME/../lab/seed.bash"

# build_folder: the folder ($WORK), the repository ($REPO), and a cache of the file's own.
build_folder() {
	WORK=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/ringup-build-test.XXXXXX")")
	REPO=$(realpath "$BATS_TEST_DIRNAME/../..")
	OLD_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}
	RUN=/run/$(basename "$WORK")
	BUILD=$(cd "$REPO" && realpath "${BUILD:-build}")
	export WORK REPO RUN BUILD OLD_CACHE XDG_CACHE_HOME=$WORK/cache
	cd "$WORK" || return
}

# storage_up: Podman's and Buildah's images in the file's own folder.
storage_up() {
	mkdir -p "$WORK/storage"
	printf '[storage]\ndriver = "overlay"\nrunroot = "%s"\ngraphroot = "%s"\n' "$WORK/storage/run" "$WORK/storage/data" >"$WORK/storage.conf"
	export CONTAINERS_STORAGE_CONF=$WORK/storage.conf
}

# build_begin: the folder, with the machine's bases in the cache, and the machine's own archives in `mirrors`,
# as the lab's cluster.yaml has them.
build_begin() {
	build_folder || return
	ringup -q lab up --loopback --hosts 1 3>&- 4>&- || return
	sed -n '/^mirrors:/,/^[^ m]/{/^mirrors:\|^ /p}' cluster.yaml >mirrors
	ringup -q lab down 3>&- 4>&- || return
	rm -rf cluster.yaml .ringup
	# bases take a while; all else is built here
	seed_fill "$XDG_CACHE_HOME" || return
	rm -rf "$XDG_CACHE_HOME"/ringup/native "$XDG_CACHE_HOME"/ringup/*.log
}

build_end() {
	local name
	# unshare is deaf to TERM while it waits for its child; its end ends the engine
	[ ! -f "$WORK/engine.pid" ] || kill -KILL "$(cat "$WORK/engine.pid")" 2>/dev/null || true
	for name in index registry sshd; do
		[ ! -f "$WORK/$name.pid" ] || kill "$(cat "$WORK/$name.pid")" 2>/dev/null || true
	done
	! mountpoint -q "$WORK/small" || umount "$WORK/small"
	cd /
	for _ in $(seq 50); do
		if rm -rf --one-file-system "${WORK:?}" "${RUN:?}" 2>/dev/null; then break; fi
		sleep 0.2 # the engine's mounts take a moment to go
	done
	find /sys/fs/cgroup -depth -type d -path "*/$(basename "$WORK")*" -exec rmdir {} + 2>/dev/null || true
	! grep -F "$WORK" /proc/mounts
}

# pip_index FOLDER: serves its wheels at $PIP_URL.
pip_index() {
	python3 "$REPO/tests/lab/pip_index.py" "$WORK/$1" "$WORK/index.port" >/dev/null 2>&1 3>&- 4>&- &
	echo $! >"$WORK/index.pid"
	for _ in $(seq 100); do
		if [ -s "$WORK/index.port" ]; then break; fi
		sleep 0.1
	done
	PIP_URL=http://127.0.0.1:$(cat "$WORK/index.port")/simple
	export PIP_URL
}

# registry_up: a Distribution server without TLS at $REGISTRY, on this machine's own address.
registry_up() {
	REGISTRY=127.0.0.1:$("$BATS_TEST_DIRNAME/../free_port.py")
	cat >"$WORK/registry.yml" <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $WORK/registry}, delete: {enabled: true}}
		http: {addr: "$REGISTRY"}
	END
	docker-registry serve "$WORK/registry.yml" >"$WORK/registry.log" 2>&1 3>&- 4>&- &
	echo $! >"$WORK/registry.pid"
	timeout 20 bash -c "until curl -sf http://$REGISTRY/v2/ >/dev/null; do sleep 0.1; done"
}

# One dockerd for the tests that compare; started at the first.
engine_up() {
	[ -S "$RUN/docker.sock" ] || {
		unshare --mount --pid --mount-proc --fork --kill-child sh "$REPO/tests/lab/engine.sh" "$WORK/engine" "$RUN" \
			>engine.log 2>&1 3>&- 4>&- &
		echo $! >engine.pid
		for _ in $(seq 100); do
			if docker --host "unix://$RUN/docker.sock" version >/dev/null 2>&1; then break; fi
			sleep 0.2
		done
	}
	docker --host "unix://$RUN/docker.sock" version >/dev/null
}

build() {
	ringup "$@" 3>&- 4>&- >out 2>log || { cat out log && false; }
}

flatten() {
	python3 "$REPO/tests/lab/flatten.py" "$@"
}

digest() {
	jq -r '.manifests[0].digest' "$1/index.json"
}

# wait_for_step TEXT: until the build under way says it.
wait_for_step() {
	for _ in $(seq 300); do
		if grep -q "$1" log; then return; fi
		sleep 0.1
	done
	cat log
	return 1
}

# Nothing of a build is under way: no process, no mount, no work folder.
# Those of the steps of this store's builds (builder/native/store.c, make_work).
cgroups() {
	find /sys/fs/cgroup -type d -name "ringup-$(printf %s "$XDG_CACHE_HOME/ringup/native" | sha256sum | cut -c1-6)??????-*" | sort
}

nothing_runs() {
	run ! grep -lF "$XDG_CACHE_HOME/ringup/native/work" /proc/[0-9]*/cmdline /proc/[0-9]*/mounts 2>/dev/null
	[ "$(ls -A "$XDG_CACHE_HOME/ringup/native/work" 2>/dev/null)" = "" ]
	[ "$(cgroups)" = "" ]
}

# host_up: another machine, as far as ringup can tell: a real sshd on a port of this machine's loopback ($HOST), whose
# commands see the engine of engine_up and a storage of containers of their own.
host_up() {
	local port
	engine_up
	if [ -f "$WORK/there/host" ]; then
		HOST=$(cat "$WORK/there/host")
		return
	fi
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
	HOST=root@127.0.0.1:$port
	mkdir -p "$WORK/there/tmp" "$WORK/there/storage" /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$WORK/there/key"
	ssh-keygen -q -t ed25519 -N '' -f "$WORK/there/host_key"
	cp "$WORK/there/key.pub" "$WORK/there/authorized_keys"
	echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$WORK/there/host_key.pub")" >"$WORK/there/known_hosts"
	printf '[storage]\ndriver = "overlay"\nrunroot = "%s"\ngraphroot = "%s"\n' "$WORK/there/storage/run" \
		"$WORK/there/storage/data" >"$WORK/there/storage.conf"
	printf '[engine]\nruntime = "runc"\n' >"$WORK/there/containers.conf"
	"$(command -v sshd)" -D -f /dev/null -p "$port" -h "$WORK/there/host_key" -o ListenAddress=127.0.0.1 \
		-o PidFile=none -o StrictModes=no -o "AuthorizedKeysFile=$WORK/there/authorized_keys" -o "SetEnv=DOCKER_HOST=unix://$RUN/docker.sock CONTAINERS_STORAGE_CONF=$WORK/there/storage.conf CONTAINERS_CONF=$WORK/there/containers.conf BUILDAH_RUNTIME=runc TMPDIR=$WORK/there/tmp" >"$WORK/sshd.log" 2>&1 3>&- 4>&- &
	echo $! >"$WORK/sshd.pid"
	timeout 20 bash -c "until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.1; done"
	echo "$HOST" >"$WORK/there/host"
}
