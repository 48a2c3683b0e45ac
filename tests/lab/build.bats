#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Building for real: the native engine against Docker Engine, entry by entry; the same digest in different
# surroundings; what a failed or interrupted build leaves. No hosts: a file of its own, a cache of its own.

bats_require_minimum_version 1.5.0

setup_file() {
	WORK=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/ringup-build-test.XXXXXX")")
	REPO=$(realpath "$BATS_TEST_DIRNAME/../..")
	export WORK REPO XDG_CACHE_HOME=$WORK/cache
	RUN=/run/$(basename "$WORK")
	export RUN
	cd "$WORK" || return
	# the machine's own archives, as the lab's cluster.yaml has them
	ringup -q lab up --hosts 1 3>&- 4>&- && sed -n '/^mirrors:/,/^[^ m]/{/^mirrors:\|^ /p}' cluster.yaml >mirrors && ringup -q lab down 3>&- 4>&-
	rm -rf cluster.yaml .ringup
	mkdir -p site/deep src
	write_files
	cluster >cluster.yaml
	# bases take a while: the machine's cache has them, or gets them
	mkdir -p "$XDG_CACHE_HOME/ringup"
	cp -l "${OLD_CACHE:-$HOME/.cache}"/ringup/ringup-base-*.tar "$XDG_CACHE_HOME/ringup/" 2>/dev/null || true
}

teardown_file() {
	[ ! -f "$WORK/engine.pid" ] || kill "$(cat "$WORK/engine.pid")" 2>/dev/null || true
	cd /
	for _ in $(seq 50); do
		if rm -rf --one-file-system "${WORK:?}" "${RUN:?}" 2>/dev/null; then break; fi
		sleep 0.2 # the engine's mounts take a moment to go
	done
	! grep -F "$WORK" /proc/mounts
}

setup() {
	cd "$WORK" || return
}

write_files() {
	printf 'print("hello")\n' >src/train.py
	printf '#!/bin/sh\necho run\n' >src/run.sh
	chmod 755 src/run.sh
	ln -sf train.py src/link.py
	mkdir -p src/empty src/ünïcode
	printf 'x' >src/ünïcode/näme
	head -c 3000000 /dev/zero >src/zeros
}

