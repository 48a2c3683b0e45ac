#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run --local': a job on this machine, without a cluster.

load helper

setup() {
	common_setup
}

@test "ranks run here, where the person is, with ports of their own, and nothing is left" {
	mkdir -p code
	ln -s "$(command -v sleep)" code/mark-run-local
	cat >code/train.sh <<-'END'
		(setsid ./mark-run-local 300 &)
		echo "$RANK/$WORLD_SIZE $MASTER_ADDR ${MASTER_PORT:+port} $PWD $MINE"
	END
	MINE=mine ringup run --local -n 2 --workdir "$PWD/code" -- sh train.sh >out 2>err
	[ "$(sort out)" = "[0 localhost] 0/2 127.0.0.1 port $PWD/code mine
[1 localhost] 1/2 127.0.0.1 port $PWD/code mine" ]
	! pgrep -f "mark-run-local 300"
	(cd code && ringup run --local -n 1 -- sh train.sh) | grep -F "$PWD/code"
	ringup run --local --sync code -n 1 -- sh train.sh | grep -F "$PWD/code"
	apart ringup run --local --sync code:there -n 1 -- true
	says 2 "there is no folder code:there; a target begins with '/'"
	! pgrep -f "mark-run-local 300"
	[ -d code/.ringup/jobs/job-1 ] && [ -d .ringup/jobs/job-2 ]
}

@test "the status of the rank that failed, and the commands that look after jobs" {
	# shellcheck disable=SC2016 # the rank's own variable
	apart ringup run --local -n 2 --name bad -- sh -c 'exit $((RANK * 7))'
	says 7 "bad: rank 1 on localhost ended with status 7"
	ringup ps | grep -E '^bad +failed'
	apart ringup wait bad
	[ "$status" = 7 ]
	[ "$(ringup run --local -d --name long -- sh -c 'echo begun; sleep 300' 3>&-)" = long ]
	until ringup logs long 2>/dev/null | grep -F begun; do sleep 0.05; done
	ringup stop long
	ringup ps | grep -E '^long +stopped'
	apart ringup logs nothing
	says 2 "there is no cluster.yaml"
}

@test "of several that want one name at the same time, one gets it" {
	for round in 1 2 3; do
		for i in 1 2 3 4 5 6; do
			(until [ -e "go-$round" ]; do :; done
				status=0
				ringup run --local -n 1 --name "race$round" -- sh -c "until [ -e end-$round ]; do sleep 0.1; done" 2>"err-$i" ||
					status=$?
				echo $status >"status-$i") 3>&- &
		done
		touch "go-$round"
		for _ in $(seq 200); do
			[ "$(cat status-? 2>/dev/null | wc -l)" != 5 ] || break
			sleep 0.05
		done
		touch "end-$round"
		wait
		[ "$(sort status-? | xargs)" = "0 2 2 2 2 2" ]
		[ "$(grep -l "a job 'race$round' runs" err-? | wc -l)" = 5 ]
		rm status-? err-?
	done
}

@test "kill -9 of ringup ends the ranks" {
	ln -s "$(command -v sleep)" mark-run-killed
	ringup run --local -n 2 -- ./mark-run-killed 300 3>&- 2>/dev/null &
	until [ "$(pgrep -fc '^./mark-run-killed 300')" = 2 ]; do sleep 0.05; done
	kill -9 $!
	for _ in $(seq 200); do
		pgrep -f '^./mark-run-killed 300' || return 0
		sleep 0.05
	done
	return 1
}

# The kernel's log of another machine (tests/cases/job-failures/xid-79.txt), as if it was said now.
kernel_says() {
	mkdir -p bin
	cat >"bin/$1" <<-END
		#!/bin/sh
		awk '{ printf "[%f] NVRM: Xid (PCI:0000:3b:00): 48, pid=1, an error of an hour ago\\n", \$1 - 3600
			printf "[%12.6f] NVRM: Xid (PCI:0000:01:00): 79, pid=6755, name=python3, GPU has fallen off the bus.\\n", \$1
		}' /proc/uptime
	END
	chmod +x "bin/$1"
}

