#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# recipes/pins: each file is one whole set of packages, each of one version with its checksums.
import re

from house import files, finish, read

HEAD = re.compile(r"# (\S+) with Python (3\.\d+) on x86_64: what PyPI had .* \(\.ci/pins\.py\)")
LINE = re.compile(r"([a-z0-9]+(?:[-._][a-z0-9]+)*)==\d[\w.!+]*((?: --hash=sha256:[0-9a-f]{64})+)")


def check(path):
    lines = read(path).splitlines()
    head = HEAD.fullmatch(lines[0])
    if not head or not re.fullmatch(r"# glibc>=2\.\d+", lines[1]):
        yield f"{path}:1: no head of a set of packages"
        return
    pip, series = head.groups()
    if path != "recipes/pins/" + re.sub(r"[^A-Za-z0-9._]+", "-", pip) + f"-py{series}.txt":
        yield f"{path}:1: holds {pip} with Python {series}"
    if not pip.endswith("-needs") and not any(line.startswith(re.sub(r"\[.*\]", "", pip) + " ") for line in lines):
        yield f"{path}:1: {pip} itself is missing"
    found = set()
    for number, line in enumerate(lines[2:], 3):
        match = LINE.fullmatch(line)
        if not match or len(set(match[2].split())) != len(match[2].split()):
            yield f"{path}:{number}: no version with checksums, each once"
        elif match[1] in found:
            yield f"{path}:{number}: {match[1]} stands twice"
        else:
            found.add(match[1])


finish([finding for path in files(r"^recipes/pins/.*\.txt$") for finding in check(path)])
