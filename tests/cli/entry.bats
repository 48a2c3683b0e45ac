#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # words for other shells
# images/entry: what a container's first process prepares, so that each rank finds the same names, environment and
# directory whichever way it is started. The lab's tests have it in real containers.

load helper
load namespaces
bats_require_minimum_version 1.5.0

setup() {
	common_setup
	ENTRY=$ROOT/images/entry
	OWN=$(cat /proc/sys/kernel/hostname)
	printf '%s\n' '10.0.0.1 node01' '10.0.0.2 Two' 'fd00::3 node03' >cluster
}

# --- ringup-hosts ------------------------------------------------------------------------------

@test "hosts: the cluster's names are added, and the file's own lines stay" {
	printf '%s\n' '# of the engine' '127.0.0.1 localhost' '' '10.9.9.9	files.site files # disk' >hosts
	cp hosts engine
	RINGUP_HOST=Two "$ENTRY/ringup-hosts" cluster hosts
	{
		cat engine
		echo '10.0.0.1 node01 # ringup'
		echo "10.0.0.2 Two $OWN # ringup"
		echo 'fd00::3 node03 # ringup'
	} | diff - hosts
}

@test "hosts: a line that has a name at the right address stays as it is, and is not doubled" {
	printf '%s\n' '10.0.0.1 node01.site NODE01 # rack 1' "10.0.0.2	two.site $OWN" >hosts
	cp hosts engine
	RINGUP_HOST=Two "$ENTRY/ringup-hosts" cluster hosts
	{
		cat engine
		printf '%s\n' '10.0.0.2 Two # ringup' 'fd00::3 node03 # ringup'
	} | diff - hosts
}

@test "hosts: a name of the cluster, or the host's own, stays at no other address" {
	printf '%s\n' '127.0.1.1 node01.site NODE01 # Debian' '127.0.1.1 two' "127.0.0.1 localhost $OWN" '::1 node03#x' >hosts
	RINGUP_HOST=node01 "$ENTRY/ringup-hosts" cluster hosts
	[ "$(grep -v ' # ringup$' hosts)" = $'127.0.1.1 node01.site\n127.0.0.1 localhost' ]
}

@test "hosts: a name that is not this host's gets no alias, and neither does a host without one" {
	echo '127.0.0.1 localhost' >hosts
	RINGUP_HOST=other "$ENTRY/ringup-hosts" cluster hosts
	run ! grep -w "$OWN" hosts
	env -u RINGUP_HOST "$ENTRY/ringup-hosts" cluster hosts
	run ! grep -w "$OWN" hosts
	[ "$(wc -l <hosts)" = 4 ]
}

@test "hosts: again: nothing is written; a changed list replaces the lines, in place" {
	local before
	echo '127.0.0.1 localhost' >hosts
	"$ENTRY/ringup-hosts" cluster hosts
	before=$(stat -c '%i %Y %Z' hosts)
	sleep 0.05
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(stat -c '%i %Y %Z' hosts)" = "$before" ]
	echo '10.0.0.4 node04' >cluster
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(cat hosts)" = $'127.0.0.1 localhost\n10.0.0.4 node04 # ringup' ]
	[ "$(stat -c %i hosts)" = "${before%% *}" ]
	: >cluster
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(cat hosts)" = '127.0.0.1 localhost' ]
}

@test "hosts: programs find exactly the cluster's address" {
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 node01 two' >hosts
	RINGUP_HOST=node01 "$ENTRY/ringup-hosts" cluster hosts
	run own_namespaces --mount sh -c 'mount --bind hosts /etc/hosts && for name; do getent ahosts "$name"; done | cut -d" " -f1 | uniq | xargs' \
		sh node01 two node03 localhost "$OWN"
	[ "$status" = 0 ]
	[[ "$output" =~ ^"10.0.0.1 10.0.0.2 fd00::3 "(::1|127.0.0.1)" 10.0.0.1"$ ]] || { echo "$output" && false; }
}

