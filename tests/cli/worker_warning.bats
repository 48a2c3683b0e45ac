#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the worker warns of, from a made-up /sys ($RINGUP_TEST_ROOT) and a made-up log of NCCL; and what it shows on a
# terminal while it runs.

load worker_helper

setup() {
	worker_setup
	unset NCCL_DEBUG NCCL_DEBUG_FILE
	export RINGUP_TEST_ROOT="$BATS_TEST_TMPDIR/root" TMPDIR="$BATS_TEST_TMPDIR" ASAN_OPTIONS=detect_leaks=0
	COMMON=(-n 2 -w 1 --timeout 20 -e 64)
	mkdir "$RINGUP_TEST_ROOT"
}

# sys PATH TEXT: a file of the made-up /sys
sys() {
	mkdir -p "$(dirname "$RINGUP_TEST_ROOT/sys/$1")"
	echo "$2" >"$RINGUP_TEST_ROOT/sys/$1"
}

# link DEVICE CLASS VENDOR LANES MOST_LANES SPEED MOST_SPEED
link() {
	local device="bus/pci/devices/$1"
	sys "$device/class" "$2"
	sys "$device/vendor" "$3"
	sys "$device/current_link_width" "$4"
	sys "$device/max_link_width" "$5"
	sys "$device/current_link_speed" "$6 GT/s PCIe"
	sys "$device/max_link_speed" "$7 GT/s PCIe"
}

# two_hosts FLAGS...
two_hosts() {
	local port status=0
	port=$(free_port)
	"$ALLREDUCE" --rank 1 --world 2 --host b --root "127.0.0.1:$port" "$@" >/dev/null 2>&1 &
	"$ALLREDUCE" --rank 0 --world 2 --host a --root "127.0.0.1:$port" "$@" || status=$?
	wait
	return "$status"
}

@test "warnings: none where nothing is the matter" {
	link 0000:01:00.0 0x030200 0x10de 16 16 2.5 32.0
	link 0000:02:00.0 0x020700 0x15b3 16 16 32.0 32.0
	link 0000:03:00.0 0x010802 0x144d 2 4 8.0 16.0
	link 0000:04:00.0 0x030000 0x1002 8 16 8.0 16.0
	sys class/net/lo/speed 10000
	sys class/net/eth1/speed 1000
	sys class/net/eth1/operstate up
	sys class/net/eth2/speed 100000
	sys class/net/eth2/operstate down
	sys class/infiniband/mlx5_0/ports/1/state "1: DOWN"
	run two_hosts "${COMMON[@]}" --json
	[ "$status" -eq 0 ]
	json 'w == []'
	[[ "$output" != *"warning:"* ]]
}

@test "warnings: a network that is not the host's fastest one" {
	sys class/net/lo/speed 1000
	sys class/net/eth1/speed 100000
	sys class/net/eth1/operstate up
	run two_hosts "${COMMON[@]}" --json
	[ "$status" -eq 0 ]
	json 'len(w) == 2 and {x["host"] for x in w} == {"a", "b"} and {x["rank"] for x in w} == {0, 1}'
	json '"not the fastest one of the host: lo" in w[0]["what"] and "--bind" in w[0]["fix"]'
	json 'w[0]["why"] == "lo (127.0.0.1) has 1000 Mb/s, eth1 is up and has 100000"'
	[[ "$output" == *"allreduce: warning: a: the network used is not the fastest one"* ]]
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" --json
	json 'w == []'
	run two_hosts "${COMMON[@]}" --quiet
	[ "$output" = "# verdict: pass" ]
}

@test "warnings: TCP though an InfiniBand port is active" {
	sys class/infiniband/mlx5_0/ports/1/state "1: DOWN"
	sys class/infiniband/mlx5_1/ports/1/state "4: ACTIVE"
	run two_hosts "${COMMON[@]}" --json
	json 'len(w) == 2 and "TCP is used though InfiniBand" in w[0]["what"] and "port mlx5_1/1 is active" in w[0]["why"]'
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}" --json
	json 'w == []'
}

