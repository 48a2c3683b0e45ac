#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lying_registry.py FOLDER [WORD...]: a registry that lies, at FOLDER/port. It notes each request in FOLDER/log:
method, path, and "login" when there was an Authorization header.

The name of a repository says what the lie is: PLACE/LIE. PLACE is whose size is wrong: config, layer, entry (of an
index) or referrer. LIE is a name of LIES. Other names: big/WHAT (an answer without end; the same for big tokens with
token=big), loop/tags (three pages in a circle), many/WHAT (more entries than anybody needs), twin/sizes (one digest
with two sizes), both/kinds (an index that is a manifest as well). Everything else is empty and takes uploads.

WORDs: tls=CERT,KEY speaks TLS, and asks each client for a certificate, which is noted as "certificate".
realm=URL asks for tokens from there. basic asks for a login. token=FORM answers /token: good, big, long or split.
chunk=TEXT is what OCI-Chunk-Min-Length says. blobs=URL redirects blobs to URL/DIGEST, uploads=URL names a session there.
silent never answers GET /v2/."""
import hashlib
import http.server
import json
import os
import ssl
import sys
import time

FOLDER = sys.argv[1]
WORDS = dict(word.partition("=")[::2] for word in sys.argv[2:])
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = b'{"os": "linux", "architecture": "amd64'  # and no end
WHOLE = b'{"os": "linux", "architecture": "amd64", "config": {}}'
LAYER = bytes(1000)
LIES = {
    "huge": "1125899906842624",
    "large": "100000000000",
    "beyond": "9223372036854775808",
    "exponent": "1e300",
    "negative": "-1",
    "fraction": "1.5",
    "text": '"%d"',
    "nothing": "null",
    "less": "%d - 1",
    "more": "%d + 1",
    "twice": '%d, "size": 1125899906842624',
    "true": "%d",
}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def size(lie, data):
    text = LIES[lie]
    text = text % len(data) if "%d" in text else text
    if lie in ("less", "more"):
        return str(len(data) + (1 if lie == "more" else -1))
    return text


def descriptor(kind, data, lie="true", more=""):
    return '{"mediaType": "%s", "digest": "%s", "size": %s%s}' % (kind, digest(data), size(lie, data), more)


def manifest(config="true", layer="true", data=WHOLE, layers=1):
    return ('{"schemaVersion": 2, "mediaType": "%s", "config": %s, "layers": [%s]}' % (
        MANIFEST, descriptor("application/vnd.oci.image.config.v1+json", data, config),
        ", ".join([descriptor("application/vnd.oci.image.layer.v1.tar", LAYER, layer)] * layers))).encode()


def index(entries):
    return ('{"schemaVersion": 2, "mediaType": "%s", "manifests": [%s]}' % (INDEX, ", ".join(entries))).encode()


PLATFORM = ', "platform": {"os": "linux", "architecture": "amd64"}'


def image(place, lie):
    """The top document of a repository, and all that lies below."""
    if place == "config":
        return manifest(config=lie, data=CONFIG), [CONFIG, LAYER]
    if place == "layer":
        return manifest(layer=lie), [WHOLE, LAYER]
    if place == "entry":
        inner = manifest()
        return index([descriptor(MANIFEST, inner, lie, PLATFORM)]), [inner, WHOLE, LAYER]
    if (place, lie) == ("twin", "sizes"):
        text = manifest(layers=2).decode()
        at = text.rindex('"size": 1000')
        return (text[:at] + '"size": 999' + text[at + 12:]).encode(), [WHOLE, LAYER]
    if (place, lie) == ("both", "kinds"):
        text = manifest().decode()
        return (text[:-1] + ', "manifests": []}').replace(MANIFEST, INDEX).encode(), [WHOLE, LAYER]
    if (place, lie) == ("many", "layers"):
        return manifest(layers=2000), [WHOLE, LAYER]
    if (place, lie) == ("many", "images"):
        return index([descriptor(MANIFEST, manifest(), "true", PLATFORM)] * 5000), [manifest(), WHOLE, LAYER]
    if place in ("referrer", "good", "loop", "big"):
        return manifest(), [WHOLE, LAYER]
    return None, []


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def endless(self, opening, piece):
        """A document that goes on until nobody listens."""
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        self.wfile.write(opening)
        while True:
            self.wfile.write(piece * 1000)

    def serve(self, data, kind):
        begin, end = 0, len(data) - 1
        if "Range" in self.headers:
            first, last = self.headers["Range"].split("=")[1].split("-")
            begin, end = int(first), min(end, int(last or end))
            if begin >= len(data):
                self.answer(416)
                return
            self.answer(206, data[begin:end + 1], Content_Range="bytes %d-%d/%d" % (begin, end, len(data)))
            return
        self.answer(200, data, Content_Type=kind, Docker_Content_Digest=digest(data))

    def read(self, name, what, target):
        place, _, lie = name.partition("/")
        top, below = image(place, lie)
        if (place, lie, what) in (("big", "manifest", "manifests"), ("big", "referrers", "referrers"),
                                  ("big", "tags", "tags")):
            self.endless(b'{"schemaVersion": 2, "x": [', b'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ')
        elif what == "tags":
            page = int(self.path.partition("page=")[2] or 0)
            next_page = (page + 1) % 3 if name == "loop/tags" else page + 1
            tags = ["t%d" % page] if name == "loop/tags" else ["t" * 100] * 30000
            self.answer(200, json.dumps({"name": name, "tags": tags}).encode(),
                        Link='</v2/%s/tags/list?page=%d>; rel="next"' % (name, next_page))
        elif what == "referrers":
            entries = [descriptor(MANIFEST, b"x", lie)] if place == "referrer" else []
            if name == "loop/referrers":
                page = int(self.path.partition("page=")[2] or 0)
                self.answer(200, index([]), Content_Type=INDEX,
                            Link='</v2/%s/referrers/%s?page=%d>; rel="next"' % (name, target, (page + 1) % 3))
            else:
                self.answer(200, index(entries), Content_Type=INDEX)
        elif what == "blobs" and "blobs" in WORDS and self.command == "GET":
            self.answer(307, Location=WORDS["blobs"] + "/" + target)
        else:
            for data in [top] + below if top else []:
                if target == digest(data) or (data is top and ":" not in target):
                    self.serve(data, json.loads(data).get("mediaType", "") if what == "manifests" else "x/y")
                    return
            self.answer(404)

    def token(self):
        form = WORDS.get("token", "good")
        if form == "big":
            self.endless(b'{"token": "', b"aaaaaaaaaaaaaaaaaaaa")
        elif form == "long":
            self.answer(200, json.dumps({"token": "t" * 200000}).encode())
        else:
            self.answer(200, json.dumps({"token": "T\tX: y" if form == "split" else "T"}).encode())

    def refuse(self):
        realm = WORDS.get("realm", "").replace("@PORT@", str(self.server.server_port))
        self.answer(401, WWW_Authenticate='Bearer realm="%s",service="s"' % realm if realm else 'Basic realm="x"')

    def note(self):
        has_certificate = hasattr(self.connection, "getpeercert") and self.connection.getpeercert(True)
        with open(os.path.join(FOLDER, "log"), "a", encoding="utf-8") as log:
            print(self.command, self.path, *["login"] * ("Authorization" in self.headers),
                  *["certificate"] * bool(has_certificate), file=log)

    def do_GET(self):
        self.note()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = self.path.partition("?")[0].split("/")
        if parts[1] == "token":
            self.token()
        elif "silent" in WORDS:
            time.sleep(600)
        elif ("realm" in WORDS or "basic" in WORDS) and "Authorization" not in self.headers:
            self.refuse()
        elif parts[1:] == ["v2", ""]:
            self.answer(200)
        elif parts[2] == "_catalog":
            self.endless(b'{"repositories": [', b'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ')
        elif "uploads" in parts or self.command in ("PUT", "PATCH", "DELETE"):
            self.upload(parts, len(body))
        else:
            what = parts[-2]
            self.read("/".join(parts[2:-2]), what, parts[-1])

    def upload(self, parts, length):
        there = WORDS.get("uploads", "") + "/v2/" + "/".join(parts[2:-3] or ["x"]) + "/blobs/uploads/1"
        chunk = {"OCI_Chunk_Min_Length": WORDS["chunk"]} if "chunk" in WORDS else {}
        if self.command == "PUT":
            self.answer(201)
        else:
            self.answer(202, Location=there, Range="0-%d" % max(length - 1, 0), **chunk)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that go away are what the tests are about


server = Server(("127.0.0.1", int(WORDS.get("port", "0"))), Registry)
if "tls" in WORDS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*WORDS["tls"].split(","))
    context.load_verify_locations(WORDS["tls"].split(",")[0])
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(os.path.join(FOLDER, "port.new"), "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
server.serve_forever()
