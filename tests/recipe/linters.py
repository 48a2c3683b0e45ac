# SPDX-License-Identifier: MIT
"""What hadolint and shellcheck say of a Dockerfile, and shellcheck of a script. Both must be installed."""

import re
import subprocess
import tempfile
from pathlib import Path

import dockerfile

ROOT = Path(__file__).resolve().parents[2]


def said(words, text):
    made = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    lines = (made.stdout + made.stderr).split("\n")
    return [line for line in lines if line] if made.returncode else []


def hadolint(text):
    """Its rules for Dockerfiles, and shellcheck's for each RUN."""
    return said(["hadolint", "--no-color", "--config", str(ROOT / ".hadolint.yaml"), "-"], text)


def hadolint_pinned(text):
    """Its rule for packages without versions, which .hadolint.yaml leaves out. Those for yum and dnf take options for packages."""
    ignored = "\n".join(line for line in (ROOT / ".hadolint.yaml").read_text().split("\n") if "DL3008" not in line)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(ignored)
        config.flush()
        return said(["hadolint", "--no-color", "--config", config.name, "-"], text)


def shellcheck(text, shell):
    return said(["shellcheck", "--shell", shell, "--format", "gcc", "-"], text)


def runs(text):
    """Each RUN as a script of its own, with what the image's environment gives it."""
    arguments = [body.split("=")[0] for _, name, body in dockerfile.instructions(text) if name == "ARG"]
    head = "".join(f": \"${{{name}:=}}\"\n" for name in dict.fromkeys(arguments))
    for line, body in dockerfile.runs(text):
        yield line, f"{head}{body}\n"


def shape(text):
    """The text without what differs between versions."""
    return re.sub(r"[0-9][0-9.+~:a-z-]*", "N", re.sub(r"[0-9a-f]{32,}", "H", text))


def unseen(text, seen, key=shape):
    """The Dockerfile without the instructions whose key is in `seen`; adds the others' to it. FROM and ARG stay."""
    kept = []
    for _, name, body in dockerfile.instructions(text):
        known = key(f"{name} {body}")
        if name in ("FROM", "ARG") or known not in seen:
            kept.append(f"{name} {body}".replace("\n", "\\\n"))
        seen.add(known)
    return "\n".join(kept)
