#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Building for real: the native engine against Docker Engine, entry by entry; the same digest in different
# surroundings; what a failed or interrupted build leaves. No hosts: a file of its own, a cache of its own. The
# other engines build a tiny image in tests/long/engines.bats.

load ../lab/build_helper

setup_file() {
	build_begin
	mkdir -p src
	write_files
	cluster >cluster.yaml
}

teardown_file() {
	build_end
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

@test "native: builds, and the second time there is nothing to do" {
	build build -o oci:native
	grep -q built out
	[ "$(grep -c 'base *unpacking' log)" = 1 ] # two stages begin with it
	# layers are packed while steps run: the lowest one before the last step
	awk '/layer 1 +packing/ {packed = NR} /smoke checks/ && !checks {checks = NR} END {exit !(packed && packed < checks)}' log
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

@test "BuildKit: a client that cannot drive it says what is missing" {
	engine_up
	sed 's/engine: docker/engine: buildkit/' docker.yaml >buildkit.yaml
	mkdir -p newer
	# a stand-in for a client of 23 or later without its plug-in
	cat >newer/docker <<-'END'
		#!/bin/sh
		case $1 in
		buildx) exit 1 ;;
		version) echo 20.10.24 ;;
		--version) echo "Docker version 28.2.2, build e6534b4" ;;
		esac
	END
	chmod 755 newer/docker
	PATH=$WORK/newer:$PATH run ringup -f buildkit.yaml build
	[ "$status" = 1 ]
	[[ "$output" == *"no buildx plug-in"* ]]
}

# elsewhere_begin ENGINE: a cache of its own, so that nothing is there yet.
elsewhere_begin() {
	mkdir -p "elsewhere/cache/ringup" elsewhere/.ssh
	cp -l cache/ringup/ringup-base-*.tar elsewhere/cache/ringup/
	cp -r src elsewhere/
	{
		cluster
		echo "ssh: {user: nobody, key: $WORK/there/key, known_hosts: $WORK/there/known_hosts}"
		echo 'build: {docker_host: "unix:///nowhere"}' # this machine's
	} >elsewhere/cluster.yaml
}

