#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Links in the documents lead somewhere, and every folder has its page.
import os
import re

from house import files, finish, read

FOLDERS = "core plan oci builder registry-client deployer cli images recipes tests bench"
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)|(?:src|href)=\"([^\"]+)\"|^\[[^\]]+\]:\s*(\S+)")

findings = [f"docs/{f}.md:1: missing: the page of {f}/" for f in FOLDERS.split() if not os.path.isfile(f"docs/{f}.md")]
for path in files(r"\.md$"):
    fenced = False
    for number, line in enumerate(read(path).split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            link = next(filter(None, match.groups())).split("#")[0]
            if not link or re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            if not os.path.exists(os.path.join(os.path.dirname(path), link)):
                findings.append(f"{path}:{number}: the link leads nowhere: {link}")
finish(findings)
