#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run' on three loopback hosts: what ranks see, how jobs end, and that nothing of them is left.

load helper

setup_file() {
	lab_cluster 3 --loopback
}

teardown_file() {
	! mountpoint -q "$LAB/.ringup/jobs" || umount "$LAB/.ringup/jobs"
	lab_end
}

setup() {
	cd "$LAB"
	# A sleep that is found by its name.
	MARK=$LAB/mark-$BATS_TEST_NUMBER
	ln -sf "$(command -v sleep)" "$MARK"
}

# job ...: ringup run, with stdout in out and stderr in err.
job() {
	status=0
	ringup run "$@" >out 2>err 3>&- 4>&- || status=$?
}

# Nothing with the test's mark lives, and no supervisor's folder is there for job NAME.
job_left_nothing() {
	none_left "$MARK|$LAB/.*ringup-job"
}

@test "every rank runs once, with its place in the environment" {
	# shellcheck disable=SC2016 # the ranks' own variables
	job -- sh -c 'echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $RINGUP_JOB"'
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 0 6 0 2 0 job-1
[1 node01] 1 6 1 2 0 job-1
[2 node02] 2 6 0 2 1 job-1
[3 node02] 3 6 1 2 1 job-1
[4 node03] 4 6 0 2 2 job-1
[5 node03] 5 6 1 2 2 job-1" ]
	grep -q '6 ranks on 3 hosts by env' err
	[ "$(cat .ringup/jobs/job-1/rank-3.log)" = "3 6 1 2 1 job-1" ]
	sort .ringup/jobs/job-1/all.log | cmp - <(sort out)
}

@test "-n, --ppn, --host, --env, --workdir, --name" {
	mkdir here
	# shellcheck disable=SC2016 # the ranks' own variables
	job -n 3 --ppn 2 --hosts node03 -H "node[02-03]" -e 'A=b c' -e 'B="d"\e' --workdir "$LAB/here" --name mine -- \
		sh -c 'printf "%s\n" "$RANK $A $B $PWD"'
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node03] 0 b c \"d\"\\e $LAB/here
[1 node03] 1 b c \"d\"\\e $LAB/here
[2 node02] 2 b c \"d\"\\e $LAB/here" ]
	job --name mine -n 1 -- sh -c 'exit 9'
	[ -d .ringup/jobs/mine-2 ]
	# the name is that of the last one
	run ringup wait mine
	[ "$status" = 9 ]
	[[ "$(ringup logs mine 2>&1)" != *"c \"d\""* ]]
	ringup -q run -d --name mine -n 1 -- "$MARK" 300 3>&- 4>&-
	job --name mine -n 1 -- true
	[ "$status" = 2 ]
	grep -q "a job 'mine-3' runs" err
	ringup -q stop mine
	[ "$(ringup ps --json | jq -r '.jobs[] | select(.job == "mine-3").state')" = stopped ]
}

@test "statuses that are no signals" {
	job -n 1 -- python3 -c 'import sys; sys.exit(-1)'
	[ "$status" = 255 ]
	grep -q 'rank 0 on node01 ended with status 255' err
}

