#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Where root, namespaces or an engine cannot be had: three hosts on 127.0.0.2 to .4 with `engine: none`,
# started by root on request and by an ordinary user without one.

load helper

setup_file() {
	lab_begin
	RINGUP=$(command -v ringup)
	TEST_USER=rltest$$
	export RINGUP TEST_USER
}

teardown_file() {
	local status=0
	if id "$TEST_USER" >/dev/null 2>&1; then
		as_user ringup -q lab down || true
		rm -rf "$LAB/home"
		userdel "$TEST_USER" || status=1
	fi
	lab_end || status=1
	return $status
}

setup() {
	cd "$LAB"
}

# as_user CMD...: as the ordinary user, in its own folder and with nothing of root's environment.
as_user() {
	(cd "$LAB/home" && runuser -u "$TEST_USER" -- env -i HOME="$LAB/home" PATH="$PATH" LC_ALL=C.UTF-8 "$@" \
		</dev/null 3>&- 4>&-)
}

# The third number of the hosts' addresses: another loopback lab of this machine has another one.
subnet() {
	local folder
	for folder in "$LAB" "$LAB/home"; do
		[ ! -e "$folder/.ringup/lab/state.json" ] || jq -r .subnet "$folder/.ringup/lab/state.json" >"$LAB/.subnet"
	done
	cat "$LAB/.subnet"
}

# Which of the lab's hosts listen, by the last number of their addresses.
listeners() {
	ss -Hltn | awk '{print $4}' | sed -nE "s/^127\.0\.$(subnet)\.([0-9]+):9422$/\1/p" | sort -n | xargs
}

