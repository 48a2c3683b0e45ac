#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The worker's backend nccl without a GPU: what it says of drivers and libraries that are missing or refuse, and,
# with the stand-ins of tests/standin, that it calls CUDA and NCCL in the right order. No word here is about a GPU.

load worker_helper

setup_file() {
	export STANDIN="$BATS_FILE_TMPDIR/standin"
	mkdir -p "$STANDIN/old"
	standin_build "$STANDIN"
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -DSTANDIN_OLD -o "$STANDIN/old/libcuda.so.1" images/simulated/cuda.c
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -DSTANDIN_OLD -o "$STANDIN/old/libnccl.so.2" images/simulated/nccl.c
}

setup() {
	standin_setup
}

@test "--versions names what the loader finds" {
	standin "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "allreduce "[0-9]* ]]
	[ "${lines[1]}" = "nccl 2.18.3 ($STANDIN/libnccl.so.2)" ]
	[[ "${lines[2]}" == "driver "*", CUDA 12.2, 8 GPUs ($STANDIN/libcuda.so.1)" ]]
	standin "$ALLREDUCE" --versions --json
	[ "$status" -eq 0 ]
	json 'd["nccl"]["version"] == "2.18.3" and d["driver"]["cuda"] == "12.2" and d["driver"]["gpus"] == 8'
}

@test "--versions: \$RINGUP_NCCL names a file or its folder, and nothing else is looked for then" {
	for place in "$STANDIN" "$STANDIN/libnccl.so.2"; do
		RINGUP_NCCL=$place run "$ALLREDUCE" --versions
		[ "$status" -eq 0 ]
		[ "${lines[1]}" = "nccl 2.18.3 ($STANDIN/libnccl.so.2)" ]
	done
	RINGUP_NCCL=/nonexistent run "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == "nccl none: "*"/nonexistent"* ]]
	STANDIN_NCCL=2506 RINGUP_NCCL=$STANDIN run "$ALLREDUCE" --versions
	[[ "${lines[1]}" == "nccl 2.5.6 "* ]]
}

@test "the NCCL is the framework's own, that of the wheel, and its path is told" {
	wheel="$BATS_TEST_TMPDIR/venv/lib/python3.11/site-packages/nvidia/nccl/lib"
	mkdir -p "$wheel" "$BATS_TEST_TMPDIR/system"
	cp "$STANDIN/libcuda.so.1" "$BATS_TEST_TMPDIR/system"
	cp "$STANDIN/libnccl.so.2" "$wheel"
	export VIRTUAL_ENV="$BATS_TEST_TMPDIR/venv" LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/system"
	# what the loader would take, as if it were the system's: it knows a library that is loaded by its SONAME
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -Wl,-soname,libnccl.so.2 -o "$BATS_TEST_TMPDIR/other.so" \
		images/simulated/nccl.c
	LD_PRELOAD="$BATS_TEST_TMPDIR/other.so" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 run "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[ "${lines[1]}" = "nccl 2.18.3 ($wheel/libnccl.so.2)" ]
	run "$ALLREDUCE" "${NCCL[@]}" -e 8
	[ "$status" -eq 0 ]
	[[ "$output" == *"# NCCL 2.18.3, "*$'\n'"# $wheel/libnccl.so.2"* ]]
	run "$ALLREDUCE" "${NCCL[@]}" -e 8 --json
	json "d['library_file'] == '$wheel/libnccl.so.2'"
	cp "$STANDIN/libnccl.so.2" "$BATS_TEST_TMPDIR/system"
	run "$ALLREDUCE" --versions
	[ "${lines[1]}" = "nccl 2.18.3 ($BATS_TEST_TMPDIR/system/libnccl.so.2)" ]
	# a virtual environment on PATH, whose python3 is a link to another prefix
	unset VIRTUAL_ENV
	rm "$BATS_TEST_TMPDIR/system/libnccl.so.2"
	mkdir "$BATS_TEST_TMPDIR/venv/bin"
	: >"$BATS_TEST_TMPDIR/venv/pyvenv.cfg"
	ln -s /usr/bin/python3 "$BATS_TEST_TMPDIR/venv/bin/python3"
	PATH=$BATS_TEST_TMPDIR/venv/bin:$PATH run "$ALLREDUCE" --versions
	[ "${lines[1]}" = "nccl 2.18.3 ($wheel/libnccl.so.2)" ]
}

