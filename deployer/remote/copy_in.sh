#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the rest of a file from its input: copy_in.sh PATH OFFSET HOST. What was there before OFFSET has been compared. Prints the
# sum of what came. The file gets its name by copy_end.sh, once the sums agree.
# A piece is read again for the sum while the next one is written: tee(1) writes both in bits of 8 KiB, and takes twice the time.
# The sum of the input: OpenSSL's is several times as fast where coreutils do not use the processor's own instructions.
sum() { if command -v openssl >/dev/null; then openssl dgst -sha256 -r; else sha256sum; fi | cut -d' ' -f1; }
umask 077
part=$1.$3.ringup-part offset=$2
piece=256 # of 128 KiB, which stay in the cache of a core

# Writes the pieces, and prints a line for each.
pieces() {
	have=$offset
	while dd bs=131072 count=$piece iflag=fullblock status=none >>"$part"; do
		size=$(wc -c <"$part")
		[ "$size" -eq "$have" ] || echo written
		[ $((size - have)) -eq $((piece * 131072)) ] || return 0
		have=$size
	done
	echo "cannot write $part" >&2
	echo failed >&4
	rm -f "$part"
}

# Prints each piece that is written, from one descriptor, which goes on where the piece before ended.
again() {
	read -r _ || return 0
	exec 5<&0 <"$part"
	dd bs=1 skip="$offset" count=0 status=none
	while dd bs=131072 count=$piece status=none && read -r _ <&5; do :; done
}

if [ "$offset" = 0 ]; then rm -f "$part"; fi
exec 4>&1
pieces | again | sum | sed 's/^/sum=/'
