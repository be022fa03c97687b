#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs the program, against no recording and against perf's recipe.

usage: record_cost.py [--gilprobe PATH] [--python PATH] [--rounds N] [--json FILE]

CPU time that the workload itself used, each as the ratio to no recording: the ways take turns,
and of each the least of all rounds counts. Needs root. perf's recipe probes take_gil, its return,
drop_gil and its return by name, so it needs an interpreter whose symbols were not stripped, else
it is left out. The last line tells what the thrash workload lost.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

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

THRASH = 'four threads, 60,000 sleep(0)'
WORKLOADS = {
    'two CPU-bound threads': 'run(2, spin, 5_000_000)',
    '100,000 uncontended pairs': 'pairs(100_000)',
    'two threads of 20,000 pairs': 'run(2, pairs, 20_000)',
    THRASH: 'run(4, naps, 60_000)',
}
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


def measure(ways, python, rounds):
    result = {}
    for name, workload in WORKLOADS.items():
        times = {way: [] for way in ways}
        lost = 0
        for _ in range(rounds):
            for way, command in ways.items():
                cpu, words = run_once(command, python, workload)
                times[way].append(cpu)
                found = re.search(r'([0-9]+) lost', words) if way == 'gilprobe' else None
                lost += int(found.group(1)) if found else 0
        result[name] = {way: min(t) for way, t in times.items()}
        result[name]['lost'] = lost
        print_row(name, result[name], ways)
    return result


def print_row(name, row, ways):
    cells = ['%9.3f s' % row['none']]
    cells += ['%9s' % ('x%.2f' % (row[way] / row['none'])) for way in ways if way != 'none']
    print('%-30s%s' % (name, ''.join(cells)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--gilprobe', default=os.environ.get('GILPROBE', 'gilprobe'))
    parser.add_argument('--python', default='python3')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json')
    args = parser.parse_args()
    # the interpreter itself, so that no shim's time counts
    python = subprocess.run([args.python, '-c', 'import sys; print(sys.executable)'],
                            capture_output=True, text=True, check=True).stdout.strip()
    gilprobe = os.path.abspath(args.gilprobe) if os.path.exists(args.gilprobe) else args.gilprobe
    out = os.path.abspath(args.json) if args.json else None
    ways = {'none': [], 'gilprobe': [gilprobe, 'record', '--no-summary', '-o', 'gil.data', '--']}
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    perf = None
    try:
        try:
            perf = Perf(python)
            ways['perf'] = perf.command()
        except (LookupError, OSError) as why:
            print('perf left out: %s' % why)
        print('%-30s%11s%9s%9s' % ('CPU time of the workload', 'none', 'gilprobe',
                                   'perf' if perf else ''))
        result = measure(ways, python, args.rounds)
        print('lost in %d rounds of %s: %d' % (args.rounds, THRASH, result[THRASH]['lost']))
    finally:
        if perf:
            perf.close()
        os.chdir('/')
        shutil.rmtree(folder)
    if out:
        with open(out, 'w') as f:
            json.dump(result, f, indent=1)


if __name__ == '__main__':
    main()
