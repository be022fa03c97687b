# SPDX-License-Identifier: GPL-2.0-or-later
"""Two threads of pure Python: they take turns, and the second brings nothing.

run:     sudo gilprobe record -- python3 examples/cpu_threads.py
verdict: gil-bound
"""
import threading


def count(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


threads = [threading.Thread(target=count, args=(6_000_000,), name=f'counter-{i}') for i in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
