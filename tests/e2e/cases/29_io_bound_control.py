# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 29  control: really I/O-bound threads (socket echo through a slow peer). Nothing is wrong.
Modelled on: gil_probe "io"; opendal#8180's regression test; every "is it the GIL?" question whose answer is no.
MIN_PYTHON: 3.6    SECONDS: ~1.5

EXPECT
  8 threads `client-*` sleep in recv() ~95 %; one thread `server` serves them (select + sleep: 10 ms per reply)
  GIL held < 10 % in total, GIL wait < 3 % per thread
  class   I/O-bound: threads scale (8 threads: 8x the replies of one)
NAIVE TOOL GETS WRONG: counts every futex/poll sleep as contention; or warns because 8 threads "share one GIL".
"""
import json, os, select, socket, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '1.0'))
NC = 8


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


pairs = [socket.socketpair() for _ in range(NC)]
stop = threading.Event()
got = [0] * NC


def server():
    tag('server')
    socks = [p[1] for p in pairs]
    due = []                        # (when, socket)
    while not stop.is_set():
        now = time.monotonic()
        for w, s in [d for d in due if d[0] <= now]:
            s.send(b'r')
        due = [d for d in due if d[0] > now]
        r, _, _ = select.select(socks, [], [], 0.002)
        for s in r:
            if s.recv(16):
                due.append((time.monotonic() + 0.01, s))


def client(i):
    tag('client-%d' % i)
    s = pairs[i][0]
    s.settimeout(1.0)
    end = time.monotonic() + SEC
    while time.monotonic() < end:
        s.send(b'q')
        s.recv(1)
        got[i] += 1


sv = threading.Thread(target=server)
sv.start()
ts = [threading.Thread(target=client, args=(i,)) for i in range(NC)]
c0, t0 = time.process_time(), time.monotonic()
for t in ts:
    t.start()
for t in ts:
    t.join()
wall = time.monotonic() - t0
stop.set()
sv.join()
print(json.dumps({'case': 'io_bound_control', 'replies': sum(got), 'per_client_per_s': round(sum(got) / NC / wall, 1),
                  'cpu_share': round((time.process_time() - c0) / wall, 3)}))
