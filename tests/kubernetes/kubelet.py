#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stand-in for the kubelet of every node: kubelet.py FOLDER

It serves a pod's log as kubelet does (pkg/kubelet/server/server.go, /containerLogs/NAMESPACE/POD/CONTAINER) from
FOLDER/POD.log, which is as container runtimes write it: "STAMP stdout F TEXT", with P for F where the line goes on. With
follow=true it goes on until there is FOLDER/POD.end. It writes its port into FOLDER/port, and its certificate is
FOLDER/kubelet.pem.
"""
import http.server
import os
import ssl
import sys
import time
import urllib.parse

FOLDER = sys.argv[1]


def told(line, with_stamps):
    """As ReadLogs of kubelet (pkg/kubelet/kuberuntime/logs/logs.go)."""
    stamp, _, tag, text = line.split(b" ", 3)
    if tag == b"P":
        text = text[:-1]
    return stamp + b" " + text if with_stamps else text


class Logs(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        asked = urllib.parse.parse_qs(url.query)
        name = os.path.join(FOLDER, os.path.basename(os.path.dirname(url.path)))
        since = asked.get("sinceTime", [""])[0][:19]
        follows = asked.get("follow") == ["true"]
        with_stamps = asked.get("timestamps") == ["true"]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        if not os.path.exists(name + ".log"):
            return
        with open(name + ".log", "rb") as file:
            while True:
                line = file.readline()
                if line and line[:19].decode() >= since:
                    self.wfile.write(told(line, with_stamps))
                if line:
                    continue
                self.wfile.flush()
                if not follows or os.path.exists(name + ".end"):
                    return
                time.sleep(0.1)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Logs)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(FOLDER, "kubelet.pem"))
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(FOLDER, "port.new"), "w", encoding="utf-8") as port:
    port.write(str(server.server_port))
os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
server.serve_forever()
