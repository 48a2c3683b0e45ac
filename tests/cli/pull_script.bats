#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2034 # until_true evaluates its words
# deployer/remote/pull.sh: the login for a host's engine is there while the engine pulls and never longer, whatever
# ends the pull. `sleep` stands for the engine; ssh and sshd are real.

load helper
bats_require_minimum_version 1.5.0

setup() {
	common_setup
	SHELL_OF_HOSTS=$(command -v dash || echo sh)
	SCRIPT=$BATS_TEST_TMPDIR/pull.sh
	# a path of this test's own, by which its processes are told from others'
	cp "$ROOT/deployer/remote/pull.sh" "$BATS_TEST_TMPDIR/pull.sh"
}

teardown() {
	local process
	for process in $(engine) $(scripts); do kill -9 "$process" 2>/dev/null || true; done
}

# scripts: the processes of the script, its watcher among them.
scripts() {
	pgrep -f "^$SHELL_OF_HOSTS $SCRIPT login"
}

# engine: the process that stands for the engine.
engine() {
	local script
	for script in $(scripts); do pgrep -P "$script" -x sleep && return; done
	return 1
}

until_true() {
	local left=100
	until eval "$1"; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "still not: $1"; ls -l login 2>/dev/null; return 1; }
		sleep 0.05
	done
}

# begin [COMMAND]: the script with a pull that lasts; its login is on disk. Descriptor 8 is its stdin.
begin() {
	mkfifo input
	# a shell cannot trap what its caller ignores, as nohup does
	env --default-signal=HUP,PIPE "$SHELL_OF_HOSTS" "$SCRIPT" login 'sleep 300' <input >out 2>&1 3>&- 4>&- &
	PULL=$!
	exec 8>input
	printf '{"auths":"hush"}\n' >&8
	until_true '[ "$(cat login/config.json 2>/dev/null)" = "{\"auths\":\"hush\"}" ]'
	until_true 'engine >/dev/null'
	SLEEP=$(engine)
}

# gone: no login, no pull, no watcher.
gone() {
	until_true '[ ! -e login ]'
	until_true '! kill -0 "$SLEEP" 2>/dev/null'
	until_true '! scripts >/dev/null'
}

# pull LINE COMMAND: to its end, with stdin open as ringup keeps it.
pull() {
	rm -f input
	mkfifo input
	exec 8<>input
	printf '%s\n' "$1" >&8
	run timeout 20 "$SHELL_OF_HOSTS" "$SCRIPT" login "$2" <&8
	exec 8>&-
	echo "$output"
}

@test "the engine sees the login and no input; afterwards it is gone, and the status is the pull's" {
	pull '{"auths": {"a b": "c\\d"}}' 'sh -c "stat -c %a login login/config.json; cat login/config.json -; exit 7"'
	[ "$status" = 7 ]
	[ "$output" = $'700\n600\n{"auths": {"a b": "c\\\\d"}}' ]
	[ ! -e login ]
	pull x true
	[ "$status" = 0 ]
	until_true '! scripts >/dev/null'
}

@test "an empty line pulls without a login; what an earlier run left is not taken" {
	mkdir login
	echo old >login/config.json
	pull '' 'find login'
	[ "$status" = 0 ]
	[ "$output" = login ]
	[ ! -e login ]
}

@test "ringup that is gone before it gave a login: nothing is pulled" {
	run "$SHELL_OF_HOSTS" "$SCRIPT" login 'touch pulled' </dev/null
	[ "$status" != 0 ]
	[ ! -e pulled ] && [ ! -e login ]
}

@test "the connection breaks: the login goes at once, and the pull ends" {
	begin
	exec 8>&-
	gone
}

@test "a signal ends the script: the login goes, and the pull ends" {
	local signal
	for signal in TERM HUP INT PIPE; do
		[ "$signal" != INT ] || continue # a shell's background jobs ignore it
		rm -f input
		begin
		kill -s "$signal" "$PULL"
		gone
		exec 8>&-
	done
}

@test "the script itself is killed: the watcher removes the login when the connection ends" {
	begin
	kill -9 "$PULL"
	exec 8>&-
	gone
}

# still_machine: a machine on which nothing moves, as far as the script can see.
still_machine() {
	mkdir -p root/proc/net
	printf 'Inter-| Receive\n face |bytes\n  eth0: 1000 1 0\n' >root/proc/net/dev
	echo '   8       0 sda 1 0 8 1 1 0 800 1' >root/proc/diskstats
	export RINGUP_ROOT=$PWD/root
}

@test "a pull that stands still is ended and said; one whose bytes arrive goes on, and they are counted" {
	still_machine
	rm -f input
	mkfifo input
	exec 8<>input
	echo >&8
	run timeout 30 "$SHELL_OF_HOSTS" "$SCRIPT" login 'sh -c "trap exit TERM; while :; do sleep 0.1; done"' 2 <&8
	exec 8>&-
	[ "$status" = 124 ]
	[[ $output == *"the pull stands still: nothing has arrived for 2 s"* ]]
	[[ $output == *"stalled=yes"* ]]
	# the pull itself is what brings a megabyte here
	pull '' "sh -c 'sed -i s/1000/1049576/ root/proc/net/dev; sleep 2.5'"
	[ "$status" = 0 ]
	[[ $output != *stalled* ]]
	until_true '! scripts >/dev/null'
}

@test "a real ssh that is killed in the middle leaves no login on the host" {
	ssh-keygen -q -t ed25519 -N '' -f host
	ssh-keygen -q -t ed25519 -N '' -f id
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	printf 'HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\n' "$PWD/host" "$PWD/id.pub" >sshd
	echo "here $(cat host.pub)" >known
	local line
	printf -v line 'cd %q && exec %q %q login "sleep 300"' "$PWD" "$SHELL_OF_HOSTS" "$SCRIPT"
	mkfifo input
	ssh -F none -i id -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=known \
		-o "ProxyCommand=/usr/sbin/sshd -i -f $PWD/sshd" here "$line" <input >out 2>&1 3>&- 4>&- &
	local ssh=$!
	exec 8>input
	echo '{"auths":"hush"}' >&8
	until_true '[ "$(cat login/config.json 2>/dev/null)" = "{\"auths\":\"hush\"}" ]'
	until_true 'engine >/dev/null'
	SLEEP=$(engine)
	kill -9 "$ssh"
	gone
	exec 8>&-
}
