#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every build engine makes the same image as the native one, entry by entry: of a tiny base with all that is awkward in a layer.

load ../lab/engines

setup_file() {
	engines_begin
	engine native
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

# Docker keeps no attribute but capabilities of what it imports.
same_as_native() {
	case $1 in
	docker | buildkit) sed "s/('SCHILY.xattr.user.note', 'kept')//" native.tree | diff - "$1.tree" ;;
	*) diff native.tree "$1.tree" ;;
	esac
	diff native.config "$1.config"
}

@test "Docker's classic builder: the same entries, owners, modes, times, attributes and settings" {
	engine_up
	engine docker "unix://$RUN/docker.sock"
	same_as_native docker
}

@test "BuildKit: the same" {
	engine_up
	# Debian's client drives BuildKit by itself; another one may stand before it on PATH
	PATH=/usr/bin:$PATH engine buildkit "unix://$RUN/docker.sock"
	same_as_native buildkit
}

@test "Buildah and Podman: the same" {
	local name
	storage_up
	for name in buildah podman; do
		engine "$name"
		same_as_native "$name"
		podman rmi -af >/dev/null 2>&1
	done
}

@test "Docker's image, built twice from nothing: same digest" {
	engine_up
	docker --host "unix://$RUN/docker.sock" system prune -af >/dev/null
	mv docker docker.first
	engine docker "unix://$RUN/docker.sock"
	[ "$(digest docker)" = "$(digest docker.first)" ]
}

@test "on another machine with Docker, Buildah and Podman: the same, and nothing of it stays there" {
	local name words
	host_up
	mv cache/ringup/native native.here # it came home: nothing would be left to do
	words=(ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o "UserKnownHostsFile=$WORK/there/known_hosts"
		-i "$WORK/there/key" -p "${HOST##*:}" root@127.0.0.1)
	docker --host "unix://$RUN/docker.sock" system prune -af >/dev/null
	for name in docker buildah podman; do
		rm -rf cache/ringup/native "$name"
		engine "$name" "" "${words[@]}"
		same_as_native "$name"
		[ -z "$(ls -A "$WORK/there/tmp")" ]
	done
	[ -z "$(docker --host "unix://$RUN/docker.sock" image ls -aq)" ]
	[ -z "$(docker --host "unix://$RUN/docker.sock" ps -aq)" ]
	[ -z "$(CONTAINERS_STORAGE_CONF=$WORK/there/storage.conf podman image ls -aq)" ]
}
