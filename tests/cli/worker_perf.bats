#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker as nccl-tests' programs: names, defaults, options, table, variables, and a parser that was written for
# nccl-tests. Most of it on the CPU; what concerns queues with the stand-ins of CUDA and NCCL.

load worker_helper

setup() {
	standin_setup
	STANDIN=$BATS_FILE_TMPDIR/standin
	PROGRAMS=$BATS_FILE_TMPDIR/programs
	QUICK=(--backend cpu -g 2 -n 2 -w 1 -b 1K -e 1K)
	cd "$BATS_TEST_TMPDIR"
}

setup_file() {
	worker_setup
	mkdir "$BATS_FILE_TMPDIR"/{standin,programs}
	standin_build "$BATS_FILE_TMPDIR/standin"
	for name in $("$ALLREDUCE" --programs); do
		ln -s "$(realpath "$ALLREDUCE")" "$BATS_FILE_TMPDIR/programs/$name"
	done
}

# as NAME FLAGS...: runs that program, which must pass
as() {
	local name=$1
	shift
	run "$PROGRAMS/$name" "$@"
	[ "$status" -eq 0 ] || { echo "$name $*: $status $output"; return 1; }
}

# rows: the lines of the table
rows() {
	printf '%s\n' "$output" | grep -E '^ +[0-9]'
}

@test "the programs of nccl-tests, each with its collective and nccl-tests' defaults" {
	[ "$("$ALLREDUCE" --programs | wc -l)" -eq 11 ]
	for name in all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv gather scatter hypercube; do
		as "${name}_perf" "${QUICK[@]}"
		[[ "$output" == "# Collective test starting: ${name}_perf"$'\n'*"# Out of bounds values : 0 OK"$'\n'"# Avg bus bandwidth    : "*"# Collective test concluded: ${name}_perf"$'\n#' ]]
		[ "$(rows | wc -l)" -eq 1 ]
	done
	as all_reduce_perf --backend cpu -n 1
	[[ "$output" == *"# nThread 1 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 1048576(bytes) warmup iters: 1 iters: 1 agg iters: 1 validation: 1 graph: 0 unalign: 0"* ]]
	LD_LIBRARY_PATH=/nonexistent run "$PROGRAMS/all_reduce_perf" -n 1
	[ "$status" -eq 5 ]
	[[ "$output" == *"--backend nccl"* ]]
}

@test "superbench reads the table" {
	cat >read.py <<-'END'
		import json, re, subprocess, sys
		case = json.load(open(sys.argv[1]))
		for program in case["programs"]:
		    # (64 KiB may be 0.00 GB/s on a busy machine)
		    flags = case["flags"].format(max_size="1M", gpu_count=2).split()
		    out = subprocess.run([sys.argv[2] + "/" + program, "--backend", "cpu", "-n", "2"] + flags, check=True, text=True,
		                         capture_output=True).stdout.splitlines()
		    begin = max(i for i, line in enumerate(out) if case["table_begins_with"] in line)
		    end = max(i for i, line in enumerate(out) if case["table_ends_before"] in line)
		    best, lines, at = -1, 0, case["field_of_busbw"]
		    for line in out[begin + case["lines_from_there_to_the_rows"]:end]:
		        fields = re.sub(" +", " ", line.strip(" ")).split(" ")
		        if len(fields) <= case["fields_more_than"]:
		            break
		        # of two ranks: what a gather moves is half of the size
		        right = float(fields[0]) / float(fields[at - 2]) / 1e3 / (1 + program.endswith(("gather_perf", "scatter_perf")))
		        # (both are rounded, the time to 0.01 us)
		        rounded = 0.006 + right * (0.01 + 0.006 / float(fields[at - 2]))
		        assert abs(float(fields[at]) - right) < rounded, (program, fields)
		        best, lines = max(best, float(fields[at])), lines + 1
		    assert lines >= 19 and best > 0, (program, lines, best)
		    # others look for the names of the columns
		    assert len(out[begin + 1].lstrip("# ").split()) == len(out[end - 1].split()) == 13, out
	END
	python3 read.py "$BATS_TEST_DIRNAME/../cases/nccl-tests/superbench.json" "$PROGRAMS"
}