# Six verified ranks, by the report in FILE.
passed() {
	jq -e '.verdict == "pass" and (.results | length >= 2) and all(.results[]; .wrong == 0)' "$1" &&
		[ "$(jq -r '.ranks[].host' "$1" | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
}

@test "root: lab up --loopback starts three sshds and says why" {
	run --separate-stderr ringup lab up --hosts 3 --loopback 3>&- 4>&-
	echo "$stderr"
	[ "$status" = 0 ]
	[[ "$stderr" == *"loopback hosts with engine: none, because --loopback was given"* ]]
	[ "$(listeners)" = "2 3 4" ]
	grep -q 'engine: none' cluster.yaml
	[ "$(ssh-keygen -lf .ringup/lab/known_hosts | awk '{print $2}' | sort -u | wc -l)" = 3 ]
}

@test "root: up puts the worker there; a second one changes nothing" {
	up
	local before host
	for host in node01 node02 node03; do
		cmp "$BUILD/allreduce" ".ringup/lab/$host/state/ringup/lab/bin/allreduce"
		[ "$(stat -c %a ".ringup/lab/$host/state/ringup/lab/ssh/secret")" = 600 ]
	done
	before=$(find .ringup/lab/node* -type f ! -name sshd.log -printf '%p %i %C@\n' | sort)
	ringup --json up >up.json 2>/dev/null
	jq -e '.ssh_connections == 3 and all(.hosts[]; .ok and (.changed | not))' up.json
	same files "$before" "$(find .ringup/lab/node* -type f ! -name sshd.log -printf '%p %i %C@\n' | sort)"
	[ "$(ringup --json status 2>/dev/null | jq -r '[.hosts[].state] | join(" ")')" = "ready ready ready" ]
}

@test "exec: all that hosts print is printed, in their order, or as it comes at a terminal" {
	local host
	ringup exec -l -H 'node[01-02]' -- seq 1 1500000 | cksum >got # more than the 8 MiB that --json keeps
	for host in node01 node02; do seq 1 1500000 | sed "s/^/$host: /"; done | cksum | diff - got
	rm got
	ringup --json exec -l -H node01 -- seq 1 3000000 2>/dev/null | jq -e '.hosts[0].truncated'
	# the first line is there while the command still waits for a file
	script -qec "ringup exec -l -H node01 -- sh -c 'echo one; while [ ! -e $LAB/go ]; do sleep 0.1; done; echo two'" /dev/null >seen &
	wait_for 20 grep -q 'node01: one' seen
	! grep -q 'two' seen
	touch go
	wait $!
	grep -q 'node01: two' seen
	rm go seen
	[ "$(timeout 60 ringup exec -l -H 'node[01-02]' -- yes 2>/dev/null | head -n 1)" = 'node01: y' ]
	fails 1 exec -l -H node01 --limit 1 -- sh -c 'echo partial; sleep 30'
	says "node01: the command was ended, since it ran for 1 s"
}

@test "root: bench verifies six ranks; wrong data is status 5" {
	ringup --json bench -- -b 1K -e 64K -f 8 -n 3 >bench.json 2>/dev/null
	passed bench.json
	jq -e '.expected.busbw == null and (.pairs == null)' bench.json
	# what is kept here is for its owner only; the lock file is to be committed
	[ "$(find .ringup ringup.lock -maxdepth 1 -type f ! -name '*.log' -printf '%f %m\n' | sort | xargs)" = \
		"bench.lock 600 cluster-id 600 facts.json 600 hosts.json 600 journal.jsonl 600 last-bench.json 600 lock 600 ringup.lock 644" ]
	# a second one at the same time is told
	flock .ringup/bench.lock ringup bench -- -b 1K -e 1K -n 2 >out 2>&1
	grep -q 'warning: another bench of this cluster runs' out
	# a run that takes longer than it may: the host that is waited for last is not blamed
	fails 5 bench --limit 2 -- -b 64M -e 64M -n 100000
	says "the run did not end within --limit 2 s"
	ringup bench -- -b 1K -e 1K -n 2 --find-slow >out 2>/dev/null || [ $? = 5 ] # a busy machine may be found slow
	grep -q '^pairs: ' out
	grep -q '^  0      - ' out
	rm out
	fails 5 bench -- -b 1K -e 1K -n 2 --fault-inject corrupt:4
	says "rank 4" node03
	run ringup exec -H node02 -- sh -c 'echo "$SSH_CONNECTION"'
	[[ "$output" == *"127.0.$(subnet).3 9422"* ]]
}

@test "root: container.env is the environment of all that runs on a host without containers" {
	local before
	before=$(cat cluster.yaml)
	mkdir -p venv/bin
	printf '#!/bin/sh\necho "trains with $TOKEN on $RINGUP_JOB"\n' >venv/bin/train-here
	chmod 755 venv/bin/train-here
	sed -i "s#engine: none,#engine: none, volumes: [/data:/data], env: {PATH: '$PWD/venv/bin:/usr/bin:/bin', TOKEN: 'a b'},#" cluster.yaml
	ringup up 2>err
	grep -F "warning: container.volumes: left out, since these hosts have no containers (engine: none)" err
	[ "$(ringup exec -H node02 -- sh -c 'echo "$TOKEN $PATH"')" = "node02: a b $PWD/venv/bin:/usr/bin:/bin" ]
	[ "$(ringup run -n 1 --name bare -- train-here 2>err)" = "[0 node01] trains with a b on bare" ]
	[ "$(ringup run -n 1 -e TOKEN=mine -- train-here 2>err | cut -d' ' -f3-6)" = "trains with mine on" ]
	ringup bench -H node01 -- -b 1K -e 1K -n 2 >/dev/null
	echo "$before" >cluster.yaml
	ringup up
	rm -r venv err
}

# clone: the same cluster.yaml in another folder, as a colleague has it who cloned the repository.
clone() {
	rm -rf clone
	mkdir clone
	sed "s,\.ringup/lab,$LAB/.ringup/lab,g" cluster.yaml >clone/cluster.yaml
	cd clone
}

# All files of the hosts, with their contents.
hosts_files() {
	find "$LAB"/.ringup/lab/node*/state -type f -exec sha256sum {} + | sort
}

@test "two people, one host: the second one's commands are refused with who, when and from where" {
	local before words time
	before=$(hosts_files)
	time=$(sed -n 's/^time=//p' .ringup/lab/node01/state/ringup/lab/owner)
	[[ "$time" == 20??-??-??T??:??:??Z ]]
	[ "$(stat -c %a .ringup/cluster-id .ringup/lab/node01/state/ringup/lab/owner .ringup/lab/node01/state/ringup/lab | xargs)" = "600 600 700" ]
	clone
	for words in up 'up --dry-run' down 'down --purge' bench 'exec true'; do
		# shellcheck disable=SC2086 # words
		fails 1 $words
		one_line
		says "node01, node02, node03: the cluster 'lab' there" "belongs to somebody else" "$(id -un)@$(hostname)" \
			"started it at $time" "from $LAB;" "a new clone" --take-over
		same "the first one's files" "$before" "$(hosts_files)"
	done
	! ringup --json status >status.json 2>/dev/null || return 1
	jq -e --arg folder "$LAB" 'all(.hosts[]; .state == "foreign" and .owner.folder == $folder and (.owner.ours | not))' status.json
	cd "$LAB"
	ringup --json up >up.json 2>/dev/null
	jq -e 'all(.hosts[]; .ok and (.changed | not))' up.json
	ringup --json status 2>/dev/null | jq -e 'all(.hosts[]; .state == "ready" and .owner.ours)'
	ringup -q bench -- -b 1K -e 1K -n 1 >/dev/null
	rm -r clone up.json
}

@test "two people, one host: --take-over takes it, and then the first one is refused" {
	local id
	clone
	ringup up --take-over >out 2>&1 || { cat out; false; }
	grep "node02: takes over the cluster .* from $LAB" out
	id=$(cat .ringup/cluster-id)
	[ "$(cat "$LAB"/.ringup/lab/node*/state/ringup/lab/owner | grep -c "^id=$id$")" = 3 ]
	ringup -q up
	ringup -q bench -- -b 1K -e 1K -n 1 >/dev/null
	cd "$LAB"
	fails 1 up
	says "belongs to somebody else" "from $LAB/clone;"
	ringup -q up --take-over
	cd clone
	fails 1 down
	ringup -q down --purge --take-over
	[ "$(hosts_files)" = "" ]
	cd "$LAB"
	rm -r clone
	up
}

@test "two people at the same moment: one is the owner, the other is told so" {
	local first second
	ringup -q down --purge
	clone
	cp -r . ../other
	env --chdir=../other ringup up >../other.log 2>&1 3>&- 4>&- &
	ringup up >../clone.log 2>&1 && first=0 || first=$?
	wait $! && second=0 || second=$?
	cd "$LAB"
	cat clone.log other.log
	# each host has one owner, whose files it has; whoever does not own them all was told so
	local host owners=()
	for host in node01 node02 node03; do
		owners+=("$(sed -n 's/^folder=//p' ".ringup/lab/$host/state/ringup/lab/owner")")
		cmp ".ringup/lab/$host/state/ringup/lab/ssh/id_ed25519" "${owners[-1]}/.ringup/keys/id_ed25519"
	done
	case $(printf '%s\n' "${owners[@]}" | sort -u | xargs -n 1 basename | xargs) in
		clone) [ "$first $second" = "0 1" ] ;;
		other) [ "$first $second" = "1 0" ] ;;
		*) [ "$first $second" = "4 4" ] ;;
	esac
	cat clone.log other.log | grep -F "belongs to somebody else"
	ringup -q down --purge --take-over
	rm -r clone other clone.log other.log
	up
}

