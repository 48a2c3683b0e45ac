# SPDX-License-Identifier: MIT
"""Every stack of a small catalog: plain nested loops over the rows that each request admits."""
import rules
from catalog import BESIDE_TORCH, COMMON, FRAMEWORKS, GPU_ONLY, PIP
from checker import Givens, given_wrong
from versions import cell_admits, compare, in_series, request_admits

# What is allowed only when nothing else works (lib/resolver/search/search.h).
PLAIN, SOURCE_PYTHON, COMPAT = range(3)
# A stack of --all differs from the others in one of these.
MAIN = FRAMEWORKS + ("horovod", "cuda", "os", "python")
KINDS = {"default": 0, "extra": 1, "source": 2}


def unchecked(row):
    """An archive without a checksum: no recipe uses it."""
    return bool(row.cell("download")) and not row.cell("sha256") and not row.cell("run_packages")


class Brute:
    def __init__(self, catalog, requests, level=COMPAT, part_of=()):
        """`part_of`: the requests of the search, where these are some of them."""
        self.catalog, self.givens, self.level = catalog, Givens(catalog, requests), level
        self.pairs = {}
        self.gpus = bool(self.givens.names & set(GPU_ONLY + PIP))
        named = self.givens.names | ({"torch"} if self.givens.names & set(BESIDE_TORCH) else set())
        asked = [name for name in PIP if name in named]
        self.asked = named | (Brute(catalog, part_of).asked if part_of else set())
        self.order = asked + [name for name in COMMON if self.gpus or name not in GPU_ONLY]
        self.domains = {name: self.domain(name) for name in self.order}
        self.drivers = self.possible_drivers() if self.gpus else []

    def admitted(self, name, version):
        known = self.catalog.versions(name)
        return all(
            request_admits(clauses, version, known, name in PIP)
            for _, other, clauses in self.givens.words
            if other == name and not (name == "driver" and self.givens.is_given(clauses))
        )

    def domain(self, name):
        rows = [row for row in self.catalog.rows(name) if self.admitted(name, row["version"])]
        if name == "python" and self.level < SOURCE_PYTHON:
            rows = [row for row in rows if row["kind"] != "source"]
        if name not in PIP and self.level < SOURCE_PYTHON:
            rows = [row for row in rows if not unchecked(row)]
        return rows

    def possible_drivers(self):
        """Lists of drivers that may be meant: the given ones, or one known driver each."""
        if self.givens.drivers:
            fits = all(self.admitted("driver", rules.whole(d)) for d in self.givens.drivers)
            return [self.givens.drivers] if fits else []
        known = [row["version"] for row in self.catalog.rows("driver")]
        return [[driver] for driver in known if self.admitted("driver", driver)]

    def together(self, one, row, two, other):
        key = (id(row), id(other))
        if key not in self.pairs:
            wrong = rules.pair_wrong(self.catalog, one, row, two, other)
            both = rules.refused_by(self.catalog, {one: row, two: other}, [], self.asked)
            self.pairs[key] = not wrong and not both
        return self.pairs[key]

    def fits(self, stack, name, row):
        return all(self.together(name, row, other, stack[other]) for other in stack)

    def runs(self, stack, drivers):
        """Given drivers and GPUs against CUDA and the wheels."""
        if any(given_wrong(self.catalog, stack, self.givens, drivers)):
            return False
        return self.level == COMPAT or not self.uses_compat(stack["cuda"], drivers)

    def uses_compat(self, cuda, drivers):
        ways = (rules.driver_runs(self.catalog, d, cuda, self.givens.gpus) for d in drivers)
        return "compat" in ways

    def whole_fits(self, stack):
        if rules.system_cuda_wrong(self.catalog, stack, self.givens):
            return False
        if not self.gpus:
            return not rules.refused_by(self.catalog, stack, [], self.asked)
        return any(
            self.runs(stack, drivers) and not rules.refused_by(self.catalog, stack, drivers, self.asked)
            for drivers in self.drivers
        )

    def grow(self, stack, depth):
        """The stacks that are one component larger; hopeless ones are left out early."""
        name = self.order[depth]
        for row in self.domains[name]:
            grown = dict(stack, **{name: row})
            if not self.fits(stack, name, row):
                continue
            if name != "cuda" or any(self.runs(grown, drivers) for drivers in self.drivers):
                yield grown

    def first(self, stack=None):
        """A stack that has `stack`, or None."""
        return self.first_from(stack or {}, 0, {})

    def first_from(self, wanted, depth, stack):
        if depth == len(self.order):
            return stack if self.whole_fits(stack) else None
        name = self.order[depth]
        for grown in self.grow(stack, depth):
            if name in wanted and grown[name] is not wanted[name]:
                continue
            found = self.first_from(wanted, depth + 1, grown)
            if found:
                return found
        return None

    def main_stacks(self):
        """What tells the stacks of --all apart, of every stack."""
        found = set()
        self.add_main({}, 0, found)
        return found

    def add_main(self, stack, depth, found):
        if depth == len(self.order):
            if self.whole_fits(stack):
                found.add(main_of(stack))
            return
        for grown in self.grow(stack, depth):
            if all(name in grown or name not in self.order for name in MAIN):
                if main_of(grown) in found:
                    continue
            self.add_main(grown, depth + 1, found)


