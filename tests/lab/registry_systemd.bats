#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'registry serve' where systemd runs. Here it does not: a stand-in plays systemctl in a mount namespace
# of its own, with its own /etc and /run, and the server really runs as the unit's user. What systemd
# itself says of the unit is asked of systemd-analyze. The unit's protections are not tried.

# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"

setup_file() {
	local root
	cd "$BATS_FILE_TMPDIR" || return
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$(dirname "$BATS_FILE_TMPDIR")"
	export STANDIN=$BATS_FILE_TMPDIR/standin
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	mkdir -p standin bin disk
	touch standin/journal
	ln -s "$root/tests/standin/systemctl" bin/systemctl
	ln -s "$root/tests/standin/systemctl" bin/journalctl
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --propagation private sh -ec '
		mount -t tmpfs tmpfs "$1/disk"
		mkdir "$1/disk/etc" "$1/disk/work" "$1/disk/lib"
		mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/disk/etc,workdir=$1/disk/work" /etc
		mount -t tmpfs tmpfs /run
		mkdir -p /run/systemd/system
		touch "$1/ready"
		exec sleep 600' sh "$BATS_FILE_TMPDIR" </dev/null >setup.log 2>&1 3>&- 4>&- &
	echo $! >namespace
	for _ in $(seq 50); do
		[ -e ready ] && break
		sleep 0.1
	done
	[ -e ready ] || { cat setup.log; return 1; }
	echo "127.0.0.1:$("$BATS_TEST_DIRNAME/../free_port.py")" >address
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 1 1
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return
	[ ! -f reg/registry.json ] || there ringup registry stop --folder "$PWD/reg" || true
	kill "$(cat namespace)"
}

# there CMD...: in the namespace where systemd seems to run.
there() {
	PATH=$BATS_FILE_TMPDIR/bin:$PATH nsenter -t "$(cat "$BATS_FILE_TMPDIR/namespace")" --mount \
		--wd="$PWD" -- "$@" 3>&- 4>&-
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	export HOME=$PWD
	A=$(cat address)
	NAME=ringup-registry-${A##*:}.service
	: >standin/calls
}

@test "serve: writes, enables and starts the unit, as a user of its own" {
	there ringup registry serve --folder "$PWD/reg" --address "$A" >out
	grep -q "https://$A runs under systemd" out
	[ "$(grep -v is-active standin/calls)" = "systemctl daemon-reload
systemctl enable --quiet $NAME
systemctl restart $NAME" ]
	there cat "/etc/systemd/system/$NAME" >"$NAME"
	[ "$(ps -o user:30= -p "$(cat standin/pid)")" = "$(there id -u ringup-registry)" ]
	# It reads its own files, but not the CA's key and the password.
	there runuser -u ringup-registry -- cat "$PWD/reg/server/server.key" >/dev/null
	! there runuser -u ringup-registry -- cat "$PWD/reg/ca.key" 2>/dev/null
	! there runuser -u ringup-registry -- ls "$PWD/reg" 2>/dev/null
	! there runuser -u ringup-registry -- cat "$PWD/reg/password" 2>/dev/null
}

@test "systemd takes the unit, and finds it well confined" {
	# The user is there only in the namespace.
	there systemd-analyze verify "./$NAME" 2>verify.err || { cat verify.err; false; }
	[ ! -s verify.err ] || { cat verify.err; false; }
	systemd-analyze security --offline=yes --threshold=20 "./$NAME" | tail -n 1
}

@test "push and pull; twice: nothing is started again" {
	ringup login --ca reg/ca.pem -u ringup "$A" <reg/password
	ringup -q push --ca reg/ca.pem oci:image:1 "$A/lab/x:1" >/dev/null
	ringup inspect --ca reg/ca.pem "$A/lab/x:1" >/dev/null
	there ringup registry serve --folder "$PWD/reg" >out
	grep -q 'runs already under systemd' out
	! grep -qv is-active standin/calls
	there ringup registry status --folder "$PWD/reg" | grep 'runs under systemd'
}

@test "gc stops it meanwhile, and starts it again" {
	ringup -q rm --ca reg/ca.pem "$A/lab/x:1" >/dev/null
	there ringup registry gc --folder "$PWD/reg"
	grep -q "disable --quiet --now $NAME" standin/calls
	there ringup registry --json status --folder "$PWD/reg" | jq -e '.as == "systemd" and .running and .used_bytes < 900000'
	ringup -q push --ca reg/ca.pem oci:image:1 "$A/lab/x:1" >/dev/null
}

@test "stop: disabled, and nothing runs" {
	there ringup registry stop --folder "$PWD/reg"
	[ "$(grep -v is-active standin/calls)" = "systemctl disable --quiet --now $NAME" ]
	there test ! -e "/etc/systemd/system/multi-user.target.wants/$NAME"
	[ ! -e "/proc/$(cat standin/pid)/exe" ]
}

@test "from unit to process and back, with the same images" {
	there ringup registry serve --folder "$PWD/reg" --as process | grep 'runs as a process'
	ringup inspect --ca reg/ca.pem "$A/lab/x:1" >/dev/null
	there ringup registry serve --folder "$PWD/reg" | grep 'runs under systemd'
	ringup inspect --ca reg/ca.pem "$A/lab/x:1" >/dev/null
	ringup -q push --ca reg/ca.pem oci:image:1 "$A/lab/y:1" >/dev/null
}

@test "a folder that the server's user cannot reach: says so, and nothing stays" {
	mkdir -m 700 closed
	! there ringup registry serve --folder "$PWD/closed/reg" --address "127.0.0.1:1$((RANDOM % 9000 + 1000))" 2>err
	grep -q 'ringup-registry cannot reach' err
	! there ringup registry serve --folder "$PWD/a b" --address "127.0.0.1:1$((RANDOM % 9000 + 1000))" 2>err
	grep -q 'a systemd unit cannot hold the path' err
}

@test "--install: Debian's own unit is masked before its package comes" {
	# Stand-in for apt-get: 'installs' the program by showing it again.
	cat >bin/apt-get <<-END
		#!/bin/sh
		echo "apt-get \$*" >>"$STANDIN/calls"
		umount /usr/bin/docker-registry
	END
	chmod +x bin/apt-get
	there mount --bind /dev/null /usr/bin/docker-registry
	there ringup registry serve --folder "$PWD/reg" --install >out 2>&1 || { cat out standin/calls; false; }
	grep 'under systemd' out
	[ "$(grep -v is-active standin/calls | head -n 2)" = "systemctl mask --quiet docker-registry.service
apt-get install --yes --no-install-recommends docker-registry" ]
	rm bin/apt-get
}

@test "it does not start: the journal's words" {
	there ringup registry stop --folder "$PWD/reg"
	python3 -c "
import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', ${A##*:}))
s.listen()
time.sleep(60)" </dev/null 3>&- 4>&- &
	local pid=$! status=0
	sleep 0.5
	there ringup registry serve --folder "$PWD/reg" 2>err || status=$?
	kill "$pid"
	cat err
	[ "$status" = 1 ]
	grep -q 'address already in use' err
	grep -q "disable --quiet --now $NAME" standin/calls
}
