#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hang_up.py TARGET_HOST:PORT NUMBER,...: a TCP proxy that resets the connections of these numbers, from 1
on, when their first bytes have come: in the middle of a TLS handshake. NUMBERs ending in "e" it closes.
Prints the port that it listens on (127.0.0.1)."""
import asyncio
import socket
import struct
import sys

HOST, PORT = sys.argv[1].rsplit(":", 1)
BAD = sys.argv[2].split(",")
count = 0


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def serve(reader, writer):
    global count
    count += 1
    number = str(count)
    if number in BAD or number + "e" in BAD:
        await reader.read(64)
        if number in BAD:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        return
    far_reader, far_writer = await asyncio.open_connection(HOST, int(PORT))
    await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
