#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Strangers at every port of the worker, all the time, in a network of their own: they cannot crash a run, stall it or
# get in.

load worker_helper

setup() {
	worker_setup
	export ALLREDUCE RINGUP_SECRET=right
}

# attack SECONDS: up to 1000 connections at a time to whatever listens: silent ones, garbage, half a greeting, whole ones
# without the secret, and ones that say a byte now and then.
attack() {
	exec python3 - "$1" <<-'END'
		import itertools, os, random, socket, struct, sys, time
		def listening():
		    for line in open("/proc/net/tcp").readlines()[1:]:
		        field = line.split()
		        if field[3] == "0A":
		            yield int(field[1].split(":")[1], 16)
		magic = b"RINGWAR1"
		hello = magic + struct.pack("<III", 3, 1, 3) + b"wrong".ljust(128, b"\0") + b"0.1.0".ljust(32, b"\0") + b"x".ljust(64, b"\0")
		proven = magic + struct.pack("<III", 4, 1, 3) + bytes(128) + b"0.1.0".ljust(32, b"\0") + b"x".ljust(64, b"\0") + bytes(4) + os.urandom(32)
		link = b"RINGLNK3" + struct.pack("<II", 1, 1000) + os.urandom(32)
		words = [b"", b"", b"", b"", b"", b"GET / HTTP/1.1\r\n\r\n" * 50, os.urandom(5000), hello[:100], hello + bytes(4), hello * 3,
		         proven, proven + os.urandom(888), link, link + os.urandom(32), link[:9], b"\0" * 600]
		kinds, open_, slow, made = itertools.cycle(words), [], [], 0
		end = time.time() + float(sys.argv[1])
		while time.time() < end:
		    for port in set(listening()):
		        for _ in range(max(0, min(200, 1000 - len(open_)))):
		            s = socket.socket()
		            s.setblocking(False)
		            try:
		                s.connect(("127.0.0.1", port))
		            except BlockingIOError:
		                pass
		            except OSError:
		                continue
		            open_.append((s, next(kinds)))
		            made += 1
		    time.sleep(0.01)
		    for s, word in open_[-600:]:
		        try:
		            s.send(word)
		        except OSError:
		            pass
		    slow = (slow + [s for s, _ in open_[-600::90]])[-50:]
		    for s in slow:
		        try:
		            s.send(magic[:1])
		        except OSError:
		            pass
		    for s, _ in open_[:50]:
		        s.close()
		    open_ = open_[50:]
		print("strangers:", made)
	END
}

# sit SECONDS: 300 connections that say nothing to each port as soon as it listens, and for all the time.
sit() {
	exec python3 - "$1" <<-'END'
		import socket, sys, time
		seen, held = set(), []
		end = time.time() + float(sys.argv[1])
		while time.time() < end:
		    for line in open("/proc/net/tcp").readlines()[1:]:
		        field = line.split()
		        port = int(field[1].split(":")[1], 16)
		        if field[3] != "0A" or port in seen:
		            continue
		        seen.add(port)
		        for _ in range(300):
		            try:
		                held.append(socket.create_connection(("127.0.0.1", port), 1))
		            except OSError:
		                pass
		    time.sleep(0.002)
	END
}

# besieged HOW FLAGS...: three ranks that start late and one after the other, under attack; the output of rank 0's
besieged() {
	local attacker status=0 ranks=() how=$1
	shift
	ip link set lo up
	ulimit -n 4096
	"$how" 60 &
	attacker=$!
	"$ALLREDUCE" --rank 0 --world 3 --root 127.0.0.1:7000 "$@" 2>"$BATS_TEST_TMPDIR/said" &
	root=$!
	for rank in 1 2; do
		sleep 0.7
		"$ALLREDUCE" --rank $rank --world 3 --root 127.0.0.1:7000 "$@" &
		ranks+=($!)
	done
	wait "$root" || status=$?
	wait "${ranks[@]}" || status=$?
	kill "$attacker"
	return "$status"
}

@test "a run under attack passes, with pairs and training" {
	export -f attack besieged
	run own_namespaces --net bash -c 'besieged attack "$@"' - --no-shm -n 2 -w 1 -e 4K --find-slow --sgd --steps 20 --timeout 20
	echo "$output"
	tail -5 "$BATS_TEST_TMPDIR/said"
	[[ "$output" == *"# verdict: pass"* || "$output" == *"# verdict: slow"* ]]
	[ "$(grep -c "turned away a connection from 127.0.0.1: wrong secret" "$BATS_TEST_TMPDIR/said")" -gt 5 ]
	[ "$(grep -c "turned away a connection from 127.0.0.1: it is no allreduce rank" "$BATS_TEST_TMPDIR/said")" -gt 20 ]
}

@test "a run passes though hundreds sit at every port and say nothing" {
	export -f sit besieged
	run own_namespaces --net bash -c 'besieged sit "$@"' - --no-shm -n 2 -w 1 -e 4K --timeout 4
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"# verdict: pass"* ]]
}
