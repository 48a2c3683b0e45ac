#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders a recipe for each pair of catalog values that can stand together on a processor, and checks each.

    walk.py [--least N] [--seed S]      ends with 1 when a recipe is wrong, or fewer than N came out

A pair that no stack satisfies (status 3) does not count, and neither does one of REFUSED. Any other stack that has
no recipe is wrong: the resolver should not give it.
"""

import argparse
import csv
import itertools
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dockerfile
import golden
import linters

ROOT = Path(__file__).resolve().parents[2]
# each with each: what people fix first
PARTS = ("tensorflow", "torch", "jax", "mxnet", "horovod", "cuda", "os", "python", "openmpi")
BESIDE = ("torchvision", "torchaudio", "deepspeed", "flash-attn", "transformer-engine", "xformers", "megatron-core", "triton", "nvshmem")
SEEN = set()  # instructions without versions, that hadolint saw
ARCHS = {"x86_64": [], "aarch64": ["arch==aarch64"]}
REFUSED = (  # what the resolver gives and recipes refuse, by a part of the refusal
    "Horovod has no operations for JAX",
    "the TLS of centos6 is too old",
    "the pip of ubuntu14.04",
    "for ubuntu17.04, and none of cuDNN and NCCL for it",
    "no checksum of an archive",
    "PyPI has no archive of Horovod",
)
EACH = 14  # versions of one part, spread over all that are known


def versions(part, arch, chance):
    path = ROOT / "recipes" / "catalog" / f"{part}.{arch}.csv"
    if not path.exists():
        path = path.with_name(f"{part}.csv")
    with open(path, encoding="utf-8") as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        known = sorted({row["version"] for row in rows})
    return known if part == "os" else chance.sample(known, min(EACH, len(known)))


def pairs(arch, seed):
    chance = random.Random(seed)
    known = {part: versions(part, arch, chance) for part in PARTS + BESIDE}
    beside = [(part, other) for part in BESIDE for other in ("torch", "os", "python", "deepspeed") if part != other]
    for a, b in [*itertools.combinations(PARTS, 2), *beside]:
        for x, y in itertools.product(known[a], known[b]):
            # TensorFlow's wheels for aarch64 are without CUDA
            yield (*ARCHS[arch], *(["cpu"] if arch == "aarch64" and a == "tensorflow" else []), f"{a}=={x}", f"{b}=={y}")


def look(words):
    """(what came, findings) of one pair."""
    made = golden.render(words)
    if made.returncode == 3 or any(part in made.stderr for part in REFUSED):
        return "none", []
    if made.returncode:
        return "recipe", [f"status {made.returncode}: {made.stderr.strip()}"]
    findings = list(dockerfile.wrong(made.stdout))
    parsed = subprocess.run(
        ["sh", "-n"], input=dockerfile.shell(made.stdout), capture_output=True, text=True, check=False
    )
    if parsed.returncode:
        findings.append(f"sh -n: {parsed.stderr.strip()}")
    known = len(SEEN)
    new = linters.unseen(made.stdout, SEEN)  # versions apart, one of a kind is enough
    if len(SEEN) > known:
        findings += linters.hadolint(new)
    return "recipe", findings


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--least", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    todo = [words for arch in ARCHS for words in pairs(arch, asked.seed)]
    random.Random(asked.seed).shuffle(todo)
    recipes = tried = bad = 0
    of = Counter()
    with ThreadPoolExecutor(2) as pool:
        for start in range(0, len(todo), 100):
            batch = todo[start : start + 100]
            for words, (came, findings) in zip(batch, pool.map(look, batch)):
                tried += 1
                recipes += came == "recipe"
                of["aarch64" if "arch==aarch64" in words else "x86_64"] += came == "recipe"
                bad += bool(findings)
                for text in findings:
                    print(f"{' '.join(words)}: {text}")
            if recipes >= asked.least:
                break
    kinds = ", ".join(f"{of[arch]} for {arch}" for arch in ARCHS)
    print(f"seed {asked.seed}: {tried} pairs tried, {recipes} recipes ({kinds}), {len(SEEN)} kinds of instructions, {bad} wrong")
    return 1 if bad or recipes < asked.least or not all(of[arch] for arch in ARCHS) else 0


if __name__ == "__main__":
    sys.exit(main())
