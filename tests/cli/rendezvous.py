#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The worker's rendezvous (images/worker/rendezvous/hello.h), written a second time from its description, to play a false
# rank 0 and false ranks.
#
# rendezvous.py root PROGRAM CASE: starts rank 1 of 2, answers it as the case says, and prints the rank's messages, what it
#   said after the case (as "leftover: N bytes"), whether the secret was in it, and its exit status.
# rendezvous.py rank PROGRAM CASE: starts rank 0 of 2, and calls it as the case says; the same output.
import hashlib, hmac, os, socket, struct, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from free_port import free_port

SECRET = os.environ.get("RINGUP_SECRET", "").encode()
PROTOCOL = 7


def text(words, size):
    return words.encode().ljust(size, b"\0")


def proof(purpose, *parts, secret=SECRET):
    return hmac.new(secret, text(purpose, 32) + b"".join(parts), hashlib.sha256).digest()


ROOT, RANK = "ringup rendezvous: rank 0 is", "ringup rendezvous: a rank joins"
INTRODUCTION, WELCOME = "ringup rendezvous: introduction", "ringup rendezvous: welcome"
RUN_KEY = "ringup: the key of a run"


def greeting(protocol=PROTOCOL, rank=1, world=2, secret=b"", version="0.1.0", host="there"):
    return b"RINGWAR1" + struct.pack("<III", protocol, rank, world) + secret.ljust(128, b"\0") + text(version, 32) + text(host, 64) + bytes(4)


def member(host=b"there", address=b"127.0.0.1", version=b"0.1.0", kernel=b"k", port=9, library=b""):
    return struct.pack("<64s40s64s32sIII96sI", host, kernel, address, version, port, 1, 1, library, 0)


def introduction(backend=b"cpu", status=0, reason=b"", **fields):
    return member(**fields) + struct.pack("<16siii64s420s", backend, status, 0, -1, b"", reason)


def workload(first=8, last=8, step=0, factor=2, iterations=1, warmups=0, aggregate=1, cycles=1, checks=1, blocking=0, average=0, host_time=0,
             type=4, op=0, collective=0, root=0, graph=0, registers=0, unalign=0, cta_policy=0, find_slow=0, sgd=0):
    return struct.pack("<QQQ19I4x", first, last, step, factor, iterations, warmups, aggregate, cycles, checks, blocking, average, host_time,
                       type, op, collective, root, graph, registers, unalign, cta_policy, find_slow, sgd)


def take(s, size):
    got = b""
    while len(got) < size:
        part = s.recv(size - len(got))
        if not part:
            raise EOFError(f"{len(got)} of {size} bytes")
        got += part
    return got


class Root:
    """A rank 0 that took a call."""

    def __init__(self, s, heard):
        self.s, self.heard = s, heard

    def take(self, size):
        got = take(self.s, size)
        self.heard.append(got)
        return got

    def challenge(self, protocol=PROTOCOL, version="0.1.0", secret=SECRET, nonce=None, of=ROOT):
        self.hello = self.take(280)
        nonce = nonce(self.hello) if nonce else os.urandom(32)
        self.said = b"RINGWAR2" + struct.pack("<II", protocol, 0) + text(version, 32) + nonce
        self.s.sendall(self.said + proof(of, self.hello, self.said, secret=secret))

    def meet(self):
        """Everything up to the welcome, with each of the rank's proofs checked."""
        self.challenge()
        assert self.take(32) == proof(RANK, self.hello, self.said)
        self.intro = self.take(856)
        assert self.intro[-32:] == proof(INTRODUCTION, self.hello, self.said, self.intro[:-32])

    def welcome(self, load=workload(), table=None, secret=SECRET, digest_of=None, more=b""):
        table = table or member(b"here", library=b"x") + self.intro[:312]
        words = os.urandom(16) + load + hashlib.sha256(digest_of or table).digest()
        words += proof(WELCOME, self.hello, self.said, words, secret=secret)
        self.s.sendall(struct.pack("<II", 1, len(words) + len(table)) + words + table + more)

    def abort(self, status=1, phase=0, rank=-1, host=b"", reason=b"no"):
        self.s.sendall(struct.pack("<IIiii64s420s", 5, 496, status, phase, rank, host, reason))


def first(root):
    return member(b"here") + root.intro[:312]


def drip(root):
    root.take(280)
    root.s.sendall(b"RINGWAR2")
    while True:
        root.s.send(b"R")
        time.sleep(0.1)


