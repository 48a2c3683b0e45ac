#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds rows to recipes/wheels/: for each framework wheel on PyPI and each Python that it takes, all packages that
pip would install with it, of one version each, with the checksums of the files that fit.

    pip install uv packaging && .ci/pins.py [--arch aarch64] [FRAMEWORK[==VERSION]...]

A wheel that has a row in sets.csv keeps it; delete the row to ask anew. Packages of packages.csv that no set
refers to any more are deleted. Packages are those of half a year after the framework's release, which is what it
was used with, and of today where there is no such set. Limits that the releases themselves do not state come
from recipes/catalog/companion.csv.
"""

import argparse
import csv
import datetime
import functools
import json
import re
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import VERSION_PATTERN, Version

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import wheels

ROOT = Path(__file__).resolve().parent.parent
SERIES = [f"3.{minor}" for minor in range(6, 15)]  # what uv resolves for
FRAMEWORKS = ["tensorflow", "torch", "jax", "mxnet"]
GLIBC = [17, 28, 34]  # the oldest that has all wheels
AFTER_DAYS = 183
ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("--arch", choices=wheels.ARCHS, default=wheels.ARCHS[0])
ARGUMENTS.add_argument("asked", nargs="*")
ARCH = ARGUMENTS.parse_args().arch
ASKED = ARGUMENTS.parse_args().asked
SOURCE_BYTES_MAX = 256 * 1024  # of an archive of Python files; more is to be compiled, without a compiler


def catalog_file(table):
    own = ROOT / "recipes/catalog" / wheels.file_name(table, ARCH)
    return own if own.exists() else ROOT / f"recipes/catalog/{table}.csv"


@functools.lru_cache(maxsize=None)
def project(name):
    request = urllib.request.Request(
        f"https://pypi.org/simple/{canonicalize_name(name)}/",
        headers={"Accept": "application/vnd.pypi.simple.v1+json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["files"]


def tags(series, glibc):
    python = tuple(int(part) for part in series.split("."))
    old = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
    platforms = []
    for minor in range(glibc, 4, -1):
        platforms.append(f"manylinux_2_{minor}_{ARCH}")
        if minor in old:
            platforms.append(f"{old[minor]}_{ARCH}")
    platforms.append(f"linux_{ARCH}")
    return {
        *cpython_tags(python, platforms=platforms),
        *compatible_tags(python, interpreter=f"cp{python[0]}{python[1]}", platforms=platforms),
    }


def files_of(name, version, fitting):
    wheels, sources = [], []
    for file in project(name):
        text = file["filename"]
        if text.endswith(".whl"):
            _, of, _, of_tags = parse_wheel_filename(text)
            if of == Version(version) and fitting & of_tags:
                wheels.append(file)
        elif text.endswith((".tar.gz", ".zip")):
            stem = re.sub(r"\.(tar\.gz|zip)$", "", text)
            of = stem[len(name) + 1 :] if len(stem) > len(name) else ""
            if re.fullmatch(VERSION_PATTERN, of, re.VERBOSE | re.IGNORECASE) and Version(of) == Version(version):
                sources.append(file)
    return wheels or [file for file in sources if (file["size"] or 0) <= SOURCE_BYTES_MAX]


def companions(component, kind, version, series):
    """The words that recipes/catalog/companion.csv has for it; without a version, those for any version."""
    with open(catalog_file("companion"), encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if (row["component"], row["kind"]) != (component, kind):
                continue
            if (not row["versions"] or (version and admits(row["versions"], version))) and (
                not row["python"] or admits(row["python"], series)
            ):
                yield from row["words"].split(";")


def compile_set(wanted, series, glibc, newest, only_wheels):
    words = ["uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--no-config"]
    words += ["--no-python-downloads"]
    words += ["--python-version", series, "--python-platform", f"{ARCH}-manylinux_2_{glibc}"]
    words += ["--exclude-newer", newest] if newest else []
    for want in wanted if newest else []:
        if "==" in want:  # however new that one is
            words += ["--exclude-newer-package", f"{want.split('==')[0].split('[')[0]}=9999-01-01"]
    words += ["--only-binary", ":all:"] if only_wheels else []
    done = subprocess.run(words, input="\n".join(wanted), capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def admits(cell, version):
    """Whether a requirement cell (docs/catalog.md) admits a version of PyPI, or a Python's series."""

    def one(text):
        return Version(version) in SpecifierSet(text, prereleases=True)

    return any(all(one(text) for text in part.split(";")) for part in cell.split("|"))