class HostsBrute(Brute):
    """The same for hosts that differ: a stack of all is one that each host runs with its own driver and GPU."""

    def __init__(self, catalog, requests, hosts):
        self.each = [Brute(catalog, requests + [f"driver=={d}", f"gpu=={g}"]) for d, g in hosts]
        super().__init__(catalog, requests + [f"driver=={hosts[0][0]}"])

    def whole_fits(self, stack):
        return all(one.whole_fits(stack) for one in self.each)

    def runs(self, stack, drivers):
        return all(any(one.runs(stack, own) for own in one.drivers) for one in self.each)


def main_of(stack):
    """Of rows, or of the choices of a document."""
    return tuple((n, stack[n]["version"], stack[n].get("pip", "")) for n in MAIN if n in stack)


def lowest_level(catalog, requests):
    """Brute at the first level at which there is a stack, or None."""
    for level in (PLAIN, SOURCE_PYTHON, COMPAT):
        brute = Brute(catalog, requests, level)
        if brute.first():
            return brute
    return None


# --- preference: is there a better stack, whichever way the documents are read? -------------------


def build_rank(row, stack):
    built = row.cell("built")
    if not built or in_series(stack["cuda"]["version"], built):
        return 0
    return 1


def no_worse_os(row, chosen):
    if int(row["rank"]) != int(chosen["rank"]):
        return int(row["rank"]) < int(chosen["rank"])
    return row["distribution"] == chosen["distribution"]


def no_worse_cuda(brute, row, chosen):
    images = [image["cuda"] for image in brute.catalog.rows("image")]
    if not any(in_series(row["version"], image) for image in images):
        return False
    gates = [
        [rules.gate_refuses(brute.catalog, d, cuda, brute.givens.gpus) for cuda in (row, chosen)]
        for d in brute.givens.drivers
    ]
    return all(now is False or (now is True and was is True) for now, was in gates)


def preferred(brute, name, stack):
    """The cells NAME_tested of what is chosen before."""
    earlier = [stack[other] for other in brute.order[: brute.order.index(name)]]
    return [other.cell(name + "_tested") for other in earlier]


def no_worse(brute, name, row, stack):
    """Whether nothing speaks for the chosen row but its version and what was tested."""
    chosen = stack[name]
    if name == "os":
        return no_worse_os(row, chosen)
    if name == "cuda":
        return no_worse_cuda(brute, row, chosen)
    if name in ("cudnn", "nccl"):
        same = row["kind"] == chosen["kind"]
        return same and build_rank(row, stack) == 0
    return KINDS.get(row.cell("kind"), 0) <= KINDS.get(chosen.cell("kind"), 0)


def is_better(brute, name, row, stack, oldest):
    """What was tested comes before what is newer."""
    chosen, cells = stack[name], preferred(brute, name, stack)
    fits = [(cell_admits(c, row["version"]), cell_admits(c, chosen["version"])) for c in cells]
    if any(was and not now for now, was in fits) or not no_worse(brute, name, row, stack):
        return False
    if any(now and not was for now, was in fits):
        return True
    if name == "os" and int(row["rank"]) < int(chosen["rank"]):
        return True
    order = compare(row["version"], chosen["version"])
    return order < 0 if oldest else order > 0


def better_stack(brute, stack, oldest=False):
    """
    "" when no stack is preferred to this one (rows by component): component by component in the
    order of choice, frameworks first, with those before it as they are.
    """
    for place, name in enumerate(brute.order):
        fixed = {other: stack[other] for other in brute.order[:place]}
        for row in brute.domains[name]:
            if is_better(brute, name, row, stack, oldest) and brute.first(dict(fixed, **{name: row})):
                now = f"{name} {stack[name]['version']}"
                return f"{now} is chosen, {row['version']} is preferred and has a stack"
    return ""