def met(**fields):
    def run(root):
        root.meet()
        root.welcome(load=workload(**fields))
    return run


def table_of(**fields):
    def run(root):
        root.meet()
        root.welcome(table=member(**fields) + root.intro[:312])
    return run


def after_meeting(words):
    def run(root):
        root.meet()
        root.s.sendall(words)
    return run


def reflect(root):
    """The rank's own nonce comes back, and its own call is answered by a second call of its own making."""
    root.challenge(nonce=lambda hello: hello[248:], secret=SECRET)


def version_abort(root):
    root.challenge(protocol=1000, version="9.9.9")
    assert root.take(32) == proof(RANK, root.hello, root.said)
    root.abort(status=6, phase=1, reason=b"versions differ: told by rank 0")


def version_else(root):
    root.challenge(protocol=1000, version="9.9.9")
    root.take(32)
    root.s.sendall(b"what protocol 1000 says next " * 100)


def replay(root):
    """What another rank 0 said to another rank."""
    root.take(280)
    root.s.sendall(b"RINGWAR2" + struct.pack("<II", PROTOCOL, 0) + text("0.1.0", 32) + b"n" * 32 + proof(ROOT, b"h" * 280, b"c" * 80))


ROOTS = {
    "silent": lambda root: root.take(280),
    "drip": drip,
    "garbage": lambda root: root.s.sendall(os.urandom(5000)),
    "http": lambda root: root.s.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20),
    "stranger": lambda root: root.challenge(secret=b"a guess"),
    "other-role": lambda root: root.challenge(of=RANK),
    "reflect": reflect,
    "replay": replay,
    "old": lambda root: root.abort(reason=b"rank 0 turned this rank away: wrong secret"),
    "version-abort": version_abort,
    "version-else": version_else,
    "control-in-version": lambda root: root.challenge(version="0.1\x1b[2J"),
    "type": met(type=1000000000),
    "type-99": met(type=99),
    "op": met(op=7),
    "collective": met(collective=11),
    "root": met(root=2),
    "factor": met(factor=0),
    "sizes": met(first=9, last=8),
    "too-large": met(last=1 << 41),
    "iterations": met(iterations=0),
    "iterations-max": met(iterations=1 << 31),
    "warmups": met(warmups=1 << 31),
    "graph": met(graph=1),
    "register": met(registers=1),
    "unaligned": met(unalign=1),
    "unalign": met(unalign=65537),
    "policy": met(cta_policy=3),
    "steps": met(sgd=1 << 31),
    "cycles": met(cycles=10001),
    "aggregate": met(aggregate=1 << 31),
    "checks": met(checks=1 << 31),
    "blocking": met(blocking=3),
    "average": met(average=5),
    "results": met(last=1 << 40, factor=1, step=8),
    "host-no-end": table_of(host=b"h" * 64),
    "host-control": table_of(host=b"h\x1b[2J"),
    "host-c1": table_of(host=b"h\xc2\x9b2J"),
    "version-no-end": table_of(version=b"v" * 32),
    "kernel-no-end": table_of(kernel=b"k" * 40),
    "library-no-end": table_of(library=b"l" * 96),
    "address-name": table_of(address=b"example.org"),
    "address-no-end": table_of(address=b"1" * 64),
    "port-0": table_of(port=0),
    "port-70000": table_of(port=70000),
    "table-changed": lambda root: (root.meet(), root.welcome(digest_of=b"other")),
    "welcome-unproven": lambda root: (root.meet(), root.welcome(secret=b"a guess")),
    "short-welcome": after_meeting(struct.pack("<II", 1, 100) + bytes(100)),
    "endless-welcome": after_meeting(struct.pack("<II", 1, 0xffffffff) + bytes(100000)),
    "unknown-frame": after_meeting(struct.pack("<II", 77, 8) + bytes(8)),
    "abort-numbers": lambda root: (root.meet(), root.abort(status=99, phase=-5)),
    "abort-tidied": lambda root: (root.meet(), root.abort(rank=-77, host=b"\x1b" * 64, reason=b"\x1b[2Jpoor" + b"x" * 412)),
}


