#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What is done with a cluster that is up, on three namespace hosts: bench, run by mpirun, status, logs, exec. One lab
# for the file; the tests run in order.

load helper

setup_file() {
	lab_cluster 3
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

@test "bench by ssh: passes with 2 ranks on each of 3 hosts; JSON is whole" {
	ringup --json bench -- -b 1K -e 64K -f 4 -n 3 >bench.json
	jq -e '.schema == 1 and .verdict == "pass"' bench.json
	jq -e '.results | length >= 4 and all(.[]; .wrong == 0 and .bytes > 0 and .usec > 0 and .busbw >= 0)' bench.json
	[ "$(jq -r '.ranks[].host' bench.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
	[ "$(jq -c '[.ranks[].rank] | sort' bench.json)" = "[0,1,2,3,4,5]" ]
	jq -e '.verdict == "pass"' .ringup/last-bench.json
	# as the worker wrote it: percentiles, per-rank times, placement
	jq -e 'all(.results[]; .p99_usec >= .p50_usec and (.ranks | length == 6)) and all(.ranks[]; .cores > 0)' bench.json
	jq -e '.launcher == "ssh" and .expected.busbw == null and (.expected.because | test("eth0 of node01 is virtual"))' bench.json
	ringup -q bench --from .ringup/last-bench.json --facts .ringup/facts.json | grep -F 'no expectation: eth0 of node01 is virtual'
}

@test "bench by mpirun: passes with 2 ranks on each of 3 hosts, started over port 9435" {
	local before
	before=$(inside node02 docker logs "$CONTAINER" 2>&1 | grep -c 'Accepted publickey')
	ringup --json bench --launcher mpirun -- -b 1K -e 64K -f 4 -n 3 >bench.json
	jq -e '.verdict == "pass" and all(.results[]; .wrong == 0)' bench.json
	[ "$(jq -r '.ranks[].host' bench.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
	[ "$(inside node02 docker logs "$CONTAINER" 2>&1 | grep -c 'Accepted publickey')" -gt "$before" ]
}

@test "mpirun by hand over three containers: no --root, no secret, rank 0 is found" {
	local list network
	list=$(for host in $(hosts); do printf '%s:2,' "$(address "$host")"; done)
	network=$(address node01 | cut -d. -f1-3).0/24
	inside node01 docker exec "$CONTAINER" mpirun --allow-run-as-root --np 6 --host "${list%,}" --map-by slot --bind-to none \
		--mca btl_tcp_if_include "$network" --mca oob_tcp_if_include "$network" \
		allreduce -b 1K -e 64K -f 4 -n 3 --json >mpirun.json
	jq -e '.verdict == "pass" and .world == 6' mpirun.json
	[ "$(jq -r '.ranks[].host' mpirun.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
}

# Nothing of a job lives in the containers: no rank (they are called $1), no daemon of mpirun, no supervisor.
no_job() {
	local host
	for host in node01 node02 node03; do
		wait_for 15 eval "! in_container $host pgrep -f '$1|orted|prted|mpirun|ringup-job'"
	done
}

@test "run by mpirun: every rank on its host, with the container's environment" {
	# shellcheck disable=SC2016 # the ranks' own variables
	ringup run --launcher mpirun -e 'A=b c' --workdir /usr -- sh -c 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $A $PWD"' >out 3>&- 4>&-
	six_ranks 'of 6 b c /usr' | cmp - <(sort out)
	no_job nothing-else
}

@test "run by mpirun: a rank fails, ringup is killed, a host is cut off: nothing is left" {
	local pid status=0
	# shellcheck disable=SC2016
	ringup run --launcher mpirun -- sh -c '[ $OMPI_COMM_WORLD_RANK != 4 ] || exit 5; sleep 54321' 2>err 3>&- 4>&- || status=$?
	[ "$status" = 5 ]
	grep -q 'rank 4 on node03 ended with status 5' err
	no_job 'sleep 54321'

	ringup run --launcher mpirun -- sh -c 'echo up; exec sleep 54321' >out 2>err 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 eval '[ "$(grep -c up out)" = 6 ]'
	kill -9 "$pid"
	no_job 'sleep 54321'

	ringup run --launcher mpirun -- sh -c 'echo up; exec sleep 54321' >out 2>err 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 eval '[ "$(grep -c up out)" = 6 ]'
	inside node02 ip link set eth0 down
	wait "$pid" || status=$?
	inside node02 ip link set eth0 up
	[ "$status" = 1 ]
	grep -q 'node02: the host does not answer any more' err
	no_job 'sleep 54321'
}

@test "bench: the table for people, and its verdict" {
	run --separate-stderr ringup bench -- -b 1K -e 4K -f 2 -n 2
	[ "$status" = 0 ]
	[[ "$output" == *"BUSBW (GB/s)"* && "$output" == *"WRONG"* ]]
	[ "$(grep -cE '^ +(1024|2048|4096) ' <<<"$output")" = 3 ]
	[[ "$output" == *'6 ranks on 3 hosts, launcher ssh: verdict "pass"'* ]]
}

@test "bench: wrong data ends with status 5 and names rank and host" {
	fails 5 bench -- -b 1K -e 4K -f 2 -n 2 --fault-inject corrupt:3
	says "rank 3" node02
	jq -e '.verdict != "pass"' .ringup/last-bench.json
	fails 5 --json bench -- -b 1K -e 1K -n 2 --fault-inject corrupt:3
	jq -e '.verdict != "pass" and any(.results[]; .wrong > 0)' "$BATS_TEST_TMPDIR/stdout"
}

@test "status: what docker says, as table and as JSON" {
	local host
	ringup --json status >status.json
	for host in $(hosts); do
		[ "$(jq -r ".hosts[] | select(.host == \"$host\") | \"\(.state) \(.container) \(.started) \(.image)\"" status.json)" = \
			"running $(inspect "$host" '"\(.Id) \(.State.StartedAt) \(.Config.Image)"')" ]
	done
	run --separate-stderr ringup status
	[ "$status" = 0 ]
	[ "$(grep -c ' running ' <<<"$output")" = 3 ]
	inside node02 docker stop -t 1 "$CONTAINER"
	[ "$(ringup --json status 2>/dev/null | jq -r '[.hosts[].state] | join(" ")')" = "running stopped running" ]
	up
}

@test "logs: each container's own lines behind its host's name" {
	local host
	run --separate-stderr ringup logs
	[ "$status" = 0 ]
	for host in $(hosts); do
		grep -Fx "$host: Server listening on $(address "$host") port 9435." <<<"${output//$'\r'/}"
	done
	run --separate-stderr ringup logs -n 1 node02
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	[ "${output%$'\r'}" = "node02: $(inside node02 docker logs --tail 1 "$CONTAINER" 2>&1 | tr -d '\r')" ]
	run ringup logs nobody
	[ "$status" = 2 ]
}

@test "exec: on all, on one; words arrive as they are; a failure is named" {
	run --separate-stderr ringup exec -- sh -c 'echo "$RINGUP_HOST: $1"' x 'two  words; $HOME'
	[ "$status" = 0 ]
	[ "$(sort <<<"$output" | head -1)" = 'node01: node01: two  words; $HOME' ]
	[ "${#lines[@]}" = 3 ]
	run --separate-stderr ringup exec -H node02 -- hostname
	[ "$output" = "node02: node02" ]
	ringup --json exec -- cat /etc/ringup/ssh/sshd_config >exec.json
	[ "$(jq -r '.hosts[1].stdout' exec.json)" = "$(inside node02 cat /var/lib/ringup/lab/ssh/sshd_config)" ]
	fails 7 exec -- sh -c '[ "$RINGUP_HOST" != node02 ] || exit 7'
	says node02 7
	fails 1 exec -- false
	says node01 node02 node03
}

@test "an RSA key goes through the system's ssh, with the same results and one connection" {
	local host before
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	for host in $(hosts); do
		cp ".ringup/lab/$host/authorized_keys" "kept-$host"
		cat rsa.pub >>".ringup/lab/$host/authorized_keys"
	done
	sed 's|key: .ringup/lab/id_ed25519|key: rsa|' cluster.yaml >rsa.yaml
	before=$(container_lines)
	ringup -q -f rsa.yaml --json up >out
	jq -e '[.hosts[] | .ok and (.changed | not)] | all' out
	same containers "$before" "$(container_lines)"
	run --separate-stderr ringup -q -f rsa.yaml exec -- sh -c 'echo "$1"; echo to stderr >&2' sh "it's \$x"
	[ "$status" = 0 ]
	[ "$(grep -c "it's \$x" <<<"$output")" = 3 ]
	[ "$(grep -c 'to stderr' <<<"$stderr")" = 3 ]
	for host in $(hosts); do
		mv "kept-$host" ".ringup/lab/$host/authorized_keys"
	done
	rm rsa rsa.pub rsa.yaml out
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ringup-ssh-*' -newer cluster.yaml)" ]
}

@test "bench: a worker that cannot start is named with its host" {
	local secret=/var/lib/ringup/lab/ssh/secret
	inside node02 mv $secret $secret.away
	run ringup bench
	inside node02 mv $secret.away $secret
	[ "$status" = 1 ]
	[[ "$output" == *"node02: the worker cannot be started"*"ringup up"* ]]
	[[ "$output" != *"node01:"* ]]
	ringup -q bench -- -b 8 -e 8
}