@test "a job that failed: what the host's kernel said meanwhile" {
	kernel_says dmesg
	PATH=$PWD/bin:$PATH apart ringup run --local -n 1 --name gpu -- sh -c 'exit 3'
	says 3 "likely cause (localhost): a GPU fell off the PCIe bus"
	! grep -F 'hour ago' .ringup/jobs/gpu/kernel.log
	grep -F '[localhost] [' .ringup/jobs/gpu/kernel.log | grep -F 'fallen off the bus'
	# a user who may not read it asks the journal
	printf '#!/bin/sh\n%s dmesg.old | grep -v "hour ago"\n' sh >bin/journalctl
	mv bin/dmesg dmesg.old
	printf '#!/bin/sh\nexit 1\n' >bin/dmesg
	chmod +x bin/dmesg bin/journalctl
	PATH=$PWD/bin:$PATH apart ringup run --local -n 1 -- sh -c 'exit 3'
	says 3 "likely cause (localhost): a GPU fell off the PCIe bus"
}

@test "jobs of the cluster file run here, too; options that cannot be" {
	cat >cluster.yaml <<-'END'
		hosts: [gpu01, gpu02]
		jobs: {train: {command: [sh, -c, 'echo $A $PWD'], sync: ., hosts: [gpu02], env: {A: a}}}
	END
	[ "$(ringup run --local train 2>err)" = "[0 localhost] a $PWD" ]
	apart ringup run --local -H gpu01 -- true
	says 2 "--local does not go with --hosts"
	# how many ranks a host of the cluster has says nothing of this machine
	sed -i 's/^jobs: {train: \(.*\)}$/jobs: {train: \1, two: {command: [sh, -c, "echo $RANK"], n: 2, ppn: 1}}/' cluster.yaml
	[ "$(ringup run --local two 2>err | sort | xargs)" = "[0 localhost] 0 [1 localhost] 1" ]
}

@test "a job of several lines: no line is empty, and the words behind its name are its own" {
	cat >cluster.yaml <<-'END'
		hosts: [gpu01]
		jobs:
		  one:
		    command: |
		      echo "one:"
		  multi:
		    command: |
		      x=first
		      echo "$x" "$@"
		  deaf:
		    command: |
		      echo a
		      echo b
	END
	[ "$(ringup run --local -n 1 one foo 'b  c' 2>err)" = "[0 localhost] one: foo b  c" ]
	[ "$(ringup run --local -n 1 multi foo 'b  c' 2>err)" = "[0 localhost] first foo b  c" ]
	[ "$(ringup run --local -n 1 multi 2>err)" = "[0 localhost] first" ]
	apart ringup run --local -n 1 deaf foo
	says 2 "the command of the job 'deaf' has several lines and uses no word that follows the name: write \"\$@\" where 'foo'"
	[ "$(ringup run --local -n 1 deaf 2>err | tail -n 1)" = "[0 localhost] b" ]
}

# lists_gpus: a stand-in for nvidia-smi that prints what stdin says for -L.
lists_gpus() {
	mkdir -p bin
	cat >gpus
	printf '#!/bin/sh\n[ "$1" != -L ] || cat "%s/gpus"\n' "$PWD" >bin/nvidia-smi
	chmod 755 bin/nvidia-smi
}

@test "--gpus where there is no GPU: refused, and the host is named" {
	lists_gpus </dev/null
	PATH=$PWD/bin:$PATH apart ringup run --local --gpus 3 -n 2 -- touch began
	says 4 "--gpus 3: no host" "localhost: nvidia-smi lists no GPU"
	[ ! -e began ]
}

@test "--dry-run counts the GPUs of the last probe, and says what it does not know" {
	local gpu="NVIDIA H100 80GB HBM3"
	cat >cluster.yaml <<-'END'
		hosts: [gpu01, gpu02]
		container: {engine: none}
	END
	apart ringup --json run --dry-run -- true
	says 0 "2 of 2 hosts have no facts on file (gpu01 ...)" "ringup probe"
	mkdir -p .ringup
	printf '{"schema": 1, "hosts": [{"host": "gpu01", "gpus": "%s"}, {"host": "gpu02", "gpus": "%s"}]}' \
		"$gpu;$gpu;$gpu;$gpu" "$gpu;$gpu" >.ringup/facts.json
	[ "$(ringup --json run --dry-run -- true 2>err | jq .ranks)" = 6 ]
	! grep warning err
	[ "$(ringup --json run --dry-run --gpus 2 -- true | jq .ranks)" = 3 ]
	ringup run --dry-run --gpus 2 --launcher mpirun -- true 2>err | grep -F "mpirun -np 3 --host gpu01:2,gpu02:1 "
	[ "$(ringup --json run --dry-run --gpus 3 -- true | jq .ranks)" = 1 ]
	grep -F "the leases choose hosts and GPUs when the job starts" err
	sed -i 's/"gpus": "[^"]*"/"gpus": ""/g' .ringup/facts.json
	apart ringup run --dry-run --gpus 2 -- true
	says 4 "by the last probe no host gives the job more than 0 GPUs"
}

