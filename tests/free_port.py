#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a free TCP port.

It lies below the kernel's range for outgoing connections (net.ipv4.ip_local_port_range). A port of that
range may be taken by any connection of another test before the server that it is meant for binds it.
"""
import random
import socket

LOWEST = 10240


def highest():
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        first = int(f.read().split()[0])
    return first - 1 if first > LOWEST + 1000 else 65535


def is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("", port))
        except OSError:
            return False
    return True


def free_port():
    while True:
        port = random.randint(LOWEST, highest())
        if is_free(port):
            return port


if __name__ == "__main__":
    print(free_port())
