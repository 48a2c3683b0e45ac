#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dns_server.py ADDRESS ZONE LOG: a stand-in for a resolver that checks signatures, at port 53 of the
address. ZONE has lines as ssh-keygen -r prints them ("NAME IN SSHFP 4 2 HEX"), and "NAME IN A ADDRESS".
A query that wants the AD bit gets it, except for names that begin with "plain". For SSHFP it never answers
about names that begin with "silent", fails (SERVFAIL) for "bogus", and says for "long" that the answer does not fit while it is
asked for signatures, and for "longest" always. It stands in for the resolver alone: it signs nothing. LOG gets "NAME TYPE" for each query."""
import socket
import struct
import sys

TYPES = {"A": 1, "SSHFP": 44}


def data_of(kind, words):
    if kind == "A":
        return socket.inet_aton(words[0])
    return bytes([int(words[0]), int(words[1])]) + bytes.fromhex("".join(words[2:]))


def read_zone(path):
    zone = {}
    for line in open(path):
        name, _, kind, *words = line.split()
        zone.setdefault((name.lower(), TYPES[kind]), []).append(data_of(kind, words))
    return zone


def question(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack(">H", query[at + 1:at + 3])[0], query[12:at + 5]


def wants_signatures(query, asked):
    """The DO bit of the EDNS record, which is the only thing behind the question."""
    rest = query[12 + len(asked):]
    return len(rest) >= 11 and bool(rest[7] & 0x80)


def answer(query, zone, log):
    name, kind, asked = question(query)
    print(name, kind, file=log, flush=True)
    found = zone.get((name, kind), [])
    flags = 0x8180 | (query[3] & 0x20 if not name.startswith("plain") else 0)
    if not any(owner == name for owner, _ in zone):
        flags |= 3
    if kind == TYPES["SSHFP"]:
        if name.startswith("silent"):
            return None
        if name.startswith("bogus"):
            flags, found = 0x8182, []
        if name.startswith("longest") or name.startswith("long") and wants_signatures(query, asked):
            flags, found = flags | 0x0200, []
    records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(data)) + data for data in found)
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(found), 0, 0) + asked + records


def main():
    zone = read_zone(sys.argv[2])
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((sys.argv[1], 53))
    with open(sys.argv[3], "a") as log:
        while True:
            query, peer = server.recvfrom(4096)
            said = answer(query, zone, log)
            if said:
                server.sendto(said, peer)


main()
