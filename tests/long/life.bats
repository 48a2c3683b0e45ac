#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The life of a cluster after its first `up`: engines and hosts that start again, containers that are replaced or put
# back, rollback, hosts that leave.

load ../lab/helper

setup_file() {
	lab_cluster 2
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# engine_restart HOST: its dockerd ends as a service does, and starts again with the same words.
engine_restart() {
	local pid words
	pid=$(inside "$1" pidof dockerd)
	mapfile -d '' -t words < <(inside "$1" cat "/proc/$pid/cmdline")
	inside "$1" kill "$pid"
	wait_for 20 eval "! inside $1 kill -0 $pid"
	inside "$1" setsid "${words[@]}" >>"$LAB/.ringup/lab/$1/dockerd.log" 2>&1 </dev/null 3>&- 4>&- &
	wait_for 20 inside "$1" docker version
}

policy() {
	inspect "$1" .HostConfig.RestartPolicy.Name
}

@test "an engine that starts again starts its container, and up checks the mesh once more" {
	local before
	[ "$(policy node01) $(policy node02)" = "unless-stopped unless-stopped" ]
	before=$(inspect node02 .Id)
	engine_restart node02
	wait_for 20 in_container node01 ssh node02 true
	same container "$before" "$(inspect node02 .Id)"
	[ "$(ringup --json status 2>/dev/null | jq -r '[.hosts[].state] | join(" ")')" = "running running" ]
	ringup up >out 2>&1 3>&- 4>&-
	grep -q '2 workers can log in to each other' out
	ringup up >out 2>&1 3>&- 4>&-
	run ! grep 'log in to each other' out
	grep -q ' 0 changed' out
}

@test "a container without the restart policy gets it, and goes on" {
	local before
	before=$(container_lines)
	inside node01 docker update --restart no "$CONTAINER"
	ringup up --dry-run 2>/dev/null | grep -F "docker update --restart unless-stopped $(inspect node01 .Id)"
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [true, false]'
	same containers "$before" "$(container_lines)"
	[ "$(policy node01)" = unless-stopped ]
}

@test "a host that boots again has its container back; after down it has none" {
	local before pid
	before=$(inspect node02 .Id)
	pid=$(state '.hosts[] | select(.name == "node02") | .process.pid')
	kill -9 "$(first_process node02)"
	wait_for 20 eval "! kill -0 $pid" # the parent, which 'lab up' looks for, ends last
	ringup -q lab up --hosts 2 3>&- 4>&-
	wait_for 20 in_container node01 ssh node02 true
	same container "$before" "$(inspect node02 .Id)"
	all_meet node01 node02
	ringup -q down
	engine_restart node02
	[ "$(container_lines node02)" = "node02 absent" ]
	up
}

@test "lab up: a host whose engine or sshd was killed starts again, and one that is fine does not" {
	local before
	before=$(state '.hosts[0].process.pid')
	inside node02 pkill -KILL -x dockerd
	wait_for 20 eval "! inside node02 pidof dockerd"
	ringup lab up >out 2>&1 3>&- 4>&-
	grep -E 'node02 +starts again: its sshd or its container engine did not answer' out
	! grep -E 'node01 +starts' out
	[ "$(state '.hosts[0].process.pid')" = "$before" ]
	ringup -q up 3>&- 4>&-
	inside node01 sh -c 'kill -KILL $(cat /run/sshd.pid)'
	wait_for 20 eval "! inside node01 sh -c 'kill -0 \$(cat /run/sshd.pid)'"
	ringup -q lab up 3>&- 4>&-
	differ "the host" "$before" "$(state '.hosts[0].process.pid')"
	ringup -q up 3>&- 4>&-
	ringup -q status >out
	rm out
}

@test "up --dry-run: what changes on which host, equal hosts once, the script once, and then the commands" {
	local before
	before=$(container_lines)
	variant other.yaml 's/shm_size: 512m/shm_size: 256m, env: {A: "1"}/'
	ringup -f other.yaml up --dry-run >script 2>/dev/null
	[ "$(head -n 1 script)" = "# node01, node02: container.shm_size 512m -> 256m, container.env" ]
	[ "$(grep -c 'mktemp' script)" = 1 ]
	[ "$(grep -c 'docker run' script)" = 2 ]
	ringup --json -f other.yaml up --dry-run 2>/dev/null | jq -e '[.hosts[].changes] | length == 2 and .[0] == .[1] and .[0] != ""'
	same containers "$before" "$(container_lines)"
	# only the host that is meant
	variant one.yaml 's/(name: node02, .*slots: )2/\13/'
	ringup -f one.yaml up --dry-run 2>/dev/null | grep -qx '# node01, node02: nothing to do'
	inside node02 docker rm -f "$CONTAINER"
	ringup up --dry-run >script 2>/dev/null
	grep -qx '# node01: nothing to do' script
	grep -qx '# node02: starts the container' script
	bash -eu script >out 2>&1 </dev/null 3>&- 4>&- || { cat out; false; }
	ringup up --dry-run 2>/dev/null | grep -qx '# node01, node02: nothing to do'
}

@test "a container that cannot start, or dies: every host has its old one back, with its files" {
	local before logs
	before=$(inspect node01 .Id)
	variant limit.yaml 's/shm_size: 512m/shm_size: 512m, volumes: ["\/dev\/null:\/"]/'
	fails 1 -f limit.yaml up
	says "node01, node02: cannot start the container" "destination" "the old container is back and runs"
	# port 22 is the host's own
	variant port.yaml 's/sshd_port: [0-9]+/sshd_port: 22/'
	fails 1 -f port.yaml up
	says node01 node02 "port 22 on" "is taken by sshd (process"
	variant dead.yaml 's,shm_size: 512m,shm_size: 512m\, volumes: ["/dev/null:/usr/sbin/sshd:ro"],'
	fails 1 -f dead.yaml up
	says node01 node02 "died at start" "no OpenSSH server" "the old container is back and runs"
	same container "$before" "$(inspect node01 .Id)"
	all_meet node01 node02
	[ "$(inside node01 docker ps -aq | wc -l)" = 1 ]
	[ "$(policy node01)" = unless-stopped ]
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false]'
	[ "$(inside node01 sh -c 'ls /var/lib/ringup/lab' | xargs)" = "ca-files owner registry-ca.crt ssh" ]
}

