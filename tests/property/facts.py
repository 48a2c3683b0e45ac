# SPDX-License-Identifier: MIT
"""
What is known about whole stacks, in numbers that are written here once more and not read from the
catalog's requirement cells: a wrong cell, and a wrong reading of a right cell, are both seen.

Sources: NVIDIA's "CUDA Compatibility" and the release notes of CUDA, cuDNN and NCCL; Spack's
packages cuda and nccl; TensorFlow's table of tested builds; torch's RELEASE.md; Horovod's issues.
"""
from checker import CUDA_IMAGE, shown
from versions import compare, parts

# From this CUDA on: the oldest driver that runs all of its major.
MINOR_DRIVERS = ((11, "450.80.02"), (12, "525.60.13"), (13, "580.65.06"))
# The releases whose own driver is older than that of their major.
OWN_DRIVERS = {"11.0.1": "450.36.06", "11.0.2": "450.51.05", "11.0.3": "450.51.06"}
FORWARD_CLASSES = ("datacenter", "jetson", "rtx")
FORWARD_FROM = "10.0"
# From this CUDA on: the lowest and highest compute capability that nvcc makes code for.
TARGETS = (
    ("8.0", "2.0", "6.2"),
    ("9.0", "3.0", "7.2"),
    ("10.0", "3.0", "7.5"),
    ("11.0", "3.5", "8.0"),
    ("11.1", "3.5", "8.7"),
    ("11.8", "3.5", "9.0"),
    ("12.0", "5.0", "9.0"),
    ("12.8", "5.0", "12.0"),
    ("12.9", "5.0", "12.1"),
    ("13.0", "7.5", "12.1"),
)
# From this CUDA on: the newest major of GCC that nvcc takes.
GCC_CEILINGS = (
    ("8.0", 5),
    ("9.0", 6),
    ("9.2", 7),
    ("10.1", 8),
    ("11.0", 9),
    ("11.1", 10),
    ("11.4.1", 11),
    ("12.0", 12),
    ("12.4", 13),
    ("12.8", 14),
    ("13.0", 15),
)
# From this NCCL on: the majors of CUDA that its source builds with.
NCCL_CUDA = (
    ("2.0", 8, 11),
    ("2.7", 10, 11),
    ("2.16", 11, 12),
    ("2.22", 12, 12),
    ("2.27", 12, 13),
)
# Framework, from, before: the oldest and the newest minor release of Python 3.
PYTHONS = (
    ("tensorflow", "2.16", "2.20", 9, 12),
    ("tensorflow", "2.21", "2.22", 10, 13),
    ("torch", "2.9", "3", 10, 14),
)
GLIBCS = (
    ("tensorflow", "2.12", "2.21", "2.17"),
    ("tensorflow", "2.21", "2.22", "2.27"),
    ("torch", "2.7", "3", "2.28"),
)
# Framework, from, before: the oldest and the newest major of cuDNN.
CUDNNS = (("tensorflow", "0", "2.18", 0, 8), ("tensorflow", "2.18", "3", 9, 9), ("torch", "2.4", "3", 9, 9))
PIP_NAMES = (("0", "tensorflow-gpu=="), ("2.1", "tensorflow=="), ("2.14", "tensorflow[and-cuda]=="))
# The oldest compute capability of torch's wheels for aarch64.
TORCH_AARCH64 = (("2.6", "9.0"), ("2.9", "8.0"))
TORCH_2_7 = {"cu126": ("5.0", "9.0"), "cu128": ("7.5", "12.0")}


def row_from(table, version):
    """The last row that begins at or before the version."""
    return [row for row in table if compare(row[0], version) <= 0][-1]


def version(stack, name):
    return stack[name]["version"] if name in stack else None


def inside(text, low, high):
    """low <= text < high; None is in no range."""
    return text is not None and compare(text, low) >= 0 and compare(text, high) < 0


def at_least(text, low):
    return text is not None and compare(text, low) >= 0


# --- CUDA ---------------------------------------------------------------------------------------


def driver_wrong(cuda, drivers, gpus):
    minimum = [driver for major, driver in MINOR_DRIVERS if major == parts(cuda)[0]]
    minimum = [OWN_DRIVERS[cuda]] if cuda in OWN_DRIVERS else minimum
    for driver in drivers:
        whole = driver if "." in driver else driver + ".99999"
        if not minimum or compare(whole, minimum[0]) >= 0:
            continue
        forward = gpus and all(gpu.get("class") in FORWARD_CLASSES for gpu in gpus)
        if not forward or compare(cuda, FORWARD_FROM) < 0:
            yield f"driver {driver} does not run CUDA {cuda}: {minimum[0]} is its major's minimum"


def gpu_wrong(cuda, gpus, stack):
    _, low, high = row_from(TARGETS, cuda)
    ptx = [stack[name].cell("ptx") for name in ("tensorflow", "torch", "jax", "mxnet") if name in stack]
    for gpu in gpus:
        newer = compare(gpu["sm"], high) > 0 and parts(gpu["sm"])[0] != parts(high)[0]
        if compare(gpu["sm"], low) < 0:
            yield f"CUDA {cuda} makes no code for {gpu['version']} any more"
        elif newer and not any(text and compare(text, gpu["sm"]) <= 0 for text in ptx):
            yield f"CUDA {cuda} makes no code for {gpu['version']} and no wheel has PTX for it"


def gcc_wrong(cuda, gcc):
    ceiling = row_from(GCC_CEILINGS, cuda)[1]
    if parts(gcc)[0] > ceiling:
        yield f"nvcc of CUDA {cuda} takes GCC up to {ceiling}, not {gcc}"


