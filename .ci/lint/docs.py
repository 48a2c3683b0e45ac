#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Links in the documents lead somewhere, every folder has its page, no line is longer than 140 characters and no
# cell of a table is a paragraph.
import os
import re

from house import files, finish, read

LINE_MAX, CELL_MAX = 140, 120  # characters; of a cell without its links' addresses
FOLDERS = "core plan resolver oci builder registry-client deployer upstream cli images recipes tests bench"
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)|(?:src|href)=\"([^\"]+)\"|^\[[^\]]+\]:\s*(\S+)")

findings = [f"docs/{f}.md:1: missing: the page of {f}/" for f in FOLDERS.split() if not os.path.isfile(f"docs/{f}.md")]
for path in files(r"\.md$"):
    fenced = False
    for number, line in enumerate(read(path).split("\n"), 1):
        if len(line) > LINE_MAX:
            findings.append(f"{path}:{number}: {len(line)} characters, {LINE_MAX} are the most")
        if line.startswith("|"):
            cells = re.sub(r"\]\([^)]*\)", "", line).strip("|").split(" | ")
            longest = max(cells, key=len)
            if len(longest) > CELL_MAX:
                findings.append(f"{path}:{number}: a cell of {len(longest)} characters: {longest[:40].strip()}...")
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
