# SPDX-License-Identifier: MIT
"""
Rules that a person overrules: a refusal names ids with which there is a stack, each of them is needed, and
that stack breaks no rule but those that it says.
"""
import itertools

import rules
from checker import Givens, own_beside, shown, stack_of


def pair_ids(catalog, stack, one, two, givens):
    """The ids of the rules that two rows of the stack break."""
    if own_beside(stack, one, two, givens):
        return
    for name, other in ((one, two), (two, one)):
        row, partner = stack[name], stack[other]
        has_nvcc = (name, other) != ("cuda", "gcc") or rules.compiler_wrong(catalog, stack, givens)
        if rules.cell_wrong(name, row, other, partner) and has_nvcc:
            yield "packages-os" if other == "os" else f"{name}-needs-{other}"
        if other == "os" and rules.kind_wrong(row, partner):
            yield "packages-os"
        if (name, other) == ("cuda", "os") and rules.repository_wrong(catalog, stack, givens):
            yield "cuda-os"


def gpu_ids(catalog, gpu, stack, drivers, gpus):
    cuda, wheels = stack["cuda"], rules.wheels_of(stack)
    takes = rules.gpu_takes_cuda(catalog, gpu, cuda)
    if rules.has_no_recipe(catalog, gpu):
        yield "arch"
    if not rules.gpu_takes_cudnn(gpu, stack["cudnn"]):
        yield "gpu-cudnn"
    if not takes:
        yield "gpu-cuda"
    if takes == "jit" and rules.jit_wrong(catalog, gpu, cuda, wheels, drivers):
        yield "gpu-ptx"
    for wheel in wheels:
        if not rules.wheel_takes(catalog, wheel, gpu):
            yield "gpu-wheel"
        for driver in drivers:
            way = rules.driver_runs(catalog, driver, cuda, gpus)
            if rules.wheel_takes(catalog, wheel, gpu) and rules.ptx_wrong(catalog, wheel, gpu, driver, way):
                yield "driver-ptx"


def given_ids(catalog, stack, givens, drivers):
    for driver in drivers:
        if not rules.driver_runs(catalog, driver, stack["cuda"], givens.gpus):
            yield "driver-cuda"
    for gpu in givens.gpus:
        yield from gpu_ids(catalog, gpu, stack, drivers, givens.gpus)
        for driver in givens.drivers:
            if not rules.has_no_recipe(catalog, gpu) and rules.undriven(catalog, gpu, driver):
                yield "gpu-driver"


def broken(catalog, stack, givens, drivers):
    """The ids of all rules that the stack breaks, as far as rules.py has them."""
    ids = set(rules.refused_by(catalog, stack, drivers))
    for one, two in itertools.combinations(sorted(stack), 2):
        ids.update(pair_ids(catalog, stack, one, two, givens))
    if "cuda" in stack:
        ids.update(given_ids(catalog, stack, givens, drivers))
    return ids


def flags(ids):
    return [word for name in ids for word in ("--allow", name)]


def allow_wrong(catalog, ringup, requests, document):
    """For a refusal."""
    ids = document.get("allow", [])
    if not ids:
        return
    status, allowed, _ = ringup.resolve(requests, *flags(ids))
    if status:
        yield f"--allow {ids} does not help"
        return
    said = {rule["id"] for rule in allowed.get("overruled", [])}
    if said != set(ids):
        yield f"--allow {ids} is named, and {sorted(said)} is overruled"
    catalog, givens = catalog.of(allowed.get("arch")), Givens(catalog, requests)
    found = broken(catalog, stack_of(catalog, allowed, requests), givens, shown(allowed, "driver"))
    if "wheels-clash" in said:  # one of the wheels has the other's libraries then
        found = {name for name in found if not name.endswith(("-needs-cudnn", "-needs-nccl"))}
    if not found <= said:
        yield f"--allow {ids}: the stack breaks {sorted(found - said)} too, and does not say so"
    for name in ids if len(ids) > 1 else ():
        if ringup.resolve(requests, *flags(i for i in ids if i != name))[0] == 0:
            yield f"--allow {ids}: {name} is not needed"
