#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What is pinned in ringup.lock, and the question to package managers. Real archives: tests/lab/pin.bats.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
	mkdir bin
	# a stand-in for the engine: the build's context is kept, and nothing is built
	cat >bin/docker <<-'END'
		#!/bin/sh
		case $* in
		*version*) echo 20.10.24 ;;
		build*|*' build '*) cat >"$RINGUP_TEST_CONTEXT"; echo 'no engine' >&2; exit 1 ;;
		*) exit 1 ;;
		esac
	END
	chmod 755 bin/docker
	export PATH="$PWD/bin:$PATH" RINGUP_TEST_CONTEXT=$PWD/../context.tar
	cluster rockylinux9
}

cluster() { # OS [MORE]
	printf '%s\n' 'hosts: [a]' 'accelerator: cpu' "stack: [openmpi==4.1.6, os==$1]" 'build: {engine: docker}' "${2:-}" >cluster.yaml
}

# pin OS: a lock of the stack as if the archives had been asked.
pin() {
	ringup -q resolve --update >/dev/null
	python3 - <<-'END'
		import json
		d = json.load(open("ringup.lock"))
		packages = {"openssh-server": "1:8.7p1-45.el9_6", "procps-ng": "530-3.el9", "tar": ""}
		d["pinned"] = {"at": "2026-11-22T13:00:00Z", "packages": packages, "images": {}}
		json.dump(d, open("ringup.lock", "w"))
	END
}

@test "RPM: what dnf lists becomes one version for each name" {
	# as dnf 4.14 printed it: no such package is no line, and an error only when there is none at all
	cat >bin/dnf <<-'END'
		#!/bin/sh
		echo "$*" >>asked
		[ "$3" = list ] || exit 0
		echo 'Updating Subscription Management repositories.'
		cat <<-'LIST'
			Installed Packages
			openssh-server.x86_64                                                    8.7p1-43.el9                                        @r
			Available Packages
			ca-certificates.noarch                                                   2024.2.69_v8.0.303-91.4.el9_4                       r 
			openssh-server.i686                                                      8.7p1-46.el9_6                                      r 
			openssh-server.x86_64                                                    8.7p1-45.el9_6                                      r 
			tar.x86_64                                                               2:1.34-7.el9                                        r 
			libibverbs-of-a-name-that-wraps-the-line-of-eighty-columns.x86_64
			                                                                         1.2-1.el9+1                                         r 
		LIST
	END
	chmod 755 bin/dnf
	apart ringup resolve --pin
	says 1 'no engine'
	tar -xOf ../context.tar Dockerfile >../question
	grep -q '^FROM docker.io/rockylinux/rockylinux:9 AS asked' ../question
	tar -xOf ../context.tar step >../program
	python3 - "$ROOT/tests/recipe" "$PWD" >../step <<-'END'
		import os, sys
		sys.path.insert(0, sys.argv[1])
		import dockerfile
		[(_, body)] = dockerfile.runs(open("../question").read())
		print(body.replace(">/packages", ">packages"))
		program = open("../program").read()
		program = program[:program.index("\n# what differs ")] # nothing is deleted here
		for own in ("/tmp/", "/etc/yum.repos.d"):
		    program = program.replace(own, sys.argv[2] + own)
		open("bin/step", "w").write(program)
		os.chmod("bin/step", 0o755)
	END
	mkdir -p tmp etc/yum.repos.d
	YUM_MIRROR='' sh ../step
	grep -qx -- '--setopt=reposdir=[^ ]*/tmp/repos -q makecache' asked
	grep -q -- ' -q list .*openssh-server' asked
	sort packages | diff - <(printf '%s\n' 'ca-certificates 2024.2.69_v8.0.303-91.4.el9_4' \
		'libibverbs-of-a-name-that-wraps-the-line-of-eighty-columns 1.2-1.el9+1' 'openssh-server 8.7p1-45.el9_6' 'tar 2:1.34-7.el9')
}

