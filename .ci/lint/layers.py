#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Includes run one way: core <- plan <- {resolver, oci} <- {builder, registry-client, deployer} <- upstream <- cli/app <- cli;
# upstream stands on registry-client only.
# The worker includes nothing of the rooms, so that it can be built inside any image. Tests are free.
import os
import re

from house import files, finish, read

BELOW = {
    "lib/core": "",
    "lib/plan": "lib/core",
    "lib/resolver": "lib/core lib/plan",
    "lib/oci": "lib/core lib/plan",
    "builder": "lib/core lib/plan lib/resolver lib/oci",
    "registry-client": "lib/core lib/plan lib/oci",
    "deployer": "lib/core lib/plan lib/resolver lib/oci",
    "upstream": "lib/core lib/plan lib/resolver lib/oci registry-client",
    "cli/app": "lib/core lib/plan lib/resolver lib/oci builder registry-client deployer",
    "cli": "lib/core lib/plan lib/resolver lib/oci builder registry-client deployer upstream cli/app",
    "images": "",
}


def room(path):
    """The longest room that the path is in, or None."""
    return max((r for r in BELOW if path.startswith(r + "/")), key=len, default=None)


def included(path, text):
    """Where an include leads in this repository, or None."""
    beside = os.path.join(os.path.dirname(path), text)
    for target in (beside, text, "lib/" + text):
        if os.path.exists(target):
            return os.path.normpath(target)
    return None  # the system's, or a generated list


findings = []
for path in files(r"^(lib|builder|registry-client|deployer|upstream|cli|images)/.*\.[ch]$"):
    own = room(path)
    if not own:
        findings.append(f"{path}:1: in no room; the rooms are {' '.join(BELOW)}")
        continue
    for number, line in enumerate(read(path).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        target = match and included(path, match.group(1))
        if target and room(target) not in {own, *BELOW[own].split()}:
            findings.append(f"{path}:{number}: {own} must not include {target}")
finish(findings)
