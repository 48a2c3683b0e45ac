#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# The file tree of an image in an OCI layout, one entry per line: flatten.py LAYOUT [NAME]. With --config,
# the settings of its config instead. Layers are put on each other here, by Python's tarfile alone.
import hashlib
import io
import json
import sys
import tarfile
import zlib


def blob(layout, digest):
    algorithm, value = digest.split(":")
    with open(f"{layout}/blobs/{algorithm}/{value}", "rb") as file:
        data = file.read()
    assert hashlib.sha256(data).hexdigest() == value, digest
    return data


def image(layout, name):
    with open(f"{layout}/index.json", encoding="utf-8") as file:
        entries = json.load(file)["manifests"]
    key = "org.opencontainers.image.ref.name"
    entry = [e for e in entries if name is None or e.get("annotations", {}).get(key) == name][0]
    manifest = json.loads(blob(layout, entry["digest"]))
    return manifest, json.loads(blob(layout, manifest["config"]["digest"]))


def remove(tree, path, itself=True):
    for key in [k for k in tree if k.startswith(path + "/") or (itself and k == path)]:
        del tree[key]


def about(tar, member):
    content = member.linkname
    if member.isreg():
        content = hashlib.sha256(tar.extractfile(member).read()).hexdigest()
    xattrs = {k: v for k, v in member.pax_headers.items() if k.startswith("SCHILY.xattr.")}
    kind = "file" if member.isreg() else member.type.decode()
    time = int(float(member.mtime))
    return [kind, f"{member.mode:o}", member.uid, member.gid, time, content, sorted(xattrs.items())]


def apply(tree, tar):
    for member in tar:
        path = member.name.strip("/").removeprefix("./")
        folder, _, name = path.rpartition("/")
        if path in ("", "."):
            continue
        if name == ".wh..wh..opq":
            remove(tree, folder, itself=False)
        elif name.startswith(".wh."):
            remove(tree, f"{folder}/{name[4:]}".lstrip("/"))
        elif member.islnk():
            target = member.linkname.strip("/").removeprefix("./")
            tree[path] = tree[target]
        else:
            if path in tree and tree[path][0] == "5" and not member.isdir():
                remove(tree, path)
            tree[path] = about(tar, member)


def flatten(layout, name):
    manifest, config = image(layout, name)
    tree = {}
    for layer, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        data = zlib.decompress(blob(layout, layer["digest"]), 31)
        assert "sha256:" + hashlib.sha256(data).hexdigest() == diff_id, diff_id
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            apply(tree, tar)
    return tree


arguments = [a for a in sys.argv[1:] if a != "--config"]
place, wanted = arguments[0], arguments[1] if len(arguments) > 1 else None
if "--config" in sys.argv:
    settings = image(place, wanted)[1].get("config", {})
    settings = {k: v for k, v in settings.items() if v not in ("", None, False, [], {})}
    print(json.dumps(settings, indent=1, sort_keys=True))
else:
    for path, entry in sorted(flatten(place, wanted).items()):
        print(path, *entry)
