# SPDX-License-Identifier: GPL-2.0-or-later
"""Two threads that hash large buffers: hashlib releases the GIL, so they run side by side.

run:     sudo gilprobe record -- python3 examples/hash_threads.py
verdict: releases-the-gil
"""
import hashlib
import threading

BLOCK = bytes(4 << 20)


def digest(n):
    for _ in range(n):
        hashlib.sha256(BLOCK).digest()


threads = [threading.Thread(target=digest, args=(60,), name=f'hasher-{i}') for i in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
