#!/bin/sh
# SPDX-License-Identifier: MIT
# The Distribution server on this host: registry.sh VERB WORD=VALUE...
#   look     prints what is there as key=value lines; changes nothing
#   start    takes a tar of the server's files on stdin; (re)starts the server if anything differs
#   stop     stops the server, also for the next boot; its images stay
#   remove   stops it, and removes its files and the images below its home
#   collect  frees the space of unreferenced blobs; the server must be stopped
#   install  installs Debian's package docker-registry, without its own unit
# The words are name (of unit and container), home (folder of its files), storage (folder of its images), as
# (systemd, process or container), port, program, measure (yes: add up the images), owner (the file of that name),
# and take (take: the registry may be somebody else's). If it is somebody else's, start, stop, remove and collect change
# nothing, print that owner and end with status 76. The others are lines of the engine's record, which ringup has quoted: engine state run remove logs task.
set -eu
umask 077
verb=$1
shift
name='' home='' storage='' as='' port='' program='' measure='' owner='' take=''
engine='' state='' run='' remove='' logs='' task=''
for word; do
	value=${word#*=}
	case $word in
	name=*) name=$value ;; home=*) home=$value ;; storage=*) storage=$value ;; as=*) as=$value ;;
	owner=*) owner=$value ;; take=*) take=$value ;;
	port=*) port=$value ;; program=*) program=$value ;; measure=*) measure=$value ;;
	engine=*) engine=$value ;; state=*) state=$value ;; run=*) run=$value ;;
	remove=*) remove=$value ;; logs=*) logs=$value ;; task=*) task=$value ;;
	esac
done

