# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 02  one C call keeps the GIL for most of a second: regular expression with catastrophic backtracking.
Modelled on: hermes-agent#32098, KiroCrew#8282, strands harness-sdk#4191, headroom#3178/#3180.
MIN_PYTHON: 3.6    SECONDS: ~2-4

What happens: thread `re-worker` runs one re.match() that backtracks exponentially (one call, no release).
  Thread `heartbeat` wants to tick every 10 ms.
EXPECT
  holder   re-worker, one single hold as long as the whole match (>= 0.4 s), ON the CPU all the time
  waiter   heartbeat: one wait about as long as that hold; its request (5 ms) is never honoured, because the
           switch request is looked at only by the bytecode loop
  C func   sre_ucs1_match (module _sre; inside libpython or the executable), caller pattern_match / _sre_SRE_Pattern_match
  class    GIL-bound, sub-class "long C call that keeps the GIL"
  the stack at the drop that ends the hold is drop_gil < _Py_HandlePending < _PyEval_EvalFrameDefault: it does NOT name the
           regex; only samples taken DURING the hold do (285 of 285 samples at 499 Hz: sre_ucs1_match)
  longest hold must be reported with thread, start time, length and C function; switch interval is NOT the cause
NAIVE TOOL GETS WRONG: any tool that samples from inside the process (a Python thread, setitimer handlers) sees
  NOTHING during the match and charges the time to the wrong line or calls it "idle/native"; a probe that starts
  its clock after Thread.start() measures a gap of ~0 (the error corrected in KiroCrew#8282).
"""
import json, os, re, threading, time

LEN = int(os.environ.get('CASE_SIZE', '0'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


gap = [0.0]
done = threading.Event()
ready = threading.Event()


def heartbeat():
    tag('heartbeat')
    last = time.monotonic()
    ready.set()
    while not done.is_set():
        time.sleep(0.01)
        now = time.monotonic()
        gap[0] = max(gap[0], now - last)
        last = now


def pick_length():
    # longest input whose match takes roughly 1 s here (doubles with every character)
    n = 16
    while True:
        t = time.perf_counter()
        re.match(r'(?:a|aa)+$', 'a' * n + 'b')
        dt = time.perf_counter() - t
        if dt > 0.08:
            return n + 4       # golden-ratio growth per character: x ~7
        n += 1


def worker(n):
    tag('re-worker')
    re.match(r'(?:a|aa)+$', 'a' * n + 'b')


n = LEN or pick_length()
h = threading.Thread(target=heartbeat)
h.start()
ready.wait()
t = threading.Thread(target=worker, args=(n,))
t0 = time.monotonic()
t.start()
t.join()
took = time.monotonic() - t0
done.set()
h.join()
print(json.dumps({'case': 'long_hold_regex', 'n': n, 'match_s': round(took, 3), 'heartbeat_max_gap_s': round(gap[0], 3)}))