@test "CentOS 7: asked of its vault, by yum" {
	cluster centos7
	apart ringup resolve --pin
	says 1 'no engine'
	tar -xOf ../context.tar Dockerfile >../question
	grep -q '^RUN sed .*vault.centos.org/7.9.2009' ../question
	tar -xOf ../context.tar step >../program
	grep -qE '^\s*packages yum -q makecache fast' ../program
	grep -qE '^\s*yum .*-q list "\$@"' ../program
	[ ! -e ringup.lock ] # nothing is half pinned
}

@test "a question is never the one that was asked before" {
	apart ringup resolve --pin
	tar -xOf ../context.tar Dockerfile | grep '^RUN' >../first
	sleep 1.1
	apart ringup resolve --pin
	tar -xOf ../context.tar Dockerfile | grep '^RUN' >../second
	! diff ../first ../second
}

@test "the recipe has what is pinned; what has no version stands bare; what was never asked for is named" {
	pin
	apart ringup recipe
	says 0 ringup.lock 'not pinned: ' ca-certificates "'ringup resolve --pin'"
	! grep 'not pinned.*tar' ../err
	grep -qE '^ .* openssh-server-8\.7p1-45\.el9_6 ' ../out
	grep -qE '^ .* tar ' ../out
	grep -qE '^ .* procps-ng-530-3.el9 ' ../out
	! grep 'not pinned.*procps' ../err
	grep -q '^# The OS.s packages and the base images are those of 2026-11-22T13:00:00Z; not pinned: .*tar' ../out
	! grep '^# The OS.*openssh-server' ../out
}

@test "what is pinned counts for the hash, and for what the lock says of the image" {
	apart ringup recipe --json
	bare=$(python3 -c 'import json; print(json.load(open("../out"))["hash"])')
	pin
	apart ringup recipe --json
	[ "$bare" != "$(python3 -c 'import json; print(json.load(open("../out"))["hash"])')" ]
	sed -i 's|"pinned"|"image": "r.lan/i@sha256:aa", "pinned"|' ringup.lock
	ringup -q resolve >/dev/null
	grep -q 'r.lan/i@sha256:aa' ringup.lock
	apart ringup resolve --json
	json 'd["pinned"]["packages"]["openssh-server"] == "1:8.7p1-45.el9_6"'
}

@test "another OS: nothing is pinned any more, which is said" {
	pin
	cluster rockylinux8
	apart ringup resolve
	says 0 'another OS' "'ringup resolve --pin'"
	! grep pinned ringup.lock
}

@test "a lock whose pins are no versions is refused with its name" {
	pin
	sed -i 's/1:8.7p1-45.el9_6/1; rm -rf x/' ringup.lock
	apart ringup recipe
	says 2 ringup.lock 'openssh-server' 'resolve --update'
	[ ! -s ../out ]
}

@test "--pin is for images, and for one stack" {
	apart ringup resolve --all --pin
	says 2 '--pin is for one stack'
	apart ringup recipe --pin --format script
	says 2 '--pin is for images'
}

@test "an image of files alone has nothing to pin" {
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch}' >cluster.yaml
	for command in resolve recipe; do
		apart ringup $command --pin
		says 2 cluster.yaml 'no packages to pin' image.base
	done
	[ ! -e ringup.lock ]
}

@test "without the archive: one sentence, and the lock stays" {
	pin
	cp ringup.lock before
	sed -i 's/engine: docker/engine: podman/' cluster.yaml
	PATH="$PWD/bin:$PATH" apart ringup resolve --pin
	[ "$status" -ne 0 ]
	[ "$(grep -c '^ringup: error: ' ../err)" = 1 ]
	grep -q 'versions of packages' ../err
	diff before ringup.lock
}

@test "without a cluster file: the archives are asked all the same" {
	rm cluster.yaml
	printf '[[registry]]\nlocation = "docker.io"\nblocked = true\n' >registries.conf
	CONTAINERS_REGISTRIES_CONF=$PWD/registries.conf apart ringup resolve --pin openmpi==4.1.6 os==rockylinux9
	says 2 'versions of packages' 'registries.conf blocks docker.io'
	[ ! -e ringup.lock ]
}
