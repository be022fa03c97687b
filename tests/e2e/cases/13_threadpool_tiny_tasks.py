# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 13  ThreadPoolExecutor with tiny tasks: the hand-over costs more than the work.
Modelled on: faster-cpython/ideas#586, taskiq#383, dvc-data#53, loky#12, cloud-volume#700.
MIN_PYTHON: 3.6    SECONDS: ~2-3

EXPECT
  threads  main (submits and waits for the results) + pool threads `tpe_0..3`; the GIL is held ~70-100 % by the five together
  rates    > 10 000 takes per second in all; mean hold < 100 us (a task needs ~3 us); several lock waits per task
           (queue.SimpleQueue / Condition), i.e. sleeps NOT on the GIL between two GIL takes
  class    GIL-bound + hand-over overhead ("tasks too small"); serial loop is 10-50x faster than the pool
  table    GIL wait and lock wait must be two columns: both are futex sleeps
NAIVE TOOL GETS WRONG: "workers are idle 95 % -> add workers"; or counts the queue's lock waits as GIL waits.
"""
import concurrent.futures as cf
import json, os, threading, time

N = int(os.environ.get('CASE_SIZE', '20000'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


n_init = iter(range(100))


def init():
    tag('tpe_%d' % next(n_init))


def tiny(x):
    return x * x + 1


t = time.perf_counter()
s1 = sum(tiny(i) for i in range(N))
serial = time.perf_counter() - t
kw = {'initializer': init} if 'initializer' in cf.ThreadPoolExecutor.__init__.__code__.co_varnames else {}
t = time.perf_counter()
with cf.ThreadPoolExecutor(4, **kw) as ex:
    s2 = sum(f.result() for f in [ex.submit(tiny, i) for i in range(N)])
pool = time.perf_counter() - t
assert s1 == s2
print(json.dumps({'case': 'threadpool_tiny_tasks', 'tasks': N, 'serial_s': round(serial, 4), 'pool_s': round(pool, 3),
                  'us_per_task': round(pool / N * 1e6, 1), 'slower_by': round(pool / serial, 1)}))
