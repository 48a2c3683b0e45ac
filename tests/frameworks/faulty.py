# SPDX-License-Identifier: MIT
"""faulty.py SCRIPT WORDS...: runs an example, and lets one rank break after its 40th batch.

FAULT is KIND:RANK: exit (with status 7), stop (SIGSTOP, all threads), sleep (as a rank that waits for its data; the threads of the
framework go on), slow (a tenth of a second for each batch), or wait (the same, for ever).
Every rank that sees batches prints a line at each, so that its silence means something, and one each second before.
"""
import os
import runpy
import signal
import sys
import threading
import time

sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
import digits

kind, broken = os.environ["FAULT"].split(":")
batches = digits.batches
trains = threading.Event()


def starting():
    while not trains.wait(1):
        print("starting", flush=True)


def faulty(images, labels, epochs, rank, world):
    for count, batch in enumerate(batches(images, labels, 1000 if kind == "wait" else epochs, rank, world)):
        if count > 0:  # the first one takes long: what it needs is compiled
            trains.set()
            print("batch", count, flush=True)
        if count == 40 and rank == int(broken) and kind == "exit":
            os._exit(7)
        if count == 40 and rank == int(broken) and kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if count == 40 and rank == int(broken) and kind == "sleep":
            time.sleep(10000)
        if kind in ("slow", "wait"):
            time.sleep(0.1)
        yield batch


digits.batches = faulty
place = os.environ.get("TF_CONFIG", "")
if '"ps"' not in place or '"type":"chief"' in place:  # with parameter servers only the chief sees batches
    threading.Thread(target=starting, daemon=True).start()
runpy.run_path(sys.argv[0], run_name="__main__")
