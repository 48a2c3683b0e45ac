#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The file name is the index. Everything special about an engine, launcher or build backend is in
# its own file, so no other source compares with its name. plugin_words.txt lists the few places
# where the same word means something else.
import os
import re

from house import MODULES, c_code, files, finish, read

COMMON_WORDS = {"none", "native", "ssh", "env"}
OWN = re.compile(r"^(?:deployer/(?:engine/engine|launcher/launcher|export/export)|builder/(?:client|native)/backend)_(\w+)\.c$")
WORDS_FILE = ".ci/lint/plugin_words.txt"

allowed = [line.split()[:2] for line in read(WORDS_FILE).split("\n") if line and line[0] != "#"]
names = {m.group(1) for m in map(OWN.match, files(r"\.c$")) if m} - COMMON_WORDS
findings, used = [], []
for path in files(r"^(%s)/.*\.[ch]$" % "|".join(MODULES)):
    others = {n for n in names if n not in os.path.basename(path)}
    for number, line in enumerate(c_code(path, keep_strings=True), 1):
        for name in sorted(others):
            if f'"{name}"' not in line:
                continue
            used.append([path, name])
            if [path, name] not in allowed:
                findings.append(f'{path}:{number}: "{name}" belongs in the file named for it')
for entry in allowed:
    if entry not in used:
        findings.append(f"{WORDS_FILE}:1: {' '.join(entry)}: no longer needed; remove the line")
finish(findings, f"{len(names)} names")
