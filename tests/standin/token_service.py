#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""token_service.py FOLDER: a token service for the real Distribution server, at FOLDER/port. It signs
with FOLDER/key.pem and FOLDER/cert.pem, knows user "ops" with password "s3cret" and the refresh token
"re/fresh+1", and notes each request in FOLDER/log. FOLDER/no-post: it answers 405 to a POST.
FOLDER/soon-over: its next token lives for one to two seconds, whatever it says, and the file goes."""
import base64
import http.server
import json
import os
import subprocess
import sys
import time
import urllib.parse

FOLDER = sys.argv[1]


def path(name):
    return os.path.join(FOLDER, name)


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def access(scope):
    kind, rest = scope.split(":", 1)
    name, actions = rest.rsplit(":", 1)
    return {"type": kind, "name": name, "actions": actions.split(",")}


def token(scopes):
    # Distribution takes a token for another 60 seconds.
    end = int(time.time()) + 300
    try:
        os.remove(path("soon-over"))
        end -= 358
    except FileNotFoundError:
        pass
    der = subprocess.run(["openssl", "x509", "-in", path("cert.pem"), "-outform", "der"],
                         check=True, capture_output=True).stdout
    head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
    claims = {"iss": "test", "sub": "ops", "aud": 'a "quoted", service', "exp": end, "nbf": end - 400,
              "iat": end - 400, "jti": "1", "access": [access(s) for s in scopes]}
    text = encode(json.dumps(head).encode()) + "." + encode(json.dumps(claims).encode())
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", path("key.pem")], input=text.encode(),
                               check=True, capture_output=True).stdout
    return text + "." + encode(signature)


class Service(http.server.BaseHTTPRequestHandler):
    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_with(self, fields, is_let_in):
        scopes = [s for text in fields.get("scope", []) for s in text.split(" ")]
        with open(path("log"), "a", encoding="utf-8") as log:
            print(self.command, ",".join(sorted(fields)), *scopes, file=log)
        if not is_let_in:
            self.answer(401, {})
        else:
            self.answer(200, {"access_token": token(scopes), "expires_in": 300})

    def do_GET(self):
        fields = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        known = [base64.b64encode(pair).decode() for pair in (b"ops:s3cret", b":re/fresh+1")]
        self.handle_with(fields, self.headers["Authorization"] in ["Basic " + k for k in known])

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        fields = urllib.parse.parse_qs(body)
        if os.path.exists(path("no-post")):
            self.answer(405, {})
            return
        self.handle_with(fields, fields["grant_type"] == ["refresh_token"] and "client_id" in fields
                         and fields["service"] == ['a "quoted", service']
                         and fields["refresh_token"] == ["re/fresh+1"])

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
with open(path("port.new"), "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
os.rename(path("port.new"), path("port"))
server.serve_forever()
