#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Exact versions for real: Debian's archive and a registry are asked, the image holds what they said, and a build
# takes that and nothing else. No hosts: a file of its own, a cache of its own.

load ../lab/build_helper

setup_file() {
	build_begin
	cluster >cluster.yaml
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

cluster() {
	cat <<-'END'
		name: lab
		hosts: [a]
		accelerator: cpu
		stack: [python, "os==debian12"]
		image: {name: train, apt: [tree]}
	END
	cat mirrors
}

# inside LAYOUT: NAME VERSION of each package that the image has.
inside() {
	local layer
	for layer in $(jq -r '.layers[].digest' "$1/blobs/sha256/$(digest "$1" | cut -d: -f2)" | cut -d: -f2); do
		tar -xOf "$1/blobs/sha256/$layer" var/lib/dpkg/status 2>/dev/null >status.new && cp status.new status || true
	done
	awk '/^Package: /{name = $2} /^Version: /{print name, $2}' status | sort
}

@test "resolve --pin: Debian's archive says which versions, the recipe has them, and so has the image" {
	build resolve --pin
	grep -q '^pinned: [0-9]* packages, 0 images (20' out
	jq -e '.pinned.packages | has("tree") and has("openssh-server") and has("libc6-dev")' ringup.lock
	jq -e '.pinned.packages | all(.[]; test("^[0-9]"))' ringup.lock
	ringup recipe >dockerfile
	PYTHONPATH=$REPO/tests/recipe python3 -c 'import dockerfile, sys; print(*dockerfile.unpinned(open("dockerfile").read()), sep="\n")' >bare
	[ "$(cat bare)" = "" ]
	grep -q "are those of $(jq -r .pinned.at ringup.lock)" dockerfile
	build build -o oci:pinned
	inside pinned >packages
	# what is needed to compile only is not deployed
	jq -r '.pinned.packages | del(.["libc6-dev"]) | to_entries[] | "\(.key) \(.value)"' ringup.lock | sort >wanted
	comm -12 packages wanted | diff wanted -
	build build
	grep -q 'there already' out
	nothing_runs
}

@test "from nothing, with a snapshot of the lock's day: the base and all packages are that day's, and the digest is the same" {
	apt=$(sed -n 's/^ *apt: "\(.*\)".*/\1/p' mirrors)
	python3 "$REPO/tests/lab/snapshot.py" "$apt" "$WORK/index.port" >snapshot.log 2>&1 3>&- 4>&- &
	echo $! >index.pid
	timeout 10 bash -c 'until [ -s index.port ]; do sleep 0.1; done'
	at=$(jq -r .pinned.at ringup.lock | tr -d ':-')
	mkdir elsewhere
	sed "s|$apt\"|http://127.0.0.1:$(cat index.port)/archive/debian/$at\"|" cluster.yaml >elsewhere/cluster.yaml
	grep -q "/archive/debian/$at" elsewhere/cluster.yaml
	cp ringup.lock elsewhere/
	(cd elsewhere && XDG_CACHE_HOME=$PWD/cache build build -o oci:again)
	[ "$(digest elsewhere/again)" = "$(digest pinned)" ]
	grep -q "^/archive/debian/$at/pool/" snapshot.log
	grep -q "^/archive/debian-security/$at/dists/bookworm-security/" snapshot.log
	rm -rf elsewhere
}

@test "an archive that does not answer ends in an error that names it, and the lock stays" {
	cp ringup.lock before.lock
	sed 's|apt: ".*"|apt: "http://127.0.0.1:9/debian"|' cluster.yaml >gone.yaml
	run ringup -f gone.yaml resolve --pin
	[ "$status" = 1 ]
	[[ "$output" == *'versions of packages'*127.0.0.1:9*'mirrors in cluster.yaml'* ]]
	diff before.lock ringup.lock
}

@test "a snapshot after a build from the archive: nothing of that archive is taken on" {
	sed "s|apt: \".*\"|apt: \"http://127.0.0.1:9/archive/debian/20260901T100000Z\"|" cluster.yaml >elsewhere.yaml
	sed -i 's/name: train/name: later/' elsewhere.yaml
	sed 's/apt: \[tree\]/apt: [tree, less]/' elsewhere.yaml >gone.yaml # an image that is not there yet
	run ringup -f gone.yaml build
	[ "$status" = 1 ]
	[[ "$output" == *'root filesystem'*127.0.0.1:9* ]] # the base first, though one is there
	# nor a step, though the snapshot's base is the same to the byte
	sed "s|apt: \".*\"|apt: \"http://127.0.0.1:$(cat index.port)/archive/debian/20260902T100000Z\"|; s/apt: \[tree\]/apt: [tree], env: {A: b}/" cluster.yaml >same.yaml
	build -f same.yaml build
	grep -q '^/archive/debian/20260902T100000Z/pool/main/o/openssh/' snapshot.log
}

@test "resolve keeps what is pinned, a package that came later is named, and --pin asks again" {
	build resolve
	diff before.lock ringup.lock
	sed 's/apt: \[tree\]/apt: [tree, less]/' cluster.yaml >more.yaml
	build -f more.yaml recipe
	grep -q 'not pinned: less; .*resolve --pin' log
	grep -qE '^ +tree=[0-9][^ ]* less$' out
	build -f more.yaml resolve --pin
	jq -e '.pinned.packages.less' ringup.lock
	cp before.lock ringup.lock
}

@test "a version that the archive has no more: which, and what to do; --pin mends it and says what moves" {
	jq '.pinned.packages.tree = "1.0-1"' before.lock >ringup.lock
	run ringup build
	[ "$status" = 1 ]
	[[ "$output" == *"Version '1.0-1' for 'tree' was not found"* ]]
	[[ "$output" == *'does not have this version any more'*'ringup resolve --pin'* ]]
	build resolve --update
	grep -q 'tree: 1.0-1 -> ' log
	[ "$(jq -c .pinned.packages ringup.lock)" = "$(jq -c .pinned.packages before.lock)" ]
	nothing_runs
}

@test "Docker Engine gives the same answer, and keeps no image of the question" {
	engine_up
	cp cluster.yaml docker.yaml
	echo "build: {engine: docker, docker_host: \"unix://$RUN/docker.sock\"}" >>docker.yaml
	build -f docker.yaml resolve --pin
	[ "$(jq -c .pinned.packages ringup.lock)" = "$(jq -c .pinned.packages before.lock)" ]
	[ -z "$(docker --host "unix://$RUN/docker.sock" image ls -q 'ringup/packages')" ]
}

@test "Docker Engine takes a snapshot's base for a snapshot's alone" {
	sed "s|apt: \".*\"|apt: \"http://127.0.0.1:$(cat index.port)/archive/debian/20260901T100000Z\"|" docker.yaml >snapshot.yaml
	cp before.lock ringup.lock
	build -f snapshot.yaml build -o oci:docker
	inside docker | comm -12 packages - | diff packages -
	run ! grep 'Z$' <(docker --host "unix://$RUN/docker.sock" image ls --format '{{.Tag}}' ringup-base)
}

@test "the base of a registry is pinned by its digest: another image under its tag changes nothing" {
	registry_up
	ringup push oci:pinned "$REGISTRY/base/os:1" 3>&- 4>&-
	sed "s|name: train|name: on-base, base: '$REGISTRY/base/os:1'|" cluster.yaml >base.yaml
	cp before.lock ringup.lock
	build -f base.yaml resolve --pin
	[ "$(jq -r ".pinned.images[\"$REGISTRY/base/os:1\"]" ringup.lock)" = "$(digest pinned)" ]
	ringup -f base.yaml recipe >dockerfile
	[ "$(grep -c "^FROM $REGISTRY/base/os:1@$(digest pinned)" dockerfile)" -ge 1 ]
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch, files: [{from: mirrors, to: /x}]}' >other.yaml
	build -f other.yaml build -o oci:other
	ringup push oci:other "$REGISTRY/base/os:1" 3>&- 4>&-
	build -f base.yaml build -o oci:on-base
	inside on-base | comm -12 packages - | diff packages -
	# the tag has no shell to ask with, and says so
	run ringup -f base.yaml resolve --pin
	[ "$status" = 1 ]
	[[ "$output" == *'versions of packages'* ]]
	nothing_runs
}
