#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Calls that cannot be used safely; files that print or exit (only the few core files made for it do:
# the command line prints by say() of core/foreign.h, which no control character of a host or a
# registry gets through); and ssh told to trust any host.
import re

from house import c_code, files, finish, read

BANNED = "strcpy strcat sprintf vsprintf gets strtok atoi atol atof system popen mktemp tmpnam alloca"
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED.split()))
SPEAKS = re.compile(
    r"(?<![\w.>])(?:(?:printf|vprintf|puts|putchar|perror|exit)\s*\(|v?fprintf\s*\(\s*std(?:out|err)\b"
    r"|(?:fput[sc]|fwrite)\s*\([^;]*\bstd(?:out|err)\s*\))"
)
MAY_SPEAK = re.compile(r"^(lib/core/(log|progress|foreign|term|json|opt|arena)\.c$|images/worker/|tests/|bench/)")
TRUSTING = re.compile(r"StrictHostKeyChecking[\s=\"',]+(no|off)\b", re.I)

findings = []
for path in files(r"\.[ch]$"):
    for number, line in enumerate(c_code(path, keep_strings=False), 1):
        for match in CALL.finditer(line):
            findings.append(f"{path}:{number}: {match.group(1)}() is banned")
        speaks = None if MAY_SPEAK.match(path) else SPEAKS.search(line)
        if speaks:
            findings.append(f"{path}:{number}: only say(), log and progress print, and only main ends: {speaks.group(0)}")
for path in files(r"^(?!tests/|docs/|\.ci/lint/banned\.py$)(?!.*\.md$)"):
    for number, line in enumerate(read(path).split("\n"), 1):
        if TRUSTING.search(line):
            findings.append(f"{path}:{number}: host keys are always checked: {line.strip()}")
finish(findings)
