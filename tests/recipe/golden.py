#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes of tests/golden/recipe/list, rendered anew, against the files beside it.

    golden.py compare     what `ringup recipe` prints differs: prints how; UPDATE_GOLDEN=1 rewrites
    golden.py check       each golden: the rules of dockerfile.py, hadolint and shellcheck
    golden.py pinned      the same stacks with all that `resolve --pin` would have learnt of the OS and registries in
                          ringup.lock: each package has a version and each image a digest, for us and for hadolint

A number after the word takes each so many-th of them only: "check 3" a third.
"""

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dockerfile
import linters

FOLDER = linters.ROOT / "tests" / "golden" / "recipe"
FORMS = {"Dockerfile": [], "script": ["--format", "script"]}
MADE = re.compile(r"(ringup-base:\w+-)[0-9a-f]{12}\b")  # it changes with the script in images/base/
LINTED, CHECKED, PINNED = set(), set(), set()  # instructions and RUN bodies that a linter saw
OTHERS = {"list", "debian12.Dockerfile"}  # the latter is tests/unit/builder/test_recipe.c's


def requests():
    """(name, words) of each line."""
    for line in (FOLDER / "list").read_text().splitlines():
        name, _, words = line.partition(": ")
        if words and not line.startswith("#"):
            yield name, words.split()


def wanted():
    for name, words in requests():
        for form, option in FORMS.items():
            if form == "Dockerfile" or not name.endswith("!"):
                yield f"{name.rstrip('!')}.{form}", [*option, *words]


def render(words):
    """`ringup recipe`; the word "cpu" is a cluster file's accelerator, for which there is no request."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as cluster:
        cluster.write("name: lab\nhosts: [a]\naccelerator: cpu\n")
        cluster.flush()
        file = ["-f", cluster.name] if "cpu" in words else []
        words = ["ringup", *file, "recipe", *(word for word in words if word != "cpu")]
        return subprocess.run(words, capture_output=True, text=True, check=False)


def compare(job):
    name, words = job
    path = FOLDER / name
    made = render(words)
    if made.returncode:
        return [f"{name}: ringup recipe {' '.join(words)}: {made.stderr.strip()}"]
    now = MADE.sub(r"\1HASH", made.stdout)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(now)
    kept = path.read_text() if path.exists() else ""
    return list(difflib.unified_diff(kept.splitlines(), now.splitlines(), name, "now", lineterm=""))


def program(words):
    """What shellcheck says of the program that the RUNs call."""
    with tempfile.TemporaryDirectory() as made:
        render([*words, "-o", made + "/context"])
        text = (Path(made) / "context" / "step").read_text()
    if text in CHECKED:
        return []
    CHECKED.add(text)
    return [f"step: {finding}" for finding in linters.shellcheck(text, "sh")]


def check(job):
    name, words = job
    text = (FOLDER / name).read_text()
    if name.endswith(".script"):
        return [f"{name}: {finding}" for finding in linters.shellcheck(text, "bash")]
    # an instruction that stands in several files just so is looked at once
    findings = list(dockerfile.wrong(text)) + linters.hadolint(linters.unseen(text, LINTED, str)) + program(words)
    for line, body in linters.runs(text):
        if body not in CHECKED:
            CHECKED.add(body)
            findings += [f"RUN of line {line}: {finding}" for finding in linters.shellcheck(body, "sh")]
    return [f"{name}: {finding}" for finding in findings]


def lock(folder, words):
    """A cluster file that asks for the stack, and its lock."""
    wants = json.dumps([word for word in words if word != "cpu"])
    accelerator = "accelerator: cpu" if "cpu" in words else ""
    (folder / "cluster.yaml").write_text(f"name: lab\nhosts: [a]\nstack: {wants}\n{accelerator}\n")
    return ringup(folder, "resolve")


def ringup(folder, *words):
    made = subprocess.run(["ringup", "-f", folder / "cluster.yaml", *words], capture_output=True, text=True, check=False)
    if made.returncode:
        raise ValueError(f"ringup {' '.join(words)}: {made.stderr.strip()}")
    return made.stdout


def pin(folder, text):
    """Pins of our own making: every bare name has one, as if the archives had answered."""
    path = folder / "ringup.lock"
    rpm = not re.search("apt-get install", text)
    version = "1:2.3.4-5.el9" if rpm else "1:2.3-4ubuntu5~1"
    names = {word for _, word in dockerfile.packages(text) if "=" not in word}
    images = {line.split()[1] for line in text.split("\n") if line.startswith("FROM ")}
    found = json.loads(path.read_text())
    found["pinned"] = {
        "at": "2026-11-22T13:00:00Z",
        "packages": dict.fromkeys(sorted(names), version),
        "images": dict.fromkeys(sorted(images), "sha256:" + 64 * "a"),
    }
    path.write_text(json.dumps(found))


def pinned(job):
    name, words = job
    if name.endswith(".script"):
        return []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        try:
            lock(folder, words)
            bare = ringup(folder, "recipe")
            pin(folder, bare)
            text = ringup(folder, "recipe")
        except ValueError as error:
            return [f"{name}: {error}"]
    findings = list(dockerfile.wrong(text)) + list(dockerfile.unpinned(text))
    findings += linters.hadolint_pinned(linters.unseen(text, PINNED))
    findings += ["nothing of it was unpinned before"] * (not list(dockerfile.unpinned(bare)))
    return [f"{name}: {finding}" for finding in findings]


def main():
    jobs = list(wanted())
    part = jobs[:: int(sys.argv[2])] if len(sys.argv) > 2 else jobs
    names = {name for name, _ in jobs}
    findings = [f"{path.name}: no line of the list is for it" for path in FOLDER.iterdir() if path.name not in names | OTHERS]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map({"compare": compare, "check": check, "pinned": pinned}[sys.argv[1]], part):
            findings += found
    print("\n".join(findings + [f"{len(part)} of {len(jobs)} recipes, {len(findings)} lines of findings"]))
    return 1 if findings or len(jobs) < 110 else 0


if __name__ == "__main__":
    sys.exit(main())
