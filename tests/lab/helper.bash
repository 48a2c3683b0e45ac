# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the lab's tests: one lab per file in a folder of its own ($LAB), ways to look at what really
# happened on its hosts and in its registry with other tools than ringup, and the proof that nothing
# of it is left.
#
# A file's tests run in order on one lab; each leaves it as `ringup up` wants it.

bats_require_minimum_version 1.5.0

CONTAINER="ringup-lab"
# shellcheck source=tests/jq.bash
source "$BATS_TEST_DIRNAME/../jq.bash"
# shellcheck source=tests/lab/seed.bash
source "$BATS_TEST_DIRNAME/../lab/seed.bash"

# --- begin and end of a file -------------------------------------------------------------------

# What a lab must not change on this machine, one line a thing.
machine_state() {
	# (the empty folders themselves are mount points of every lab)
	find /etc/docker /etc/cdi /dev/infiniband /var/lib/ringup -mindepth 1 -print 2>/dev/null || true
	find /root/.docker /root/.ssh -print 2>/dev/null || true
}

# Is another lab than ours at work on this machine? Then folders that all labs share stay.
other_labs() {
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -E '/\.ringup/lab/' | grep -qvF "$LAB/"
}

# lab_begin: the folder, and a guard that takes the lab down should bats be killed before it can.
lab_begin() {
	local ringup
	ringup=$(command -v ringup)
	LAB=$(mktemp -d "${TMPDIR:-/tmp}/ringup-lab-test.XXXXXX")
	LAB=$(realpath "$LAB")
	chmod 755 "$LAB"
	LAB_NAME=rl$(printf %s "$LAB" | sha256sum | cut -c1-4)
	export LAB LAB_NAME
	MACHINE_BEFORE=$(machine_state)
	export MACHINE_BEFORE
	cd "$LAB" || return
	export XDG_CACHE_HOME=$LAB/cache
	seed_fill "$XDG_CACHE_HOME" || return
	# shellcheck disable=SC2016 # expanded by the guard
	setsid bash -c 'while kill -0 "$1" 2>/dev/null; do sleep 0.5; done
		cd "$2" && "$3" -q lab down; cd / && rm -rf "$2"' guard $$ "$LAB" "$ringup" \
		</dev/null >/dev/null 2>&1 3>&- 4>&- &
	GUARD=$!
	export GUARD
}

# lab_cluster COUNT WORD...: lab_begin, and a cluster of so many hosts that is up; more words for 'lab up'.
lab_cluster() {
	lab_begin || return
	ringup -q lab up --hosts "$@" 3>&- 4>&- && ringup -q up 3>&- 4>&-
}

# lab_end: the lab down, and nothing left of it.
lab_end() {
	local status=0
	cd "$LAB" || return
	# What tests may have left when they failed half-way.
	pids_of_tests | xargs -r kill -9
	! mountpoint -q "$LAB/disk" || umount "$LAB/disk"
	if ! ringup -q lab down 3>&- 4>&-; then
		echo "lab down failed; it is tried again when bats has ended: $LAB"
		return 1
	fi
	nothing_left || status=1
	cd /
	kill "$GUARD" 2>/dev/null || true
	rm -rf "${LAB:?}"
	return $status
}

# Processes that a test started itself and noted by note_pid.
note_pid() {
	echo "$1" >>"$LAB/.pids"
}

pids_of_tests() {
	local pid
	[[ -f $LAB/.pids ]] || return 0
	while read -r pid; do
		! grep -qF "$LAB" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done <"$LAB/.pids"
}

