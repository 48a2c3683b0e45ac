# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the tests that train with real frameworks: a cache that stays, a folder of code for --sync, and the four things
# that each way of training must do: train, and end when a rank dies, a rank hangs, or a host vanishes.

load ../lab/helper

EXAMPLES=$(realpath "$BATS_TEST_DIRNAME/../../examples")
EPOCHS=10 # enough for an accuracy of 0.896
FRAMEWORKS_CACHE=${FRAMEWORKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringup/frameworks}

# What is on a machine without containers: the script's environment has TensorFlow and Horovod, and a job's rank does not
# have that environment as a login has.
VENV=/opt/ringup/venv/bin
export PYTHON=$VENV/python
# shellcheck disable=SC2034 # for the files
HOROVOD=(-e "PATH=$VENV:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")

# The images have a cache of their own, which stays; the lab's standard one is not used.
seed_fill() {
	mkdir -p "$FRAMEWORKS_CACHE"
}

# frameworks_begin: the lab's folder, the cache, and the examples with their data in code/.
frameworks_begin() {
	lab_begin || return
	export XDG_CACHE_HOME=$FRAMEWORKS_CACHE
	mkdir code
	cp "$EXAMPLES"/*.py "$EXAMPLES/../images/worker/sgd/digits_data.h" "$BATS_TEST_DIRNAME/faulty.py" code/
}

# containers_up STACK [IMAGE]: three lab hosts with that stack, and 'image:' with more keys. pip and apt trust what
# this machine trusts.
containers_up() {
	local begin=$SECONDS
	ringup -q lab up --hosts 3 3>&- 4>&-
	cp cluster.yaml lab.yaml
	sed -i -E "s|^stack:.*|stack: $1|; s|^image:.*|image: {name: train${2:+, $2}}|" cluster.yaml
	echo 'build: {ca: /etc/ssl/certs/ca-certificates.crt}' >>cluster.yaml
	ringup up >up.log 2>&1 3>&- 4>&- || {
		cat up.log
		return 1
	}
	note "lab and image up: $((SECONDS - begin)) s"
}

# machine_cluster: the lab's cluster.yaml becomes one of hosts without containers.
machine_cluster() {
	sed -i -E 's|^stack:.*|stack: ["tensorflow==2.13.1", horovod, openmpi, "os==debian12"]|; s|^container:.*|container: {engine: none}|
		/^(image|registry):/d' cluster.yaml
}

# machine_make: a root file system with the cluster's stack and Debian's PyTorch, $MACHINE, from the cache when its script
# and its maker are the same.
machine_make() {
	ringup recipe --format script >script
	MACHINE=$FRAMEWORKS_CACHE/machine-$(cat script "$BATS_TEST_DIRNAME/machine.sh" | sha256sum | cut -c1-12)
	exec {MAKING}>"$FRAMEWORKS_CACHE/machine.lock"
	flock $MAKING
	[ -d "$MACHINE" ] || machine_build || return
	exec {MAKING}>&-
}

machine_build() {
	local base
	rm -rf --one-file-system "$FRAMEWORKS_CACHE"/machine-*/
	base=$(find "$FRAMEWORKS_CACHE" -name 'ringup-base-debian12-*.tar' | head -n 1)
	if [ -z "$base" ]; then
		base=$FRAMEWORKS_CACHE/base.tar
		"$EXAMPLES/../images/base/debian.sh" bookworm "$base" "$(sed -n 's/^  apt: "\(.*\)"$/\1/p' cluster.yaml)"
	fi
	mkdir -p "$FRAMEWORKS_CACHE/wheels"
	sh "$BATS_TEST_DIRNAME/machine.sh" "$base" script "$MACHINE.new" "$FRAMEWORKS_CACHE/wheels" >"$FRAMEWORKS_CACHE/machine.log" 2>&1 3>&- 4>&- || {
		tail -n 50 "$FRAMEWORKS_CACHE/machine.log"
		return 1
	}
	mv "$MACHINE.new" "$MACHINE"
}

# frameworks_end: 'lab down' removes cluster.yaml and its lock only as it wrote them.
frameworks_end() {
	mv "$LAB/lab.yaml" "$LAB/cluster.yaml"
	lab_end
}

# note WORDS...: a line for the person who runs the tests
note() {
	echo "# ${BATS_TEST_FILENAME##*/}: $*" >&3
}

ON=() # where jobs run: on the hosts

# job WORDS...: ringup run with the code, stdout in out and stderr in err; $status and $took (seconds)
job() {
	local begin=$SECONDS
	status=0
	timeout --kill-after=30 400 ringup run "${ON[@]}" --sync code "$@" >out 2>err 3>&- 4>&- || status=$?
	took=$((SECONDS - begin))
	echo "ringup run $* -> $status after $took s"
	cat out err
}

