#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Small random catalogs, against trying everything (brute.py): there is a stack exactly when that
finds one, the stack keeps the rules and none is preferred to it, a conflict is a smallest one, and
--all gives every stack once. Facts of hosts give what words about the same things give.
"""
import json
import os

import small
from allow import allow_wrong
from brute import Brute, HostsBrute, better_stack, lowest_level, main_of
from catalog import BESIDE_TORCH, FRAMEWORKS
from checker import check, stack_of
from harness import Ringup, run
from versions import KEY, replaced

REQUESTS = 4
EXTRA = ("horovod", "cuda", "os", "python", "gcc", "cudnn", "nccl", "openmpi", "glibc")
ALL_CHANCE = 0.25


class State:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder


def random_requests(source, catalog):
    names = source.sample(FRAMEWORKS, source.choice((0, 1, 1, 1, 2)))
    names += source.sample(BESIDE_TORCH, source.choice((0, 0, 0, 0, 1, 2)))
    names += [name for name in EXTRA if source.random() < 0.2]
    words = [name + word_clauses(source, catalog, name) for name in names]
    for name, chance in (("driver", 0.5), ("gpu", 0.5)):
        while source.random() < chance:
            words.append(f"{name}=={source.choice(sorted(catalog.versions(name)))}")
            chance /= 4
    if source.random() < 0.1:
        words.append("driver" + word_clauses(source, catalog, "driver"))
    source.shuffle(words)
    return list(dict.fromkeys(words)) or ["torch"]


def word_clauses(source, catalog, name):
    versions = sorted(catalog.versions(name))
    version, other = source.choice(versions), source.choice(versions)
    if name == "os":
        return f"=={version}"
    if name == "driver":
        return source.choice((">=", "<=")) + version
    series = version.split(".")[0]
    forms = ("", "", f"=={version}", f">={version}", f"<={version}", f"!={version}", f"<{version}")
    return source.choice(forms + (f"=={series}", f"=={series}.*", f">{version}", f">={version},!={other}"))


# --- no stack -----------------------------------------------------------------------------------


def has_stack(catalog, requests, part_of=()):
    return Brute(catalog, requests, part_of=part_of).first() is not None


def conflict_wrong(catalog, requests, document, message):
    words = [entry["request"] for entry in document["conflict"]]
    if not words and not has_stack(catalog, ["cuda"]) and not message.endswith(" the request"):
        return  # no request is to blame, and the error says what is
    if not words or not set(words) <= set(requests):
        yield f"the conflict {words} is not of the requests"
        return
    if has_stack(catalog, words, requests):
        yield f"the conflict {words} alone has a stack"
    for word in words:
        rest = [other for other in words if other != word]
        if rest and not has_stack(catalog, rest, requests):
            yield f"the conflict {words} is not minimal: {rest} has no stack"


def suggestions_wrong(catalog, requests, document):
    for suggestion in document["suggestions"]:
        lists = replaced(requests, suggestion)
        if not any(has_stack(catalog, words) for words in lists):
            yield f"the suggestion {suggestion} does not help"


# --- a stack ------------------------------------------------------------------------------------


def is_about_drivers(row):
    return row["effect"] == "refuse" and any(part.strip().startswith("driver") for part in row["when"].split("&"))


def take_newest_driver(brute):
    """Where a conflict concerns drivers, the stack is the preferred one for the newest driver that has one (docs/resolver.md)."""
    for drivers in sorted(brute.possible_drivers(), key=lambda drivers: KEY(drivers[0]), reverse=True):
        brute.drivers = [drivers]
        if brute.first({}):
            return


def preference_wrong(catalog, requests, document, oldest):
    brute = lowest_level(catalog, requests)
    if not brute:
        return
    stack = stack_of(catalog, document, requests)
    if not brute.first(stack):
        yield f"something is allowed that there is a stack without (level {brute.level})"
        return
    if not brute.givens.drivers and brute.gpus:
        if oldest:
            brute.drivers = [[document["stack"]["driver"]["version"]]]
        elif any(map(is_about_drivers, catalog.rows("conflicts"))):
            take_newest_driver(brute)
    better = better_stack(brute, stack, oldest)
    if better:
        yield better


def versions_of(document):
    wanted = ("version", "package", "build_package", "index", "download")
    return {
        name: [choice.get(key) for key in wanted] for name, choice in document["stack"].items()
    }


def all_wrong(catalog, requests, documents, document):
    found = [main_of(each["stack"]) for each in documents]
    if not documents or versions_of(documents[0]) != versions_of(document):
        yield "--all does not begin with the stack of resolve"
    if len(set(found)) != len(found):
        yield "--all gives a stack twice"
    for each in documents:
        yield from (f"--all: {wrong}" for wrong in check(catalog, each, requests))
    expected = lowest_level(catalog, requests)
    missing = (expected.main_stacks() if expected else set()) - set(found)
    if missing:
        yield f"--all leaves out {len(missing)}, such as {sorted(missing)[0]}"


# ------------------------------------------------------------------------------------------------


def check_all(catalog, ringup, requests, document, findings):
    documents = ringup.every(requests)
    findings.count("stacks of --all", len(documents))
    findings.add_all("all", requests, all_wrong(catalog, requests, documents, document))


def check_stack(catalog, requests, document, oldest, findings):
    shown = requests + (["--prefer", "oldest"] if oldest else [])
    wrong = check(catalog, document, requests)
    findings.add_all("rules", shown, wrong)
    if not wrong:
        findings.add_all("best", shown, preference_wrong(catalog, requests, document, oldest))


def check_refusal(catalog, ringup, requests, document, message, findings):
    findings.add_all("minimal", requests, conflict_wrong(catalog, requests, document, message))
    findings.add_all("suggestion", requests, suggestions_wrong(catalog, requests, document))
    findings.count("overruled", 1 if document.get("allow") else 0)
    findings.add_all("allow", requests, allow_wrong(catalog, ringup, requests, document))


def check_answer(catalog, ringup, requests, answer, oldest, findings):
    status, document, message = answer
    found = Brute(catalog, requests).first()
    findings.count("refusals" if status else "stacks")
    if bool(found) != (status == 0):
        stack = {name: row["version"] for name, row in (found or {}).items()}
        text = f"exit {status}, trying everything finds {stack or 'no stack'}"
        findings.add("exit", requests, text)
    elif status == 3:
        check_refusal(catalog, ringup, requests, document, message, findings)
    else:
        check_stack(catalog, requests, document, oldest, findings)


def host_facts(requests):
    """(the other words, facts of hosts that say the same), or None."""
    drivers = [word[8:] for word in requests if word.startswith("driver==")]
    gpus = [word[5:] for word in requests if word.startswith("gpu==")]
    others = [word for word in requests if not word.startswith(("driver==", "gpu=="))]
    if not others or len(drivers) != 1 or not gpus:
        return None
    host = {"kernel": "6.1", "driver": drivers[0]}
    hosts = [dict(host, host=f"node{i}", gpus=gpu) for i, gpu in enumerate(gpus)]
    return others, {"schema": 1, "hosts": hosts}


def check_facts(ringup, requests, answer, findings):
    """Hosts that have a driver and GPUs are the same as words that name them."""
    same = host_facts(requests)
    if not same:
        return
    with open(os.path.join(ringup.folder, f"facts-{os.getpid()}.json"), "w", encoding="utf-8") as file:
        json.dump(same[1], file)
    status, document, _ = ringup.resolve(same[0], "--facts", file.name)
    findings.count("answers for hosts")
    if status != answer[0]:
        findings.add("facts", requests, f"exit {answer[0]}, and {status} as facts of hosts")
    elif status == 0 and versions_of(document) != versions_of(answer[1]):
        findings.add("facts", requests, "another stack for hosts that have these")


def check_hosts(catalog, ringup, source, requests, findings):
    """Hosts with a driver and a GPU each: what fits them all fits each by itself, and the other way round."""
    others = [word for word in requests if not word.startswith(("driver", "gpu"))]
    if not others or source.random() < 0.7:  # most stacks have an older CUDA that suits all
        others = [f"cuda=={source.choice(sorted(catalog.versions('cuda')))}"]
    drivers, gpus = (sorted(catalog.versions(name)) for name in ("driver", "gpu"))
    hosts = [(source.choice(drivers), source.choice(gpus)) for _ in range(2)]
    facts = [{"host": f"node{i}", "kernel": "6.1", "driver": d, "gpus": g} for i, (d, g) in enumerate(hosts)]
    name = os.path.join(ringup.folder, f"hosts-{os.getpid()}.json")
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "hosts": facts}, file)
    status, _, _ = ringup.resolve(others, "--facts", name)
    found = HostsBrute(catalog, others, hosts).first()
    findings.count("answers for hosts that differ")
    if (status == 0) != bool(found):
        shown = [f"{driver} with {gpu}" for driver, gpu in hosts]
        findings.add("hosts", others + shown, f"exit {status}, trying everything finds {'a' if found else 'no'} stack")


def one_item(state, source, item, findings):
    folder = os.path.join(state.folder, f"{state.options.seed}-{item}")
    catalog = small.make_useful(source, folder, item)
    ringup = Ringup(state.options.ringup, folder, state.folder)
    for _ in range(REQUESTS):
        requests = random_requests(source, catalog)
        oldest, every = source.random() < 0.2, source.random() < ALL_CHANCE
        answer = ringup.resolve(requests, *(["--prefer", "oldest"] if oldest else []))
        check_answer(catalog, ringup, requests, answer, oldest, findings)
        if not oldest:
            check_facts(ringup, requests, answer, findings)
            check_hosts(catalog, ringup, source, requests, findings)
        if every and not oldest and answer[0] == 0:
            check_all(catalog, ringup, requests, answer[1], findings)


if __name__ == "__main__":
    run(100, State, one_item, ("stacks", "refusals", "overruled", "stacks of --all", "answers for hosts", "answers for hosts that differ"))
