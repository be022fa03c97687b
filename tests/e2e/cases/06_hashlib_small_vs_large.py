# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 06  hashlib: 1 KiB buffers keep the GIL, 1 MiB buffers release it (limit is 2047 bytes).
Modelled on: python-xxhash#13, cpython#91331, pyca/cryptography#15359, gil_probe's own built-in "native-release".
MIN_PYTHON: 3.6    SECONDS: ~3

EXPECT
  small (hs-ser, then hs-1, hs-2 in parallel, 1 KiB per call): never released by hashlib; releases come only from the 5 ms switch
         interval, i.e. ~100/s per thread, holds of ~5 ms; both threads wait ~50 %; speed-up ~1.0
         class GIL-bound; C function keeping the GIL: sha256 block function
         (OpenSSL: sha256_block_data_order*, in libcrypto - Debian's libcrypto is stripped and has no dynamic symbol for it, so the leaf
         has no name: the tool must fall back to the first named caller / the entry point in _hashlib.*.so)
  large (hl-ser, then hl-1, hl-2, 1 MiB per call): GIL held ~1 % per thread, no waits, speed-up ~2 on 2 free cores
         class releases the GIL; same C function, now running without the GIL
NAIVE TOOL GETS WRONG: same function name in both halves - "sha256_block_data_order" alone does not tell whether the
  GIL is kept; the classification must come from the GIL state at the time, not from the symbol.
"""
import hashlib, json, os, threading, time


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


small = os.urandom(1024)
large = os.urandom(1 << 20)
H = hashlib.sha256


def do(buf, n):
    for _ in range(n):
        H(buf).digest()


def calibrate(buf, target):
    n = 1
    while True:
        t = time.perf_counter()
        do(buf, n)
        dt = time.perf_counter() - t
        if dt > target / 8:
            return max(1, int(n * target / dt))
        n *= 2


def timed(names, buf, n):
    def body(name):
        tag(name)
        do(buf, n)
    ts = [threading.Thread(target=body, args=(x,)) for x in names]
    t0 = time.perf_counter()
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    return time.perf_counter() - t0


res = {}
for key, names, buf in (('small', ('hs-1', 'hs-2'), small), ('large', ('hl-1', 'hl-2'), large)):
    n = calibrate(buf, 0.5)
    ser = timed((names[0][:2] + '-ser',), buf, n) * 2
    par = timed(names, buf, n)
    res[key] = {'serial_s': round(ser, 3), 'parallel_s': round(par, 3), 'speedup': round(ser / par, 2)}
print(json.dumps({'case': 'hashlib_small_vs_large', **res}))
