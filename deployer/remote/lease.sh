#!/bin/sh
# SPDX-License-Identifier: MIT
# Who has which GPU of this host: lease.sh list|take|give|free KEY=VALUE...
# deployer/lease/lease.h says what a lease is. Keys of `list`: among, id, ticket, count. Of `take`: kind, id, owner,
# cluster, job, user, count, among, grace, ticket; for kind=up also engine and container. Of `give`: kind, id, owner.
# `free` is `give` of a job by its id, once no process of it lives: it waits 6 seconds for that, and fails otherwise.
# COUNT is a number, `all` (those that are free, when none is leased) or `free` (those that are free).
# AMONG is all, up (what `up` took for this owner), or indexes and UUIDs with ',' between.
#
# The answer is key=value lines:
#   scope=host|user            whose leases are seen here: everybody's, or only this user's and root's
#   none=WHY                   the host has no GPUs to lease
#   broken=WHY                 instead: it may have some, and nobody can use them
#   gpu=INDEX UUID STATE       STATE: free, leased, used (a process without a lease), outside (of AMONG)
#   lease=UUID KIND SINCE CLUSTER USER JOB
#   process=UUID PID USER
#   queue=N                    jobs that came earlier and wait
#   ticket=COUNT CLUSTER USER JOB
#   taken=UUID,UUID            of `take`: these; without this line nothing was taken
set -u
umask 022
action=$1
shift
kind=job id='' owner='' cluster='' job='' user='' count=0 among=all grace=45 ticket='' engine='' container=''
for pair; do
	value=${pair#*=}
	case $pair in
		kind=*) kind=$value ;;
		id=*) id=$value ;;
		owner=*) owner=$value ;;
		cluster=*) cluster=$value ;;
		job=*) job=$value ;;
		user=*) user=$value ;;
		count=*) count=$value ;;
		among=*) among=$value ;;
		grace=*) grace=$value ;;
		ticket=*) ticket=$value ;;
		engine=*) engine=$value ;;
		container=*) container=$value ;;
	esac
done

me=$(id -u) everybodys='' scope=host
if [ -n "${RINGUP_STATE_ROOT:-}" ]; then
	root=$RINGUP_STATE_ROOT # as in probe/
elif [ "$me" = 0 ]; then
	root=/var/lib/ringup
else
	root=${XDG_STATE_HOME:-$HOME/.local/state}/ringup everybodys=/var/lib/ringup/.leases
fi
[ "$me" = 0 ] || scope=user
leases=$root/.leases
boot=$(cat /proc/sys/kernel/random/boot_id)
read -r uptime _ </proc/uptime
uptime=${uptime%%.*}
now=$(date -u +%Y-%m-%dT%H:%M:%SZ) # once: GPUs that are taken together have one time
printf 'scope=%s\n' "$scope"

lease_fail() {
	printf 'lease.sh: %s\n' "$*" >&2
	exit 1
}

# One at a time on this host. The file may be removed while we wait for it (purge.sh).
lease_lock() {
	command -v flock >/dev/null || lease_fail "flock is missing there; install util-linux"
	[ ! -L "$leases" ] || lease_fail "$leases is a symbolic link; remove it"
	mkdir -p "$leases" || exit 1
	[ "$(stat -c %u "$leases")" = "$me" ] || lease_fail "$leases belongs to the user $(stat -c %U "$leases"), not to $(id -un)"
	chmod 755 "$leases" || exit 1
	while :; do
		[ ! -L "$leases/lock" ] || lease_fail "$leases/lock is a symbolic link; remove it"
		exec 9>>"$leases/lock" || exit 1
		flock -w 20 9 || lease_fail "somebody has held $leases/lock for 20 s; look who: fuser $leases/lock"
		[ "$(stat -c %i "$leases/lock" 2>/dev/null)" = "$(stat -Lc %i /proc/self/fd/9)" ] && return
	done
}

# Small plain files of ours or root's with this ending, in the order of their names.
lease_files() {
	find "$leases" $everybodys -maxdepth 1 -type f -size -9 \( -uid 0 -o -uid "$me" \) -name "*.$1" 2>/dev/null | sort
}