@test "--versions: a driver that refuses is there, with its reason" {
	standin env STANDIN_CUINIT=803 "$ALLREDUCE" --versions
	[ "$status" -eq 0 ]
	[[ "${lines[2]}" == "driver "*", CUDA 12.2, unusable: cuInit: CUDA error 803: "*"reboot"* ]]
}

@test "a driver's refusals: exit 5, in words, before the ranks wait for each other" {
	while read -r code word; do
		standin env "STANDIN_CUINIT=$code" "$ALLREDUCE" "${NCCL[@]}" --quiet
		[ "$status" -eq 5 ]
		[[ "$output" == *"gpu unusable: --backend nccl on rank 0"*"CUDA error $code: "*"$word"* ]]
	done <<-'END'
		34 stub
		35 older
		100 sees no GPU
		802 fabricmanager
		803 reboot
		804 cuda-compat
		999 nvidia_uvm
		5 a text of the driver
		77777 unknown
	END
	standin env STANDIN_GPUS=0 "$ALLREDUCE" "${NCCL[@]}" --quiet
	[ "$status" -eq 5 ]
	[[ "$output" == *"CUDA error 100"* ]]
}

@test "sums and averages through device memory are verified" {
	for words in "-d float -o sum" "-d float -o avg" "-d int32 -o sum" "-d int32 -o avg"; do
		for ranks in 1 2 3; do
			# shellcheck disable=SC2086
			standin "$ALLREDUCE" "${NCCL[@]}" --procs "$ranks" -b 4 $words --json
			[ "$status" -eq 0 ]
			json 'd["backend"] == "nccl" and d["verdict"] == "pass" and all(r["wrong"] == 0 for r in d["results"])'
		done
	done
}

@test "every collective through device memory" {
	through_device_memory float 1
	through_device_memory u8 3
	through_device_memory i32 4
	standin "$ALLREDUCE" "${NCCL[@]}" --collective alltoall --fault-inject corrupt:1 --quiet
	[ "$status" -eq 2 ]
	[[ "$output" == *"alltoall f32, out of place"* ]]
}

@test "fp8: from NCCL 2.24.3 on" {
	for type in f8e4m3 f8e5m2; do
		for op in sum prod min max avg; do
			STANDIN_NCCL=22403 standin "$ALLREDUCE" "${NCCL[@]}" --procs 3 -b 4 -d "$type" -o "$op" --quiet
			[ "$status" -eq 0 ]
		done
		standin "$ALLREDUCE" "${NCCL[@]}" -d "$type" --quiet
		[ "$status" -eq 5 ]
		[[ "$output" == *"NCCL 2.18.3 has no fp8 (-d $type): 2.24.3 or newer is needed"* ]]
	done
}

@test "what an old NCCL has not is said before the run" {
	while read -r version old new words; do
		# shellcheck disable=SC2086
		STANDIN_NCCL=$version standin "$ALLREDUCE" "${NCCL[@]}" -e 8 $words --quiet
		[ "$status" -eq 5 ]
		[[ "$output" == *"NCCL $old has no "*"($words"*"): $new or newer is needed"* ]]
	done <<-'END'
		20905 2.9.5 2.10 -d bf16
		20905 2.9.5 2.10 -o avg
		2804 2.8.4 2.9 --graph
	END
	STANDIN_NCCL=20905 standin "$ALLREDUCE" "${NCCL[@]}" -e 8 --collective broadcast -o avg --quiet
	[ "$status" -eq 0 ]
	STANDIN_NCCL=21003 standin "$ALLREDUCE" "${NCCL[@]}" -e 8 -d bf16 -o avg --graph --quiet
	[ "$status" -eq 0 ]
}

