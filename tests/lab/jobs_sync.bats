#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run --sync' on two loopback hosts: what arrives, what is sent again, and what is left alone.

load helper

setup_file() {
	lab_cluster 2 --loopback
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
	rm -rf code
	# Each test has a name, and so a target, of its own.
	CODE=code$BATS_TEST_NUMBER
	mkdir -p "$CODE/pkg"
	echo 'print(1)' >"$CODE/train.py"
	echo a >"$CODE/pkg/a.py"
	ln -s ../train.py "$CODE/pkg/link.py"
	settle
}

# A file that was changed a moment before is sent twice; so the tests wait that moment.
settle() {
	sleep 0.1
}

# sync [WORDS...]: a job with --sync that does nothing else; what it says is in said.
sync_code() {
	status=0
	ringup run --sync "$CODE" -n 2 --ppn 1 "$@" >said 2>&1 3>&- 4>&- || status=$?
	cat said
}

job_true() {
	sync_code "$@" -- true
	[ "$status" = 0 ]
}

# Where the folder is on a host.
at() {
	echo "$LAB/.ringup/lab/$1/state/ringup/lab/sync/$CODE"
}

# All hosts have what the folder has, and nothing else but the record.
same_everywhere() {
	local host
	for host in $(hosts); do
		diff -r --no-dereference "$CODE" "$(at "$host")" -x .ringup-sync "$@" || return
		[ "$(files "$CODE")" = "$(files "$(at "$host")")" ] || { files "$(at "$host")"; return 1; }
	done
}

# Names, modes and times, but not of folders and links.
files() {
	(cd "$1" && find . -path ./.ringup-sync -prune -o -type f -printf '%p %m %Ts\n' | sort)
}

@test "the first sync brings all, and the command runs there; the second brings nothing" {
	chmod 755 "$CODE/train.py"
	touch -d '2001-02-03 04:05:06' "$CODE/pkg/a.py"
	mkdir "$CODE/empty"
	settle
	# shellcheck disable=SC2016 # the ranks' own variables
	sync_code -- sh -c 'pwd; cat train.py pkg/link.py; test -x train.py; test -d empty'
	[ "$status" = 0 ]
	grep -q 'sync: 3 of 3 files (.*) brought to 2 hosts, 0 removed' said
	grep -q "the command runs in $(at node01)" said
	for i in 0 1; do
		grep -qF "[$i node0$((i + 1))] $(at "node0$((i + 1))")" said
	done
	[ "$(grep -c 'print(1)' said)" = 4 ]
	same_everywhere
	job_true
	grep -q 'sync: nothing changed in 3 files' said
	# the working folder may lie below, or elsewhere
	sync_code --workdir pkg -- cat a.py
	[ "$(grep -c '] a$' said)" = 2 ]
	sync_code --workdir / -- pwd
	[ "$(grep -c '] /$' said)" = 2 ]
}