@test "jobs of the cluster file: run NAME, its keys, and options that count more" {
	mkdir -p src
	echo 'echo "$RANK/$WORLD_SIZE $A $B $*"' >src/train.sh
	cp cluster.yaml with-jobs.yaml
	cat >>with-jobs.yaml <<-'END'
		jobs:
		  train: {command: [sh, train.sh], n: 3, ppn: 1, env: {A: a, B: b}, sync: ./src, hosts: [node02, node01, node03]}
		  shell: {command: 'echo $((40 + 2))', n: 1}
	END
	ringup -f with-jobs.yaml run train 'x  y' z >out 2>err 3>&- 4>&-
	[ "$(sort out)" = "[0 node02] 0/3 a b x  y z
[1 node01] 1/3 a b x  y z
[2 node03] 2/3 a b x  y z" ]
	[ -d .ringup/jobs/train ]
	(mkdir -p elsewhere && cd elsewhere && ringup -f ../with-jobs.yaml run -n 1 -e B=c -H node03 --name other train >../out 2>../err 3>&- 4>&-)
	[ "$(cat out)" = "[0 node03] 0/1 a c " ]
	[ -d .ringup/jobs/other ]
	ringup -f with-jobs.yaml run shell '>' 7 >out 2>err 3>&- 4>&-
	[ "$(cat out)" = "[0 node01] 42 > 7" ]
	ringup -f with-jobs.yaml run -n 1 ./train && return 1
	ringup -f with-jobs.yaml up 2>err 3>&- 4>&-
	grep -q 'ringup run train' err
	rm -r .ringup/jobs/train # another test has a job of this name
}

# up_with_job KEYS: up with a cluster file whose job 'train' has these keys.
up_with_job() {
	cp cluster.yaml with-job.yaml
	echo "jobs: {train: {command: [sh, -c, 'echo \$TF_CONFIG; exec sleep 60'], $1}}" >>with-job.yaml
	ringup -f with-job.yaml up 2>err 3>&- 4>&-
}

@test "up takes jobs that can run, and refuses the others by their names" {
	up_with_job 'launcher: env'
	up_with_job 'launcher: mpirun, n: 2'
	up_with_job 'roles: "chief=1,ps=1"'
	up_with_job 'launcher: slurp' && return 1
	grep -q "the job 'train': there is no launcher 'slurp'" err
	up_with_job 'hosts: ["node[01-02]", node03]'
	up_with_job 'hosts: [node01, node09]' && return 1
	grep -q "the job 'train': there is no host 'node09'" err
	up_with_job 'launcher: env, roles: "chief=1"' && return 1
	grep -q "the job 'train': .*roles" err
	up_with_job 'launcher: tf, roles: "king=1"' && return 1
	grep -q "the job 'train': .*king" err
}

@test "a job of the cluster file: its roles, its limit and its number of retries" {
	up_with_job 'launcher: tf, roles: "chief=1,worker=1", limit: 3, retries: 1, ppn: 1'
	ringup -f with-job.yaml run train >out 2>err 3>&- 4>&- && return 1
	grep -q '"type":"chief"' out || grep -q '"type": "chief"' out
	grep -q 'did not end within --limit 3 s' err
	[ -d .ringup/jobs/train-2 ]
	[ ! -d .ringup/jobs/train-3 ]
	rm -r .ringup/jobs/train{,-2}
}

@test "a job on this machine does not keep up from the cluster" {
	ringup run --local -d --name here -n 1 -- "$MARK" 1000 3>&- 4>&-
	ringup up 2>err 3>&- 4>&-
	ringup stop here
	job_left_nothing
}

@test "what cannot be: an error that says so, and status 2" {
	job -n 7 -- true
	[ "$status" = 2 ]
	grep -q 'more ranks than the 3 hosts have slots (6)' err
	job --launcher slurp -- true
	[ "$status" = 2 ]
	grep -q "no launcher 'slurp' for jobs" err
	mkdir only-sh
	ln -s /bin/sh only-sh/sh
	job --launcher mpirun --env "PATH=$LAB/only-sh" -n 2 -- true
	[ "$status" = 127 ]
	grep -q 'mpirun.* not found' err
	job --env A -- true
	[ "$status" = 2 ]
	grep -q -- "--env A: it has no value here; NAME=VALUE is needed" err
	job --name ../x -- true
	[ "$status" = 2 ]
	grep -q "cannot be a job's name" err
	job --name node02 -- true
	[ "$status" = 2 ]
	grep -q "a host has that name" err
	job -- ./no-such-program
	[ "$status" = 127 ]
	grep -q 'cannot run ./no-such-program: No such file' err
	job --workdir /no/such/folder -- true
	[ "$status" = 127 ]
	grep -q 'cannot enter the folder /no/such/folder' err
	grep -q 'likely cause .*the folder that the command is to run in is not there or may not be entered' err
	job --ppn 1000000000 -- true
	[ "$status" = 2 ]
	grep -q 'a job takes at most' err
	job -- ''
	[ "$status" = 2 ]
}

@test "the first rank that fails ends the job, and its status is the command's" {
	# shellcheck disable=SC2016 # the ranks' own variables
	job -- sh -c "[ \$RANK != 2 ] || { echo why it failed >&2; exit 7; }; $MARK 1000"
	[ "$status" = 7 ]
	grep -q 'rank 2 on node02 ended with status 7; its last lines:' err
	[ "$(tail -n 1 err)" = "why it failed" ]
	job_left_nothing
	# shellcheck disable=SC2016
	job -- sh -c "[ \$RANK != 5 ] || kill -SEGV \$\$; exec $MARK 1000"
	[ "$status" = 139 ]
	grep -q 'rank 5 on node03 was ended by signal 11 (Segmentation fault)' err
	job_left_nothing
}

@test "a rank that only notices another one's end is not the one that failed first" {
	# shellcheck disable=SC2016 # the ranks' own variables
	job -n 4 -- sh -c 'case $RANK in
		1) sleep 0.3; exit 5 ;;
		2) echo "RuntimeError: [gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:1" >&2; exit 1 ;;
		*) exec '"$MARK"' 1000 ;;
	esac'
	[ "$status" = 5 ]
	grep -q 'rank 1 on node01 ended with status 5' err
	# where nobody else fails, it counts
	job -n 2 -- sh -c "[ \$RANK = 0 ] || { echo 'Connection reset by peer' >&2; exit 3; }; exec $MARK 1000"
	[ "$status" = 3 ]
	grep -q 'rank 1 on node01 ended with status 3' err
	job_left_nothing
}