@test "files of an earlier ringup, which noted no owner: refused, and taken by --take-over" {
	rm .ringup/lab/node02/state/ringup/lab/owner
	fails 4 up
	says node02 "names no owner" "a ringup that noted none" --take-over
	ringup -q up --take-over
	[ "$(sed -n 's/^id=//p' .ringup/lab/node02/state/ringup/lab/owner)" = "$(cat .ringup/cluster-id)" ]
	up
}

@test "a state folder that another user owns, and one behind a link, get no key" {
	local state=.ringup/lab/node03/state/ringup
	ringup -q down --purge
	mkdir -p "$state/lab"
	chown 4242 "$state/lab"
	fails 4 up
	says node03 "$state/lab" "belongs to the user"
	[ -z "$(ls -A "$state/lab")" ]
	rmdir "$state/lab"
	ln -s /tmp "$state/lab"
	fails 4 up
	says node03 "$state/lab" "symbolic link"
	rm "$state/lab"
	up
}

@test "root: hosts without the lock's libraries are named by up, and a job with other ones does not begin" {
	local rc=0
	mkdir other
	printf '#!/bin/sh\necho torch=2.1.0\n' >other/python3 # to the question for its libraries
	chmod +x other/python3
	mv ringup.lock lock.before
	sed 's/^stack:.*/stack: [python, "torch==2.4.0", "os==debian12"]/' cluster.yaml >torch.yaml
	ringup -f torch.yaml up >up.log 2>&1 3>&- 4>&- || rc=$?
	ringup -q -f torch.yaml run -n 1 -- sh -c 'echo ran' >ran 2>/dev/null 3>&- 4>&- || rc=$?
	run ringup -q -f torch.yaml run -e PATH="$LAB/other:$PATH" -n 2 -- python3 train.py 3>&- 4>&-
	# up asks with container.env, too
	sed -i "s#engine: none,#engine: none, env: {PATH: '$LAB/other:$PATH'},#" torch.yaml
	ringup -f torch.yaml up >env.log 2>&1 3>&- 4>&- || rc=$?
	cat up.log env.log ran
	mv lock.before ringup.lock
	said=$(<up.log) asked=$(<env.log) ran=$(<ran)
	rm -r torch.yaml other up.log env.log ran
	[ $rc = 0 ]
	[ "$status" = 1 ]
	# this machine's own Python may have a torch
	[[ "$said" =~ "node01, node02, node03: ".*"torch"[^,]*", where ringup.lock has 2.4.0".*"recipe --format script" ]]
	[[ "$asked" == *"torch 2.1.0, where ringup.lock has 2.4.0"* ]]
	[ "$ran" = "[0 node01] ran" ]
	echo "$output"
	[[ "$output" == *"node01 has torch 2.1.0, where ringup.lock has 2.4.0"* ]]
	[[ "$output" != *"its last lines"* ]]
	[[ "$output" != *"[0 node01] "* ]]
}

