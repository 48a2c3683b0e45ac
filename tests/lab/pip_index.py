#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A stand-in for PyPI: serves the wheels of a folder as a simple index (PEP 503) on 127.0.0.1, over plain
# HTTP, which pip takes from this address alone. pip_index.py FOLDER PORT_FILE
import functools
import html
import http.server
import os
import re
import sys


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        match = re.fullmatch(r"/simple/([^/]+)/?", self.path)
        if not match:
            super().do_GET()
            return
        files = sorted(os.listdir(self.directory))
        files = [f for f in files if normal(re.split(r"-\d", f)[0]) == normal(match.group(1))]
        body = "".join(f'<a href="/{html.escape(f)}">{html.escape(f)}</a>\n' for f in files).encode()
        self.send_response(200 if files else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1])
)
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_address[1]))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
