#!/bin/sh
# SPDX-License-Identifier: MIT
# Sends a file from byte OFFSET on: copy_out.sh PATH OFFSET; its sum is the last line of the errors.
# The sum of the input: OpenSSL's is several times as fast where coreutils do not use the processor's own instructions.
sum() { if command -v openssl >/dev/null; then openssl dgst -sha256 -r; else sha256sum; fi | cut -d' ' -f1; }
exec 4>&1
{ tail -c "+$(($2 + 1))" "$1" | tee /dev/fd/3 >&4; } 3>&1 | sum | sed 's/^/sum=/' >&2
