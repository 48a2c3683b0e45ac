# SPDX-License-Identifier: MIT
"""recipes/wheels/: what pip installs with a wheel, as two tables (docs/recipes.md).

packages.csv has a row per selection of a package's files: name, version, build, sha256 (";" between). The build is
empty for the first selection of a version, then 2, 3, ...: Pythons of different age take different files.

sets.csv has a row per wheel and Python: for, python, glibc, asked, packages. The last cell refers to packages.csv,
";" between: "name==version", or "name==version:build".

packages.aarch64.csv and sets.aarch64.csv are the same for another processor.

    wheels.py FOR PYTHON [ARCH]        prints that set as pip reads it: -r FILE
"""

import collections
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "recipes/wheels"

NOTES = {
    "packages": "# Files of PyPI by their checksums; sets.csv refers to them. .ci/pins.py adds rows.",
    "sets": "# What pip installs with a wheel on one Python, on {arch}. .ci/pins.py adds rows.",
}
ARCHS = ["x86_64", "aarch64"]  # the first has the plain file names
HEADS = {
    "packages": ["name", "version", "build", "sha256"],
    "sets": ["for", "python", "glibc", "asked", "packages"],
}
Package = collections.namedtuple("Package", HEADS["packages"])
Set = collections.namedtuple("Set", ["wheel", *HEADS["sets"][1:]])


def reference(package):
    return f"{package.name}=={package.version}" + (f":{package.build}" if package.build else "")


def series(python):
    return tuple(int(part) for part in python.split("."))


def package_order(package):
    return package.name, package.version, int(package.build or 1)


def set_order(one):
    return one.wheel, series(one.python)


def rows(text):
    """(line, cells) of each row but the header."""
    lines = [(n, line.split(",")) for n, line in enumerate(text.splitlines(), 1) if line and line[0] != "#"]
    return lines[1:]


def file_name(table, arch):
    return f"{table}.csv" if arch == ARCHS[0] else f"{table}.{arch}.csv"


def load(folder, arch=ARCHS[0]):
    """The packages by their references, and the sets."""
    packages = [Package(*cells) for _, cells in rows((folder / file_name("packages", arch)).read_text())]
    sets = [Set(*cells) for _, cells in rows((folder / file_name("sets", arch)).read_text())]
    return {reference(package): package for package in packages}, sets


def save(folder, packages, sets, arch=ARCHS[0]):
    for name, table in (
        ("packages", sorted(packages.values(), key=package_order)),
        ("sets", sorted(sets, key=set_order)),
    ):
        lines = [NOTES[name].format(arch=arch), ",".join(HEADS[name]), *(",".join(row) for row in table)]
        (folder / file_name(name, arch)).write_text("\n".join(lines) + "\n")


def add(packages, name, version, sums):
    """The reference to the package with just these checksums; adds a row where there is none."""
    wanted = ";".join(sorted(sums))
    same = [one for one in packages.values() if (one.name, one.version) == (name, version)]
    for one in same:
        if one.sha256 == wanted:
            return reference(one)
    build = str(max(int(one.build or 1) for one in same) + 1) if same else ""
    package = Package(name, version, build, wanted)
    packages[reference(package)] = package
    return reference(package)


def requirements(packages, one):
    """A set as lines of a file for pip."""
    for word in one.packages.split(";"):
        package = packages[word]
        hashes = "".join(f" --hash=sha256:{sha256}" for sha256 in package.sha256.split(";"))
        yield f"{package.name}=={package.version}{hashes}"


def main(wheel, python, arch=ARCHS[0]):
    packages, sets = load(FOLDER, arch)
    for one in sets:
        if (one.wheel, one.python) == (wheel, python):
            print("\n".join(requirements(packages, one)))
            return 0
    print(f"{FOLDER}/{file_name('sets', arch)} has no set for {wheel} with Python {python}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
