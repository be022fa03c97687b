# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 31  control: half computing, half waiting, in 4 threads; a GIL-releasing kernel beside Python glue.
Modelled on: gil_probe "mixed"; vaex (64 cores, 4000 % instead of 6400 %: the glue is the limit), dask workers.
MIN_PYTHON: 3.6    SECONDS: ~2

Phases:  mix-1..4: 10 ms of bytecode, 10 ms of sleep;   glue-1..2: 2 ms of bytecode, then hashlib on 4 MiB (released, ~10+ ms)
EXPECT
  mix    demand for the GIL is 4 x 50 % = 200 %: GIL held ~100 %, each waits ~50 %; class mixed I/O + CPU; more than 2 threads do not help
  glue   demand 2 x ~15 %: GIL held ~30 %, wait < 10 %; class releases the GIL, with an Amdahl limit:
         print "GIL needed 15 % of each thread's busy time -> at most ~6-7 threads' worth of speed-up"
NAIVE TOOL GETS WRONG: a single label for the process; the useful number is GIL demand per thread and 1/demand.
"""
import hashlib, json, os, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '0.8'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


def spin_cpu(seconds):
    tt = getattr(time, 'thread_time', time.monotonic)
    end, x = tt() + seconds, 0
    while tt() < end:
        for i in range(200):
            x += i
    return x


buf = os.urandom(4 << 20)
units = {}


def mix(name):
    tag(name)
    end, n = time.monotonic() + SEC, 0
    while time.monotonic() < end:
        spin_cpu(0.010)
        time.sleep(0.010)
        n += 1
    units[name] = n


def glue(name):
    tag(name)
    end, n = time.monotonic() + SEC, 0
    while time.monotonic() < end:
        spin_cpu(0.002)
        hashlib.sha256(buf).digest()
        n += 1
    units[name] = n


for fn, names in ((mix, ['mix-%d' % i for i in range(1, 5)]), (glue, ['glue-1', 'glue-2'])):
    ts = [threading.Thread(target=fn, args=(n,)) for n in names]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
print(json.dumps({'case': 'mixed_control', 'units': units}))
