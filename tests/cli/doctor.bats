#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup doctor: what it finds on hosts, how it groups and ends, and what --fix does.

load helper
load fleet_hosts
setup() {
	common_setup
	fleet_setup
}

@test "findings: grouped over hosts, errors first, status 5" {
	on_host 2 date '/bin/date -d "+1 hour" "$@"'
	apart ringup doctor --no-tries
	says 5 'must be mended'
	grep -q "^error    node02: its clock differs by 3[56][0-9][0-9]\.[0-9] s from this machine's" ../out
	# loopback addresses reach all hosts where these are one machine, and a hostname of its own is another machine
	! grep 'is the loopback\|no interface' ../out
	tail -n 1 ../out | grep -qE '^[0-9]+ errors?, [0-9]+ warnings?, [0-9]+ notes? on 3 hosts$'
	# no warning stands before an error
	! sed -n '/^warning/,$p' ../out | grep '^error'
	apart ringup doctor --no-tries --least error
	! grep -q '^note\|^warning' ../out
	apart ringup doctor --no-tries --least eror
	says 2 'none of error, warning and note'
}

@test "the findings as JSON" {
	on_host 2 hostname 'echo elsewhere'
	apart ringup --json doctor --no-tries
	[ "$status" -eq 5 ]
	json 'not d["ok"] and any(f["id"] == "interface-loopback" and f["severity"] == "error" and f["hosts"] for f in d["findings"])'
	json 'all(f["what"] and f["why"] and f["fix"] and f["source"].startswith("https://") for f in d["findings"])'
}

@test "hosts try to reach each other" {
	apart ringup doctor
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ] # the machine may have faults of its own
	! grep -q 'cannot reach\|drops packets' ../out
	# a host whose tries are all dropped
	on_host 1 timeout 'sleep 0.1; exit 124'
	apart ringup doctor
	[ "$status" -eq 5 ]
	grep -q '^error    node01: it cannot reach node02;node03\|^error    node01: it cannot reach node03;node02' ../out
}

@test "--fix shows what it does, asks, does it once, and not again" {
	# systemd runs there
	export RINGUP_ROOT=$PWD/root
	mkdir -p root/run/systemd/system
	ln -s /proc /etc /dev /usr /bin /var root/
	on_host 3 systemctl 'case "$*" in
		"is-enabled docker") [ -e "$HOST_FOLDER/enabled" ] && echo enabled || { echo disabled; exit 1; } ;;
		"enable docker") echo yes >>"$HOST_FOLDER/enabled" ;;
		*) exit 1 ;;
	esac'
	apart ringup doctor --no-tries
	grep -A 2 '^warning  node03: the engine does not start with the host' ../out | grep -q 'systemctl enable docker.*--fix does it'
	apart ringup doctor --no-tries --fix
	says 2 'add --yes' 'node03: systemctl enable docker'
	[ ! -e hosts/127.0.0.3/enabled ]
	apart ringup doctor --no-tries --fix --dry-run
	grep 'node03: systemctl enable docker' ../err
	[ ! -e hosts/127.0.0.3/enabled ]
}

@test "a host that is away: the others are judged, status 4 or 1" {
	echo 'No route to host' >hosts/127.0.0.2/away
	apart ringup doctor --no-tries
	says 4 'node02' '1 of 3 hosts failed'
	grep -q 'on 2 hosts$' ../out
	cp hosts/127.0.0.2/away hosts/127.0.0.1/
	cp hosts/127.0.0.2/away hosts/127.0.0.3/
	apart ringup doctor --no-tries
	[ "$status" -eq 1 ]
	[ ! -s ../out ]
}

@test "an engine that answers is no fault, whatever the user's groups are" {
	local n
	sed -i '$acontainer: {engine: podman}' cluster.yaml
	for n in 1 2 3; do
		on_host "$n" podman 'case $1 in version) echo 4.3.1 ;; info) echo "data_root=/home/ops/.local/share/containers" ;; *) exit 1 ;; esac'
		on_host "$n" id 'case $1 in -u) echo 1000 ;; -un | -Gn) echo ops ;; *) exec /usr/bin/id "$@" ;; esac'
		on_host "$n" sudo 'exit 1'
		on_host "$n" systemctl 'case "$*" in "is-enabled docker") echo disabled ;; esac; exit 1'
	done
	apart ringup --json doctor --no-tries
	json 'not [f["id"] for f in d["findings"] if f["id"] in ("no-root", "engine-not-enabled", "engine-down", "docker-group-only")]'
	# one that does not answer is one
	on_host 2 podman 'echo "cannot clone: Operation not permitted" >&2; exit 125'
	apart ringup doctor --no-tries
	says 5
	grep -q '^error    node02: podman does not work for user ops: cannot clone' ../out
	grep -q '^error    node02: user ops can become root neither by sudo' ../out
}