@test "warnings: PCIe links of GPUs and network cards below their maximum, once per host" {
	link 0000:01:00.0 0x030200 0x10de 8 16 2.5 32.0
	link 0000:02:00.0 0x020700 0x15b3 16 16 8.0 16.0
	run "$ALLREDUCE" --procs 3 "${COMMON[@]}" --json
	json 'len(w) == 2 and all(x["rank"] == 0 for x in w)'
	json 'w[0]["what"] == "the PCIe link of GPU 0000:01:00.0 is below its maximum" and "8 lanes of 16" in w[0]["why"]'
	json '"network card 0000:02:00.0" in w[1]["what"] and "8.0 GT/s of 16.0" in w[1]["why"]'
}

@test "warnings: what NCCL tells its log" {
	standin="$BATS_TEST_TMPDIR/standin"
	mkdir "$standin"
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -o "$standin/libcuda.so.1" images/simulated/cuda.c
	cc -std=gnu11 -D_GNU_SOURCE -Iimages/worker -O1 -shared -fPIC -o "$standin/libnccl.so.2" images/simulated/nccl.c
	export LD_LIBRARY_PATH="$standin" STANDIN_SAYS="$BATS_TEST_TMPDIR/says"
	sys class/infiniband/mlx5_1/ports/1/state "4: ACTIVE"
	cat >"$STANDIN_SAYS" <<-'END'
		a:7:7 [0] NCCL INFO NET/IB : No device found.
		a:7:7 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
		a:7:7 [0] NCCL INFO Using network Socket
		a:7:7 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
	END
	run two_hosts "${COMMON[@]}" --backend nccl --json
	[ "$status" -eq 0 ]
	json 'len(w) == 4 and w[0]["what"] == "NCCL uses sockets though InfiniBand or RoCE is there" and "mlx5_1/1" in w[0]["why"]'
	json 'w[1]["what"] == "GPUs of this host do not reach each other'"'"'s memory" and "(SHM)" in w[1]["why"]'
	# NCCL 2.22 and newer connects the ranks at the first collective
	STANDIN_LAZY=1 run two_hosts "${COMMON[@]}" --backend nccl --json
	[ "$status" -eq 0 ]
	json 'len(w) == 4 and "(SHM)" in w[1]["why"]'
	printf 'a:7:7 [0] NCCL INFO NET/IB : No device found.\n\na:7:7 [0] misc/socket.cc:50 NCCL WARN \033Connect to 10.0.0.2 failed\n' >"$STANDIN_SAYS"
	STANDIN_LAZY=1 STANDIN_ASYNC=2 run two_hosts "${COMMON[@]}" --backend nccl --quiet
	[ "$status" -eq 5 ]
	[[ "$output" == *"allreduce: rank 0 (a): NCCL WARN ?Connect to 10.0.0.2 failed"* ]]
	echo 'a:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>' >"$STANDIN_SAYS"
	run two_hosts "${COMMON[@]}" --backend nccl --json
	json 'w == []'
	# a log of the user's own is left alone
	NCCL_DEBUG=INFO NCCL_DEBUG_FILE="$BATS_TEST_TMPDIR/own" run two_hosts "${COMMON[@]}" --backend nccl --json
	[ "$status" -eq 0 ]
	[ -s "$BATS_TEST_TMPDIR/own" ]
	[ -z "$(ls "$BATS_TEST_TMPDIR"/ringup-nccl-log.* 2>/dev/null)" ]
}

@test "progress: one line on a terminal, replaced by the rows; none in a file" {
	run python3 - "$ALLREDUCE" --procs 3 -n 2 -e 16 --find-slow --timeout 20 <<-'END'
		import os, pty, subprocess, sys
		master, slave = pty.openpty()
		out = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
		os.close(slave)
		seen = b""
		try:
		    while chunk := os.read(master, 65536):
		        seen += chunk
		except OSError:
		    pass
		text = seen.decode()
		assert out.returncode == 0, (out, text)
		for words in ("all_reduce, 16 bytes (size 2 of 2), in place: timing", "pairs: sweep 6, "):
		    assert words in text, text
		assert "\n" not in text and text.endswith("\r\033[K"), repr(text[-200:])
		assert b"timing" not in out.stdout
	END
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	run "$ALLREDUCE" --procs 2 "${COMMON[@]}"
	[[ "$output" != *"timing"* ]]
}
