#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_registry.py FOLDER [CERTIFICATE KEY]: a registry on 127.0.0.1 (its port is written to FOLDER/port) that puts
what a terminal obeys into everything that it says. FOLDER/mode says how: "text" answers as a registry does, and "names" so
with names that are none; "errors", "raw", "realm", "token", "location" and "header" fail in that way."""
import hashlib
import http.server
import json
import os
import ssl
import sys

FOLDER = sys.argv[1]
EVIL = "\x1b[2J\x1b]0;title\x07\x9b1m\r\x7f\u202e\u2066"
RAW = EVIL.encode() + b"\xff\xc0\x9b"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


CONFIG = json.dumps({"architecture": "amd64 " + EVIL, "os": "linux " + EVIL, "config": {"Labels": {EVIL: EVIL}, "Env": ["A=" + EVIL]},
                     "rootfs": {"type": "layers", "diff_ids": []}, "history": [{"created_by": EVIL}]}).encode()
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                       "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest(CONFIG),
                                  "size": len(CONFIG)},
                       "layers": [], "annotations": {EVIL: EVIL}}).encode()
REFERRERS = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
    {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest(MANIFEST), "size": len(MANIFEST),
     "artifactType": "application/" + EVIL, "annotations": {EVIL: EVIL}}]}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", headers=()):
        self.send_response_only(status)
        for name, value in headers:
            self._headers_buffer.append(name.encode() + b": " + value + b"\r\n")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, mode):
        evil = RAW.replace(b"\r", b"")  # no line of a header can hold it
        says = json.dumps({"errors": [{"code": "DENIED" + EVIL, "message": EVIL, "detail": {"x": EVIL, EVIL: 1}}]}).encode()
        host = self.headers["Host"].encode()
        if mode == "errors":
            self.answer(403, says)
        elif mode == "raw":
            self.answer(500, b"<html>" + RAW + b"</html>", "text/html")
        elif mode == "realm":
            self.answer(401, says, headers=[("WWW-Authenticate", b'Bearer realm="http://' + evil + b'/t",service="' + evil + b'"')])
        elif mode == "token" and self.path.startswith("/token"):
            self.answer(401, json.dumps({"details": EVIL, "message": EVIL, "error": EVIL}).encode())
        elif mode == "token":
            self.answer(401, says, headers=[("WWW-Authenticate", b'Bearer realm="http://' + host + b'/token",service="' + evil + b'"')])
        elif mode == "location":
            self.answer(307, says, headers=[("Location", b"http://" + evil + b"/v2/")])
        else:
            self.answer(418, says, evil.decode("latin-1"), [("Warning", b'299 - "' + evil + b'"'), ("Docker-Content-Digest", evil)])

    def do_GET(self):
        mode = open(os.path.join(FOLDER, "mode")).read().strip()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        warning = [("Warning", b'299 - "' + RAW.replace(b"\r", b"") + b'"')]
        path = self.path.split("?")[0]
        evil = EVIL if mode == "names" else ""
        if mode not in ("text", "names"):
            self.fail(mode)
        elif path == "/v2/_catalog":
            self.answer(200, json.dumps({"repositories": ["plain", "a" + evil]}).encode(), headers=warning)
        elif path.endswith("/tags/list"):
            self.answer(200, json.dumps({"name": EVIL, "tags": ["1", "t" + evil]}).encode(), headers=warning)
        elif "/manifests/" in path:
            self.answer(200, MANIFEST, "application/vnd.oci.image.manifest.v1+json", warning)
        elif "/referrers/" in path:
            self.answer(200, REFERRERS, "application/vnd.oci.image.index.v1+json", warning)
        elif path.endswith(digest(CONFIG)):
            self.answer(200, CONFIG, "application/octet-stream", warning)
        else:
            self.answer(200, b"{}", headers=warning)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(FOLDER, "port.new"), "w") as out:
    out.write(str(server.server_address[1]))
os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
server.serve_forever()
