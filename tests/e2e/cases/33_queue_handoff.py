# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 33  a pipeline of two threads handing items over a Queue: each item costs two lock waits and two GIL waits.
Modelled on: BeanNetworkTester#74 (capture/inject threads), ZEO#195, pytorch#24984/#77139 (pin-memory queue), faster-cpython#586, cpython#104391.
MIN_PYTHON: 3.6    SECONDS: ~2

Phases: `prod-fast`/`cons-fast`: tiny items through queue.Queue(maxsize=1);   then the same with a third thread `noise` running bytecode
EXPECT
  fast    > 10 000 items/s; alternating: hold some us, lock wait, GIL wait; wakeup chain prod -> cons -> prod visible in
          sched_wakeup (waker tid -> wakee tid)
  noise   items/s falls 3-20x (a hand-over often waits 5 ms for the GIL held by noise; between two such waits prod and cons
          win the race a few dozen times); prod and cons wait for the GIL, noise holds > 75 % of the phase
  class   fast: hand-over bound (lock + GIL), not I/O;  noise: GIL-bound, convoy
  report  for each GIL wait: who held it at that time (prod was blocked by noise 97 %, by cons 3 %) = blame matrix
NAIVE TOOL GETS WRONG: blames Queue.put/Queue.get ("slow queue"); both sides look slow by the same factor, which is the tell-tale.
"""
import json, os, queue, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.7'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


def phase(key, with_noise):
    q = queue.Queue(maxsize=1)
    stop = threading.Event()
    n = [0]

    def prod():
        tag('prod-' + key)
        end = time.monotonic() + SEC
        while time.monotonic() < end:
            q.put(1)
            n[0] += 1
        q.put(None)

    def cons():
        tag('cons-' + key)
        while q.get() is not None:
            pass

    def noise():
        tag('noise')
        x = 0
        while not stop.is_set():
            for i in range(2000):
                x = (x + i) & 0xffff

    ts = [threading.Thread(target=f) for f in ((prod, cons, noise) if with_noise else (prod, cons))]
    t0 = time.monotonic()
    for t in ts:
        t.start()
    ts[0].join()
    ts[1].join()
    wall = time.monotonic() - t0
    stop.set()
    for t in ts:
        t.join()
    return round(n[0] / wall)


r = {'fast': phase('fast', False), 'noise': phase('noise', True)}
print(json.dumps({'case': 'queue_handoff', 'items_per_s': r, 'slowdown': round(r['fast'] / max(1, r['noise']), 1)}))
