#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The all-reduce worker (images/worker) from the outside: every type, operation, path, fault and exit status.
# Loopback only; no timing is asserted.

load worker_helper

setup() {
	worker_setup
	COMMON=(-n 2 -w 1 --timeout 20)
}

each_type_and_op() {
	local type op
	for type in f32 f16 bf16 f64 i32 i64 u8; do
		for op in sum prod min max avg; do
			run "$@" "${COMMON[@]}" -b 8 -e 20000 -f 50 -d "$type" -o "$op"
			[ "$status" -eq 0 ] || { echo "$type $op: $output"; return 1; }
			[[ "$output" == *"# verdict: pass"* ]]
		done
	done
}

@test "every type and operation in shared memory" {
	each_type_and_op "$ALLREDUCE" --procs 3
}

@test "every type and operation over TCP" {
	each_type_and_op "$ALLREDUCE" --procs 3 --no-shm
}

@test "every type and operation over three hosts of two ranks" {
	each_type_and_op hosts 3 2
}

@test "nccl-tests' names of types" {
	for type in float double half bfloat16 int32 int64 uint8; do
		run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -e 64 -d "$type"
		[ "$status" -eq 0 ]
	done
}

@test "one to eight ranks, in shared memory and over TCP" {
	for ranks in 1 2 3 4 5 6 7 8; do
		for path in --json --no-shm; do
			run "$ALLREDUCE" --procs "$ranks" "${COMMON[@]}" -b 4 -e 300000 -f 17 "$path"
			[ "$status" -eq 0 ] || { echo "$ranks $path: $output"; return 1; }
		done
	done
}

@test "odd, zero and unaligned sizes" {
	for size in 0 1 3 7 13 2047 2049 8191 8193 65537 1048577 3000001; do
		for path in --json --no-shm; do
			run "$ALLREDUCE" --procs 3 "${COMMON[@]}" -b "$size" -e "$size" -d u8 "$path"
			[ "$status" -eq 0 ] || { echo "$size $path: $output"; return 1; }
			run "$ALLREDUCE" --procs 3 "${COMMON[@]}" -b "$size" -e "$size" -d f64 "$path"
			[ "$status" -eq 0 ] || { echo "$size $path: $output"; return 1; }
		done
		run hosts 2 2 "${COMMON[@]}" -b "$size" -e "$size" -d bf16
		[ "$status" -eq 0 ] || { echo "$size hosts: $output"; return 1; }
	done
}

@test "sizes start at zero and reach the last one" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 0 -e 64 -f 4 --json
	[ "$status" -eq 0 ]
	json '[r["bytes"] for r in d["results"]][::2] == [0, 4, 16, 64]'
}

@test "hosts with different numbers of ranks" {
	port=$(free_port)
	"$ALLREDUCE" --rank 3 --procs 1 --world 4 --host b --root "127.0.0.1:$port" "${COMMON[@]}" &
	run "$ALLREDUCE" --rank 0 --procs 3 --world 4 --host a --root "127.0.0.1:$port" "${COMMON[@]}" -e 1M -f 8
	[ "$status" -eq 0 ]
	wait
}

@test "ranks of one host started one by one share memory" {
	port=$(free_port)
	"$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" &
	run "$ALLREDUCE" --rank 0 --world 2 --root "127.0.0.1:$port" -e 1M -f 8 --json
	[ "$status" -eq 0 ]
	json 'd["world"] == 2 and len(d["ranks"]) == 2'
	wait
}

@test "one rank without shared memory is enough to use TCP" {
	port=$(free_port)
	"$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" &
	run "$ALLREDUCE" --rank 0 --world 2 --root "127.0.0.1:$port" --no-shm "${COMMON[@]}" -e 64K -f 32
	[ "$status" -eq 0 ]
	wait
}

@test "ranks that cannot map each other's memory use TCP and say so" {
	port=$(free_port)
	own_namespaces --pid --fork --mount-proc "$ALLREDUCE" --rank 2 --world 3 --root "127.0.0.1:$port" 2>/dev/null &
	run "$ALLREDUCE" --rank 0 --procs 2 --world 3 --root "127.0.0.1:$port" "${COMMON[@]}" -e 64K -f 32
	[ "$status" -eq 0 ]
	[[ "$output" == *"this host's ranks use TCP"* ]]
	wait
}

