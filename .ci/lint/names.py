#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A static function bears its room's word (up_run, not a 29th run): no two files define the same name, so
# that a name in a backtrace, a log or a search leads to one place.
import os
import re

from house import MODULES, c_code, files, finish

DEFINITION = re.compile(r"^static\b[^;{}()=]*?\b(\w+)\(")

places, findings = {}, []
for path in files(r"^(%s|images)/.*\.c$" % "|".join(MODULES)):
    for number, line in enumerate(c_code(path, keep_strings=False), 1):
        match = DEFINITION.match(line)
        if match:
            places.setdefault(match.group(1), {}).setdefault(path, number)
for name, where in sorted(places.items()):
    (first, _), *others = where.items()
    for path, number in others:
        findings.append(f"{path}:{number}: {first} has a static {name}() too; name it for its room")
finish(findings, f"{len(places)} static functions")