@test "--on HOST: another machine's Docker Engine makes the same image, and keeps nothing of it" {
	host_up
	docker --host "unix://$RUN/docker.sock" system prune -af >/dev/null
	elsewhere_begin
	cd elsewhere
	XDG_CACHE_HOME=$PWD/cache build build --on "$HOST" -o oci:docker
	[ -z "$(docker --host "unix://$RUN/docker.sock" image ls -aq)" ]
	[ -z "$(docker --host "unix://$RUN/docker.sock" ps -aq)" ]
	[ -z "$(ls -A "$WORK/there/tmp")" ]
	flatten docker | diff "$WORK/native.tree" -
	[ "$(digest docker)" = "$(digest "$WORK/docker")" ]
	# it came home: there is nothing to do, here or there
	XDG_CACHE_HOME=$PWD/cache build --json build
	jq -e '.built == false' out
	XDG_CACHE_HOME=$PWD/cache build --json build --on "$HOST"
	jq -e '.built == false' out
}

@test "--on HOST: a failed step and Ctrl-C leave nothing there; a host that is not trusted, or no engine" {
	local pid status=0
	host_up
	cd elsewhere
	export XDG_CACHE_HOME=$PWD/cache
	rm -rf cache/ringup/native
	sed 's|image: {name: train|image: {name: train, apt: [no-such-package-xyz]|' cluster.yaml >bad.yaml
	run ringup -f bad.yaml build --on "$HOST"
	[ "$status" = 1 ]
	[[ "$output" == *no-such-package-xyz* ]]
	status=0
	[ -z "$(docker --host "unix://$RUN/docker.sock" image ls -aq)" ]
	# shellcheck disable=SC2012  # names of our own
	ls -d "$TMPDIR"/ringup-ssh-* >ssh.before 2>/dev/null || true
	ringup build --on "$HOST" 2>log 3>&- 4>&- &
	pid=$!
	timeout 60 bash -c "until [ -n \"\$(docker --host unix://$RUN/docker.sock ps -q)\" ]; do sleep 0.1; done"
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" = 130 ]
	# shellcheck disable=SC2012
	ls -d "$TMPDIR"/ringup-ssh-* 2>/dev/null | diff ssh.before - # its shared connection ends too
	[ -z "$(docker --host "unix://$RUN/docker.sock" image ls -aq)" ]
	[ -z "$(docker --host "unix://$RUN/docker.sock" ps -q)" ]
	[ -z "$(ls -A "$WORK/there/tmp")" ]
	: >none
	sed "s|known_hosts: [^}]*|known_hosts: none|" cluster.yaml >unknown.yaml
	run ringup -f unknown.yaml build --on "$HOST"
	[ "$status" = 1 ]
	[[ "$output" == *"Host key verification failed"* ]]
	run ringup build --on "$HOST" --engine native
	[ "$status" = 1 ]
	[[ "$output" == *"this machine only"* ]]
	run ringup build --on -oProxyCommand=x
	[ "$status" = 2 ]
	cd ..
	rm -rf elsewhere
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
	# the worker, the entry scripts, and an OpenSSH for images that have none come along
	[ "$(grep '^>' difference | cut -d' ' -f2 | grep -v '/ssh/lib' | tr '\n' ' ')" = \
		"data/again.sh usr usr/local usr/local/bin usr/local/bin/allreduce usr/local/bin/ringup-entry usr/local/bin/ringup-hosts usr/local/bin/ringup-job usr/local/bin/ringup-login usr/local/bin/with-secret usr/local/lib usr/local/lib/ringup usr/local/lib/ringup/ssh usr/local/lib/ringup/ssh/client usr/local/lib/ringup/ssh/loader usr/local/lib/ringup/ssh/ssh usr/local/lib/ringup/ssh/sshd " ]
	grep -q '^> data/again.sh file 755' difference
	[ "$(jq '.layers | length' "more/blobs/sha256/$(digest more | cut -d: -f2)")" = 4 ]
	flatten --config more | jq -e '.Cmd == ["/usr/local/bin/ringup-entry"]'
}

@test "image.base of a registry: fetched, a layer more; gone or unreachable: one sentence" {
	registry_up
	ringup push oci:files "$REGISTRY/base/data:1" 3>&- 4>&-
	# Docker's short names come from the mirror of its hub
	for base in "$REGISTRY/base/data:1" base/data:1; do
		sed "s|oci:files|$base|; s/name: data/name: from${#base}/" more.yaml >remote.yaml
		echo "mirrors: {docker: \"http://$REGISTRY\"}" >>remote.yaml
		build -f remote.yaml build -o "oci:remote${#base}"
		flatten "remote${#base}" | diff <(flatten more) -
	done
	sed "s|oci:files|$REGISTRY/base/none:1|" more.yaml >gone.yaml
	run ringup -f gone.yaml build
	[ "$status" = 1 ]
	[ "$(grep -c '^ringup: error: ' <<<"$output")" = 1 ]
	[[ "$output" == *"$REGISTRY/base/none"* ]]
	kill "$(cat registry.pid)"
	sed "s|oci:files|$REGISTRY/base/data:2|" more.yaml >gone.yaml
	run ringup -f gone.yaml build
	[ "$status" = 1 ]
	[[ "$output" == *"$REGISTRY"*refused* ]]
	nothing_runs
}

@test "too little space: said before anything is made" {
	mkdir -p small && mount -t tmpfs -o size=64m none small
	XDG_CACHE_HOME=$WORK/small run ringup build
	umount small
	[ "$status" = 1 ]
	[[ "$output" == *"only "*" are free under $WORK/small"* ]]
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

@test "--shell-on-failure: a shell on what the failed step had done; nothing of it is kept" {
	cluster ', apt: ["hello=99"]' >shell.yaml
	# the step's own configuration of apt is there
	(printf 'ls /tmp/apt.conf && echo seen-$((40+2)); exit\n' && sleep 2) |
		script -qec "ringup -f shell.yaml build --shell-on-failure" /dev/null >out 3>&- 4>&- || true
	tail -n 5 out
	grep -q 'seen-42' out
	grep -q "Version '99' for 'hello' was not found" out
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
	nothing_runs
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
