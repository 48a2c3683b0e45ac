#!/bin/sh
# SPDX-License-Identifier: MIT
# Collects this machine's OpenSSH, server and client, with the libraries and the loader that they and other programs
# need: collect.sh FOLDER [PROGRAM...]
# An image without an sshd of its own runs these (images/entry/ringup-entry). They look at none of the image's libraries,
# so the image may have any other C library. A machine without sshd, and one whose sshd hands each connection to another
# program (OpenSSH 9.8 and newer), which the loader would not start, gives no folder and says so.
set -eu
to=$1 server=/usr/sbin/sshd
shift
others=$*

give_up() {
	echo "ssh: $*: images without an sshd of their own get none from here" >&2
	exit 0
}

[ -x "$server" ] || give_up "$server is missing"
version=$("$server" -V 2>&1 | sed -n 's/.*OpenSSH_\([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
# shellcheck disable=SC2086 # two words
set -- ${version:-0 0}
[ "$1" -gt 0 ] || give_up "$server is no OpenSSH"
[ $(($1 * 100 + $2)) -lt 908 ] || give_up "$server is OpenSSH $1.$2"

new=$to.new
rm -rf "$new"
mkdir -p "$new"
cp -L "$server" "$(command -v ssh)" "$new/"
# shellcheck disable=SC2086 # make's words
for program in "$server" "$(command -v ssh)" $others; do
	ldd "$program" | sed -n 's/^[^/]*\(\/[^ ]*\) (.*/\1/p'
done | sort -u | while read -r library; do
	case $library in
		*/ld-linux* | */ld64* | */ld-musl*) cp -L "$library" "$new/loader" ;;
		*) cp -L "$library" "$new/" ;;
	esac
done
[ -x "$new/loader" ] || give_up "$server has no loader"
# the client, for PATH: what a container calls ssh
cat >"$new/client" <<'END'
#!/bin/sh
here=/usr/local/lib/ringup/ssh
unset LD_PRELOAD LD_LIBRARY_PATH
exec "$here/loader" --library-path "$here" "$here/ssh" "$@"
END
chmod 755 "$new"/*
rm -rf "$to"
mv "$new" "$to"
