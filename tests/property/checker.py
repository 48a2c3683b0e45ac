#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Whether a stack that `ringup --json resolve` gave keeps every rule: checker.py DOCUMENT CATALOG REQ...

check(catalog, document, requests) returns sentences, one per violation. Shares no code with the
resolver.
"""
import itertools
import json
import sys

import rules
from catalog import BESIDE_TORCH, COMMON, FABRIC, FRAMEWORKS, GPU_ONLY, PIP, Catalog, Row
from versions import cell_admits, compare, in_series, parts, request_admits, request_split

SKIP_GATE = "NVIDIA_DISABLE_REQUIRE=true"
CUDA_IMAGE = "docker.io/nvidia/cuda:"
CELLS = (
    ("pip", "pip"),
    ("index", "index"),
    ("download", "download"),
    ("sha256", "sha256"),
    ("build_package", "build_packages"),
)


class Givens:
    """The request words, taken apart."""

    def __init__(self, catalog, requests):
        self.words = [(word,) + request_split(word) for word in requests]
        pins = [(n, c[0][2:].strip()) for _, n, c in self.words if len(c) == 1 and c[0][:2] == "=="]
        self.drivers = [version for name, version in pins if name == "driver"]
        self.gpus = [gpu_row(catalog, version) for name, version in pins if name == "gpu"]
        self.arch = rules.processor(catalog, [version for name, version in pins if name == "arch"], self.gpus)
        self.names = {name for _, name, _ in self.words}

    def is_given(self, clauses):
        """Whether the clauses of a word on drivers are one of the drivers that are there."""
        return len(clauses) == 1 and clauses[0][:2] == "==" and clauses[0][2:].strip() in self.drivers


def gpu_row(catalog, product):
    if product.startswith("sm_"):
        digits = product[3:]
        return Row(version=product, sm=f"{digits[:-1]}.{digits[-1]}")
    for row in catalog.rows("gpu"):
        if row["version"].lower() == product.lower():
            return row
    raise KeyError(f"the checker wants the exact product name, not {product}")


# --- which rows the document means ------------------------------------------------------------


def same_cells(choice, row):
    package = row.cell("run_packages") or row.cell("pip")
    if choice.get("package", "") != package:
        return False
    return all(choice.get(key, "") == cell_shown(row, column) for key, column in CELLS)


def cell_shown(row, column):
    """What PyPI has is shown without PyTorch's index of it."""
    return "" if column == "index" and row.cell("on_pypi") else row.cell(column)


def candidates(catalog, name, choice):
    rows = [r for r in catalog.rows(name) if r["version"] == choice["version"]]
    return [row for row in rows if same_cells(choice, row)]


def row_choices(catalog, document, givens, wrong):
    """{component: rows that look like the choice}; "wrong" gets what looks like none."""
    found = {}
    for name, choice in document["stack"].items():
        if name in ("driver", "gpu"):
            continue
        found[name] = (
            brought_choice(catalog, name, choice, document, found, givens)
            if choice.get("wheel")
            else candidates(catalog, name, choice)
        )
        if not found[name]:
            wrong.append(f"{name} {choice['version']}: no row has these packages and sums")
    return found


def parts_wrong(document, givens):
    cuda = document["accelerator"] == "cuda"
    wanted = {n for n in COMMON if cuda or n not in GPU_ONLY}
    wanted |= {n for n in givens.names if n in PIP + FABRIC}
    wanted |= {"libfabric"} if "aws-ofi-nccl" in givens.names else set()
    wanted |= {"torch"} if givens.names & set(BESIDE_TORCH) else set()
    for name in sorted(wanted - set(document["stack"])):
        yield f"the stack has no {name}"
    extra = set(document["stack"]) - wanted - {"driver", "gpu"}
    for name in sorted(extra):
        yield f"the stack has {name}, which nobody asked for"
    if not cuda and givens.names & set(GPU_ONLY):
        yield "a CPU stack for a request about GPUs"


def brought_cuda(catalog, choice, document, found):
    """The row of a CUDA that the choice says comes with a wheel: all frameworks of the stack run on that series."""
    names = [name for name in FRAMEWORKS if name in found]
    series = [rules.wheels_cuda(dict(zip(names, rows))) for rows in itertools.product(*(found[name] for name in names))]
    brings = any(one and in_series(choice["version"], one) for one in series)
    compiled = any(rules.takes_nvcc(row) for other in BESIDE_TORCH for row in found.get(other, []))
    if not names or not brings or compiled or "horovod" in document["stack"] or "base" in document:
        return []
    return [Row({**row, "wheel": choice["wheel"]}) for row in catalog.rows("cuda") if row["version"] == choice["version"]]


