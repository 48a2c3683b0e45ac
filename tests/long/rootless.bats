#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The native engine for a person who is not root: the same digest as root's, and nothing left that they could
# not remove. The person is `nobody`, with subordinate ids that only their own processes see.

load ../lab/build_helper

setup_file() {
	build_begin
	chmod 755 "$WORK"
	mkdir -p src person
	printf 'print("hello")\n' >src/train.py
	printf 'nobody:100000:65536\n' >subids
	: >none
	cluster >cluster.yaml
	cp -r src cluster.yaml person/
	chown -R nobody:nogroup person
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK/person" || return
	CACHE=$WORK/person/.cache/ringup
	mkdir -p tmp
	chown nobody:nogroup tmp
}

# cluster [MORE]: packages of the OS, users and setgid files among them, a step of compiling, a person's file.
cluster() {
	cat <<-END
		name: lab
		hosts: [a]
		accelerator: cpu
		stack: [openmpi, python, "os==debian12"]
		image: {name: train, files: [{from: ./src, to: /workspace}]${1:-}}
	END
	cat "$WORK/mirrors"
}

# person SUBIDS WORD...: runs the words as who is not root, with those subordinate ids, in a mount namespace of
# its own. The words take the shell's place: its process id is theirs.
person() {
	local subids=$1
	shift
	# shellcheck disable=SC2016  # $1 and $@ are for the inner shell
	exec unshare --mount --propagation private sh -c '
		mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift &&
			exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"' sh "$subids" \
		env -u XDG_CACHE_HOME HOME="$WORK/person" TMPDIR="$WORK/person/tmp" "$@" 3>&- 4>&-
}

# build_as_person WORD...: ringup with these words.
build_as_person() {
	(person "$WORK/subids" ringup "$@") >out 2>log || { cat out log && false; }
}

# begin FILE: such a build in the background, as $pid.
begin() {
	person "$WORK/subids" ringup -f "$1" build >out 2>log &
	pid=$!
}

# Nothing of the person's builds is under way: no process, no mount, no work folder.
nothing_of_theirs() {
	run ! grep -lF "$CACHE" /proc/[0-9]*/cmdline /proc/[0-9]*/mounts 2>/dev/null
	run ! grep -lF "HOME=$WORK/person" /proc/[0-9]*/environ 2>/dev/null
	[ "$(ls -A "$CACHE/native/work" 2>/dev/null)" = "" ]
	# (/tmp has what other tests' builds by nobody need just now)
	run find "$CACHE" tmp -maxdepth 1 -user nobody \( -name "mmdebstrap*" -o -name "*partial*" -o -name "build-*" -type d \)
	[ -z "$output" ] || { echo "left: $output"; return 1; }
}

# interrupt SIGNAL: ends the build in the background; its exit status is $status.
interrupt() {
	local begin=$SECONDS
	kill "-$1" "$pid"
	status=0
	wait "$pid" || status=$?
	((SECONDS - begin <= 8))
}

@test "no subordinate ids, no newuidmap, no user namespace: one sentence with what to do; nothing is made" {
	local name
	run person "$WORK/none" ringup build --engine native
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *"65536 ids for nobody in /etc/subuid (usermod --add-subuids 100000-165535 nobody)"* ]]
	mkdir "$WORK/bin"
	for name in /usr/sbin/* /usr/bin/*; do ln -sf "$name" "$WORK/bin/"; done
	rm "$WORK/bin/newuidmap"
	PATH="$BUILD:$WORK/bin" run person "$WORK/subids" ringup build --engine native
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *"newuidmap (apt-get install uidmap)"* ]]
	# who has no id may make none
	run person "$WORK/subids" unshare --user "$(command -v ringup)" build --engine native
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *"user.max_user_namespaces"* ]]
	[ ! -e "$CACHE" ]
}

@test "Ctrl-C while the root filesystem is made: status 130, nothing stays" {
	local pid
	begin cluster.yaml
	wait_for_step 'making the root filesystem'
	timeout 60 bash -c "until ls -d '$CACHE'/native/work/*/mmdebstrap.*/usr >/dev/null 2>&1; do sleep 0.1; done"
	interrupt INT
	[ "$status" = 130 ]
	nothing_of_theirs
}

@test "the root filesystem and the image are those that root makes, byte by byte" {
	build_as_person build -o oci:native
	nothing_of_theirs
	(cd "$WORK" && build build -o oci:native)
	cmp "$CACHE"/ringup-base-*.tar "$XDG_CACHE_HOME"/ringup/"$(cd "$CACHE" && echo ringup-base-*.tar)"
	[ "$(digest native)" = "$(digest "$WORK/native")" ]
	flatten native >native.tree
	# owners and modes other than root's are among it
	grep -q '^usr/bin/ssh-agent file 2755 0 [1-9]' native.tree
	build_as_person --json build
	jq -e '.built == false and .engine == "native"' out
}

@test "Ctrl-C in a step: status 130, no process and no mount stays; the next build goes on" {
	local pid
	cluster ', apt: [cowsay]' >cowsay.yaml
	begin cowsay.yaml
	wait_for_step 'image.apt'
	sleep 0.5
	interrupt INT
	[ "$status" = 130 ]
	nothing_of_theirs
	build_as_person -f cowsay.yaml build
}

@test "kill -9 in a step: what it ran in ends too, and the next build clears its folder away" {
	local pid
	cluster ', apt: [sl]' >sl.yaml
	begin sl.yaml
	wait_for_step 'image.apt'
	sleep 0.5
	interrupt KILL
	for _ in $(seq 50); do
		grep -qlF "HOME=$WORK/person" /proc/[0-9]*/environ 2>/dev/null || break
		sleep 0.1
	done
	run ! grep -lF "$CACHE" /proc/[0-9]*/cmdline /proc/[0-9]*/mounts
	run ! grep -lF "HOME=$WORK/person" /proc/[0-9]*/environ
	build_as_person -f sl.yaml build
	nothing_of_theirs
}

@test "a store has one owner: another one's is left as it is" {
	cluster >"$WORK/other.yaml"
	sed -i 's/name: train/name: other/' "$WORK/other.yaml"
	XDG_CACHE_HOME=$WORK/person/.cache run ringup -f "$WORK/other.yaml" build --engine native
	[ "$status" = 1 ]
	[[ "$output" == *"$CACHE belongs to another person"* ]]
	chmod 755 "$XDG_CACHE_HOME" "$XDG_CACHE_HOME/ringup" "$XDG_CACHE_HOME/ringup/native"
	run person "$WORK/subids" env XDG_CACHE_HOME="$XDG_CACHE_HOME" ringup -f "$WORK/other.yaml" build --engine native
	[ "$status" = 1 ]
	nothing_of_theirs
}

@test "build --clear: all of it goes, and the person can remove the rest" {
	[ -n "$(find "$CACHE/native" -not -group nogroup -print -quit)" ]
	build_as_person build --clear
	grep -q "^$CACHE/native removed" out
	[ ! -e "$CACHE/native" ]
	[ -z "$(find "$CACHE" -not -user nobody -o -not -group nogroup)" ]
	setpriv --reuid nobody --regid nogroup --clear-groups rm -r "$CACHE"
	build_as_person build --clear
}