@test "root: a launcher that needs containers says so" {
	fails 2 bench --launcher mpirun
	one_line
	says mpirun container
}

@test "root: one of three hosts down ends with status 4, the others are fine" {
	kill "$(state '.hosts[1].process.pid')"
	wait_for 5 eval '[ "$(listeners)" = "2 4" ]'
	fails 4 up
	one_line
	says node02 "127.0.$(subnet).3" 9422 refused sshd
	ringup -q lab up --hosts 3 --loopback 3>&- 4>&-
	[ "$(listeners)" = "2 3 4" ]
	up
}

@test "root: a host that was taken out of cluster.yaml is named, and down HOST purges it" {
	cp cluster.yaml kept.yaml
	sed -i '/node03/d' cluster.yaml
	ringup up >out 2>&1
	grep -F "node03 (127.0.$(subnet).4) is not in cluster.yaml any more" out
	grep -F "'ringup down node03' removes them" out
	ringup status >out 2>&1
	grep -F "'ringup down node03'" out
	[ -s .ringup/lab/node03/state/ringup/lab/ssh/id_ed25519 ]
	# one that does not answer stays known
	kill "$(state '.hosts[2].process.pid')"
	wait_for 5 eval '[ "$(listeners)" = "2 3" ]'
	fails 1 down node03
	says node03 refused hosts.json
	cp kept.yaml cluster.yaml
	ringup -q lab up --hosts 3 --loopback 3>&- 4>&-
	sed -i '/node03/d' cluster.yaml
	run ringup down node03
	[ "$status" = 0 ]
	[ "$(find .ringup/lab/node03/state -type f)" = "" ]
	[ -s .ringup/lab/node02/state/ringup/lab/ssh/id_ed25519 ]
	ringup up >out 2>&1
	run ! grep -F 'any more' out
	cp kept.yaml cluster.yaml
	up
	rm out kept.yaml
}

