# SPDX-License-Identifier: MIT
"""The CSV files of a catalog folder as lists of rows."""
import copy
import os
import re

FRAMEWORKS = ("tensorflow", "torch", "jax", "mxnet")
BESIDE_TORCH = ("torchvision", "torchaudio", "deepspeed", "flash-attn", "transformer-engine", "xformers", "megatron-core", "triton", "nvshmem")
FABRIC = ("ucx", "libfabric", "aws-ofi-nccl")
PIP = FRAMEWORKS + ("horovod",) + BESIDE_TORCH
GPU_ONLY = ("driver", "gpu", "cuda", "cudnn", "nccl")
COMMON = ("cuda", "os", "glibc", "python", "gcc", "cudnn", "nccl", "openmpi")
COMPONENTS = PIP + COMMON + ("driver", "gpu")


class Row(dict):
    """One line; its identity is the object, so that it can be a key."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other

    def cell(self, column):
        return self.get(column) or ""


def read_table(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    header = lines[0].split(",")
    return header, [Row(zip(header, line.split(","))) for line in lines[1:]]


class Catalog:
    def __init__(self, folder):
        self.folder, self.tables, self.headers = folder, {}, {}
        self.series, self.arch, self.views = None, "x86_64", {}
        for name in sorted(os.listdir(folder)):
            if name.endswith(".csv"):
                header, rows = read_table(os.path.join(folder, name))
                self.headers[name[:-4]], self.tables[name[:-4]] = header, rows
        self.sources = {row["id"] for row in self.rows("sources")}
        self.refusals = [c for c in map(self.refusal, self.rows("conflicts")) if c]

    def of(self, arch):
        """The catalog for stacks of that processor: NAME.ARCH.csv stands for NAME.csv, and os.csv for none but its own."""
        if arch in (None, self.arch):
            return self
        if arch not in self.views:
            view = self.views[arch] = copy.copy(self)
            own = {name[: -len(arch) - 1]: rows for name, rows in self.tables.items() if name.endswith(f".{arch}")}
            view.arch, view.tables = arch, {**self.tables, "os": [], **own}
        return self.views[arch]

    def rows(self, component):
        return self.tables.get(component, [])

    def versions(self, component):
        return {row["version"] for row in self.rows(component)}

    def wheel_cudas(self):
        """The series of CUDA that wheels of frameworks bring."""
        if self.series is None:
            cells = [word for name in FRAMEWORKS for row in self.rows(name) for word in row.cell("brings").split(";")]
            self.series = {word[6:] for word in cells if word.startswith("cuda==")}
        return self.series

    @staticmethod
    def refusal(row):
        """(id, {component: cell}, {component that is not asked for}) of a row that refuses and speaks of components only."""
        if row["effect"] != "refuse":
            return None
        conditions, absent = {}, set()
        for text in row["when"].split("&"):
            sign, name, cell = re.match(r"(!?)([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)(.*)", text.strip()).groups()
            if name not in COMPONENTS:
                return None
            if sign:
                absent.add(name)
            else:
                conditions[name] = cell.strip()
        return row["id"], conditions, absent
