#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
One more fact takes nothing away: with one more row of some component, requests that resolved and
do not name it still resolve; and where it is no part of the stack, the answer stays the same.
Small catalogs, and the real one for every 20th item.
"""
import os
import re
import shutil

import answers
import real
import small
from catalog import PIP, Catalog
from harness import REAL, Ringup, run
from versions import KEY, request_split

GROWING = PIP + ("cuda", "cudnn", "nccl", "openmpi", "python", "gcc", "driver", "image", "gpu", "require")
REAL_EVERY = 20
REQUESTS = 6


class State(real.State):
    """Of the real catalog; the small ones are made."""


def patched(source, version):
    """The version with its last number made larger: 12.1.1 to 12.1.4."""
    last = list(re.finditer(r"\d+", version))[-1]
    number = str(int(last.group(0)) + source.randint(1, 3))
    return version[: last.start()] + number.zfill(len(last.group(0))) + version[last.end() :]


def new_row(source, catalog, name):
    """A row that is there, copied to a version (or state, or product) that is not."""
    rows = sorted(catalog.rows(name), key=lambda row: KEY(row["version"]))
    row = dict(source.choice(rows))
    if name == "require":
        return dict(row, **{"from": "2099-01-01", "branches": ""})
    if name == "gpu":
        return dict(row, version=row["version"] + " Extra")
    if name == "image":
        return dict(row, version=row["version"] + "-again", status=source.choice(("listed", "gone")))
    version = patched(source, row["version"])
    while version in catalog.versions(name):
        version = patched(source, version)
    return dict(row, version=version)


def grown(source, catalog, folder, name):
    """A copy of the catalog in `folder` with one more row: the row."""
    shutil.copytree(catalog.folder, folder)
    row = new_row(source, catalog, name)
    with open(os.path.join(folder, name + ".csv"), "a", encoding="utf-8") as file:
        print(",".join(row[column] for column in catalog.headers[name]), file=file)
    return row


def versions_of(document):
    if "stack" not in document:
        return sorted(entry["request"] for entry in document["conflict"])
    return {name: (each["version"], each["package"]) for name, each in document["stack"].items()}


def change_wrong(name, before, after):
    """What the additional row of `name` must not do to an answer."""
    (status, document, _), (now_status, now_document, message) = before, after
    if status == 0 and now_status != 0:
        yield f"exit {now_status}, {message[:300]}"
    elif (name in PIP or name == "gpu") and (status, versions_of(document)) != (
        now_status,
        versions_of(now_document),
    ):
        yield f"the answer was {versions_of(document)} and is {versions_of(now_document)}"


def item_catalog(state, source, item):
    """(catalog, a function that makes requests)"""
    if item % REAL_EVERY == REAL_EVERY - 1:
        return Catalog(REAL), lambda: real.request_list(state, source)[:4]
    folder = os.path.join(state.folder, f"{state.options.seed}-{item}")
    catalog = small.make_useful(source, folder, 0)
    return catalog, lambda: answers.random_requests(source, catalog)


def one_item(state, source, item, findings):
    catalog, make_requests = item_catalog(state, source, item)
    name = source.choice(GROWING)
    folder = os.path.join(state.folder, f"{state.options.seed}-{item}-grown")
    row = grown(source, catalog, folder, name)
    before = Ringup(state.options.ringup, catalog.folder, state.folder)
    after = Ringup(state.options.ringup, folder, state.folder)
    for _ in range(REQUESTS):
        requests = [word for word in make_requests() if request_split(word)[0] != name]
        if not requests:
            continue
        first, second = before.resolve(requests), after.resolve(requests)
        findings.count("stacks" if first[0] == 0 else "refusals")
        wrong = change_wrong(name, first, second)
        what = f"with {name} {row['version']} {row['os']} added"
        findings.add_all("monotone", requests, (f"{what}: {text}" for text in wrong))


if __name__ == "__main__":
    run(60, State, one_item, ("stacks", "refusals"))
