# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 30  control: two pure-Python CPU threads. The textbook GIL case; also the case for attaching late.
Modelled on: per4m / giltracer blog example (each thread waits ~50 %), gil_load README, gilstats README.
MIN_PYTHON: 3.2    SECONDS: ~1.2 (CASE_SECONDS=10 to attach by hand)

EXPECT
  py-1, py-2   hold ~50 % and wait ~50 % each (45-55 %), in runs of ~5 ms; sum of holds ~100 %; forced switches ~200/s
  main         asleep in join; hold ~0, wait ~0
  C func       _PyEval_EvalFrameDefault (PyEval_EvalFrameEx in 2.7)
  class        GIL-bound: scales with processes (and with sub-interpreters / free threading), not with threads
  accounting   hold + wait(take_gil) + hand-over(inside drop_gil) + released = 100 % of each thread's life, +-1 %; never two holders
               at once (same interpreter).  Measured on a busy 2-CPU machine, 3.8/3.12/3.13: hold 45-49 %,
               take_gil 25-31 %, drop_gil 15-21 %: the last two TOGETHER are the GIL wait (on an idle machine drop_gil should be small)
LATE ATTACH (CASE_SECONDS=10, attach after 2 s): the first event may be a return of take, or a drop without a take; the holder at
  attach time must be shown as "unknown/held before start", not as released.
"""
from __future__ import print_function
import json, os, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '1.0'))
now = getattr(time, 'monotonic', time.time)


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


work = {}


def py(name):
    tag(name)
    n, end = 0, now() + SEC
    while now() < end:
        for i in range(1000):
            n += i & 1
    work[name] = n


ts = [threading.Thread(target=py, args=('py-%d' % i,)) for i in (1, 2)]
t0 = now()
for t in ts:
    t.start()
for t in ts:
    t.join()
print(json.dumps({'case': 'pure_python_control', 'work': work, 'wall_s': round(now() - t0, 3)}))