def over_choice(catalog, name, choice, document, found, givens):
    """The rows of a library whose wheel takes the place of the one that torch brings: a newer one of its major, asked for."""
    wheels = [w for w in catalog.rows("wheel") if (w["component"], w["version"], w["pip"]) == (name, choice["version"], choice["pip"])]
    since = "2.9" if document.get("arch") == "aarch64" else "2.1"  # before, torch has it inside
    replaced = any(
        rules.brings(torch, name)
        and compare(torch["version"], since) >= 0
        and compare(choice["version"], rules.brings(torch, name)) > 0
        and parts(choice["version"])[0] == parts(rules.brings(torch, name))[0]
        and any(in_series(rules.brings(torch, "cuda"), w["built"]) for w in wheels)
        for torch in found.get("torch", [])
    )
    others = {"tensorflow", "jax"} & set(document["stack"])
    if not replaced or others or choice["wheel"] != "torch" or name not in ("cudnn", "nccl") or name not in givens.names:
        return []
    return [Row({**row, "wheel": "torch"}) for row in catalog.rows(name) if row["version"] == choice["version"]]


def brought_choice(catalog, name, choice, document, found, givens):
    """The rows of a library that the choice says comes with a wheel: one without cells, or none."""
    if name == "cuda":
        return brought_cuda(catalog, choice, document, found) if name not in givens.names else []
    if choice.get("pip"):
        return over_choice(catalog, name, choice, document, found, givens)
    wheels = found.get(choice["wheel"], [])
    extra = [key for key, _ in CELLS if choice.get(key)]
    fits = any(rules.brings(wheel, name) == choice["version"] for wheel in wheels)
    # Horovod is built against the wheel's NCCL; torch for Arm before 2.9 has it without the header
    torch = document["stack"].get("torch", {"version": "2.9"})["version"]
    hidden = document.get("arch") == "aarch64" and compare(torch, "2.9") < 0
    system = name == "nccl" and "horovod" in document["stack"] and hidden
    good = fits and not extra and not system and name not in givens.names
    return [Row(version=choice["version"], wheel=choice["wheel"], kind="wheel", built="")] if good else []


def own_beside(stack, one, two, givens):
    """Whether the two are a wheel and a library of another major that a request names."""
    compiled = any(rules.takes_nvcc(row) for other, row in stack.items() if other in BESIDE_TORCH)
    named = set(givens.names) | ({"horovod"} if compiled else set())
    for wheel, name in ((one, two), (two, one)):
        if wheel in FRAMEWORKS and rules.stands_beside(stack[wheel], name, stack[name]["version"], named):
            return True
    return False


# --- one combination of rows ------------------------------------------------------------------


def stack_wrong(catalog, stack, givens, drivers):
    """Every violation of the rules between rows and against what is given."""
    for (one, row), (two, other) in itertools.combinations(sorted(stack.items()), 2):
        wrong = rules.pair_wrong(catalog, one, row, two, other)
        if wrong and not own_beside(stack, one, two, givens):
            yield wrong
    if "cuda" in stack:
        yield from filter(None, (wrong(catalog, stack, givens) for wrong in (rules.repository_wrong, rules.compiler_wrong)))
    for name in rules.refused_by(catalog, stack, drivers):
        yield f"conflicts.csv refuses it: {name}"
    if "cuda" in stack:
        yield from given_wrong(catalog, stack, givens, drivers)


def pins_wrong(catalog, givens):
    """GPUs that a given driver does not drive, or that no recipe is for."""
    for gpu in givens.gpus:
        if rules.has_no_recipe(catalog, gpu):
            yield f"no recipe is for hosts with {gpu['version']}"
        yield from filter(None, (rules.undriven(catalog, gpu, driver) for driver in givens.drivers))


def given_wrong(catalog, stack, givens, drivers):
    yield from pins_wrong(catalog, givens)
    cuda = stack["cuda"]
    for driver in drivers:
        how = rules.driver_runs(catalog, driver, cuda, givens.gpus)
        if not how or (how == "compat" and not givens.drivers):
            yield f"driver {driver} does not run CUDA {cuda['version']}"
    for gpu in givens.gpus:
        yield from gpu_wrong(catalog, gpu, stack, drivers, givens.gpus)


