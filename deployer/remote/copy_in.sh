#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the rest of a file from its input: copy_in.sh PATH OFFSET HOST. What was there before OFFSET has been compared. Prints the
# sum of what came. The file gets its name by copy_end.sh, once the sums agree.
# The sum of the input: OpenSSL's is several times as fast where coreutils do not use the processor's own instructions.
sum() { if command -v openssl >/dev/null; then openssl dgst -sha256 -r; else sha256sum; fi | cut -d' ' -f1; }
umask 077
part=$1.$3.ringup-part
if [ "$2" = 0 ]; then rm -f "$part"; fi
exec 4>&1
{
	tee -a "$part" || {
		echo "cannot write $part" >&2
		echo failed >&4
		rm -f "$part"
	}
} | sum | sed 's/^/sum=/'
