#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs the program, against no recording and against perf's recipe.

usage: record_cost.py [--python PATH] [--rounds N]

CPU time that the workload itself used, each as the ratio to no recording. Fails when recording slows
CPU-bound threads down, when a release and take of the GIL cost more than with perf, or when an event
is lost. Needs root. perf's recipe probes take_gil, its return, drop_gil and its return by name, so it
needs an interpreter whose symbols were not stripped, else it is left out.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import harness

TIMED = '''
import os, sys, threading, time
def pairs(n):
    f = os.open('/dev/null', os.O_RDONLY)
    for i in range(n): os.lseek(f, 0, 0)
def naps(n):
    for i in range(n): time.sleep(0)
def spin(n):
    x = 0
    for i in range(n): x += i * i
def run(threads, what, n):
    ts = [threading.Thread(target=what, args=(n,)) for i in range(threads)]
    [t.start() for t in ts]
    [t.join() for t in ts]
WORKLOAD
print(time.process_time(), file=open(sys.argv[1], 'w'))
'''

# what runs, and how often it releases and takes the GIL (0: only when it must)
WORKLOADS = {
    'two CPU-bound threads': ('run(2, spin, 5_000_000)', 0),
    '100,000 uncontended pairs': ('pairs(100_000)', 100_000),
    'two threads of 20,000 pairs': ('run(2, pairs, 20_000)', 40_000),
    'four threads of 60,000 sleep(0)': ('run(4, naps, 60_000)', 240_000),
}
NOTHING = 1.03      # what counts as no cost, between runs that differ by as much
GROUP = 'record_cost_%d' % os.getpid()


def interpreter_file(python):
    """The ELF that holds the GIL's code: libpython, or the executable."""
    code = ("import os; maps = [l.split(None, 5)[-1].strip() for l in open('/proc/self/maps')]; "
            "print(next((m for m in maps if 'libpython' in m), os.path.realpath('/proc/self/exe')))")
    return subprocess.run([python, '-c', code], capture_output=True, text=True,
                          check=True).stdout.strip()


class Perf:
    """The four-probe recipe."""

    def __init__(self, python):
        self.events = []
        library = interpreter_file(python)
        for name, place in (('take', 'take_gil'), ('take_ret', 'take_gil%return'),
                            ('drop', 'drop_gil'), ('drop_ret', 'drop_gil%return')):
            done = subprocess.run(['perf', 'probe', '-q', '-f', '-x', library,
                                   '%s:%s=%s' % (GROUP, name, place)],
                                  capture_output=True, text=True)
            if done.returncode:
                self.close()
                raise LookupError(done.stderr.strip() or 'no symbols in ' + library)
            self.events += ['-e', '%s:%s%s' % (GROUP, name,
                                               '__return' if '%' in place else '')]

    def command(self):
        return ['perf', 'record', '-q', '-m', '512', '-o', 'perf.data', *self.events, '--']

    def close(self):
        subprocess.run(['perf', 'probe', '-q', '-d', GROUP + ':*'], capture_output=True)


def run_once(command, python, workload):
    script = TIMED.replace('WORKLOAD', workload)
    done = subprocess.run([*command, python, '-c', script, 'cpu'], capture_output=True, text=True)
    if done.returncode:
        sys.exit('%s: %s' % (' '.join(command), done.stderr))
    with open('cpu') as f:
        return float(f.read()), done.stderr


def cost_rows(table, ways, python, rounds):
    """Ratios to no recording; the ways take turns, and of each the least of all rounds counts."""
    lost = 0
    for name, (workload, pairs) in WORKLOADS.items():
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way, command in ways.items():
                cpu, words = run_once(command, python, workload)
                times[way].append(cpu)
                found = re.search(r'([0-9]+) lost', words) if way == 'gilprobe' else None
                lost += int(found.group(1)) if found else 0
        cpu = {way: min(t) for way, t in times.items()}
        ratios = [f'x{cpu[way] / cpu["none"]:.2f}' for way in ways if way != 'none']
        if not pairs:
            table.row(name, f'{cpu["none"]:.3f} s', *ratios, holds=cpu['gilprobe'] <= NOTHING * cpu['none'],
                      target=f'(gilprobe at most x{NOTHING})')
            continue
        table.row(name, f'{cpu["none"]:.3f} s', *ratios)
        each = {way: (cpu[way] - cpu['none']) / pairs * 1e6 for way in ways if way != 'none'}
        cheaper = each['gilprobe'] < each['perf'] if 'perf' in each else None
        table.row('  per release and take', '', *(f'{us:.2f} us' for us in each.values()), holds=cheaper,
                  target='(gilprobe below perf)' if 'perf' in each else '')
    table.row('lost', '', lost, holds=lost == 0, target='(none)')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--python', default='python3')
    parser.add_argument('--rounds', type=int, default=3)
    args = parser.parse_args()
    if not harness.can_record():
        print('recording needs root and tracefs')
        sys.exit(measure.SKIP)
    # the interpreter itself, so that no shim's time counts
    python = subprocess.run([args.python, '-c', 'import sys; print(sys.executable)'],
                            capture_output=True, text=True, check=True).stdout.strip()
    ways = {'none': [], 'gilprobe': [harness.GILPROBE, 'record', '--no-summary', '-o', 'gil.data', '--']}
    perf = None
    with measure.Folder():
        try:
            try:
                perf = Perf(python)
                ways['perf'] = perf.command()
            except (LookupError, OSError) as why:
                print(f'perf left out: {why}')
            table = measure.Table(f'CPU time of the workload, {python}')
            table.row('', *ways)
            cost_rows(table, ways, python, args.rounds)
        finally:
            if perf:
                perf.close()
    table.exit()


if __name__ == '__main__':
    main()
