# SPDX-License-Identifier: MIT
"""recipes/wheels/: what pip installs with a wheel, as two tables (docs/recipes.md).

packages.csv has a row per selection of a package's files: name, version, build, sha256 (";" between). The build is
empty for the first selection of a version, then 2, 3, ...: Pythons of different age take different files.

sets.csv has a row per wheel and Python: for, python, glibc, asked, packages. The last cell refers to packages.csv,
";" between: "name==version", or "name==version:build".

    wheels.py FOR PYTHON        prints that set as pip reads it: -r FILE
"""

import collections
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "recipes/wheels"

NOTES = {
    "packages": "# Files of PyPI by their checksums; sets.csv refers to them. .ci/pins.py adds rows.",
    "sets": "# What pip installs with a wheel on one Python, on x86_64. .ci/pins.py adds rows.",
}
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


def load(folder):
    """The packages by their references, and the sets."""
    packages = [Package(*cells) for _, cells in rows((folder / "packages.csv").read_text())]
    sets = [Set(*cells) for _, cells in rows((folder / "sets.csv").read_text())]
    return {reference(package): package for package in packages}, sets


def save(folder, packages, sets):
    for name, table in (
        ("packages", sorted(packages.values(), key=package_order)),
        ("sets", sorted(sets, key=set_order)),
    ):
        lines = [NOTES[name], ",".join(HEADS[name]), *(",".join(row) for row in table)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


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


def main(wheel, python):
    packages, sets = load(FOLDER)
    for one in sets:
        if (one.wheel, one.python) == (wheel, python):
            print("\n".join(requirements(packages, one)))
            return 0
    print(f"{FOLDER}/sets.csv has no set for {wheel} with Python {python}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