@test "what changed is sent, what is gone is removed, what others put there stays" {
	job_true
	echo 'print(2)' >"$CODE/train.py"
	echo new >"$CODE/pkg/new.py"
	settle
	job_true
	grep -q 'sync: 2 of 4 files' said
	same_everywhere
	echo theirs >"$(at node02)/output.bin"
	echo theirs >"$(at node02)/pkg/output.bin"
	rm -r "$CODE/pkg"
	job_true
	grep -q 'sync: 0 of 1 files .* brought to 2 hosts, 3 removed' said
	[ ! -e "$(at node01)/pkg" ]
	[ "$(cat "$(at node02)/output.bin" "$(at node02)/pkg/output.bin")" = "theirs
theirs" ]
	[ ! -e "$(at node02)/pkg/a.py" ]
	rm "$(at node02)/output.bin" "$(at node02)/pkg/output.bin"
	# a file becomes a folder, and a folder a file
	rm "$CODE/train.py"
	mkdir "$CODE/train.py"
	echo x >"$CODE/train.py/x"
	rmdir "$(at node02)/pkg"
	echo file >"$CODE/pkg"
	settle
	job_true
	same_everywhere
}

@test "excluded files stay here, and are not removed there" {
	mkdir -p "$CODE/.git" "$CODE/pkg/__pycache__" "$CODE/data" "$CODE/.ringup/keys"
	touch "$CODE/.git/x" "$CODE/pkg/__pycache__/a.pyc" "$CODE/data/big" "$CODE/.ringup/keys/secret" "$CODE/a.log" "$CODE/keep.log"
	printf '/data/\n*.log\n!keep.log\n!.ringup\n' >"$CODE/.ringupignore"
	settle
	job_true
	[ "$(cd "$(at node01)" && find . -path ./.ringup-sync -prune -o -type f -print | sort | xargs)" = \
		"./.ringupignore ./keep.log ./pkg/a.py ./train.py" ]
	mkdir "$(at node02)/data"
	echo theirs >"$(at node02)/data/big"
	job_true
	grep -q 'nothing changed' said
	[ "$(cat "$(at node02)/data/big")" = theirs ]
}

@test "links that lead out, pipes: a warning, and the rest arrives; names of any bytes" {
	ln -s /etc/passwd "$CODE/out"
	ln -s ../../x "$CODE/pkg/out"
	mkfifo "$CODE/pipe"
	touch "$CODE/two"$'\n'"lines" "$CODE/back\\slash" "$CODE/bad"$'\xff' "$CODE/-rf" "$CODE/ blank " "$CODE/tab"$'\t'
	settle
	job_true
	[ "$(grep -c 'left out: .*a link that leads out of the folder' said)" = 2 ]
	grep -q 'left out: pipe: ' said
	same_everywhere -x out -x pipe
	rm "$CODE/two"$'\n'"lines" "$CODE/back\\slash" "$CODE/bad"$'\xff' "$CODE/-rf" "$CODE/ blank " "$CODE/tab"$'\t'
	job_true
	same_everywhere -x out -x pipe
}

@test "no link on the host leads anything out of the target" {
	job_true
	mkdir -p "$LAB/elsewhere"
	echo theirs >"$LAB/elsewhere/a.py"
	# one leads the folder away, with a file that would be overwritten
	rm -r "$(at node02)/pkg"
	ln -s "$LAB/elsewhere" "$(at node02)/pkg"
	echo b >"$CODE/pkg/a.py"
	settle
	sync_code -- true
	[ "$status" != 0 ]
	grep -q 'node02: .*pkg is a link there, and a folder here' said
	[ "$(ls -A "$LAB/elsewhere")" = a.py ]
	[ "$(cat "$LAB/elsewhere/a.py")" = theirs ]
	# nor are files removed behind it
	rm -r "$CODE/pkg"
	job_true
	[ "$(cat "$LAB/elsewhere/a.py")" = theirs ]
	# a link in a file's place is replaced, and what it leads to stays
	ln -sf "$LAB/elsewhere/a.py" "$(at node01)/train.py"
	echo 'print(3)' >"$CODE/train.py"
	settle
	job_true
	[ ! -L "$(at node01)/train.py" ]
	[ "$(cat "$LAB/elsewhere/a.py")" = theirs ]
	# the record itself
	rm -rf "$(at node01)/.ringup-sync"
	ln -s "$LAB/elsewhere" "$(at node01)/.ringup-sync"
	sync_code -- true
	[ "$status" != 0 ]
	grep -q 'node01: .*/.ringup-sync is a link; remove it' said
	[ "$(ls -A "$LAB/elsewhere")" = a.py ]
}

@test "a new container gets everything; what somebody changed there is mended" {
	job_true
	rm -rf "$(at node02)"
	job_true
	grep -q 'sync: 3 of 3 files .* brought to 1 hosts' said
	same_everywhere
	rm "$(at node01)/pkg/a.py"
	echo theirs >"$(at node02)/train.py"
	job_true
	grep -q 'sync: 1 of 3 files .* brought to 2 hosts' said
	same_everywhere
	# this side forgot what it sent
	rm -rf .ringup/sync
	rm "$CODE/pkg/a.py"
	job_true
	grep -q 'brought to 2 hosts, 1 removed' said
	same_everywhere
	job_true
	grep -q 'nothing changed' said
}

@test "an interrupted sync is mended by the next one" {
	job_true
	# it was killed after it moved the first files: the digest is not there yet, but the list of what was coming
	for host in $(hosts); do
		rm "$(at "$host")/.ringup-sync/digest"
		echo half.py >"$(at "$host")/.ringup-sync/coming"
		echo half >"$(at "$host")/half.py"
		mkdir "$(at "$host")/.ringup-sync/stage.$(uname -n).999999999"
	done
	ln -s "$(uname -n).999999999" "$(at node01)/.ringup-sync/lock"
	job_true
	same_everywhere
	[ "$(cd "$(at node01)" && ls .ringup-sync | xargs)" = "digest names paths stat" ]
	job_true
	grep -q 'nothing changed' said
	# a tar that breaks off changes nothing
	before=$(files "$(at node01)")
	digest=$(cat "$(at node01)/.ringup-sync/digest")
	tar -cf - "$CODE" | head -c 700 | run sh "$BATS_TEST_DIRNAME/../../deployer/remote/sync.sh" "$(at node01)" "$digest" sha256:x ''
	[ "$(files "$(at node01)")" = "$before" ]
	[ "$(cat "$(at node01)/.ringup-sync/digest")" = "$digest" ]
}

@test "hosts that share the target, and two runs at once" {
	target=$LAB/shared
	for i in 1 2; do
		ringup run --sync "$CODE:$target" -n 2 --ppn 1 -- cat pkg/a.py >"said$i" 2>&1 3>&- 4>&- &
	done
	wait
	for i in 1 2; do
		[ "$(grep -c '] a$' "said$i")" = 2 ] || { cat "said$i"; false; }
	done
	diff -r -x .ringup-sync --no-dereference "$CODE" "$target"
	[ "$(ls -A "$target/.ringup-sync" | xargs)" = "digest names paths stat" ]
}

@test "a file that never stops changing is sent with a warning, and again next time" {
	python3 -c '
import os, sys, time
while os.getppid() > 1:
    with open(sys.argv[1], "r+b") as f:
        f.write(os.urandom(9))
    time.sleep(0.0005)' "$CODE/train.py" 3>&- 4>&- &
	writer=$!
	cp "$CODE/train.py" before
	while cmp -s "$CODE/train.py" before; do sleep 0.02; done # it has begun
	sync_code -- true
	kill "$writer"
	wait "$writer" || true
	[ "$status" = 0 ]
	settle
	job_true
	grep -q 'sync: 1 of 3 files' said
	same_everywhere
}

@test "what cannot be: an error that says so" {
	for words in "none" "$CODE/train.py" "$CODE:/" "/"; do
		status=0
		ringup run --sync "$words" -- true 2>err 3>&- 4>&- || status=$?
		[ "$status" = 2 ]
		grep -q -- "--sync $words: " err
	done
	mkdir "$CODE/data"
	truncate -s 2G "$CODE/data/x"
	sync_code -- true
	[ "$status" = 2 ]
	grep -q 'the largest parts are data (2.0 GiB' said
	rm -r "$CODE/data"
	# a folder of theirs, where a file has to go
	job_true
	rm "$(at node02)/train.py"
	mkdir -p "$(at node02)/train.py/theirs"
	echo 'print(4)' >"$CODE/train.py"
	settle
	sync_code -- true
	[ "$status" != 0 ]
	grep -q 'node02: the files cannot be brought there: .*train.py' said
	[ -d "$(at node02)/train.py/theirs" ]
	rm -r "$(at node02)/train.py"
	job_true
	same_everywhere
}

@test "--dry-run says where it would run, and sends nothing" {
	ringup run --sync "$CODE" --dry-run -n 1 -- true >out 3>&- 4>&-
	grep -q "^node01: cd FOLDER/sync/$CODE; env " out
	[ ! -e "$(at node01)" ]
}

@test "an image needs little: sh, tar and the common small tools; without stat, files that somebody changed are not seen" {
	mkdir bin new new/lists new/tree
	for tool in sh tar sort uniq cat mkdir rmdir rm mv ln touch head sed uname readlink sleep; do
		ln -s "$(command -v $tool)" bin/
	done
	script=$BATS_TEST_DIRNAME/../../deployer/remote/sync.sh
	receive=(env -i "PATH=$PWD/bin" sh "$script" "$PWD/there")
	echo 1 >new/tree/a
	echo a >new/lists/paths
	printf './a\0' >new/lists/names
	printf 'd .\nf a\n' >new/lists/work
	[ "$(tar -C new -cf - lists tree | "${receive[@]}" none sha256:1 look)" = removed=0 ]
	[ "$("${receive[@]}" sha256:1 sha256:1 look </dev/null)" = same=1 ]
	echo 2 >there/a
	[ "$("${receive[@]}" sha256:1 sha256:1 look </dev/null)" = same=1 ]
	run "${receive[@]}" sha256:0 sha256:2 look </dev/null
	[ "$status" = 76 ]
	[ "$output" = have=sha256:1 ]
	rm bin/tar
	run "${receive[@]}" sha256:1 sha256:2 look </dev/null
	[ "$status" = 1 ]
	[[ $output == *"there is no 'tar' in the image"* ]]
}

@test "files do not change under a job that runs with them" {
	job_true
	ringup -q run -d --name user -n 1 --ppn 1 --sync "$CODE" -- sleep 300 3>&- 4>&-
	sync_code -- true # nothing changes
	[ "$status" = 0 ]
	echo 'print(2)' >"$CODE/train.py"
	settle
	sync_code -- true
	[ "$status" = 2 ]
	grep -q "the job 'user' runs with what is in" said
	[ "$(cat "$(at node01)/train.py")" = 'print(1)' ]
	sync_code -H node02 -n 1 -- true # the job is on another host
	[ "$status" = 0 ]
	ringup -q stop user
	job_true
	same_everywhere
}
