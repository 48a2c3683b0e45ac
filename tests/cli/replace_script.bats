#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/replace.sh with a stand-in for the engine (the lab's tests have the real one): what becomes of the
# old container when the new one starts, does not start, dies, or has an sshd that lets nobody in.

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p bin names state/ssh
	# a container is a file of its name: its id and whether it runs
	cat >bin/engine <<-'END'
		#!/bin/sh
		# stand-in: NEW says what becomes of a new container
		case $1 in
			stop) [ -e "names/$2" ] && sed -i 's/true/false/' "names/$2" ;;
			start) sed -i 's/false/true/' "names/$2" ;;
			rename) [ -e "names/$2" ] && [ ! -e "names/$3" ] && mv "names/$2" "names/$3" ;;
			remove) rm -f "names/$2" ;;
			run)
				[ ! -e names/own ] || { echo 'is already in use by container' >&2; exit 125; }
				[ "${NEW:-}" != dies ] && running=true || running=false
				printf 'container_id=new\ncontainer_running=%s\ncontainer_exit=7\n' $running >names/own
				[ "${NEW:-}" != refused ] || { echo 'bad rlimit' >&2; exit 125; }
				echo new ;;
			state) cat "names/$2" 2>/dev/null ;;
			logs) echo 'last words' >&2 ;;
			has_ssh) [ "${NEW:-}" != bare ] ;;
			prove) [ "${NEW:-}" = '' ] || { echo 'own: closed'; exit 1; } ;;
		esac
	END
	printf '#!/bin/sh\n' >bin/sleep
	chmod +x bin/*
	export PATH=$PWD/bin:$PATH
	echo old-files >state/ssh/sshd_config
}

old() {
	printf 'container_id=old\ncontainer_running=%s\n' "$2" >"names/$1"
}

# The old one has the name `own` on this stand-in, so its id is its name.
replace() {
	sh "$BATS_TEST_DIRNAME/../../deployer/remote/replace.sh" "folder=$PWD/state" 'stop=engine stop own' \
		'rename=engine rename own aside' 'stop_aside=engine stop aside' 'remove_aside=engine remove aside' \
		'back=engine rename aside own' 'start=engine start own' 'run=engine run' 'state=engine state own' \
		'logs=engine logs own' 'remove=engine remove own' 'has_ssh=engine has_ssh' 'prove=engine prove' "$@" 2>err
}

# as_received: the new files are there, and the old ones are kept beside them.
as_received() {
	cp -a state/ssh state/ssh.before
	echo new-files >state/ssh/sshd_config
}

is_back() {
	[ "$(ls names)" = own ]
	grep -qx container_id=old names/own
	grep -qx container_running="$1" names/own
	[ "$(cat state/ssh/sshd_config)" = old-files ] && [ ! -e state/ssh.before ]
}

@test "replace: nothing was there: the new one starts" {
	run replace old= ran=
	[ "$status" = 0 ]
	[[ "$output" == new_id=new$'\n'*container_running=true* ]]
	[ "$(ls names)" = own ]
	# nor can anything be aside where nothing of the cluster was
	rm names/own
	NEW=refused run replace old= ran= stop_aside=
	[ "$status" = 1 ]
	[ "$output" = failed=run ]
}

@test "replace: the old one goes when the new one lets a login in" {
	old own true && as_received
	run replace old=yes ran=yes
	[ "$status" = 0 ]
	[ "$(ls names)" = own ] && grep -qx container_id=new names/own
	[ "$(cat state/ssh/sshd_config)" = new-files ] && [ ! -e state/ssh.before ]
}

@test "replace: the new one cannot start: the old one is back with its files, and runs" {
	old own true && as_received
	NEW=refused run replace old=yes ran=yes
	[ "$status" = 1 ]
	[ "$output" = failed=run$'\n'back=yes ] && [ "$(cat err)" = 'bad rlimit' ]
	is_back true
}

@test "replace: an old one that did not run is put back as it was" {
	old own false && as_received
	NEW=refused run replace old=yes ran=
	[ "$output" = failed=run$'\n'back=stopped ]
	is_back false
}

@test "replace: the new one dies: its status and last words are said, the old one is back" {
	old own true && as_received
	NEW=dies run replace old=yes ran=yes
	[ "$output" = container_exit=7$'\n'failed=died$'\n'back=yes ]
	is_back true
}

@test "replace: its sshd lets nobody in: the reason is said, the old one is back" {
	old own true && as_received
	NEW=closed run replace old=yes ran=yes
	[ "$output" = failed=sshd$'\n'back=yes ] && [ "$(cat err)" = 'own: closed' ]
	is_back true
}

@test "replace: an image without ssh only has to go on running" {
	old own true
	NEW=bare run replace old=yes ran=yes
	[ "$status" = 0 ] && grep -qx container_id=new names/own
}

@test "replace: what an interrupted run has set aside is put back, or removed in the end" {
	old aside true
	NEW=refused run replace old= ran=
	[ "$output" = failed=run$'\n'back=yes ] && grep -qx container_id=old names/own
	mv names/own names/aside
	run replace old= ran=
	[ "$status" = 0 ] && [ "$(ls names)" = own ] && grep -qx container_id=new names/own
}

@test "replace: a container that somebody else made meanwhile stays" {
	old own true
	run replace old= ran=
	[ "$status" = 1 ]
	[ "$output" = failed=run ] && grep -q 'already in use' err
	grep -qx container_id=old names/own
}

@test "replace: a second one waits until the first, whose ringup is gone, has ended" {
	old own true && as_received
	exec 8<state
	flock 8
	sh -c 'echo waits; echo $$ >pid; exec sh "$0" "$@"' "$BATS_TEST_DIRNAME/../../deployer/remote/replace.sh" "folder=$PWD/state" \
		'state=engine state own' 'run=engine run' old= ran= 'stop_aside=false' >out 2>err 3>&- 8<&- &
	until [ -s pid ]; do :; done
	/bin/sleep 0.3
	kill -0 "$(cat pid)"
	grep -qx container_id=old names/own
	rm names/own # the first one is done
	flock -u 8
	wait $!
	grep -qx new_id=new out
}

@test "replace: nobody listens any more: the old one is put back all the same" {
	old own true && as_received
	NEW=refused replace old=yes ran=yes | true
	wait_until() { local i; for ((i = 0; i < 100; i++)); do ! "$@" || return 0; /bin/sleep 0.05; done; return 1; }
	wait_until is_back true
}
