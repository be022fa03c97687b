# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 07  a C call that SLEEPS while it holds the GIL (ctypes.PyDLL) beside the same call released (ctypes.CDLL).
Modelled on: dask/distributed#3926 and #6282 (PyDLL usleep used as "hold_gil"), psycopg2#140, mssql-python#540,
  memgraph#4551, opencv#4478, iceoryx2#1421, libgpiod#26 (blocking wait without Py_BEGIN_ALLOW_THREADS).
MIN_PYTHON: 3.6    SECONDS: ~2

What happens: thread `pydll-sleep` calls usleep(300 ms) through PyDLL three times (GIL kept), then thread
  `cdll-sleep` does the same through CDLL (GIL released).  Thread `heartbeat` ticks every 10 ms.
EXPECT
  pydll-sleep  holds ~0.9 s while OFF the CPU (kernel sleep: hrtimer_nanosleep / clock_nanosleep);
               heartbeat waits ~0.3 s each time.  C function: usleep (libc), caller ffi_call / _call_function_pointer.
               class: GIL-bound, sub-class "blocking call keeps the GIL" (hold time off-CPU > 90 %; measured hold 902 ms,
               of it 900 ms asleep, 0 ms runnable)
  cdll-sleep   holds ~0 %, heartbeat undisturbed; class I/O-bound
NAIVE TOOL GETS WRONG: (a) on-CPU samplers show an idle process - no samples at all while everything is frozen;
  (b) tools that treat "off-CPU" as "does not hold the GIL" call it I/O-bound; (c) gil_load style "held 100 %"
  without saying the holder was asleep.  Splitting hold time into on-CPU and off-CPU settles it.
"""
import ctypes, json, threading, time


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


keep = ctypes.PyDLL(None)
free = ctypes.CDLL(None)
done = threading.Event()
gap = [0.0]


def heartbeat():
    tag('heartbeat')
    last = time.monotonic()
    while not done.is_set():
        time.sleep(0.01)
        now = time.monotonic()
        gap[0] = max(gap[0], now - last)
        last = now


def sleeper(name, lib):
    tag(name)
    for _ in range(3):
        lib.usleep(300000)
        time.sleep(0.02)


h = threading.Thread(target=heartbeat)
h.start()
out = {}
for name, lib in (('pydll-sleep', keep), ('cdll-sleep', free)):
    time.sleep(0.05)
    gap[0] = 0.0
    t = threading.Thread(target=sleeper, args=(name, lib))
    t.start()
    t.join()
    out[name] = round(gap[0], 3)
done.set()
h.join()
print(json.dumps({'case': 'ctypes_pydll_vs_cdll', 'heartbeat_max_gap_s': out}))
