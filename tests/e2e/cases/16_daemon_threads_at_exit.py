# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 16  daemon threads still running (and waiting for the GIL) while the interpreter shuts down.
Modelled on: cpython gh-87135 / PEP 788, distributed#7730 (gilknocker thread at exit), grpc#7310.
MIN_PYTHON: 3.6    SECONDS: ~1

What happens: two daemon threads `daemon-spin` run bytecode, one `daemon-sleep` wakes every 5 ms; main ends after 0.6 s.
  During finalization they ask for the GIL and never get it.
EXPECT
  until exit  daemon-spin x2 wait ~50-65 % each; main is asleep (join-like sleep)
  until exit  daemon-sleep waits 10-60 %: its naps are as long as a switch interval, and when it wakes just before a
              switch it waits little; its own clock agrees (0.15, 0.22, 0.27 late; 0.16, 0.22, 0.28 reported)
  at exit     each daemon's LAST event is a take without a return: up to 3.13 take_gil ends in pthread_exit() (thread exits
              inside take_gil, so the uretprobe never fires); 3.14+: the thread hangs there until the process ends
  class       GIL-bound; end state of the three threads: "ended while asking for the GIL (interpreter finalizing)"
NAIVE TOOL GETS WRONG: open-ended wait span drawn to the end of the trace or dropped; a return probe that never comes
  leaves the thread "waiting" for ever and can corrupt entry/return pairing for a later thread with the same tid.
"""
import json, os, threading, time


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


def spin():
    tag('daemon-spin')
    x = 0
    while True:
        for i in range(5000):
            x = (x + i) & 0xffff


def napper():
    tag('daemon-sleep')
    while True:
        time.sleep(0.005)


for fn in (spin, spin, napper):
    threading.Thread(target=fn, daemon=True).start()
time.sleep(float(os.environ.get('CASE_SECONDS', '0.6')))
print(json.dumps({'case': 'daemon_threads_at_exit', 'threads_at_exit': threading.active_count()}), flush=True)
