#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""archive.py FILE NAME:TAG MIB...: what docker save wrote until version 24, with plain layers of these sizes.

archive.py --damage FILE: the same names, sizes, config and manifest, and nonsense for the layers."""
import hashlib
import io
import json
import random
import sys
import tarfile


def add(tar, name, data):
    """One member."""
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def layer(number, mib):
    """A tar of one file, half of it random."""
    source, out = random.Random(number), io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        add(tar, f"data/{number}", b"".join(source.randbytes(1 << 19) + bytes(1 << 19) for _ in range(mib)))
    return out.getvalue()


def make(path, name, layers):
    """The archive of these layers' tars, made one after the other."""
    diff_ids, names = [], []
    with tarfile.open(path, "w") as tar:
        for number, data in enumerate(layers):
            diff_ids.append("sha256:" + hashlib.sha256(data).hexdigest())
            names.append(f"{number:064x}/layer.tar")
            add(tar, names[-1], data)
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                             "rootfs": {"type": "layers", "diff_ids": diff_ids}}).encode()
        config_name = hashlib.sha256(config).hexdigest() + ".json"
        add(tar, config_name, config)
        add(tar, "manifest.json",
            json.dumps([{"Config": config_name, "RepoTags": [name], "Layers": names}]).encode())


def damage(path):
    """Other bytes where the layers are."""
    with tarfile.open(path) as tar:
        places = [(m.offset_data, m.size) for m in tar if m.name.endswith("/layer.tar")]
    with open(path, "r+b") as file:
        for offset, size in places:
            file.seek(offset)
            file.write(b"x" * size)


def main():
    """What the words say."""
    if sys.argv[1] == "--damage":
        damage(sys.argv[2])
    else:
        make(sys.argv[1], sys.argv[2], (layer(number, int(mib)) for number, mib in enumerate(sys.argv[3:])))


if __name__ == "__main__":
    main()
