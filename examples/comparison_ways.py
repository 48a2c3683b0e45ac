# SPDX-License-Identifier: MIT
"""For comparison.py: the four ways to share the work. Each calls `stamp` when a step is done."""
import torch
from torch import distributed

from comparison_network import LEARNERS, RANK, STEPS, WORLD


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
