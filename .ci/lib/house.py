# SPDX-License-Identifier: MIT
"""What the checks in python share: the list of files, and C text without its comments."""
import os
import re
import subprocess

MODULES = ("lib", "builder", "registry-client", "deployer", "upstream", "cli")


def files(pattern):
    """Tracked and to-be-tracked files whose path matches."""
    if os.environ.get("LINT_FILES"):
        with open(os.environ["LINT_FILES"], encoding="utf-8") as f:
            paths = f.read().split("\n")
    else:
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        paths = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted(p for p in set(paths) if re.search(pattern, p) and os.path.isfile(p))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def c_code(path, keep_strings):
    """The file's lines with comments blanked, and string and character literals too unless kept."""

    def blank(match):
        token = match.group(0)
        if token[0] == "/":
            return re.sub(r"[^\n]", " ", token)
        return token if keep_strings else token[0] + " " * (len(token) - 2) + token[0]

    return C_TOKEN.sub(blank, read(path)).split("\n")


def finish(findings, note=""):
    """Prints and exits as lint.sh expects: a line that begins with '# ' stands beside the name."""
    for finding in findings:
        print(finding)
    if note:
        print("# " + note)
    raise SystemExit(1 if findings else 0)
