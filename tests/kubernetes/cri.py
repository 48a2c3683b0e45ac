#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cri.py BYTES: stdin as a container runtime logs it, long lines in pieces of that many bytes (containerd: 16384)."""
import datetime
import sys

limit = int(sys.argv[1])
for line in sys.stdin.buffer:
    text = line.rstrip(b"\n")
    pieces = [text[i:i + limit] for i in range(0, len(text), limit)] or [b""]
    for i, piece in enumerate(pieces):
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
        tag = b"P" if i + 1 < len(pieces) else b"F"
        sys.stdout.buffer.write(stamp.encode() + b" stdout " + tag + b" " + piece + b"\n")
