#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py FILE NAME:TAG: a docker-archive of about 1 GiB of plain layers, as images are made of: four of this
machine's own files (/usr), two of random bytes, one half random, one of 30,000 small files."""
import io
import os
import random
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fault"))
import archive  # noqa: E402

LAYER_BYTES = 128 << 20


def own_files():
    """Regular files of /usr, in the order of their names, each once; again from the front when they end."""
    while True:
        for folder, folders, names in os.walk("/usr"):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < LAYER_BYTES / 4:
                    yield path


def of_files(tar, files):
    """A layer of this machine's own files."""
    size = 0
    while size < LAYER_BYTES:
        path = next(files)
        with open(path, "rb") as file:
            data = file.read()
        archive.add(tar, path.lstrip("/"), data)
        size += len(data)


def of_small_files(tar):
    """30,000 files of a few KiB, half of each random."""
    source = random.Random(1)
    for number in range(30000):
        size = 2000 + number % 400
        text = b"".join(b"%d words of a text that packs\n" % (number + i) for i in range(size // 30))
        archive.add(tar, f"small/{number // 100}/{number}", source.randbytes(size) + text)


def layers():
    """Each layer's tar, one after the other."""
    files, source = own_files(), random.Random(2)
    for number in range(8):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            if number < 4:
                of_files(tar, files)
            elif number < 6:
                archive.add(tar, f"random/{number}", source.randbytes(LAYER_BYTES))
            elif number == 6:
                half = b"".join(source.randbytes(1 << 19) + bytes(1 << 19) for _ in range(LAYER_BYTES >> 20))
                archive.add(tar, "half", half)
            else:
                of_small_files(tar)
        yield out.getvalue()


archive.make(sys.argv[1], sys.argv[2], layers())
