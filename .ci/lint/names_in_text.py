#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# What documents and comments name must exist: files and identifiers in backticks, and .md files
# anywhere. Capital letters and stars are placeholders (engine_NAME.c). A user's own files
# (cluster.yaml, .ringup/...) and files of other systems (/etc/...) are not checked.
import os
import re

from house import C_TOKEN, files, finish, read

OURS = re.compile(r"^(?:lib|core|plan|resolver|oci|builder|registry-client|deployer|upstream|cli|images|recipes|tests|bench|docs|\.ci)/")
SOURCE = re.compile(r"\.(?:c|h|sh|bash|py|bats|recipe|layout|csv)$")
IDENTIFIER = re.compile(r"^([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\(\))?$")
OPEN = re.compile(r"[A-Z*{<$]|\.\.\.")

tracked = files(r".")
base_names = {os.path.basename(path) for path in tracked}
stems = {os.path.splitext(name)[0] for name in base_names}
folders = {part for path in tracked for part in (os.path.dirname(path), os.path.dirname(os.path.dirname(path)))}
words = set()
for path in tracked:
    if not path.endswith(".md") and not path.startswith("tests/golden/"):
        code = read(path)
        if path.endswith((".c", ".h")):  # a name that is only in a comment does not exist
            code = C_TOKEN.sub(lambda m: " " if m.group(0).startswith(("/*", "//")) else m.group(0), code)
        words.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", code))


def is_there(path):
    return any(p in folders or os.path.exists(p) for p in (path.rstrip("/"), "lib/" + path.rstrip("/")))


def wrong(span):
    """What is wrong with the text between two backticks, or None."""
    text = span.split(":")[0] if SOURCE.search(span.split(":")[0]) else span
    if OPEN.search(text) or " " in text or text.startswith(("/", "~", ".", "-")) and not text.startswith(".ci/"):
        return None
    if "/" in text and OURS.match(text):
        return None if is_there(text) else "there is no such file"
    if "/" not in text and SOURCE.search(text):
        return None if text in base_names else "there is no file of that name"
    name = IDENTIFIER.match(text)
    if name and name.group(1) not in words | stems:
        return "nothing has that name"
    return None


def spans(path):
    """(line, text) of what stands in backticks: in a document, or in a C file's comments."""
    text = read(path)
    if path.endswith(".md"):
        text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
    else:
        kept = C_TOKEN.finditer(text)
        comments = [(m.start(), m.group(0)) for m in kept if m.group(0).startswith(("/*", "//"))]
        for start, comment in comments:
            for match in re.finditer(r"`([^`\n]+)`", comment):
                yield text.count("\n", 0, start + match.start()) + 1, match.group(1)
        return
    for match in re.finditer(r"`([^`\n]+)`", text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


FOREIGN = {"PERFORMANCE.md", "RELEASE.md"}  # of nccl-tests and TensorFlow

findings = []
for path in files(r"\.(md|c|h)$"):
    for line, span in spans(path):
        reason = wrong(span)
        if reason:
            findings.append(f"{path}:{line}: `{span}`: {reason}")
for path in tracked:
    if path.startswith(("tests/golden/", "tests/fuzz/", "recipes/")):
        continue
    for number, line in enumerate(read(path).split("\n"), 1):
        for name in re.findall(r"\b[A-Z]{3,}\.md\b", line):
            if name not in base_names | FOREIGN:
                findings.append(f"{path}:{number}: {name}: this repository has no such document")
finish(findings)
