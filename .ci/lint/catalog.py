#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The version facts: every row is complete, has a listed source and a certainty, and occurs once.
# docs/catalog.md has each table and each column.
import re

from house import files, finish, read

CERTAINTIES = {"documented", "inferred", "unsourced"}
SOURCES = "recipes/catalog/sources.csv"


def table(path):
    """The header, and the rows with their line numbers; the dialect is lib/core/table.h's."""
    lines = [(n, text) for n, text in enumerate(read(path).split("\n"), 1) if text and text[0] != "#"]
    rows = [(n, text.split(",")) for n, text in lines]
    return (rows[0][1], rows[1:]) if rows else ([], [])


def check_row(path, number, header, row, ids):
    where = f"{path}:{number}"
    if len(row) != len(header):
        yield f"{where}: {len(row)} cells, the header has {len(header)}"
        return
    if any('"' in cell for cell in row):
        yield f"{where}: no quotes: the dialect has none"
    if path == SOURCES:
        return
    sources = row[header.index("source")].split(";")
    if sources == [""]:
        yield f"{where}: no source"
    else:
        yield from (f"{where}: source '{s}' is not in sources.csv" for s in sources if s not in ids)
    certainty = row[header.index("certainty")]
    if certainty not in CERTAINTIES:
        yield f"{where}: certainty '{certainty}' is none of {' '.join(sorted(CERTAINTIES))}"


findings, count = [], 0
paths = files(r"^recipes/catalog/[^/]+\.csv$")
if SOURCES not in paths:
    finish([f"{SOURCES}:1: missing: each source id is explained there"])
header, rows = table(SOURCES)
ids = {row[header.index("id")] for _, row in rows if len(row) == len(header)} if "id" in header else set()
for path in paths:
    header, rows = table(path)
    needed = {"id"} if path == SOURCES else {"source", "certainty"}
    if not needed <= set(header):
        findings.append(f"{path}:1: no column {' '.join(sorted(needed - set(header)))}")
        continue
    key_columns = 1 if path == SOURCES else header.index("source")
    seen = {}
    for number, row in rows:
        count += 1
        findings += check_row(path, number, header, row, ids)
        # The same fact twice is an error, even with another note or certainty.
        key = tuple(c for h, c in zip(header, row[:key_columns]) if h not in ("note", "certainty"))
        if key in seen:
            findings.append(f"{path}:{number}: the same as line {seen[key]}")
        seen.setdefault(key, number)
        if any(cell != cell.strip() or re.search(r"[\t\r]", cell) for cell in row):
            findings.append(f"{path}:{number}: blanks around a cell")
described = read("docs/catalog.md")
for path in paths:
    # NAME.ARCH.csv has the columns of NAME.csv
    name = re.sub(r"\.aarch64(?=\.csv$)", "", path.rpartition("/")[2])
    if f"{name}**" not in described:
        findings.append(f"docs/catalog.md:1: the table {name} is missing")
    findings += [
        f"docs/catalog.md:1: the column {column} of {name} is missing"
        for column in table(path)[0]
        if not re.search(rf"[`\s]{re.escape(column.removesuffix('_tested'))}[`\s]", described)
    ]
finish(findings, f"{count} rows in {len(paths)} files")