# nothing_left: says what is still there of $LAB, and fails then.
nothing_left() {
	local left pid
	left=$(
		for pid in /proc/[0-9]*; do
			[[ ${pid#/proc/} != "$GUARD" ]] || continue
			! tr '\0' ' ' 2>/dev/null <"$pid/cmdline" | grep -F "$LAB/" | sed "s,^,process ${pid#/proc/}: ,"
			! grep -hsF -e "$LAB/" -e "/run/ringup-$LAB_NAME" "$pid/mountinfo" | sed "s,^,mount: ,"
		done
		ip -o link show | grep -E " $LAB_NAME(v[0-9]+)?[@:]" | sed 's,^,link: ,'
		ip netns list | grep "^$LAB_NAME-" | sed 's,^,netns: ,'
		ip -4 route show | grep -w "$LAB_NAME" | sed 's,^,route: ,'
		find /sys/fs/cgroup -maxdepth 3 -type d -name "$LAB_NAME" | sed 's,^,cgroup: ,'
		ls -d "/run/ringup-$LAB_NAME" /run/netns/"$LAB_NAME"-* 2>/dev/null | sed 's,^,file: ,'
		ls -d "$LAB"/.ringup "$LAB"/ringup.lock 2>/dev/null | sed 's,^,file: ,'
		if ! other_labs; then
			diff <(echo "$MACHINE_BEFORE") <(machine_state) | grep '^>' | sed 's,^,this machine: ,'
		fi
	)
	[[ -n $left ]] || return 0
	printf 'left of the lab %s:\n%s\n' "$LAB_NAME" "$left"
	return 1
}

# --- looking at hosts --------------------------------------------------------------------------

state() {
	jq -r "$1" "$LAB/.ringup/lab/state.json"
}

hosts() {
	state '.hosts[].name'
}

address() {
	state ".hosts[] | select(.name == \"$1\") | .address"
}

# first_process HOST: unshare's child, which is process 1 there. It is looked for again when the lab's state is newer.
first_process() {
	local kept=$BATS_FILE_TMPDIR/first-process-$1
	[[ $kept -nt $LAB/.ringup/lab/state.json ]] ||
		pgrep -P "$(state ".hosts[] | select(.name == \"$1\") | .process.pid")" >"$kept" || { rm -f "$kept" && return 1; }
	cat "$kept"
}

# inside HOST CMD...: on the lab host, past sshd.
inside() {
	local pid
	pid=$(first_process "$1") || return
	shift
	nsenter -t "$pid" -m -n -p -u -i -- "$@" 3>&- 4>&-
}

# in_container HOST CMD...
in_container() {
	local host=$1
	shift
	inside "$host" docker exec "$CONTAINER" "$@"
}

# inspect HOST JQ: of the host's container.
inspect() {
	inside "$1" docker container inspect "$CONTAINER" | jq -r ".[0] | $2"
}

# "HOST ID STARTED RUNNING" of one host's container; "HOST absent" when there is none.
container_line() {
	local line
	line=$(inside "$1" docker container inspect --format '{{.Id}} {{.State.StartedAt}} {{.State.Running}}' \
		"$CONTAINER" 2>/dev/null) || line=absent
	echo "$1 $line"
}

# container_lines [HOST...]: of all hosts, or those.
container_lines() {
	local host
	(($# > 0)) || mapfile -t list < <(hosts)
	(($# == 0)) || list=("$@")
	for host in "${list[@]}"; do container_line "$host"; done
}

# All files that ringup keeps on a host, with what stat knows of them.
host_files() {
	inside "$1" find /var/lib/ringup /etc/docker -type f ! -name key.json -printf '%p %m %s %i %C@\n' | sort
}

# How often somebody has logged in to the host's own sshd.
logins() {
	grep -c 'Accepted publickey' "$LAB/.ringup/lab/$1/sshd.log" || true
}

# Every worker logs in to every other with plain ssh, by name and by address.
all_meet() {
	local from to said
	for from in "$@"; do
		for to in "$@"; do
			[[ $from != "$to" ]] || continue
			said=$(in_container "$from" ssh "$to" hostname) || return
			[[ $said == "$to" ]] || { echo "$from -> $to answered '$said'"; return 1; }
			said=$(in_container "$from" ssh "$(address "$to")" hostname) || return
			[[ $said == "$to" ]] || { echo "$from -> $(address "$to") answered '$said'"; return 1; }
		done
	done
}

# --- looking at the registry -------------------------------------------------------------------

registry_address() {
	echo "10.83.$(state .subnet).254:5000"
}

password() {
	cat "$LAB/.ringup/lab/registry/password"
}

# The password as it is and as files of credentials hold it, one a line.
secrets() {
	printf '%s\n' "$(password)" "$(jq -r '.auths[].auth' "$LAB/.ringup/auth.json")"
}

# registry PATH [CURL WORDS...]: what the registry answers to curl, with the lab's CA and login.
registry() {
	local path=$1
	shift
	curl -sS --fail --max-time 60 --cacert "$LAB/.ringup/lab/registry/ca.pem" \
		-K <(printf 'user = "lab:%s"\n' "$(password)") "$@" "https://$(registry_address)$path"
}

MANIFEST_TYPES='Accept: application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'

# --- running ringup ----------------------------------------------------------------------------

# up [WORDS...]: must succeed; its output is shown when it does not.
up() {
	ringup up "$@" >"$BATS_TEST_TMPDIR/up.out" 2>&1 3>&- 4>&- || {
		local status=$?
		cat "$BATS_TEST_TMPDIR/up.out"
		return $status
	}
}

# none_left PATTERN: within 10 s no process is left whose words it fits; else those that are.
none_left() {
	local i
	for ((i = 0; i < 100; i++)); do
		pgrep -f "$1" >"$BATS_TEST_TMPDIR/left" || return 0
		sleep 0.1
	done
	xargs -rn 1 ps -fp <"$BATS_TEST_TMPDIR/left"
	return 1
}

# variant FILE SED...: cluster.yaml, changed by sed, under another name in the same folder; it must differ.
variant() {
	local file=$1
	shift
	sed -E "$@" cluster.yaml >"$file"
	! cmp -s cluster.yaml "$file" || { echo "variant $file: sed $* changed nothing"; return 1; }
}

# fails STATUS WORDS...: ringup must end with that status and one error; $error is that error's text.
fails() {
	local expected=$1 status=0
	shift
	timeout --kill-after=5 120 ringup "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" \
		3>&- 4>&- || status=$?
	error=$(sed -n '/^ringup: error: /,$p' "$BATS_TEST_TMPDIR/stderr" | sed '1s/^ringup: error: //')
	echo "ringup $* -> $status"
	sed 's/^/  | /' "$BATS_TEST_TMPDIR/stderr"
	((status == expected)) || { echo "status $status, expected $expected"; return 1; }
	[[ -n $error ]] || { echo "there is no error message"; return 1; }
	[[ $(grep -c '^ringup: error: ' "$BATS_TEST_TMPDIR/stderr") == 1 ]] || { echo "more than one error"; return 1; }
	[[ $error != *$'\r'* && $error != *$'\033'* ]] || { echo "control characters in the error"; return 1; }
	! grep -qF "$(cat "$LAB/.ringup/lab/registry/password" 2>/dev/null || echo no-password)" \
		"$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/stderr" || { echo "the password is shown"; return 1; }
}

# says TEXT...: each stands in $error.
says() {
	local text
	for text; do
		[[ $error == *"$text"* ]] || { echo "the error does not say: $text"; return 1; }
	done
}

# one_line: $error is a single line.
one_line() {
	[[ $error != *$'\n'* ]] || { echo "the error is more than one line"; return 1; }
}

# same WHAT BEFORE AFTER
same() {
	[[ $2 == "$3" ]] || { echo "$1 changed:"; diff <(echo "$2") <(echo "$3"); return 1; }
}

# differ WHAT BEFORE AFTER
differ() {
	[[ $2 != "$3" ]] || { echo "$1 did not change: $2"; return 1; }
}

# wait_for SECONDS CMD...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || { echo "still not, after the time: $*"; return 1; }
		sleep 0.05
	done
}

# start OUT ERR WORDS...: ringup in the background with its output in the files OUT and ERR; its id is $!.
# bash lets background jobs ignore SIGINT; a terminal would not.
start() {
	local out=$1 err=$2
	shift 2
	: >"$out" >"$err"
	env --default-signal=INT ringup "$@" >>"$out" 2>>"$err" </dev/null 3>&- 4>&- &
}

# start_up LOG WORDS...: the same, with all output in one file.
start_up() {
	start "$1" "$@"
}

# six_ranks "TEXT": the lines of a job of six ranks on three hosts that each print their rank and TEXT.
six_ranks() {
	local rank
	for rank in 0 1 2 3 4 5; do
		echo "[$rank node0$((rank / 2 + 1))] $rank $1"
	done
}