@test "--graph: the iterations are recorded and launched as one" {
	standin "$ALLREDUCE" "${NCCL[@]}" -n 3 -b 1K -e 1K --graph
	[ "$status" -eq 0 ]
	calls=$(awk -v pid="$(awk '/ncclGetUniqueId/ {print $1}' "$BATS_TEST_TMPDIR/log")" '$1 == pid {print $2}' \
		"$BATS_TEST_TMPDIR/log" | tr '\n' ' ')
	all="ncclAllReduce "
	record="cuStreamBeginCapture_v2 $all$all${all}cuStreamEndCapture cuGraphInstantiateWithFlags cuGraphDestroy "
	[[ "$calls" == *"$record"'cuEventRecord cuGraphLaunch cuEventRecord '* ]]
	# no graph is left for the collectives after it
	[[ "$calls" == *"cuGraphLaunch cuEventRecord cuGraphExecDestroy ringup_fill_4 ringup_fill_4 ncclAllReduce "*"cuGraphLaunch cuEventRecord cuGraphExecDestroy "* ]]
	[ "$(grep -c cuGraphExecDestroy "$BATS_TEST_TMPDIR/log")" -eq "$(grep -c cuGraphLaunch "$BATS_TEST_TMPDIR/log")" ]
	LD_LIBRARY_PATH=$STANDIN/old run "$ALLREDUCE" "${NCCL[@]}" --graph --quiet
	[ "$status" -eq 5 ]
	[[ "$output" == *"--graph needs a driver of CUDA 11.4 or newer; this one is of CUDA 12.2"* ]]
}

@test "--register: buffers of NCCL's own, registered and given back" {
	standin "$ALLREDUCE" "${NCCL[@]}" -b 1K -e 1K --register
	[ "$status" -eq 0 ]
	for call in ncclMemAlloc ncclCommRegister ncclCommDeregister ncclMemFree; do
		[ "$(grep -c "$call" "$BATS_TEST_TMPDIR/log")" -eq 4 ]
	done
	[ "$(grep -c "cuMemAlloc" "$BATS_TEST_TMPDIR/log")" -eq 4 ] # a table and a result for the kernels that verify
	LD_LIBRARY_PATH=$STANDIN/old run "$ALLREDUCE" "${NCCL[@]}" --register --quiet
	[ "$status" -eq 5 ]
	[[ "$output" == *"--register needs NCCL 2.19 or newer; this one is 2.18.3"* ]]
}

@test "-u: buffers that begin in the middle of what is aligned, of every width; -x: a policy, which the environment may know better" {
	for type in u8 half float double; do
		STANDIN_NCCL=22703 standin "$ALLREDUCE" "${NCCL[@]}" -u 3 -d "$type" -x 1 --quiet
		[ "$status" -eq 0 ]
	done
	[ "$(grep -c unaligned "$BATS_TEST_TMPDIR/log")" -gt 50 ]
	[ "$(grep -c NCCL_CTA_POLICY "$BATS_TEST_TMPDIR/log")" -eq 8 ]
	STANDIN_WRONG=last standin "$ALLREDUCE" "${NCCL[@]}" -b 4K -e 4K -u 1 --quiet
	[[ "$output" == *"element 1023 of 1024"* ]]
	rm "$BATS_TEST_TMPDIR/log"
	standin "$ALLREDUCE" "${NCCL[@]}" -e 8 -u 4
	[ "$status" -eq 0 ]
	[ "$(grep -c "unaligned\|POLICY" "$BATS_TEST_TMPDIR/log")" -eq 0 ]
	standin "$ALLREDUCE" "${NCCL[@]}" -x 2 --quiet
	[ "$status" -eq 5 ]
	[[ "$output" == *"NCCL 2.18.3 has no CTA policies (-x): 2.27 or newer is needed"* ]]
	for flag in -u -x; do
		run "$ALLREDUCE" --procs 2 "$flag" 1
		[ "$status" -eq 1 ]
		[[ "$output" == *"$flag with --backend 'auto': it is for nccl"* ]]
	done
}

