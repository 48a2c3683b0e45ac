#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run', wait, stop, ps and logs on hosts that are this machine (jobs.bash).

load helper
load jobs
setup() { jobs_setup; }
teardown() { pkill -9 -f "^$MARK" || true; }

# in_background WORD...: ringup run, whose process is $pid. bash starts background jobs with SIGINT ignored; python
# gives it back.
in_background() {
	: >out
	python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' \
		ringup run "$@" >out 2>err 3>&- 4>&- &
	pid=$!
}

@test "a job runs" {
	job -- sh -c 'echo "$RANK of $WORLD_SIZE"' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 0 of 2
[1 node02] 1 of 2" ]
}

@test "-e NAME is the value that it has here" {
	KEPT="a b" job -e KEPT -e OTHER=1 -- sh -c 'echo "$KEPT $OTHER"' </dev/null
	[ "$(sort out)" = "[0 node01] a b 1
[1 node02] a b 1" ]
	job -e NOT_SET_ANYWHERE -- true </dev/null
	[ "$status" = 2 ]
	grep -q -- '--env NOT_SET_ANYWHERE: it has no value here' err
}

@test "the launcher 'ssh' tells a rank of no other" {
	job --launcher ssh -- sh -c 'echo "${RANK-none} ${WORLD_SIZE-none} ${RINGUP_JOB:+job}"' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] none none job
[1 node02] none none job" ]
}

@test "a second Ctrl-C or stop ends the waiting, and the job is called stopped" {
	for way in INT:130 TERM:143; do
		signal=${way%:*}
		in_background -- sh -c "trap '' TERM; echo up; $MARK 100; $MARK 100"
		begins 2
		kill -s $signal $pid
		sleep 0.7 # sooner, the two would be one
		until grep -q 'ends the job on its 2 hosts, which may take 4 s; once more: do not wait for it' err; do sleep 0.05; done
		kill -s $signal $pid
		status=0
		wait $pid || status=$?
		[ "$status" = "${way#*:}" ]
		grep -q 'node01: it did not say that everything of the job has ended there' err
		ringup ps --json | jq -e ".jobs[-1] | .state == \"stopped\" and .status == $status"
		# the hosts end it by themselves
		job_left_nothing
	done
}

@test "two signals at once, as of timeout(1), are one" {
	in_background -- sh -c "echo up; exec $MARK 100"
	begins 2
	kill -TERM $pid $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 143 ]
	! grep -q 'did not say' err
	ringup ps --json | jq -e '.jobs[-1].state == "stopped"'
	job_left_nothing
}

@test "SIGTERM and SIGHUP have statuses of their own, and stop that of Ctrl-C" {
	for signal in TERM:143 HUP:129 stop:130; do
		in_background --name "by-${signal%:*}" -- sh -c "echo up; exec $MARK 100"
		begins 2
		if [ "${signal%:*}" = stop ]; then
			ringup -q stop by-stop
		else
			kill -s "${signal%:*}" $pid
			grep -q "interrupted by SIG${signal%:*}" <(tail -f --pid $pid err)
		fi
		status=0
		wait $pid || status=$?
		[ "$status" = "${signal#*:}" ] || { echo "$signal: $status"; cat err; false; }
		ringup ps --json | jq -e ".jobs[] | select(.job == \"by-${signal%:*}\") | .state == \"stopped\" and .status == $status"
		job_left_nothing
	done
}

@test "SIGUSR1 and SIGUSR2 are the ranks', also of ranks that join; ringup and launchers live" {
	cat >bin/torchrun <<-'END'
		#!/bin/sh
		while [ "${1##*/}" != ringup-job ]; do shift; done
		[ "$PET_LOCAL_ADDR" = 127.0.0.1 ] && RANK=0 || RANK=1
		export RANK WORLD_SIZE=2 LOCAL_RANK=0
		"$@"
	END
	chmod 755 bin/torchrun
	echo 'trap "echo one" USR1; trap "echo two; exit 0" USR2; echo up; while :; do sleep 0.1; done' >train.sh
	for launcher in env torchrun; do
		in_background --launcher $launcher -- sh "$PWD/train.sh"
		begins 2
		kill -USR1 $pid
		for _ in $(seq 200); do
			[ "$(grep -c one out)" != 2 ] || break
			sleep 0.05
		done
		kill -USR2 $pid
		status=0
		wait $pid || status=$?
		[ "$status" = 0 ] || { echo "$launcher: $status"; cat out err; false; }
		[ "$(grep -c one out) $(grep -c two out)" = "2 2" ]
	done
}

