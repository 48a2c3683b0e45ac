# SPDX-License-Identifier: MIT
"""
What goes together, from docs/catalog.md and the vendors' documents: written without plan/rule_*.c.

Every function answers a question about rows; None, False or "" is "no" or "nothing is wrong".
"""
from catalog import BESIDE_TORCH, COMPONENTS, FRAMEWORKS, Row
from versions import KEY, cell_admits, clause_admits, compare, in_series, parts

NO_ROW = Row()
PACKAGES = {"apt": ("apt",), "rpm": ("yum", "dnf", "tdnf", "zypper")}
BRANDS = {
    "datacenter": {"tesla"},
    "geforce": {"geforce", "geforcertx"},
    "titan": {"titan", "titanrtx"},
    "quadro": {"quadro", "quadrortx"},
    "rtx": {"nvidiartx", "quadrortx"},
}


# --- two rows ---------------------------------------------------------------------------------


def cell_wrong(name, row, other_name, other):
    """A requirement cell of `row` that excludes `other`; driver and GPU have rules of their own."""
    if {name, other_name} & {"driver", "gpu"} or (name, other_name) == ("os", "cuda"):
        return ""
    cell = row.cell(other_name)
    if other_name == "os":
        fits = not cell or cell == other["version"]
    else:
        fits = cell_admits(cell, other["version"])
    return "" if fits else f"{name} {row['version']} wants {other_name} {cell}, has {other['version']}"


def kind_wrong(row, system):
    managers = PACKAGES.get(row.cell("kind"))
    if managers and system["package_manager"] not in managers:
        return f"{row['kind']} packages of {row['version']} on {system['version']}"
    return ""


def images_of(catalog, cuda, system):
    return [
        image
        for image in catalog.rows("image")
        if image["os"] == system["version"] and in_series(cuda["version"], image["cuda"])
    ]


def key_unknown(catalog, system):
    """Whether the key of NVIDIA's repository for the OS has neither fingerprint nor checksum: nothing comes from there."""
    return any(row["name"] == system.cell("key") and not (row["fingerprint"] or row.get("sha256")) for row in catalog.rows("key"))


def cuda_missing(catalog, cuda, system):
    if key_unknown(catalog, system):
        return f"the key for {system['version']} is not known"
    if cell_admits(system.cell("cuda"), cuda["version"]) or images_of(catalog, cuda, system):
        return ""
    return f"no CUDA {cuda['version']} for {system['version']}"


def shared_wrong(name, row, other_name, other):
    """What pip installs with the later wheel has the same files: TensorFlow replaces torch's, JAX keeps what is there."""
    if name == "jax" and other_name in ("torch", "tensorflow"):
        for library in ("cudnn", "nccl"):
            brought = brings(other, library)
            if brought and not cell_admits(row.cell(library), brought):
                return f"jax {row['version']} wants {library} {row[library]}, {other_name} brings {brought}"
    if (name, other_name) == ("tensorflow", "torch") and brings(row, "nccl") and brings(other, "nccl"):
        if compare(brings(row, "nccl"), brings(other, "nccl")) < 0:
            return f"tensorflow {row['version']} brings an NCCL older than torch's"
        if brings(row, "cudnn") and not cell_admits(other.cell("cudnn"), brings(row, "cudnn")):
            return f"tensorflow {row['version']} brings a cuDNN that torch refuses"
    return ""


def in_a_wheel(catalog, cuda):
    """Whether wheels of frameworks bring the CUDA: what it asks of the OS and of nvcc's compiler depends on the stack then."""
    return any(in_series(cuda["version"], series) for series in catalog.wheel_cudas())


