#!/bin/sh
# SPDX-License-Identifier: MIT
# Brings the files of a folder into TARGET: sync.sh TARGET OLD NEW LOOK, with a tar on stdin, in a container or on
# a host. OLD and NEW are digests of lists of files: the tar holds what differs between the two ("none": nothing
# is there). LOOK is `look` to see first whether the files are still as the last sync left them.
# Prints same=1 when TARGET has NEW already, or removed=N when it has now. Status 76: TARGET has not OLD; it
# prints have=DIGEST, and changed=LINE for files that somebody changed there.
# TARGET/.ringup-sync is the record: digest (absent while files are moved), paths (of all that a sync brought, a
# folder's with '/' at its end, escaped as in listing.h), names (the same for xargs -0), stat (of the files as they
# were left), coming (paths that an interrupted sync may have brought).
# The tar has lists/paths, lists/names, lists/work ("d FOLDER", then "f NAME" for each file in it) and tree/.
set -u
target=$1 old=$2 new=$3 look=$4
export LC_ALL=C
umask 022
record=.ringup-sync
stage=
locked=

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

read_digest() {
	have=$(cat "$record/digest" 2>/dev/null) || have=none
	[ -n "$have" ] || have=none
}

# What the files that a sync brought are like now. Without stat or xargs -0 this is nothing, before and after.
describe() {
	xargs -0 stat -c '%i %s %Y %Z %n' <"$record/names" 2>/dev/null
}

refuse() {
	printf 'have=%s\n' "$have"
	[ -z "$changed" ] || printf '%s\n' "$changed" | sed 's/^/changed=/'
	exit 76
}

same() {
	echo same=1
	exit 0
}

# A process of this host that has ended: its name is HOST.PID.
is_gone() {
	[ "${1%.*}" = "$(uname -n)" ] && ! kill -0 "${1##*.}" 2>/dev/null
}

clean_up() {
	[ -z "$stage" ] || rm -rf "$stage"
	[ -z "$locked" ] || rm -f "$record/lock"
}

receive() {
	for left in "$record"/stage.*; do
		[ ! -d "$left" ] || ! is_gone "${left#"$record/stage."}" || rm -rf "$left"
	done
	stage=$record/stage.$(uname -n).$$
	mkdir -m 700 "$stage" || exit 1
	tar -x -o -p -f - -C "$stage" || fail "the files cannot be unpacked in $target"
	[ -f "$stage/lists/work" ] || fail "not all files came"
}

# Several hosts may share TARGET. The link's text says who has the lock.
lock() {
	tries=0
	until ln -s "$(uname -n).$$" "$record/lock" 2>/dev/null; do
		holder=$(readlink "$record/lock" 2>/dev/null) || continue
		if is_gone "$holder"; then
			rm -f "$record/lock"
			continue
		fi
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "another sync ($holder) is at work in $target; if there is none, remove $target/$record/lock"
		sleep 0.1 2>/dev/null || sleep 1
	done
	locked=1
}

# Sets $name to an escaped name. The dot keeps a newline at its end.
unescape() {
	case $1 in
		*\\*)
			name=$(printf '%b.' "$1")
			name=${name%.}
			;;
		*) name=$1 ;;
	esac
}

# Whether all parts of a folder's path are folders here, and none is a link to another place.
is_inside() {
	[ "$1" != "$known" ] || return "$known_status"
	known=$1 known_status=1 part='' rest=$1/
	while [ -n "$rest" ]; do
		part=$part${rest%%/*}
		rest=${rest#*/}
		[ ! -L "./$part" ] && [ -d "./$part" ] || return 1
		part=$part/
	done
	known_status=0
}

# Removes what earlier syncs brought and is not in the new list: files, then folders that are empty now.
remove_gone() {
	: >"$stage/folders"
	removed=0 known='' known_status=0
	set --
	while IFS= read -r line; do
		case $line in
			*/) printf '%s\n' "$line" >>"$stage/folders" ; continue ;;
		esac
		unescape "$line"
		case $name in
			*/*) is_inside "${name%/*}" || continue ;;
		esac
		removed=$((removed + 1))
		set -- "$@" "./$name"
		[ $# -lt 100 ] || { rm -f -- "$@" 2>/dev/null; set --; }
	done <"$stage/gone"
	[ $# = 0 ] || rm -f -- "$@" 2>/dev/null
	sort -r "$stage/folders" | while IFS= read -r line; do
		unescape "${line%/}"
		is_inside "$name" && rmdir -- "./$name" 2>/dev/null
	done
	return 0
}

enter() {
	[ ! -L "./$1" ] || fail "$target/$1 is a link there, and a folder here: ringup writes through no link; remove it there"
	[ -d "./$1" ] || mkdir -- "./$1" || fail "the folder $target/$1 cannot be made"
}

put() {
	[ $# -lt 2 ] || mv -f -- "$@" || fail "the files cannot be put into $target"
}

move_files() {
	folder=./
	set --
	while IFS= read -r line; do
		unescape "${line#??}"
		case $line in
			"d "*)
				put "$@" "$folder"
				set --
				[ "$name" = . ] || enter "$name"
				folder=./$name/
				;;
			*)
				set -- "$@" "$stage/tree/$folder$name"
				[ $# -lt 100 ] || { put "$@" "$folder"; set --; }
				;;
		esac
	done <"$stage/lists/work"
	put "$@" "$folder"
}

apply() {
	touch "$record/paths" "$record/coming" || exit 1
	sort -u "$record/coming" "$stage/lists/paths" >"$stage/coming" &&
		mv -f "$stage/coming" "$record/coming" || exit 1
	rm -f "$record/digest"
	# a line of the new list stands there at least twice
	sort -u "$record/paths" "$record/coming" | sort - "$stage/lists/paths" "$stage/lists/paths" | uniq -u >"$stage/gone" || exit 1
	remove_gone
	move_files
	mv -f "$stage/lists/paths" "$stage/lists/names" "$record/" || exit 1
	rm -f "$record/coming"
	describe >"$stage/stat"
	printf '%s\n' "$new" >"$stage/digest"
	mv -f "$stage/stat" "$stage/digest" "$record/" || exit 1
	echo "removed=$removed"
}

mkdir -p -- "$target" && cd -- "$target" || exit 1
[ ! -L $record ] || fail "$target/$record is a link; remove it"
mkdir -p $record || exit 1
for tool in tar sort uniq; do
	command -v $tool >/dev/null || fail "there is no '$tool' in the image, which --sync needs; add it to image.apt"
done
trap clean_up EXIT
trap 'exit 1' HUP INT TERM PIPE
changed=
read_digest
if [ "$look" = look ] && [ "$have" != none ]; then
	changed=$(describe | sort - "$record/stat" | uniq -u | head -n 400)
	[ "$have" != "$new" ] || [ -n "$changed" ] || same
fi
[ "$have$changed" = "$old" ] || refuse
receive
lock
read_digest
[ "$have" != "$new" ] || [ "$old" = "$new" ] || same
[ "$have" = "$old" ] || refuse
apply