@test "root: history says what was done; there is no container to restart, and nothing to go back to" {
	ringup --json history >history.json
	jq -e '.history[0] | .number == 1 and .command == "up" and .outcome == "done" and [.hosts[].outcome] == ["changed", "changed", "changed"]' history.json
	jq -e 'all(.history[]; .user and .time and .outcome)' history.json
	ringup history | grep -E '^ +1 .* up +done +3 of 3 '
	ringup history -H node02 | grep -E '^ +1 .* up +done +1 of 1 '
	ringup --json history -H 'node0[1-2]' -x node01 | jq -e 'all(.history[]; [.hosts[].host] == ["node02"])'
	fails 2 history -H node09
	[ "$(stat -c %a .ringup/history .ringup/history/000001.json | xargs)" = "700 600" ]
	fails 2 restart
	says "no container" none
	fails 2 rollback
	says "nothing to go back to"
	rm history.json
}

@test "root: down --purge, then lab down leave nothing" {
	ringup -q down --purge
	[ "$(find .ringup/lab/node*/state -type f 2>/dev/null)" = "" ]
	up # also without a purge before
	rm -f up.json bench.json
	ringup -q lab down
	[ "$(listeners)" = "" ]
	[ "$(ls -A | grep -vE '^(\.pids|\.subnet|cache)$')" = "" ]
	nothing_left
}

@test "labs that start at the same time take different addresses" {
	local i pids=()
	for i in 1 2 3 4 5 6; do
		mkdir "many$i"
		(cd "many$i" && exec ringup -q lab up --hosts 1 --loopback) >"many$i/log" 2>&1 3>&- 4>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || true
	done
	cat many?/log
	jq -r 'select(.hosts[0].process.pid > 0).subnet' many?/.ringup/lab/state.json | sort -u >subnets
	for i in 1 2 3 4 5 6; do
		(cd "many$i" && ringup -q lab down)
		rm -r "many$i"
	done
	[ "$(wc -l <subnets)" = 6 ]
	rm subnets
}

@test "ordinary user: lab up says that it is not root, and starts loopback hosts" {
	useradd --home-dir "$LAB/home" --create-home --shell /bin/bash "$TEST_USER"
	chmod 755 "$LAB"
	as_user test -x "$RINGUP" || { echo "the user $TEST_USER cannot run $RINGUP: a folder above it is closed"; false; }
	as_user ringup lab up --hosts 3 >out 2>err || { cat out err; false; }
	grep -F 'loopback hosts with engine: none, because this user is not root' err
	[ "$(listeners)" = "2 3 4" ]
	[ "$(pgrep -u "$TEST_USER" sshd | wc -l)" = 3 ]
	grep -q "user: $TEST_USER" home/cluster.yaml
	rm out err
}

@test "ordinary user: up and bench work and verify" {
	as_user ringup up >out 2>&1 || { cat out; false; }
	as_user ringup --json bench -- -b 1K -e 64K -f 8 -n 3 >bench.json 2>out || { cat out; false; }
	passed bench.json
	rm out bench.json
}

@test "ordinary user: lab down leaves no process and no file" {
	as_user ringup lab down
	[ "$(listeners)" = "" ]
	# ended ones may wait for init to reap them
	same processes "" "$(ps -u "$TEST_USER" -o stat=,pid=,args= | grep -v ^Z)"
	[ "$(find home -newer home/.profile -type f ! -path '*/.cache/*')" = "" ]
	[ ! -e home/.ringup ] && [ ! -e home/cluster.yaml ] && [ ! -e home/.local ]
}
