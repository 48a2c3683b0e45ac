# SPDX-License-Identifier: MIT
"""What the examples share: handwritten digits, one small network, and how the ranks share the work.

The data is ringup's own (images/worker/sgd/digits_data.h, which names its source): 1797 images of 8x8 pixels. No
network is needed. The network has 64 inputs, 32 hidden units and 10 outputs. All ranks begin with the same weights
and see their part of each batch, so any number of ranks that divides BATCH trains what one process does.
"""
import argparse
import os
import re
import zlib

import numpy as np

TRAIN = 1500  # the first images are for training, the others for the test
BATCH = 60    # of all ranks together
RATE = 0.2


def arguments(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--epochs", type=int, default=20, help="how often every image is seen (20)")
    return parser.parse_args()


def load():
    """Train images, train labels, test images, test labels."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(here, "..", "images", "worker", "sgd")):
        path = os.path.join(folder, "digits_data.h")
        if os.path.exists(path):
            break
    else:
        raise SystemExit("digits_data.h is neither in %s nor in ringup's images/worker/sgd" % here)
    with open(path) as file:
        text = "".join(re.findall(r'^"(.*)",$', file.read(), re.M))
    images = [text[i:i + 65] for i in range(0, len(text), 65)]  # a digit, then a letter per pixel
    pixels = np.array([[ord(c) - ord("a") for c in image[1:]] for image in images], np.float32) / 16
    labels = np.array([int(image[0]) for image in images], np.int64)
    return pixels[:TRAIN], labels[:TRAIN], pixels[TRAIN:], labels[TRAIN:]


def first_weights():
    """The same on every rank: 64x32, 32, 32x10, 10."""
    random = np.random.RandomState(1)
    return [random.normal(0, (2 / 64) ** 0.5, (64, 32)).astype(np.float32), np.zeros(32, np.float32),
            random.normal(0, (2 / 32) ** 0.5, (32, 10)).astype(np.float32), np.zeros(10, np.float32)]


def batches(images, labels, epochs, rank, world):
    """This rank's part of each batch."""
    for epoch in range(epochs):
        order = np.random.RandomState(epoch).permutation(TRAIN)
        for start in range(0, TRAIN, BATCH):
            part = order[start:start + BATCH][rank::world]
            yield images[part], labels[part]


def report(rank, world, weights, images, labels):
    """Prints one line; the checksum is the same on all ranks, or the training is broken."""
    w1, b1, w2, b2 = weights
    right = (np.maximum(images @ w1 + b1, 0) @ w2 + b2).argmax(1) == labels
    checksum = zlib.crc32(b"".join(np.ascontiguousarray(w, np.float32).tobytes() for w in weights))
    print("rank %d of %d: accuracy %.3f, weights %08x" % (rank, world, right.mean(), checksum), flush=True)
