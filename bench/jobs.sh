#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/jobs.sh [ROUNDS]: `ringup run` beside what it starts.
#   start   a job of `true` on 3 hosts, beside mpirun's own start over ssh, and on 64 hosts
#   output  the lines of one rank through ringup to a file, beside mpirun's, and the CPU time that each takes
# The hosts are loopback hosts of a lab: sshds on this machine, without containers. So a start has the CPU time of
# both ends of each connection. MIB ("400") is the size of the output, MANY ("64") the hosts of the larger lab.
set -euo pipefail
ROUNDS=${1:-5} MIB=${MIB:-400} MANY=${MANY:-64}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"

# loopback HOSTS: a lab in a folder of its own, instead of the one before
loopback() {
	loopback_end
	mkdir "$WORK/lab" && cd "$WORK/lab"
	ringup -q lab up --loopback --hosts "$1" 2>/dev/null
	ringup -q up
	write_own
}

loopback_end() {
	[ ! -e "$WORK/lab" ] || (cd "$WORK/lab" && ringup -q lab down)
	cd "$WORK"
	rm -rf "$WORK/lab"
}
trap 'loopback_end; bench_end' EXIT

# own WORD...: mpirun over the system's ssh to the lab's hosts, as a person starts it
own() {
	local list
	list=$(sed -n 's/.*address: \([0-9.]*\), port.*/\1:1/p' cluster.yaml | paste -sd,)
	mpirun --allow-run-as-root --host "$list" --bind-to none \
		--mca plm_rsh_agent "ssh -p $(sed -n 's/.*port: \([0-9]*\),.*/\1/p' cluster.yaml | head -n 1) -i $PWD/.ringup/lab/id_ed25519 -o UserKnownHostsFile=$PWD/.ringup/lab/known_hosts -o BatchMode=yes" "$@"
}

# As a program, since `measure` runs words.
write_own() {
	{
		declare -f own
		# shellcheck disable=SC2016 # the program's own words
		echo 'own "$@"'
	} >own.sh
}

starts() {
	for ((round = 0; round < ROUNDS; round++)); do
		measure "$1/ringup" ringup -q run --ppn 1 --launcher mpirun -- true
		measure "$1/mpirun" bash own.sh true
		measure "$1/ringup-env" ringup -q run --ppn 1 --launcher env -- true
	done
}

# lines: MIB of output in lines of 100 bytes
lines="yes \"\$(printf %099d 0)\" | head -c ${MIB}M"
loopback 3
starts start-3
for ((round = 0; round < ROUNDS; round++)); do
	measure "output/ringup" ringup -q run -n 1 --launcher env -- sh -c "$lines"
	measure "output/mpirun" bash own.sh -np 1 sh -c "$lines"
done
loopback "$MANY"
starts "start-$MANY"
table
echo "output of $MIB MiB in lines of 100 bytes:"
grep '^output/' "$WORK/results" | sort -k1,1 | awk -v mib="$MIB" \
	'{printf "%s %.0f MB/s, %.2f cores\n", $1, mib * 1.048576 / ($2 / 1e9), ($3 + $4) / ($2 / 1e9)}'
