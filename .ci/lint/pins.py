#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# recipes/wheels: each set is whole and refers to packages that are there; each package has its checksums and a set.
import re

import wheels
from house import files, finish, read

FOLDER = "recipes/wheels"
CELLS = {
    "name": r"[a-z0-9]+(?:[-._][a-z0-9]+)*",
    "version": r"\d[\w.!+]*",
    "build": r"|[1-9]\d*",
    "sha256": r"[0-9a-f]{64}(?:;[0-9a-f]{64})*",
    "for": r"[A-Za-z0-9._+-]+(?:\[[a-z0-9_,-]+\])?(?:==[\w.!+]+)?",
    "python": r"[23]\.\d+",
    "glibc": r"|2\.\d+",
    "asked": r"|\d{4}-\d\d-\d\d",
    "packages": r"[^;]+(?:;[^;]+)*",
}


def load(name, kind, arch):
    """The rows of a table with their lines; findings about its form."""
    path = f"{FOLDER}/{wheels.file_name(name, arch)}"
    rows, findings = [], []
    lines = [line for line in read(path).splitlines() if not line.startswith("#")]
    if not lines or lines[0].split(",") != wheels.HEADS[name]:
        return path, [], [f"{path}:1: the header is not {','.join(wheels.HEADS[name])}"]
    for number, cells in wheels.rows(read(path)):
        if len(cells) != len(wheels.HEADS[name]):
            findings.append(f"{path}:{number}: {len(cells)} cells, not {len(wheels.HEADS[name])}")
            continue
        for column, cell in zip(wheels.HEADS[name], cells):
            if not re.fullmatch(CELLS[column], cell):
                findings.append(f"{path}:{number}: '{cell[:60]}' is no {column}")
        rows.append((number, kind(*cells)))
    return path, rows, findings


def in_order(path, rows, key):
    """Sorted rows, each once, so that a new one is one line of a diff."""
    for (_, before), (number, now) in zip(rows, rows[1:]):
        if key(before) == key(now):
            yield f"{path}:{number}: stands twice"
        elif key(before) > key(now):
            yield f"{path}:{number}: not in order"


def check_packages(path, rows):
    seen = {}
    for number, package in rows:
        sums = package.sha256.split(";")
        if sorted(set(sums)) != sums:
            yield f"{path}:{number}: checksums are not sorted, or one stands twice"
        twin = seen.setdefault((package.name, package.version, package.sha256), number)
        if twin != number:
            yield f"{path}:{number}: the same files as line {twin}"


def check_set(where, one, packages):
    words = one.packages.split(";")
    names = [word.partition("==")[0] for word in words]
    yield from (f"{where}: '{word}' is not in packages.csv" for word in words if word not in packages)
    if len(set(names)) != len(names):
        yield f"{where}: a package stands twice"
    wheel = re.sub(r"\[.*\]", "", one.wheel)
    if not wheel.endswith("-needs") and wheel not in [word.partition(":")[0] for word in words]:
        yield f"{where}: {one.wheel} itself is missing"


def brought(arch):
    """{what pip installs: {library: version}}: the column `brings` of the frameworks' tables."""
    found = {}
    own = "" if arch == wheels.ARCHS[0] else rf"\.{arch}"
    for path in files(rf"^recipes/catalog/(tensorflow|torch|mxnet){own}\.csv$"):
        head, *lines = [line.split(",") for line in read(path).splitlines() if line and line[0] != "#"]
        for row in (dict(zip(head, cells)) for cells in lines):
            words = [re.split("==|>=", word) for word in row.get("brings", "").split(";") if word]
            found.setdefault(row["pip"], dict(words))
    return found


def check_brought(where, one, brings):
    """The stack names what the recipe installs: a set has the libraries that its framework's row says."""
    has = dict(re.findall(r"\bnvidia-(cudnn|nccl)-cu\d+==([\w.]+)", one.packages))
    for name, version in brings.get(one.wheel, {}).items():
        if has.get(name, version) != version:
            yield f"{where}: {one.wheel} brings {name} {version} by its row of the catalog, and {has[name]} here"


def check(arch):
    package_path, package_rows, findings = load("packages", wheels.Package, arch)
    set_path, set_rows, more = load("sets", wheels.Set, arch)
    findings += more
    if findings:
        return findings, ""
    findings += in_order(package_path, package_rows, wheels.package_order)
    findings += in_order(set_path, set_rows, wheels.set_order)
    findings += check_packages(package_path, package_rows)
    packages = {wheels.reference(package): number for number, package in package_rows}
    brings = brought(arch)
    for number, one in set_rows:
        findings += check_set(f"{set_path}:{number}", one, packages)
        findings += check_brought(f"{set_path}:{number}", one, brings)
    used = {word for _, one in set_rows for word in one.packages.split(";")}
    findings += [
        f"{package_path}:{number}: no set refers to {word}" for word, number in packages.items() if word not in used
    ]
    return findings, f"{len(set_rows)} sets of {len(package_rows)} packages"


wanted = [f"{FOLDER}/{wheels.file_name(name, arch)}" for arch in wheels.ARCHS for name in wheels.HEADS]
missing = set(wanted) - set(files(rf"^{FOLDER}/[^/]+\.csv$"))
if missing:
    finish([f"{path}:1: missing" for path in sorted(missing)])
found, counts = zip(*(check(arch) for arch in wheels.ARCHS))
finish([finding for findings in found for finding in findings], "; ".join(counts))
