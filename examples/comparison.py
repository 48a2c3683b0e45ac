# SPDX-License-Identifier: MIT
"""Digits with PyTorch and Gloo, the work shared in one of four ways that docs/comparison.md explains and times.

    ringup run -n 3 --ppn 1 -- python3 comparison.py --way ring-sync      (or comparison.sh, for all of them)
"""
import argparse
import os
import socket
import statistics
import struct
import time

import digits

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--way", default="one", choices=("one", "ring-sync", "ring-async", "ps-sync", "ps-async"))
parser.add_argument("--epochs", type=int, default=20, help="how often every image is seen (20)")
parser.add_argument("--batch", type=int, default=300, help="images a step, of all ranks together (300)")
parser.add_argument("--hidden", type=int, default=16384, help="hidden units, each 300 bytes of weights (16384)")
parser.add_argument("--device-ms", type=float, default=0, help="a sleep in place of a GPU's work on one batch (0)")
parser.add_argument("--slow-ms", type=float, default=0, help="rank 2 sleeps so long before each gradient (0)")
OPTIONS = parser.parse_args()  # before torch, which --help does not need

import torch
from torch import distributed, nn

RANK, WORLD = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
LEARNERS = WORLD - 1 if OPTIONS.way.startswith("ps") else WORLD
BATCHES = digits.TRAIN // OPTIONS.batch  # of an epoch
STEPS = OPTIONS.epochs * BATCHES


class Network:
    """One hidden layer. All weights are one vector, and so are their gradients: each is one message."""

    def __init__(self):
        torch.manual_seed(1)  # every rank begins with the same weights
        self.model = nn.Sequential(nn.Linear(64, OPTIONS.hidden), nn.ReLU(), nn.Linear(OPTIONS.hidden, 10))
        size = sum(p.numel() for p in self.model.parameters())
        self.message = torch.zeros(size + 1)  # the weights, then the number of the part that a worker is to learn
        self.weights, self.gradient = self.message[:-1], torch.zeros(size)
        start = 0
        for p in self.model.parameters():
            end = start + p.numel()
            self.weights[start:end] = p.detach().reshape(-1)
            p.data, p.grad = self.weights[start:end].view_as(p), self.gradient[start:end].view_as(p)
            start = end
        self.images, self.labels, *self.test = (torch.from_numpy(array) for array in digits.load())

    def learn(self, number):
        """Fills the gradient from one part of a batch. A batch has LEARNERS parts; the parts of all are numbered."""
        step, part = divmod(number, LEARNERS)
        order = digits.np.random.RandomState(step // BATCHES).permutation(digits.TRAIN)
        images = order[step % BATCHES * OPTIONS.batch:][:OPTIONS.batch][part::LEARNERS]
        self.gradient.zero_()
        nn.functional.cross_entropy(self.model(self.images[images]), self.labels[images]).backward()
        time.sleep((OPTIONS.device_ms / LEARNERS + OPTIONS.slow_ms * (RANK == 2)) / 1000)

    def descend(self, gradient):  # of one part, or the sum over the parts of a batch
        self.weights.sub_(gradient, alpha=digits.RATE / LEARNERS)


def ring(net, stamp, late):
    """Every rank learns. late: a sum is on its way while the next gradient is computed, and used one step later."""
    total, pending = torch.zeros_like(net.gradient), None
    for step in range(STEPS):
        net.learn(step * WORLD + RANK)
        if pending:
            pending.wait()
            net.descend(total)
        total.copy_(net.gradient)
        pending = distributed.all_reduce(total, async_op=True) if WORLD > 1 else None
        if not late or step == STEPS - 1:
            if pending:
                pending.wait()
            net.descend(total)
            pending = None
        stamp()


def server(net, stamp, in_step):
    """Rank 0 has the weights, and learns nothing itself. It hands out the parts in their order."""
    workers, given, total = range(1, WORLD), 0, torch.zeros_like(net.gradient)

    def answer(worker):
        nonlocal given
        net.message[-1] = given if given < STEPS * LEARNERS else -1
        given += 1
        distributed.send(net.message, worker)

    for worker in workers:
        answer(worker)
    for _ in range(STEPS if in_step else STEPS * LEARNERS):
        if in_step:
            total.zero_()
            for worker in workers:
                distributed.recv(net.gradient, worker)
                total += net.gradient
            net.descend(total)
        else:
            worker = distributed.recv(net.gradient)  # of the first that is ready
            net.descend(net.gradient)
        stamp()
        for rank in workers if in_step else [worker]:
            answer(rank)


def work(net):
    distributed.recv(net.message, 0)
    while net.message[-1] >= 0:
        net.learn(int(net.message[-1]))
        distributed.send(net.gradient, 0)
        distributed.recv(net.message, 0)


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
