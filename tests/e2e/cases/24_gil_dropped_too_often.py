# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 24  the GIL is dropped and taken hundreds of thousands of times per second for nothing.
Modelled on: h5py#1782 (dataset lookup), h5py#1453/#1521 review ("selective about releasing"), numpy#24252 -> #24257 (1-element copies
  released the GIL), routrie#1, xxhash#13, arrow#6784, psycopg#448 (strace of GIL ping-pong), apsw#551, pyblake2#17.
MIN_PYTHON: 3.6    SECONDS: ~2.5

Phases, each first with one thread, then with two:
  stat    os.stat('/') in a loop: one release per call, the call needs ~1 us in the kernel
  qsort   libc qsort (via ctypes CDLL, GIL released) with a comparison function in Python: one take+drop per comparison
EXPECT
  one thread   > 100 000 releases/s (stat) with ~0 wait: harmless alone
  two threads  the second thread brings next to nothing (speed-up 0.7-1.3 measured here, never ~2); wait share 20-60 % each, mean released
               stretch < 5 us, mean hold < 10 us
  class        GIL dropped too often ("released stretch is shorter than one hand-over, ~5-50 us")
  table        releases/s, mean released stretch, mean hold, switches/s per thread; C call site of the release
               (os_stat_impl -> PyEval_SaveThread;  _CallPythonObject -> PyGILState_Release)
NAIVE TOOL GETS WRONG: "releases the GIL -> use threads".  Also: four uprobe hits per cycle (entry+return of take_gil and drop_gil) cost
  ~1 us each here: throughput measured 4x lower (stat) and 6-8x lower (qsort) than untraced.  A uprobe
  tool changes the result on this workload and must print events/s x cost next to its numbers.
"""
import ctypes, json, os, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.4'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


libc = ctypes.CDLL(None)
CMP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc.qsort.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, CMP]
libc.qsort.restype = None


def stat_body(name, out):
    tag(name)
    n, end = 0, time.monotonic() + SEC
    while time.monotonic() < end:
        for _ in range(50):
            os.stat('/')
        n += 50
    out.append(n / SEC)


def qsort_body(name, out):
    tag(name)
    cnt = [0]

    def cmp(a, b):
        cnt[0] += 1
        return a[0] - b[0]
    cb = CMP(cmp)
    base = [(i * 7919) % 1009 for i in range(400)]
    end = time.monotonic() + SEC
    while time.monotonic() < end:
        arr = (ctypes.c_int * 400)(*base)
        libc.qsort(arr, 400, 4, cb)
    out.append(cnt[0] / SEC)


res = {}
for key, body in (('stat', stat_body), ('qsort', qsort_body)):
    one, two = [], []
    t = threading.Thread(target=body, args=(key + '-ser', one))
    t.start()
    t.join()
    ts = [threading.Thread(target=body, args=('%s-%d' % (key, i), two)) for i in (1, 2)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    res[key] = {'one_thread_per_s': round(one[0]), 'two_threads_per_s': round(sum(two)), 'speedup': round(sum(two) / one[0], 2)}
print(json.dumps({'case': 'gil_dropped_too_often', **res}))