@test "-g and -t, -i and -f, -N, -r, -d all and -o all say what is measured" {
	as all_reduce_perf --backend cpu -t 2 -g 2 -n 1 -w 0 -b 1.5K -e 3K -i 512
	[[ "$output" == *"#  Rank  3 Group  0 Pid "* ]]
	[ "$(rows | awk '{print $1}' | xargs)" = "1536 2048 2560 3072" ]
	as all_reduce_perf "${QUICK[@]}" -e 4K -f 4 -N 2
	[ "$(rows | awk '{print $1}' | xargs)" = "1024 4096 1024 4096" ]
	as broadcast_perf "${QUICK[@]}" --root all
	[ "$(rows | awk '{print $5}' | xargs)" = "0 1" ]
	as reduce_perf "${QUICK[@]}" --root 1
	[ "$(rows | awk '{print $5}' | xargs)" = "1" ]
	as all_reduce_perf "${QUICK[@]}" -d all -o all
	[ "$(rows | awk '{print $3}' | uniq | xargs)" = "int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2" ]
	[ "$(rows | awk 'NR <= 5 {print $4}' | xargs)" = "sum prod max min avg" ]
	[[ "$output" == *"mulsum is for nccl"* ]]
	as all_gather_perf "${QUICK[@]}" -d all -o all
	[ "$(rows | awk '{print $4}' | uniq)" = none ]
}

@test "-c, -m, -a, -z, -C, -S, -I, -p and -T say how" {
	as all_reduce_perf "${QUICK[@]}" -c 0
	[ "$(rows | awk '{print $9, $13}')" = "N/A N/A" ]
	run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}" -c 0 --fault-inject corrupt:1
	[ "$status" -eq 0 ]
	run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}" -c 3 --fault-inject corrupt:1
	[ "$status" -eq 2 ]
	[[ "$output" == *"# Out of bounds values : 2 FAILED"* ]]
	as all_reduce_perf "${QUICK[@]}" -m 4 -a 0 -z 1 -p 1 -T 0
	[[ "$output" == *"# Blocking Enabled: wait for completion and barrier after each collective"* ]]
	as all_reduce_perf "${QUICK[@]}" -C 1 -S 1 -z 2
	[[ "$output" == *" cputime "*" timestamp"* ]]
	[[ "$(rows)" =~ \ 20[0-9]{2}-[0-9]{2}-[0-9]{2}\ [0-9:]{8}$ ]]
	as all_reduce_perf "${QUICK[@]}" -I 1
	[ "$(rows | wc -w)" -eq 21 ]
	[[ "$output" == *"i_min    i_max    i_p99    i_cv%"* ]]
	# a slow rank counts as -a says: 2 ms of one of two ranks, out of place
	for case in "0 0" "3 3"; do
		read -r average rank <<<"$case"
		as all_reduce_perf "${QUICK[@]}" -a "$average" --fault-inject "slow:$((rank / 3))"
		rows | awk '{exit $6 > 1900 ? 0 : 1}'
	done
}