def gpu_wrong(catalog, gpu, stack, drivers, gpus):
    cuda, cudnn, wheels = stack["cuda"], stack.get("cudnn", rules.NO_ROW), rules.wheels_of(stack)
    takes = rules.gpu_takes_cuda(catalog, gpu, cuda)
    if not rules.gpu_takes_cudnn(gpu, cudnn):
        yield f"cuDNN {cudnn['version']} is not for {gpu['version']}"
    if not takes:
        yield f"{gpu['version']} does not take CUDA {cuda['version']}"
    if takes == "jit":
        wrong = rules.jit_wrong(catalog, gpu, cuda, wheels, drivers)
        if wrong:
            yield wrong
    for wheel in wheels:
        if not rules.wheel_takes(catalog, wheel, gpu):
            yield f"{wheel.cell('pip')} has no code for {gpu['version']}"
        for driver in drivers:
            way = rules.driver_runs(catalog, driver, cuda, gpus)
            yield from filter(None, [rules.ptx_wrong(catalog, wheel, gpu, driver, way)])


# --- requests ---------------------------------------------------------------------------------


def shown(document, name):
    version = document["stack"].get(name, {}).get("version", "")
    return [item.strip() for item in version.split(",")] if version else []


def counts_as_same(document, word, name, clauses, version):
    """Another patch version of a component whose rules go by the series; the stack has to say so."""
    wanted = clauses[0][2:]
    if name not in ("gcc", "python", "glibc") or len(clauses) != 1 or not clauses[0].startswith("=="):
        return False
    kept = 1 if name == "gcc" and parts(wanted)[0] >= 5 else 2
    said = any(note.startswith(f"{word}: ") for note in document.get("notes", []))
    return said and in_series(version, ".".join(wanted.split(".")[:kept]))


def requests_wrong(catalog, document, givens):
    for word, name, clauses in givens.words:
        if name == "gpu" or not clauses:
            continue
        known, pip = catalog.versions(name), name in PIP
        for version in shown(document, name):
            if name == "driver" and givens.is_given(clauses):
                continue
            version = rules.whole(version) if name == "driver" else version
            if counts_as_same(document, word, name, clauses, version):
                continue
            if not request_admits(clauses, version, known, pip):
                yield f"{word} does not admit {name} {version}"


def givens_shown(document, givens):
    """The drivers and GPUs that are there stand in the stack as they were given."""
    if givens.drivers and sorted(set(givens.drivers)) != sorted(shown(document, "driver")):
        yield f"drivers {givens.drivers} were given, the stack says {shown(document, 'driver')}"
    names = sorted({gpu["version"] for gpu in givens.gpus})
    if sorted(shown(document, "gpu")) != names:
        yield f"GPUs {names} were given, the stack says {shown(document, 'gpu')}"


# --- the base image, the gate, the sources ----------------------------------------------------


def tag_row(catalog, name):
    tag = name[len(CUDA_IMAGE) :] if name.startswith(CUDA_IMAGE) else None
    rows = [row for row in catalog.rows("image") if row["version"] == tag]
    return rows[0] if rows else None


def tag_wrong(image, base, stack):
    cuda, system = stack["cuda"], stack["os"]
    if image is None:
        yield f"image.csv has no {base}"
        return
    if image["os"] != system["version"] or not in_series(cuda["version"], image["cuda"]):
        yield f"{base} is not for CUDA {cuda['version']} on {system['version']}"
    if not cudnn_fits(image, stack):
        yield f"{base} holds cuDNN {image['cudnn']}, the stack has {stack['cudnn']['version']}"


def base_wrong(catalog, document, stack):
    if stack["cuda"].cell("wheel"):
        return  # on the OS's own image
    if "base" not in document:
        yield "no base image"
        return
    base, usable = document["base"], ("listed", "eol")
    images = [i for i in rules.images_of(catalog, stack["cuda"], stack["os"]) if i["flavor"] == "devel"]
    if base["name"].startswith(CUDA_IMAGE):
        image = tag_row(catalog, base["name"])
        yield from tag_wrong(image, base["name"], stack)
        if image and (image["status"] != base["status"] or image["status"] not in usable):
            yield f"{base['name']} is {image['status']}, the document says {base['status']}"
        return
    if base["name"] != stack["os"].cell("image"):
        yield f"the base {base['name']} is not the image of {stack['os']['version']}"
    if any(cudnn_fits(image, stack) and image["status"] in usable and deployable(catalog, image, stack) for image in images):
        yield f"{base['name']} is taken though NVIDIA's image is listed"
    yield from replaced_wrong(catalog, base, images, stack)