@test "alltoall and sendrecv in place: times, and nothing of what is right, as nccl-tests has it" {
	local name
	for name in alltoall sendrecv; do
		ln -sf "$(realpath "$ALLREDUCE")" "$BATS_TEST_TMPDIR/${name}_perf"
		standin "$BATS_TEST_TMPDIR/${name}_perf" -b 1K -e 1K -g 2
		[ "$status" -eq 0 ]
		read -r -a field <<<"$(printf '%s\n' "$output" | grep -v '^#')"
		[ "${#field[@]}" -eq 13 ]
		[ "${field[3]} ${field[8]} ${field[12]}" = "$([ $name = alltoall ] && echo none || echo sum) 0 N/A" ]
		[[ "${field[9]} ${field[10]}" =~ ^[0-9.]+\ [0-9.]+$ ]]
	done
}

@test "a wrong element in device memory is found" {
	standin env STANDIN_WRONG=last "$ALLREDUCE" "${NCCL[@]}" -b 4K -e 4K --quiet
	[ "$status" -eq 2 ]
	[[ "$output" == *"element 1023 of 1024"* ]]
	standin env STANDIN_WRONG=last "$ALLREDUCE" "${NCCL[@]}" -o avg -b 4K -e 4K --fault-inject corrupt:1
	[ "$status" -eq 2 ]
}

@test "the calls come in the order that the libraries ask for" {
	standin "$ALLREDUCE" "${NCCL[@]}" -e 8
	[ "$status" -eq 0 ]
	python3 - "$BATS_TEST_TMPDIR/log" <<-'END'
		import re, sys
		calls = {}
		for line in open(sys.argv[1]):
		    pid, name = line.split()
		    calls.setdefault(pid, []).append(name)
		assert len(calls) == 2, calls
		made_id = 0
		check = "(ringup_fill_4 ){2}ncclAllReduce ringup_compare_4 "
		for names in calls.values():
		    made_id += names.count("ncclGetUniqueId")
		    text = " ".join(n for n in names if n != "ncclGetUniqueId")
		    assert re.fullmatch(
		        "cuDriverGetVersion cuInit cuDeviceGetCount ncclGetVersion cuDeviceGetCount( cuDeviceGet){9} "
		        "cuDevicePrimaryCtxRetain cuCtxSetCurrent cuStreamCreate( cuMemAlloc_v2){2} ncclCommInitRank( cuMemAlloc_v2){2} " + check +
		        "(cuEventCreate )+((cuEventRecord ncclAllReduce )+cuEventRecord ncclAllReduce (cuEventCreate )?"
		        "(cuEventRecord ncclAllReduce )+cuEventRecord ncclAllReduce cuEventRecord ncclAllReduce ncclAllReduce "
		        "cuEventRecord (" + check + "){1,2})+"
		        "ncclCommFinalize ncclCommDestroy( cuMemFree_v2){4}( cuEventDestroy_v2){3} cuStreamDestroy_v2 "
		        "cuDevicePrimaryCtxRelease", text), text
		assert made_id == 1, calls
	END
	[ -z "$(ls "$BATS_TEST_TMPDIR"/standin-nccl.* 2>/dev/null)" ]
}

@test "each iteration has its own time and its own deadline, and a graph has that of all" {
	# All iterations take longer than the deadline, and each leaves a busy machine 3 s to stall in.
	export STANDIN_LATE=300000
	standin "$ALLREDUCE" --backend nccl --procs 2 --collective alltoallv -b 256 -e 256 -n 12 -w 0 --timeout 3 --json
	[ "$status" -eq 0 ]
	json 'd["results"][0]["min_usec"] > 150000 and d["results"][0]["usec"] > 150000'
	standin "$ALLREDUCE" --backend nccl --procs 2 --collective alltoallv -b 256 -e 256 -n 12 -w 0 --timeout 3 --json --graph
	[ "$status" -eq 0 ]
	STANDIN_LATE_EVERY=20 standin "$ALLREDUCE" --backend nccl --procs 2 --collective sendrecv -b 8 -e 8 -n 20 -w 0 --timeout 20 --json
	[ "$status" -eq 0 ]
	json 'all(r["p99_usec"] > 150000 and 2 * r["p50_usec"] < r["p99_usec"] and r["usec"] < r["p99_usec"] for r in d["results"])'
}

