# SPDX-License-Identifier: MIT
# 'ringup run' at a terminal of its own, as a person has it. Exits with 0 when all is as it has to be.
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


class Person:
    """A program at a new terminal, in the foreground unless in_background."""

    def __init__(self, words, in_background=False):
        self.said = b""
        ready, go = os.pipe()
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.close(go)
            os.read(ready, 1)
            if in_background:
                group = os.fork()
                if group == 0:
                    os.setpgid(0, 0)
                    os.execvp(words[0], words)
                status = os.waitpid(group, os.WUNTRACED)[1]
                os._exit(99 if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status))
            os.execvp(words[0], words)
        os.close(ready)
        self.resize(33, 77)
        self.before = termios.tcgetattr(self.screen)
        os.write(go, b"x")
        os.close(go)

    def resize(self, rows, columns):
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def types(self, keys):
        os.write(self.screen, keys)

    def hears(self, pattern, seconds=30):
        until = time.monotonic() + seconds
        while not re.search(pattern, self.said, re.S):
            if not select.select([self.screen], [], [], max(0, until - time.monotonic()))[0]:
                sys.exit(f"no {pattern!r} in {self.said!r}")
            try:
                self.said += os.read(self.screen, 65536)
            except OSError:
                sys.exit(f"the end, and no {pattern!r} in {self.said!r}")

    def ends(self):
        """The status; the modes of the terminal are those before."""
        after = termios.tcgetattr(self.screen)
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if select.select([self.screen], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.screen, 65536)
                except OSError:
                    pass
            try:
                after = termios.tcgetattr(self.screen)
            except termios.error:
                pass
        if after != self.before:
            sys.exit(f"the terminal's modes are not those before: {after} instead of {self.before}")
        os.close(self.screen)
        return os.waitstatus_to_exitcode(status)


def check(what, is_right, person):
    if not is_right:
        sys.exit(f"{what}: {person.said!r}")


SHELL = r"""trap 'stty size' WINCH; trap 'echo ended; exit 4' INT; tty -s && stty size; echo $TERM up
while :; do read x && echo "<$x>"; done"""
os.environ["TERM"] = "vt100"

# the rank's terminal has the size; Ctrl-C is its own; its bytes have no prefix; the other rank's lines have
person = Person(["ringup", "run", "-t", "--", "sh", "-c", f'[ "$RANK" = 0 ] || {{ echo other; exec sleep 1000; }}; {SHELL}'])
person.hears(rb"33 77\r\n.*vt100 up\r\n")
person.hears(rb"\[1 node02\] \x1b\[0mother\r?\n")
check("a prefix", b"[0 node01]" not in person.said, person)
person.types(b"one\r")
person.hears(rb"one\r\n<one>\r\n")
person.resize(44, 88)
person.types(b"\r")
person.hears(rb"44 88\r\n")
person.types(b"\x03")
person.hears(rb"\^Cended\r\n")
check("status", person.ends() == 4, person)

# ~ in a line and ~~ are keys, ~. is the end
person = Person(["ringup", "run", "-t", "-n", "1", "--", "sh", "-c", SHELL])
person.hears(rb"up\r\n")
person.types(b"a~.b\r~~c\r~d\r")
person.hears(rb"<a~.b>.*<~c>.*<~d>")
person.types(b"~.")
check("status of an escape", person.ends() == 130, person)

# every way out gives the terminal back
for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
    person = Person(["ringup", "run", "-t", "-n", "1", "--", "sh", "-c", SHELL])
    person.hears(rb"up\r\n")
    os.kill(person.pid, number)
    check("status of a signal", person.ends() in (128 + number, -number), person)

# without -t: lines, and Ctrl-C ends the job
person = Person(["ringup", "run", "-n", "1", "--", "sh", "-c", 'read x; echo "<$x>"; sleep 1000'])
person.hears(rb"logs in")
person.types(b"typed\n")
person.hears(rb"\[0 node01\] \x1b\[0m<typed>")
person.types(b"\x03")
check("status of Ctrl-C", person.ends() == 130, person)

# in the background it goes on, and reads nothing
person = Person(["ringup", "run", "-n", "1", "--", "sh", "-c", "sleep 1; echo still; exit 7"], in_background=True)
person.types(b"typed\n")
check("status in the background", person.ends() == 7, person)
check("output in the background", b"still" in person.said, person)