@test "children that leave the group, the session and the signals end, too" {
	# shellcheck disable=SC2016
	job -n 2 -- python3 -c "
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; (setsid $MARK 1000\n) & $MARK 1000'], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
time.sleep(0.3)
sys.exit(0 if os.environ['RANK'] == '0' else 3)"
	[ "$status" = 3 ]
	job_left_nothing
	# the end of a job that went well leaves nothing either
	job -n 1 -- sh -c "setsid $MARK 1000 & exit 0"
	[ "$status" = 0 ]
	job_left_nothing
}

# started: waits until the job's ranks have printed "up" so many times.
started() {
	for _ in $(seq 200); do
		[ "$(grep -c up out)" -lt "$1" ] || return 0
		sleep 0.1
	done
	cat out err
	return 1
}

@test "Ctrl-C, kill -9 of ringup: everything ends" {
	for signal in INT TERM KILL; do
		start out err run -- sh -c "echo up; exec $MARK 1000"
		pid=$!
		started 6
		kill -s $signal $pid
		status=0
		wait $pid || status=$?
		case $signal in
			KILL) [ "$status" = 137 ] ;;
			TERM) [ "$status" = 143 ] ;;
			*) [ "$status" = 130 ] ;;
		esac
		job_left_nothing
	done
	ringup ps | tail -n 3 >table
	[ "$(awk '{print $2}' table | xargs)" = "stopped stopped lost" ]
}

@test "a ringup that was stopped says so; Ctrl-Z does not stop it" {
	local pid
	ringup run --name slept -n 2 --ppn 1 -- "$MARK" 300 >out 2>err 3>&- 4>&- &
	pid=$!
	timeout 20 sh -c 'until grep -q "2 ranks on 2 hosts" err; do sleep 0.1; done'
	kill -TSTP "$pid"
	sleep 1
	[[ "$(ps -o state= -p "$pid")" != T* ]]
	kill -STOP "$pid"
	sleep 13
	kill -CONT "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -ne 0 ]
	grep -Eq 'ringup itself was stopped for 1[0-9] s, and hosts end a job that nobody watches' err
	job_left_nothing
}

# lose HOST: its supervisor is gone at once, as with the host
lose() {
	kill -9 "$(pgrep -f "ringup-job host .*--address $(sed -n "s/.*$1, address: \([^,]*\),.*/\1/p" cluster.yaml)")"
}

