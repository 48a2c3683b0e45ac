# SPDX-License-Identifier: MIT
"""A Dockerfile's instructions, and what must hold in every one that ringup writes."""

import functools
import re
from pathlib import Path

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
# what stands in a recipe for one processor only
OWN = {"x86_64": re.compile(r"x86_64|amd64"), "aarch64": re.compile(r"aarch64|arm64|sbsa")}
INSTRUCTIONS = {"FROM", "ARG", "RUN", "COPY", "ENV", "LABEL", "CMD"}
MARK = re.compile(r"\$\{[a-z]+\.[a-z_.]+\}")
BESIDE = ("torchvision", "torchaudio", "deepspeed", "flash-attn", "transformer-engine", "xformers", "megatron-core", "triton", "nvshmem")
SECRET = re.compile(r"(?i)(password|secret|token|BEGIN [A-Z ]*PRIVATE KEY)\s*[=:]")
PINNED = re.compile(r"^'?[A-Za-z0-9_.-]+(\[[a-z0-9_,-]+\])?==[0-9][^\s']*'?$|^/opt/wheels(/horovod-|-beside/)\*\.whl$")
RANGE = re.compile(r"^'?(numpy|wrapt)<[0-9.]+'?$")
OLD_NVIDIA = re.compile(r"^lib(cudnn|nccl)\S*cuda([89]|10)\.")
NVIDIA = re.compile(r"^(lib(cudnn|nccl)|cuda-toolkit)")