@test "--bind moves the data connections" {
	run "$ALLREDUCE" --procs 3 --no-shm --bind 127.0.0.3 "${COMMON[@]}" -e 64K -f 32 --json
	[ "$status" -eq 0 ]
	json 'all(r["address"] == "127.0.0.3" for r in d["ranks"])'
}

@test "IPv6, in a network of its own, where there is always some" {
	run own_namespaces --net bash -c 'echo 0 >/proc/sys/net/ipv6/conf/lo/disable_ipv6; ip link set lo up; exec "$@"' - \
		"$ALLREDUCE" --procs 2 --no-shm --root "[::1]:5000" "${COMMON[@]}" -e 64K -f 32 --json
	[ "$status" -eq 0 ]
	json 'all(r["address"] == "::1" for r in d["ranks"])'
}

@test "more memory than there is: an error, not a kill" {
	run "$ALLREDUCE" --procs 2 -e 1000G --timeout 10
	[ "$status" -eq 1 ]
	[[ "$output" == *"lower -e"* ]]
}

# limit FILE WORDS: a control group whose file says that, seen from a process in the group /pods/one
limit() {
	mkdir -p "$RINGUP_TEST_ROOT/proc/self" "$(dirname "$RINGUP_TEST_ROOT/sys/fs/cgroup/$1")"
	printf '4:memory:/pods/one\n0::/pods/one\n' >"$RINGUP_TEST_ROOT/proc/self/cgroup"
	echo "$2" >"$RINGUP_TEST_ROOT/sys/fs/cgroup/$1"
}

@test "more memory than the container may use: an error, not a kill" {
	number=0
	for file in pods/one/memory.max pods/memory.max memory.max memory/pods/one/memory.limit_in_bytes memory/memory.limit_in_bytes; do
		export RINGUP_TEST_ROOT=$BATS_TEST_TMPDIR/$((++number))
		limit "$file" 16000000
		run "$ALLREDUCE" --procs 2 -e 4M --timeout 10
		[ "$status" -eq 1 ] || { echo "$file: $output"; return 1; }
		[[ "$output" == *"no memory for two buffers of 4194304 bytes: Cannot allocate memory; lower -e"* ]]
		run "$ALLREDUCE" --procs 2 -b 2M -e 2M --quiet
		[ "$status" -eq 0 ]
		limit "$file" max
		run "$ALLREDUCE" --procs 2 -b 4M -e 4M --quiet
		[ "$status" -eq 0 ]
	done
}

@test "the text is nccl-tests' table" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1K -e 1K
	[ "$status" -eq 0 ]
	[[ "$output" == *"#       size         count      type   redop    root     time   algbw   busbw  #wrong"* ]]
	row=$(printf '%s\n' "$output" | grep -v '^#')
	read -r -a field <<<"$row"
	[ "${#field[@]}" -eq 13 ]
	[ "${field[0]} ${field[1]} ${field[2]} ${field[3]} ${field[4]} ${field[8]} ${field[12]}" = "1024 256 float sum -1 0 0" ]
}

@test "the JSON document: one, complete, and consistent" {
	run "$ALLREDUCE" --procs 4 "${COMMON[@]}" -b 1K -e 4K --json
	[ "$status" -eq 0 ]
	json 'd["schema"] == 1 and d["program"] == "allreduce" and d["backend"] == "cpu" and d["world"] == 4'
	json 'd["verdict"] == "pass" and d["reason"] == "" and d["failure"] is None'
	json 'len(d["results"]) == 6 and [r["inplace"] for r in d["results"]] == [False, True] * 3'
	json 'all(r["wrong"] == 0 and r["type"] == "f32" and r["op"] == "sum" for r in d["results"])'
	json 'all(r["min_usec"] <= r["p50_usec"] <= r["p99_usec"] <= r["max_usec"] for r in d["results"])'
	json 'all(abs(r["busbw"] - r["algbw"] * 1.5) < 1e-3 for r in d["results"])'
	json '[r["rank"] for r in d["ranks"]] == [0, 1, 2, 3] and all(r["host"] and r["pid"] > 0 for r in d["ranks"])'
}

@test "--quiet prints the verdict only" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -e 64 --quiet
	[ "$status" -eq 0 ]
	[ "$output" = "# verdict: pass" ]
}

@test "rank 0 decides what is run" {
	port=$(free_port)
	"$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" -b 8 -e 8 -d u8 &
	run "$ALLREDUCE" --rank 0 --world 2 --root "127.0.0.1:$port" -b 64 -e 256 -d f64 --json
	[ "$status" -eq 0 ]
	json 'd["results"][0]["type"] == "f64" and len(d["results"]) == 6'
	wait
}

