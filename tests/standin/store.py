#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""store.py FOLDER DATA: a plain web server for the files of DATA, as the store behind a registry; it knows no
ranges. Its port goes to FOLDER/store.port, each request and whether it had an Authorization to FOLDER/store.log."""
import http.server
import os
import sys

FOLDER, DATA = sys.argv[1:]


class Store(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words):
        super().__init__(*words, directory=DATA)

    def log_request(self, code="-", size="-"):
        with open(os.path.join(FOLDER, "store.log"), "a", encoding="utf-8") as log:
            print(self.command, self.path, int(code), self.headers["Authorization"], self.headers["Range"], file=log)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
with open(os.path.join(FOLDER, "store.port.new"), "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(os.path.join(FOLDER, "store.port.new"), os.path.join(FOLDER, "store.port"))
server.serve_forever()
