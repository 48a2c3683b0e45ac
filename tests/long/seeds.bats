#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# images.seeds on four lab hosts: what the registry really sends, what is left on the hosts, and what happens when a seed is
# lost. Then a host whose disk cannot hold the image. The image is a busybox with random bytes, so nothing is built in it.
# One lab, in order.

load ../lab/helper

# The image needs no base root filesystem.
seed_fill() {
	mkdir -p "$1/ringup"
}

setup_file() {
	lab_begin
	ringup -q lab up --hosts 4 3>&- 4>&-
	mkdir -p root/bin root/etc root/tmp root/proc root/sys root/dev root/usr/local/bin
	cp "$(command -v busybox)" root/bin/
	for word in $(busybox --list); do [ -e "root/bin/$word" ] || ln -s busybox "root/bin/$word"; done
	head -c 24M /dev/urandom >root/data
	tar -C root -cf root.tar .
	python3 "$BATS_TEST_DIRNAME/../lab/foreign_image.py" root.tar base 'Cmd=["/bin/sleep","100000"]'
	echo 1 >version
	sed -i 's/^stack:.*/stack: []/; s/sshd_port: 9435/sshd_port: none/
		s,^image:.*,image: {name: train\, base: "oci:./base"\, files: [{from: ./version\, to: /version}]}\nimages: {seeds: 2},' cluster.yaml
	ringup -q push >pushed 3>&- 4>&-
}

teardown_file() {
	cd "$LAB" || return
	[ ! -e .ringup/seeds ] || ringup -q down >/dev/null 2>&1 3>&- 4>&- || true
	rm -rf root root.tar base version seeded.yaml pushed listens cluster.yaml ringup.lock *.out
	lab_end
}

setup() {
	cd "$LAB"
}

# What this machine, which runs the registry, has sent to the hosts.
sent() {
	cat "/sys/class/net/$LAB_NAME/statistics/tx_bytes"
}

# The bytes of the image's blobs.
image_bytes() {
	local digest
	digest=$(jq -r '.hosts[0].image' <(ringup --json status 2>/dev/null) | sed 's/.*@//')
	registry "/v2/lab/train/manifests/$digest" -H "$MANIFEST_TYPES" | jq '[.config.size, .layers[].size] | add'
}

# A change of everything: the base's layer, too.
new_image() {
	head -c 24M /dev/urandom >root/data
	tar -C root -cf root.tar .
	rm -rf base
	python3 "$BATS_TEST_DIRNAME/../lab/foreign_image.py" root.tar base 'Cmd=["/bin/sleep","100000"]'
	ringup -q push >pushed 2>push.out 3>&- 4>&-
}

# Each host has the image by the registry's name alone, and trusts nobody but the registry.
hosts_are_tidy() {
	local host
	for host in $(hosts); do
		[ "$(inside "$host" docker image ls --format '{{.Repository}}' | sort -u)" = "$(registry_address)/lab/train" ]
		[ "$(inside "$host" ls /etc/docker/certs.d)" = "$(registry_address)" ]
		inside "$host" test ! -e /var/lib/ringup/lab/login
	done
}

@test "the registry sends the image twice, not to each of four hosts" {
	local before all
	ringup up --dry-run | grep -q '^# seeds: node01, node02: pull the image first and serve it to the other hosts$'
	ringup --json up --dry-run | jq -e '.seeds == ["node01", "node02"]'
	before=$(sent)
	up
	all=$(($(sent) - before))
	size=$(image_bytes)
	echo "the image has $size bytes, and $all were sent"
	[ "$size" -gt 24000000 ]
	[ "$all" -lt $((size * 5 / 2)) ]
	grep -q 'node01 serves the image at' "$BATS_TEST_TMPDIR/up.out"
	[ "$(grep -c 'has the image' "$BATS_TEST_TMPDIR/up.out")" = 4 ]
	! grep -q 'the image does not come from' "$BATS_TEST_TMPDIR/up.out"
	hosts_are_tidy
	ringup --json status | jq -e '[.seeds[] | [.host, .answers]] == [["node01", true], ["node02", true]]'
	ringup status 2>status.out | grep -q '^seed node02 serves the image at .*: answers'
	# also with stack: [] the hosts are compared with ringup.lock
	! grep 'are not compared' status.out
	# nothing to do: nobody asks a seed
	up
	grep -q '4 of 4 hosts up, 0 changed' "$BATS_TEST_TMPDIR/up.out"
	! grep -q 'serves the image' "$BATS_TEST_TMPDIR/up.out"
	ringup --json up --dry-run | jq -e '.seeds == []'
}