@test "a host that is lost: the others end, and the error names it" {
	start out err run -- sh -c "echo up; exec $MARK 1000"
	pid=$!
	started 6
	lose node02
	status=0
	wait $pid || status=$?
	[ "$status" = 1 ]
	grep -q "node02: the job's supervisor there was killed while the job ran: ends the job on the other hosts" err
	[ "$(grep -c "node02: the job's supervisor there was killed while the job ran" err)" -ge 2 ]
	job_left_nothing
}

# A rank that ignores SIGTERM says so five times a second from then on: in the usual grace of 4 seconds about 20 times.
@test "a host that is lost: what ignores SIGTERM on the others has one second" {
	# shellcheck disable=SC2016 # the rank's own
	start out err run -n 4 --ppn 2 -- sh -c 'trap "t=1" TERM; : >"$0/ticks-$RANK"; echo up; while :; do sleep 0.2; [ -z "$t" ] || echo x >>"$0/ticks-$RANK"; done' "$PWD"
	pid=$!
	started 4
	lose node02
	status=0
	wait $pid || status=$?
	[ "$status" = 1 ]
	[ "$(wc -l <ticks-0)" -le 12 ]
	job_left_nothing
}

@test "--grace: what takes longer than 4 seconds to save its work has the time" {
	# shellcheck disable=SC2016 # the rank's own
	ringup -q run -d -n 1 --grace 40 --name saves -- sh -c 'trap "sleep 5; echo saved; exit" TERM; echo begun; while :; do sleep 0.1; done' >name 2>&1 3>&- 4>&-
	wait_for 20 grep -q begun .ringup/jobs/saves/rank-0.log
	ringup -q stop saves
	grep -q saved .ringup/jobs/saves/rank-0.log
	fails 2 run --grace 3601 -- true
	says "3600 seconds are the most"
	job_left_nothing
}

@test "--detach, ps, logs, wait and stop" {
	name=$(ringup run -d --name apart -- sh -c "echo up; sleep 1; echo late; exit \$((RANK == 1 ? 9 : 0))" 3>&- 4>&-)
	[ "$name" = apart ]
	ringup ps | grep -qE '^apart +running +- +1 +6 +3 +env '
	timeout 30 ringup logs -f apart >followed 3>&- 4>&-
	grep -qxF '[4 node03] up' followed
	status=0
	ringup wait apart 2>err 3>&- 4>&- || status=$?
	[ "$status" = 9 ]
	grep -q 'rank 1 on node01 ended with status 9' err
	[ "$(ringup logs --rank 1 apart)" = "$(printf 'up\nlate')" ]
	ringup ps --json | jq -e '.jobs[] | select(.job == "apart") | .state == "failed" and .status == 9'

	name=$(ringup run -d -- sh -c "exec $MARK 1000" 3>&- 4>&-)
	ringup stop "$name" >said 3>&- 4>&-
	grep -q "$name is stopped" said
	job_left_nothing
	ringup ps --json | jq -e --arg name "$name" '.jobs[] | select(.job == $name) | .state == "stopped"'
	ringup stop "$name" | grep -q 'has ended before'
	run ringup wait nobody
	[ "$status" = 2 ]
	[[ $output == *"there is no job 'nobody'"* ]]
}

@test "two jobs at once do not disturb each other" {
	a=$(ringup run -d --name a -- sh -c "$MARK 1" 3>&- 4>&-)
	job --name b -- sh -c "exit \$((RANK == 3 ? 4 : 0))"
	[ "$status" = 4 ]
	ringup wait "$a"
	job_left_nothing
}

@test "output: lines stay whole and in order, whatever bytes they hold" {
	job -n 2 -- python3 -c "
import sys
for i in range(20000):
    print(f'{i} ' + 'x' * (i % 300))
sys.stdout.buffer.write(b'\x1b]0;title\x07 back\\\\slash \xff\n')
sys.stdout.write('y' * 200000 + '\nlast')"
	[ "$status" = 0 ]
	for rank in 0 1; do
		python3 - ".ringup/jobs/$(ls -t .ringup/jobs | head -n 1)/rank-$rank.log" <<-'END'
			import sys
			lines = open(sys.argv[1], "rb").read().split(b"\n")
			assert lines[:20000] == [b"%d " % i + b"x" * (i % 300) for i in range(20000)]
			assert lines[20000] == b"\x1b]0;title\x07 back\\slash \xff"
			assert lines[20001:] == [b"y" * 200000, b"last"], (len(lines), lines[-1][:50])
		END
	done
	[ "$(grep -acxF $'] \x1b]0;title\x07 back\\slash \xff' <(sed 's/^.[01] node0[123]//' out))" = 2 ]
}

@test "--limit, and --dry-run" {
	job --limit 2 -- sh -c "exec $MARK 1000"
	[ "$status" = 124 ]
	grep -q 'did not end within --limit 2 s' err
	job_left_nothing
	job --dry-run -n 3 --launcher torchrun -- python3 train.py
	[ "$status" = 0 ]
	[ "$(wc -l <out)" = 4 ]
	grep -qE '^node01, ranks 0 to 1: env .*OMP_NUM_THREADS=[0-9]+ .*python3 train.py$' out
	grep -q '^node02, rank 2: env .*python3 train.py$' out
	grep -q '^node02: .*torchrun --nnodes=2 --nproc_per_node=1 .*--rdzv_conf=is_host=0 .*ringup-job rank .* -- python3 train.py' out
	# Open MPI's own daemons give the ranks as long
	cp cluster.yaml grace.yaml
	echo 'jobs: {save: {command: ["true"], launcher: mpirun, grace: 30}}' >>grace.yaml
	ringup -f grace.yaml run --dry-run save >out 2>err
	grep -q 'OMPI_MCA_odls_base_sigkill_timeout=30 PRTE_MCA_odls_base_sigkill_timeout=30' out
	ringup -f grace.yaml run --dry-run --grace 7 save >out 2>err
	grep -q 'OMPI_MCA_odls_base_sigkill_timeout=7 ' out
	job --dry-run --launcher tf -n 2 -- python3 train.py
	# shellcheck disable=SC2016
	sed -n '2s/.*TF_CONFIG=\({[^'\'']*}\).*/\1/p' out | jq -e '.task.index == 1 and (.cluster.worker | length) == 2'
}

