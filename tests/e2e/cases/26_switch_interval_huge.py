# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 26  a library calls sys.setswitchinterval() with a huge value: other threads starve.
Modelled on: tqdm#376 (setswitchinterval(100) slowed vaex down), tribler#7534 (set to 1 s on purpose), rustypot#125,
  BeanNetworkTester#74 (5 ms -> 0.5 ms gained 1.35x).
MIN_PYTHON: 3.6    SECONDS: ~2.5

What happens: `a-loop` and `b-loop` run pure bytecode with no I/O for 0.6 s per phase; interval 5 ms, then 0.2 s, then 50 us.
EXPECT
  5 ms     alternate every ~5 ms: ~120 forced switches per phase, max wait ~5-6 ms
  0.2 s    ~3 switches per phase, max wait ~0.2 s -> the tool should print "waiters asked after 0.2 s: switch interval is 0.2 s, not 5 ms"
           (median length of waits that ended in a forced switch = the interval in use)
  50 us    thousands of switches per phase, max wait small, total work goes DOWN (hand-over overhead)
  class    GIL-bound in all three; the finding is the interval
  accounting in the 50 us phase most of the waiting happens INSIDE drop_gil (forced switch: the dropper sleeps until the other
           thread has taken the GIL).  Measured on a busy 2-CPU machine, 3.12: take_gil wait 0.5-0.8 % of the run, time inside
           drop_gil 13-14 %, hold 14 % per thread.  Entry probes alone call that time "released / running".
NAIVE TOOL GETS WRONG: assumes 5 ms; or reports only totals, which are 50 %/50 % in all three phases.
"""
import json, os, sys, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.6'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


def loop(name, out, gate):
    tag(name)
    gate.wait()  # a thread that is late would wait a whole interval for each step of its tag(), and then loop alone
    n, worst, last = 0, 0.0, time.monotonic()
    end = last + SEC
    while last < end:
        for i in range(200):
            n += i & 1
        now = time.monotonic()
        worst, last = max(worst, now - last), now
    out[name] = {'n': n, 'max_stall_ms': round(worst * 1e3, 1)}


res = {}
old = sys.getswitchinterval()
for iv in (0.005, 0.2, 0.00005):
    sys.setswitchinterval(iv)
    out, gate = {}, threading.Barrier(2)
    ts = [threading.Thread(target=loop, args=(x, out, gate)) for x in ('a-loop', 'b-loop')]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    res['%g' % iv] = {'work': sum(o['n'] for o in out.values()), 'max_stall_ms': max(o['max_stall_ms'] for o in out.values())}
sys.setswitchinterval(old)
print(json.dumps({'case': 'switch_interval_huge', 'per_interval': res}))
