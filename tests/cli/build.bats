#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# build --dry-run: commands a person could paste. Nothing is built here; the lab's tests do that.

load helper
setup() {
	common_setup
	mkdir bin
	# a stand-in for the engine: it answers, and writes down what it was asked
	cat >bin/docker <<-'END'
		#!/bin/sh
		echo "$*" >>"$RINGUP_TEST_LOG"
		echo 20.10.24
	END
	chmod 755 bin/docker
	export PATH="$PWD/bin:$PATH" RINGUP_TEST_LOG=$PWD/../docker.log
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [a]
		mirrors: {apt: "http://mirror.lan/debian"}
		image: {base: "registry.lan:5000/base/debian:12"}
		build: {engine: docker}
	END
}

@test "the commands can be pasted" {
	apart ringup build --dry-run
	says 0
	grep -q '^ringup -f cluster.yaml recipe -o ' ../out
	grep -q '^docker build .*APT_MIRROR=http://mirror.lan/debian' ../out
	bash -n ../out
	! grep -q '^build' ../docker.log
	# the first of them is real
	bash -e <(grep '^ringup' ../out)
	[ -s context-*/Dockerfile ]
}

@test "oci:DIR below a stack: for the native engine, and there before anything is made" {
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch, files: [{from: cluster.yaml, to: /x}]}' >base.yaml
	ringup -q -f base.yaml build -o oci:base
	sed -i 's|base: "registry.*"|base: "oci:base"|' cluster.yaml
	apart ringup build --dry-run
	says 2 'image.base oci:base' docker '--engine native'
	apart ringup recipe
	says 0
	grep -qxF 'FROM oci:base AS stack' ../out
	sed -i 's|oci:base|oci:none|' cluster.yaml
	apart ringup recipe
	says 1 image.base none/index.json
}

@test "a base that cannot be had: where another one or a mirror of it is named" {
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: "127.0.0.1:1/x:1"}' >cluster.yaml
	apart ringup build --engine native
	says 1 'base image 127.0.0.1:1/x:1' refused image.base mirrors.docker
}

@test "as JSON" {
	apart ringup --json build --dry-run
	says 0
	json 'any(c.startswith("docker build ") for c in d["commands"])'
}

@test "no engine: what was tried, and why it cannot" {
	printf '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n' >bin/docker
	apart ringup build
	says 1 docker 'Cannot connect to the Docker daemon'
}

@test "an engine that is none: exit 2" {
	sed -i 's/engine: docker/engine: dokcer/' cluster.yaml
	apart ringup build
	says 2 dokcer docker
}

@test "engine auto: with a docker_host it is that engine, also where another could build" {
	sed -i 's|engine: docker|docker_host: "unix:///run/other.sock"|' cluster.yaml
	apart ringup build --dry-run
	says 0
	grep -q '^export DOCKER_HOST=unix:///run/other.sock$' ../out
	grep -q '^docker build ' ../out
}

@test "-o names a place on this machine" {
	apart ringup build -o docker://registry.lan/x:1
	says 2 'ringup push'
	apart ringup build -o oci:
	says 2 oci
}

@test "--clear: what native builds keep goes, bases stay; no cluster file is needed" {
	local cache=$HOME/.cache/ringup
	rm cluster.yaml
	mkdir -p "$cache/native/layers/x/tree" "$cache/native/work"
	touch "$cache/ringup-base-x.tar"
	apart ringup build --clear --dry-run
	says 0
	[ "$(cat ../out)" = 'ringup build --clear' ]
	[ -d "$cache/native/layers/x" ]
	mkdir "$cache/native/work/busy"
	flock "$cache/native/work/busy" ringup build --clear 2>../err || status=$?
	says 1 'a build is at work'
	apart ringup --json build --clear
	says 0
	json "d['removed'] == '$cache/native'"
	[ "$(ls "$cache")" = ringup-base-x.tar ]
	apart ringup build --clear
	says 0
}
