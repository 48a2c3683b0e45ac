#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What goes wrong ends in an error that names the host or URL, the cause and what to do, with the right
# exit status; the other hosts' work is kept, and the next `up` finishes the job. One lab, in order.

load ../lab/helper

setup_file() {
	lab_begin
	ringup -q lab up --hosts 3 3>&- 4>&-
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# Nothing but bases in the cache: what is built here is not there yet.
fresh_cache() {
	rm -rf "$XDG_CACHE_HOME"/ringup/native "$XDG_CACHE_HOME"/ringup/*.log
}

# Nothing runs on the hosts, and the registry is empty.
nothing_made() {
	local host
	for host in $(hosts); do
		[ "$(container_line "$host")" = "$host absent" ] || return
		[ "$(inside "$host" docker image ls -aq)" = "" ] || return
		[ "$(host_files "$host")" = "" ] || return
	done
	[ "$(registry /v2/_catalog | jq -c .repositories)" = "[]" ]
}

# the_one HOST WHAT...: only HOST failed; the error is one line that says WHAT.
the_one() {
	one_line && says "$@" "1 of 3 hosts failed; the others are fine"
}

stop_sshd() {
	inside "$1" sh -c 'kill "$(cat /run/sshd.pid)"'
}

start_sshd() {
	local folder=$LAB/.ringup/lab/$1
	inside "$1" /usr/sbin/sshd -f /dev/null -h "$folder/ssh_host_ed25519_key" -E "$folder/sshd.log" \
		-o PidFile=/run/sshd.pid -o "ListenAddress=$(address "$1")" -o Port=22 \
		-o "AuthorizedKeysFile=$folder/authorized_keys" -o StrictModes=no -o UsePAM=no \
		-o PasswordAuthentication=no -o PermitRootLogin=prohibit-password -o MaxStartups=200 </dev/null
}

# --- before there is an image ---

@test "up --dry-run prints commands that a shell can read, and changes nothing" {
	ringup up --dry-run >script 2>err || { cat err; false; }
	bash -n script
	grep -q '^ringup .* build --engine native$' script
	[ "$(grep -c 'docker run --detach' script)" = 3 ]
	[ "$(grep -c 'docker .*pull' script)" = 3 ]
	local host
	for host in $(hosts); do grep -q "root@$(address "$host")" script; done
	run ! grep -E 'StrictHostKeyChecking=(no|accept-new)|--privileged' script
	secrets >patterns
	run ! grep -Ff patterns script
	run ! grep -Ff .ringup/keys/secret script
	rm patterns script err
	nothing_made
	[ ! -e ringup.lock ]
}

@test "a bad mirror: the error names it and the step" {
	variant variant.yaml 's,^( *apt:).*,\1 "http://127.0.0.1:9/debian",'
	XDG_CACHE_HOME=$LAB/empty fails 1 -f variant.yaml up
	says "http://127.0.0.1:9/debian" debian12
	[ "$(find empty -name '*.tar' 2>/dev/null)" = "" ] # no half of a base is kept
	rm -rf empty
	nothing_made
}

@test "a build that fails names the step and apt's own reason" {
	variant variant.yaml 's/^image: .*/image: {name: train, apt: [no-such-package-xyz]}/'
	fails 1 -f variant.yaml up
	says "Unable to locate package no-such-package-xyz" "image.apt of the cluster file"
	nothing_made
}

@test "Ctrl-C in the build: status 130 at once, nothing half-made" {
	local up status=0 begin
	fresh_cache
	start_up up.log up
	up=$!
	note_pid "$up"
	wait_for 60 grep -q 'packages of the OS' up.log
	sleep 1
	kill -INT "$up"
	begin=$SECONDS
	wait "$up" || status=$?
	cat up.log
	[ "$status" = 130 ]
	((SECONDS - begin <= 10))
	[ "$(grep -c '^ringup: error: ' up.log)" = 1 ]
	grep '^ringup: error: ' up.log | grep -iq interrupt
	# no step's process, mount or folder
	run ! grep -lF "$LAB/cache/ringup/native/work" /proc/[0-9]*/cmdline /proc/[0-9]*/mounts
	[ "$(ls -A cache/ringup/native/work)" = "" ]
	[ "$(find cache/ringup -name '*.partial*' -o -name 'build-[0-9]*' -type d)" = "" ]
	rm -rf cache
	seed_fill "$XDG_CACHE_HOME"
	nothing_made
}

@test "kill -9 while the hosts pull: the next up goes on from there" {
	local up
	start_up up.log up
	up=$!
	note_pid "$up"
	wait_for 200 grep -q ' pulls ' up.log
	sleep 0.5
	kill -KILL "$up"
	wait "$up" || true
	[ "$(container_lines | grep -c absent)" = 3 ]
	ringup --json up >up.json 2>up.log 3>&- 4>&- || { cat up.log; false; }
	run ! grep -E 'packing|blob .* sent' up.log # neither built nor sent again
	jq -e 'all(.hosts[]; .ok)' up.json
	all_meet node01 node02 node03
	local host
	for host in $(hosts); do
		[ "$(inside "$host" find /var/lib/ringup -name 'new.*' -o -name login)" = "" ]
	done
	[ ! -e .ringup/image ]
}

# --- on a cluster that is up ---

@test "Ctrl-C while containers are made anew: status 130, and the next up completes" {
	local up status=0
	variant variant.yaml 's/shm_size: 512m/shm_size: 300m/'
	start_up up.log -f variant.yaml up
	up=$!
	note_pid "$up"
	wait_for 30 grep -q 'replaces the container' up.log
	kill -INT "$up"
	wait "$up" || status=$?
	cat up.log
	[ "$status" = 130 ]
	grep '^ringup: error: ' up.log | grep -iq interrupt
	[ "$(grep -c '^ringup: error: ' up.log)" = 1 ]
	up
	all_meet node01 node02 node03
	for host in $(hosts); do [ "$(inspect "$host" .HostConfig.ShmSize)" = $((512 * 1024 * 1024)) ]; done
}

@test "a container that appears between the look and the start is replaced" {
	local docker real=$BATS_TEST_TMPDIR/docker.real failed=
	docker=$(command -v docker)
	cp "$(readlink -f "$docker")" "$real"
	# what an interrupted run leaves: the engine makes the container after the next run has looked
	cat >"$BATS_TEST_TMPDIR/docker" <<-END
		#!/bin/sh
		if [ "\$1" = run ] && mkdir "$BATS_TEST_TMPDIR/once" 2>/dev/null; then
			"$real" create --name "$CONTAINER" --label "org.ringup.cluster-id=$(cat .ringup/cluster-id)" "\$("$real" images -q | head -n 1)" >/dev/null
		fi
		exec "$real" "\$@"
	END
	chmod 755 "$BATS_TEST_TMPDIR/docker"
	inside node01 docker rm -f "$CONTAINER"
	inside node01 mount --bind "$BATS_TEST_TMPDIR/docker" "$docker"
	up || failed=1
	inside node01 umount "$docker"
	[ -z "$failed" ]
	[ -d "$BATS_TEST_TMPDIR/once" ]
	[ "$(inspect node01 .State.Running)" = true ]
	all_meet node01 node02 node03
}

@test "a second ringup at the same time is told to wait, and harms nothing" {
	local up before status=0
	before=$(container_lines)
	inside node01 docker stop -t 1 "$CONTAINER"
	start_up up.log up
	up=$!
	note_pid "$up"
	# a try to take the lock would be another ringup at work
	wait_for 10 grep -qE ":$(stat -c %i .ringup/lock) " /proc/locks
	kill -STOP "$up"
	fails 1 up
	one_line
	says "another ringup" .ringup/lock wait
	fails 1 down
	says "another ringup"
	kill -CONT "$up"
	wait "$up" || status=$?
	[ "$status" = 0 ]
	same "the others" "$(tail -n 2 <<<"$before")" "$(container_lines node02 node03)"
	[ "$(inspect node01 .State.Running)" = true ]
}

@test "host down: status 4, the other two come up and meet" {
	local gone
	ringup -q down
	stop_sshd node02
	wait_for 5 eval '! true <"/dev/tcp/$(address node02)/22"'
	fails 4 --json up
	the_one node02 "$(address node02)" "port 22" "connection refused" sshd
	jq -e '[.hosts[].ok] == [true, false, true]' "$BATS_TEST_TMPDIR/stdout"
	jq -e '.hosts[1].error | contains("refused")' "$BATS_TEST_TMPDIR/stdout"
	[ "$(container_line node02)" = "node02 absent" ]
	all_meet node01 node03
	gone=$(container_lines node01 node03)
	fails 4 status
	says node02 refused
	start_sshd node02
	up
	same "the others" "$gone" "$(container_lines node01 node03)"
	all_meet node01 node02 node03
}

@test "host unreachable: status 4 within the time asked for" {
	local before begin=$SECONDS
	before=$(container_lines)
	ip link set "${LAB_NAME}v2" down
	fails 4 --timeout 3 up || { ip link set "${LAB_NAME}v2" up; false; }
	ip link set "${LAB_NAME}v2" up
	((SECONDS - begin < 20))
	the_one node02 "$(address node02)" "the host is down"
	wait_for 10 ringup -q status
	up
	same containers "$before" "$(container_lines)"
}

@test "wrong host key: not connected; file, line and the way out are named" {
	local before key
	before=$(container_lines)
	key=$(awk 'NR == 1 {print $2, $3}' .ringup/lab/known_hosts)
	awk -v key="$key" 'NR == 2 {print $1, key; next} {print}' .ringup/lab/known_hosts >other_hosts
	variant variant.yaml 's,known_hosts: [^}]*,known_hosts: other_hosts,'
	local logins
	logins=$(logins node02)
	fails 4 -f variant.yaml up
	the_one node02 "$(address node02)" "host key" differs "other_hosts:2" "ssh-keygen -R" \
		"$(ssh-keygen -lf .ringup/lab/node02/ssh_host_ed25519_key.pub | awk '{print $2}')"
	[ "$(logins node02)" = "$logins" ]
	same containers "$before" "$(container_lines)"
}

@test "unknown host key: refused with its fingerprint; known_hosts is not written" {
	sed 2d .ringup/lab/known_hosts >other_hosts
	cp other_hosts kept
	variant variant.yaml 's,known_hosts: [^}]*,known_hosts: other_hosts,'
	fails 4 -f variant.yaml up
	the_one node02 "$(address node02)" "not in" other_hosts ssh-keyscan \
		"$(ssh-keygen -lf .ringup/lab/node02/ssh_host_ed25519_key.pub | awk '{print $2}')"
	cmp other_hosts kept
	rm other_hosts kept
}

@test "wrong SSH key: on one host status 4, on all status 1" {
	local before host
	before=$(container_lines)
	cp .ringup/lab/node02/authorized_keys kept
	ssh-keygen -q -t ed25519 -N '' -f other_key
	cp other_key.pub .ringup/lab/node02/authorized_keys
	fails 4 up || { cp kept .ringup/lab/node02/authorized_keys; false; }
	cp kept .ringup/lab/node02/authorized_keys
	the_one node02 "$(address node02)" id_ed25519 "refused the key" root "keys install"
	variant variant.yaml 's,key: [^,]*,key: other_key,'
	fails 1 -f variant.yaml up
	says node01 node02 node03 other_key "refused the key" "keys install"
	variant variant.yaml 's,key: [^,]*,key: no_such_key,'
	fails 1 -f variant.yaml up
	says node01 no_such_key ssh.key
	rm other_key other_key.pub kept
	same containers "$before" "$(container_lines)"
}

@test "registry down: its URL and what to do; lab up brings it back" {
	local before
	before=$(container_lines)
	kill "$(state .registry.pid)"
	wait_for 5 eval '! true <"/dev/tcp/10.83.$(state .subnet).254/5000"'
	variant variant.yaml 's|image: \{|image: {env: {NEW: image}, |'
	fails 1 -f variant.yaml up
	one_line
	says "$(registry_address)" "connection refused" "is the registry running"
	same containers "$before" "$(container_lines)"
	up # the hosts have the image of ringup.lock
	same containers "$before" "$(container_lines)"
	ringup -q lab up --hosts 3 3>&- 4>&-
	up
	same containers "$before" "$(container_lines)"
}

@test "wrong registry password: its URL and ringup login" {
	local before
	before=$(container_lines)
	cp .ringup/auth.json kept.json
	jq --arg auth "$(printf 'lab:wrong-one' | base64)" '.auths[].auth = $auth' kept.json >.ringup/auth.json
	fails 1 up || { cp kept.json .ringup/auth.json; false; }
	cp kept.json .ringup/auth.json
	rm kept.json
	one_line
	says "$(registry_address)" "ringup login"
	[[ "$error" != *wrong-one* && "$error" != *"$(printf 'lab:wrong-one' | base64)"* ]]
	same containers "$before" "$(container_lines)"
}

@test "untrusted CA: the URL, the file and which setting to correct" {
	local before
	before=$(container_lines)
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=other \
		-keyout other.key -out other.pem 2>/dev/null
	variant variant.yaml 's,ca: [^}]*,ca: other.pem,'
	fails 1 -f variant.yaml up
	one_line
	says "$(registry_address)" "not trusted" other.pem ca
	rm other.key other.pem
	same containers "$before" "$(container_lines)"
}

@test "disk full on push: says so; with space the same command completes" {
	local before address pid
	before=$(container_lines)
	address=10.83.$(state .subnet).254:5001
	mkdir -p disk
	mount -t tmpfs -o size=30m tmpfs disk
	cat >small.yml <<-END
		version: 0.1
		log: {level: warn, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: "$LAB/disk"}, delete: {enabled: true}}
		http: {addr: "$address", tls: {certificate: "$LAB/.ringup/lab/registry/server.pem", key: "$LAB/.ringup/lab/registry/server.key"}}
	END
	docker-registry serve small.yml >small.log 2>&1 </dev/null 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 10 curl -sf --cacert .ringup/lab/registry/ca.pem "https://$address/v2/"
	variant variant.yaml "s,address: \"10[^\"]*:5000\",address: \"$address\","
	fails 1 -f variant.yaml up
	one_line
	says "$address" "disk is full" "free space" "same command again"
	[ "$(curl -s --cacert .ringup/lab/registry/ca.pem "https://$address/v2/lab/train/tags/list" | jq -c '.tags // []')" = "[]" ]
	same containers "$before" "$(container_lines)"
	mount -o remount,size=400m disk
	ringup -q -f variant.yaml up
	[[ "$(inspect node02 .Config.Image)" == "$address/lab/train@sha256:"* ]]
	kill "$pid"
	wait "$pid" || true
	umount disk
	rmdir disk
	rm small.yml small.log
	up
	[[ "$(inspect node02 .Config.Image)" == "$(registry_address)/lab/train@sha256:"* ]]
}

@test "Docker is missing on a host: status 4, with how to install it" {
	local others path
	others=$(container_lines)
	for path in /usr/bin/docker /usr/local/bin/docker; do
		! inside node02 test -e "$path" || inside node02 mount --bind /dev/null "$path"
	done
	fails 4 up || true
	for path in /usr/bin/docker /usr/local/bin/docker; do
		! inside node02 mountpoint -q "$path" || inside node02 umount "$path"
	done
	the_one node02 docker "not installed" "apt-get install"
	up
	same containers "$others" "$(container_lines)"
}

@test "dockerd is dead on a host: status 4; the host comes back by lab up and is repaired alone" {
	local others
	others=$(container_lines node01 node03)
	inside node02 sh -c 'kill "$(cat /run/docker.pid)"'
	wait_for 20 eval '! inside node02 docker version'
	fails 4 up
	the_one node02 docker "does not answer" start
	# the machine goes down altogether, and comes back
	kill -KILL "$(state '.hosts[1].process.pid')"
	wait_for 10 eval '! pgrep -f "lab_host.sh $LAB/.ringup/lab/node02 "'
	ringup -q lab up --hosts 3 3>&- 4>&-
	up
	same "the others" "$others" "$(container_lines node01 node03)"
	[ "$(inspect node02 .State.Running)" = true ]
	all_meet node01 node02 node03
}

@test "another program has the port of the container's sshd on one host: it is named, status 4, the others keep running" {
	local others pid
	others=$(container_lines node01 node03)
	inside node02 docker rm -f "$CONTAINER"
	# of another PID namespace: the host sees the port, but not whose it is
	nsenter -t "$(first_process node02)" -n python3 -c "
import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('$(address node02)', 9435))
s.listen()
time.sleep(120)" </dev/null 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 10 eval 'inside node02 ss -Hltn | grep -q :9435'
	fails 4 up || { kill "$pid"; false; }
	kill "$pid"
	wait "$pid" || true
	says node02 "port 9435" "is taken by another program: end that" "container.sshd_port" "1 of 3 hosts failed; the others are fine"
	same "the others" "$others" "$(container_lines node01 node03)"
	up
	same "the others" "$others" "$(container_lines node01 node03)"
	all_meet node01 node02 node03
}

@test "a setting that breaks the container on all hosts: each is named, status 1, mended by the next up" {
	variant variant.yaml 's,shm_size: 512m,shm_size: 512m\, volumes: ["/dev/null:/usr/sbin/sshd:ro"],'
	fails 1 -f variant.yaml up
	says node01 node02 node03 "died at start" "the image has no OpenSSH server of 7.2 or newer"
	up
	all_meet node01 node02 node03
}

@test "a volume that the engine refuses: the engine's reason, named by host" {
	local before
	before=$(container_lines)
	variant variant.yaml 's,shm_size: 512m,shm_size: 512m\, volumes: ["relative:/etc/ringup/ssh"],'
	fails 1 -f variant.yaml up
	says node01 "cannot start the container" "uplicate mount point"
	up
	all_meet node01 node02 node03
}