@test "corrupt: exit 2 names rank, host, index and values, on every path" {
	for path in --json --no-shm; do
		run "$ALLREDUCE" --procs 3 "${COMMON[@]}" -b 4K -e 4K --fault-inject corrupt:1 --host here "$path" --json
		[ "$status" -eq 2 ]
			json 'd["verdict"] == "wrong data" and d["failure"]["rank"] == 1 and d["failure"]["host"] == "here"'
		json 'd["failure"]["index"] == 512 and d["failure"]["expected"] != d["failure"]["got"]'
		json 'd["results"][0]["wrong"] == 1'
	done
	run hosts 2 2 "${COMMON[@]}" -b 4K -e 4K --fault-inject corrupt:3
	[ "$status" -eq 2 ]
	[[ "$output" == *"rank 3 (host1): element 512 of 1024 is"*"; 1 elements wrong there"* ]]
	[[ "$output" != *"differ"* ]]
}

@test "die: exit 7 names the rank, on every path and for every rank" {
	for victim in 1 2; do
		for path in --quiet --no-shm; do
			run "$ALLREDUCE" --procs 3 "${COMMON[@]}" --fault-inject "die:$victim" "$path"
			[ "$status" -eq 7 ]
			[[ "$output" == *"peer lost: rank $victim ("* ]]
		done
	done
	run hosts 2 2 "${COMMON[@]}" --fault-inject die:2
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank 2 (host1, pid "*"is gone"* ]]
}

@test "die: a dead rank 0 is named too" {
	run "$ALLREDUCE" --procs 3 "${COMMON[@]}" --fault-inject die:0 --json
	[ "$status" -eq 7 ]
	[[ "$output" == *"rank 0 ("*"is gone"* ]]
	json 'd["verdict"] == "peer lost" and d["failure"]["rank"] == 0'
}

@test "drop: exit 4 names the missing ranks and the phase" {
	run "$ALLREDUCE" --procs 4 --timeout 1 --fault-inject drop:2 --json
	[ "$status" -eq 4 ]
	json 'd["verdict"] == "timeout" and d["failure"]["rank"] == 2 and d["failure"]["phase"] == "join"'
	json '"rank 2" in d["reason"]'
}

@test "stop: a rank that hangs is named, on every path" {
	for path in --quiet --no-shm; do
		run "$ALLREDUCE" --procs 3 -n 2 --timeout 1 --fault-inject stop:1 "$path"
		[ "$status" -eq 4 ]
		[[ "$output" == *"in phase run: rank 1 ("*"does not answer"* ]]
	done
}

@test "more ranks than files may be open: the limit is raised as far as it goes, and else named" {
	run bash -c 'ulimit -Sn 32 && "$@"' - "$ALLREDUCE" --procs 40 -n 1 -w 0 -e 8 --timeout 60 --quiet
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	run bash -c 'ulimit -n 32 && "$@"' - "$ALLREDUCE" --procs 40 -n 1 -w 0 -e 8 --timeout 60 --quiet --host here
	[ "$status" -eq 1 ] || { echo "$output"; return 1; }
	[[ "$output" == *"rank 0 (here) cannot take in more than "*" of 40 ranks: Too many open files: the limit is 32 (RLIMIT_NOFILE)"* ]]
}

@test "a rank whose root never comes gives up and says so" {
	port=$(free_port)
	run "$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" --timeout 1
	[ "$status" -eq 4 ]
	[[ "$output" == *"rank 1"*"cannot reach rank 0 at 127.0.0.1:$port"*"join"* ]]
}

@test "slow: the others wait and the data is right" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -e 64 --fault-inject slow:1
	[ "$status" -eq 0 ]
}

@test "versions that differ: exit 6 names host and both versions" {
	run hosts 2 1 "${COMMON[@]}" --fault-inject version:1
	[ "$status" -eq 6 ]
	[[ "$output" == *"versions differ: rank 0 (host0) runs "*", rank 1 (host1) runs "*"-fault"* ]]
}

@test "two builds of one version that speak differently: exit 6" {
	run python3 "$BATS_TEST_DIRNAME/rendezvous.py" rank "$ALLREDUCE" new
	[[ "$output" == *"status 6" ]]
	[[ "$output" == *"versions differ: rank 0 (here) runs "*", rank 1 (there) runs 9.9.9 of protocol 1000"* ]]
	for case in version-abort version-else old; do
		run python3 "$BATS_TEST_DIRNAME/rendezvous.py" root "$ALLREDUCE" "$case"
		[[ "$output" == *"status 6"* ]]
	done
}