# cluster [MORE]: a small image: a step of packages, one of compiling, the person's files.
cluster() {
	cat <<-END
		name: lab
		hosts: [a]
		accelerator: cpu
		stack: [openmpi, python, "os==debian12"]
		image: {name: train, files: [{from: ./src, to: /workspace}, {from: ./src/run.sh, to: /usr/local/bin/}]${1:-}}
	END
	cat mirrors
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
nothing_runs() {
	run ! grep -lF "$XDG_CACHE_HOME/ringup/native/work" /proc/[0-9]*/cmdline /proc/[0-9]*/mounts 2>/dev/null
	[ "$(ls -A "$XDG_CACHE_HOME/ringup/native/work" 2>/dev/null)" = "" ]
	run ! ls -d /sys/fs/cgroup/*/ringup-* /sys/fs/cgroup/ringup-*
}

@test "native: builds, and the second time there is nothing to do" {
	build build -o oci:native
	grep -q built out
	build --json build
	jq -e '.built == false and .engine == "native"' out
	nothing_runs
}

@test "the same again from nothing: other folder, umask, time zone, language, one processor: same digest" {
	mkdir -p elsewhere/cache/ringup
	cp -l cache/ringup/ringup-base-*.tar elsewhere/cache/ringup/
	cp -r cluster.yaml elsewhere/
	# another order in the folder, other times, other modes of what does not count
	mkdir elsewhere/src
	(cd src && find . -mindepth 1 | LC_ALL=C sort -r | tar --no-recursion -cf - -T -) | tar -xf - -C elsewhere/src
	find elsewhere/src -exec touch -h -d '2001-01-01' {} +
	chmod 700 elsewhere/src elsewhere/src/run.sh
	chmod 600 elsewhere/src/train.py
	(
		cd elsewhere
		umask 077
		XDG_CACHE_HOME=$PWD/cache TZ=Asia/Tokyo LANG=tr_TR.UTF-8 HOME=$PWD taskset -c 0 \
			"$(command -v ringup)" build -o oci:native >out 2>log 3>&- 4>&- || { cat log && false; }
	)
	[ "$(digest native)" = "$(digest elsewhere/native)" ]
	rm -rf elsewhere
}

@test "Docker's classic builder makes the same tree, owners, modes, times and settings of it" {
	engine_up
	cluster >docker.yaml
	echo "build: {engine: docker, docker_host: \"unix://$RUN/docker.sock\"}" >>docker.yaml
	build -f docker.yaml build -o oci:docker
	flatten native >native.tree
	flatten docker >docker.tree
	[ "$(wc -l <native.tree)" -gt 5000 ]
	diff native.tree docker.tree
	diff <(flatten --config native) <(flatten --config docker)
	grep -q '^workspace/link.py 2 777 0 0 .* train.py' native.tree
	grep -q '^workspace/empty 5 755 ' native.tree
}

@test "an engine's image, built twice from nothing: same digest" {
	engine_up
	docker --host "unix://$RUN/docker.sock" image ls -q --filter reference='ringup/*' | sort -u |
		xargs docker --host "unix://$RUN/docker.sock" image rm -f >/dev/null
	docker --host "unix://$RUN/docker.sock" system prune -af >/dev/null
	rm -rf src && mkdir src && write_files
	build -f docker.yaml build -o oci:docker2
	[ "$(digest docker)" = "$(digest docker2)" ]
	rm -rf docker2
}

@test "BuildKit: the same files" {
	engine_up
	sed 's/engine: docker/engine: buildkit/' docker.yaml >buildkit.yaml
	docker --host "unix://$RUN/docker.sock" system prune -af >/dev/null
	if docker buildx version || [ "$(docker version --format '{{.Client.Version}}' | cut -d. -f1)" -lt 23 ]; then
		build -f buildkit.yaml build -o oci:buildkit
		flatten buildkit | diff native.tree -
	else
		run ringup -f buildkit.yaml build
		[ "$status" = 1 ]
		[[ "$output" == *"no buildx plug-in"* ]]
	fi
}

@test "one file changed: one layer is new, in less than the time of any step" {
	local before after
	before=$(jq -r '.config.digest, .layers[].digest' "native/blobs/sha256/$(digest native | cut -d: -f2)" | sort)
	printf 'print("changed")\n' >src/train.py
	build build -o oci:changed
	run ! grep -E 'RUN|packages' log
	after=$(jq -r '.config.digest, .layers[].digest' "changed/blobs/sha256/$(digest changed | cut -d: -f2)" | sort)
	# the folder's layer, and the config
	[ "$(comm -13 <(echo "$before") <(echo "$after") | wc -l)" -le 3 ]
	rm -rf changed
	write_files
}

@test "image.base scratch: files alone, no engine, no step, also for someone who is not root" {
	cat >files.yaml <<-'END'
		name: lab
		hosts: [a]
		stack: []
		image: {name: data, base: scratch, files: [{from: ./src, to: /data}], env: {A: b}}
	END
	build -f files.yaml build -o oci:files
	flatten files >files.tree
	grep -q '^data/train.py file 644 0 0 ' files.tree
	grep -q '^data/run.sh file 755 0 0 ' files.tree
	! grep -q '^usr' files.tree
	flatten --config files | jq -e '.Env | index("A=b")'
	[ "$(stat -c %a "$WORK")" = 755 ] || chmod 755 "$WORK"
	mkdir -p nobody && chown nobody nobody
	setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$WORK/nobody" XDG_CACHE_HOME="$WORK/nobody" \
		"$(command -v ringup)" -f files.yaml build -o oci:nobody/files 3>&- 4>&-
	[ "$(digest files)" = "$(digest nobody/files)" ]
}

@test "image.base oci:DIR: a layer more on what is there" {
	cat >more.yaml <<-'END'
		name: lab
		hosts: [a]
		stack: []
		image: {name: data, base: "oci:files", files: [{from: ./src/run.sh, to: /data/again.sh}]}
	END
	build -f more.yaml build -o oci:more
	flatten more | diff files.tree - >difference || true
	# the worker and the entry scripts come along
	[ "$(grep '^>' difference | cut -d' ' -f2 | tr '\n' ' ')" = \
		"data/again.sh usr usr/local usr/local/bin usr/local/bin/allreduce usr/local/bin/ringup-entry usr/local/bin/with-secret " ]
	grep -q '^> data/again.sh file 755' difference
	[ "$(jq '.layers | length' "more/blobs/sha256/$(digest more | cut -d: -f2)")" = 3 ]
	flatten --config more | jq -e '.Cmd == ["/usr/local/bin/ringup-entry"]'
}

@test "a step that fails: which, why, what to do; nothing runs on" {
	cluster ', apt: [no-such-package-xyz]' >bad.yaml
	run ringup -f bad.yaml build
	[ "$status" = 1 ]
	[[ "$output" == *"image.apt of the cluster file"* ]]
	[[ "$output" == *"Unable to locate package no-such-package-xyz"* ]]
	[[ "$output" == *"correct image.apt in cluster.yaml"* ]]
	[[ "$output" == *"$XDG_CACHE_HOME/ringup/build-"*".log"* ]]
	nothing_runs
}

@test "Ctrl-C: status 130 at once, no process and no mount stays; the next build goes on" {
	local pid status=0 begin
	cluster ', apt: [cowsay]' >cowsay.yaml
	ringup -f cowsay.yaml build >out 2>log 3>&- 4>&- &
	pid=$!
	wait_for_step 'image.apt'
	sleep 0.5
	kill -INT "$pid"
	begin=$SECONDS
	wait "$pid" || status=$?
	[ "$status" = 130 ]
	((SECONDS - begin <= 6))
	nothing_runs
	build -f cowsay.yaml build
}

@test "kill -9: what the steps ran in ends with it, and the next build clears its folder away" {
	local pid
	cluster ', apt: [sl]' >sl.yaml
	ringup -f sl.yaml build >out 2>log 3>&- 4>&- &
	pid=$!
	wait_for_step 'image.apt'
	sleep 0.5
	kill -KILL "$pid"
	wait "$pid" || true
	for _ in $(seq 50); do
		grep -qlF "$XDG_CACHE_HOME/ringup/native/work" /proc/[0-9]*/cmdline 2>/dev/null || break
		sleep 0.1
	done
	run ! grep -lF "$XDG_CACHE_HOME/ringup/native/work" /proc/[0-9]*/mounts
	build -f sl.yaml build
	[ "$(ls -A "$XDG_CACHE_HOME/ringup/native/work")" = "" ]
}

@test "a network that fails is tried again, and then named" {
	sed 's,^\( *apt:\).*,\1 "http://127.0.0.1:9/debian",' cluster.yaml | sed 's/name: train/name: offline, apt: [jq]/' >offline.yaml
	run ringup -f offline.yaml build
	[ "$status" = 1 ]
	[[ "$output" == *"a server did not answer"* ]]
	[[ "$output" == *"tried again in"* ]]
	[[ "$output" == *"check mirrors in cluster.yaml"* ]]
	nothing_runs
}

@test "bad input ends in one sentence before anything is made: missing, escaping link, device, unreadable base" {
	local before
	before=$(find "$XDG_CACHE_HOME/ringup/native/layers" | sort)
	ln -s ../../outside src/out
	mkfifo src/pipe
	for case in 'from: ./none|nothing to put into the image' 'from: ./src|out of the folder' 'from: /dev/null|is a device'; do
		printf 'name: lab\nhosts: [a]\nstack: []\nimage: {name: d, base: scratch, files: [{%s, to: /x}]}\n' "${case%%|*}" >bad.yaml
		run ringup -f bad.yaml build
		[ "$status" = 2 ]
		[[ "${lines[*]}" == *"bad.yaml: image.files: "*"${case##*|}"* ]] || { echo "$output" && false; }
	done
	rm src/out src/pipe
	sed 's/base: scratch/base: "oci:nowhere"/; s/from: .*, to/from: .\/src, to/' bad.yaml >base.yaml
	run ringup -f base.yaml build
	[ "$status" != 0 ]
	[[ "$output" == *nowhere* ]]
	[ "$before" = "$(find "$XDG_CACHE_HOME/ringup/native/layers" | sort)" ]
}
