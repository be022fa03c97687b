# SPDX-License-Identifier: GPL-2.0-or-later
"""Two threads that release the GIL for a microsecond at a time: the hand-over costs more.

run:     sudo gilprobe record -- python3 examples/tiny_releases.py
verdict: gil-dropped-too-often
"""
import os
import threading


def look(n):
    for _ in range(n):
        os.stat('/')


threads = [threading.Thread(target=look, args=(60_000,), name=f'looker-{i}') for i in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