@test "a build that still sends the secret is told that versions differ, if its secret is right" {
	for secret in "" right; do
		RINGUP_SECRET=$secret run python3 "$BATS_TEST_DIRNAME/rendezvous.py" rank "$ALLREDUCE" old-right
		[[ "$output" == *"told: there"*"versions differ: rank 0 (here) runs "*", rank 1 (there) runs 0.1.0 of protocol 3"*"status 6" ]]
	done
	RINGUP_SECRET=right run python3 "$BATS_TEST_DIRNAME/rendezvous.py" rank "$ALLREDUCE" old-wrong
	[[ "$output" == *"told: rank 0 turned this rank away: wrong secret"*"status 4" ]]
}

@test "strangers are turned away and cost the run nothing" {
	port=$(free_port)
	export RINGUP_SECRET=right
	"$ALLREDUCE" --rank 0 --world 2 --root "127.0.0.1:$port" "${COMMON[@]}" -e 64 >"$BATS_TEST_TMPDIR/out" 2>&1 &
	root=$!
	python3 - "$port" <<-'END' &
		import socket, sys, time
		def call():
		    for _ in range(200):
		        try:
		            return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		        except ConnectionRefusedError:
		            time.sleep(0.02)
		silent = [call() for _ in range(300)]
		loud = call()
		try:
		    loud.sendall(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100000)
		except OSError:
		    pass
		time.sleep(20)
	END
	stranger=$!
	# the loud one must be heard before the run begins
	for _ in $(seq 200); do
		! grep -q "it is no allreduce rank" "$BATS_TEST_TMPDIR/out" || break
		sleep 0.1
	done
	RINGUP_SECRET=wrong run "$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" --timeout 20
	[ "$status" -eq 1 ]
	[[ "$output" == *"wrong secret"* ]]
	[[ "$output" != *"right"* ]]
	run "$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" --timeout 20
	[ "$status" -eq 0 ]
	wait "$root"
	kill "$stranger"
	grep -q "turned away a connection from 127.0.0.1: wrong secret" "$BATS_TEST_TMPDIR/out"
	grep -q "turned away a connection from 127.0.0.1: it is no allreduce rank" "$BATS_TEST_TMPDIR/out"
	grep -q "# verdict: pass" "$BATS_TEST_TMPDIR/out"
}

@test "two processes that claim the same rank: the second is turned away" {
	port=$(free_port)
	"$ALLREDUCE" --rank 0 --world 3 --root "127.0.0.1:$port" "${COMMON[@]}" -e 64 >"$BATS_TEST_TMPDIR/out" 2>&1 &
	root=$!
	"$ALLREDUCE" --rank 1 --world 3 --root "127.0.0.1:$port" &
	sleep 0.5
	run "$ALLREDUCE" --rank 1 --world 3 --root "127.0.0.1:$port"
	[ "$status" -eq 1 ]
	[[ "$output" == *"rank 1 is there already"* ]]
	"$ALLREDUCE" --rank 2 --world 3 --root "127.0.0.1:$port"
	wait "$root"
}

@test "a rank that ended while others were awaited may come again" {
	port=$(free_port)
	"$ALLREDUCE" --rank 0 --world 3 --root "127.0.0.1:$port" "${COMMON[@]}" -e 64 >"$BATS_TEST_TMPDIR/out" 2>&1 &
	root=$!
	"$ALLREDUCE" --rank 1 --world 3 --root "127.0.0.1:$port" &
	first=$!
	sleep 0.5
	kill -KILL "$first"
	wait "$first" || true
	"$ALLREDUCE" --rank 1 --world 3 --root "127.0.0.1:$port" &
	sleep 0.5
	"$ALLREDUCE" --rank 2 --world 3 --root "127.0.0.1:$port"
	wait "$root"
	wait $!
	grep -q "# verdict: pass" "$BATS_TEST_TMPDIR/out"
}

@test "without a secret only loopback will do" {
	run "$ALLREDUCE" --rank 1 --world 2 --root 192.0.2.1:5000
	[ "$status" -eq 1 ]
	[[ "$output" == *"RINGUP_SECRET"* ]]
}