def play_root(program, case):
    heard = []
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    rank = subprocess.Popen([program, "--rank", "1", "--world", "2", "--host", "joiner", "--timeout", "1", "--root", f"127.0.0.1:{port}"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    s = listener.accept()[0]
    root = Root(s, heard)
    left = 0
    try:
        ROOTS[case](root)
        s.settimeout(20)
        while part := s.recv(65536):
            heard.append(part)
            left += len(part)
    except OSError:
        pass
    s.close()
    listener.close()
    report(rank, heard)
    print(f"leftover: {left} bytes")


def report(process, heard):
    sys.stdout.buffer.write(process.communicate(timeout=60)[1])
    print("status", process.returncode)
    if SECRET and SECRET in b"".join(heard):
        print("the secret was said")


class Rank:
    """A call to rank 0."""

    def __init__(self, port):
        for _ in range(500):
            try:
                self.s = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        self.s.settimeout(20)

    def hello(self, **fields):
        self.said = greeting(**fields) + os.urandom(32)
        self.s.sendall(self.said)
        self.root = take(self.s, 112)
        self.exchange = self.said + self.root[:80]
        return self.root[80:] == proof(ROOT, self.exchange)

    def answer(self, secret=SECRET, of=RANK):
        self.s.sendall(proof(of, self.exchange, secret=secret))

    def introduce(self, words, secret=SECRET):
        self.s.sendall(words + proof(INTRODUCTION, self.exchange, words, secret=secret))

    def gone(self):
        """What rank 0 says until it ends the connection."""
        got = b""
        try:
            while part := self.s.recv(65536):
                got += part
        except OSError:
            pass
        return got


def join(call, words, **fields):
    assert call.hello(**fields)
    call.answer()
    call.introduce(words)
    print("told:", call.gone()[20:].replace(b"\0", b"").decode(errors="replace"))


def wrong_answer(rank):
    assert rank.hello()
    rank.s.sendall(os.urandom(32))
    assert rank.gone() == b""


def reflected(rank):
    """Rank 0's own proof as the answer."""
    rank.hello()
    rank.s.sendall(rank.root[80:])
    assert rank.gone() == b""


def same_as_root(rank):
    rank.hello()
    rank.answer(of=ROOT)
    assert rank.gone() == b""


def unproven_intro(rank):
    rank.hello()
    rank.answer()
    rank.introduce(introduction(), secret=b"a guess")
    assert rank.gone() == b""


def old_rank(secret):
    def run(rank):
        rank.s.sendall(greeting(protocol=3, secret=secret))
        print("told:", rank.gone()[20:].replace(b"\0", b"").decode(errors="replace"))
    return run


def new_rank(rank):
    assert rank.hello(protocol=1000, version="9.9.9")
    rank.answer()
    rank.s.sendall(b"what protocol 1000 says next")
    print("told:", rank.gone()[20:].replace(b"\0", b"").decode(errors="replace"))


RANKS = {
    "wrong-answer": wrong_answer,
    "reflected": reflected,
    "same-as-root": same_as_root,
    "unproven-intro": unproven_intro,
    "old-right": old_rank(SECRET),
    "old-wrong": old_rank(b"a guess"),
    "new": new_rank,
    "world": lambda rank: join(rank, introduction(), world=3),
    "rank": lambda rank: join(rank, introduction(), rank=7),
    "host-no-end": lambda rank: join(rank, introduction(), host="h" * 64),
    "host-control": lambda rank: join(rank, introduction(), host="h\x1b[2J"),
    "member-no-end": lambda rank: join(rank, introduction(host=b"h" * 64)),
    "library-no-end": lambda rank: join(rank, introduction(library=b"l" * 96)),
    "backend-no-end": lambda rank: join(rank, introduction(backend=b"b" * 16)),
    "address-name": lambda rank: join(rank, introduction(address=b"example.org")),
    "port-0": lambda rank: join(rank, introduction(port=0)),
    "port-70000": lambda rank: join(rank, introduction(port=70000)),
    "reason-control": lambda rank: join(rank, introduction(status=5, reason=b"\x1b[2Jpoor" + b"x" * 412)),
    "leaves": lambda rank: (rank.hello(), rank.s.close()),
}


def play_rank(program, case):
    port = free_port()
    root = subprocess.Popen([program, "--rank", "0", "--world", "2", "--host", "here", "--timeout", "1", "--root", f"127.0.0.1:{port}", "--quiet"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    rank = Rank(port)
    RANKS[case](rank)
    report(root, [])


if __name__ == "__main__":
    if sys.argv[1] == "cases":
        print(*(ROOTS if sys.argv[2] == "root" else RANKS))
    else:
        {"root": play_root, "rank": play_rank}[sys.argv[1]](sys.argv[2], sys.argv[3])