def pair_wrong(catalog, name, row, other_name, other):
    """The first rule that two rows break; "" when they go together."""
    wrong = ""
    if (name, other_name) not in (("cuda", "gcc"), ("gcc", "cuda")) or not in_a_wheel(catalog, row if name == "cuda" else other):
        wrong = cell_wrong(name, row, other_name, other) or cell_wrong(other_name, other, name, row)
    for one, this, two, that in ((name, row, other_name, other), (other_name, other, name, row)):
        if two == "os":
            wrong = wrong or kind_wrong(this, that)
            if one == "cuda" and not in_a_wheel(catalog, this):
                wrong = wrong or cuda_missing(catalog, this, that)
        wrong = wrong or shared_wrong(one, this, two, that)
    return wrong


# --- drivers ----------------------------------------------------------------------------------


def branch(driver):
    return str(parts(driver)[0])


def whole(driver):
    """A branch alone stands for its newest driver."""
    return driver if "." in driver else driver + ".99999"


def reaches(cell, driver):
    return bool(cell) and cell_admits(cell, whole(driver))


def require_states(catalog, cuda):
    """The states of the image's gate, the oldest first: of the patch release, else of its series."""
    rows = [r for r in catalog.rows("require") if in_series(cuda["version"], r["version"])]
    states = [r for r in rows if compare(r["version"], cuda["version"]) == 0] or rows
    return sorted(states, key=lambda state: state["from"])


def may_compat(catalog, driver, cuda, gpus):
    known = gpus and all(gpu.cell("class") in ("datacenter", "jetson") for gpu in gpus)
    if not known or cuda.cell("compat") != "yes":
        return False
    states = require_states(catalog, cuda)
    return any(branch(driver) in state["branches"].split(";") for state in states)


def driver_runs(catalog, driver, cuda, gpus):
    """"exact", "minor", "compat" or "" (not at all)."""
    if reaches(cuda["driver"], driver):
        return "exact"
    if reaches(cuda.cell("driver_minor"), driver):
        return "minor"
    return "compat" if may_compat(catalog, driver, cuda, gpus) else ""


def own_cuda_reaches(catalog, driver, least):
    """Whether the driver's own CUDA, as nvidia-smi says it, is at least that."""
    return any(
        compare(row["version"], least) >= 0 and reaches(row["driver"], driver)
        for row in catalog.rows("cuda")
    )


def gate_lists(state, driver, gpus):
    classes = [gpu.cell("class") for gpu in gpus] or ["datacenter"]
    listed = set(state["brands"].split(";"))
    fits = all(BRANDS.get(name, {"tesla"}) & listed for name in classes)
    return fits and branch(driver) in state["branches"].split(";")


def gate_refuses(catalog, driver, cuda, gpus):
    """True, False, or None where the rules do not say (no state known, or the driver's own CUDA is
    of the image's series though it is older than the patch release)."""
    if driver_runs(catalog, driver, cuda, gpus) == "exact":
        return False
    states = require_states(catalog, cuda)
    if not states:
        return None
    newest = [state for state in states if state["from"] == states[-1]["from"]]
    if any(gate_lists(state, driver, gpus) for state in newest):
        return False
    return None if own_cuda_reaches(catalog, driver, newest[-1]["cuda_least"]) else True


# --- what a wheel brings, and what drives a GPU ------------------------------------------------


def brings(wheel, name):
    """The version of the library that comes with the wheel, or ""."""
    for word in wheel.cell("brings").split(";"):
        if word.startswith((name + "==", name + ">=")):
            return word[len(name) + 2 :]
    return ""


def takes_nvcc(row):
    """A package beside torch that is built by nvcc, or that compiles with it at run time."""
    return bool((row.cell("sdist") and row.cell("cuda")) or row.cell("jit"))


def stands_beside(wheel, name, version, named):
    """A library that a request names, of another major than the wheel's own; a CUDA of the same one."""
    own = brings(wheel, name)
    if name == "cuda":  # a toolkit beside the wheel's own CUDA: of the same major, or newer where nothing is compiled
        same = parts(own)[0] == parts(version)[0] if own else False
        return bool(own) and name in named and (same or ("horovod" not in named and parts(version)[0] > parts(own)[0]))
    return bool(own) and name in named and parts(own)[0] != parts(version)[0]