lease_read() {
	l_id='' l_owner='' l_cluster='' l_job='' l_user='' l_since='' l_boot='' l_until=0 l_engine='' l_container='' l_count=0
	lines=0
	while IFS='=' read -r key value && [ $((lines += 1)) -le 20 ]; do
		case $value in *[!A-Za-z0-9._@:+-]* | '') value=- ;; esac
		case $key in
			id) l_id=$value ;;
			owner) l_owner=$value ;;
			cluster) l_cluster=$value ;;
			job) l_job=$value ;;
			user) l_user=$value ;;
			since) l_since=$value ;;
			boot) l_boot=$value ;;
			until) l_until=$value ;;
			count) l_count=$value ;;
			engine) l_engine=$value ;;
			container) l_container=$value ;;
		esac
	done <"$1"
	case $l_until in *[!0-9]* | ???????????*) l_until=0 ;; esac
}

# Whether it counts without a look at its holder: who took it is still on the way.
lease_is_fresh() {
	[ "$l_boot" = "$boot" ] && [ "$uptime" -lt "$l_until" ]
}

# The supervisor and the ranks of a job have its id in their words or in their environment. grep gets the id by its
# stdin: as a word of grep it is a process of the job for everybody who looks at the same time.
job_lives() {
	[ "$l_boot" = "$boot" ] || return 1
	case $l_id in - | '') return 1 ;; esac
	# shellcheck disable=SC2062 # the pattern is on stdin
	printf '%s\n' "$l_id" | grep -qsxzF -f - /proc/[0-9]*/cmdline ||
		printf '%s\n' "RINGUP_JOB_ID=$l_id" | grep -qsxzF -f - /proc/[0-9]*/environ
}

# The container that has this GPU is there, or the one that was set aside for it. An engine that does not answer
# frees nothing.
container_lives() {
	case $l_engine in *[!a-z]* | '') return 1 ;; esac
	case $l_container in -*) return 1 ;; esac
	case $l_owner in - | '') return 1 ;; esac
	said=$("$l_engine" container inspect --format \
		'{{index .Config.Labels "org.ringup.cluster-id"}} {{index .Config.Labels "org.ringup.settings"}}' \
		"$l_container" "$l_container.before" 2>&1)
	case $said in *"$l_owner "*"$1"*) return 0 ;; *"$l_owner "*) return 1 ;; esac
	case $said in *[Nn]'o such container'* | *'not found'*) return 1 ;; esac
}

# The GPUs, one a line: INDEX UUID GPU, where a MIG device has the UUID of its GPU last.
list_devices() {
	printf '%s\n' "$smi" | awk '
		function uuid() {return match($0, /UUID: [A-Za-z0-9\/-]+/) ? substr($0, RSTART + 6, RLENGTH - 6) : ""}
		function flush() {if (gpu != "" && !parts) print number, gpu, gpu}
		/^GPU [0-9]+:/ {flush(); number = $2 + 0; gpu = uuid(); parts = 0}
		/^[ \t]+MIG / {if (uuid() != "") print number ":" parts++, uuid(), gpu}
		END {flush()}'
}

# What a GPU is called in file names and lists, in $name. MIG devices of old drivers have a slash in theirs.
name_is() {
	name=$1
	case $1 in */*) name=$(printf '%s' "$1" | tr / _) ;; esac
}

# Reads leases and processes: $held_job, $held_up and $used are UUIDs with blanks around, $mine those of our id, $own
# those of our owner's `up`.
look() {
	held_job=' ' held_up=' ' used=' ' mine=' ' own=' '
	for file in $(lease_files job) $(lease_files up); do
		lease_read "$file"
		uuid=${file##*/}
		uuid=${uuid%.*}
		case $file in
			*.job)
				lease_is_fresh || job_lives || continue
				held_job="$held_job$uuid "
				if [ -n "$id" ] && [ "$l_id" = "$id" ]; then mine="$mine$uuid "; fi
				;;
			*)
				lease_is_fresh || container_lives "$uuid" || continue
				held_up="$held_up$uuid "
				if [ -n "$owner" ] && [ "$l_owner" = "$owner" ]; then own="$own$uuid "; fi
				;;
		esac
		printf 'lease=%s %s %s %s %s %s\n' "$uuid" "${file##*.}" "$l_since" "$l_cluster" "$l_user" "$l_job"
	done
	apps=$(nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader 2>/dev/null |
		sed -n 's/^ *\([GM][PI][UG]-[A-Za-z0-9\/-]*\), *\([0-9][0-9]*\) *$/\1 \2/p' | head -n 1000)
	while read -r uuid pid; do
		[ -n "$uuid" ] || continue
		name_is "$uuid"
		used="$used$name "
		printf 'process=%s %s %s\n' "$uuid" "$pid" "$(stat -c %U "/proc/$pid" 2>/dev/null || echo -)"
	done <<-EOT
		$apps
	EOT
}

