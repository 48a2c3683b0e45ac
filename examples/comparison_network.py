# SPDX-License-Identifier: MIT
"""For comparison.py: its options, the network that all of its ways train, and who learns which part of a batch."""
import argparse
import os
import time

import digits

parser = argparse.ArgumentParser(description="Digits with PyTorch and Gloo, the work shared in one of four ways")
parser.add_argument("--way", default="one", choices=("one", "ring-sync", "ring-async", "ps-sync", "ps-async"))
parser.add_argument("--epochs", type=int, default=20, help="how often every image is seen (20)")
parser.add_argument("--batch", type=int, default=300, help="images a step, of all ranks together (300)")
parser.add_argument("--hidden", type=int, default=16384, help="hidden units, each 300 bytes of weights (16384)")
parser.add_argument("--device-ms", type=float, default=0, help="a sleep in place of a GPU's work on one batch (0)")
parser.add_argument("--slow-ms", type=float, default=0, help="rank 2 sleeps so long before each gradient (0)")
OPTIONS = parser.parse_args()  # before torch, which --help does not need

import torch
from torch import nn

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
