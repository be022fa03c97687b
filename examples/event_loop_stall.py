# SPDX-License-Identifier: GPL-2.0-or-later
"""An event loop that stalls: a thread of pure Python makes it wait 5 ms for every turn.

run:     sudo gilprobe record -- python3 examples/event_loop_stall.py
verdict: gil-bound/convoy
"""
import asyncio
import threading
import time

stop = threading.Event()


def crunch():
    total = 0
    while not stop.is_set():
        for i in range(5_000):
            total = (total * 33 + i) & 0xFFFFFF


async def serve():
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        await asyncio.sleep(0.0005)


cruncher = threading.Thread(target=crunch, name='cruncher')
cruncher.start()
asyncio.run(serve())
stop.set()
cruncher.join()
