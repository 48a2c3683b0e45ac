#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Includes run one way: core <- plan <- oci <- {builder, registry-client, deployer} <- cli. The worker
# includes nothing of the modules, so that it can be built inside of any image. Tests are free.
import os
import re

from house import MODULES, files, finish, read

MAY = {
    "core": {"core"},
    "plan": {"core", "plan"},
    "oci": {"core", "plan", "oci"},
    "builder": {"core", "plan", "oci", "builder"},
    "registry-client": {"core", "plan", "oci", "registry-client"},
    "deployer": {"core", "plan", "deployer"},
    "cli": set(MODULES),
    "images": {"images"},
}
findings = []
for path in files(r"^(%s)/.*\.[ch]$" % "|".join(map(re.escape, MAY))):
    layer = path.split("/")[0]
    for number, line in enumerate(read(path).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        target = match.group(1)
        beside = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if os.path.exists(beside):
            target = beside
        elif not os.path.exists(os.path.normpath(target)):
            continue  # the system's, or a generated list
        folder = os.path.normpath(target).split("/")[0]
        if folder not in MAY[layer]:
            findings.append(f"{path}:{number}: {layer} must not include {target}")
finish(findings)
