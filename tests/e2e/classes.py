#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the classes of `gilprobe report --json` with those that a case expects of its threads.

usage: classes.py truth.json CASE.py report.json      exit 0 all as expected, 1 some not

The truth names what happens in its own words; ACCEPT maps them to the classes of the schema. A
thread that the machine gave no CPU is judged by what the reason says apart from that. A group is as
expected when the threads that make up most of its life are.
"""
import fnmatch
import json
import re
import sys

# a case that runs through several settings shows these in some of its threads
ONCE = {'gil-bound/switch-interval'}
GIL = {'gil-bound', 'gil-bound/convoy', 'gil-bound/long-c-call', 'gil-bound/switch-interval'}
ACCEPT = {
    'gil-holder/bytecode': {'gil-bound'},
    'gil-waiter': {'gil-bound', 'gil-bound/convoy', 'gil-bound/long-c-call'},
    'gil-bound': GIL,
    'gil-bound/tasks-too-small': GIL | {'gil-bound/tasks-too-small', 'gil-dropped-too-often'},
    'gil-bound/thread-start-overhead': {'gil-bound/thread-start-overhead', 'inconclusive'},
    'gil-bound/switch-interval': GIL,
    'gil-bound/gc': {'gil-bound/long-c-call'},
    'mixed/gil-dropped-too-often': {'gil-dropped-too-often'},
    'mixed-io-cpu': {'mixed'},
    'cpu-starved/holder-has-no-cpu': {'cpu-starved'},
}


def class_of(thread, wanted):
    apart = re.search(r'\(apart from that: ([a-z/-]+)\)', thread['reason'])
    if thread['class'] == 'cpu-starved' and apart and 'cpu-starved' not in wanted:
        return apart[1]
    return thread['class']


def main(truth_path, case, report_path):
    with open(truth_path) as file:
        truth = json.load(file)[case.rsplit('/', 1)[-1]]
    with open(report_path) as file:
        report = json.load(file)
    bad = []
    for group, wanted in truth.get('class', {}).items():
        accept = ACCEPT.get(wanted, {wanted})
        lives = {}
        for thread in report['threads']:
            if fnmatch.fnmatch(thread['name'], group):
                name = class_of(thread, accept)
                lives[name] = lives.get(name, 0) + thread['life_s']
        right = sum(life for name, life in lives.items() if name in accept)
        if right <= sum(lives.values()) / 2 or wanted in ONCE and wanted not in lives:
            bad.append(f'{group}: {wanted} expected, got '
                       + ', '.join(f'{name} ({life:.3f} s)' for name, life in lives.items()))
    print(f"{'ok' if not bad else 'BAD'} {case}: {report['verdict']['class']} "
          f"({report['verdict']['confidence']})" + ''.join('\n  ' + line for line in bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:4]))