@test "--dry-run has the interfaces and the network of the last probe" {
	printf 'hosts: [{name: gpu01, address: 10.0.0.1}, {name: gpu02, address: 10.0.0.2}]\ncontainer: {engine: none}\n' >cluster.yaml
	mkdir -p .ringup
	printf '{"schema": 1, "hosts": [{"host": "gpu01", "gpus": "", "interface": "eth0", "interface_cidr": "10.0.0.0/24", "cpus": 16,
		"infiniband_ports": "mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X EDR);mlx5_1 1 DOWN InfiniBand 0000:5e:00.1 100 Gb/sec"},
		{"host": "gpu02", "gpus": "", "interface": "ens3", "interface_cidr": "10.0.0.0/24", "cpus": 8}]}' >.ringup/facts.json
	ringup --json run --dry-run --ppn 1 -- true >out
	[ "$(jq -c '[.tasks[].env | [.NCCL_SOCKET_IFNAME, .GLOO_SOCKET_IFNAME, .UCX_NET_DEVICES, .OMP_NUM_THREADS]]' out)" = \
		'[["=eth0","eth0","mlx5_0:1,eth0","16"],["=ens3","ens3","ens3","8"]]' ]
	ringup run --dry-run --ppn 1 --launcher mpirun -- true >out
	grep -F "btl_tcp_if_include=10.0.0.0/24" out
}

@test "numbers that cannot be, a rank that is not there, and words that mean something else" {
	local option
	cat >cluster.yaml <<-'END'
		hosts: [gpu01]
		container: {engine: none}
		jobs: {train: {command: [true]}}
	END
	for option in --ranks --ppn --gpus --limit --hang-timeout --start-limit; do
		apart ringup run --local "$option" 0 -- true
		says 2 "$option takes 1 or more, not '0'"
	done
	apart ringup run --local -n 2 --stdin 9 -- true </dev/null
	says 2 "--stdin 9: there is no such rank"
	lists_gpus <<<"GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aec43e33-51fd-c96e-0440-2de53ee9eb72)"
	PATH=$PWD/bin:$PATH apart ringup run --local --gpus 5 -- true
	says 2 "--gpus 5 is more than any host has for one rank" "localhost 1"
	apart ringup --timeout 4 run --local -n 1 tran
	says 127 "there is no job 'tran'" "did you mean 'train'?" "--limit S limits the job"
	apart ringup run --local -n 1 true
	says 0
	! grep -F "did you mean" ../err
}

@test "a hang: the rank that is elsewhere is named with its place, by Python's own stacks or by gdb" {
	cat >train.py <<-'END'
		import os, sys, threading, time
		def next_batch(): time.sleep(300)
		def reduce(): threading.Event().wait()
		print("begun", flush=True)
		next_batch() if os.environ["RANK"] == "1" else reduce()
	END
	mkdir tools # a py-spy that may not look
	printf '#!/bin/sh\nexit 1\n' >tools/py-spy
	chmod 755 tools/py-spy
	# (a shell around it does not hide it)
	PATH=$PWD/tools:$PATH apart ringup run --local -n 3 --hang-timeout 2 --name hung -- sh -c "python3 $PWD/train.py; true"
	says 124 "it hangs: no rank printed a line for 2 s" "rank 1: next_batch ($PWD/train.py:2)" \
		"ranks 0, 2 (2): wait (threading.py:" " from reduce ($PWD/train.py:3)"
	! grep -F "Fatal Python" ../out .ringup/jobs/hung/rank-*.log
	grep -E '^\[1 localhost\]   File ".*/train.py", line 2 in next_batch$' .ringup/jobs/hung/stacks.txt
	printf '#!/bin/sh\n[ "$3" = -p ] || exit 1\necho "#0  0x00007f in poll () from /lib/libc.so.6"\necho "#1  0x00005578 in recv_all ()"\n' >tools/gdb
	chmod 755 tools/gdb
	PATH=$PWD/tools:$PATH apart ringup run --local -n 1 --hang-timeout 1 -- sh -c "echo begun; exec sleep 300"
	says 124 "rank 0: poll from recv_all"
}