def instructions(text):
    """(line, name, body) of each instruction; continuations joined with a line break."""
    found, body, start = [], [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if not body and (not line or line.startswith("#")):
            continue
        if not body:
            start = number
        body.append(line[:-1] if line.endswith("\\") else line)
        if line.endswith("\\"):
            continue
        name, _, rest = "\n".join(body).partition(" ")
        found.append((start, name, rest))
        body = []
    if body:
        found.append((start, "", "the last line continues"))
    return found


def stages_wrong(parsed):
    names, any_from = set(), False
    for line, name, body in parsed:
        if name == "FROM":
            base, _, alias = body.partition(" AS ")
            if base not in names and not re.search(r"[:@]", base):
                yield f"line {line}: FROM {base} has no tag"
            names.add(alias)
            any_from = True
        elif not any_from and name != "ARG":
            yield f"line {line}: {name} before FROM"
        copied = re.match(r"--from=(\S+)", body) if name == "COPY" else None
        if copied and copied[1] not in names:
            yield f"line {line}: COPY from {copied[1]}, which is no stage"
        if copied and re.search(r"/usr/local/cuda/|/cuda\S*/lib64/", body):
            yield f"line {line}: COPY {body} goes by a link, which not every builder follows"


def pip_words(body):
    """The words behind each `pip install`, without options and their values."""
    for command in re.findall(r"-m pip install ([^\n;&]*)", body):
        words, skip = [], False
        for word in command.split():
            if skip:
                skip = False
            elif word in ("--extra-index-url", "--index-url", "--find-links", "--only-binary", "-r", "-c"):
                skip = True
            elif not word.startswith("--"):
                words.append(word)
        yield from words


def packages(text):
    """(line, word) of each package that a RUN has apt-get, yum or dnf install."""
    for line, name, body in instructions(text):
        for command in re.findall(r"(?:apt-get|yum|dnf) install ([^;&|]*)", body) if name == "RUN" else []:
            yield from ((line, word) for word in command.split() if not word.startswith(("-", "$")))


def unpinned(text):
    """Packages without an exact version, and images of registries without a digest."""
    stages = {body.partition(" AS ")[2] for _, name, body in instructions(text) if name == "FROM"}
    for line, word in packages(text):
        if not re.search(r"=[0-9]|-[0-9][^-]*[.][^-]*-[0-9][^-]*$", word):
            yield f"line {line}: {word} has no version"
    for line, name, body in instructions(text):
        base = body.partition(" AS ")[0]
        if name == "FROM" and base not in stages and not re.match(r"ringup-base:|.*@sha256:[0-9a-f]{64}$", base):
            yield f"line {line}: {base} has no digest"


def run_wrong(line, body):
    if re.search(r"\n\s*\n", body) or body.rstrip().endswith((";", "&&")):
        yield f"line {line}: an empty command"
    for url, path in re.findall(r"curl \S+ --retry 3 (\S+) -o (\S+?);", body):
        checked = re.search(r'echo "[0-9a-f]{64}  ' + re.escape(path) + r'" \| sha256sum -c -', body)
        if not checked:
            yield f"line {line}: {url} is not checked"
        if not url.startswith('"${DOWNLOADS_MIRROR:-https:/}/'):
            yield f"line {line}: {url} asks no mirror"
    for words in re.findall(r"\bstep nvidia ([^;&]*)", body):
        if not re.fullmatch(r"\S+ \S+\.pub ([0-9A-F]{40}|[0-9a-f]{64}) (cuda|ml)\s*(\\\n\s*)?", words):
            yield f"line {line}: a key without a fingerprint: {words}"
    for word in pip_words(body):
        if RANGE.match(word):
            continue  # what an old framework forgot to say: an upper bound
        if not PINNED.match(word):
            yield f"line {line}: pip installs {word}, not one version"
    if " -r /tmp/" in body and not ("--require-hashes" in body and re.search(r"==\S+ --hash=sha256:[0-9a-f]{64}'", body)):
        yield f"line {line}: pip takes a list without checksums"
    for word in body.split():
        if NVIDIA.match(word) and not re.search(r"[0-9]", word.split("=")[-1]):
            yield f"line {line}: {word} has no version"
        if re.match(r"cuda-(libraries|toolkit)-10-[12]", word) and not re.search(r"\blibcublas\S*[-=]10\.", body):
            yield f"line {line}: {word} takes the newest libcublas10, which may be another CUDA's"


def deployed(parsed):
    """The instructions of the last stage and of those that it begins with."""
    stages = {}
    for line, name, body in parsed:
        if name == "FROM":
            base, _, alias = body.partition(" AS ")
            now = stages[alias] = [*stages.get(base, []), (line, name, body)]
        elif name != "ARG":
            now.append((line, name, body))
    return now


def toolkit_wrong(text, parsed):
    """The compiler of CUDA is for the build stage alone, where NVIDIA has CUDA without it."""
    if re.search("(?m)^# NVIDIA.*compiler.* is deployed too$", text):
        return
    for line, name, body in deployed(parsed):
        if (name == "FROM" and "-devel-" in body) or (name == "RUN" and "cuda-toolkit-" in body):
            yield f"line {line}: the toolkit is deployed"


def compiler_wrong(text, parsed):
    """DeepSpeed compiles its operations at run time: nvcc is deployed, with its headers, and the image's checks use it."""
    labels = "".join(body for _, name, body in parsed if name == "LABEL")
    whole = re.search("(?m)^# NVIDIA.*compiler.* is deployed too$", text)
    if "stack.deepspeed=" not in labels or "stack.cuda=" not in labels:
        return
    copied = [body for _, name, body in deployed(parsed) if name == "COPY"]
    target = "sbsa" if 'stack.arch="aarch64"' in text else "x86_64"
    for folder in ("bin", "nvvm", f"targets/{target}-linux/include"):
        if not whole and not any(re.match(r"--from=build /usr/local/cuda-[0-9.]+/" + folder + "/ ", body) for body in copied):
            yield f"DeepSpeed has no {folder} of the toolkit in the image"
    if "nvcc -x cu " not in text:
        yield "no check compiles anything with nvcc, as DeepSpeed does"


def repositories_wrong(text, parsed):
    """NVIDIA's packages come from a repository that their stage knows; cuDNN and NCCL of old CUDAs from another than CUDA's."""
    stages = {}
    for line, name, body in parsed:
        if name == "FROM":
            base, _, alias = body.partition(" AS ")
            known = stages[alias] = list(stages.get(base, []))
        known += re.findall(r"\bstep nvidia (\S+)", body) if name == "RUN" else []
        for word in body.split() if name == "RUN" else []:
            want = "/machine-learning/" if OLD_NVIDIA.match(word) else "/cuda/"
            if re.match(r"(lib(cudnn|nccl)|cuda-(toolkit|libraries|cudart|driver|compat))\S*[-=]", word) and not any(want in at for at in known):
                yield f"line {line}: {word} is in no repository that is there"


def missing(text, parsed):
    """Parts that a label promises and no instruction brings; some come with a framework's wheel."""
    brought = re.findall(r"(?m)^# (\w+) \S+ - the wheel of ", text)
    labels = "".join(body for _, name, body in parsed if name == "LABEL")
    runs = "".join([body for _, name, body in parsed if name == "RUN"][:-1])  # without the checks
    for part, version in re.findall(r'org\.ringup\.stack\.([\w-]+)="([^"]*)"', labels):
        if part in ("cudnn", "nccl", "openmpi", "horovod", "tensorflow", "torch", "jax", "mxnet") + BESIDE:
            if part in brought:
                if part == "nccl" and not re.search(r'import nvidia[.]nccl|find_spec[(]"torch"[)].* >/etc/ld[.]so[.]conf[.]d/nccl', runs):
                    yield "the loader does not find the NCCL of the wheel"
            elif version not in runs and f"=={version.split('-')[0]} " not in runs:
                yield f"{part} {version} is promised and not installed"


def horovod_wrong(text, parsed):
    """What Horovod's setup.py requires and frameworks need not bring: `--no-deps` takes what stands there."""
    label = re.search(r'stack\.horovod="0\.(\d+)', text)
    python = re.search(r'stack\.python="([\d.]+)"', text)
    if not label:
        return
    need = "six" if int(label[1]) < 20 else "dataclasses" if python[1] == "3.6" else ""
    for where, bodies in (
        ("built", [body for _, name, body in parsed if name == "RUN" and "setup.py bdist_wheel" in body]),
        ("deployed", [body for _, name, body in deployed(parsed) if name == "RUN" and "/wheels/horovod-" in body]),
    ):
        if need and not any(f"{need}==" in body for body in bodies):
            yield f"Horovod is {where} without {need}"


def trusty_wrong(text):
    """What apt 1.0 and pip 1.5 do not know."""
    for option in ("--allow-downgrades", "--allow-change-held-packages", "--require-hashes"):
        if option in text and 'stack.os="ubuntu14.04"' in text:
            yield f"Ubuntu 14.04 has no {option}"


def wrong(text):
    parsed = instructions(text)
    for line, name, body in parsed:
        if name not in INSTRUCTIONS:
            yield f"line {line}: no instruction: {name} {body}"
        if name == "RUN":
            yield from run_wrong(line, body)
    yield from stages_wrong(parsed)
    yield from missing(text, parsed)
    yield from toolkit_wrong(text, parsed)
    yield from compiler_wrong(text, parsed)
    yield from horovod_wrong(text, parsed)
    yield from trusty_wrong(text)
    yield from repositories_wrong(text, parsed)
    yield from processor_wrong(text, parsed)
    if [name for _, name, _ in parsed][-1] != "CMD":
        yield "the last instruction is not CMD"
    if not any(name == "LABEL" and "org.ringup.stack.os=" in body for _, name, body in parsed):
        yield "no label names the stack"
    for pattern, what in ((MARK, "a name without a value"), (SECRET, "a secret")):
        hit = pattern.search(text)
        if hit:
            yield f"{what}: {hit[0]}"


@functools.lru_cache(maxsize=None)
def sums(arch):
    """{package==version: checksums of its files for that processor}."""
    suffix, found = "" if arch == "x86_64" else f".{arch}", {}
    for line in (RECIPES / f"wheels/packages{suffix}.csv").read_text().split("\n"):
        name, version, *rest = (line + ",,").split(",")
        found.setdefault(f"{name}=={version}", set()).update(re.findall("[0-9a-f]{64}", ",".join(rest)))
    for line in (RECIPES / f"catalog/index_wheel{suffix}.csv").read_text().split("\n"):
        version, _, component, *rest = (line + ",,,").split(",")
        found.setdefault(f"{component}=={version}", set()).update(re.findall("[0-9a-f]{64}", ",".join(rest)))
    return found


def processor_wrong(text, parsed):
    """What is of the other processor, by its name or by its checksum."""
    labels = " ".join(body for _, name, body in parsed if name == "LABEL")
    arch = "aarch64" if 'org.ringup.stack.arch="aarch64"' in labels else "x86_64"
    other = next(name for name in OWN if name != arch)
    for line, name, body in parsed:
        hit = OWN[other].search(body)
        if hit:
            yield f"line {line}: {hit[0]} in a recipe for {arch}"
        for package, word in re.findall(r"([\w.-]+==[\w.]+) --hash=sha256:([0-9a-f]{64})", body):
            if word not in sums(arch).get(package, {word}):
                yield f"line {line}: the checksum of {package} is not of its wheel for {arch}"


def runs(text):
    """(line, what the shell gets) of each RUN."""
    for line, name, body in instructions(text):
        if name == "RUN":
            yield line, body.replace("\n", "\\\n")


def shell(text):
    """All RUN bodies as functions of one script, for `sh -n`."""
    return "".join(f"f{line}() {{\n{body}\n}}\n" for line, body in runs(text))