@test "usage errors: exit 1 and a hint" {
	for flags in "--bogus" "-d f31" "-o mean" "-b x" "-b 1K -e 8" "-f 0" "-n 0" "--procs 0" "--rank 4 --world 4" \
		"--rank 1 --world 2" "--world 3" "--root nowhere" "--backend gpu" "--timeout 0" "--min-busbw fast" "--expect much" "--min-percent -1" "--min-percent 5" \
		"--fault-inject burn:1" "--fault-inject corrupt" "word" "-b"; do
		# shellcheck disable=SC2086
		run "$ALLREDUCE" $flags
		[ "$status" -eq 1 ] || { echo "$flags: $status $output"; return 1; }
		[[ "$output" == "allreduce: "* ]]
	done
}

@test "usage errors name the word that is wrong" {
	while IFS='|' read -r flags message; do
		# shellcheck disable=SC2086
		run "$ALLREDUCE" $flags
		[ "$status" -eq 1 ]
		[[ "$output" == "allreduce: "*"$message"* ]] || { echo "$flags: $output"; return 1; }
	done <<-'END'
		-b 8 -qyz|option '-q': unknown
		-qyz|option '-q': unknown
		--bogus|option '--bogus': unknown
		--timeout 86401|-T '86401': a number of seconds from 1 to 86400 is needed
		--root-rank 16384|-r '16384': the number of a rank or all is needed
		--root-rank -2|-r '-2': the number of a rank or all is needed
		-g 2 --procs 2|--procs and -g or -t: both say
		-b 0 -e 1G -i 1|are more than 1000000 results
		--json=1|option '--json=1': it takes no value
		--rank|option '--rank': it needs a value
		--world 3|--world 3: --rank is needed too
		--rank 0 --world 2 --root 127.0.0.1:65536|--root '127.0.0.1:65536': HOST:PORT is needed
		--rank 0 --world 2 --root 127.0.0.1:99999999999|HOST:PORT is needed
		--procs 2 --fault-inject slow:2|--fault-inject: rank 2 does not exist in a world of 2
		--procs 2 --fault-inject link:0-2|--fault-inject: rank 2 does not exist in a world of 2
		--rank 16383 --procs 2 --root 127.0.0.1:1|a world of 16385 ranks: 16384 are possible
	END
	for size in '1 ' 1KB 1T 1@ ' 1' ''; do
		run "$ALLREDUCE" -e "$size"
		[ "$status" -eq 1 ]
		[[ "$output" == "allreduce: -e '$size': a size such as 8 or 64K is needed"* ]]
	done
}

@test "--help: every option is one of the program's and stands in docs/images.md, and its default is one of its values" {
	count=0
	while read -r name default; do
		count=$((count + 1))
		grep -qE -e "--$name[ \`,]" "$BATS_TEST_DIRNAME/../../docs/images.md" || { echo "docs/images.md lacks --$name"; return 1; }
		run "$ALLREDUCE" "--$name"
		[[ "$output" != *unknown* ]]
		[ -z "$default" ] || "$ALLREDUCE" -e 8 -n 1 --sgd --steps 1 "--$name" "$default" >/dev/null
	done < <("$ALLREDUCE" --help | python3 -c '
import re, sys
for option in re.split(r"\n  (?=-)", "\n" + sys.stdin.read().split("\n\n")[2])[1:]:
    default = re.search(r"\(default\s+(\w+)\)", option)
    for name in re.findall(r"--([a-z_-]+)", re.split("  +", option)[0]):
        print(name, default.group(1) if default else "")
')
	[ "$count" -ge 31 ]
}

@test "numbers out of an option's bounds are refused with the bounds" {
	while read -r name low high; do
		for value in $((low - 1)) $((high + 1)) "${low}x" ''; do
			run "$ALLREDUCE" "--$name" "$value"
			[ "$status" -eq 1 ]
			[[ "$output" == *"'$value': a number from $low to $high is needed; see allreduce --help" ]] || { echo "$name $value: $output"; return 1; }
		done
	done <<-END
		procs 1 16384
		rank 0 16383
		world 1 16384
		stepfactor 1 1024
		iters 1 100000
		warmup_iters 0 100000
		steps 1 100000
		agg_iters 1 100000
		average 0 4
	END
}

@test "--help and --version" {
	run "$ALLREDUCE" --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"exit status: 0 pass, 1 usage"* ]]
	run "$ALLREDUCE" --version
	[ "$status" -eq 0 ]
	[[ "$output" == "allreduce "* ]]
}

