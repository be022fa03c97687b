# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 05  zlib: big blocks release the GIL usefully, tiny blocks drop it too often.
Modelled on: h5py#1782, numpy#24252/#24257, python-lzo#35, zarr/numcodecs reports, sqlite3-ruby#528 (same trade-off).
MIN_PYTHON: 3.6    SECONDS: ~4

What happens: threads `zs-ser` (serial) and `zs-1`,`zs-2` (parallel) compress 64-byte blocks with zlib.compress; every
  call releases the GIL for 5-50 us.  Threads `zl-ser`, `zl-1`,`zl-2` compress 1 MiB blocks (ms per release).
EXPECT
  small    > 5 000 releases per second and thread (3.8: > 50 000; 3.12+ spend ~10x longer per call in mmap/munmap of
           the deflate state), each released stretch only 5-50 us; speed-up on 2 free cores well below 2
           class: GIL dropped too often (mixed) - advice: batch blocks per call
  large    releases last ms; hold share per thread < 10 %; parallel speed-up ~2 on 2 free cores
           class: releases the GIL; C function while running WITHOUT the GIL: deflate / deflate_slow / longest_match (libz)
NAIVE TOOL GETS WRONG: "zlib releases the GIL" as a yes/no answer; or merges both into one "zlib" row.  The yes/no
  answer needs the call size: report released time per release and releases per second.
"""
import json, os, threading, time, zlib


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


small = os.urandom(32) + b'abcdefgh' * 4
large = (os.urandom(4096) + b'the quick brown fox ' * 1000) * 40
large = large[:1 << 20]


def do(block, n):
    for _ in range(n):
        zlib.compress(block, 6)


def timed(names, block, n):
    def body(name):
        tag(name)
        do(block, n)
    ts = [threading.Thread(target=body, args=(x,)) for x in names]
    t0 = time.perf_counter()
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    return time.perf_counter() - t0


def calibrate(block, target):
    n = 1
    while True:
        t = time.perf_counter()
        do(block, n)
        dt = time.perf_counter() - t
        if dt > target / 8:
            return max(1, int(n * target / dt))
        n *= 2


res = {}
for key, names, block in (('small', ('zs-1', 'zs-2'), small), ('large', ('zl-1', 'zl-2'), large)):
    n = calibrate(block, 0.5)
    ser = timed((names[0][:2] + '-ser',), block, n) * 2     # one thread does n; serial time for both = 2x
    par = timed(names, block, n)
    res[key] = {'serial_s': round(ser, 3), 'parallel_s': round(par, 3), 'speedup': round(ser / par, 2)}
print(json.dumps({'case': 'zlib_small_vs_large', **res}))