def needs_of(component, series):
    """What a component that is built from an archive imports, as companion.csv says."""
    for glibc in GLIBC:
        pins = compile_set(list(companions(component, "needs", None, series)), series, glibc, None, True)
        if pins:
            return glibc, None, pins
    return None


def tools_of(sets, series):
    """What the recipes install before; newer ones have no pkg_resources, which TensorBoard before 2.17 imports."""
    for one in sets:
        if (one.wheel, one.python) == ("python-needs", series):
            words = [word.partition(":")[0] for word in one.packages.split(";")]
            return [word for word in words if not word.startswith("pip==")]
    return ["setuptools<81"]


def brought_of(framework, version, pip):
    """What the row says that the extra of the wheel brings (jax[cuda13]): JAX itself takes any of a range."""
    with open(catalog_file(framework), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if "[" in pip and (row["version"], row["pip"]) == (version, pip) and row["brings"]:
                major = re.search(r"\d+", row["cuda_tested"])[0]
                for word in row["brings"].split(";"):
                    name, _, of = word.partition("==")
                    if name == "cuda":
                        yield f"nvidia-cuda-runtime{'' if int(major) >= 13 else f'-cu{major}'}=={of}.*"
                    else:
                        yield f"nvidia-{name}-cu{major}=={of}"


def pins_of(framework, version, pip, series, tools):
    if not version:
        return needs_of(framework, series)
    name = re.match(r"[A-Za-z0-9._-]+", pip)[0]
    of_framework = pip.split("==")[1]
    wanted = [pip, *companions(framework, "with", version, series)]
    wanted += brought_of(framework, version, pip)
    wanted += tools
    for glibc in GLIBC:
        fitting = tags(series, glibc)
        own = files_of(name, of_framework, fitting)
        if not own or not own[0]["filename"].endswith(".whl"):
            continue
        released = max(datetime.date.fromisoformat(file["upload-time"][:10]) for file in own)
        date = (released + datetime.timedelta(days=AFTER_DAYS)).isoformat()
        for newest, only_wheels in [(date, True), (date, False), (None, True), (None, False)]:
            pins = compile_set(wanted, series, glibc, newest, only_wheels)
            if pins and all(files_of(*pin.split("=="), fitting) for pin in pins):
                return glibc, newest, pins
    return None


def make(job, tools):
    """(problem, nothing), or (nothing, (set without packages, [(name, version, checksums)]))."""
    framework, version, pip, series = job
    made = pins_of(framework, version, pip, series, tools)
    if not made:
        return f"{pip} with Python {series}: no set of packages", None
    glibc, newest, pins = made
    words = []
    for pin in pins:
        name, _, of = pin.partition("==")
        files = files_of(name, of, tags(series, glibc))
        if not files:
            return f"{pip} with Python {series}: no file of {pin}", None
        words.append((name, of, {file["hashes"]["sha256"] for file in files}))
    return None, (wheels.Set(pip, series, f"2.{glibc}", newest or "", ""), words)


def main():
    jobs = [("horovod", "", "horovod-needs", series) for series in SERIES]
    for framework in FRAMEWORKS:
        with open(catalog_file(framework), encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                name = f"{framework}=={row['version']}"
                if (row["index"] and not row.get("on_pypi")) or not row["pip"]:
                    continue
                if ASKED and framework not in ASKED and name not in ASKED:
                    continue
                jobs += [
                    (framework, row["version"], pip, series)
                    for pip in filter(None, (row["pip"], row.get("pip_cpu")))
                    for series in SERIES
                    if admits(row["python"], series)
                ]
    packages, sets = wheels.load(wheels.FOLDER, ARCH)
    known = {(one.wheel, one.python) for one in sets}
    jobs = [job for job in dict.fromkeys(jobs) if job[2:] not in known]
    tools = {series: tools_of(sets, series) for series in SERIES}
    with ThreadPoolExecutor(10) as pool:
        for problem, made in pool.map(lambda job: make(job, tools[job[3]]), jobs):
            if problem:
                print(problem)
                continue
            words = [wheels.add(packages, *word) for word in made[1]]
            sets.append(made[0]._replace(packages=";".join(words)))
    used = {word for one in sets for word in one.packages.split(";")}
    wheels.save(wheels.FOLDER, {word: packages[word] for word in packages if word in used}, sets, ARCH)


if __name__ == "__main__":
    main()