def deployable(catalog, devel, stack):
    """Whether NVIDIA has the image without the compiler too, or has no packages in its place."""
    version = stack["cuda"]["version"]
    packaged = cell_admits(stack["os"].cell("cuda"), version) and compare(version, "9") >= 0
    twins = [
        row for row in catalog.rows("image")
        if row["flavor"] == "runtime" and row["status"] in ("listed", "eol")
        and all(row.cell(column) == devel.cell(column) for column in ("os", "cuda", "cudnn"))
    ]
    return bool(twins) or not packaged


def cudnn_fits(image, stack):
    """An image with a cuDNN is not for a stack whose cuDNN comes with a wheel."""
    if stack["cudnn"].cell("wheel"):
        return not image.cell("cudnn")
    return cell_admits(image.cell("cudnn"), stack["cudnn"]["version"])


def replaced_wrong(catalog, base, images, stack):
    if base["status"] == "none":
        fitting = [image["version"] for image in images if cudnn_fits(image, stack) and deployable(catalog, image, stack)]
        if fitting:
            yield f"no image, says the document, but there is {fitting[0]}"
        return
    image = tag_row(catalog, base.get("replaces", ""))
    yield from tag_wrong(image, base.get("replaces", ""), stack)
    if image and image["status"] != base["status"]:
        yield f"{base['replaces']} is {image['status']}, the document says {base['status']}"


def gate_wrong(catalog, document, stack, givens):
    has = SKIP_GATE in document.get("env", [])
    if not document.get("base", {"name": ""})["name"].startswith(CUDA_IMAGE):
        if has:
            yield f"{SKIP_GATE} without NVIDIA's image"
        return
    answers = [rules.gate_refuses(catalog, d, stack["cuda"], givens.gpus) for d in givens.drivers]
    if True in answers and not has:
        image = f"the image of CUDA {stack['cuda']['version']}"
        yield f"{image} refuses one of {givens.drivers}: no {SKIP_GATE}"
    if has and all(answer is False for answer in answers):
        yield f"{SKIP_GATE} though the image refuses none of {givens.drivers}"


def sources_wrong(catalog, document):
    texts = [(name, c.get("source", "")) for name, c in document["stack"].items()]
    texts.append(("base", document.get("base", {}).get("source", "")))
    for name, text in texts:
        for source in filter(None, text.split(";")):
            if source not in catalog.sources:
                yield f"{name}: sources.csv has no {source}"
    for name, choice in document["stack"].items():
        if not choice.get("source"):
            yield f"{name}: no source"


# --- all of it --------------------------------------------------------------------------------


def least_wrong(catalog, choices, givens, drivers):
    """The rows that break fewest rules, of all that the choices may mean, and what they break."""
    names, best = list(choices), None
    for rows in itertools.product(*choices.values()):
        stack = dict(zip(names, rows))
        wrong = list(stack_wrong(catalog, stack, givens, drivers))
        if best is None or len(wrong) < len(best[1]):
            best = (stack, wrong)
        if not wrong:
            break
    return best


def stack_of(catalog, document, requests):
    """{component: row} that the document means; every component must have a row."""
    catalog = catalog.of(document.get("arch"))
    givens = Givens(catalog, requests)
    wrong = []
    choices = row_choices(catalog, document, givens, wrong)
    if wrong:
        raise ValueError(f"{requests}: {wrong}")
    return least_wrong(catalog, choices, givens, shown(document, "driver"))[0]


def check(catalog, document, requests):
    catalog, givens = catalog.of(document.get("arch")), Givens(catalog, requests)
    wrong = list(parts_wrong(document, givens))
    if givens.arch != catalog.arch:
        wrong.append(f"a stack for {catalog.arch}, and the requests are about {givens.arch}")
    choices = row_choices(catalog, document, givens, wrong)
    if wrong:
        return wrong
    stack, broken = least_wrong(catalog, choices, givens, shown(document, "driver"))
    wrong += broken
    wrong += requests_wrong(catalog, document, givens)
    wrong += sources_wrong(catalog, document)
    if document["accelerator"] == "cuda":
        wrong += givens_shown(document, givens)
        wrong += base_wrong(catalog, document, stack)
        wrong += gate_wrong(catalog, document, stack, givens)
    return wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    wrong = check(Catalog(sys.argv[2]), document, sys.argv[3:])
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