def twins(catalog, gpu):
    """The products with the capability of gpu==sm_NN."""
    return [row for row in catalog.rows("gpu") if compare(row["sm"], gpu["sm"]) == 0]


PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "sbsa": "aarch64"}


def joined_to(catalog, gpu):
    """The processors that the products are joined to, "" for any; of sm_NN those of all that have it."""
    rows = twins(catalog, gpu) if gpu["version"].startswith("sm_") else [gpu]
    return {row.cell("arch") for row in rows}


def processor(catalog, words, gpus):
    """What a stack for these requests is for: `words` are the values of arch==."""
    named = [PROCESSORS[word] for word in words]
    implied = [arch for gpu in gpus for arch in joined_to(catalog, gpu) if joined_to(catalog, gpu) == {arch}]
    return (named + [arch for arch in implied if arch in PROCESSORS] + ["x86_64"])[0]


def has_no_recipe(catalog, gpu):
    """A GPU that is only joined to other processors than the catalog's."""
    arches = joined_to(catalog, gpu)
    return bool(arches) and not arches & {"", catalog.arch}


def undriven(catalog, gpu, driver):
    """Why no driver of that branch drives the GPU, or ""."""
    if gpu["version"].startswith("sm_"):
        wrong = [undriven(catalog, row, driver) for row in twins(catalog, gpu)]
        return wrong[0] if wrong and all(wrong) else ""
    if has_no_recipe(catalog, gpu):
        return f"{gpu['version']} is of {gpu['arch']}"
    first, last = gpu.cell("cuda").partition(";")[0], bounds(gpu.cell("driver"))[1]
    rows = [r for r in catalog.rows("cuda") if first[:2] == ">=" and in_series(r["version"], first[2:])]
    oldest = min(rows, key=lambda row: KEY(row["version"]), default=None)
    if oldest and parts(driver)[0] < parts(bounds(oldest["driver"])[0])[0]:
        return f"driver {driver} is older than the first CUDA of {gpu['version']}"
    if parts(driver)[0] > parts(last)[0]:
        return f"driver {driver} no longer drives {gpu['version']}"
    return ""


# --- GPUs -------------------------------------------------------------------------------------


def major(sm):
    return parts(sm)[0]


def binary_runs(code, sm):
    return major(code) == major(sm) and compare(code, sm) <= 0


def bounds(cell):
    """ ">=5.0;<=9.0" is ("5.0", "9.0")."""
    low = [clause[2:] for clause in cell.split(";") if clause.startswith(">=")]
    high = [clause[2:] for clause in cell.split(";") if clause.startswith("<=")]
    return (low or ["0"])[0], (high or ["999"])[0]


def toolkit_makes(cell, sm):
    """Machine code that runs on sm: "yes", "newer" (sm is above the range) or "older"."""
    low, high = bounds(cell)
    if cell_admits(cell, sm) or (binary_runs(high, sm) and compare(low, high) <= 0):
        return "yes"
    return "older" if compare(sm, low) < 0 else "newer"


def generation_first(catalog, sm):
    """The first CUDA of the capability's generation (same major, no higher one), or ""."""
    rows = [r for r in catalog.rows("gpu") if binary_runs(r["sm"], sm) and r.cell("cuda")[:2] == ">="]
    return min((bounds(row["cuda"])[0] for row in rows), key=KEY, default="")


def cuda_makes(catalog, cuda, sm):
    """toolkit_makes, where a toolkit that is older than the generation makes nothing for it."""
    made, first = toolkit_makes(cuda["sm"], sm), generation_first(catalog, sm)
    early = first and compare(cuda["version"], first) < 0 and not in_series(cuda["version"], first)
    return "newer" if made == "yes" and early else made


def first_major(catalog, gpu):
    """Of the first CUDA that knows the GPU."""
    if gpu.cell("cuda"):
        return major(bounds(gpu["cuda"])[0])
    makers = [r["version"] for r in catalog.rows("cuda") if cell_admits(r["sm"], gpu["sm"])]
    return min(major(version) for version in makers) if makers else 0