# A rank of a job with parameter servers. What a role does here is in the variable of its name.
role() {
	cat >role.py <<-'END'
		import json, os, sys
		config = json.loads(os.environ["TF_CONFIG"])
		kind = config["task"]["type"]
		print(kind, config["task"]["index"], len(config["cluster"].get("worker", [])), flush=True)
		sys.exit(os.system(os.environ.get(kind.upper(), "true")) >> 8)
	END
	job --roles "$@" -- python3 "$LAB/role.py"
}

@test "--roles: parameter servers end when the work is done" {
	role chief=1,worker=2,ps=1,evaluator=1 --env PS="exec $MARK 1000" --env WORKER="sleep 0.5"
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] chief 0 2
[1 node01] worker 0 2
[2 node02] worker 1 2
[3 node02] ps 0 2
[4 node03] evaluator 0 2" ]
	job_left_nothing
	# workers that serve for ever do not hold the job
	role chief=1,worker=1,ps=1 --env PS="exec $MARK 1000" --env WORKER="exec $MARK 1000"
	[ "$status" = 0 ]
	ringup ps --json | jq -e '.jobs[-1] | .state == "done" and .status == 0'
	job_left_nothing
	# without a chief the workers are the work
	role worker=2,ps=1 --env PS="exec $MARK 1000" --env WORKER="sleep 0.3"
	[ "$status" = 0 ]
	job_left_nothing
}

@test "--roles: whoever fails before the work is done fails the job" {
	role chief=1,worker=1,ps=1 --env CHIEF="exec $MARK 1000" --env WORKER="exec $MARK 1000" --env PS="exit 6"
	[ "$status" = 6 ]
	grep -q 'rank 2 on node02 ended with status 6' err
	job_left_nothing
	role chief=1,ps=1,worker=1 --env CHIEF="exit 3" --env PS="exec $MARK 1000" --env WORKER="exec $MARK 1000"
	[ "$status" = 3 ]
	job_left_nothing
	role chief=1,boss=1
	[ "$status" = 2 ]
	grep -q "'boss=1' is no ROLE=NUMBER; the roles are chief, master, worker, ps, evaluator" err
	role chief=1,worker=1 -n 3
	[ "$status" = 2 ]
	grep -q -- '--roles chief=1,worker=1 are 2 ranks, and -n says 3' err
	role worker=9
	[ "$status" = 2 ]
	grep -q -- '--roles with a sum of 9 asks for more ranks' err
	role worker=2 --launcher env
	[ "$status" = 2 ]
	grep -q "the launcher 'env' knows no roles" err
}

@test "down and up refuse while a job runs" {
	name=$(ringup run -d -- sh -c "exec $MARK 1000" 3>&- 4>&-)
	run ringup down
	[ "$status" = 1 ]
	[[ $output == *"the job '$name' runs on this cluster"* ]]
	run ringup up
	[ "$status" = 1 ]
	[[ $output == *"the job '$name' runs on this cluster"* ]]
	ringup -q stop "$name"
	job_left_nothing
}

@test "up --drain waits until the jobs have ended, and lets no other start" {
	local name pid
	run ringup up --drain --force
	[ "$status" = 2 ]
	name=$(ringup run -d -- sh -c "while ! [ -e $LAB/go ]; do sleep 0.1; done" 3>&- 4>&-)
	ringup up --drain >drain.out 2>&1 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 grep -q "waits until the job '$name' has ended" drain.out
	run ringup run -- true
	[ "$status" = 1 ]
	[[ $output == *"another ringup is at work on this cluster"* ]]
	kill -0 "$pid"
	touch go
	wait "$pid"
	ringup run -- true
	rm go drain.out
}

@test "up --drain ends with Ctrl-C, and nothing is changed" {
	local name pid status=0
	name=$(ringup run -d -- sh -c "exec $MARK 1000" 3>&- 4>&-)
	ringup up --drain >drain.out 2>&1 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 grep -q "waits until the job '$name' has ended" drain.out
	kill -TERM "$pid"
	wait "$pid" || status=$?
	cat drain.out
	[ "$status" = 130 ]
	ringup ps | grep -q "$name .*running"
	ringup -q stop "$name"
	rm drain.out
}

@test "a failure that is known: the cause and what to do" {
	# shellcheck disable=SC2016
	job -- python3 -c "
import os, sys, time
if os.environ['RANK'] == '3':
    import no_such_module
time.sleep(1000)"
	[ "$status" = 1 ]
	grep -q '^likely cause (rank 3 on node02): the Python of the ranks does not have the module no_such_module' err
	grep -q 'image.pip' err
}

