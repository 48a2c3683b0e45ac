# SPDX-License-Identifier: MIT
"""Digits with PyTorch and Gloo, the work shared in one of four ways that docs/comparison.md explains and times.

    ringup run -n 3 --ppn 1 -- python3 comparison.py --way ring-sync      (or comparison.sh, for all of them)
"""
import os
import socket
import statistics
import struct
import time

from comparison_network import LEARNERS, OPTIONS, RANK, STEPS, WORLD, Network
from torch import distributed

from comparison_ways import ring, server, work


def bytes_sent():
    """By this process over TCP: tcpi_bytes_sent of struct tcp_info, in Linux since 4.19."""
    total = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(fd))) as peer:
                total += struct.unpack_from("Q", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 208), 200)[0]
        except (OSError, struct.error):
            pass  # no TCP connection
    return total


net, times = Network(), []
if WORLD > 1:
    distributed.init_process_group("gloo")
    distributed.barrier()
sent = bytes_sent()
if LEARNERS == WORLD:
    ring(net, lambda: times.append(time.monotonic()), OPTIONS.way == "ring-async")
elif RANK == 0:
    server(net, lambda: times.append(time.monotonic()), OPTIONS.way == "ps-sync")
else:
    work(net)
facts = [(bytes_sent() - sent, net.weights.sum().item())] * WORLD
if WORLD > 1:
    distributed.all_gather_object(facts, facts[0])
if RANK == 0:
    updates = LEARNERS if OPTIONS.way == "ps-async" else 1  # while one batch is learnt
    step_ms = 1000 * statistics.median(b - a for a, b in zip(times, times[updates:]))
    images = OPTIONS.batch / updates * (len(times) - 1) / (times[-1] - times[0])
    accuracy = (net.model(net.test[0]).argmax(1) == net.test[1]).float().mean().item()
    same = "-" if LEARNERS < WORLD else "yes" if len(set(total for _, total in facts)) == 1 else "NO"
    sent_mb = "/".join("%.2f" % (count / STEPS / 1e6) for count, _ in facts)
    print(OPTIONS.way, "%.1f %.0f %.3f" % (step_ms, images, accuracy), same, sent_mb, flush=True)
