#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `cp` with real sshds: both ways, by both transports, checked, resumed, and what goes wrong.

load ../cli/helper
load ssh_hosts

setup() {
	common_setup
	ssh_hosts_setup 2
	three
	mkdir there
	head -c 3000000 /dev/urandom >file
	chmod 640 file
}

teardown() {
	umount small 2>/dev/null || true
	ssh_hosts_teardown
}

hosts_by() {
	cluster "key: ed25519, known_hosts: known, transport: $1" "${THREE[@]:0:2}"
}

@test "to hosts and from them, by both transports" {
	for transport in libssh2 openssh; do
		hosts_by $transport
		rm -rf there/* back
		mkdir back
		apart ringup cp file "node01:$PWD/there/"
		says 0
		cmp file there/file
		[ "$(stat -c %a there/file)" = 640 ]
		apart ringup --json cp file "node01:$PWD/there/"
		json 'd["files"][0]["bytes_moved"] == 0 and d["files"][0]["bytes_total"] == 3000000'
		apart ringup cp "@*:$PWD/there/file" back/
		says 0
		cmp file back/file.node01
		cmp file back/file.node02
		apart ringup cp "node02:$PWD/there/file" back/other
		cmp file back/other
		: >empty
		apart ringup cp empty file "node01:$PWD/there/"
		says 0
		[ -f there/empty ] && [ ! -s there/empty ]
		apart ringup cp "node01:$PWD/there/empty" back/
		[ -f back/empty ] && [ ! -s back/empty ]
		[ -z "$(find . -name '*.ringup-part')" ]
	done
}

@test "a file that is replaced keeps its mode and owner, and a link stays a link" {
	for transport in libssh2 openssh; do
		hosts_by $transport
		rm -rf there/*
		echo old >there/secret
		chmod 600 there/secret
		chown 4711:4712 there/secret
		ln -s secret there/link
		apart ringup cp file "node01:$PWD/there/secret"
		says 0
		cmp file there/secret
		[ "$(stat -c '%a %u %g' there/secret)" = '600 4711 4712' ]
		echo new >other
		apart ringup cp other "node01:$PWD/there/link"
		says 0
		[ -L there/link ] && [ "$(cat there/secret)" = new ]
		[ "$(stat -c '%a %u' there/secret)" = '600 4711' ]
	done
}

@test "hosts that share a folder: the file is whole, and what another has moved away is no success" {
	for transport in libssh2 openssh; do
		hosts_by $transport
		for round in 1 2 3; do
			rm -f there/file
			apart ringup cp file "@*:$PWD/there/"
			says 0
			cmp file there/file
		done
		: >empty
		apart ringup cp empty "@*:$PWD/there/file"
		says 0
		[ -f there/file ] && [ ! -s there/file ]
	done
	run sh "$ROOT/deployer/remote/copy_end.sh" "$PWD/there/gone" 640 node01 3000000
	[ "$status" -ne 0 ] && [ ! -e there/gone ]
	printf 12345 >there/gone.node01.ringup-part
	run sh "$ROOT/deployer/remote/copy_end.sh" "$PWD/there/gone" 640 node01 6
	[ "$status" -eq 1 ] && [ ! -e there/gone ] && [[ $output == *"has not the 6 bytes"* ]]
	run sh "$ROOT/deployer/remote/copy_end.sh" "$PWD/there/gone" 640 node01 5
	[ "$status" -eq 0 ] && [ "$(cat there/gone)" = 12345 ]
}

@test "an interrupted copy goes on where it was, and starts anew when the beginning differs" {
	hosts_by auto
	head -c 1000000 file >there/file.node01.ringup-part
	apart ringup --json cp file "node01:$PWD/there/file"
	json 'd["files"][0]["bytes_moved"] == 2000000'
	cmp file there/file
	rm there/file
	head -c 1000000 /dev/urandom >there/file.node01.ringup-part
	apart ringup --json cp file "node01:$PWD/there/file"
	json 'd["files"][0]["bytes_moved"] == 3000000'
	cmp file there/file
	head -c 1234567 file >back.ringup-part
	apart ringup --json cp "node01:$PWD/there/file" back
	json 'd["files"][0]["bytes_moved"] == 3000000 - 1234567'
	cmp file back
}

@test "a large file goes by the system's ssh, also when nothing is open yet" {
	hosts_by auto
	head -c 20000000 /dev/zero >large
	apart ringup -v cp large "node01:$PWD/there/"
	says 0
	cmp large there/large
	apart ringup cp "@*:$PWD/there/large" back
	says 0
	cmp large back.node01
	cmp large back.node02
}

@test "what goes wrong: no folder, no file, a full disk, a folder as a source, neither side on hosts" {
	hosts_by auto
	apart ringup cp file "node01:$PWD/nowhere/file"
	says 1 "there is no folder $PWD/nowhere"
	apart ringup cp "node01:$PWD/nowhere/file" back
	says 1 "there is no file $PWD/nowhere/file"
	apart ringup --json cp "node01:$PWD/nowhere/file" back
	says 1
	json 'd["files"] == [] and d["failed"][0]["host"] == "node01" and "there is no file" in d["failed"][0]["error"]'
	apart ringup cp "node01:$PWD" back
	says 1 "$PWD is a folder; -r copies it with all that is in it"
	[ ! -e back.ringup-part ]
	apart ringup cp there "node01:$PWD/x"
	says 2 'no regular file' 'copied with -r'
	apart ringup cp file there/
	says 2 'neither side is on hosts'
	for transport in libssh2 openssh; do
		hosts_by $transport
		mkdir -p small
		mount -t tmpfs -o size=1m small small
		apart ringup cp file "node01:$PWD/small/file"
		ls small >left
		umount small
		says 1 'No space left on device'
		[ ! -s left ]
	done
}

# a_tree FOLDER: files of several sizes and modes, odd names, links, an empty folder, a folder that may not be written.
a_tree() {
	mkdir -p "$1/a/b" "$1/empty" "$1/closed" "$1/-dash"
	head -c 200000 /dev/urandom >"$1/a/big"
	: >"$1/a/b/none"
	printf 'x' >"$1/-dash/-file"
	printf 'two\n' >"$1/"$'new\nline'
	printf 'three\n' >"$1/"$'\377 "q" \\'
	ln -s ../a/big "$1/a/b/link"
	ln -s /nowhere/at/all "$1/dangling"
	echo closed >"$1/closed/file"
	chmod 751 "$1/a/big"
	chmod 640 "$1/a/b/none"
	touch -d @1500000000 "$1/a/big" "$1/a"
	chmod 555 "$1/closed"
}

# facts FOLDER: kinds, modes, times, links, names and sums of all that is in it.
facts() {
	(cd "$1" && find . -mindepth 1 ! -type l -printf '%y %m %p\n' | sort && find . -type l -printf 'l %p %l\n' | sort &&
		find . -type f -printf '%T@ %p\n' | sed 's/\.[0-9]* / /' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

@test "folders: to hosts and back, by both transports; what is there is not sent again" {
	a_tree tree
	facts tree >before
	for transport in libssh2 openssh; do
		hosts_by $transport
		chmod -R u+w there back 2>/dev/null || true
		rm -rf there/* back
		apart ringup cp -r tree "node01:$PWD/there/"
		says 0
		facts there/tree | diff before -
		apart ringup --json cp -r tree/ "node01:$PWD/there"
		json 'd["files"][0]["bytes_moved"] == 0 and d["files"][0]["bytes_total"] > 200000'
		apart ringup cp -r "@*:$PWD/there/tree/" back
		says 0
		facts back.node01 | diff before -
		facts back.node02 | diff before -
		rm -rf back.node0?
	done
	# one file more, one that differs, one that the target alone has
	echo more >tree/a/more
	printf 'y' >there/tree/-dash/-file
	echo own >there/tree/own
	apart ringup --json cp -r tree "node01:$PWD/there"
	json 'd["files"][0]["bytes_moved"] == 6'
	[ "$(cat there/tree/-dash/-file there/tree/own there/tree/a/more)" = "$(printf 'xown\nmore')" ]
	mkdir back
	apart ringup cp -r "node01:$PWD/there/tree" back
	says 0
	printf 'z' >back/tree/-dash/-file
	apart ringup --json cp -r "node01:$PWD/there/tree" back
	json 'd["files"][0]["bytes_moved"] == 1'
	[ "$(cat back/tree/-dash/-file)" = x ]
}

@test "folders: an interrupted copy goes on with the files that are not there" {
	hosts_by libssh2
	mkdir tree
	for n in $(seq 40); do head -c 100000 /dev/urandom >tree/f"$n"; done
	mkdir -p small
	mount -t tmpfs -o size=2m small small
	apart ringup cp -r tree "node01:$PWD/small/"
	says 1 'No space left on device'
	mount -o remount,size=8m small
	apart ringup --json cp -r tree "node01:$PWD/small/"
	cp -r small/tree came
	umount small
	json '0 < d["files"][0]["bytes_moved"] < 3000000 and d["files"][0]["bytes_total"] == 4000000'
	diff -r tree came
}

@test "folders: one that an interrupted copy made under another name is gone on with, and then is a folder to copy into" {
	hosts_by libssh2
	mkdir tree small
	for n in $(seq 40); do head -c 100000 /dev/urandom >tree/f"$n"; done
	mount -t tmpfs -o size=2m small small
	apart ringup cp -r tree "node01:$PWD/small/all"
	says 1 'No space left on device'
	[ -f small/all.node01.ringup-part ]
	mount -o remount,size=16m small
	apart ringup cp -r tree "node01:$PWD/small/all"
	says 0
	[ ! -e small/all/tree ] && [ ! -e small/all.node01.ringup-part ]
	diff -r tree small/all
	apart ringup cp -r tree "node01:$PWD/small/all"
	says 0
	diff -r tree small/all/tree
	umount small
}

@test "names with line breaks stay what they are" {
	local transport name=$'new\nline'
	echo mine >"$name"
	mkdir "$name.d"
	cp "$name" "$name.d/in"
	for transport in libssh2 openssh; do
		hosts_by $transport
		rm -rf there/*
		echo precious >there/new
		apart ringup cp "$name" "node01:$PWD/there/"
		says 0
		[ "$(cat there/new "there/$name")" = "$(printf 'precious\nmine')" ]
		apart ringup cp file "node01:$PWD/there/$name"
		cmp file "there/$name"
		apart ringup cp -r "$name.d" "node01:$PWD/there"
		says 0
		diff -r "$name.d" "there/$name.d"
		[ "$(cat there/new)" = precious ]
		apart ringup cp "node01:$PWD/there/$name.d/in" "back$name"
		cmp "$name" "back$name"
	done
}

@test "folders: what goes wrong" {
	hosts_by auto
	mkdir tree
	mkfifo tree/pipe
	apart ringup cp -r tree "node01:$PWD/there/"
	says 2 'tree/pipe is neither file, folder nor symbolic link'
	cp -a tree there/
	apart ringup cp -r "node01:$PWD/there/tree" back
	says 1 'neither file, folder nor symbolic link' 'others=1'
	[ ! -e back ]
	apart ringup cp -r "node01:$PWD/nowhere" back
	says 1 "there is no folder $PWD/nowhere"
	rm tree/pipe
	apart ringup cp -r tree "node01:$PWD/nowhere/x"
	says 1 "there is no folder $PWD/nowhere"
	apart ringup cp -r tree "node01:$PWD/file"
	says 1 "$PWD/file is no folder"
}

@test "folders: a host that lies cannot write beside the folder" {
	mkdir -p bin back outside
	cat >bin/evil.py <<-'END'
		import io, os, sys, tarfile
		kind, out = sys.argv[1], sys.stdout.buffer
		tar = tarfile.open(fileobj=out, mode="w|")
		def add(name, type=tarfile.REGTYPE, link="", body=b"evil"):
		    info = tarfile.TarInfo(name)
		    info.type, info.linkname, info.size = type, link, len(body) if type == tarfile.REGTYPE else 0
		    tar.addfile(info, io.BytesIO(body))
		if kind == "up": add("../outside/x")
		if kind == "absolute": add(os.environ["OUTSIDE"] + "/x")
		if kind == "link":
		    add("a", tarfile.SYMTYPE, os.environ["OUTSIDE"])
		    add("a/x")
		if kind == "device": add("a", tarfile.CHRTYPE)
		if kind == "hard": add("a", tarfile.LNKTYPE, "/etc/passwd")
		if kind == "other": add("b")
		if kind == "whiteout": add(".wh.keep")
		tar.close()
	END
	# the host's tar is this one; its find names what the test says
	cat >bin/tar <<-END
		#!/bin/sh
		cat >/dev/null
		OUTSIDE=$PWD/outside exec python3 $PWD/bin/evil.py "\$(cat $PWD/kind)"
	END
	cat >bin/find <<-END
		#!/bin/sh
		case " \$* " in *" ! "*) ;; *) tr '\\n' '\\0' <$PWD/names ;; esac
	END
	chmod +x bin/tar bin/find
	start_sshd 5 -o "SetEnv=PATH=$PWD/bin:/usr/bin:/bin"
	trust 127.0.0.5
	cluster "key: ed25519, known_hosts: known, transport: libssh2" "address: 127.0.0.5, name: node05, port: $PORT"
	echo mine >back/keep
	try() {
		echo "$1" >kind
		printf '%s\n' "${@:2}" >names
		apart ringup cp -r "node05:$PWD/there" back/
		[ "$status" != 0 ] || { echo "$1 was taken"; return 1; }
		[ -z "$(ls -A outside)" ] && [ "$(cat back/keep)" = mine ] || { find . ; return 1; }
	}
	try up ../outside/x
	says 1 'which leaves it'
	try up a
	says 1 'was not asked for'
	try absolute a
	try absolute "$PWD/outside/x"
	try link a a/x
	try device a
	says 1 'other than file, folder or link'
	try hard a
	says 1 'was not asked for'
	try other a
	says 1 "'b', which was not asked for"
	try whiteout .wh.keep
	says 1 'marks a removed file'
	try nothing a
	says 1 'a of '"$PWD/there"' did not come'
}

@test "the scripts of a copy: sums at the borders of pieces, from any offset, in each shell" {
	local shell size offset scripts="$BATS_TEST_DIRNAME/../../deployer/remote" sum
	for size in 5 33554432 33554433; do
		head -c "$size" /dev/urandom >file
		for offset in 0 5 33554432; do
			((offset <= size)) || continue
			tail -c "+$((offset + 1))" file >rest
			sum=$(sha256sum <rest | cut -d' ' -f1)
			for shell in dash bash "busybox sh"; do
				head -c "$offset" file >new.h.ringup-part
				[ "$($shell "$scripts/copy_in.sh" new "$offset" h <rest)" = "sum=$sum" ]
				cmp file new.h.ringup-part
				$shell "$scripts/copy_out.sh" file "$offset" >out.rest 2>said
				cmp rest out.rest
				[ "$(cat said)" = "sum=$sum" ]
			done
		done
	done
}
