# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 09  threads queue on an ordinary Lock held during a slow write - it looks like the GIL and is not.
Modelled on: py-spy#737 (1049 % in logging acquire), nanoidp#378 (shared lxml parser), h5py#591 and pyFAI#1986 (HDF5
  lock), numcodecs/zarr#15 (blosc global lock), twisted#3836.
MIN_PYTHON: 3.6    SECONDS: ~2

What happens: 4 threads `logger-1..4` do a little work and then, under one threading.Lock, a "slow handler"
  (2 ms sleep = disk/network).  Throughput is exactly one handler at a time.
EXPECT
  holder   nobody: GIL held < 10 % in total
  waiter   nobody waits for the GIL (< 5 % per thread); each logger spends ~75 % in Lock.acquire -
           futex/sem_wait called from PyThread_acquire_lock_timed (3.13: PyThread_acquire_lock_timed or _PyMutex/_PyParkingLot)
  class    lock contention, not the GIL; scaling serial:threads ~1.0, processes would be the same if they shared the lock
  report   "4 threads blocked on the same lock address, ~73 % each, released by logger-N": wake-up chain (sched_wakeup)
           names the thread that releases it
NAIVE TOOL GETS WRONG: futex == GIL (gilstats.py style pthread_cond_timedwait/sem_wait counting is wrong as soon as
  Lock.acquire uses the same libc call); speed-up test alone says "GIL-bound: threads do not scale".
"""
import json, os, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '1.2'))
NT = 4


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


handler_lock = threading.Lock()
count = [0] * NT
blocked = [0.0] * NT


def logger(i):
    tag('logger-%d' % (i + 1))
    end = time.monotonic() + SEC
    while True:
        msg = ' '.join(str(j * j) for j in range(60))
        t = time.monotonic()
        with handler_lock:
            blocked[i] += time.monotonic() - t
            time.sleep(0.002)           # the slow handler; releases the GIL, keeps the lock
        count[i] += 1
        if time.monotonic() > end:
            return


ts = [threading.Thread(target=logger, args=(i,)) for i in range(NT)]
t0, c0 = time.monotonic(), time.process_time()
for t in ts:
    t.start()
for t in ts:
    t.join()
wall = time.monotonic() - t0
print(json.dumps({'case': 'lock_convoy_not_gil', 'handled': sum(count), 'per_s': round(sum(count) / wall),
                  'cpu_share': round((time.process_time() - c0) / wall, 3),
                  'blocked_on_lock_share': [round(b / wall, 2) for b in blocked]}))
