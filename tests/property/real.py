#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Random requests over the real catalog: a stack keeps the rules of the catalog (checker.py) and the
numbers of the vendors' documents (facts.py), a conflict is minimal, suggestions work.
"""
import facts
import rules
from allow import allow_wrong
from catalog import BESIDE_TORCH, FRAMEWORKS, Catalog
from checker import Givens, check, stack_of
from harness import REAL, Ringup, run
from versions import KEY, replaced, request_split

CHANCES = (
    ("horovod", 0.3),
    ("driver", 0.5),
    ("gpu", 0.5),
    ("os", 0.35),
    ("python", 0.25),
    ("gcc", 0.15),
    ("cuda", 0.25),
    ("cudnn", 0.15),
    ("nccl", 0.15),
    ("openmpi", 0.15),
    ("ucx", 0.05),
    ("aws-ofi-nccl", 0.05),
    ("glibc", 0.05),
    ("arch", 0.15),
)


class State:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.catalog = Catalog(REAL)
        self.ringup = Ringup(options.ringup, REAL, folder)
        self.sorted = {}

    def versions(self, name):
        if name not in self.sorted:
            self.sorted[name] = sorted(self.catalog.versions(name), key=KEY)
        return self.sorted[name]


def short(source, version):
    """Fewer parts, as people write it."""
    pieces = version.split(".")
    return ".".join(pieces[: source.randint(1, len(pieces))])


def clauses(state, source, name):
    if name == "arch":
        return "==" + source.choice(("aarch64", "aarch64", "aarch64", "arm64", "x86_64"))
    versions = state.versions(name)
    version = source.choice(versions)
    if name in ("os", "gpu"):
        return f"=={version}"
    kind = source.random()
    if kind < 0.35:
        return f"=={version}"
    if kind < 0.5:
        return f"=={short(source, version)}"
    if name == "driver":
        return f"=={version}" if kind < 0.8 else f"{source.choice(['>=', '<='])}{version}"
    low, high = sorted((version, source.choice(versions)), key=KEY)
    return source.choice(("", f">={version}", f"<={version}", f"<{version}", f">={low},<={high}"))


def request_list(state, source):
    names = source.sample(FRAMEWORKS, source.choice((0, 1, 1, 1, 1, 2)))
    names += source.sample(BESIDE_TORCH, source.choice((0, 0, 0, 1, 2)))
    names += [name for name, chance in CHANCES if source.random() < chance]
    names += [name for name in ("driver", "gpu") if name in names and source.random() < 0.15]
    source.shuffle(names)
    words = [name + clauses(state, source, name) for name in names]
    return list(dict.fromkeys(words)) or ["torch"]


def silent_rules(state, requests):
    """Options: rules about what is not asked for ("!torch") that these requests keep, whichever of them are left out."""
    asked = Givens(state.catalog, requests).names
    asked = asked | ({"torch"} if asked & set(BESIDE_TORCH) else set())
    ids = [name for name, _, absent in state.catalog.refusals if absent & asked]
    return [word for name in ids for word in ("--allow", name)]


def conflict_wrong(state, requests, document):
    """The processor, which may come from a word that the conflict leaves out, stands beside it."""
    processor = ("--arch", document.get("arch", "x86_64"), *silent_rules(state, requests))
    words = [entry["request"] for entry in document["conflict"]]
    if not words or not set(words) <= set(requests):
        yield f"the conflict {words} is not of the requests"
        return
    if state.ringup.resolve(words, *processor)[0] != 3:
        yield f"the conflict {words} alone is not refused"
    for word in words:
        rest = [other for other in words if other != word]
        if rest and state.ringup.resolve(rest, *processor)[0] != 0:
            yield f"the conflict {words} is not minimal: {rest} is refused"


def helps(state, requests, suggestion):
    return any(state.ringup.resolves(words) for words in replaced(requests, suggestion))


def suggestions_wrong(state, requests, document):
    for suggestion in document["suggestions"]:
        if not helps(state, requests, suggestion):
            yield f"the suggestion {suggestion} does not resolve"


def stack_wrong(state, requests, document):
    wrong = check(state.catalog, document, requests)
    if wrong or document["accelerator"] != "cuda":
        return wrong
    stack = stack_of(state.catalog, document, requests)
    return list(facts.stack_wrong(stack, document, Givens(state.catalog, requests).gpus))


def has_own_python(stack):
    return stack["python"].cell("kind") == "source"


def uses_compat(catalog, cuda, givens):
    ways = [rules.driver_runs(catalog, driver, cuda, givens.gpus) for driver in givens.drivers]
    return "compat" in ways


def allowed_only_now(state, requests, document, newer):
    """Whether the newer stack takes what is for when nothing else works: then it may be passed by."""
    stacks = [stack_of(state.catalog, each, requests) for each in (document, newer)]
    givens = Givens(state.catalog, requests)
    compat = [uses_compat(state.catalog, stack["cuda"], givens) for stack in stacks]
    return compat[0] < compat[1] or has_own_python(stacks[0]) < has_own_python(stacks[1])


def newest_wrong(state, requests, document):
    """The first framework is the newest: there is no stack with a newer one."""
    first = [name for name in FRAMEWORKS if name in document["stack"]][:1]
    for name in first:
        chosen = document["stack"][name]["version"]
        status, newer, _ = state.ringup.resolve(requests + [f"{name}>{chosen}"])
        if status == 0 and not allowed_only_now(state, requests, document, newer):
            version = newer["stack"][name]["version"]
            if "+" not in version:
                yield f"{name} {chosen} is chosen, {version} has a stack too"


def one_item(state, source, _, findings):
    requests = request_list(state, source)
    status, document, _ = state.ringup.resolve(requests)
    if status == 0:
        findings.count("stacks")
        findings.add_all("rules", requests, stack_wrong(state, requests, document))
        findings.add_all("best", requests, newest_wrong(state, requests, document))
    else:
        findings.count("refusals")
        findings.add_all("minimal", requests, conflict_wrong(state, requests, document))
        findings.add_all("suggestion", requests, suggestions_wrong(state, requests, document))
        findings.add_all("allow", requests, allow_wrong(state.catalog, state.ringup, requests, document))


if __name__ == "__main__":
    run(60, State, one_item, ("stacks", "refusals"))