def libraries_wrong(cuda, stack):
    major, cudnn, nccl = parts(cuda)[0], version(stack, "cudnn"), stack["nccl"]
    if major == 11 and compare(cudnn, "9.10.2.21") > 0:
        yield f"cuDNN {cudnn} has no build for CUDA 11"
    if major == 13 and compare(cudnn, "9.12.0") < 0:
        yield f"cuDNN {cudnn} has no build for CUDA 13"
    _, low, high = row_from(NCCL_CUDA, nccl["version"])
    if nccl["kind"] == "source" and not low <= major <= high:
        yield f"NCCL {nccl['version']} builds with CUDA {low} to {high}, not {cuda}"
    if nccl["kind"] in ("apt", "rpm") and parts(nccl["built"])[0] != major:
        yield f"NCCL {nccl['version']} was built for CUDA {nccl['built']}, not {cuda}"


# --- frameworks ---------------------------------------------------------------------------------


def brings_its_own(name, number):
    """Wheels with a cuDNN: torch's always, TensorFlow's [and-cuda] since 2.14."""
    return name == "torch" or (name == "tensorflow" and at_least(number, "2.14"))


def ranges_wrong(stack):
    python, glibc = version(stack, "python"), version(stack, "glibc")
    cudnn = parts(version(stack, "cudnn"))[0]
    for name, low, high, oldest, newest in PYTHONS:
        if inside(version(stack, name), low, high) and not inside(python, f"3.{oldest}", f"3.{newest + 1}"):
            yield f"{name} {version(stack, name)} on Python {python}"
    for name, low, high, least in GLIBCS:
        if inside(version(stack, name), low, high) and not at_least(glibc, least):
            yield f"{name} {version(stack, name)} on glibc {glibc}"
    for name, low, high, oldest, newest in CUDNNS:
        if brings_its_own(name, version(stack, name)) and not stack["cudnn"].cell("wheel"):
            continue  # the stack's stands beside the one that the wheel loads
        if inside(version(stack, name), low, high) and not oldest <= cudnn <= newest:
            yield f"{name} {version(stack, name)} with cuDNN {cudnn}"
    if inside(version(stack, "tensorflow"), "1.13", "1.14") and parts(python)[:2] == (3, 7):
        if not at_least(glibc, "2.23"):
            yield f"tensorflow 1.13 of Python 3.7 on glibc {glibc}"


def wheels_wrong(stack, gpus):
    tensorflow, torch = stack.get("tensorflow"), stack.get("torch")
    if tensorflow and "+" not in tensorflow["version"]:
        name = row_from(PIP_NAMES, tensorflow["version"])[1]
        # tensorrt 8.5.3.1, which the extra of 2.14 asks for, has no wheel for Python 3.11 (tensorflow issue 61986)
        if inside(tensorflow["version"], "2.14", "2.15") and parts(version(stack, "python"))[:2] == (3, 11):
            name = "tensorflow=="
        if not tensorflow["pip"].startswith(name):
            yield f"{tensorflow['pip']} is not {name}..."
    build = torch["index"].rpartition("/")[2] if torch else ""
    if torch and parts(torch["version"])[:2] == (2, 7) and build in TORCH_2_7:
        low, high = TORCH_2_7[build]
        for gpu in gpus:
            if compare(gpu["sm"], low) < 0 or compare(gpu["sm"], high) > 0:
                yield f"torch {torch['version']} {build} on {gpu['version']}"


def aarch64_wrong(stack, gpus):
    """PyTorch's indexes have CUDA for Arm servers from 2.6 on; TensorFlow's wheels have none."""
    if "tensorflow" in stack or "mxnet" in stack:
        yield "a framework that has no CUDA on aarch64"
    torch = version(stack, "torch")
    least = row_from((("0", "999"),) + TORCH_AARCH64, torch)[1] if torch else "0"
    for gpu in gpus:
        if compare(gpu["sm"], least) < 0:
            yield f"torch {torch} for aarch64 on {gpu['version']}"


def horovod_wrong(stack):
    horovod = version(stack, "horovod")
    if not horovod:
        return
    if at_least(version(stack, "torch"), "2.1") and compare(horovod, "0.28") < 0:
        yield f"Horovod {horovod} with torch {version(stack, 'torch')}"
    if at_least(version(stack, "tensorflow"), "2.10") and parts(version(stack, "gcc"))[0] < 8:
        yield f"Horovod with TensorFlow {version(stack, 'tensorflow')} and GCC {version(stack, 'gcc')}"
    if version(stack, "mxnet") in ("1.5.1", "1.6.0", "1.7.0"):
        yield f"Horovod with MXNet {version(stack, 'mxnet')}, which is not .post0"


def base_wrong(cuda, base):
    if base["name"].startswith(CUDA_IMAGE) and compare(cuda, "11.0") < 0:
        yield f"{base['name']}: tags of CUDA 10 and older are deleted"
    if base["name"].endswith(":latest"):
        yield f"{base['name']}: there is no such tag"


# --- all of it ----------------------------------------------------------------------------------


def stack_wrong(stack, document, gpus):
    """stack: {component: row}; gpus: the rows that were asked for."""
    cuda = version(stack, "cuda")
    yield from driver_wrong(cuda, shown(document, "driver"), gpus)
    yield from gpu_wrong(cuda, gpus, stack)
    if not stack["cuda"].cell("wheel"):  # wheels bring no nvcc
        yield from gcc_wrong(cuda, version(stack, "gcc"))
    yield from libraries_wrong(cuda, stack)
    yield from ranges_wrong(stack)
    yield from wheels_wrong(stack, gpus)
    if document.get("arch") == "aarch64":
        yield from aarch64_wrong(stack, gpus)
    yield from horovod_wrong(stack)
    if "base" in document:
        yield from base_wrong(cuda, document["base"])