@test "hosts: a file that cannot be written stays, and a missing list is an error" {
	echo '127.0.0.1 localhost' >hosts
	run own_namespaces --mount sh -c 'mount --bind hosts hosts && mount -o remount,bind,ro hosts && "$0" cluster hosts' "$ENTRY/ringup-hosts"
	[ "$status" = 0 ]
	[[ "$output" == *"hosts cannot be written"* ]]
	[ "$(cat hosts)" = '127.0.0.1 localhost' ]
	run "$ENTRY/ringup-hosts" missing hosts
	[ "$status" = 1 ]
	[[ "$output" == *"missing is missing: run 'ringup up'"* ]]
}

@test "hosts: 4096 of them beside 20000 lines of a site" {
	seq 4096 | awk '{print "10.0." int($1 / 256) "." $1 % 256, "node" $1}' >cluster
	seq 20000 | awk '{print "10.1." int($1 / 256) "." $1 % 256, "site" $1, "node" $1}' >hosts
	"$ENTRY/ringup-hosts" cluster hosts
	[ "$(grep -c ' # ringup$' hosts)" = 4096 ]
	[ "$(wc -l <hosts)" = 24096 ]
	run ! grep -E '^10\.1\..* node(1|4096)$' hosts
	grep -q '^10\.1\..* node4097$' hosts
}

# --- ringup-login ------------------------------------------------------------------------------

# save SHELL NAME=VALUE...: what the first process does; its environment is in the file `wanted`.
save() {
	local shell=$1
	shift
	env -i "$@" python3 -c '
import os, subprocess, sys
open("wanted", "wb").write(open("/proc/self/environ", "rb").read())
subprocess.run([*sys.argv[1].split(), sys.argv[2], "--save", "kept", str(os.getpid())], check=True, cwd=sys.argv[3])
' "$shell" "$ENTRY/ringup-login" "$PWD"
}

# log_in SHELL COMMAND [NAME=VALUE...]: what sshd does.
log_in() {
	local shell=$1 command=$2
	shift 2
	(
		cd /
		# shellcheck disable=SC2086 # a shell and its option
		env -i PATH=/usr/bin:/bin HOME=/nowhere USER=u LOGNAME=u MAIL=/m SHELL=/bin/sh SSH_CONNECTION=c SSH_TTY=t \
			SSH_ORIGINAL_COMMAND="$command" "$@" $shell "$ENTRY/ringup-login" "$OLDPWD/kept"
	)
}

# lines FILE: its variables, one a line, but for those that each shell sets for itself.
lines() {
	tr '\0\n' '\n~' <"$1" | grep -avE '^(SHLVL|PWD|OLDPWD|_)=' | sort
}

@test "login: the environment of the first process, byte by byte, in each shell" {
	local shell
	for shell in dash 'bash --posix' 'busybox sh'; do
		save "$shell" PATH="$PATH" HOME=/root EMPTY= SPACES='  a  b ' QUOTES="it's \"so\" \`x\` \$HOME \\ \\n" SIGNS='# % = ; & *' \
			LINES=$'a\nb\n\nc\n' BYTES=$'\xff\xfe\t\x7f' UID=77 IFS=ab OPTIND=5 PPID=1 SECONDS=x RANDOM=x SHELLOPTS=braceexpand:hashall LC_ALL=C.UTF-8 line=1 login_line=2 shell=3 \
			CDPATH=/usr ENV= we.ird=1 'BASH_FUNC_f%%=() { echo f
}'
		# not read by another shell, which would leave some of them out
		log_in "$shell" 'import os; open("got", "wb").write(open("/proc/self/environ", "rb").read()); print(os.getcwd())' \
			SHELL="$(python3 -c 'import sys; print(sys.executable)')" >where
		[ "$(cat where)" = "$PWD" ]
		diff <(lines wanted) <(lines got | grep -avE '^SSH_(CONNECTION|TTY)=')
	done
}

