#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every build engine makes the same image, entry by entry: of a tiny base with all that is awkward in a
# layer, which the full stack has little of. Each engine keeps its images in this file's own folder.

load build_helper

setup_file() {
	build_folder
	mkdir -p cache/ringup context/files
	make_base
	make_context
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

# A root filesystem of one program: links to it by name, modes, owners, attributes, names, a device, a hole.
make_base() {
	local name
	mkdir -p base/{bin,tmp,etc,awkward/gone/deep,awkward/opaque/below,awkward/replaced}
	cp "$(command -v busybox)" base/bin/busybox
	for name in sh cat chmod chown dd echo head ln mkdir mkfifo mv rm sleep touch; do
		ln -s busybox "base/bin/$name"
	done
	chmod 1777 base/tmp
	printf 'one\n' >base/awkward/linked-1
	ln base/awkward/linked-1 base/awkward/linked-2
	printf 'x\n' | tee base/awkward/{suid,sgid,capable,appended,gone/deep/file,opaque/below/file,replaced/file,moved} >/dev/null
	chmod 4755 base/awkward/suid
	chmod 2755 base/awkward/sgid
	mkdir -m 2775 base/awkward/sgid-folder
	chown 1234:5678 base/awkward/sgid-folder
	setcap cap_net_bind_service+ep base/awkward/capable
	setfattr -n user.note -v kept base/awkward/appended
	printf 'x\n' >'base/awkward/ünïcödé 名前'
	printf 'x\n' >"base/awkward/$(printf 'n%.0s' {1..200})"
	truncate -s 3M base/awkward/hole
	ln -s /nowhere/at/all base/awkward/dangling
	mknod -m 666 base/awkward/null c 1 3
	ln -s awkward base/through
	tar --xattrs --xattrs-include='*' --numeric-owner --format=pax --mtime=@1500000000 -C base -cf cache/ringup/ringup-base-tiny-1.tar .
}

make_context() {
	printf 'print("hello")\n' >context/files/train.py
	printf '#!/bin/sh\necho run\n' >context/files/run.sh
	chmod 755 context/files/run.sh
	ln -s train.py context/files/link.py
	mkdir -p context/files/empty context/files/ünïcode
	printf 'x' >context/files/ünïcode/näme
	cat >context/Dockerfile <<-'END'
		FROM ringup-base-tiny:1
		ARG SOURCE_DATE_EPOCH=1700000000
		ENV A="b c" D=e
		LABEL org.example.note="two words"
		RUN set -eu; cd /awkward; \
		    rm -rf gone; \
		    rm -rf opaque; mkdir opaque; echo new >opaque/file; \
		    rm -rf replaced; echo file >replaced; \
		    mv moved "moved näme"; \
		    echo more >>appended; \
		    echo more >>linked-1; \
		    chmod 600 suid
		RUN set -eu; cd /awkward; \
		    mkdir made; chmod 3770 made; chown 42:43 made; \
		    echo a >made/a; ln made/a made/b; ln -s ../linked-2 made/c; \
		    echo s >made/suid; chown 7:8 made/suid; chmod 6711 made/suid; \
		    mkfifo made/pipe; \
		    dd if=/dev/zero of=made/hole bs=1 count=0 seek=2000000 2>/dev/null; \
		    touch 'made/with "quotes" and \backslash'; \
		    echo x >/through/by-link
		COPY files/ /copied/
		COPY files/run.sh /awkward/replaced-later
		RUN rm /copied/train.py; echo back >/awkward/gone
		WORKDIR /copied
		USER 42:43
		ENTRYPOINT ["/bin/sh", "-c"]
		CMD ["echo ready"]
	END
}

# engine ENGINE [DOCKER_HOST [WORD...]]: the image as lines in ENGINE.tree and its settings in ENGINE.config. What an
# engine mounts over while it runs steps is empty in its image, and is left out.
engine() {
	RINGUP_SHARE=$REPO "$BUILD/tests/lab/engine_build" "$1" context "$WORK/cache/ringup" "$1" "${@:2}" >log 2>&1 3>&- 4>&- || { cat log && false; }
	flatten "$1" | grep -vE '^(etc|etc/(hostname|hosts|resolv.conf|mtab)|dev|dev/(console|pts|shm|mqueue)|proc|sys|run|run/.*) ' >"$1.tree"
	flatten --config "$1" | grep -v io.buildah.version >"$1.config" && sed -i "s/,$//" "$1.config"
}

# Docker keeps no attribute but capabilities of what it imports.
same_as_native() {
	case $1 in
	docker | buildkit) sed "s/('SCHILY.xattr.user.note', 'kept')//" native.tree | diff - "$1.tree" ;;
	*) diff native.tree "$1.tree" ;;
	esac
	diff native.config "$1.config"
}

@test "native: everything awkward is in the image as the steps made it" {
	engine native
	cat native.tree
	! grep -E '^(awkward/(gone/|opaque/below|replaced/|moved )|copied/train.py )' native.tree
	grep -q '^awkward/gone file 644 0 0 ' native.tree
	grep -q '^awkward/opaque/file ' native.tree
	grep -q '^awkward/replaced file ' native.tree
	grep -q '^awkward/moved näme file ' native.tree
	grep -q '^awkward/ünïcödé 名前 file ' native.tree
	grep -q '^awkward/suid file 600 0 0 ' native.tree
	grep -q '^awkward/sgid file 2755 ' native.tree
	grep -q '^awkward/sgid-folder 5 2775 1234 5678 ' native.tree
	grep -q '^awkward/made 5 3770 42 43 ' native.tree
	grep -q '^awkward/made/suid file 6711 7 8 ' native.tree
	grep -q '^awkward/made/pipe 6 ' native.tree
	grep -q '^awkward/null 3 666 ' native.tree
	grep -q '^awkward/capable .*security.capability' native.tree
	grep -q '^awkward/appended .*user.note' native.tree
	grep -q '^awkward/dangling 2 777 0 0 .* /nowhere/at/all' native.tree
	grep -q '^awkward/by-link file ' native.tree
	grep -q '^copied/link.py 2 777 0 0 .* train.py' native.tree
	grep -q '^copied/empty 5 755 ' native.tree
	nothing_runs
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

@test "the same again from nothing with one processor and another umask, time zone and language: same digest" {
	mkdir -p again/ringup
	cp cache/ringup/ringup-base-*.tar again/ringup/
	(
		umask 077
		RINGUP_SHARE=$REPO XDG_CACHE_HOME=$PWD/again TZ=Asia/Tokyo LANG=tr_TR.UTF-8 taskset -c 0 "$BUILD/tests/lab/engine_build" native \
			context "$PWD/again/ringup" native2 >log 2>&1 3>&- 4>&- || { cat log && false; }
	)
	[ "$(digest native)" = "$(digest native2)" ]
}

@test "the same with and without a user namespace for the steps: same digest" {
	local userns
	for userns in always never; do
		mkdir -p "$userns/ringup"
		cp cache/ringup/ringup-base-*.tar "$userns/ringup/"
		RINGUP_SHARE=$REPO USERNS=$userns "$BUILD/tests/lab/engine_build" native context "$PWD/$userns/ringup" "in-$userns" >log 2>&1 3>&- 4>&- ||
			{ cat log && false; }
		[ "$(digest native)" = "$(digest "in-$userns")" ]
	done
}
