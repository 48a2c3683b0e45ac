#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keys.py ANSWER TEXT WORD...: a person at a terminal, who presses Ctrl-C once the command has printed the text, and answers."""
import os
import pty
import sys

answer, awaited, *words = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
seen = b""


def until(text):
    global seen
    while text not in seen:
        seen += os.read(fd, 1000)


try:
    until(awaited.encode())
    os.write(fd, b"\x03")
    until(b"[l/c/f]")
    os.write(fd, answer.encode() + b"\n")
    while True:
        seen += os.read(fd, 1000)
except OSError:  # it has ended
    pass
sys.stdout.write(seen.decode())
sys.exit(os.waitpid(pid, 0)[1] >> 8)
