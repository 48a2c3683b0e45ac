#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# False rank 0s and false ranks, played by rendezvous.py: whoever does not know the secret learns nothing and is believed
# nothing, and what a member says is checked, too. No case may end a rank by a signal.

load worker_helper

setup() {
	worker_setup
	export RINGUP_SECRET=0123456789abcdef0123456789abcdef
}

# play SIDE CASES...: each case in turn; its output in out/SIDE.CASE
play() {
	local side=$1 case
	mkdir -p "$BATS_TEST_TMPDIR/out"
	shift
	for case; do
		timeout 60 python3 "$BATS_TEST_DIRNAME/rendezvous.py" "$side" "$ALLREDUCE" "$case" >"$BATS_TEST_TMPDIR/out/$side.$case" 2>&1 || {
			echo "$case:" && cat "$BATS_TEST_TMPDIR/out/$side.$case"
			return 1
		}
	done
}

# said SIDE CASE STATUS PATTERN: how it ended
said() {
	local out
	out=$(<"$BATS_TEST_TMPDIR/out/$1.$2")
	# shellcheck disable=SC2053
	[[ "$out" == *"status $3"* && "$out" == $4 ]] || { echo "$2: $out"; return 1; }
}

@test "an impostor at rank 0's port gets no secret, no proof, and nothing after a wrong answer" {
	local cases=(silent garbage http stranger other-role reflect replay)
	play root "${cases[@]}"
	for case in "${cases[@]}"; do
		! grep -q "the secret was said" "$BATS_TEST_TMPDIR/out/root.$case" || { echo "$case"; return 1; }
	done
	for case in stranger other-role reflect replay; do
		said root "$case" 1 "*wrong secret: whoever answers at 127.0.0.1:*"
		grep -q "leftover: 0 bytes" "$BATS_TEST_TMPDIR/out/root.$case"
	done
	for case in garbage http; do
		said root "$case" 7 "*what answers at 127.0.0.1:*is no rank 0 of allreduce*"
	done
	said root silent 4 "*does not answer in phase join*"
}

@test "an impostor that says a byte now and then is left at the deadline" {
	play root drip
	said root drip 4 "*does not answer in phase join*"
}

@test "what rank 0 says is checked: numbers out of range" {
	play root type type-99 op collective root factor sizes too-large iterations iterations-max warmups graph register steps \
		cycles aggregate checks blocking average results unaligned unalign policy port-0 port-70000
	for case in type type-99 op collective; do
		said root "$case" 7 "*welcomes this rank with a type, operation or collective that does not exist*"
	done
	said root root 7 "*with a root that does not exist*"
	for case in factor sizes too-large; do
		said root "$case" 7 "*with sizes that are out of bounds*"
	done
	for case in iterations iterations-max warmups steps; do
		said root "$case" 7 "*with numbers of iterations that are out of bounds*"
	done
	for case in cycles aggregate checks; do
		said root "$case" 7 "*with numbers of repetitions that are out of bounds*"
	done
	for case in blocking average; do
		said root "$case" 7 "*with a way of measuring that does not exist*"
	done
	said root results 7 "*with more results than a run may have*"
	for case in unalign policy; do
		said root "$case" 7 "*with buffers or a policy that do not exist*"
	done
	for case in graph register unaligned; do
		said root "$case" 7 "*with a flag that this rank's backend does not know*"
	done
	for case in port-0 port-70000; do
		said root "$case" 7 "*with a port that does not exist*"
	done
}

@test "what rank 0 says is checked: texts without an end, control characters, lengths, proofs" {
	local texts=(host-no-end host-control host-c1 version-no-end kernel-no-end library-no-end)
	play root "${texts[@]}" address-name address-no-end table-changed welcome-unproven short-welcome endless-welcome unknown-frame abort-numbers abort-tidied control-in-version
	for case in "${texts[@]}"; do
		said root "$case" 7 "*with a host name or version that is no text*"
	done
	for case in address-name address-no-end; do
		said root "$case" 7 "*with an address that is none*"
	done
	for case in table-changed welcome-unproven; do
		said root "$case" 7 "*with a wrong proof*"
	done
	for case in short-welcome endless-welcome unknown-frame; do
		said root "$case" 7 "*with a message that does not belong there*"
	done
	said root abort-numbers 7 "*"
	said root abort-tidied 1 "*usage: ?\[2Jpoorx*"
	! grep -rl $'\x1b' "$BATS_TEST_TMPDIR/out"
}

