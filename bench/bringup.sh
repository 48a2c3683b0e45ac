#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/bringup.sh [ROUNDS]: `ringup up` on lab hosts with real Docker engines, 3 and then 8 of them ($HOSTS): the first one, with the
# image in the registry, and the second one, which has nothing to do. In turn with it run a playbook of Ansible (bringup.yml) and a
# shell script with one ssh per host, all at once. They do the same: the container's ssh files, the registry's CA and login, a pull
# by digest, a container with the same options, a login to its sshd, and logins of new workers to each other. They do not look what
# the hosts have and can. Then a second `up` on 64 loopback hosts without containers ($MANY), beside `true` on each of them by ssh.
# Prints medians. Needs root. ansible-core comes from PyPI, once, into a virtual environment in ~/.cache/ringup-bench.
# BUILD is the folder with ringup.
set -euo pipefail
ROUNDS=${1:-5} HOSTS=${HOSTS:-3 8} MANY=${MANY:-64}
# shellcheck source=bench/helper.sh
. "$(dirname "$0")/helper.sh"
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ringup-bench
BENCH=$root/bench
SSH="ssh -i .ringup/lab/id_ed25519 -o UserKnownHostsFile=.ringup/lab/known_hosts -o BatchMode=yes"
export CACHE BENCH SSH WORK
trap lab_end EXIT

if [ ! -x "$CACHE/ansible/bin/ansible-playbook" ]; then
	python3 -m venv "$CACHE/ansible"
	"$CACHE/ansible/bin/pip" -q install ansible-core
fi

# on_hosts WHAT: theirs/HOST.WHAT on each host, all at once
on_hosts() {
	local pids=() host pid
	for host in theirs/*."$1"; do
		host=${host%."$1"}
		$SSH "root@$(cat "$host.address")" "sh -c $(printf %q "$(cat "$host.$1")")" <"$host.tar" >"$host.said" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || return; done
}

# Workers log in to each other when there is a new one.
by_ssh() {
	on_hosts sh && { ! grep -q started theirs/*.said || on_hosts meet; }
}

# The connections of an earlier run are not used again.
by_ansible() {
	local sockets
	sockets=$(mktemp -d "$WORK/mux.XXXXXX")
	ANSIBLE_PIPELINING=1 ANSIBLE_FORKS=64 ANSIBLE_SSH_CONTROL_PATH_DIR=$sockets ANSIBLE_LOCAL_TEMP=$WORK/tmp \
		ANSIBLE_SSH_ARGS="-o ControlMaster=auto -o ControlPersist=20s ${SSH#ssh}" \
		"$CACHE/ansible/bin/ansible-playbook" -i hosts.json "$BENCH/bringup.yml"
}

# Hosts as they were before: no container, no image, no files.
theirs_end() {
	local host
	for host in theirs/*.address; do
		$SSH "root@$(cat "$host")" "docker rm -f theirs; docker image prune -af; rm -rf /var/lib/ringup/theirs /etc/docker/certs.d/*" >/dev/null 2>&1 &
	done
	wait
}
export -f on_hosts by_ssh by_ansible

# both COUNT TOOL WORD...: the first and the second run
both() {
	local what="$1 hosts" tool=$2
	shift 2
	measure "first-${what% hosts}/$tool" "$@"
	measure "again-${what% hosts}/$tool" "$@"
}

for count in $HOSTS; do
	ringup -q lab up --hosts "$count"
	[ -e ringup.lock ] || ringup -q push >/dev/null
	rm -rf theirs && mkdir theirs
	ringup -q --json up --dry-run >plan.json
	python3 "$BENCH/bringup_peers.py"
	for ((round = 0; round < ROUNDS; round++)); do
		both "$count" ringup ringup -q up
		ringup -q down --purge >/dev/null
		both "$count" shell bash -c by_ssh
		theirs_end
		both "$count" ansible bash -c by_ansible
		theirs_end
	done
done
ringup -q lab down

ringup -q lab up --loopback --hosts "$MANY" 2>/dev/null
ringup -q up >/dev/null
for ((round = 0; round < ROUNDS; round++)); do
	measure "again-$MANY-loopback/ringup" ringup -q up
	# shellcheck disable=SC2086 # words
	measure "again-$MANY-loopback/ssh-true" xargs -a <(jq -r '.hosts[].address' .ringup/lab/state.json) -P 64 -I % \
		$SSH -p "$(sed -n 's/.*port: \([0-9]*\),.*/\1/p' cluster.yaml | head -n 1)" root@% true
done
table
