# SPDX-License-Identifier: MIT
"""A stand-in for snapshot.debian.org, which tests cannot reach: its addresses, whatever the time in them, lead to an
archive's packages of today.

    snapshot.py ARCHIVE PORT_FILE     ARCHIVE ends in /debian, and has its security suite beside it
"""

import http.server
import re
import sys

ARCHIVE, PORT_FILE = sys.argv[1:]


class Snapshot(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = re.fullmatch(r"/archive/debian(-security)?/\d{8}T\d{6}Z(/.*)", self.path)
        if asked:
            self.send_response(302)
            self.send_header("Location", ARCHIVE + (asked[1] or "") + asked[2])
        else:
            self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()
        print(self.path, flush=True)

    do_HEAD = do_GET

    def log_message(self, format, *args):  # the paths alone are of interest
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Snapshot)
with open(PORT_FILE, "w", encoding="ascii") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
