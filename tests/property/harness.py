# SPDX-License-Identifier: MIT
"""Runs the program, and the frame that every property program has."""
import argparse
import collections
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_S = 5  # of a processor, so that a busy machine takes nothing of it
HANGS_S = 120
SKIPPED_PERCENT_MAX = 10
REAL = os.path.join(ROOT, "recipes", "catalog")


class TooSlow(Exception):
    """The program gave no answer within LIMIT_S of a processor, or HANGS_S of the clock."""


class Failed(Exception):
    """The program gave neither a stack nor a refusal."""


def limit_processor():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


class Ringup:
    """The program on one catalog, away from any cluster file."""

    def __init__(self, program, catalog, folder):
        self.program, self.folder = os.path.abspath(program), folder
        self.environment = dict(os.environ, RINGUP_CATALOG=catalog, LC_ALL="C.UTF-8")
        self.environment.setdefault("RINGUP_SHARE", ROOT)

    def output(self, words):
        """(exit status, standard output, standard error)"""
        try:
            done = subprocess.run(
                [self.program, "--json", "resolve", "--no-lock", *words],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=HANGS_S,
                check=False,
                preexec_fn=limit_processor,
            )
        except subprocess.TimeoutExpired as late:
            raise TooSlow(quoted(words)) from late
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise TooSlow(quoted(words))
        return done.returncode, done.stdout, done.stderr.strip()

    def resolve(self, requests, *options):
        """(0 or 3, document, standard error)"""
        status, output, message = self.output([*options, *requests])
        if status not in (0, 3):
            raise Failed(requests, f"exit status {status}: {message}")
        try:
            return status, json.loads(output), message
        except json.JSONDecodeError as error:
            raise Failed(requests, f"{options}: not one JSON document: {error}") from error

    def resolves(self, requests):
        return self.resolve(requests)[0] == 0

    def every(self, requests):
        """The documents of --all, best first; none when it refuses."""
        return self.resolve(requests, "--all")[1].get("stacks", [])


class Findings:
    """What one item found out; each finding says what replays it."""

    def __init__(self, seed, item):
        self.seed, self.item = seed, item
        self.texts, self.slow, self.counts = [], [], collections.Counter()

    def add(self, tag, requests, text):
        """`tag` says which property is broken."""
        where = f"seed {self.seed}, item {self.item}"
        self.texts.append(f"{where} [{tag}] {quoted(requests)}: {text}")

    def add_all(self, tag, requests, texts):
        for text in texts:
            self.add(tag, requests, text)

    def skip(self, late):
        self.slow.append(f"seed {self.seed}, item {self.item}: no answer within {LIMIT_S} s: {late}")

    def count(self, what, number=1):
        self.counts[what] += number


def quoted(requests):
    return " ".join(f"'{word}'" for word in requests)


def item_random(seed, item):
    """Each item has a random source of its own, so that it can be replayed alone."""
    return random.Random(f"{seed}/{item}")


def arguments(count):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count, help="items")
    parser.add_argument("--item", type=int, help="this one alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--ringup", default=os.path.join(ROOT, "build", "ringup"))
    parser.add_argument("--keep", help="a new folder for the catalogs that are made")
    return parser.parse_args()


class Worker:
    """What every process of the pool has."""

    state = one_item = options = None

    @classmethod
    def begin(cls, setup, one_item, options, folder):
        cls.state, cls.one_item, cls.options = setup(options, folder), one_item, options

    @classmethod
    def work(cls, item):
        findings = Findings(cls.options.seed, item)
        try:
            cls.one_item(cls.state, item_random(cls.options.seed, item), item, findings)
        except TooSlow as late:
            findings.skip(late)
        except Failed as failed:
            findings.add("exit", *failed.args)
        return findings


def collect(results, total, slow):
    """Prints what was found as it comes; the number of findings."""
    count = 0
    for findings in results:
        for text in findings.texts + findings.slow:
            print(text, flush=True)
        count += len(findings.texts)
        slow.extend(findings.slow)
        total.update(findings.counts)
    return count


def run(count, setup, one_item, wanted):
    """
    one_item(state, random source, item, findings) for every item. Exits 1 on any finding, when too
    many items had no answer in time, and when one of the counts `wanted` is 0: then nothing was
    tested.
    """
    options = arguments(count)
    items = range(options.count) if options.item is None else [options.item]
    total, slow = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        os.makedirs(folder, exist_ok=True)
        common = (setup, one_item, options, folder)
        with multiprocessing.Pool(options.jobs, Worker.begin, common) as pool:
            found = collect(pool.imap(Worker.work, items), total, slow)
    numbers = ", ".join(f"{number} {what}" for what, number in sorted(total.items()))
    print(f"{len(items)} items, {found} findings, {len(slow)} too slow, seed {options.seed}: {numbers}")
    missing = [what for what in wanted if not total[what] and options.item is None]
    if missing:
        print(f"not once: {', '.join(missing)}")
    if len(slow) * 100 > len(items) * SKIPPED_PERCENT_MAX:
        print(f"more than {SKIPPED_PERCENT_MAX} of 100 items had no answer in time")
        missing.append("answers")
    sys.exit(1 if found or missing else 0)