@test "a plan larger than a pipe, for a host that is slow to read it" {
	local env=()
	for i in $(seq 8); do
		env+=(-e "LARGE$i=$(head -c 120000 /dev/zero | tr '\0' x)")
	done
	SLOW=6 job "${env[@]}" --ppn 2 --hosts node01 -- sh -c 'printf "%s\n" "$LARGE8" | wc -c' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 120001
[1 node01] 120001" ]
}

@test "stdin goes to rank 0, every byte of it; the others read /dev/null" {
	head -c 3000000 /dev/urandom >bytes
	job -- sh -c 'cat >got-$RANK' <bytes
	[ "$status" = 0 ]
	cmp bytes state/got-0 || cmp bytes "$(find "$BATS_TEST_TMPDIR" -name got-0)"
	[ ! -s "$(find "$BATS_TEST_TMPDIR" -name got-1)" ]
	echo hello >line
	job --stdin 1 -- sh -c 'read x; echo "<$x>"; true' <line
	[ "$(sort out)" = "[0 node01] <>
[1 node02] <hello>" ]
	job --stdin none -- sh -c 'read x; echo "<$x>"; true' <line
	[ "$(sort out)" = "[0 node01] <>
[1 node02] <>" ]
	job --stdin none -n 1 -- readlink /proc/self/fd/0 <bytes
	[ "$(cat out)" = "[0 node01] /dev/null" ]
	job -n 1 -- readlink /proc/self/fd/0 </dev/null
	[ "$(cat out)" = "[0 node01] /dev/null" ]
	job -n 1 -- readlink /proc/self/fd/0 <&-
	[ "$(cat out)" = "[0 node01] /dev/null" ]
}

@test "a rank that does not read its stdin holds up nothing, and yes ends when nobody reads it" {
	yes | timeout 60 ringup run -n 1 -- sh -c 'sleep 2; echo slept' >out 2>err 3>&- 4>&-
	[ "$(cat out)" = "[0 node01] slept" ]
	yes | timeout 60 ringup run -n 1 -- head -n 1 >out 2>err 3>&- 4>&-
	[ "$(cat out)" = "[0 node01] y" ]
}

@test "stdin: what cannot be" {
	for words in "--stdin 2" "--stdin x" "--stdin -1" "-d --stdin 0" "-d -t" "-t" "-t --stdin none"; do
		# shellcheck disable=SC2086 # words
		job $words -- true < <(echo)
		[ "$status" = 2 ] || { echo "$words: $status"; cat err; false; }
	done
	job -t -- true < <(echo)
	grep -q 'the input device is not a TTY' err
	job --stdin 2 -- true < <(echo)
	grep -q 'the job has the ranks 0 to 1' err
}

# A launcher that names its first host as only that one knows itself, and puts rank 0 on the second.
@test "a rank that joins: stdin, and the address of rank 0's host" {
	cat >bin/torchrun <<-'END'
		#!/bin/sh
		while [ "${1##*/}" != ringup-job ]; do shift; done
		[ "$PET_LOCAL_ADDR" = 127.0.0.2 ] && RANK=0 || RANK=1
		export RANK WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=only-here
		exec "$@"
	END
	chmod 755 bin/torchrun
	job --launcher torchrun -- sh -c 'read x; echo "$RANK <$x> $MASTER_ADDR"' < <(echo hello)
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node02] 0 <hello> 127.0.0.2
[1 node01] 1 <> 127.0.0.2" ]
}

@test "a terminal: keys, size, the modes before, the escape; a job in the background reads nothing" {
	python3 "$ROOT/tests/standin/at_terminal.py" >said 2>&1 || { cat said; false; }
	job_left_nothing
}

@test "--retries: ps has one job; wait, logs -f and stop go on with its next start" {
	mkfifo gate
	ringup run -d --retries 2 --name again -n 1 -- sh -c "echo x >>$PWD/tries; echo start \$(wc -l <$PWD/tries); read x <$PWD/gate; exit 3" \
		3>&- 4>&-
	ringup logs -f again >followed 3>&- 4>&- &
	logs=$!
	(status=0; ringup wait again 2>waited || status=$?; echo $status >status) 3>&- 4>&- &
	wait=$!
	# each is told to go on when the one before has ended
	for i in 1 2 3; do
		[ $i = 1 ] || ringup ps --json | jq -e '.jobs | length == 1' >json
		echo go >gate
		[ $i = 3 ] || for _ in $(seq 400); do
			[ "$(ringup ps | awk '/^again/ {print $2, $4}')" != "running $((i + 1))" ] || break
			sleep 0.05
		done
	done
	wait $wait $logs
	[ "$(cat status)" = 3 ]
	grep -q 'again-3: rank 0 on node01 ended with status 3' waited
	[ "$(xargs <followed)" = "[0 node01] start 1 [0 node01] start 2 [0 node01] start 3" ]
	ringup ps --json | jq -e '.jobs == [.jobs[0]] and .jobs[0].job == "again" and .jobs[0].state == "failed"
		and .jobs[0].attempts == ["again", "again-2", "again-3"]'
	[ "$(ringup ps | awk '/^again/ {print $1, $2, $3, $4}')" = "again failed 3 3" ]
	jq -e '.next == "again-2" and .state == "failed"' .ringup/jobs/again/job.json

	ringup run -d --retries 5 --name more -n 1 -- sh -c "mkdir $PWD/more && exit 1; exec $MARK 100" 3>&- 4>&-
	for _ in $(seq 400); do
		[ "$(ringup ps | awk '/^more/ {print $2, $4}')" != "running 2" ] || break
		sleep 0.05
	done
	[ "$(ringup stop more)" = "more is stopped" ]
	ringup ps --json | jq -e '.jobs[-1] | .job == "more" and .state == "stopped" and .attempts == ["more", "more-2"]'
	job_left_nothing
}

# Each host has a folder and a GPU of its own.
hosts_with_gpus() {
	local n
	export RINGUP_HOSTS=$PWD/hosts
	for n in 1 2; do
		mkdir -p "hosts/127.0.0.$n/bin"
		cp -a state "hosts/127.0.0.$n"
		printf '#!/bin/sh\n[ "$1" != -L ] || echo "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-%d)"\n' $n >"hosts/127.0.0.$n/bin/nvidia-smi"
		chmod +x "hosts/127.0.0.$n/bin/nvidia-smi"
	done
}

# What a rank runs: at first it stays, and later it asks whether something of the test still lives.
STAY='mkdir "$0/was.$RANK" 2>/dev/null || { pgrep -f "^$1" >&2 && exit 7; exit 0; }; echo up; exec "$1" 100'

# left_by JOB: a process of the job, which node01's supervisor has not ended with its own since it comes later.
left_by() {
	local id
	id=$(jq -r .id ".ringup/jobs/$1/job.json")
	RINGUP_JOB_ID=$id "$MARK" 100 3>&- 4>&- &
	until grep -qzxF "RINGUP_JOB_ID=$id" /proc/$!/environ; do sleep 0.05; done
}

# lose_node02: nobody reaches it any more, and its supervisor is gone without a word.
lose_node02() {
	echo 'ssh: connect to host 127.0.0.2 port 22: No route to host' >hosts/127.0.0.2/away
	pgrep -f "$PWD/hosts/127.0.0.2/.*ringup-job host" | xargs kill -9
}

@test "--retries: a host that was lost is waited for, and the next start has its GPUs and meets nothing of the one before" {
	hosts_with_gpus
	in_background --retries 1 --gpus 1 -n 2 --name rt -- sh -c "$STAY" "$PWD" "$MARK"
	begins 2
	lose_node02
	until grep 'rt: before it is started again its hosts have 600 s: .*No route to host' err; do kill -0 $pid; sleep 0.05; done
	[ "$(ringup --json ps | jq -r '.jobs[0].state')" = retrying ]
	left_by rt
	rm hosts/127.0.0.2/away
	wait $pid || { cat err; false; }
	grep -q 'rt is started again in 1 s, 1 more time at most' err
	ringup --json ps | jq -e '.jobs[0].attempts == ["rt", "rt-2"]'
	[ -z "$(ls hosts/*/state/.leases/*.job 2>/dev/null)" ]
}

@test "a job that had a host which was lost holds no GPU from the next job" {
	hosts_with_gpus
	in_background --gpus 1 -n 2 -- sh -c "$STAY" "$PWD" "$MARK"
	begins 2
	lose_node02
	! wait $pid || false
	rm hosts/127.0.0.2/away
	left_by job-1
	job --gpus 1 -n 2 -- true </dev/null
	[ "$status" = 1 ]
	grep -q 'node02: GPU 0: job job-1 of cluster lab' err
	kill $!
	job --gpus 1 -n 2 -- true </dev/null
	[ "$status" = 0 ] || { cat err; false; }
}

@test "a job that got no GPUs leaves nothing to look for, on hosts that it has reached and on others" {
	hosts_with_gpus
	job --gpus 1 -n 3 --name large -- true </dev/null
	[ "$status" = 2 ]
	echo 'ssh: connect to host 127.0.0.2 port 22: No route to host' >hosts/127.0.0.2/away
	job --gpus 1 -n 2 --name away -- true </dev/null
	[ "$status" != 0 ]
	jq -se 'all(.state == "failed" and (has("unswept") or has("id") | not))' .ringup/jobs/large/job.json .ringup/jobs/away/job.json
}

@test "a job that was given no name has its own in its leases" {
	hosts_with_gpus
	job --gpus 1 -n 1 -- sh -c 'grep -h ^job= "$0"/hosts/*/state/.leases/*.job' "$PWD" </dev/null
	[ "$(cat out)" = "[0 node01] job=job-1" ]
	job --gpus 1 -n 3 -- true </dev/null
	[ "$status" = 2 ]
	ringup --json ps | jq -e '.jobs[1] | .job == "job-2" and .state == "failed" and .status == 2'
}

@test "--hang-timeout: a host without a rank answers first, and the stacks of the others are waited for" {
	job -n 1 --hang-timeout 1 --name hung -- python3 -c 'import time; print("up", flush=True); time.sleep(300)' </dev/null
	[ "$status" = 124 ]
	grep -q 'File "<string>", line 1 in <module>' .ringup/jobs/hung/stacks.txt
	grep -q 'rank 0: <module> (<string>:1)' err
}

@test "a job's record without its members, or that names itself as the next one, harms no command" {
	mkdir -p .ringup/jobs/empty .ringup/jobs/ring
	echo '{"schema": 1}' >.ringup/jobs/empty/job.json
	echo '{"schema": 1, "next": "ring", "ended": "2026-01-01T00:00:00Z"}' >.ringup/jobs/ring/job.json
	chmod -R go= .ringup
	ringup ps --json | jq -e '.jobs[0].job == "empty" and .jobs[0].state == "lost"'
	for words in "wait empty" "stop empty" "wait ring" "stop ring"; do
		status=0
		# shellcheck disable=SC2086 # words
		timeout 20 ringup $words >out 2>err || status=$?
		[ "$status" -le 2 ] || { echo "$words: $status"; false; }
	done
}

@test "ps: jobs that began in one second stand in the order of their numbers" {
	for i in 10 9 2; do
		mkdir -p .ringup/jobs/job-$i
		echo '{"schema": 1, "started": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:00Z"}' >.ringup/jobs/job-$i/job.json
	done
	chmod -R go= .ringup
	[ "$(ringup ps --json | jq -r '[.jobs[].job] | join(" ")')" = "job-2 job-9 job-10" ]
}

@test "--json with --detach, and with --dry-run" {
	ringup --json run -d --name mine -- sleep 0.1 >out 3>&- 4>&-
	jq -e '.schema == 1 and .job == "mine" and .state == "running" and (.folder | endswith("/jobs/mine"))' out
	ringup wait mine
	status=0
	ringup --json run -d -n 7 -- true >out 2>err 3>&- 4>&- || status=$?
	[ "$status" = 2 ]
	jq -e '.schema == 1 and .state == "failed" and .status == 2' out
	ringup --json run --dry-run --workdir /tmp -e 'A=b c' -e RANK=9 -- python3 'a b' >out </dev/null
	jq -e '.schema == 1 and .launcher == "env" and .ranks == 2 and (.tasks | length) == 2' out
	jq -e '.tasks[1] | .host == "node02" and .rank == 1 and .workdir == "/tmp" and .words == ["python3", "a b"]
		and .env.A == "b c" and .env.WORLD_SIZE == "2" and .env.RANK == "9"' out
	ringup --json run --dry-run --launcher torchrun -- true >out </dev/null
	jq -e '.tasks[0] | .words[0] == "torchrun" and (has("rank") | not)' out
	ringup --json run --dry-run --launcher mpirun -e A=b -- python3 'a b' >out </dev/null
	jq -e '(.tasks | length) == 1 and [.joining[] | .host, .ranks, .words, .env.A] ==
		["node01", [0], ["python3", "a b"], "b", "node02", [1], ["python3", "a b"], "b"]' out
}

# A stand-in for torchrun: as torch.distributed.run it takes the Python of its rank from PYTHON_EXEC.
@test "the command is torchrun's: ringup says it the hosts, and its ranks join" {
	cat >torchrun <<-'END'
		#!/usr/bin/python3
		import os, subprocess, sys
		os.environ |= {"RANK": "0" if "--rdzv_conf=is_host=1" in sys.argv else "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
		at = sys.argv.index("train.py")
		sys.exit(subprocess.run([os.environ["PYTHON_EXEC"], "-u", *sys.argv[at:]]).returncode)
	END
	chmod 755 torchrun
	echo 'import os, sys; print(os.environ["RANK"], sys.executable, sys.argv[1:])' >train.py
	job --workdir "$PWD" -- "$PWD/torchrun" --max_restarts=0 train.py 'a "b"' </dev/null
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 0 /usr/bin/python3 ['a \"b\"']
[1 node02] 1 /usr/bin/python3 ['a \"b\"']" ]
	job -- torchrun --nproc_per_node 8 train.py </dev/null
	[ "$status" = 2 ]
	grep -q "torchrun's --nproc_per_node is for one that starts the ranks by hand; leave it out" err
	# a job's text is a shell's line, but where a launcher knows the words
	printf 'jobs: {a: {command: "torchrun train.py", ppn: 1}, b: {command: "torchrun $X"}}\n' >>cluster.yaml
	ringup --json run --dry-run a 'x y' | jq -e '.launcher == "torchrun" and .tasks[0].words[-2:] == ["train.py", "x y"]'
	ringup --json run --dry-run b | jq -e '.launcher == "env" and .tasks[0].words == ["/bin/sh", "-c", "torchrun $X"]'
}

# lose_supervisor NAME: kills node01's supervisor of the job, whose rank has left a daemon.
lose_supervisor() {
	in_background --hosts node01 --name "$1" -- sh -c "setsid $MARK 100 & echo up; exec $MARK 200"
	begins 1
	for _ in $(seq 200); do
		id=$(jq -r '.id // ""' ".ringup/jobs/$1/job.json")
		[ -z "$id" ] || break
		sleep 0.05
	done
	[ -z "${2:-}" ] || ln -sf "$2" bin/ssh
	kill -9 "$(pgrep -f "^[^ ]*ringup-job host --id $id --address 127.0.0.1 ")"
	status=0
	wait $pid || status=$?
	[ "$status" = 1 ]
	rm -rf /tmp/ringup-job-"$id"-127.0.0.[12]
}

@test "a supervisor is killed: ringup ends what it left, or 'stop' does" {
	lose_supervisor one
	grep -q "node01: the job's supervisor ended without its last word; 1 process that it left is ended now" err
	grep -q 'One that has no RINGUP_JOB_ID in its environment is not found, and may go on' err
	[ "$(pgrep -fc "^$MARK")" = 0 ]
	ringup stop one | grep -qx 'one has ended before (failed)'
	lose_supervisor two "$(command -v false)"
	grep -q "node01: it did not say that everything of the job has ended there; 'ringup stop two' ends what is left" err
	pgrep -f "^$MARK 100"
	ln -sf "$ROOT/tests/standin/local_ssh" bin/ssh
	[ "$(ringup stop two)" = "two has ended before; 1 process of it was left and is ended" ]
	job_left_nothing
	ringup stop two | grep -qx 'two has ended before (failed)'
}

@test "stop: lost jobs of several hosts, and of this machine" {
	local n
	for n in 1 2 3; do
		mkdir -p ".ringup/jobs/job-$n"
		echo "{\"schema\": 1, \"started\": \"2026-01-01T00:00:00Z\", \"id\": \"beef$n\", \"on\": [\"node0$n\"]}" >.ringup/jobs/job-$n/job.json
	done
	sed -i 's/}$/, "local": true}/' .ringup/jobs/job-3/job.json
	chmod -R go= .ringup
	[ "$(ringup stop job-1 job-3 job-2 | grep -c 'was lost; 0 processes of it were left and are ended')" = 3 ]
}

@test "--json wait, logs and stop: one document each" {
	# what fails at once is an error of run already
	status=0
	ringup run -d --name fails -n 1 -- sh -c 'printf "a\0b\377\n"; exit 3' 2>err 3>&- 4>&- || status=$?
	[ "$status" = 3 ]
	grep -F 'fails: rank 0 on node01 ended with status 3' err
	status=0
	ringup --json wait fails >out 2>err || status=$?
	[ "$status" = 3 ]
	jq -es 'length == 1 and (.[0] | .schema == 1 and .job == "fails" and .state == "failed" and .status == 3
		and (.reason | startswith("rank 0 on node01 ended with status 3")))' out
	ringup --json logs fails | jq -es 'length == 1 and (.[0] | .schema == 1 and .job == "fails" and .file == "all.log"
		and .text == "[0 node01] a?b?\n")'
	ringup --json logs -f --rank 0 fails | jq -es 'length == 1 and .[0].text == "a?b?\n" and .[0].state == "failed"'
	ringup run -d --name long -n 1 -- sh -c "echo up; exec $MARK 100" 3>&- 4>&-
	until ringup logs long 2>/dev/null | grep -qF up; do sleep 0.05; done
	ringup --json logs -f long >followed 3>&- 4>&- &
	ringup --json stop long fails | jq -es 'length == 1 and (.[0] | .schema == 1 and
		[.jobs[] | [.job, .state]] == [["long", "stopped"], ["fails", "failed"]])'
	wait $!
	jq -es 'length == 1 and .[0].text == "[0 node01] up\n" and .[0].state == "stopped"' followed
	job_left_nothing
}

