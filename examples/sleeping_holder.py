# SPDX-License-Identifier: GPL-2.0-or-later
"""A C call that sleeps and keeps the GIL: every other thread stands still meanwhile.

ctypes.PyDLL calls without releasing the GIL, as an extension does that forgot
Py_BEGIN_ALLOW_THREADS; ctypes.CDLL would release it.

run:     sudo gilprobe record -- python3 examples/sleeping_holder.py
verdict: gil-bound/blocking-call-keeps-gil
"""
import ctypes
import threading
import time

libc = ctypes.PyDLL(None)
done = threading.Event()


def keep_sleeping():
    for _ in range(10):
        libc.usleep(100_000)
    done.set()


def heartbeat():
    while not done.is_set():
        time.sleep(0.01)


threads = [threading.Thread(target=keep_sleeping, name='c-call'),
           threading.Thread(target=heartbeat, name='heartbeat')]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
