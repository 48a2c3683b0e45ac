#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/fleet.sh [ROUNDS [HOSTS...]]: the same command on many hosts, by ringup, pdsh and clush in turn; and a file to one host,
# by `ringup cp`, by a pipe into ssh and by scp. The hosts are addresses of 127.1.0.0/16 at one sshd of this machine, so that the client
# shares the processors with all of the hosts. Prints medians of wall seconds, of the client's CPU seconds and of its resident
# set, and the floor: the CPU seconds that sshd itself took, over the processors. ringup-kept is the second command over the
# connections that ssh.keep left open. Needs root, pdsh and clush (clustershell).
# BUILD is the folder with ringup; MIB the size of the file (256).
set -euo pipefail
ROUNDS=${1:-5}
shift || true
HOSTS=("${@:-64}")
BUILD=$(realpath "${BUILD:-build}")
WORK=$(mktemp -d /tmp/ringup-bench-fleet.XXXXXX)
PORT=$(python3 "$(dirname "$0")/../tests/free_port.py")
export PATH=$BUILD:$PATH HOME=$WORK XDG_RUNTIME_DIR=$WORK
unset SSH_AUTH_SOCK
cd "$WORK"
trap 'pkill -P "$(cat sshd.pid)"; kill "$(cat sshd.pid)" 2>/dev/null; cd /; rm -rf "$WORK"' EXIT
for tool in pdsh clush sshd; do
	command -v $tool >/dev/null || { echo "fleet: there is no $tool; install pdsh, clustershell and openssh-server" >&2; exit 1; }
done

mkdir -m 700 .ssh
ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519
ssh-keygen -q -t ed25519 -N '' -f host_key
echo "[127.1.*]:$PORT $(cut -d' ' -f1,2 host_key.pub)" >known
/usr/sbin/sshd -f /dev/null -h "$WORK/host_key" -E "$WORK/sshd.log" -o "PidFile=$WORK/sshd.pid" -o "Port=$PORT" -o ListenAddress=0.0.0.0 \
	-o "AuthorizedKeysFile=$WORK/.ssh/id_ed25519.pub" -o "Subsystem=sftp internal-sftp" -o StrictModes=no -o UsePAM=no -o MaxStartups=4000 \
	-o SetEnv=SHLVL=5 # else bash reads .bashrc, which is not what is measured (bash(1), INVOCATION)
until [ -s sshd.pid ]; do sleep 0.05; done

# for pdsh and clush: ssh with the same key, file of host keys and port; -F, since ssh does not look at $HOME
cat >ssh_config <<-END
	Host 127.1.*
	  User root
	  Port $PORT
	  IdentityFile $WORK/.ssh/id_ed25519
	  UserKnownHostsFile $WORK/known
	  StrictHostKeyChecking yes
	  BatchMode yes
END
export PDSH_SSH_ARGS="-F $WORK/ssh_config -2 -a -x %h" PDSH_RCMD_TYPE=ssh

# addresses COUNT: 127.1.0.1 and so on, in the sets that all of the three read
addresses() {
	local left=$1 third=0 sets=
	while ((left > 0)); do
		sets+="${sets:+,}127.1.$third.[1-$((left < 250 ? left : 250))]"
		left=$((left - 250))
		third=$((third + 1))
	done
	echo "$sets"
}

# sshd_ticks: CPU of the sessions that have ended so far, in clock ticks
sshd_ticks() {
	awk '{ sub(/.*\) /, ""); print $14 + $15 }' "/proc/$(cat sshd.pid)/stat"
}

# timed NAME WORD...: appends "wall cpu rss floor" to results.NAME
timed() {
	local name=$1 before after
	shift
	before=$(sshd_ticks)
	python3 - "$@" >one <<-'END'
		import os, resource, subprocess, sys, time
		begin = time.monotonic()
		status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
		wall = time.monotonic() - begin
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		if status:
		    sys.exit(f"{sys.argv[1]} ended with {status}")
		print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
	END
	sleep 0.3 # the last sessions of sshd end
	after=$(sshd_ticks)
	echo "$(cat one) $(awk -v t=$((after - before)) -v c="$(getconf CLK_TCK)" -v n="$(nproc)" 'BEGIN { print t / c / n }')" >>"results.${name//\//-}"
}

median() {
	awk -v c="$2" '{ print $c }' "results.${1//\//-}" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

row() {
	printf '%-22s %8.3f %8.3f %9.1f %9.3f\n' "$1" "$(median "$1" 1)" "$(median "$1" 2)" "$(median "$1" 3)" "$(median "$1" 4)"
}

printf '%-22s %8s %8s %9s %9s\n' "WHAT (median of $ROUNDS)" 'WALL S' 'CPU S' 'RSS MIB' 'FLOOR S'
for count in "${HOSTS[@]}"; do
	set=$(addresses "$count")
	cat >"cluster-$count.yaml" <<-END
		hosts: [{hosts: "$set", port: $PORT}]
		ssh: {key: $WORK/.ssh/id_ed25519, known_hosts: $WORK/known, config: none}
		container: {engine: none}
		accelerator: cpu
	END
	sed 's/config: none/&, keep: 120/' "cluster-$count.yaml" >"kept-$count.yaml"
	ringup --jobs 4 --timeout 60 -f "kept-$count.yaml" exec -l -- true # 0.1 s of processor time for each login
	for ((round = 0; round < ROUNDS; round++)); do
		timed "ringup-kept/$count" ringup -f "kept-$count.yaml" exec -l -- true
		timed "ringup/$count" ringup -f "cluster-$count.yaml" exec -l -- true
		timed "pdsh/$count" pdsh -f 64 -w "$set" true
		timed "clush/$count" clush -f 64 -w "$set" -o "-F $WORK/ssh_config" true
	done
	for tool in ringup-kept ringup pdsh clush; do
		row $tool/"$count"
	done
done

# --- a file to one host: random bytes, into memory
head -c "$((${MIB:-256} << 20))" /dev/urandom >file
mkdir there
printf 'hosts: [{address: 127.1.0.1, port: %s}]\nssh: {key: %s, known_hosts: %s, config: none}\ncontainer: {engine: none}\n' "$PORT" "$WORK/.ssh/id_ed25519" \
	"$WORK/known" >one.yaml
for ((round = 0; round < ROUNDS; round++)); do
	rm -f there/*
	timed cp/ringup ringup -f one.yaml cp file "127.1.0.1:$WORK/there/"
	cmp -s file there/file
	rm -f there/*
	timed cp/ssh-pipe sh -c "ssh -F ssh_config 127.1.0.1 'cat >$WORK/there/file' <file"
	rm -f there/*
	timed cp/scp scp -q -F ssh_config file "127.1.0.1:$WORK/there/"
done
row cp/ringup
row cp/ssh-pipe
row cp/scp
