#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts the cluster's container, in place of an old one if there is one: replace.sh WORD=VALUE...
# The old container is stopped and set aside under another name. It is removed when the new one has proved itself: it
# runs, and its sshd lets it in. If the new one fails, it is removed, and the old one gets its name back and goes on.
# The words are old (yes: there is one), ran (yes: it was running) and folder, the cluster's on this host, where the
# old container's files lie in ssh.before (receive.sh keeps them); the others are lines of the engine's record,
# which ringup has quoted: stop and rename for the old one; stop_aside, remove_aside, back and start for the one that
# is set aside, which an interrupted run may have left (stop_aside is empty where there was none); run, state, logs and remove for the new one; has_ssh and
# prove, which run in it.
# With restart, that line is run instead: the container that is there starts again, and proves itself.
# Prints the new container's id and state as key=value lines. After a failure it prints failed=run, failed=died or
# failed=sshd, and back=yes, back=stopped (the old one did not run before either), back=died, back=no (it cannot be
# put back) or nothing when there is no old one; standard error has the reason. The status is 1 then.
set -u
# When ringup or the connection is gone nobody reads what is said, and the work is finished all the same.
trap '' HUP PIPE
old='' ran='' folder='' stop='' rename='' stop_aside='' remove_aside='' back='' start=''
restart='' run='' state='' logs='' remove='' has_ssh='' prove=''
for word; do
	value=${word#*=}
	case $word in
	old=*) old=$value ;; ran=*) ran=$value ;; folder=*) folder=$value ;; stop=*) stop=$value ;; rename=*) rename=$value ;;
	stop_aside=*) stop_aside=$value ;; remove_aside=*) remove_aside=$value ;;
	back=*) back=$value ;; start=*) start=$value ;; restart=*) restart=$value ;; run=*) run=$value ;; state=*) state=$value ;;
	logs=*) logs=$value ;; remove=*) remove=$value ;; has_ssh=*) has_ssh=$value ;; prove=*) prove=$value ;;
	esac
done

# Podman's monitor of a container would keep the lock as long as the container runs.
quietly() {
	sh -c "$1" >/dev/null 2>&1 </dev/null 9<&-
}

# Sets the old one aside; one that is gone meanwhile is no old one any more.
set_aside() {
	if [ "$old" = yes ]; then
		quietly "$remove_aside"
		quietly "$stop"
		quietly "$rename" || old=''
	elif [ -n "$stop_aside" ] && quietly "$stop_aside"; then
		old=yes ran=yes
	fi
}

# Into the same folder, since containers have it mounted.
put_files_back() {
	[ -d "$folder/ssh.before" ] || return 0
	mv -f "$folder"/ssh.before/* "$folder/ssh/" && rmdir "$folder/ssh.before"
}

put_back() {
	[ "$old" = yes ] || return
	put_files_back
	if ! quietly "$back"; then
		echo back=no
	elif [ "$ran" != yes ]; then
		echo back=stopped
	elif quietly "$start" && sleep 0.5 && is_running; then
		echo back=yes
	else
		echo back=died
	fi
}

failed() {
	echo "failed=$1"
	[ -z "$old" ] || quietly "$remove"
	put_back
	exit 1
}

is_running() {
	sh -c "$state" 2>/dev/null | grep -qx container_running=true
}

# Its sshd needs a moment to start. An image without an ssh client is only watched.
prove_itself() {
	tries=0
	if ! quietly "$has_ssh"; then
		sleep 0.6
		is_running && return
		died
	fi
	until said=$(sh -c "$prove" 2>&1 </dev/null); do
		is_running || died
		tries=$((tries + 1))
		if [ "$tries" -ge 20 ]; then
			printf '%s\n' "$said" >&2
			failed sshd
		fi
		sleep 0.5
	done
}

died() {
	sh -c "$state" 2>/dev/null | grep '^container_exit='
	sh -c "$logs" >&2 2>&1 </dev/null
	failed died
}

# A run that was interrupted may still be at work here.
if command -v flock >/dev/null 2>&1 && [ -d "$folder" ]; then
	exec 9<"$folder"
	flock 9
fi
if [ -n "$restart" ]; then
	sh -c "$restart" >/dev/null </dev/null 9<&- || failed run
	prove_itself
	sh -c "$state" 2>/dev/null
	exit 0
fi
set_aside
# A name that somebody else took meanwhile is theirs: then nothing is removed.
! quietly "$state" || remove=true
id=$(sh -c "$run" </dev/null 9<&-) || failed run
[ "$old" != yes ] || prove_itself
[ "$old" != yes ] || quietly "$remove_aside"
rm -rf "$folder/ssh.before"
printf 'new_id=%s\n' "$id"
sh -c "$state" 2>/dev/null
exit 0
