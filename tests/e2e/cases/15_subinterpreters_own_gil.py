# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 15  sub-interpreters with their own GIL (3.12+), beside two threads sharing one.
Modelled on: cpython#107730, cpython#99113/#104210, erlang-python#11; gil_probe --interpreters.
MIN_PYTHON: 3.12 (3.8-3.11: sub-interpreters exist but SHARE the GIL: the same file shows that)   SECONDS: ~3

Phases:  shared-1/shared-2: two threads of the main interpreter;   interp-1/interp-2: two threads, each running its code
  in its own sub-interpreter.
EXPECT on 3.12/3.13
  shared-*   wait ~50 % each, never two holders at once
  interp-*   wait ~0 %, both hold their OWN GIL at the same time ~100 %: overlapping holders are CORRECT here.
             take_gil's argument (tstate) -> interpreter -> gil pointer differs per interpreter
             plus short takes of the main GIL by the same threads when entering/leaving the interpreter
  class      shared: GIL-bound;   interp: scales with sub-interpreters (speed-up ~2 on 2 free cores)
EXPECT on 3.8: interp-* share one GIL and alternate like shared-*
EXPECT on 3.9-3.11: one GIL, but a waiter in another interpreter cannot force a switch (the request goes to the waiter's own interpreter):
  measured on 3.10: interp-1 held for 861 ms in one piece while interp-2 waited 860 ms; the phase takes twice as long
NAIVE TOOL GETS WRONG: keys GIL state by process -> reports "two holders at once" as lost events or double counts;
  or links a thread to one GIL only.
"""
import json, os, sys, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.7'))
CODE = '''
import time
end, n = time.monotonic() + %r, 0
while time.monotonic() < end:
    for i in range(2000):
        n += 1
with open(%r, 'w') as f:
    f.write(str(n))
'''


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


try:
    import _interpreters as I           # 3.13+
except ImportError:
    try:
        import _xxsubinterpreters as I  # 3.8 - 3.12
    except ImportError:
        I = None

tmp = '/tmp/.case15_%d_' % os.getpid()


def path(name):
    return tmp + name


def shared(name):
    tag(name)
    exec(CODE % (SEC, path(name)), {})


def in_interp(name):
    tag(name)
    i = I.create()
    try:
        (I.run_string if hasattr(I, 'run_string') else I.exec)(i, CODE % (SEC, path(name)))
    finally:
        I.destroy(i)


def phase(names, fn):
    ts = [threading.Thread(target=fn, args=(n,)) for n in names]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    out = []
    for n in names:
        with open(path(n)) as f:
            out.append(int(f.read()))
        os.unlink(path(n))
    return out


res = {'shared': phase(('shared-1', 'shared-2'), shared)}
if I is not None:
    res['interp'] = phase(('interp-1', 'interp-2'), in_interp)
    res['interp_over_shared'] = round(sum(res['interp']) / max(1, sum(res['shared'])), 2)
print(json.dumps({'case': 'subinterpreters_own_gil', 'python': '%d.%d' % sys.version_info[:2], 'loops': res}))
