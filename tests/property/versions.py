# SPDX-License-Identifier: MIT
"""Versions and requirements, from the comments of lib/plan/version.h and docs/catalog.md alone."""
import functools
import re
from itertools import zip_longest

EARLY = {"a", "alpha", "b", "beta", "c", "rc", "pre", "preview", "dev"}
OPERATOR = re.compile(r"(==|!=|>=|<=|~=|>|<)\s*(.*)")


@functools.lru_cache(maxsize=None)
def parts(version):
    """ "2.5.6-1" is (2, 5, 6, 1); text stays text."""
    tokens = re.findall(r"\d+|[a-z]+", version.lower())
    return tuple(int(token) if token.isdigit() else token for token in tokens)


def rank(part):
    if isinstance(part, int):
        return (1, part, "")
    return (0 if part in EARLY else 2, 0, part)


@functools.lru_cache(maxsize=None)
def compare(left, right):
    for one, other in zip_longest(parts(left), parts(right), fillvalue=0):
        if rank(one) != rank(other):
            return -1 if rank(one) < rank(other) else 1
    return 0


KEY = functools.cmp_to_key(compare)


def in_series(version, series):
    wanted = parts(series)
    return compare(version, series) == 0 or parts(version)[: len(wanted)] == wanted


def equals(version, wanted, series):
    if wanted.endswith(".*"):
        return in_series(version, wanted[:-2])
    return in_series(version, wanted) if series else compare(version, wanted) == 0


def compatible(version, wanted):
    """~=1.4 is >= 1.4 and == 1.*"""
    return compare(version, wanted) >= 0 and in_series(version, wanted.rsplit(".", 1)[0])


def clause_admits(clause, version, series=False):
    operator, wanted = OPERATOR.fullmatch(clause.strip()).groups()
    if operator == "==":
        return equals(version, wanted, series)
    if operator == "!=":
        return not equals(version, wanted, series)
    if operator == "~=":
        return compatible(version, wanted)
    order = compare(version, wanted)
    return {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}[operator]


@functools.lru_cache(maxsize=None)
def cell_admits(cell, version):
    """A requirement cell: `;` all hold, `|` one holds, empty: no demand."""
    if not cell:
        return True
    return any(
        all(clause_admits(clause, version) for clause in alternative.split(";"))
        for alternative in cell.split("|")
    )


def request_split(word):
    """ "torch>=2,<3" is ("torch", [">=2", "<3"])."""
    name = re.match(r"[A-Za-z_-]+", word).group(0)
    rest = word[len(name) :].strip()
    return name, [clause.strip() for clause in rest.split(",")] if rest else []


def request_admits(clauses, version, known, pip):
    """`known`: all versions of the component; pip: == is exact where it can be, else the series."""
    return all(one_clause(clause, version, known, pip) for clause in clauses)


def one_clause(clause, version, known, pip):
    operator, wanted = OPERATOR.fullmatch(clause).groups()
    series = not pip or (operator == "==" and not any(compare(k, wanted) == 0 for k in known))
    return clause_admits(clause, version, series)


def replaced(requests, suggestion):
    """The lists with each word of "gcc==9 with cuda==12.4.0" in the place of one of its name."""
    lists = [requests]
    for word in suggestion.split(" with "):
        name = request_split(word)[0]
        lists = [
            words[:i] + [word] + words[i + 1 :]
            for words in lists
            for i, other in enumerate(words)
            if request_split(other)[0] == name
        ]
    return lists
