# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 10  multiprocessing, start method fork: each process has its own GIL.
Modelled on: viztracer/py-spy --subprocesses users, torch DataLoader workers, gil_probe "processes" row.
MIN_PYTHON: 3.6    SECONDS: ~2

EXPECT
  parent   one table section, GIL held < 5 %, no waits (Pool helper threads are idle: queue/pipe reads)
  2 forked children `worker-1/2`, each: GIL held ~100 % of its busy time, wait ~0, single-threaded; before it the first
           waits for its task until the parent has started the pool (0.1 s seen)
  class    per process: GIL-bound code but uncontended; machine: scales with processes (2 holders AT THE SAME TIME is right)
  The child re-creates its GIL: its first event is a take (PyOS_AfterFork_Child -> PyEval_ReInitThreads), measured
  ~0.2 ms after sched_process_fork; one hold then lasts until the end (no drop while bytecode runs alone: max hold
  ~0.8 s is NOT a long C call - nobody asked for the GIL).
NAIVE TOOL GETS WRONG: one global GIL timeline -> "two holders at once / 190 % held"; or misses the children
  (no inherit); or reports the 0.8 s uncontended hold as the "worst GIL hog" although no thread waited for it.
"""
import json, multiprocessing as mp, os, time

SEC = float(os.environ.get('CASE_SECONDS', '0.8'))


def tag(name):
    try:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write(name)
    except (OSError, IOError):
        pass


def burn(i):
    tag('worker-%d' % (i + 1))
    end, x, c0 = time.monotonic() + SEC, 0, time.process_time()
    while time.monotonic() < end:
        for j in range(5000):
            x = (x + j * j) % 1000003
    return os.getpid(), round(time.process_time() - c0, 3)


if __name__ == '__main__':
    ctx = mp.get_context(os.environ.get('CASE_METHOD', 'fork'))
    t0 = time.monotonic()
    with ctx.Pool(2) as pool:
        r = pool.map(burn, range(2), chunksize=1)
    print(json.dumps({'case': 'multiprocessing_' + ctx.get_start_method(), 'parent': os.getpid(), 'children_pid_cpu_s': r,
                      'wall_s': round(time.monotonic() - t0, 3)}))