def sm_ranges(cell):
    for item in filter(None, cell.split(";")):
        low, _, high = item.partition("-")
        yield low, high or low


def wheel_binary(catalog, wheel, sm):
    if wheel.cell("sm"):
        return any(
            (compare(low, sm) <= 0 <= compare(high, sm)) or binary_runs(high, sm)
            for low, high in sm_ranges(wheel["sm"])
        )
    cell = wheel.cell("cuda_tested")  # of what stands beside torch none is known
    tested = [r for r in catalog.rows("cuda") if cell and cell_admits(cell, r["version"])]
    return not tested or any(cuda_makes(catalog, row, sm) == "yes" for row in tested)


def wheel_ptx(wheel, sm):
    return bool(wheel.cell("ptx")) and compare(wheel["ptx"], sm) <= 0


def loses_cudnn(catalog, wheel, gpu):
    """Whether the cuDNN that comes with the wheel is of the versions that dropped the GPU."""
    brought = brings(wheel, "cudnn")
    gone = [r["version"] for r in catalog.rows("cudnn") if compare(bounds(r.cell("sm"))[0], gpu["sm"]) > 0]
    return bool(brought and gone) and compare(brought, min(gone, key=KEY)) >= 0


def wheel_takes(catalog, wheel, gpu):
    if loses_cudnn(catalog, wheel, gpu):
        return False
    return wheel_binary(catalog, wheel, gpu["sm"]) or wheel_ptx(wheel, gpu["sm"])


def gpu_takes_cuda(catalog, gpu, cuda):
    """"yes", "jit" (PTX of a wheel could run) or "" (no)."""
    made = cuda_makes(catalog, cuda, gpu["sm"])
    if made == "yes":
        return "yes"
    jit = made == "newer" and 0 < first_major(catalog, gpu) <= major(cuda["version"])
    return "jit" if jit else ""


def own_series_reaches(catalog, driver, cuda):
    """Whether the driver is of this minor release of CUDA or newer: what compiles its PTX."""
    series = ".".join(cuda["version"].split(".")[:2])
    rows = [r for r in catalog.rows("cuda") if in_series(r["version"], series)]
    return any(reaches(row["driver"], driver) for row in rows)


def jit_wrong(catalog, gpu, cuda, wheels, drivers):
    """A GPU that is newer than the toolkit: what it wants beside the majors."""
    if not any(wheel_ptx(wheel, gpu["sm"]) for wheel in wheels):
        return f"{gpu['version']} is newer than CUDA {cuda['version']} and no wheel has PTX"
    for driver in drivers:
        if not own_series_reaches(catalog, driver, cuda):
            return f"PTX of CUDA {cuda['version']} on driver {driver} for {gpu['version']}"
    return ""


def ptx_maker(catalog, wheel):
    """The release whose compiler made the wheel's PTX, as the oldest of its series; None: not known."""
    cell = wheel.cell("cuda_tested")
    rows = [r for r in catalog.rows("cuda") if cell and cell_admits(cell, r["version"])]
    return min(rows, key=lambda row: KEY(row["version"]), default=None)


def ptx_wrong(catalog, wheel, gpu, driver, way):
    """A GPU that runs the wheel as PTX alone: minor-version compatibility does not compile that."""
    maker = ptx_maker(catalog, wheel)
    if not maker or way == "compat" or wheel_binary(catalog, wheel, gpu["sm"]):
        return ""
    if reaches(maker["driver"], driver):
        return ""
    return f"PTX of {wheel.cell('pip')} (CUDA {maker['version']}) on driver {driver} for {gpu['version']}"


def gpu_takes_cudnn(gpu, cudnn):
    low, high = bounds(cudnn.cell("sm"))
    return compare(low, gpu["sm"]) <= 0 <= compare(high, gpu["sm"])


# --- whole stacks -----------------------------------------------------------------------------


