#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# larger_catalog.py FROM TO FACTOR: writes a catalog with FACTOR times the rows of FROM into the folder TO.
#
# Each release gets FACTOR - 1 patch releases that never were: 12.4.1 gets 12.4.1.1, 12.4.1.2 and so on.
# Every requirement cell that admits the release admits them too (>=12;<13, ==12.4.*), so all references
# stay valid and the search has FACTOR times as many candidates of the same worth. Images get one for each
# CUDA of theirs. GPUs, OSes and what belongs to one OS (glibc), and the tables that hold no versions of
# components (conflicts, sources, toolkit, require) stay as they are.
import pathlib
import sys

SCALED = "cuda cudnn nccl torch tensorflow jax mxnet horovod openmpi gcc python driver".split()
# What a made-up row leaves empty, so that image.csv stays below the 16 MiB that a file may have.
DROPPED = {"note", "first_listed", "released"}


def larger(name, columns, rows, factor):
    def row_of(number, row, patch):
        cells = dict(zip(columns, row))
        for column in DROPPED & set(columns):
            cells[column] = ""
        cells["certainty"], cells["source"] = "inferred", "bench"
        if name == "image":
            cells["cuda"] += f".{patch}"
            cells["version"] = f"{cells['cuda']}-{number}"
        else:
            cells["version"] += f".{patch}"
        return [cells[column] for column in columns]

    yield from rows
    for patch in range(1, factor):
        for number, row in enumerate(rows):
            yield row_of(number, row, patch)


def main(source, target, factor):
    target.mkdir(parents=True)
    total = 0
    for path in sorted(source.glob("*.csv")):
        lines = [line.split(",") for line in path.read_text().splitlines() if line and not line.startswith("#")]
        columns, rows, name = lines[0], lines[1:], path.stem
        if name in SCALED or name == "image":
            rows = list(larger(name, columns, rows, factor))
        if name == "sources":
            rows.append(["bench", "Made up for a measurement", "-", "inferred"])
        (target / path.name).write_text("".join(",".join(row) + "\n" for row in [columns, *rows]))
        total += len(rows)
    print(total)


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
