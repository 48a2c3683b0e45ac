#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A host that stops to answer in the middle of a command: ringup gives it up after a while ($RINGUP_SILENCE_S), and waits
# as long as it takes for one that only has nothing to say. ssh and sshd are real.

load helper

setup() {
	common_setup
	export RINGUP_SILENCE_S=4 RINGUP_STATE_ROOT=$PWD/state
	PORT=$(python3 "$ROOT/tests/free_port.py")
	mkdir -p keys .ringup state/lab/ssh state/lab/bin
	ssh-keygen -q -t ed25519 -N '' -f keys/host
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	echo "[127.0.0.1]:$PORT $(cat keys/host.pub)" >keys/known_hosts
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	printf '%s\n' "HostKey $PWD/keys/host" "AuthorizedKeysFile $PWD/keys/id.pub" 'StrictModes no' 'UsePAM no' 'PidFile none' \
		"Port $PORT" 'ListenAddress 127.0.0.1' "SetEnv RINGUP_STATE_ROOT=$PWD/state" >sshd
	/usr/sbin/sshd -D -e -f "$PWD/sshd" 2>sshd.log 3>&- 4>&- &
	SSHD=$!
	jobs=()
	for _ in $(seq 100); do ! grep -q 'Server listening' sshd.log || break; sleep 0.05; done
	ln -s "$(command -v ringup-job)" state/lab/bin/
	echo 0123456789abcdef0123456789abcdef >.ringup/cluster-id
	echo id=0123456789abcdef0123456789abcdef >state/lab/owner
	echo here >state/lab/ssh/mesh
}

teardown() {
	# what was stopped does not see the end of its connection
	xargs -r kill -9 <stopped 2>/dev/null || true
	kill "$SSHD" 2>/dev/null || true
}

cluster() {
	cat >$1.yaml <<-END
		name: lab
		hosts: [{address: 127.0.0.1, name: here, port: $PORT, user: $(id -un)}]
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: $1}
		container: {engine: none}
	END
}

# Stops the sshd that it runs below, but not the one that listens.
FREEZE='
	p=$$
	while [ "$p" -gt 1 ] && [ "$p" != "$1" ]; do
		case $(cat /proc/$p/comm) in sshd*) echo "$p" >>"$2" ;; esac
		p=$(sed -n "s/^PPid:.//p" /proc/$p/status)
	done
	xargs kill -STOP <"$2"
	sleep 100'

# on_both WORD...: by both transports at once; status and stderr are in TRANSPORT.status and TRANSPORT.err.
on_both() {
	local transport
	for transport in libssh2 openssh; do
		cluster $transport
		(
			status=0
			timeout 60 ringup -f $transport.yaml "$@" >$transport.out 2>$transport.err || status=$?
			echo $status >$transport.status
		) 3>&- 4>&- &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	cat ./*.err
}

@test "a host that stops to answer is given up, with either transport" {
	on_both exec -- sh -c "$FREEZE" sh "$SSHD" "$PWD/stopped"
	[ -s stopped ]
	[ "$(cat libssh2.status openssh.status)" = "1
1" ]
	grep -q "here (127.0.0.1 port $PORT): no sign of life for 4 s while the command ran" libssh2.err
	grep -q "here (127.0.0.1 port $PORT): the connection broke while the command ran" openssh.err
}

@test "a host that only has nothing to say is waited for" {
	on_both exec -- sh -c 'sleep 5; echo done'
	[ "$(sort libssh2.out openssh.out)" = "here: done
here: done" ]
}