# Whether the device is in $among: INDEX UUID.
is_among() {
	case $among in
		all) return 0 ;;
		up)
			name_is "$2"
			case $own in *" $name "*) return 0 ;; *) return 1 ;; esac
			;;
	esac
	case ",$among," in *",$1,"* | *",$2,"*) return 0 ;; *) return 1 ;; esac
}

# A process on a MIG device may be told of its GPU; it is the lease's where a device of that GPU is leased.
is_used() {
	name_is "$1"
	case $used in *" $name "*) return 0 ;; esac
	[ "$1" != "$2" ] || return 1
	case $used in *" $2 "*) ;; *) return 1 ;; esac
	printf '%s\n' "$devices" | while read -r _ other gpu; do
		name_is "$other"
		if [ "$gpu" = "$2" ]; then case $held_job in *" $name "*) echo leased ;; esac; fi
	done | grep -q leased && return 1
	return 0
}

# free, leased, used or outside, in $state: of INDEX UUID GPU for this request.
state_of() {
	state=outside
	is_among "$1" "$2" || return
	state=leased
	name_is "$2"
	case $kind,$own,$mine in up,*" $name "*,*) state=free && return ;; job,*,*" $name "*) state=free && return ;; esac
	case $held_job in *" $name "*) return ;; esac
	case $own in *" $name "*) ;; *) case $held_up in *" $name "*) return ;; esac ;; esac
	if is_used "$2" "$3"; then state=used; else state=free; fi
}

# $states: INDEX UUID STATE, one a line.
judge() {
	states=$(printf '%s\n' "$devices" | while read -r number uuid gpu; do
		[ -z "$uuid" ] || state_of "$number" "$uuid" "$gpu"
		[ -z "$uuid" ] || printf '%s %s %s\n' "$number" "$uuid" "$state"
	done)
	printf '%s\n' "$states" | sed -n 's/^./gpu=&/p'
}

# Jobs that came earlier, by the names of their tickets. A ticket that nobody renews does not count.
count_queue() {
	waiting=0
	for file in $(lease_files ticket); do
		lease_read "$file"
		lease_is_fresh || continue
		if [ -n "$id" ] && [ "$l_id" = "$id" ]; then break; fi
		waiting=$((waiting + 1))
		printf 'ticket=%s %s %s %s\n' "$l_count" "$l_cluster" "$l_user" "$l_job"
	done
	printf 'queue=%d\n' "$waiting"
}

# put NAME GRACE: writes a lease or a ticket, whole or not at all.
put() {
	printf '%s\n' "kind=$kind" "id=$id" "owner=$owner" "cluster=$cluster" "job=$job" "user=$user" "count=$count" \
		"since=$now" "boot=$boot" "until=$((uptime + $2))" "engine=$engine" \
		"container=$container" >"$leases/new" || lease_fail "cannot write $leases/new"
	mv -fT "$leases/new" "$leases/$1" || lease_fail "cannot write $leases/$1"
}

# Which GPUs hang together by NVLink, as INDEX ISLAND; the rows of "topo -m" begin with GPU0, and their first
# columns are the GPUs.
list_islands() {
	nvidia-smi topo -m 2>/dev/null | awk '
		/^GPU[0-9]+[ \t]/ {rows[n++] = $0}
		END {
			for (i = 0; i < n; i++) label[i] = i
			do {
				changed = 0
				for (i = 0; i < n; i++) {
					split(rows[i], cell)
					for (j = 0; j < n; j++)
						if (cell[j + 2] ~ /^NV[0-9]+$/ && label[i] != label[j]) {
							low = label[i] < label[j] ? label[i] : label[j]
							label[i] = label[j] = low
							changed = 1
						}
				}
			} while (changed)
			for (i = 0; i < n; i++) print i, label[i]
		}'
}