@test "nccl without a GPU: exit 5, never a run on the CPU" {
	run "$ALLREDUCE" --procs 2 --backend nccl --json
	[ "$status" -eq 5 ]
	json 'd["verdict"] == "gpu unusable" and d["results"] == []'
}

@test "--expect: the share that the fastest size reached; --min-percent: exit 3 below it, 0 above" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 64 -e 1M -f 16 --expect 1000000
	[ "$status" -eq 0 ]
	[[ "$output" == *"of 1000000.00 expected ("*"%)"* ]]
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 64 -e 1M -f 16 --expect 1000000 --min-percent 50 --json
	[ "$status" -eq 3 ]
	output=$(sed -n '/^{/,$p' <<<"$output")
	json 'd["verdict"] == "below threshold" and "below --min-percent 50" in d["reason"]'
	json 'd["expected"]["peak"] == max(r["busbw"] for r in d["results"]) and d["expected"]["percent"] < 50'
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1M -e 1M --expect 0.000001 --min-percent 100 --json
	[ "$status" -eq 0 ]
	json 'd["verdict"] == "pass" and d["expected"]["percent"] > 100'
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -e 64 --json
	json 'd["expected"] is None'
	run hosts 2 2 "${COMMON[@]}" -b 64 -e 64 --expect 1000000 --min-percent 1
	[ "$status" -eq 3 ]
	[[ "$output" != *"host statuses differ"* ]]
}

@test "--min-busbw: exit 3 below it, 0 above" {
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -e 64 --min-busbw 1000000
	[ "$status" -eq 3 ]
	[[ "$output" == *"# verdict: below threshold"* ]]
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" -b 1M -e 1M --min-busbw 0.000001
	[ "$status" -eq 0 ]
}

@test "Open MPI's environment, cpu backend" {
	run mpi -n 2 "$ALLREDUCE" "${COMMON[@]}" -e 1K --json
	[ "$status" -eq 0 ]
	json 'd["backend"] == "cpu" and d["world"] == 2 and d["verdict"] == "pass"'
}

@test "mpi backend: every type and operation" {
	for type in f32 f16 bf16 f64 i32 i64 u8; do
		run mpi -n 2 "$ALLREDUCE" --backend mpi "${COMMON[@]}" -e 64K -f 64 -d "$type" -o sum --json
		[ "$status" -eq 0 ] || { echo "$type: $output"; return 1; }
		json 'd["backend"] == "mpi" and d["verdict"] == "pass"'
	done
	for op in prod min max avg; do
		run mpi -n 3 "$ALLREDUCE" --backend mpi "${COMMON[@]}" -e 64K -f 64 -d f16 -o "$op"
		[ "$status" -eq 0 ] || { echo "$op: $output"; return 1; }
	done
}

@test "mpi backend: a large size over TCP, which MPI sends only while it is called (tests/long has more)" {
	beside_other_work mpi -n 4 --mca btl self,tcp --mca btl_tcp_if_include lo "$ALLREDUCE" --backend mpi -b 4M -e 4M -n 10 --timeout 40 --quiet
}

@test "mpi backend: without plug-in or mpirun an error says what to do" {
	RINGUP_MPI_PLUGIN=/nonexistent run "$ALLREDUCE" --backend mpi
	[ "$status" -eq 1 ]
	[[ "$output" == *"mpicc"* ]]
	run "$ALLREDUCE" --procs 2 --backend mpi
	[ "$status" -eq 1 ]
	[[ "$output" == *"mpirun"* ]]
}

@test "Slurm's, PMI's and torchrun's environment" {
	SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_JOB_ID=bats$$ "$ALLREDUCE" &
	SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_JOB_ID=bats$$ run "$ALLREDUCE" -e 64
	[ "$status" -eq 0 ]
	wait
	port=$(free_port)
	PMI_RANK=1 PMI_SIZE=2 "$ALLREDUCE" --root "127.0.0.1:$port" &
	PMI_RANK=0 PMI_SIZE=2 run "$ALLREDUCE" --root "127.0.0.1:$port" -e 64
	[ "$status" -eq 0 ]
	wait
	port=$(free_port)
	RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$ALLREDUCE" &
	RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run "$ALLREDUCE" -e 64 --json
	[ "$status" -eq 0 ]
	json 'd["world"] == 2'
	wait
}

@test "a launcher on several hosts needs --root" {
	SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_NNODES=2 run "$ALLREDUCE"
	[ "$status" -eq 1 ]
	[[ "$output" == *"--root"* ]]
}
