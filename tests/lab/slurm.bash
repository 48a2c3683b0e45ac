# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A real Slurm on this machine: munged, slurmctld and three slurmd (node01 to node03, each with a port of its own, as
# slurm.conf(5) has it for "multiple slurmd"), all in the folder $SLURM. A guard ends it also when bats is killed.

# The ports of this test: those below 32768 are given to no one by the kernel.
slurm_ports() {
	SLURM_PORT=$((20000 + $$ % 1000 * 8))
}

slurm_write_config() {
	local tree
	case $(stat -fc %T /sys/fs/cgroup) in cgroup2fs) tree=autodetect ;; *) tree=cgroup/v1 ;; esac
	echo "CgroupPlugin=$tree" >"$SLURM/cgroup.conf"
	printf 'PMIxCliTmpDirBase=%s\nPMIxTmpDirBase=%s\n' "$SLURM/run" "$SLURM/run" >"$SLURM/mpi.conf"
	cat >"$SLURM/slurm.conf" <<-EOT
		ClusterName=lab
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$SLURM_PORT
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$SLURM/munge.socket
		CredType=cred/munge
		StateSaveLocation=$SLURM/state
		SlurmdSpoolDir=$SLURM/spool-%n
		SlurmctldPidFile=$SLURM/slurmctld.pid
		SlurmdPidFile=$SLURM/slurmd-%n.pid
		SlurmctldLogFile=$SLURM/slurmctld.log
		SlurmdLogFile=$SLURM/slurmd-%n.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerParameters=sched_interval=1,batch_sched_delay=0
		MpiDefault=none
		ReturnToService=2
		SlurmdTimeout=6
		SlurmctldTimeout=10
		InactiveLimit=0
		KillWait=2
		MinJobAge=120
		GresTypes=gpu
		NodeName=node01 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((SLURM_PORT + 1)) CPUs=2 Gres=gpu:h100:2 State=UNKNOWN
		NodeName=node02 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((SLURM_PORT + 2)) CPUs=2 Gres=gpu:h100:2 State=UNKNOWN
		NodeName=node03 NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) Port=$((SLURM_PORT + 3)) CPUs=2 State=UNKNOWN
		PartitionName=train Nodes=node[01-03] Default=YES MaxTime=60 State=UP
		PartitionName=closed Nodes=node03 MaxTime=60 State=DOWN
	EOT
	cat >"$SLURM/gres.conf" <<-EOT
		NodeName=node[01-02] Name=gpu Type=h100 File=$SLURM/gpu[0-1]
	EOT
	# stand-ins for two GPUs: slurmd takes devices only
	mknod "$SLURM/gpu0" c 1 3
	mknod "$SLURM/gpu1" c 1 5
}

# Starts a program of the lab, and notes its process for slurm_end.
slurm_start() {
	setsid "$@" </dev/null >>"$SLURM/daemons.log" 2>&1 3>&- 4>&- &
	echo $! >>"$SLURM/pids"
	disown
}

# slurm_node NAME: its slurmd; $SLURM/NAME.pid is its process. The plug-in for PMIx has files in $SLURM/run, with
# the same names on all nodes, so each sees a folder of its own there. With $SLURM_MACHINE, a root file system of the same
# distribution, a node has what is installed there besides what this machine has.
slurm_node() {
	mkdir -p "$SLURM/run-$1"
	# shellcheck disable=SC2016 # expanded by the node's shell
	slurm_start unshare --mount --propagation private sh -c 'set -e
		mount --bind "$1-$2" "$1"
		for folder in ${3:+/usr /opt /etc/alternatives}; do
			mount -t overlay -o "ro,lowerdir=$3$folder:$folder" overlay "$folder"
		done
		exec slurmd -D -N "$2"' node "$SLURM/run" "$1" "${SLURM_MACHINE:-}"
	echo $! >"$SLURM/$1.pid"
}

slurm_wait() {
	for _ in {1..300}; do
		! "$@" || return 0
		sleep 0.1
	done
	echo "slurm: this did not come true: $*"
	tail -n 5 "$SLURM"/*.log
	return 1
}

slurm_is_idle() {
	[ "$(sinfo -h -N -p train -t idle -o %N 2>/dev/null | wc -l)" = 3 ]
}

# slurm_begin: the whole lab; three nodes are idle afterwards.
slurm_begin() {
	slurm_ports
	SLURM=$(mktemp -d "${TMPDIR:-/tmp}/ringup-slurm.XXXXXX")
	chmod 755 "$SLURM"
	mkdir "$SLURM/state" "$SLURM/run" "$SLURM"/spool-node0{1,2,3}
	SLURM_CONF=$SLURM/slurm.conf
	export SLURM SLURM_CONF
	: >"$SLURM/pids"
	slurm_write_config
	# shellcheck disable=SC2016 # expanded by the guard
	setsid bash -c 'while kill -0 "$1" 2>/dev/null; do sleep 0.5; done
		xargs -r kill -9 <"$2/pids"; rm -rf "$2"' guard $$ "$SLURM" </dev/null >/dev/null 2>&1 3>&- 4>&- &
	SLURM_GUARD=$!
	export SLURM_GUARD
	head -c 1024 /dev/urandom >"$SLURM/munge.key"
	chmod 600 "$SLURM/munge.key"
	slurm_start munged --foreground --force --key-file "$SLURM/munge.key" --socket "$SLURM/munge.socket" \
		--pid-file "$SLURM/munged.pid" --log-file "$SLURM/munged.log" --seed-file "$SLURM/munged.seed"
	slurm_wait test -S "$SLURM/munge.socket"
	slurm_start slurmctld -D
	for node in node01 node02 node03; do
		slurm_node "$node"
	done
	slurm_wait slurm_is_idle
}

# slurm_steps: the steps that run here. Those of a node that was killed outlive its slurmd.
slurm_steps() {
	local pid
	for pid in $(pgrep -x slurmstepd); do
		! grep -qzxF "SLURM_CONF=$SLURM/slurm.conf" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done
}

# slurm_end: no job, no process and no file of it is left.
slurm_end() {
	scancel --user root 2>/dev/null || true
	slurm_wait test -z "$(squeue -h 2>/dev/null)" || true
	xargs -r kill <"$SLURM/pids" 2>/dev/null || true
	sleep 0.5
	{ cat "$SLURM/pids" && slurm_steps; } | xargs -r kill -9 2>/dev/null || true
	slurm_wait eval '[ -z "$(slurm_steps)" ]'
	kill "$SLURM_GUARD" 2>/dev/null || true
	rm -rf "${SLURM:?}"
}