@test "login: no value is run or becomes a setting" {
	save dash PATH="$PATH" A='x$(touch ran)`touch ran`' B=$'1\nexport C=2\ntouch ran' D="';touch ran;'"
	log_in dash 'printf "%s|" "$A" "$B" "${C-no}" "$D"' >out
	[ "$(cat out)" = 'x$(touch ran)`touch ran`|1
export C=2
touch ran|no|'"';touch ran;'|" ]
	[ ! -e ran ]
}

@test "login: the command's words, input, output and status are its own" {
	save dash PATH="$PATH"
	[ "$(echo in | log_in dash 'cat; printf %s "two  words"; printf e >&2' 2>err)" = $'in\ntwo  words' ]
	[ "$(cat err)" = e ]
	run log_in dash 'exit 7'
	[ "$status" = 7 ]
	run log_in dash 'kill -9 $$'
	[ "$status" = 137 ]
	# an empty command does nothing; without one it is a shell
	run log_in dash ''
	[ "$status" = 0 ] && [ "$output" = "" ]
	[ "$(echo 'echo "$0"' | log_in 'env -u SSH_ORIGINAL_COMMAND dash' x)" = /bin/sh ]
}

@test "login: what is kept is closed to others, and nothing of it is an error that says so" {
	save dash A=secret
	[ "$(stat -c %a kept/environment kept/directory | sort -u)" = 600 ]
	mv kept/environment away
	run log_in dash true
	[ "$status" = 1 ]
	[[ "$output" == *"kept/environment is missing: restart the container"* ]]
	mv away kept/environment
	echo /nowhere/at/all >kept/directory
	run log_in dash true
	[ "$status" = 1 ]
	[[ "$output" == *"the container's working directory is gone"* ]]
}

@test "login: the real sshd runs it for every command" {
	ssh-keygen -q -t ed25519 -N '' -f key
	ssh-keygen -q -t ed25519 -N '' -f host
	cp key.pub authorized
	echo "there $(cut -d' ' -f1,2 host.pub)" >known
	printf '%s\n' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/authorized" 'StrictModes no' 'UsePAM no' 'PrintLastLog no' >config
	save dash PATH="$PATH" VALUE='a "b" c' HOME=/there
	printf '#!/bin/sh\nexec %s %s\n' "$ENTRY/ringup-login" "$PWD/kept" >forced
	chmod +x forced
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	run --separate-stderr ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=known -i key \
		-o "ProxyCommand=/usr/sbin/sshd -i -e -f $PWD/config -o ForceCommand=$PWD/forced" there \
		'echo "$VALUE $HOME $PWD ${USER-none} ${SSH_ORIGINAL_COMMAND-none}"; exit 3'
	[ "$status" = 3 ]
	[ "$output" = "a \"b\" c /there $PWD none none" ]
}

@test "a lab in a folder whose path sshd's settings cannot hold is refused, and leaves nothing" {
	mkdir 'a b'
	cd 'a b'
	apart ringup lab up --loopback --hosts 1
	says 2 "/a b' has a blank" "make the lab in a folder without one"
	[ -z "$(ls -A)" ]
}

@test "lab down without a lab ends no job" {
	printf 'hosts: [a]\n' >cluster.yaml
	apart ringup run --local -d --name stays -- sleep 4712
	says 0
	apart ringup lab down
	says 0
	grep -qx 'there is no lab here' ../out
	pgrep -f '^sleep 4712$'
	apart ringup stop stays
	says 0
}

@test "one host is one host" {
	local lab=$BATS_TEST_TMPDIR/one
	mkdir "$lab"
	apart ringup -f "$lab/cluster.yaml" lab up --loopback --hosts 1 3>&- 4>&-
	says 0
	grep -qE '^lab of 1 loopback host is up: 127\.0\.[0-9]+\.2; cluster file' ../out
	# hosts on loopback share the machine's processes: a job must not go on without its hosts
	apart ringup -f "$lab/cluster.yaml" up
	says 0
	apart ringup -f "$lab/cluster.yaml" run -d --name left -- sleep 4711
	says 0
	apart ringup -f "$lab/cluster.yaml" run -d -- no-such-command
	says 127 'cannot run no-such-command'
	apart ringup -f "$lab/cluster.yaml" --json lab down
	says 0 'ends, since it runs on the lab'
	! pgrep -f '^sleep 4711$'
	apart ringup -f "$lab/cluster.yaml" lab up --loopback --hosts 1 3>&- 4>&-
	apart ringup -f "$lab/cluster.yaml" down
	cp ../out down.out
	apart ringup -f "$lab/cluster.yaml" lab down
	says 0
	grep -q '^cluster lab is down on 1 host' down.out
	! grep -q hosts down.out
}