# $picked: UUIDs for this request, one a line; none where there are not enough. What it has already comes first. Then
# the island that fits best: the smallest with enough free GPUs, or else the one with most of them.
pick() {
	kept=$mine
	[ "$kind" = job ] || kept=$own
	picked=$({
		list_islands | sed 's/^/island /'
		for uuid in $kept; do echo "has $uuid"; done
		printf '%s\n' "$states" | sed 's/^/gpu /'
	} | awk -v need="$count" '
		$1 == "island" {island[$2] = $3}
		$1 == "has" {has[$2] = 1}
		$1 == "gpu" && $4 == "free" {
			name = $3
			gsub("/", "_", name)
			split($2, part, ":")
			of[++n] = (part[1] in island) ? island[part[1]] : "g" part[1]
			uuid[n] = $3
			if ((name in has) && chosen < need) taken[n] = ++chosen
		}
		END {
			while (chosen < need) {
				split("", room)
				for (i = 1; i <= n; i++) if (!taken[i]) room[of[i]]++
				best = ""
				for (i = 1; i <= n; i++) {
					if (taken[i]) continue
					k = of[i]
					fits = room[k] >= need - chosen
					if (best == "" || (fits && (!found || room[k] < room[best])) || (!fits && !found && room[k] > room[best])) {
						best = k
						found = fits
					}
				}
				if (best == "") exit
				found = 0
				for (i = 1; i <= n && chosen < need; i++) if (!taken[i] && of[i] == best) taken[i] = ++chosen
			}
			for (i = 1; i <= n; i++) if (taken[i]) print uuid[i]
		}')
}

# All GPUs that nobody has: of `all` when no other lease is in the way, of `free` in any case.
take_all() {
	[ -z "$ticket" ] || put "$ticket-$id.ticket" 30
	count_queue
	if [ "$count" = all ] && { [ "$waiting" -gt 0 ] || printf '%s\n' "$states" | grep -q ' leased$'; }; then return; fi
	picked=$(printf '%s\n' "$states" | sed -n 's/^[^ ]* \([^ ]*\) free$/\1/p')
	keep
}

take() {
	count_queue
	pick
	[ "$waiting" -gt 0 ] || keep
}

# Writes the leases of $picked.
keep() {
	[ -n "$picked" ] || return 0
	for uuid in $picked; do
		name_is "$uuid"
		put "$name.$kind" "$grace"
	done
	[ -z "$ticket" ] || rm -f "$leases/$ticket-$id.ticket"
	printf 'taken=%s\n' "$(printf '%s\n' "$picked" | paste -sd , -)"
}

# Whether the lease or ticket that was read is what `give` is about: FILE.
is_given() {
	case $1 in
		"$leases"/*.up) [ "$kind" = up ] && [ -n "$owner" ] && [ "$l_owner" = "$owner" ] && [ "$l_cluster" = "$cluster" ] ;;
		"$leases"/*) [ "$kind" = job ] && [ -n "$id" ] && [ "$l_id" = "$id" ] ;;
		*) return 1 ;;
	esac
}

give() {
	for file in $(lease_files "$kind") $(lease_files ticket); do
		lease_read "$file"
		if is_given "$file"; then rm -f "$file"; fi
	done
}

# Whether the job of $id has leases of ours here, and processes.
job_holds() {
	for file in $(lease_files job); do
		lease_read "$file"
		if is_given "$file"; then
			job_lives
			return
		fi
	done
	return 1
}

# Its supervisor may be about to end them.
job_is_gone() {
	tries=0
	while job_holds; do
		[ $((tries += 1)) -le 30 ] || return 1
		sleep 0.2
	done
}

if [ "$action" = give ] || [ "$action" = free ]; then
	[ -d "$leases" ] || exit 0
	[ "$action" = give ] || job_is_gone || lease_fail "processes of the job still live"
	lease_lock
	give
	exit 0
fi
command -v nvidia-smi >/dev/null 2>&1 || { echo 'none=there is no nvidia-smi' && exit 0; }
smi=$(nvidia-smi -L 2>&1) || { printf 'broken=nvidia-smi fails: %s\n' "$(printf '%s\n' "$smi" | sed -n '/./{p;q;}')" && exit 0; }
devices=$(list_devices)
[ -n "$devices" ] || { echo 'none=nvidia-smi lists no GPU' && exit 0; }
if [ "$action" = take ] || [ -n "$ticket" ]; then lease_lock; fi
look
judge
case $action in
	take) case $count in all | free) take_all ;; *) take ;; esac ;;
	list)
		[ -z "$ticket" ] || put "$ticket-$id.ticket" 30
		count_queue
		;;
esac