@test "-J: nccl-tests' document, in a file that was not there" {
	as reduce_perf "${QUICK[@]}" -J out.json
	NCCL_DEBUG=WARN SECRET=x as reduce_perf "${QUICK[@]}" -J out.json
	python3 - <<-'END'
		import json
		d = json.load(open("out.json.0"))
		assert d["version"] == 2 and "NCCL_DEBUG=WARN" in d["env"] and "SECRET=x" not in d["env"], d
		assert d["config"]["ngpus"] == 2 and len(d["config"]["devices"]) == 2, d
		row = d["results"][0]
		assert (row["size"], row["count"], row["type"], row["redop"], row["root"].strip()) == (1024, 256, "float", "sum", "0"), d
		assert row["out_of_place"]["nwrong"] == 0 and row["in_place"]["bus_bw"] > 0, d
		assert d["out_of_bounds"] == {"count": 0, "okay": "true"} and d["average_bus_bandwidth"]["okay"] == "unchecked", d
		assert json.load(open("out.json"))["errors"] == []
	END
	run mpi -n 2 "$PROGRAMS/all_reduce_perf" --backend cpu -g 2 -n 5 -b 1K -e 1K -I 1 -J times.json
	[ "$status" -eq 0 ]
	python3 - <<-'END' # as nccl-tests' scripts/analyze_perf_json.py reads it
		import json
		for place in "out_of_place_per_iter", "in_place_per_iter":
		    d = json.load(open("times.json"))["results"][0][place]
		    processes = d["per_process_max_times_us"]
		    assert len(d["times_us"]) == 5 and [len(p) for p in processes] == [5, 5], d
		    assert [max(p) for p in zip(*processes)] == d["times_us"], d
		    assert d["min_us"] == min(d["times_us"]) and d["max_us"] == max(d["times_us"]), d
		    assert abs(d["avg_us"] - sum(d["times_us"]) / 5) < 0.01 and d["p95_us"] <= d["p99_us"] and d["cv_pct"] >= 0, d
	END
	run "$PROGRAMS/reduce_perf" "${QUICK[@]}" -J out.csv
	[ "$status" -eq 1 ]
	[[ "$output" == *"-J 'out.csv': a name that ends in .json is needed"* ]]
}

@test "what is not possible is refused by its name" {
	while read -r flags; do
		# shellcheck disable=SC2086
		run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}" $flags
		[ "$status" -eq 1 ]
		[[ "$output" == "allreduce: "*"${flags%% *}"*"allreduce --help" ]] || { echo "$flags: $output"; return 1; }
	done <<-'END'
		-D 1
		-V 16
		-M 1
		-y 1
		-x 3
		-u 65537
		-o mulsum
		-N -1
		-r 2x
		-z 3
	END
	for flag in -D -V -M -y; do
		[ "$("$PROGRAMS/all_reduce_perf" --help | grep -A1 -- "$flag, --.* 0 .*of nccl-tests, and 0 here: ." | wc -l)" -eq 2 ]
	done
	as all_reduce_perf "${QUICK[@]}" -x 0 -D 0 -M 0 -u 0 -y 0 -G 0 -R 0
	for variable in NCCL_TESTS_DEVICE=0 NCCL_TESTS_MIN_BW=fast NCCL_TESTS_SPLIT=half; do
		run env "$variable" "$PROGRAMS/all_reduce_perf" "${QUICK[@]}"
		[ "$status" -eq 1 ]
		[[ "$output" == "allreduce: ${variable/=/=\'}'"* ]]
	done
}

@test "NCCL_TESTS_MIN_BW: the average may lack a tenth" {
	NCCL_TESTS_MIN_BW=0.000001 as all_reduce_perf "${QUICK[@]}"
	[[ "$output" == *"# Avg bus bandwidth    : "*" OK"* ]]
	NCCL_TESTS_MIN_BW=1000000 run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}"
	[ "$status" -eq 3 ]
	[[ "$output" == *"below 90 % of NCCL_TESTS_MIN_BW"* ]]
	[[ "$output" == *"# Avg bus bandwidth    : "*" FAILED"* ]]
}

