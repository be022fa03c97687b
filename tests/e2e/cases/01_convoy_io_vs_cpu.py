# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 01  convoy effect: a short-I/O thread against a pure-Python CPU thread.
Modelled on: cpython bpo-7946, cpython#90204, dask/distributed#6325, BeanNetworkTester#74, rustypot#125.
MIN_PYTHON: 3.6    SECONDS: ~2 (two phases of ~0.8 s)

What happens: threads `io-alone`, then `io-convoy`, wait ~0.3 ms for a "device" (select() on an empty pipe, timeout 0.3 ms) and then
  need the GIL for ~10 us.  Phase "alone": nothing competes.  Phase "convoy": thread `cpu-hog` runs bytecode,
  takes the GIL while io-convoy is inside select(), and io-convoy then has to wait one whole switch interval
  (5 ms) to get it back, every time.
EXPECT phase convoy:
  holder   cpu-hog   holds > 85 % of the phase, in runs of ~5 ms (= sys.getswitchinterval())
  waiter   io-convoy waits > 80 % of the phase; typical single wait 5.0-5.5 ms; own holds < 0.1 ms each,
           so (wait per take) / (hold per take) > 50
  C func   none: the holder is in the bytecode loop (_PyEval_EvalFrameDefault)
  class    GIL-bound, sub-class "convoy"
  rate     operations per second fall about tenfold (0.35 ms -> ~5.4 ms per operation; >= 4x on a busy machine)
  advice   shorter sys.setswitchinterval(), or move the hog to a process; NOT "the device is slow"
NAIVE TOOL GETS WRONG: shows io-convoy "inside select()" and calls it I/O-bound (CPU share ~0, sleeps in futex);
  or says "io-convoy holds the GIL only 0.2 % of the time: not affected"; or averages both phases away.
"""
import json, os, select, sys, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.8'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


stop = threading.Event()
rate = {}
R, W = os.pipe()


def io_short(phase):
    tag('io-' + phase)
    n, t0 = 0, time.monotonic()
    end = t0 + SEC
    while time.monotonic() < end:
        select.select([R], [], [], 0.0003)
        n += 1
    rate[phase] = n / (time.monotonic() - t0)


def hog():
    tag('cpu-hog')
    x = 0
    while not stop.is_set():
        for i in range(2000):
            x = (x * 33 + i) & 0xffffff


def run(phase, with_hog):
    stop.clear()
    ts = [threading.Thread(target=io_short, args=(phase,))]
    if with_hog:
        ts.append(threading.Thread(target=hog))
    for t in ts:
        t.start()
    ts[0].join()
    stop.set()
    for t in ts:
        t.join()


run('alone', False)
run('convoy', True)
print(json.dumps({'case': 'convoy', 'ops_per_s': {k: round(v) for k, v in rate.items()},
                  'ms_per_op': {k: round(1e3 / v, 2) for k, v in rate.items()},
                  'slowdown': round(rate['alone'] / rate['convoy'], 1), 'switch_interval': sys.getswitchinterval()}))