def condition_holds(cell, version):
    alternatives = cell.split("|") if cell else []
    return not alternatives or any(
        all(clause_admits(clause, version) for clause in alternative.split(";"))
        for alternative in alternatives
    )


def wheels_cuda(wheels):
    """The series of the CUDA that pip leaves for all of the frameworks' rows together, by name; "" where there is none. JAX,
    which is installed last, keeps that of the others, and so does a TensorFlow that asks for a range. One that names a newer
    CUDA than torch's replaces it."""
    rows = {name: row for name, row in wheels.items() if name != "jax" or len(wheels) == 1}
    series = {name: brings(row, "cuda") for name, row in rows.items()}
    if set(series) == {"tensorflow", "torch"} and all(series.values()):
        if "cuda>=" in rows["tensorflow"].cell("brings"):
            series["tensorflow"] = series["torch"]
        elif compare(series["torch"], series["tensorflow"]) < 0:
            series["torch"] = series["tensorflow"]
    values = set(series.values())
    return values.pop() if len(values) == 1 else ""


def comes_with_wheels(catalog, stack, named, drivers, gpus):
    """Whether all frameworks bring the stack's CUDA and nothing needs the system's."""
    series = wheels_cuda({name: stack[name] for name in FRAMEWORKS if name in stack})
    compiled = "horovod" in stack or any(takes_nvcc(stack[name]) for name in BESIDE_TORCH if name in stack)
    compat = any(driver_runs(catalog, driver, stack["cuda"], gpus) == "compat" for driver in drivers)
    return bool(series) and not (compiled or compat or "cuda" in named) and in_series(stack["cuda"]["version"], series)


def comes_with_a_wheel(stack, name, named):
    """Whether the stack's cuDNN or NCCL is a wheel's: no framework takes another one."""
    if stack[name].cell("wheel"):
        return True
    wheels = [stack[other] for other in FRAMEWORKS if other in stack]
    if name in named or (name == "nccl" and "horovod" in stack):
        return False
    return any(brings(wheel, name) for wheel in wheels) and all(
        brings(wheel, name) or not wheel.cell(name) for wheel in wheels
    )


def compiler_wrong(catalog, stack, givens):
    """A compiler that nvcc refuses, where the stack has nvcc."""
    if comes_with_wheels(catalog, stack, givens.names, givens.drivers, givens.gpus):
        return ""
    return cell_wrong("cuda", stack["cuda"], "gcc", stack["gcc"])


def system_cuda_wrong(catalog, stack, givens):
    """What a CUDA asks for that does not come with wheels."""
    if "cuda" not in stack:
        return ""
    return compiler_wrong(catalog, stack, givens) or repository_wrong(catalog, stack, givens)


def repository_wrong(catalog, stack, givens):
    """CUDA, cuDNN or NCCL that do not come with wheels, where NVIDIA does not have this CUDA for the OS."""
    missing = cuda_missing(catalog, stack["cuda"], stack["os"])
    beside = [
        name
        for name in ("cudnn", "nccl")
        if name in stack and stack[name].cell("kind") != "tar" and not comes_with_a_wheel(stack, name, givens.names)
    ]
    brought = comes_with_wheels(catalog, stack, givens.names, givens.drivers, givens.gpus)
    return missing if beside or not brought else ""


def refused_by(catalog, stack, drivers, asked=None):
    """
    Ids of conflicts.csv whose conditions all hold; `drivers`: any of them may be the one; `asked`: what all requests of
    a search name, where `stack` is a part of it.
    """
    versions = {name: [row["version"]] for name, row in stack.items() if name in COMPONENTS}
    versions["driver"] = [whole(driver) for driver in drivers]
    return [
        name
        for name, conditions, absent in catalog.refusals
        if not absent & set(stack if asked is None else asked)
        and all(
            any(condition_holds(cell, version) for version in versions.get(component, []))
            for component, cell in conditions.items()
        )
    ]


def wheels_of(stack):
    return [stack[name] for name in FRAMEWORKS + BESIDE_TORCH if name in stack]
