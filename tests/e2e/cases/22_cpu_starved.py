# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 22  a busy neighbour takes the CPUs: the GIL holder does not run, and it looks like GIL contention.
Modelled on: twisted#3836 (lock.acquire in the profile, cause: EC2 CPU shortage), k8s throttling reports, gil_probe's own
  "CPU availability" line, OpenBLAS/sklearn#34070 over-subscription.
MIN_PYTHON: 3.6    SECONDS: ~2.5   STARTS: 2 x CPUs busy shell loops, killed at the end

What happens: this process lowers its own priority (nice +5) while 2 x CPUs ordinary processes spin.
  Thread `victim-cpu` runs bytecode, thread `victim-io` needs the GIL every 5 ms for a moment.
EXPECT
  victim-cpu  holds the GIL most of the time, but is ON the CPU only a small part of that (hold off-CPU and RUNNABLE > 50 %)
              (measured: hold 89 % of the wall time, on the CPU 5 %, runnable 84 %)
  victim-io   waits for the GIL (measured 79 %, single waits up to 88 ms) - because the holder has no CPU
  class       CPU-starved (not GIL-bound): advice = more CPU / fewer neighbours; a shorter switch interval does not help
  report      hold time split into running / preempted(runnable) / sleeping; name the processes that ran instead
              (from sched_switch: next_comm on the same CPU)
NAIVE TOOL GETS WRONG: "GIL held 95 %, wait 60 %: GIL-bound".  The hold:on-CPU ratio is the only difference.
"""
import json, os, subprocess, sys, threading, time

SEC = float(os.environ.get('CASE_SECONDS', '1.2'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


ncpu = len(os.sched_getaffinity(0))
stop = threading.Event()
res = {}


def cpu_thread():
    tag('victim-cpu')
    x, c = 0, time.process_time()
    while not stop.is_set():
        for i in range(3000):
            x = (x * 3 + i) % 65521
    res['victim_cpu_share'] = round((time.process_time() - c) / SEC, 2)


def io_thread():
    tag('victim-io')
    worst, n = 0.0, 0
    while not stop.is_set():
        t = time.monotonic()
        time.sleep(0.005)
        worst = max(worst, time.monotonic() - t - 0.005)
        n += 1
    res['io_max_late_ms'], res['io_ticks'] = round(worst * 1e3, 1), n


procs = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in range(2 * ncpu)]
try:
    os.nice(5)
    ts = [threading.Thread(target=f) for f in (cpu_thread, io_thread)]
    for t in ts:
        t.start()
    time.sleep(SEC)
    stop.set()
    for t in ts:
        t.join()
finally:
    for p in procs:
        p.kill()
    for p in procs:
        p.wait()
print(json.dumps({'case': 'cpu_starved', 'cpus': ncpu, 'competitors': len(procs), **res}))
