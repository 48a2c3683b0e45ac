#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The tables of docs/cluster.yaml.md have the keys of the program's own rows, each with the same default.
import json
import os
import re
import subprocess

from house import finish, read

PAGE = "docs/cluster.yaml.md"
ROW = re.compile(r"\| `([^`|]+)` \| (.+?) \| (.+) \|$")

findings = []


def shown(key):
    """The default as the page has to show it: in backticks when it could be written into the file."""
    return f"`{key['default']}`" if "default" in key else key["note"]


command = [os.environ.get("BUILD", "build") + "/ringup", "--json", "help", "cluster.yaml"]
keys = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["keys"]
wanted = {key["key"]: shown(key) for key in keys}
seen = {}
is_keys = False
for number, line in enumerate(read(PAGE).split("\n"), 1):
    if not line.startswith("|"):
        is_keys = False
        continue
    is_keys |= line.startswith("| key |")
    if not is_keys or line.startswith(("| key |", "|---")):
        continue
    row = ROW.match(line)
    if not row:
        findings.append(f"{PAGE}:{number}: not a row of key, default and meaning")
        continue
    key, default, _ = row.groups()
    if key in seen:
        findings.append(f"{PAGE}:{number}: '{key}' stands on line {seen[key]}, too")
    elif key not in wanted:
        findings.append(f"{PAGE}:{number}: '{key}' is no key of cluster.yaml")
    elif default != wanted[key]:
        findings.append(f"{PAGE}:{number}: the default of '{key}' is {wanted[key]}, not {default}")
    seen.setdefault(key, number)
for key in wanted:
    if key not in seen:
        findings.append(f"{PAGE}:1: '{key}' is missing; its default is {wanted[key]}")
finish(findings, f"{len(wanted)} keys")
