#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Images that ringup did not build, on two Docker hosts: with an sshd of their own of several versions, without one, with
# an entry point, a user and a locked root. And the port of the containers' sshd: free, taken, chosen, none.

load ../lab/helper

setup_file() {
	local suite
	lab_begin || return
	ringup -q lab up --hosts 2 3>&- 4>&-
	cp cluster.yaml lab.yaml
	for suite in bullseye trixie; do
		mmdebstrap --variant=minbase --include=openssh-server,openssh-client --aptopt='Acquire::Languages "none"' \
			--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$suite" "$suite.tar" \
			>"$suite.log" 2>&1 || { cat "$suite.log" && return 1; }
	done
	python3 "$BATS_TEST_DIRNAME/../lab/foreign_image.py" bullseye.tar debian11
	python3 "$BATS_TEST_DIRNAME/../lab/foreign_image.py" trixie.tar debian13
	# nothing of OpenSSH, root's password locked, and what images of frameworks set
	mkdir bare
	tar -xf bullseye.tar -C bare ./etc/shadow
	sed -i 's/^root:[^:]*/root:!locked/' bare/etc/shadow
	tar --delete -f bullseye.tar ./etc/shadow ./etc/ssh ./usr/sbin/sshd ./usr/bin/ssh
	tar -rf bullseye.tar -C bare --owner 0 --group 42 ./etc/shadow
	python3 "$BATS_TEST_DIRNAME/../lab/foreign_image.py" bullseye.tar bare 'Entrypoint=["/bin/echo"]' 'User="1000"' \
		'Env=["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin","HOROVOD_GPU_OPERATIONS=NCCL"]'
}

teardown_file() {
	mv "$LAB/lab.yaml" "$LAB/cluster.yaml"
	lab_end
}

setup() {
	cd "$LAB" || return
}

# base NAME [SED...]: cluster.yaml with that image and nothing of ringup's stack.
base() {
	sed "s,^stack:.*,stack: [],; s,^image:.*,image: {name: foreign\, base: \"oci:$1:1\"},${2:+; $2}" lab.yaml >cluster.yaml
}

# Ranks, logins and the benchmark work in it.
works() {
	all_meet node01 node02
	# shellcheck disable=SC2016 # expanded by the ranks
	[ "$(ringup -q run -n 4 -- sh -c 'echo "$RANK"' | sort)" = $'[0 node01] 0\n[1 node01] 1\n[2 node02] 2\n[3 node02] 3' ]
	ringup -q bench -- -b 4K -e 4K >out
	grep -q '4 ranks on 2 hosts.*verdict "pass"' out
}

# listen HOST: a program there takes port 9435 of the cluster's address; $pid is its process.
listen() {
	nsenter -t "$(first_process "$1")" -m -n -p python3 -c "
import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('$(address "$1")', 9435))
s.listen()
time.sleep(300)" </dev/null 3>&- 4>&- &
	wait_for 30 eval "inside $1 ss -Hltn | grep -q :9435"
	pid=$(pgrep -P $!) # nsenter waits for it
	note_pid "$pid"
}

@test "OpenSSH 8.4 of the image itself: its sshd is used, and the worker runs with an older C library" {
	base debian11
	up
	works
	[[ "$(in_container node01 ssh -V 2>&1)" == OpenSSH_8.4* ]]
	[ "$(in_container node01 readlink /proc/1/exe)" = /usr/sbin/sshd ]
	[ "$(in_container node01 ssh node02 readlink /proc/1/exe)" = /usr/sbin/sshd ]
}

@test "OpenSSH 10 of the image itself" {
	base debian13
	up
	works
	[[ "$(in_container node01 ssh -V 2>&1)" == OpenSSH_10.* ]]
	[ "$(in_container node01 readlink /proc/1/exe)" = /usr/sbin/sshd ]
}

@test "no OpenSSH, another entry point, another user, a locked root: ringup's own is used" {
	base bare
	up
	works
	[ "$(in_container node01 readlink /proc/1/exe)" = /usr/local/lib/ringup/ssh/loader ]
	ringup -q logs >out
	grep -q "the image has no OpenSSH server of 7.2 or newer: ringup's own is used" out
	# a login has the image's environment, and passwords fit nobody
	# shellcheck disable=SC2016 # expanded there
	[ "$(in_container node01 ssh node02 'echo $HOROVOD_GPU_OPERATIONS')" = NCCL ]
	[[ "$(in_container node01 ssh -o PubkeyAuthentication=no node02 true 2>&1)" == *"Permission denied (publickey)"* ]]
	# the container starts again as it is
	inside node01 docker restart -t 1 "$CONTAINER"
	wait_for 30 in_container node02 ssh node01 true
}

@test "sshd_port none: no sshd, no port; jobs run, and what needs an sshd says so" {
	base bare 's/sshd_port: 9435/sshd_port: none/'
	ringup up >out 2>&1
	grep -q '2 workers run ringup-job; they have no sshd' out
	run inside node01 ss -Hltn
	[[ "$output" != *:9435* ]]
	[ "$(ringup -q run -n 2 -- hostname | sort -u | wc -l)" = 2 ]
	ringup -q bench -- -b 4K -e 4K
	fails 2 bench --launcher mpirun
	says "container.sshd_port is none"
	ringup --json status | jq -e '[.hosts[].state] == ["running", "running"]'
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false]'
}

@test "a taken port is named before anything is changed; auto takes the next one, and every host learns it" {
	local before
	before=$(container_lines)
	listen node01
	base bare
	fails 4 up node01 node02
	says node01 "port 9435 on $(address node01)" "is taken by python3 (process" "1 of 2 hosts failed"
	same "its container" "$(head -n 1 <<<"$before")" "$(container_line node01)"
	base bare 's/sshd_port: 9435/sshd_port: auto/'
	up
	all_meet node01 node02
	[ "$(in_container node02 ssh -G node01 | grep '^port')" = "port 9436" ]
	[ "$(in_container node01 ssh -G node02 | grep '^port')" = "port 9435" ]
	kill "$pid"
	# the host keeps what it has
	ringup --json up 2>/dev/null | jq -e '[.hosts[].changed] == [false, false]'
	ringup --json status | jq -e '[.hosts[].sshd] == ["answers", "answers"]'
}

@test "logins that fail are named as pairs, with the reason" {
	inside node02 iptables -A INPUT -p tcp --dport 9435 -j REJECT --reject-with tcp-reset
	rm .ringup/verified
	fails 4 up
	says "node01 -> node02: connection refused on port 9435"
	inside node02 iptables -R INPUT 1 -p tcp --dport 9435 -j REJECT --reject-with icmp-host-prohibited
	fails 4 up
	says "node01 -> node02: no route to it, or a firewall that rejects port 9435"
	inside node02 iptables -F INPUT
	up
}