# ringup's folder on this host, as in probe/.
if [ -z "$home" ]; then
	if [ -n "${RINGUP_STATE_ROOT:-}" ]; then
		home=$RINGUP_STATE_ROOT
	elif [ "$(id -u)" = 0 ]; then
		home=/var/lib/ringup
	else
		home=${XDG_STATE_HOME:-$HOME/.local/state}/ringup
	fi
	home=$home/${name#ringup-}
fi
storage=${storage:-$home/data}
unit=/etc/systemd/system/$name.service
user=ringup-registry

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

id_of() {
	sed -n 's/^id=//p' "$1" 2>/dev/null | head -n 1
}

# On this machine there is no owner: the folder that ringup was told says whose registry it is.
check_owner() {
	[ -n "$owner" ] && [ "$take" != take ] || return 0
	[ -f "$home/owner" ] || [ -f "$home/started" ] || return 0
	[ "$(id_of "$home/owner")" != "$(printf '%s' "$owner" | id_of -)" ] || return 0
	sed 's/^/owner_/' "$home/owner" 2>/dev/null || true
	exit 76
}

# Of two people who come at the same time one is the owner: ln fails when the file is there already.
claim() {
	[ -n "$owner" ] || return 0
	printf '%s' "$owner" >"$home/owner.$$"
	[ "$take" != take ] || rm -f "$home/owner"
	ln "$home/owner.$$" "$home/owner" 2>/dev/null || true
	rm -f "$home/owner.$$"
	check_owner
}

has_systemd() {
	[ "$(id -u)" = 0 ] && [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}

# A unit or container of the same name may serve another folder; this script leaves it alone.
has_unit() {
	has_systemd && grep -qxF "WorkingDirectory=$home" "$unit" 2>/dev/null
}

container_says() {
	[ -n "$state" ] && said=$(sh -c "$state" 2>/dev/null) &&
		printf '%s\n' "$said" | grep -qxF "container_config=$home" &&
		printf '%s\n' "$said" | grep -qE "$1"
}

# Start time of a process in ticks since boot; nothing for one that is gone or dead.
start_time() {
	sed -n 's/.*) //; /^[ZX]/d; p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# Whether the started process still runs. A reused pid has another start time.
process() {
	[ -f "$home/registry.pid" ] && read -r pid began <"$home/registry.pid" &&
		[ -n "$began" ] && [ "$(start_time "$pid")" = "$began" ]
}

runs_as() {
	if has_unit && systemctl is-active --quiet "$name.service"; then
		echo systemd
	elif process; then
		echo process
	elif container_says '^container_running=true$'; then
		echo container
	else
		return 1
	fi
}

look() {
	echo "home=$home"
	echo "storage=$storage"
	! has_systemd || echo systemd=yes
	for word in docker-registry registry; do
		if path=$(command -v "$word") && said=$("$path" --version 2>/dev/null | grep distribution); then
			echo "program=$path"
			echo "version=$said"
			break
		fi
	done
	if [ -n "$engine" ]; then
		if said=$(sh -c "$engine" 2>&1); then
			echo engine=yes
		else
			echo "engine_error=$(printf '%s' "$said" | tail -n 1)"
		fi
	fi
	if now=$(runs_as); then
		echo running=yes
		echo "as=$now"
	elif [ -f "$home/started" ]; then
		read -r now _ <"$home/started"
		echo "as=$now"
	fi
	disk=$storage
	while [ ! -d "$disk" ]; do disk=$(dirname "$disk"); done
	df -Pk "$disk" | awk 'NR == 2 {printf "free_bytes=%.0f\ntotal_bytes=%.0f\n", $4 * 1024, $2 * 1024}'
	if [ -n "$measure" ] && [ -d "$storage" ]; then
		du -sk "$storage" | awk '{printf "used_bytes=%.0f\n", $1 * 1024}'
	fi
}

end_process() {
	process || return 0
	kill "$pid"
	left=100
	while process && [ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.1
	done
	! process || kill -9 "$pid"
}

halt() {
	if has_unit; then
		systemctl disable --quiet --now "$name.service"
	fi
	end_process
	rm -f "$home/registry.pid"
	if container_says .; then
		sh -c "$remove" >/dev/null
	fi
}

# A digest of everything that the server starts with. When it differs, the server must start again.
wanted() {
	printf '%s ' "$as"
	for word in config.yml server.pem server.key htpasswd upstream.pem unit; do
		cat "$home/$word" 2>/dev/null || true
	done | (cat && printf '%s\n' "$program" "$storage" "$run") | sha256sum | cut -d' ' -f1
}

# The folder must be empty or hold images of this server: its files must not mix with other files.
make_storage() {
	mkdir -p "$storage"
	[ -d "$storage/docker/registry" ] || [ -f "$storage/scheduler-state.json" ] ||
		[ -z "$(find "$storage" -mindepth 1 -maxdepth 1 ! -name lost+found)" ] ||
		fail "$storage holds other things; name a folder of its own with --storage"
}

start_systemd() {
	[ ! -f "$unit" ] || has_unit || fail "$unit serves another folder; stop that registry first"
	id -u "$user" >/dev/null 2>&1 ||
		useradd --system --user-group --home-dir "$home" --no-create-home --shell /usr/sbin/nologin "$user"
	# Other users must not read ringup's folders, but the server must pass through them to its own.
	chmod a+x "${home%/*}"
	case ${home%/*} in /var/lib/ringup/*) chmod a+x /var/lib/ringup ;; esac
	find "$home" -maxdepth 1 ! -path "$storage" -exec chown "$user:" {} +
	[ "$(stat -c %U "$storage")" = "$user" ] || chown -R "$user:" "$storage"
	for word in "$home/config.yml" "$storage"; do
		runuser -u "$user" -- test -r "$word" ||
			fail "the user $user cannot reach $word; choose a folder that others may enter"
	done
	cp "$home/unit" "$unit"
	chmod 644 "$unit"
	systemctl daemon-reload
	systemctl enable --quiet "$name.service"
	systemctl restart "$name.service"
}

start_process() {
	cd "$home"
	[ ! -f upstream.pem ] || export SSL_CERT_FILE="$home/upstream.pem"
	[ ! -f registry.log ] || mv -f registry.log registry.log.1
	setsid "$program" serve "$home/config.yml" >>registry.log 2>&1 </dev/null &
	printf '%s %s\n' "$!" "$(start_time $!)" >registry.pid
}

start_container() {
	said=$(sh -c "$run" 2>&1) || fail "$said"
}

listens() {
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		awk -v port="$(printf ':%04X' "$port")" \
			'$4 == "0A" && substr($2, length($2) - 4) == port {found = 1} END {exit !found}'
}

# An open port is no proof: another server may hold it, and then this one ends at once.
wait_for_start() {
	left=100
	while [ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.2
		now=$(runs_as) || break
		if listens; then
			sleep 0.2
			now=$(runs_as) || break
			return 0
		fi
	done
	case $as in
	systemd) last=$(journalctl --unit "$name.service" --lines 60 --output cat --no-pager 2>&1) ;;
	process) last=$(cat "$home/registry.log" 2>&1) ;;
	container) last=$(sh -c "$logs" 2>&1) ;;
	esac
	halt
	# A panic has its reason in its first line, and a page of Go after it.
	reason=$(printf '%s\n' "$last" | grep -E 'level=(fatal|error)|^panic: ' | tail -n 1)
	reason=${reason:-$(printf '%s\n' "$last" | tail -n 1)}
	fail "it does not start as a $as: ${reason:-it says nothing}"
}

start() {
	[ ! -L "$home" ] || fail "$home is a symbolic link; remove it"
	mkdir -p "$home"
	check_owner
	claim
	rm -f "$home/unit" "$home/upstream.pem"
	tar -x -p -f - -C "$home"
	if [ "$(runs_as)" = "$as" ] && [ "$(cat "$home/started" 2>/dev/null)" = "$(wanted)" ]; then
		echo was_running=yes
		return
	fi
	make_storage
	halt
	case $as in
	systemd) start_systemd ;;
	process) start_process ;;
	container) start_container ;;
	esac
	wait_for_start
	wanted >"$home/started"
}

collect() {
	check_owner
	# Nothing was ever pushed, which the garbage collector would report as an error.
	[ -d "$storage/docker/registry/v2/repositories" ] || return 0
	if [ "$as" = container ]; then
		said=$(sh -c "$task" 2>&1) || fail "$said"
	else
		said=$("$program" garbage-collect --delete-untagged "$home/config.yml" 2>&1) || fail "$said"
	fi
}

# Debian's own unit would serve everybody without a password on port 5000, at once.
install() {
	[ "$(id -u)" = 0 ] || fail "only root installs packages; set ssh.sudo, or install docker-registry by hand"
	command -v apt-get >/dev/null 2>&1 ||
		fail "there is no apt-get: install the program registry of the Distribution project by hand"
	! has_systemd || systemctl mask --quiet docker-registry.service
	export DEBIAN_FRONTEND=noninteractive
	said=$(apt-get install --yes --no-install-recommends docker-registry 2>&1 </dev/null) || fail "$said"
}

case $verb in
look) look ;;
start) start ;;
stop)
	check_owner
	! runs_as >/dev/null || echo was_running=yes
	halt
	;;
collect) collect ;;
install) install ;;
remove)
	check_owner
	halt
	! has_unit || rm -f "$unit"
	rm -rf "$home"
	;;
esac