@test "exec: after Ctrl-C, a deadline and kill -9 nothing goes on" {
	for way in INT KILL limit; do
		flags=() trap=
		[ $way != limit ] || flags=(--limit 2)
		[ $way != INT ] || trap="trap '' TERM;"
		start out err exec "${flags[@]}" -- sh -c "setsid $MARK 1000 & $trap $MARK 1000"
		pid=$!
		for _ in $(seq 100); do
			[ "$(pgrep -fc "^$MARK 1000")" != 6 ] || break
			sleep 0.1
		done
		[ $way = limit ] || kill -s $way $pid
		status=0
		wait $pid || status=$?
		[ "$status" != 0 ]
		job_left_nothing
	done
	# what a command leaves in the background by itself stays
	ringup exec -H node01 -- sh -c "setsid $MARK 1000 >/dev/null 2>&1 & echo started" 3>&- 4>&-
	pgrep -f "^$MARK 1000"
	pkill -f "^$MARK 1000"
}

@test "--retries: a failed job is started again, each time with its own logs" {
	job --retries 3 --name again -- sh -c "[ \$RANK != 0 ] || { echo x >>$LAB/tries; [ \$(wc -l <$LAB/tries) = 3 ]; }"
	[ "$status" = 0 ]
	[ "$(wc -l <tries)" = 3 ]
	[ "$(ringup ps | awk '/^again/ {print $1, $2, $3, $4}' | xargs)" = "again done 0 3" ]
	[ "$(jq -r '.state + " " + (.status | tostring) + " " + .next' .ringup/jobs/again{,-2,-3}/job.json | xargs)" = \
		"failed 1 again-2 failed 1 again-3 done 0" ]
	[ "$(grep -c 'again.* is started again in [12] s, [32] more times at most' err)" = 2 ]
	ringup --json run --retries 1 -- sh -c 'exit 4' >out.json 2>/dev/null 3>&- 4>&- || status=$?
	[ "$status" = 4 ]
	jq -e '.status == 4 and .state == "failed"' out.json
}

@test "--hang-timeout: a job without output ends, and says what its processes did" {
	# shellcheck disable=SC2016
	job --name stuck --hang-timeout 3 -- sh -c "echo begin; [ \$RANK != 4 ] || sleep 1; echo again; exec $MARK 1000"
	[ "$status" = 124 ]
	grep -q 'it hangs: no rank printed a line for 3 s' err
	grep -qE 'The last lines came from: rank [01235] on node0[123] [0-9]+ s ago' err
	# (loopback hosts see each other's processes)
	[ "$(grep -cE "^\[[0-5] node0[123]\] pid .* waits in .*$MARK 1000" .ringup/jobs/stuck/stacks.txt)" = 6 ]
	grep -q '^\[4 node03\] pid ' .ringup/jobs/stuck/stacks.txt
	job_left_nothing
}