@test "NCCL_TESTS_SPLIT: mpirun's processes make several runs, and the first one's is shown" {
	NCCL_TESTS_SPLIT="MOD 2" run mpi -n 3 "$PROGRAMS/all_reduce_perf" --backend cpu -n 2 -b 1K -e 1K
	[ "$status" -eq 0 ]
	[ "$(grep -c "^#  Rank" <<<"$output")" -eq 2 ]
	[ "$(rows | wc -l)" -eq 1 ]
	# the other part has one process, whose rank is its 0
	NCCL_TESTS_SPLIT_MASK=1 run mpi -n 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || set -- "$@" --fault-inject corrupt:0; exec "$@"' - \
		"$PROGRAMS/all_reduce_perf" --backend cpu -n 2 -b 1K -e 1K
	[ "$status" -ne 0 ]
	[[ "$output" == *"wrong data on rank 0"* ]]
	[[ "$output" == *"# Collective test concluded: all_reduce_perf"* ]]
}

@test "mpirun's processes with several GPUs each are one world, with their devices" {
	run mpi -n 2 "$PROGRAMS/all_reduce_perf" --backend cpu -g 2 -n 2 -b 1K -e 1K
	[ "$status" -eq 0 ]
	[ "$(rows | wc -l)" -eq 1 ]
	[ "$(grep -o 'device  [0-9] ' <<<"$output" | tr -d '\n')" = 'device  0 device  1 device  2 device  3 ' ]
	# a batch script of Slurm has its variables, and is no step
	SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_NNODES=2 SLURM_JOB_ID=1 as all_reduce_perf "${QUICK[@]}"
	RANK=0 WORLD_SIZE=4 as all_reduce_perf "${QUICK[@]}" # nccl-tests asks MPI alone
	standin "$PROGRAMS/all_reduce_perf" -g 2 -n 2 -w 1 -b 1K -e 1K
	[[ "$output" == *"device  0 [0000:01:00] stand-in"*"device  1 [0000:02:00] stand-in"* ]]
}

@test "queues: -G, -R 2, -m, -z and -c 0 with NCCL" {
	NCCL=(-g 2 -n 3 -w 1 -b 1K -e 1K)
	standin "$PROGRAMS/all_reduce_perf" "${NCCL[@]}" -G 4
	[ "$status" -eq 0 ]
	[ "$(grep -c cuGraphLaunch "$BATS_TEST_TMPDIR/log")" -eq 16 ] # two ranks, two placements
	standin "$PROGRAMS/all_reduce_perf" "${NCCL[@]}" -R 2
	[ "$status" -eq 0 ]
	[ "$(grep -c ncclCommWindowRegister "$BATS_TEST_TMPDIR/log")" -eq 4 ]
	[ "$(grep -c ncclCommWindowDeregister "$BATS_TEST_TMPDIR/log")" -eq 4 ]
	for flags in "-m 2" "-z 1" "-z 2" "-C 1"; do
		for name in all_reduce alltoall; do
			# shellcheck disable=SC2086
			standin "$PROGRAMS/${name}_perf" "${NCCL[@]}" $flags
			[ "$status" -eq 0 ]
		done
	done
	rm "$BATS_TEST_TMPDIR/log"
	standin "$PROGRAMS/all_reduce_perf" "${NCCL[@]}" -c 0
	[ "$status" -eq 0 ]
	! grep -q cuMemcpy "$BATS_TEST_TMPDIR/log"
	STANDIN_NCCL=2804 standin "$PROGRAMS/reduce_perf" "${NCCL[@]}" -d all -o all
	[ "$status" -eq 0 ]
	[ "$(rows | wc -l)" -eq 36 ] # nine types and four operations
	! rows | grep -E "bfloat16|f8e|avg"
	run env "LD_LIBRARY_PATH=$STANDIN" "$PROGRAMS/all_reduce_perf" "${NCCL[@]}" -G 1 -z 1
	[ "$status" -eq 1 ]
}

@test "-C 1 shows the host's time, and bandwidths are those of the GPU's" {
	local way
	for way in "-C 1" "-C 1 -I 1" "-C 1 -G 1"; do
		LD_LIBRARY_PATH=$STANDIN STANDIN_LATE=100000 run "$PROGRAMS/all_reduce_perf" -g 2 -b 1M -e 1M -n 2 $way
		[ "$status" -eq 0 ] || { echo "$output"; return 1; }
		rows | awk '{ exit !($6 < 80000 && $7 <= 0.02 && $8 <= 0.02) }' || { echo "$output"; return 1; }
	done
	LD_LIBRARY_PATH=$STANDIN STANDIN_LATE=100000 NCCL_TESTS_MIN_BW=1 run "$PROGRAMS/all_reduce_perf" -g 2 -b 1M -e 1M -n 2 -C 1
	[ "$status" -eq 3 ]
	[[ "$output" == *"Avg bus bandwidth"*FAILED* ]]
}

@test "a run that dies has no closing lines, and -J says why" {
	LD_LIBRARY_PATH=$STANDIN STANDIN_ASYNC=3 run "$PROGRAMS/all_reduce_perf" -g 2 -b 8 -e 8 -n 5 -J run.json
	[ "$status" -eq 5 ]
	[[ "$output" == *"# Writing JSON output to run.json"* ]]
	[[ "$output" != *"Out of bounds values"* && "$output" != *concluded* ]]
	python3 -c 'import json; d = json.load(open("run.json")); assert len(d["errors"]) == 1 and d["out_of_bounds"]["okay"] == "false", d'
	LD_LIBRARY_PATH=$STANDIN run "$PROGRAMS/all_reduce_perf" -g 2 -b 8 -e 8 -n 5 -J run.json
	[ "$status" -eq 0 ]
	[[ "$output" == *"# Writing JSON output to run.json.0"* ]]
	python3 -c 'import json; d = json.load(open("run.json.0"))
assert d["nccl_version"] == 21803 and d["errors"] == [] and not any(w.startswith("NCCL_DEBUG") for w in d["env"]), d'
	# before 2.9 the numbers are written otherwise
	LD_LIBRARY_PATH=$STANDIN STANDIN_NCCL=2804 "$PROGRAMS/all_reduce_perf" -g 2 -b 8 -e 8 -n 5 -J old.json
	[ "$(jq .nccl_version old.json)" = 2804 ]
	LD_LIBRARY_PATH=$STANDIN run "$PROGRAMS/all_reduce_perf" -g 2 -b 8 -e 8 -n 5 -J nowhere/run.json
	[ "$status" -eq 0 ]
	[[ "$output" == "allreduce: -J: cannot write nowhere/run.json: No such file or directory"* ]]
}

@test "sizes that the GPUs have no memory for are left out, and fp8 on those before Hopper" {
	LD_LIBRARY_PATH=$STANDIN STANDIN_MEMORY=64 run "$PROGRAMS/all_reduce_perf" -g 2 -b 8 -e 1024G -f 1024 -n 1
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	[[ "$output" == *"# Reducing maxBytes to 16777216 due to memory limitation"* ]]
	[ "$(rows | awk '{ print $1 }' | tail -1)" = 8388608 ]
	LD_LIBRARY_PATH=$STANDIN STANDIN_MEMORY=64 run "$PROGRAMS/all_reduce_perf" -g 2 -b 1G -e 1G -n 1
	[ "$(rows | awk '{ print $1 }')" = 16777216 ]
	export STANDIN_NCCL=22403
	for generation in 8 9; do
		LD_LIBRARY_PATH=$STANDIN STANDIN_CAPABILITY=$generation run "$PROGRAMS/all_reduce_perf" -g 2 -b 1K -e 1K -n 1 -d all -o sum
		[ "$status" -eq 0 ]
		[ "$(rows | grep -c f8)" -eq $((generation == 9 ? 2 : 0)) ]
	done
	LD_LIBRARY_PATH=$STANDIN STANDIN_CAPABILITY=8 run "$PROGRAMS/all_reduce_perf" -g 2 -b 1K -e 1K -n 1 -d f8e4m3
	[ "$status" -eq 5 ]
	[[ "$output" == *"compute capability 9.0 and newer, and one has 8.0"* ]]
	LD_LIBRARY_PATH=$STANDIN STANDIN_CAPABILITY=8 run "$PROGRAMS/all_gather_perf" -g 2 -b 1K -e 1K -n 1 -d f8e4m3
	[ "$status" -eq 0 ]
}

@test "mulsum: each rank's input times its own number, verified, and one of all operations" {
	local wrong
	export LD_LIBRARY_PATH=$STANDIN STANDIN_NCCL=22403
	for name in all_reduce reduce reduce_scatter; do
		as "${name}_perf" -g 3 -b 8 -e 4K -f 512 -n 2 -d all -o mulsum
		[ "$(rows | grep -c ' mulsum ')" = 24 ]
		[[ "$output" == *"Out of bounds values : 0 OK"* ]]
	done
	as all_reduce_perf -g 2 -b 1K -e 1K -n 1 -o all -G 1
	[ "$(rows | awk '{print $4}' | xargs)" = "sum prod max min avg mulsum" ]
	for wrong in zero missing doubled last; do
		STANDIN_WRONG=$wrong run "$PROGRAMS/all_reduce_perf" -g 3 -b 4K -e 4K -n 2 -o mulsum -d int8
		[ "$status" -eq 2 ]
	done
	STANDIN_NCCL=21003 run "$PROGRAMS/all_reduce_perf" -g 2 -b 1K -e 1K -n 1 -o mulsum
	[ "$status" -eq 5 ]
	[[ "$output" == *"no sum of multiplied inputs (-o mulsum): 2.11 or newer"* ]]
}

@test "a signal ends all ranks, and nobody is to blame" {
	local name pid
	for name in TERM:143 INT:130; do
		: >out # what is awaited there is of this run
		# (a background job of a shell ignores SIGINT)
		LD_LIBRARY_PATH=$STANDIN STANDIN_LATE=200000 python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$PROGRAMS/all_reduce_perf" -g 3 -b 8 -e 8 -n 300 >out 2>err 3>&- &
		pid=$!
		until grep -q redop out; do
			sleep 0.1
			kill -0 "$pid"
		done
		kill -"${name%:*}" "$pid"
		status=0
		wait "$pid" || status=$?
		cat out err
		[ "$status" -eq "${name#*:}" ]
		grep -q '^allreduce: interrupted: ' err
		[ -z "$(grep -E 'lost|killed' err)" ]
	done
}

@test "-N 0: all sizes again and again, until a signal ends it or a result is wrong" {
	local pid
	: >out
	"$PROGRAMS/all_reduce_perf" "${QUICK[@]}" -N 0 >out 2>err 3>&- &
	pid=$!
	until [ "$(grep -cE '^ +1024 ' out)" -ge 30 ]; do
		sleep 0.1
		kill -0 "$pid"
	done
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	run timeout 60 "$PROGRAMS/all_reduce_perf" "${QUICK[@]}" -N 0 --fault-inject corrupt:1
	[ "$status" -eq 2 ]
	[ "$(rows | wc -l)" -eq 1 ]
}

@test "values of variables and options as nccl-tests takes them" {
	NCCL_TESTS_MIN_BW='' as all_reduce_perf "${QUICK[@]}"
	NCCL_TESTS_SPLIT_MASK=ffffffff as all_reduce_perf "${QUICK[@]}"
	NCCL_TESTS_SPLIT_MASK=zz run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}"
	[ "$status" -eq 1 ]
	[[ "$output" == *"NCCL_TESTS_SPLIT_MASK"*"a mask in hexadecimal digits"* ]]
	run "$PROGRAMS/all_reduce_perf" "${QUICK[@]}" -i 0
	[ "$status" -eq 1 ]
}
