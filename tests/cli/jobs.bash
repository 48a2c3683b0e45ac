# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A cluster without containers whose hosts are this machine, reached by a stand-in for ssh: `ringup run` with all
# of its parts, and no lab.

# To be called from setup(). Hosts node01 and node02, one slot each.
jobs_setup() {
	common_setup
	export RINGUP_STATE_ROOT=$PWD/state
	mkdir -p keys bin .ringup state/lab/ssh state/lab/bin
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	ln -s "$ROOT/tests/standin/local_ssh" bin/ssh
	ln -s "$(command -v ringup-job)" state/lab/bin/
	export PATH=$PWD/bin:$PATH
	echo 0123456789abcdef0123456789abcdef >.ringup/cluster-id
	echo id=0123456789abcdef0123456789abcdef >state/lab/owner
	echo here >state/lab/ssh/mesh
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [{address: 127.0.0.1, name: node01}, {address: 127.0.0.2, name: node02}]
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: openssh}
		container: {engine: none}
	END
	# A sleep that is found by its name.
	MARK=$PWD/mark
	ln -s "$(command -v sleep)" "$MARK"
}

# job ...: ringup run, with stdout in out and stderr in err. Its stdin is that of the caller.
job() {
	status=0
	ringup run "$@" >out 2>err 3>&- 4>&- || status=$?
}

# begins NUMBER: waits until so many lines "up" are in the file out.
begins() {
	for _ in $(seq 400); do
		[ "$(grep -c up out)" -lt "$1" ] || return 0
		sleep 0.05
	done
	cat out err
	return 1
}

# Nothing with the test's mark lives.
job_left_nothing() {
	for _ in $(seq 150); do
		pgrep -f "^$MARK" >left || return 0
		sleep 0.1
	done
	xargs -rn 1 ps -fp <left
	return 1
}
