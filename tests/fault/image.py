#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""image.py FOLDER MIB...: an OCI layout with an image named "1" of random layers of these sizes."""
import hashlib
import json
import os
import random
import sys
import zlib

LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def put(folder, pieces, media_type):
    """The descriptor of a blob made of these pieces."""
    digest, size = hashlib.sha256(), 0
    path = os.path.join(folder, "blobs/sha256/new")
    with open(path, "wb") as file:
        for piece in pieces:
            digest.update(piece)
            size += file.write(piece)
    os.rename(path, os.path.join(folder, "blobs/sha256", digest.hexdigest()))
    return {"mediaType": media_type, "digest": "sha256:" + digest.hexdigest(), "size": size}


def layer(number, mib):
    """Random bytes as a gzip stream of stored blocks: what tools take for a compressed layer."""
    source, gzip = random.Random(number), zlib.compressobj(0, wbits=31)
    for _ in range(mib):
        yield gzip.compress(source.randbytes(1 << 20))
    yield gzip.flush()


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "blobs/sha256"))
    layers = []
    for number, size in enumerate(sys.argv[2:]):
        layers.append(put(folder, layer(number, int(size)), LAYER))
    config = json.dumps({"os": "linux", "architecture": "amd64"}).encode()
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST,
                "config": put(folder, [config], "application/vnd.oci.image.config.v1+json"),
                "layers": layers}
    entry = put(folder, [json.dumps(manifest).encode()], MANIFEST)
    entry["annotations"] = {"org.opencontainers.image.ref.name": "1"}
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 2, "manifests": [entry]}, file)
    with open(os.path.join(folder, "oci-layout"), "w", encoding="utf-8") as file:
        file.write('{"imageLayoutVersion":"1.0.0"}')


if __name__ == "__main__":
    main()
