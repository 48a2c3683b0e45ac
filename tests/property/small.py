# SPDX-License-Identifier: MIT
"""Small catalogs made up from a random source: 3 to 6 rows per component, with the columns of the
real one. The facts in them are not true; they are as odd as the columns allow."""
import os
import random
import shutil

from brute import Brute
from catalog import BESIDE_TORCH, Catalog
from harness import REAL
from versions import KEY

OSES = (
    ("ubuntu18.04", "apt"),
    ("ubuntu20.04", "apt"),
    ("ubuntu22.04", "apt"),
    ("rockylinux8", "dnf"),
    ("centos7", "yum"),
)
CUDAS = ("9.0.176", "10.0.130", "10.1.243", "11.0.3", "11.2.2", "11.8.0", "12.1.1", "12.4.0", "12.8.1")
PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11")
GCCS = ("4.8.5", "5", "7.5.0", "9", "11.4.0", "12")
MPIS = ("3.1.3", "4.0.0", "4.0.7", "4.1.8", "5.0.10")
DRIVERS = (
    ("384.81", "410.48", "418.39", "418.87.00", "440.33", "450.80.02", "460.32.03", "470.57.02")
    + ("520.61.05", "525.60.13", "530.30.02", "550.54.14", "570.26")
)
SMS = ("3.5", "5.0", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")
CUDNNS = ("7.4.2.24", "7.6.5.32", "8.0.5.39", "8.2.0.53", "8.9.7.29", "9.3.0.75")
NCCLS = ("2.4.8-1", "2.7.8-1", "2.11.4-1", "2.16.5-1", "2.18.5-1")
WHEELS = {
    "tensorflow": ("1.12.0", "1.14.0", "2.1.0", "2.4.0", "2.10.0", "2.17.0"),
    "torch": ("1.2.0", "1.7.1", "1.13.1", "2.0.1", "2.5.0", "2.7.0"),
    "jax": ("0.4.20", "0.4.38", "0.6.2", "0.10.2"),
    "mxnet": ("1.4.0", "1.5.1", "1.5.1.post0", "1.7.0", "1.9.1"),
    "horovod": ("0.16.4", "0.19.5", "0.21.3", "0.26.1", "0.28.1"),
}
BESIDE = ("0.9.1", "1.0", "2.8.3", "2.8.3.post1")
GPUS = (
    ("Tesla V100 SXM2", "7.0", "datacenter", ">=9.0;<13"),
    ("RTX 3090", "8.6", "geforce", ">=11.1"),
    ("A100 SXM4", "8.0", "datacenter", ">=11.0"),
    ("H100 SXM5", "9.0", "datacenter", ">=11.8"),
    ("RTX 5090", "12.0", "geforce", ">=12.8"),
    ("Titan V", "7.0", "titan", ">=9.0;<13"),
)


class Maker:
    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.headers = Catalog(REAL).headers if not hasattr(Maker, "kept") else Maker.kept
        Maker.kept = self.headers

    def write(self, name, rows):
        header = self.headers[name]
        with open(os.path.join(self.folder, name + ".csv"), "w", encoding="utf-8") as file:
            print(",".join(header), file=file)
            for row in rows:
                row = {"certainty": "documented", "source": "spack-cuda", **row}
                print(",".join(row.get(column, "") for column in header), file=file)

    def some(self, items, low=3, high=6):
        count = min(len(items), self.source.randint(low, high))
        taken = self.source.sample(items, count)
        return sorted(taken, key=lambda item: KEY(item if isinstance(item, str) else item[0]))

    def maybe(self, cell, chance=0.5):
        return cell if self.source.random() < chance else ""

    def span(self, versions):
        """A random requirement cell over these."""
        low, high = sorted((self.source.choice(versions), self.source.choice(versions)), key=KEY)
        middle = self.source.choice(versions)
        forms = [f">={low};<={high}", f">={low}", f"=={middle}", f"<={high}", f"=={low}|>={middle}"]
        forms += [f"!={middle}", f">={low};<{middle}", f"=={self.series(middle, 1)}.*"]
        if "." in middle:
            forms.append(f"~={middle}")
        return self.source.choice(forms)

    def tested(self, versions, word):
        """A preference, or none; by the word, not by the random source."""
        choice = random.Random(f"{word} {os.path.basename(self.folder)}")
        return f"=={choice.choice(versions)}" if choice.random() < 0.5 else ""

    def series(self, version, count):
        return ".".join(version.split(".")[:count])


def make_os(maker, oses, cudas):
    rows = []
    for rank, (name, manager) in enumerate(oses):
        rows.append(
            {
                "version": name,
                "distribution": name.rstrip("0123456789."),
                "family": "debian" if manager == "apt" else "redhat",
                "package_manager": manager,
                "rank": str(rank // 2 + 1),
                "cuda": maker.span(cudas),
                "repository": "developer.download.nvidia.com/" + name,
                "key": "3bf863cc.pub",
                "image": "docker.io/library/" + name,
                "run_packages": "ca-certificates",
            }
        )
    maker.write("os", rows)
    maker.write("package_manager", Catalog(REAL).rows("package_manager"))
    glibcs = maker.source.sample(("2.17", "2.23", "2.27", "2.31", "2.35"), len(oses))
    maker.write("glibc", [{"version": g, "os": o} for g, (o, _) in zip(glibcs, oses)])


def make_of_os(maker, oses):
    """gcc, Python and Open MPI."""
    for name, versions in (("gcc", GCCS), ("python", PYTHONS)):
        rows = []
        for system, _ in oses:
            for i, version in enumerate(maker.some(versions, 1, 2)):
                kind = "extra" if i else "default"
                row = {"version": version, "os": system, "kind": kind}
                rows.append(dict(row, build_packages=f"{name}-{version}"))
        if name == "python":
            rows += [{"version": v, "kind": "source"} for v in maker.some(versions, 1, 2)]
        maker.write(name, rows)
    rows = [
        {"version": v, "kind": "source", "download": f"https://x/{v}.tar.bz2", "sha256": "ab" + v}
        for v in maker.some(MPIS)
    ]
    for row in rows:
        row["os"] = maker.maybe(maker.source.choice(oses)[0], 0.2)
    maker.write("openmpi", rows)


def make_cuda(maker, cudas, drivers):
    rows = []
    for version in cudas:
        low, high = sorted((maker.source.choice(SMS), maker.source.choice(SMS)), key=KEY)
        row = {"version": version, "driver": ">=" + maker.source.choice(drivers), "sm": f">={low};<={high}"}
        row["gcc"] = maker.maybe(maker.span(GCCS))
        row["driver_minor"] = maker.maybe(">=" + maker.source.choice(drivers), 0.4)
        row["compat"] = maker.source.choice(("yes", "no"))
        rows.append(row)
    maker.write("cuda", rows)
    maker.write("driver", [{"version": d, "branch": d.split(".")[0]} for d in drivers])


def make_gate(maker, cudas, drivers):
    rows = []
    for version in maker.some(cudas, 1, len(cudas)):
        for month in range(maker.source.randint(1, 2)):
            branches = sorted({d.split(".")[0] for d in maker.some(drivers, 1, 3)})
            brands = maker.source.choice(("tesla", "geforce;quadro;tesla;titan;unknown"))
            row = {"version": version, "from": f"2022-0{month + 1}-01"}
            row["cuda_least"] = maker.series(version, 2)
            rows.append(dict(row, branches=";".join(branches), brands=brands))
    maker.write("require", rows)


def make_images(maker, cudas, oses):
    rows = []
    for version in cudas:
        for system, _ in oses:
            if maker.source.random() < 0.3:
                status = maker.source.choice(("listed", "eol", "gone", "dockerfile"))
                short = maker.series(version, maker.source.choice((2, 3)))
                for cudnn in ("", maker.source.choice(("7", "8"))):
                    middle = f"cudnn{cudnn}-devel" if cudnn else "devel"
                    row = {"version": f"{short}-{middle}-{system}", "os": system, "cuda": short}
                    cell = f"=={cudnn}.*" if cudnn else ""
                    rows.append(dict(row, flavor="devel", status=status, cudnn=cell))
    maker.write("image", rows)


def make_libraries(maker, cudas):
    for name, versions in (("cudnn", CUDNNS), ("nccl", NCCLS)):
        rows = []
        for version in maker.some(versions, 4, 6):
            kind, built = maker.source.choice(("apt", "rpm", "tar", "tar")), maker.source.choice(cudas)
            built = maker.series(built, 2)
            cell = maker.source.choice((f"=={built}.*", f">={built.split('.')[0]}", f">={built}", ""))
            row = {"version": version, "kind": kind, "built": built, "cuda": cell}
            row["run_packages"] = f"lib{name}={version}+{kind}{built}" if kind != "tar" else ""
            row["download"] = f"https://x/{name}-{version}-{built}.tar" if kind == "tar" else ""
            rows.append(row)
        maker.write(name, rows)


def wheel_row(maker, name, version, cudas, number):
    tested = maker.source.choice(cudas)
    row = {"version": version, "cuda_tested": f"=={maker.series(tested, 2)}.*"}
    row["python"] = maker.maybe(maker.span(PYTHONS), 0.7)
    forms = (maker.span(cudas), f">={maker.series(tested, 1)}", f"=={maker.series(tested, 2)}.*")
    row["cuda"] = maker.source.choice(forms)
    row["cudnn"] = maker.maybe(maker.span(CUDNNS), 0.4)
    row["nccl"] = maker.maybe(maker.span(NCCLS), 0.2)
    row["glibc"] = maker.maybe(">=" + maker.source.choice(("2.17", "2.27")), 0.5)
    row["sm"] = maker.maybe(";".join(maker.some(SMS, 2, 5)), 0.6)
    row["ptx"] = maker.maybe(maker.source.choice(SMS), 0.5) if row["sm"] else ""
    row["pip"] = f"{name}=={version}+{number}"
    row["cudnn_tested"] = maker.tested(CUDNNS, row["pip"])
    return row


def beside_row(maker, name, version, cudas):
    row = {"version": version, "pip": f"{name}=={version}", "sha256": maker.maybe("ef" + version, 0.3)}
    row["sdist"] = row["pip"] if row["sha256"] else ""
    row["torch"] = maker.maybe(maker.span(WHEELS["torch"]), 0.6)
    row["python"] = maker.maybe(maker.span(PYTHONS), 0.3)
    row["cuda"] = maker.maybe(maker.span(cudas), 0.3)
    row["sm"] = maker.maybe(maker.source.choice(("7.0-9.0", "8.0-12.1", "5.0;7.0;9.0")), 0.3)
    return row


def make_wheels(maker, cudas):
    for name in ("tensorflow", "torch", "jax", "mxnet"):
        versions = maker.some(WHEELS[name], 2, 4)
        versions += [maker.source.choice(versions)] * maker.source.randint(0, 2)
        maker.write(name, [wheel_row(maker, name, v, cudas, i) for i, v in enumerate(versions)])
    for name in BESIDE_TORCH:
        maker.write(name, [beside_row(maker, name, version, cudas) for version in maker.some(BESIDE, 1, 3)])
    rows = []
    for version in maker.some(WHEELS["horovod"]):
        row = {"version": version, "pip": f"horovod=={version}", "sha256": "cd" + version}
        for name in ("tensorflow", "torch", "jax", "mxnet"):
            row[name] = maker.maybe(maker.span(WHEELS[name]), 0.4)
        row["python"] = maker.maybe(maker.span(PYTHONS), 0.4)
        row["gcc"] = maker.maybe(maker.span(GCCS), 0.4)
        row["nccl"] = maker.maybe(maker.span(NCCLS), 0.3)
        row["openmpi"] = maker.maybe(maker.span(MPIS), 0.4)
        row["python_tested"] = maker.tested(PYTHONS, version)
        row["openmpi_tested"] = maker.tested(MPIS, version)
        rows.append(row)
    maker.write("horovod", rows)


def make_gpus(maker):
    rows = [{"version": n, "sm": s, "class": c, "cuda": k, "nvlink": "no"} for n, s, c, k in GPUS]
    maker.write("gpu", rows)


def make_conflicts(maker, cudas, drivers):
    pools = {"openmpi": MPIS, "gcc": GCCS, "python": PYTHONS, "cuda": cudas, **WHEELS}
    pools.update({"nccl": NCCLS, "cudnn": CUDNNS})
    if drivers:
        pools["driver"] = drivers
    rows = []
    for number in range(maker.source.randint(2, 5)):
        names = maker.source.sample(sorted(pools), maker.source.choice((1, 2, 2, 3)))
        chance = 0.8 if len(names) > 1 else 1
        when = " & ".join(name + maker.maybe(maker.span(pools[name]), chance) for name in names)
        effect = maker.source.choice(("refuse", "refuse", "warn"))
        rows.append({"id": f"rule-{number}", "when": when, "effect": effect})
    rows.append({"id": "no-component", "when": "openmpi & infiniband", "effect": "refuse"})
    rows = [dict(row, symptom="it breaks", fix="do not") for row in rows]
    maker.write("conflicts", rows)


def make(source, folder, with_drivers):
    """`with_drivers`: conflicts.csv has conditions on the driver too."""
    maker = Maker(source, folder)
    os.makedirs(folder)
    for name in ("sources", "toolkit"):
        shutil.copy(os.path.join(REAL, name + ".csv"), folder)
    oses, cudas, drivers = maker.some(OSES, 2, 4), maker.some(CUDAS, 3, 6), maker.some(DRIVERS, 4, 8)
    make_os(maker, oses, cudas)
    make_of_os(maker, oses)
    make_cuda(maker, cudas, drivers)
    make_gate(maker, cudas, drivers)
    make_images(maker, cudas, oses)
    make_libraries(maker, cudas)
    make_wheels(maker, cudas)
    make_gpus(maker)
    make_conflicts(maker, cudas, drivers if with_drivers else None)
    return Catalog(folder)


def make_useful(source, folder, item):
    """One that has a stack for GPUs; every 20th may have none."""
    while True:
        catalog = make(source, folder, item % 4 == 3)
        if item % 20 == 19 or Brute(catalog, ["cuda"]).first():
            return catalog
        shutil.rmtree(folder)