@test "an iteration of several collectives may take longer than the deadline of one" {
	# As above: an iteration takes longer than the deadline, which leaves a busy machine seconds to stall in.
	STANDIN_LATE=250000 standin "$ALLREDUCE" --backend nccl --procs 2 --collective alltoallv -b 256 -e 256 -n 1 -w 1 -m 14 --timeout 3 --quiet
	[ "$status" -eq 0 ]
	STANDIN_LATE=250000 standin "$ALLREDUCE" --backend nccl --procs 2 --collective alltoallv -b 256 -e 256 -n 1 -w 0 -m 14 -z 1 --timeout 3 --quiet
	[ "$status" -eq 0 ]
}

@test "each iteration uses another part of the buffers, as far as they are larger" {
	STANDIN_PLACES=1 standin "$ALLREDUCE" --backend nccl --procs 2 -b 1K -e 8K -f 8 -n 16 -w 0 --quiet
	[ "$status" -eq 0 ]
	python3 - "$BATS_TEST_TMPDIR/log" <<-'END'
		import collections, sys
		places = collections.defaultdict(collections.Counter)
		for line in open(sys.argv[1]):
		    pid, word, *rest = line.split()
		    if word == "at":
		        places[pid][int(rest[0], 16)] += 1
		for counts in places.values():
		    base = min(counts)
		    # of 1 KiB, eight parts of two buffers; 8 KiB fill them
		    assert sorted({(at - base) // 1024 for at in counts if at - base < 8192}) == list(range(8)), counts
		    assert len(counts) == 16 and all(n >= 4 for n in counts.values()), counts
	END
}

@test "a rank that stops putting work into its GPU is named, though the others wait in theirs" {
	STANDIN_LATE=0 standin "$ALLREDUCE" --backend nccl --procs 3 -n 4 -b 8 -e 8 --timeout 1 --quiet --fault-inject drop:1@run
	[ "$status" -eq 4 ]
	[[ "$output" == *"in phase run: rank 1 ("*") is behind the others" ]]
}

@test "calls that are in progress when they return, and late kernels" {
	STANDIN_PROGRESS=1 STANDIN_LATE=0 standin "$ALLREDUCE" "${NCCL[@]}" --procs 3 --find-slow --json
	[ "$status" -eq 0 ]
	json 'd["verdict"] == "pass" and all(r["wrong"] == 0 for r in d["results"])'
}

@test "a communicator that never comes about: exit 4, and every process ends" {
	standin env STANDIN_HANG=1 "$ALLREDUCE" "${NCCL[@]}" --timeout 1 --quiet
	[ "$status" -eq 4 ]
	[[ "$output" == *"in phase bootstrap"* ]]
	[ "$(grep -c ncclCommAbort "$BATS_TEST_TMPDIR/log")" -eq 0 ]
	[ "$(grep -c cuMemFree "$BATS_TEST_TMPDIR/log")" -eq 0 ]
}

@test "an error that NCCL tells later: its words, and an abort" {
	standin env STANDIN_ASYNC=6 "$ALLREDUCE" "${NCCL[@]}" --quiet
	[ "$status" -eq 7 ]
	[[ "$output" == *"remote process exited: last words of the stand-in"* ]]
	[ "$(grep -c ncclCommAbort "$BATS_TEST_TMPDIR/log")" -eq 2 ]
	standin env STANDIN_ASYNC=3 "$ALLREDUCE" "${NCCL[@]}" --quiet
	[ "$status" -eq 5 ]
}

@test "an error that NCCL tells a rank may be another one's: who does not answer is named, with its host" {
	for code in 2 6; do
		STANDIN_LATE=0 STANDIN_STOPPED=1 STANDIN_ASYNC=$code standin "$ALLREDUCE" "${NCCL[@]}" --procs 3 --json --host here \
			--fault-inject stop:1@first
		[ "$status" -eq 7 ]
		[[ "$output" == *"peer lost: rank 1 (here) does not answer; seen by rank "[02]" (here)"*"last words"* ]]
		json 'd["failure"]["rank"] == 1 and d["failure"]["host"] == "here"'
	done
	STANDIN_ASYNC=3 standin "$ALLREDUCE" "${NCCL[@]}" --procs 3 --json
	[ "$status" -eq 5 ]
	json 'd["failure"]["rank"] == -1 and d["reason"].startswith("seen by rank ")'
	STANDIN_ASYNC=1 standin "$ALLREDUCE" "${NCCL[@]}" --procs 3 --json
	[ "$status" -eq 5 ]
	json 'd["failure"]["rank"] >= 0'
}

@test "an abort that hangs: the verdict comes first, and every rank ends" {
	STANDIN_ASYNC=6 STANDIN_ABORT=60 standin timeout -s KILL 30 "$ALLREDUCE" "${NCCL[@]}"
	[ "$status" -eq 7 ]
	[[ "$output" == *"peer lost: "*"remote process exited"*"rank 0 ("*"): the libraries hang while the devices are given back"* ]]
	STANDIN_HANG=1 STANDIN_ABORT=60 standin timeout -s KILL 30 "$ALLREDUCE" "${NCCL[@]}" --timeout 1 --json
	[ "$status" -eq 4 ]
	json 'd["verdict"] == "timeout"'
}

@test "a driver that hangs at its start: its rank says so in time and ends, and NCCL's log does not stay" {
	STANDIN_START=60 standin timeout -s KILL 30 "$ALLREDUCE" "${NCCL[@]}" --timeout 2
	[ "$status" -eq 5 ]
	[[ "$output" == *"gpu unusable: rank 0: the driver does not answer within 2 s"* ]]
	mkdir "$BATS_TEST_TMPDIR/logs"
	TMPDIR=$BATS_TEST_TMPDIR/logs STANDIN_HANG=1 standin timeout -s KILL 30 "$ALLREDUCE" "${NCCL[@]}" --timeout 1
	[ "$status" -eq 4 ]
	[ -z "$(ls "$BATS_TEST_TMPDIR/logs")" ]
}

@test "--find-slow: GPUs between which nobody knows what lies are not compared" {
	standin "$ALLREDUCE" --backend nccl --procs 3 -n 1 -w 0 -b 8 -e 8 --find-slow
	[ "$status" -eq 0 ]
	[[ "$output" == *"# GPUs of a host are not compared where NVML does not say what lies between them"* ]]
}

@test "NCCL of different versions: exit 6 names both" {
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
	LD_LIBRARY_PATH=$STANDIN STANDIN_NCCL=21903 "$ALLREDUCE" --rank 1 --world 2 --root "127.0.0.1:$port" --backend nccl \
		--host other &
	standin "$ALLREDUCE" --rank 0 --world 2 --root "127.0.0.1:$port" --backend nccl --quiet --host here
	[ "$status" -eq 6 ]
	[[ "$output" == *"rank 0 (here) has NCCL 2.18.3, rank 1 (other) has NCCL 2.19.3"* ]]
	wait
}

@test "more ranks than GPUs on a host: exit 5 names rank and host" {
	standin env STANDIN_GPUS=1 "$ALLREDUCE" "${NCCL[@]}" --quiet --host here
	[ "$status" -eq 5 ]
	[[ "$output" == *"rank 1 (here) is number 2 of its host, which has 1 GPUs"* ]]
	CUDA_VISIBLE_DEVICES=0 standin env STANDIN_GPUS=1 "$ALLREDUCE" "${NCCL[@]}" --quiet
	[ "$status" -eq 0 ]
}

@test "--find-slow takes the GPU's time from the meeting on, not what the ranks wait for the meeting" {
	STANDIN_LATE=20000 standin "$ALLREDUCE" --backend nccl --procs 2 -n 1 -w 0 -b 8 -e 8 --collective sendrecv --find-slow --json
	[ "$status" -eq 0 ]
	json '20000 <= d["pairs"]["usec"][0][1] < 36000'
	json '1 << 20 <= d["pairs"]["bytes"] <= 8 << 20' # a sweep has no time for more
}

# ranks_see LISTS...: a rank for each list of GPUs that it sees; the output of rank 0's
ranks_see() {
	local port rank count=$# pids=() status=0 lists=("$@")
	port=$("$BATS_TEST_DIRNAME/../free_port.py")
	for ((rank = 1; rank < count; rank++)); do
		see "${lists[rank]}" --rank "$rank" --world "$count" --root "127.0.0.1:$port" &>/dev/null &
		pids+=($!)
	done
	see "${lists[0]}" --rank 0 --world "$count" --root "127.0.0.1:$port" --json || status=$?
	wait "${pids[@]}" || true
	return "$status"
}

# see LIST FLAGS...
see() {
	local list=$1
	shift
	LD_LIBRARY_PATH=$STANDIN STANDIN_SEES=$list STANDIN_GPUS=$(tr ',' '\n' <<<"$list" | wc -l) "$ALLREDUCE" --backend nccl \
		-n 2 -w 1 -e 8 --timeout 20 --host here "$@"
}

@test "each rank has a GPU of its own, whatever it sees of its host" {
	while read -r lists buses; do
		read -r -a lists <<<"${lists//\// }"
		run ranks_see "${lists[@]}"
		[ "$status" -eq 0 ] || { echo "$output"; return 1; }
		json "' '.join(r['gpu']['bus'][5:7] for r in d['ranks']) == '$buses' and len({r['gpu']['uuid'] for r in d['ranks']}) == ${#lists[@]}"
	done <<-'END'
		0,1,2/0,1,2/0,1,2 01 02 03
		2/0/1 03 01 02
		0,1,2/0/1 03 01 02
		0,1/0,1,5/1 01 06 02
	END
	run ranks_see 4 4
	[ "$status" -eq 5 ]
	[[ "$output" == *"rank 1 (here) is number 2 of its host, which has 1 GPUs: start one rank per GPU"* ]]
	run ranks_see 4,5 4,5 4,5
	[ "$status" -eq 5 ]
	STANDIN_ASYNC=1 run ranks_see 3 4
	[ "$status" -eq 5 ]
	[[ "$output" == *"allreduce: rank "[01]" (here) has stand-in GPU 0, 0000:0"[45]":00.0, GPU-00000000-0000-0000-0000-00000000000"[45]* ]]
	json 'd["failure"]["gpu"]["bus"] == d["ranks"][d["failure"]["rank"]]["gpu"]["bus"]'
}

@test "--find-slow through device memory: every pair is tried and its data verified" {
	standin "$ALLREDUCE" "${NCCL[@]}" --procs 4 --find-slow --json
	[ "$status" -eq 0 ]
	json 'all((d["pairs"]["usec"][a][b] is None) == (a == b) for a in range(4) for b in range(4))'
}

@test "--find-slow exchanges more through device memory, and no sweep that connects the pairs counts" {
	for _ in 1 2 3 4 5; do # on a busy machine there may be no time for more
		rm -f "$BATS_TEST_TMPDIR/log"
		standin "$ALLREDUCE" "${NCCL[@]}" -e 8 --find-slow --json
		[ "$status" -eq 0 ]
		# two ranks, three exchanges in a sweep, each with a meeting
		json "$(grep -c ncclSend "$BATS_TEST_TMPDIR/log") == 2 * 3 * 2 * (d['pairs']['sweeps'] + 1)"
		! json 'd["pairs"]["bytes"] > 1 << 20' || return 0
	done
	return 1
}
