#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""foreign_image.py TAR FOLDER [KEY=VALUE...]: an OCI layout with an image named "1" of this root filesystem.

The keys are those of an image's configuration, with a JSON value: 'Entrypoint=["/bin/echo"]', 'User="1000"'.
"""
import gzip
import hashlib
import json
import os
import sys


def put(folder, data, media_type):
    """The descriptor of a blob."""
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(folder, "blobs/sha256", digest), "wb") as file:
        file.write(data)
    return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}


def main():
    tar, folder = sys.argv[1:3]
    kind = "application/vnd.oci.image."
    os.makedirs(os.path.join(folder, "blobs/sha256"))
    with open(tar, "rb") as file:
        data = file.read()
    config = {key: json.loads(value) for key, value in (word.split("=", 1) for word in sys.argv[3:])}
    whole = {"os": "linux", "architecture": "amd64", "config": config,
             "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(data).hexdigest()]}}
    manifest = {"schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
                "config": put(folder, json.dumps(whole).encode(), kind + "config.v1+json"),
                "layers": [put(folder, gzip.compress(data, 1), kind + "layer.v1.tar+gzip")]}
    entry = put(folder, json.dumps(manifest).encode(), kind + "manifest.v1+json")
    entry["annotations"] = {"org.opencontainers.image.ref.name": "1"}
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 2, "manifests": [entry]}, file)
    with open(os.path.join(folder, "oci-layout"), "w", encoding="utf-8") as file:
        file.write('{"imageLayoutVersion":"1.0.0"}')


if __name__ == "__main__":
    main()