@test "the end of a rank counts more than a known line long before it" {
	cat >old.py <<-'END'
		import sys
		print("OSError: [Errno 98] Address already in use; the next port is taken", flush=True)
		for i in range(100):
		    print("step", i)
		if sys.argv[1:]:
		    sys.exit(3)
		raise ValueError("loss is nan")
	END
	apart ringup run --local -n 1 -- python3 old.py
	says 1 "likely cause (rank 0 on localhost): an exception that nothing caught: ValueError: loss is nan." \
		"earlier (rank 0 on localhost): a port that the job needs is taken"
	# without a better answer it is the likely cause
	apart ringup run --local -n 1 -- python3 old.py quietly
	says 3 "likely cause (rank 0 on localhost): a port that the job needs is taken"
	# one that wraps a known failure is none
	apart ringup run --local -n 1 -- python3 -c 'raise OSError(98, "Address already in use")'
	says 1 "likely cause (rank 0 on localhost): a port that the job needs is taken"
	! grep -F "nothing caught" ../err
	apart ringup run --local -n 1 -- sh -c 'printf "OSError: \033[31mAddress\033[0m already in use\n"; exit 3'
	says 3 "likely cause (rank 0 on localhost): a port that the job needs is taken"
}

@test "an exception that nothing caught counts more than a warning (recorded outputs)" {
	local file
	for file in "$ROOT"/tests/cases/job-exceptions/*.txt; do
		apart ringup run --local -n 1 --name "${file##*/}" -- sh -c 'grep -v "^# " "$1"; exit 1' sh "$file"
		says 1 "likely cause (rank 0 on localhost): an exception that nothing caught: $(sed -n 's/^# exception: //p' "$file")." \
			"also (rank 0 on localhost): "
		[ "$(grep -c '^likely cause' ../err)" = 1 ]
	done
}

@test "the exception of a rank of torchrun, and one that has its message on the next line" {
	# (as torch writes them: each line behind the rank, and torchrun's own traceback at the end)
	cat >child <<-'END'
		[rank1]: Traceback (most recent call last):
		[rank1]:   File "/w/train.py", line 9, in <module>
		[rank1]:     main()
		[rank1]: KeyError: 'lr'
		Traceback (most recent call last):
		  File "/usr/bin/torchrun", line 8, in <module>
		    sys.exit(main())
		torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
		train.py FAILED
	END
	apart ringup run --local -n 1 -- sh -c 'cat child; exit 1'
	says 1 "likely cause (rank 0 on localhost): an exception that nothing caught: KeyError: 'lr'."
	[ "$(grep -c '^also' ../err)" = 0 ]
	printf 'x.py:1: UserWarning: Address already in use\nTraceback (most recent call last):\n  File "x"\nE: \n\n  two lines\n' >next
	apart ringup run --local -n 1 -- sh -c 'cat next; exit 1'
	says 1 "an exception that nothing caught: E: two lines." "also (rank 0 on localhost): a port that the job needs is taken"
	# a program that did not end by it says why itself
	apart ringup run --local -n 1 -- sh -c 'cat next; exit 3'
	says 3 "likely cause (rank 0 on localhost): a port that the job needs is taken"
}

@test "a working folder that is not there: one cause, whatever its name" {
	apart ringup run --local -n 1 --workdir '/nosuch dir' -- true
	says 127 "cannot enter the folder /nosuch dir: No such file" \
		"likely cause (rank 0 on localhost): the folder that the command is to run in is not there or may not be entered."
	! grep -E '^also|folder /nosuch is' ../err
}

@test "--hang-idle: a rank that computes does not hang, and one that sleeps does" {
	apart ringup run --local -n 1 --hang-timeout 2 --limit 6 -- sh -c 'while :; do :; done'
	says 124 "it hangs: no rank printed a line for 2 s"
	# (many short processes, too)
	apart ringup run --local -n 1 --hang-timeout 2 --hang-idle --limit 6 -- \
		sh -c 'while :; do sh -c "i=0; while [ \$i -lt 9999 ]; do i=\$((i+1)); done"; done'
	says 124 "the job did not end within --limit 6 s"
	apart ringup run --local -n 1 --hang-timeout 2 --hang-idle --limit 30 -- \
		sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; exec sleep 300'
	says 124 "it hangs: no rank printed a line or used a processor for 2 s"
}

