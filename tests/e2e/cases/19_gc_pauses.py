# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 19  stop-the-world garbage collections: a full collection keeps the GIL for 0.1-0.5 s.
Modelled on: sglang#9241, sglang#28067, LMCache#4245, ray#55838, romp#1763, numpy#24232.
MIN_PYTHON: 3.6    SECONDS: ~3

What happens: ~1 million live containers; thread `alloc` creates and keeps containers so that automatic generation-2
  collections happen; thread `latency` wants to tick every 5 ms.
EXPECT
  holder   alloc: a few long holds (one per full collection), on the CPU
  waiter   latency: max gap = longest collection
  C func   deduce_unreachable / subtract_refs / update_refs / visit_decref / visit_reachable (gcmodule.c or gc.c),
           under gc_collect_main / _PyObject_GC_Link / _Py_RunGC
  class    GIL-bound, sub-class "garbage collection"; count, total and longest pause per generation if possible
  The case also counts the pauses itself with gc.callbacks, for comparison
NAIVE TOOL GETS WRONG: charges the pause to the innocent Python line that allocated; or to whatever stage was running.
"""
import gc, json, os, threading, time

N = int(os.environ.get('CASE_SIZE', '1000000'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


gc.disable()
heap = [[i] for i in range(N)]
pauses = {0: [], 1: [], 2: []}
t_start = [0.0]


def cb(phase, info):
    if phase == 'start':
        t_start[0] = time.perf_counter()
    else:
        pauses[info['generation']].append(time.perf_counter() - t_start[0])


gc.callbacks.append(cb)
done = threading.Event()
gap = [0.0]


def latency():
    tag('latency')
    last = time.monotonic()
    while not done.is_set():
        time.sleep(0.005)
        now = time.monotonic()
        gap[0] = max(gap[0], now - last)
        last = now


def alloc():
    tag('alloc')
    keep = []
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        keep.append([{'a': 1}, [2], (3, [4])])
        if len(keep) > 400000:
            keep = []
    for _ in range(2):
        gc.collect()


l = threading.Thread(target=latency)
l.start()
gc.enable()
a = threading.Thread(target=alloc)
a.start()
a.join()
done.set()
l.join()
gc.callbacks.remove(cb)
print(json.dumps({'case': 'gc_pauses', 'live': len(heap), 'latency_max_gap_ms': round(gap[0] * 1e3, 1),
                  'gen2': {'n': len(pauses[2]), 'max_ms': round(max(pauses[2] or [0]) * 1e3, 1),
                           'total_ms': round(sum(pauses[2]) * 1e3, 1)},
                  'gen0_n': len(pauses[0]), 'gen1_n': len(pauses[1])}), flush=True)
gc.disable()
os._exit(0)         # skip the slow teardown of the heap