# reports RANKS: each rank printed its result; all have the same weights. Leaves the accuracy in $accuracy.
reports() {
	local said
	said=$(sed -n 's/^.*rank [0-9]* of \([0-9]*\): accuracy \([0-9.]*\), weights \([0-9a-f]*\)$/\1 \2 \3/p' out)
	[ "$(wc -l <<<"$said")" = "$1" ] || { echo "$1 ranks should have reported"; return 1; }
	[ "$(sort -u <<<"$said" | wc -l)" = 1 ] || { echo "the ranks do not have the same weights"; return 1; }
	read -r _ accuracy _ <<<"${said%%$'\n'*}"
}

# near_alone DISTANCE: the accuracy is that of one process ($ALONE), or so near to it.
near_alone() {
	note "$BATS_TEST_DESCRIPTION: accuracy $accuracy (one process: $ALONE), $took s"
	awk -v a="$accuracy" -v b="$ALONE" -v d="$1" 'BEGIN {exit !(a > 0.86 && a - b < d && b - a < d)}'
}

# alone WORDS...: trains in one process, and leaves its accuracy in $ALONE.
alone() {
	job -n 1 --launcher env -- "$@" --epochs "$EPOCHS"
	[ "$status" = 0 ]
	reports 1
	export ALONE=$accuracy
}

# trains RANKS WORDS...: a job of so many ranks gets the accuracy of one process.
trains() {
	job -n "$@" --epochs "$EPOCHS"
	[ "$status" = 0 ]
	reports "$1"
	near_alone 0.006
	nothing_of_the_job
}

# one_dies, one_hangs RANKS WORDS...: rank 1 breaks after 40 batches.
one_dies() {
	job -e FAULT=exit:1 -n "$@"
	[ "$status" != 0 ]
	[ "$status" != 124 ]
	grep -q 'batch 40' out
	note "$BATS_TEST_DESCRIPTION: status $status, $took s: $(grep -m 1 '^ringup: error: ' err)"
	nothing_of_the_job
}

# KIND is how it hangs, for one_hangs (stop).
one_hangs() {
	job -e "FAULT=${KIND:-stop}:1" --hang-timeout 10 -n "$@"
	[ "$status" = 124 ]
	grep -q 'batch 40' out
	grep -q 'it hangs: no rank printed a line for 10 s' err
	grep -q '^\[1 ' ".ringup/jobs/$(newest_job)/stacks.txt"
	note "$BATS_TEST_DESCRIPTION: $took s: $(grep -o 'The last lines came from: .*' err)"
	nothing_of_the_job
}

newest_job() {
	ringup ps --json | jq -r '.jobs[-1].job'
}

# The processes of jobs, on all hosts, as this machine sees them: they are in the hosts' network namespaces.
job_processes() {
	local pid here
	here=$(stat -Lc %i "/run/netns/$LAB_NAME"-*)
	for pid in /proc/[0-9]*; do
		! grep -qz '^RINGUP_JOB_ID=' "$pid/environ" 2>/dev/null ||
			! grep -qxF "$(stat -Lc %i "$pid/ns/net")" <<<"$here" || echo "${pid#/proc/}"
	done
}

nothing_of_the_job() {
	local left
	for _ in $(seq 100); do
		left=$(job_processes)
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	xargs -rn 1 ps -fp <<<"$left"
	return 1
}

# job_begins LINE WORDS...: a job in the background that has printed the line, an expression of grep
job_begins() {
	local line=$1 end=$((SECONDS + 300))
	shift
	: >out
	ringup run --sync code "$@" >out 2>err 3>&- 4>&- &
	JOB=$!
	until grep -q "$line" out; do
		if ((SECONDS >= end)) || ! kill -0 $JOB 2>/dev/null; then
			cat out err
			kill $JOB 2>/dev/null || true
			return 1
		fi
		sleep 0.2
	done
}

# job_ends: waits for the job in the background; $status and $took (seconds)
job_ends() {
	local begin=$SECONDS
	status=0
	wait $JOB || status=$?
	took=$((SECONDS - begin))
	cat out err
	note "$BATS_TEST_DESCRIPTION: status $status, $took s later: $(grep -m 1 '^ringup: error: ' err)"
}

# host_vanishes RANKS WORDS...: the network of node03 goes while the job trains; the job ends and names it.
host_vanishes() {
	job_begins '^\[2 node03\] batch 10' -e FAULT=wait:0 -n "$@"
	ip link set "${LAB_NAME}v3" down
	job_ends
	ip link set "${LAB_NAME}v3" up
	[ "$status" != 0 ]
	grep -q 'node03' err
	nothing_of_the_job
}

# signal_task TEXT SIGNAL: to the processes of the job that have the text in their environment
signal_task() {
	local pid
	for pid in $(job_processes); do
		! grep -qzF -- "$1" "/proc/$pid/environ" || kill "-$2" "$pid"
	done
}
