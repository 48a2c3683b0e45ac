#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands in for the upstreams of the catalog, on 127.0.0.1.

upstream.py wheel FOLDER NAME VERSION TAG [NEED...]: makes a wheel with that METADATA in FOLDER/files.
upstream.py serve FOLDER: serves FOLDER/files, an index of the packages in it at /simple/NAME/ (PEP 691), one of those
with a local version at /whl/NAME/ as PyTorch's server has it (a web page), and the other files of FOLDER. The address goes to FOLDER/address, each request to FOLDER/log. FOLDER/beside: METADATA is
beside the wheels (PEP 658), and no wheel is read. FOLDER/no-ranges: a range gets the whole file.
FOLDER/tags: the tags of nvidia/cuda.
FOLDER/broken: a line "PATH STATUS" for each path that answers so."""
import hashlib
import http.server
import json
import os
import re
import sys
import zipfile

FOLDER = sys.argv[2]


def path(*names):
    return os.path.join(FOLDER, *names)


def has(name):
    return os.path.exists(path(name))


def metadata(name, version, needs):
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {n}\n" for n in needs)


def make_wheel(name, version, tag, *needs):
    os.makedirs(path("files"), exist_ok=True)
    whole = path("files", f"{name.replace('-', '_')}-{version}-{tag}.whl")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as wheel:
        # its list of files, and what it holds, are longer than what a client reads of its end
        wheel.writestr(f"{name}/data.bin", os.urandom(200000), zipfile.ZIP_STORED)
        for number in range(900):
            wheel.writestr(f"{name}/a_folder_with_a_name_of_some_length/another_folder_in_it/module_{number}.py", "")
        wheel.writestr(f"{name.replace('-', '_')}-{version}.dist-info/METADATA", metadata(name, version, needs))
    with open(whole + ".metadata", "w", encoding="utf-8") as out:
        out.write(metadata(name, version, needs))


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def index(name):
    files = []
    for file in sorted(os.listdir(path("files"))) if has("files") else []:
        if file.endswith(".metadata") or "+" in file or normal(re.split(r"-\d", file)[0]) != name:
            continue
        with open(path("files", file), "rb") as whole:
            sha256 = hashlib.sha256(whole.read()).hexdigest()
        files.append({"filename": file, "url": f"../../files/{file}", "hashes": {"sha256": sha256},
                      "upload-time": "2026-10-14T19:45:07Z", "core-metadata": has("beside"), "yanked": False})
    return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}).encode() if files else None


def page(name):
    """PyTorch's index: links to /whl/BUILD/FILE, some with a checksum, some with METADATA beside the wheel."""
    links = f'    <a href="/whl/cpu/{name}-0.1.0%2Bcpu-cp36-cp36m-linux_x86_64.whl">{name}-0.1.0+cpu-cp36-cp36m-linux_x86_64.whl</a><br/>\n'
    for file in sorted(os.listdir(path("files"))) if has("files") else []:
        if file.endswith(".metadata") or "+" not in file or normal(re.split(r"-\d", file)[0]) != name:
            continue
        build = re.search(r"\+([^-]*)-", file).group(1)
        with open(path("files", file), "rb") as whole:
            sha256 = hashlib.sha256(whole.read()).hexdigest()
        beside = f' data-dist-info-metadata="sha256={"0" * 64}" data-core-metadata="sha256={"0" * 64}"' if has("beside") else ""
        links += f'    <a href="/whl/{build}/{file.replace("+", "%2B")}#sha256={sha256}"{beside}>{file}</a><br/>\n'
    return (f"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for {name}</h1>\n{links}  </body>\n</html>\n"
            "<!--TIMESTAMP 1748400000-->\n").encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for key, value in {**headers, "Content-Length": len(body)}.items():
            self.send_header(key.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, name):
        with open(name, "rb") as file:
            body = file.read()
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not asked or has("no-ranges"):
            self.answer(200, body)
            return
        first = int(asked.group(1)) if asked.group(1) else max(len(body) - int(asked.group(2)), 0)
        last = int(asked.group(2)) if asked.group(1) and asked.group(2) else len(body) - 1
        last = min(last, len(body) - 1)
        self.answer(206, body[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(body)}")

    def do_GET(self):
        with open(path("log"), "a", encoding="utf-8") as log:
            log.write(f"{self.path} {self.headers.get('Range', '')}\n")
        if has("broken"):
            for line in open(path("broken"), encoding="utf-8"):
                broken, status = line.split()
                if broken == self.path:
                    self.answer(int(status))
                    return
        if self.path.startswith("/v2/"):  # a mirror of Docker Hub
            tags = open(path("tags"), encoding="utf-8").read().split() if has("tags") else []
            listed = {"name": "nvidia/cuda", "tags": tags} if self.path == "/v2/nvidia/cuda/tags/list" else {}
            self.answer(200, json.dumps(listed).encode(), Content_Type="application/json")
            return
        package = re.fullmatch(r"/simple/([^/]+)/", self.path)
        if package and "application/vnd.pypi.simple.v1+json" in self.headers.get("Accept", ""):
            body = index(package.group(1))
            self.answer(200 if body else 404, body or b"", Content_Type="application/vnd.pypi.simple.v1+json")
            return
        package = re.fullmatch(r"/whl/([^/]+)/", self.path)
        if package:
            self.answer(200, page(package.group(1)), Content_Type="text/html")
            return
        wheel = re.fullmatch(r"/whl/[^/]+/([^/]+)", self.path)
        if wheel:
            self.path = "/files/" + wheel.group(1).replace("%2B", "+")
        name = os.path.normpath(path(self.path.lstrip("/")))
        if name.startswith(os.path.normpath(FOLDER) + os.sep) and os.path.isfile(name):
            self.send_file(name)
        else:
            self.answer(404)

    def log_message(self, *_):
        pass


if sys.argv[1] == "wheel":
    make_wheel(*sys.argv[3:])
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(path("address.new"), "w", encoding="utf-8") as out:
        out.write(f"http://127.0.0.1:{server.server_address[1]}")
    os.rename(path("address.new"), path("address"))
    server.serve_forever()