@test "a full disk under .ringup: the job goes on, and the person is told" {
	mkdir -p -m 700 "$LAB/.ringup/jobs"
	mount -t tmpfs -o size=256k,mode=0700 tmpfs "$LAB/.ringup/jobs"
	job -n 1 --name full -- sh -c 'seq 100000; echo end'
	[ "$(jq -r .state .ringup/jobs/full/job.json)" = done ]
	[ ! -e .ringup/jobs/full/reserve ]
	umount "$LAB/.ringup/jobs"
	[ "$status" = 0 ]
	[ "$(tail -n 1 out)" = "[0 node01] end" ]
	[ "$(grep -c "cannot write the job's output in .*: No space left on device" err)" = 1 ]
}

@test "who reads the output may be slow or gone" {
	# 10 s without a reader are longer than a supervisor waits for a silent ringup
	# shellcheck disable=SC2016
	timeout 60 ringup run -n 2 --name slow -- sh -c 'i=0; while [ $i -lt 30 ]; do seq 20000; i=$((i+1)); done; echo end' 2>err 3>&- 4>&- |
		(sleep 10; grep ' end$') >tail
	ringup ps --json | jq -e '.jobs[-1] | .job == "slow" and .state == "done"'
	[ "$(sort tail)" = "[0 node01] end
[1 node01] end" ]
	timeout 30 ringup run -n 2 --name gone -- sh -c "while :; do echo x; sleep 0.1; done; $MARK 1" 2>err 3>&- 4>&- | head -n 1 >head
	[ "$(wc -l <head)" = 1 ]
	ringup ps --json | jq -e '.jobs[-1] | .job == "gone" and .status == 141'
	grep -q 'nobody reads its output any more' err
	# the ranks themselves know SIGPIPE
	job -n 1 -- bash -c 'set -o pipefail; yes | head -n 1'
	[ "$status" = 141 ]
}

# stand_in NAME: a program for the jobs' PATH, whose text is stdin.
stand_in() {
	mkdir -p bin
	cat >"bin/$1"
	chmod 755 "bin/$1"
}

@test "mpirun on hosts without containers: ranks, a failure, kill -9; nothing is left" {
	# (loopback hosts have one name and one /dev/shm, which no two real ones have)
	# shellcheck disable=SC2016 # the ranks' own variables
	job --launcher mpirun -e 'A=b c' --workdir /usr -- sh -c 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $A $PWD"'
	[ "$status" = 0 ]
	six_ranks 'of 6 b c /usr' | cmp - <(sort out)
	# shellcheck disable=SC2016
	job --launcher mpirun -- sh -c "[ \$OMPI_COMM_WORLD_RANK != 4 ] || exit 5; exec $MARK 1000"
	[ "$status" = 5 ]
	grep -q 'rank 4 on node03 ended with status 5' err
	job_left_nothing
	: >out
	ringup run --launcher mpirun -- sh -c "echo up; exec $MARK 1000" >out 2>err 3>&- 4>&- &
	pid=$!
	started 6
	kill -9 $pid
	job_left_nothing
	wait_for 15 eval "! pgrep -f 'orte.*ringup-job|orted.*$(sed -n 's/.*node02, address: \([^,]*\),.*/\1/p' cluster.yaml)'"
}

@test "two jobs by mpirun at once: neither's files are in the other's way" {
	local pid
	ringup run --name twin --launcher mpirun -- sh -c 'ls -d /tmp/ringup-job-*/ompi.*; echo $TMPDIR' >out-twin 2>err-twin 3>&- 4>&- &
	pid=$!
	job --launcher mpirun -- sh -c 'ls -d /tmp/ringup-job-*/ompi.*; echo $TMPDIR'
	[ "$status" = 0 ]
	wait $pid
	[ "$(cut -d ' ' -f 1 out | sort -u | wc -l)" = 6 ]
	[ "$(cut -d ' ' -f 1 out-twin | sort -u | wc -l)" = 6 ]
	job_left_nothing
	! ls -d /tmp/ringup-job-"$(jq -r .id .ringup/jobs/twin/job.json)"-*
}

@test "hosts with two versions of a library: the job does not begin" {
	# a Python whose torch is older on the third host, by the address of the supervisor above it
	mkdir -p bin/skew # a folder that no other test has in its PATH
	stand_in skew/python3 <<-END
		#!/bin/sh
		[ "\$1" = -c ] || exec "\$@"
		above=\$(awk '/^PPid/ {print \$2}' /proc/\$PPID/status)
		echo python=3.11
		case \$(tr '\\0' ' ' </proc/\$above/cmdline) in *'--address $(address node03) '*) echo torch=1.13.1 ;; *) echo torch=2.4.0 ;; esac
	END
	for launcher in env mpirun; do
		job --launcher $launcher --env "PATH=$LAB/bin/skew:$PATH" -- python3 touch "$LAB/it-began"
		cat err
		[ "$status" = 1 ]
		grep -q 'do not have the same torch: 2.4.0 on node01, node02; 1.13.1 on node03' err
		[ ! -e "$LAB/it-began" ]
	done
	job --launcher env --mixed-versions --env "PATH=$LAB/bin/skew:$PATH" -- python3 touch "$LAB/it-began"
	[ "$status" = 0 ]
	[ -e "$LAB/it-began" ]
	job_left_nothing
	ringup --json run --launcher env --env "PATH=$LAB/bin/skew:$PATH" -- python3 touch "$LAB/it-began" >out 2>err || true
	jq -e '.state == "failed" and .status == 1 and (.reason | contains("do not have the same torch"))' out
}

@test "an mpirun that does not do what was planned: what came is said" {
	# all ranks on the first host
	stand_in mpirun <<-'END'
		#!/bin/sh
		[ "$1" != --version ] || exit 0
		while [ "${1%ringup-job}" = "$1" ]; do shift; done
		for i in 0 1 2 3 4 5; do PMI_RANK=$i PMI_SIZE=6 "$@" & done
		wait
	END
	job --launcher mpirun --env "PATH=$LAB/bin:$PATH" -- "$MARK" 1000
	[ "$status" = 1 ]
	grep -q 'node01: mpirun started more than the 2 ranks that the plan has there' err
	job_left_nothing
	# a host that the job does not have
	stand_in mpirun <<-'END'
		#!/bin/sh
		[ "$1" != --version ] || exit 0
		ssh -x 10.9.9.9 orted
	END
	job --launcher mpirun --env "PATH=$LAB/bin:$PATH" -- "$MARK" 1000
	[ "$status" = 1 ]
	grep -q "mpirun wants to start a program on '10.9.9.9', which is no host of the job" err
	job_left_nothing
}