@test "a Python that crashes says where" {
	apart ringup run --local -n 1 -- python3 -c 'import ctypes; ctypes.string_at(0)'
	says 139 "a rank crashed" "string_at"
}

@test "a rank's log has every byte, NUL bytes too, and what stands behind them is looked at" {
	ringup run --local -n 1 --name bytes -- printf 'a\0b\r\n\0\\0\377' >out
	printf 'a\0b\r\n\0\\0\377' | cmp - .ringup/jobs/bytes/rank-0.log
	ringup logs --rank 0 bytes | cmp - .ringup/jobs/bytes/rank-0.log
	apart ringup run --local -n 1 -- sh -c 'printf "\0CUDA out of memory. Tried to allocate\n"; exit 1'
	says 1 "likely cause"
}

@test "a pipe gets each line as it is, and a terminal none of its commands" {
	local bytes='a\rb\033[31mred\033[0m\377\0end\n'
	{ printf '[0 localhost] '; printf "$bytes"; } >expected
	ringup run --local -n 1 --name bytes -- printf "$bytes" | cmp - expected
	ringup run --local -n 1 -- sh -c 'printf "$1" >&2' sh "$bytes" 2>err
	tail -c "$(wc -c <expected)" err | cmp - expected
	ringup logs bytes | cmp - expected
	script -qec "ringup -q --color never run --local -n 1 -- printf '$bytes'; ringup logs bytes" typed >shown
	! grep -q $'\033\\[31m' shown
	grep -qF 'bred?end' shown
	grep -qF '[0 localhost] a?b?[31mred?[0m??end' shown
	# (what programs write over, as progress bars do)
	cat >bar.py <<-'END'
		import sys
		for i in range(1, 4):
		    sys.stdout.write("\b" * 30 + "\r" + f"\x1b[1m{i}/3\x1b[0m \x1b[32m━━\x1b[0m loss")
		print("\nten\b\b\b20")
	END
	script -qec "ringup -q --color never run --local -n 1 -- python3 bar.py" typed | tr -d '\r' >shown
	[ "$(cat shown)" = $'[0 localhost] 3/3 ━━ loss\n[0 localhost] 20' ]
}

@test "stdout on a full disk: the reason is said, and status 1" {
	status=0
	ringup run --local -n 1 --name full -- sh -c 'seq 100000; sleep 300' >/dev/full 2>../err || status=$?
	says 1 'full: cannot write to standard output: No space left on device'
	ringup run --local -d -n 1 --name more -- sh -c 'seq 100000; sleep 300' >/dev/null 3>&-
	status=0
	ringup logs -f more >/dev/full 2>../err || status=$?
	says 1 'cannot write to standard output: No space left on device'
	set +o pipefail
	[ "$(ringup logs -f more 2>../err | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}")" = 141 ]
	[ ! -s ../err ]
	ringup stop more
}

@test "a line that comes in pieces is one line, unless another rank prints meanwhile" {
	# (pieces are shown after a second; node 1 waits for node 0's file, so that nothing depends on the time)
	cat >train.sh <<-'END'
		if [ "$RANK" = 0 ]; then
		    printf "loading ... "; sleep 1.5; echo done
		    printf "again ... "; until grep -qF "again ..." .ringup/jobs/pieces/all.log; do sleep 0.05; done
		    touch shown; until grep -qF between .ringup/jobs/pieces/all.log; do sleep 0.05; done
		    echo yes
		else
		    until [ -e shown ]; do sleep 0.05; done
		    echo between
		fi
		printf "no end"
	END
	ringup run --local -n 2 --name pieces -- sh train.sh >out
	grep -qxF "[0 localhost] loading ... done" out
	grep -qxF "[0 localhost] again ... " out
	grep -qxF "[0 localhost] yes" out
	grep -qxF "[1 localhost] between" out
	[ "$(grep -c '\[[01] localhost\] no end$' out)" = 2 ]
	[ "$(wc -l <out)" = 6 ]
	cmp out .ringup/jobs/pieces/all.log
	[ "$(cat .ringup/jobs/pieces/rank-0.log)" = "loading ... done
again ... yes
no end" ]
}
