#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bad network between a client and a registry: a TCP proxy that cuts, stalls, slows down and
answers for the registry.

proxy.py TARGET_HOST:PORT STATS_FILE [--cut MIN:MAX] [--cuts N] [--stall EVERY:BYTES]
         [--status CODES:SHARE] [--rate MIB_PER_S] [--seed N]

Prints the port that it listens on (127.0.0.1). STATS_FILE holds {"up", "down", "connections",
"cuts", "stalls", "statuses"}, written anew twenty times a second; bytes count for each direction.
"""
import argparse
import asyncio
import json
import os
import random
import sys

PIECE = 64 * 1024
MIB = 1024 * 1024


class Proxy:
    def __init__(self, options):
        self.o = options
        self.random = random.Random(options.seed)
        self.due = []
        self.stats = dict(up=0, down=0, connections=0, cuts=0, stalls=0, statuses=0)

    def save(self):
        temporary = self.o.stats + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(self.stats, file)
        os.replace(temporary, self.o.stats)

    async def keep_saving(self):
        while True:
            self.save()
            await asyncio.sleep(0.05)

    def plan(self):
        """What will happen to this connection: (bytes before a cut, bytes before a stall)."""
        self.stats["connections"] += 1
        cut = stall = None
        if self.o.cut and (self.o.cuts is None or self.stats["cuts"] < self.o.cuts):
            least, most = (float(x) for x in self.o.cut.split(":"))
            cut = int(self.random.uniform(least, most) * MIB)
        if self.o.stall:
            every, size = self.o.stall.split(":")
            if self.stats["connections"] % int(every) == 0:
                stall = int(float(size) * MIB)
        return cut, stall

    def is_due(self, every):
        """True once in each so many calls, at a random place: a short run has some, too."""
        if not self.due:
            self.due = [True] + [False] * (every - 1)
            self.random.shuffle(self.due)
        return self.due.pop()

    async def answer(self, reader, writer):
        """Takes the first bytes; perhaps answers them. Returns them or None."""
        head = await reader.read(PIECE)
        if self.o.status and head[:1].isalpha():  # not a TLS handshake
            codes, share = self.o.status.split(":")
            if self.is_due(round(1 / float(share))):
                code = self.random.choice(codes.split(","))
                extra = "Retry-After: 1\r\n" if code == "429" else ""
                self.stats["statuses"] += 1
                writer.write(f"HTTP/1.1 {code} Not Now\r\n{extra}Content-Type: text/html\r\n"
                             f"Content-Length: 17\r\nConnection: close\r\n\r\n<html>busy</html>"
                             .encode())
                await writer.drain()
                return None
        return head

    async def pump(self, reader, writer, way, state):
        while True:
            data = await reader.read(PIECE)
            if not data:
                return
            state["bytes"] += len(data)
            self.stats[way] += len(data)
            writer.write(data)
            await writer.drain()
            if self.o.rate:
                await asyncio.sleep(len(data) / (self.o.rate * MIB))
            if state["cut"] is not None and state["bytes"] >= state["cut"]:
                self.stats["cuts"] += 1
                state["cut"] = None
                raise ConnectionAbortedError
            if state["stall"] is not None and state["bytes"] >= state["stall"]:
                self.stats["stalls"] += 1
                await asyncio.sleep(3600)

    async def serve(self, reader, writer):
        cut, stall = self.plan()
        state = {"bytes": 0, "cut": cut, "stall": stall}
        up = None
        try:
            head = await self.answer(reader, writer)
            if head is None:
                return
            host, port = self.o.target.rsplit(":", 1)
            up_reader, up = await asyncio.open_connection(host, int(port), limit=4 * PIECE)
            up.write(head)
            tasks = [asyncio.create_task(self.pump(reader, up, "up", state)),
                     asyncio.create_task(self.pump(up_reader, writer, "down", state))]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            for end in (writer, up):
                if end:
                    end.transport.abort()  # RST, as a torn line looks

    async def run(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=4 * PIECE)
        self.save()
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.gather(server.serve_forever(), self.keep_saving())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("stats")
    parser.add_argument("--cut", help="MIN:MAX MiB of a connection, both ways together")
    parser.add_argument("--cuts", type=int, help="so many cuts at most")
    parser.add_argument("--stall", help="EVERY:MIB: each EVERYth connection stops after so much")
    parser.add_argument("--status", help="CODE,CODE:SHARE of first requests answered so")
    parser.add_argument("--rate", type=float, help="MiB/s of a connection")
    parser.add_argument("--seed", type=int, default=1)
    try:
        asyncio.run(Proxy(parser.parse_args()).run())
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