@test "a false rank: neither a guess nor rank 0's own proof gets in, and it is told and counted" {
	local cases=(wrong-answer reflected same-as-root unproven-intro leaves)
	play rank "${cases[@]}"
	for case in "${cases[@]}"; do
		said rank "$case" 4 "*turned away a connection from 127.0.0.1: wrong secret*connections turned away: 1, for a wrong secret: 1*"
	done
}

@test "what a rank says is checked" {
	local texts=(host-no-end host-control member-no-end library-no-end) misfits=(world rank backend-no-end address-name port-0 port-70000)
	play rank "${texts[@]}" "${misfits[@]}" reason-control
	for case in "${texts[@]}"; do
		said rank "$case" 4 "*turned away a connection from 127.0.0.1: it comes with a host name or version that is no text*"
	done
	said rank world 4 "*it says rank 1 of 3, but the world has 2 ranks*"
	said rank rank 4 "*it says rank 7 of 2, but the world has 2 ranks*"
	said rank backend-no-end 4 "*it comes with a backend that does not exist*"
	said rank address-name 4 "*it comes with an address that is none*"
	for case in port-0 port-70000; do
		said rank "$case" 4 "*it comes with a port that does not exist*"
	done
	said rank reason-control 5 "*gpu unusable: --backend cpu on rank 1 (there): ?\[2Jpoorx*"
	! grep -rl $'\x1b' "$BATS_TEST_TMPDIR/out"
}

@test "every case of rendezvous.py is played" {
	for side in root rank; do
		for case in $(python3 "$BATS_TEST_DIRNAME/rendezvous.py" cases "$side"); do
			cat "$BATS_TEST_DIRNAME/worker_impostor.bats" "$BATS_TEST_DIRNAME/worker.bats" | grep -qE "(^|[ (=])$case([ );]|\$)" || { echo "$case is not"; return 1; }
		done
	done
}

@test "a process with the secret leaves no core dump, and shows it nowhere in /proc" {
	run python3 - "$ALLREDUCE" <<-'END'
		import os, socket, sys
		secret = os.environ["RINGUP_SECRET"]
		program = os.open(sys.argv[1], os.O_RDONLY)
		listener = socket.create_server(("127.0.0.1", 0))
		words = ["allreduce", "--rank", "1", "--world", "2", "--timeout", "20", "--root", "127.0.0.1:%d" % listener.getsockname()[1]]
		user = os.getuid() or 65534
		pid = os.fork()
		if pid == 0:
		    if os.getuid() == 0:
		        os.setgroups([])
		        os.setgid(user)
		        os.setuid(user)
		    os.execve(program, words, os.environ)
		listener.accept()[0].recv(280)
		# proc(5): the files of a process that may not be dumped belong to root
		print("owner", "root" if os.stat(f"/proc/{pid}/environ").st_uid != user else "user")
		try:
		    print("environment", secret.encode() in open(f"/proc/{pid}/environ", "rb").read())
		except PermissionError:
		    print("environment", False)
		os.kill(pid, 9)
	END
	echo "$output"
	[[ "$output" == *"owner root"* && "$output" == *"environment False"* ]]
}

@test "once the ranks have met, no process has the secret in its memory" {
	run python3 - "$ALLREDUCE" <<-'END'
		import os, re, subprocess, sys
		secret = os.environ.pop("RINGUP_SECRET").encode()
		run = subprocess.Popen([sys.argv[1], "--procs", "2", "-n", "100000", "-b", "1M", "-e", "1M"], stdout=subprocess.PIPE,
		                       env={**os.environ, "RINGUP_SECRET": secret.decode()})
		while b"(elements)" not in run.stdout.readline():
		    pass
		found = 0
		children = open(f"/proc/{run.pid}/task/{run.pid}/children").read().split()
		for pid in [run.pid, *children]:
		    memory, maps = open(f"/proc/{pid}/mem", "rb"), open(f"/proc/{pid}/maps").readlines()
		    checked = any("libasan" in line for line in maps) # that keeps a copy of the whole environment
		    for line in maps:
		        begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
		        begin, end = int(begin, 16), int(end, 16)
		        if rights[:2] != "rw" or "memfd" in line or end - begin > 1 << 28 or checked and not line.split()[5:]:
		            continue
		        try:
		            memory.seek(begin)
		            found += memory.read(end - begin).count(secret)
		        except (OSError, ValueError):
		            pass
		print("processes", 1 + len(children), "found", found)
		run.kill()
		for pid in children:
		    os.kill(int(pid), 9)
	END
	echo "$output"
	[[ "$output" == *"processes 3 found 0"* ]]
}
