# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 17  10 000 threads that live for a fraction of a millisecond (thread per request).
Modelled on: trio#6, pybind11#6179 (PyThreadState churn), home-assistant / web servers with a thread per request.
MIN_PYTHON: 3.6    SECONDS: ~2-4

EXPECT
  threads  10 000 short threads `churn` (comm set once per 100th only, the rest keep the creator's name), at most 4 alive;
           each takes the GIL 2-6 times; start() makes the creator wait for the child's "started" event (a lock wait)
  holder   main ~60-80 %, children together ~20-40 %; each child hold < 1 ms
  class    GIL-bound + overhead ("thread start/stop dominates"); aggregate row "churn x 10000"
  cost     tool must not need a per-thread file, fd, or map entry that grows without bound; trace must merge or cap
           threads with < 1 ms life
NAIVE TOOL GETS WRONG: tid REUSE (when more threads are made than /proc/sys/kernel/pid_max, or in a small pid namespace): two
  lives glued into one unless the exit event closes the first; pthread_t / threading.get_ident() reuse happens at ONCE;
  10 000-line table; Perfetto unusable (10 000 tracks).
"""
import json, os, threading, time

N = int(os.environ.get('CASE_SIZE', '10000'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


tids = set()
sink = []


def short(i):
    if i % 100 == 0:
        tag('churn')
    if hasattr(threading, 'get_native_id'):
        tids.add(threading.get_native_id())
    sink.append(sum(range(50)))


t0 = time.perf_counter()
alive = []
for i in range(N):
    t = threading.Thread(target=short, args=(i,))
    t.start()
    alive.append(t)
    if len(alive) == 4:
        for a in alive:
            a.join()
        alive = []
for a in alive:
    a.join()
wall = time.perf_counter() - t0
print(json.dumps({'case': 'thread_churn', 'threads': N, 'wall_s': round(wall, 2), 'us_per_thread': round(wall / N * 1e6, 1),
                  'distinct_tids': len(tids)}))