@test "a container is made again without the registry where the host has the image" {
	kill "$(state .registry.pid)"
	inside node02 docker rm -f "$CONTAINER"
	ringup up >out 2>&1 3>&- 4>&- || { cat out; false; }
	grep -q 'hosts that have the image of ringup.lock go on without the registry' out
	[ "$(inspect node02 .State.Running) $(inspect node02 .Config.Image)" = "true $(jq -r .image ringup.lock)" ]
	inside node02 docker rm -f "$CONTAINER"
	inside node02 docker image rm "$(jq -r .image ringup.lock)"
	fails 4 up
	says node02 "cannot pull the image" "can this host reach the registry"
	ringup -q lab up --hosts 2 3>&- 4>&-
	up
}

@test "restart: the same containers start again, and let logins in" {
	local before started
	before=$(inspect node01 .Id)
	started=$(inspect node02 .State.StartedAt)
	ringup restart node01 >out 2>&1 3>&- 4>&- || { cat out; false; }
	grep -q 'node01 .*runs again' out
	same container "$before" "$(inspect node01 .Id)"
	same "start of node02" "$started" "$(inspect node02 .State.StartedAt)"
	ringup -q restart 3>&- 4>&-
	differ "start of node02" "$started" "$(inspect node02 .State.StartedAt)"
	inside node02 docker rm -f "$CONTAINER"
	fails 4 restart
	says "node02: there is no container; 'ringup up' makes it"
	up
	[ "$(ringup --json history | jq -r '.history[-1] | "\(.command) \(.outcome) \([.hosts[].outcome] | join(" "))"')" = \
		"up done unchanged changed" ]
}