# The daemon has left its rank, so nothing but its variable says whose it is.
@test "ringup and a supervisor are killed: 'stop' ends the daemon that a rank left" {
	in_background -n 1 --name gone -- sh -c "setsid $MARK 100 & echo up; exec $MARK 200"
	begins 1
	for _ in $(seq 200); do
		id=$(jq -r '.id // ""' .ringup/jobs/gone/job.json)
		[ -z "$id" ] || break
		sleep 0.05
	done
	kill -STOP $pid # it must not note the end
	pgrep -f "^[^ ]*ringup-job host --id $id " | xargs kill -9
	kill -9 $pid
	wait $pid || true
	for _ in $(seq 100); do
		pgrep -f "^$MARK 200" >/dev/null || break
		sleep 0.05
	done
	pgrep -f "^$MARK 100"
	[ "$(ringup stop gone)" = "gone was lost; 1 process of it was left and is ended" ]
	job_left_nothing
	ringup stop gone | grep -q 'has ended before'
	status=0
	ringup wait gone 2>err || status=$?
	[ "$status" = 1 ]
	grep -q 'gone: the ringup that ran it was killed' err
	rm -rf /tmp/ringup-job-"$id"-127.0.0.[12]
}

@test "--hosts: stop and wait are about the jobs that have ranks there" {
	ringup run --detach --name one --hosts node01 -- sh -c "exec $MARK 100" >/dev/null 3>&- 4>&-
	ringup run --detach --name two --hosts node02 -- sh -c "sleep 1; exit 7" >/dev/null 3>&- 4>&-
	local rc=0
	ringup wait --hosts node02 2>err || rc=$?
	[ "$rc" = 7 ]
	grep -q 'two: rank 0 on node02 ended with status 7' err
	ringup stop -H 'node[01-02]' -x node01 >out 2>err
	[ ! -s out ]
	grep -q 'no job of this cluster runs there' err
	ringup stop --json -H node01 | jq -e '.jobs | length == 1 and .[0].job == "one" and .[0].state == "stopped"'
	ringup wait --json -H node01 | jq -e '.jobs == []'
	for wrong in "stop" "wait" "stop one -H node01" "wait one -H node01" "stop -H node09"; do
		rc=0
		ringup $wrong 2>err || rc=$?
		[ "$rc" = 2 ]
	done
	grep -q node09 err
	job_left_nothing
}