@test "horovodrun: ranks with its variables and their host's own environment, and nobody's ssh" {
	# A stand-in with the words of horovodrun 0.28.1 --gloo, as seen: all hosts are asked first, each rank is
	# a line for a shell, and the environment of the first host goes to all.
	stand_in horovodrun <<-'END'
		#!/usr/bin/env python3
		import os, subprocess, sys
		from shlex import quote
		words = sys.argv[1:]
		start = next(i for i, w in enumerate(words) if w.endswith("ringup-job"))
		options, command = words[:start], words[start:]
		assert "--disable-cache" in options and "--gloo" in options, options
		hosts = [h.split(":") for h in options[options.index("-H") + 1].split(",")]
		ssh = "ssh -o PasswordAuthentication=no -o StrictHostKeyChecking=no"
		for host, _ in hosts:
		    subprocess.run(f"{ssh} {host}   -o ConnectTimeout=10 true", shell=True, check=True)
		running, rank = [], 0
		for host, slots in hosts:
		    for local in range(int(slots)):
		        env = f"HOROVOD_HOSTNAME={host} HOROVOD_RANK={rank} HOROVOD_SIZE={options[1]} HOROVOD_LOCAL_RANK={local}"
		        all_env = " ".join(f"{k}={quote(v)}" for k, v in os.environ.items())
		        line = f"env {env} {all_env} HOROVOD_CONTROLLER=gloo {' '.join(map(quote, command))}"
		        line = quote(f"cd {os.getcwd()} > /dev/null 2>&1 ; {line}")
		        running.append(subprocess.Popen(f"{ssh} {host}   {line}", shell=True))
		        rank += 1
		sys.exit(max(r.wait() for r in running))
	END
	# whoever asks for the real ssh is seen
	stand_in ssh <<-END
		#!/bin/sh
		echo "\$@" >>$LAB/asked
		exit 1
	END
	# shellcheck disable=SC2016 # the ranks' own variables
	job --launcher horovodrun-gloo -e "PATH=$LAB/bin:$PATH" -e 'A=b "c"' --name hvd -- \
		sh -c 'echo "$HOROVOD_RANK of $HOROVOD_SIZE $HOROVOD_LOCAL_RANK $HOROVOD_CONTROLLER $A"; ! echo "$PATH" | grep ringup-job'
	[ "$status" = 0 ]
	[ "$(sort out)" = '[0 node01] 0 of 6 0 gloo b "c"
[1 node01] 1 of 6 1 gloo b "c"
[2 node02] 2 of 6 0 gloo b "c"
[3 node02] 3 of 6 1 gloo b "c"
[4 node03] 4 of 6 0 gloo b "c"
[5 node03] 5 of 6 1 gloo b "c"' ]
	[ ! -e asked ]
	# shellcheck disable=SC2016
	job --launcher horovodrun-gloo -e "PATH=$LAB/bin:$PATH" -- sh -c "[ \$HOROVOD_RANK != 3 ] || exit 6; exec $MARK 1000"
	[ "$status" = 6 ]
	grep -q 'rank 3 on node02 ended with status 6' err
	job_left_nothing
}

@test "a host that lies: other hosts' ranks and numbers are not its own" {
	program=$(find "$LAB/.ringup/lab/node02" -name ringup-job -type f)
	cp "$program" kept
	for words in 'exit 0 0' 'join 0 6 0' 'trouble all\nringup: error: lost' 'hello 7' \
		"spawn 1 node01 touch $LAB/spawned"; do
		rm "$program"
		printf '#!/bin/sh\nprintf "hello 2\\nfact gpus 999999999\\nready\\n"; sleep 1; printf "%%s\\n" "%s"; cat >/dev/null; echo done\n' \
			"$words" >"$program"
		chmod 755 "$program"
		job -- "$MARK" 1000
		[ "$status" = 1 ]
		grep -q '^ringup: error: job-.*node02: ' err
		! grep -q '^ringup: error: lost' err
	done
	[ ! -e spawned ]
	mv kept "$program"
	job_left_nothing
	job -- true
	[ "$status" = 0 ]
}

@test "a host that does not answer, and that the job can do without: the error says how" {
	sed 's/^hosts:/hosts:\n  - {address: 127.0.0.1, name: dead, port: 1}/' cluster.yaml >dead.yaml
	fails 4 -f dead.yaml run -n 1 -- true
	says "dead (127.0.0.1 port 1): connection refused" "'--exclude dead' runs the job without it"
	ringup -q -f dead.yaml run -n 1 --exclude dead -- true
}