@test "the registry's password stands in no log of a seed, and no name of a seed in ringup.lock" {
	for host in node01 node02; do
		while read -r secret; do
			! inside "$host" grep -rlF "$secret" /var/lib/ringup --include='*.log*'
			! inside "$host" sh -c 'cat /proc/[0-9]*/cmdline' | grep -F "$secret"
		done < <(secrets)
		[ "$(inside "$host" sh -c 'stat -c %a /var/lib/ringup/registry-*/config.yml')" = 600 ]
	done
	grep -q "$(registry_address)/lab/train@" ringup.lock
}

@test "a host that can be no seed, and one that cannot pull from a seed: said, and both are up" {
	local port
	port=$(jq -r '.address | split(":")[1]' .ringup/seeds/node01/registry.json)
	ringup -q registry stop --on node01 --folder .ringup/seeds/node01 3>&- 4>&-
	inside node01 python3 -c "import socket
s = socket.create_server(('', $port)); print(flush=True)
while True: s.accept()[0].close()" >listens &
	note_pid $!
	timeout 20 sh -c 'until [ -s listens ]; do sleep 0.1; done'
	inside node03 mount -t tmpfs -o ro none /etc/docker/certs.d
	new_image
	run ringup up 3>&- 4>&-
	inside node01 pkill -f create_server
	inside node03 umount /etc/docker/certs.d
	echo "$output"
	# node03's own trust in the registry is hidden, too
	[ "$status" -eq 4 ]
	[[ "$output" == *"node01: it cannot serve the image to other hosts: "* ]]
	[[ "$output" != *"node01 serves the image at"* ]]
	[[ "$output" == *"node03: the image does not come from the seed node02: cannot put the CA of the seed's registry there"* ]]
	up
	grep -q '4 of 4 hosts up, 1 changed' "$BATS_TEST_TMPDIR/up.out"
	hosts_are_tidy
}

@test "push with facts of hosts on file" {
	ringup -q push | grep ' is there already$'
}

@test "a disk that cannot hold the image: the host fails before the pull, the others go on" {
	local root
	root=$(inside node04 docker info --format '{{.DockerRootDir}}')
	new_image
	inside node04 mount -t tmpfs -o size=20m none "$root"
	run ringup up 3>&- 4>&-
	inside node04 umount "$root"
	echo "$output"
	[ "$status" -eq 4 ]
	[[ "$output" == *"node04: $root has 20 MiB free, and the image has "*" MiB before it is unpacked; free space there"* ]]
	[[ "$output" == *"3 of 4 hosts up"* ]]
	[ "$(grep -c 'pulls .*@sha256' <<<"$(grep node04 <<<"$output")")" = 0 ]
	up
	grep -q '4 of 4 hosts up, 1 changed' "$BATS_TEST_TMPDIR/up.out"
}

@test "images.transfer ssh: of a transfer that is cut nothing stays, and the next up sends all of the image again" {
	local engine before
	cp cluster.yaml seeded.yaml
	sed -i 's/^images:.*/images: {transfer: ssh}/' cluster.yaml
	engine=$(inside node04 pgrep -o dockerd)
	up # the same image has another name on the hosts now
	grep -q '4 of 4 hosts up, 4 changed' "$BATS_TEST_TMPDIR/up.out"
	new_image
	inside node04 docker image ls -aq | sort >images.out
	(
		status=0
		ringup up >up.out 2>&1 3>&- 4>&- || status=$?
		echo "status $status" >>up.out
	) &
	timeout 60 sh -c 'until grep -q "node04 *gets" up.out; do sleep 0.05; done'
	inside node04 kill -STOP "$engine"
	sleep 1
	inside node04 pkill -KILL -f '^sshd: root'
	inside node04 kill -CONT "$engine"
	wait
	cat up.out
	grep -q '^status 4' up.out
	grep -q 'ringup: error: node04: cannot load the image' up.out
	[ "$(inside node04 docker image ls -aq | sort)" = "$(cat images.out)" ]
	before=$(sent)
	up
	[ $(($(sent) - before)) -gt 25000000 ]
	grep -q '4 of 4 hosts up, 1 changed' "$BATS_TEST_TMPDIR/up.out"
	mv seeded.yaml cluster.yaml
}

@test "down removes the seeds' registries" {
	ringup -q down >down.out 2>&1 3>&- 4>&-
	for host in node01 node02; do
		[ -z "$(inside "$host" pgrep -f 'docker-registry serve' || true)" ]
		[ -z "$(inside "$host" find /var/lib/ringup -maxdepth 1 -name 'registry*')" ]
	done
	[ -z "$(ls -A .ringup/seeds)" ]
	ringup --json status 2>/dev/null | jq -e '.seeds == []'
}