@test "rollback: the image and the lock of before, by digest; without the image nothing changes" {
	local old new
	old=$(jq -r .image ringup.lock)
	cp ringup.lock old.lock
	variant newer.yaml 's/image: \{name: train/image: {name: train, env: {NEWER: "1"}/'
	ringup -q -f newer.yaml up 3>&- 4>&-
	new=$(jq -r .image ringup.lock)
	differ image "$old" "$new"
	# one host alone goes back, and status says so
	ringup -q -f newer.yaml rollback --hosts node02 3>&- 4>&-
	[ "$(inspect node01 .Config.Image) $(inspect node02 .Config.Image)" = "$new $old" ]
	cmp ringup.lock old.lock
	fails 4 status
	says node01
	ringup -q -f newer.yaml up 3>&- 4>&-
	ringup -q -f newer.yaml rollback >out 2>&1 3>&- 4>&- || { cat out; false; }
	grep -q "newer.yaml describes another image" out
	cmp ringup.lock old.lock
	[ "$(inspect node01 .Config.Image) $(inspect node02 .Config.Image)" = "$old $old" ]
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false]'
	[ "$(ringup --json history | jq -r '.history[-1] | "\(.command) \(.outcome) \(.image)"' | sed 's/to [0-9]*/to N/')" = "rollback to N done $old" ]
	# there is nothing to take it from
	ringup -q rm "$new"
	inside node02 docker image rm "$new"
	fails 1 rollback
	says "$new" "cannot be had" "the registry does not have it" "it is not on node02" "nothing was changed"
	cmp ringup.lock old.lock
	[ "$(inspect node01 .Config.Image)" = "$old" ]
	fails 2 rollback 999
}

@test "up --rolling: one host after the other; a group that fails is the last one" {
	local before
	variant rolling.yaml 's/shm_size: 512m/shm_size: 256m/'
	ringup -f rolling.yaml up --rolling 1 >out 2>&1 3>&- 4>&- || { cat out; false; }
	[ "$(grep -E '^  next ' out | awk '{print $2}' | xargs)" = "node01 node02" ]
	# node02 is touched only when node01 is up
	[ "$(grep -E 'node01 +up in|node02 +puts' out | awk '{print $1, $2}' | xargs)" = "node01 up node02 puts" ]
	grep -q '2 workers can log in to each other' out
	[ "$(inspect node02 .HostConfig.ShmSize) $(policy node01) $(policy node02)" = "$((256 * 1024 * 1024)) unless-stopped unless-stopped" ]
	before=$(container_lines node02)
	variant limit.yaml 's/shm_size: 512m/shm_size: 512m, volumes: ["\/dev\/null:\/"]/'
	fails 4 -f limit.yaml up --rolling 1
	says "node01: cannot start the container" "the old container is back and runs" "node02 keeps what it runs, since an earlier group failed"
	same container "$before" "$(container_lines node02)"
	[ "$(ringup --json history | jq -r '.history[-1] | "\(.outcome) \([.hosts[].outcome] | join(" "))"')" = "partial failed left" ]
	[ "$(inspect node01 .HostConfig.ShmSize)" = $((256 * 1024 * 1024)) ]
	ringup --json -f rolling.yaml up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false]'
	up
}

@test "a host that was taken out of cluster.yaml: down HOST removes its container, image and keys" {
	cp cluster.yaml kept.yaml
	sed -i '/node02/d' cluster.yaml
	ringup up >out 2>&1 3>&- 4>&-
	grep -F "'ringup down node02' removes them" out
	ringup -q down node02 3>&- 4>&-
	[ "$(inside node02 docker ps -aq)$(inside node02 docker image ls -q)$(host_files node02)" = "" ]
	[ "$(inspect node01 .State.Running)" = true ]
	mv kept.yaml cluster.yaml
	up
	all_meet node01 node02
}
