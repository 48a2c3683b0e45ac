#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Files of at most 700 lines; functions of at most 80, and short ones as a rule: half of them
# within 15 lines, 95 of 100 within 50 (tests are left out of those two).
import subprocess

from house import MODULES, files, finish, read

FILE_MAX, FUNCTION_MAX, MEDIAN_MAX, P95_MAX = 700, 80, 15, 50
findings = []
for path in files(r"\.(c|h|sh)$"):
    count = read(path).count("\n")
    if count > FILE_MAX:
        findings.append(f"{path}:{count}: {count} lines, {FILE_MAX} are the most")

command = ["ctags", "-x", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+ne", "-L", "-"]
command.append("--_xformat=%{input}\t%{line}\t%{end}\t%{name}")
sources = files(r"\.[ch]$")
tags = subprocess.run(command, input="\n".join(sources), check=True, capture_output=True, text=True)
lengths = []
for line in tags.stdout.splitlines():
    path, start, end, name = line.split("\t")
    if not end:
        findings.append(f"{path}:{start}: ctags finds no end of {name}()")
        continue
    length = int(end) - int(start) + 1
    if length > FUNCTION_MAX:
        findings.append(f"{path}:{start}: {name}() has {length} lines, {FUNCTION_MAX} are the most")
    if path.split("/")[0] in MODULES + ("images",):
        lengths.append((length, f"{path}:{start}: {name}()"))

note = "no functions"
if lengths:
    lengths.sort()
    median, p95 = (lengths[min(len(lengths) - 1, len(lengths) * p // 100)] for p in (50, 95))
    note = f"{len(lengths)} functions, median {median[0]} lines, p95 {p95[0]}, longest {lengths[-1][0]}"
    for name, (length, where), most in (("median", median, MEDIAN_MAX), ("p95", p95, P95_MAX)):
        if length > most:
            findings.append(f"{where}: the {name} of all functions is {length} lines, {most} are the most")
finish(findings, note)
