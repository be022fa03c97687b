#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The most GIL events that a program makes, recorded, reported and drawn.

usage: thrash.py [--python PATH] [--rounds N] [--naps N]

Four threads call time.sleep(0) 60,000 times each. Fails when an event is lost at the default buffer
size, when a hold is missing from the timeline, when the JSON takes more than 102 bytes per event (a
fifth of what the per4m pipeline writes), or when reading is not as fast as converter.py says.
Needs root.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

import measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import harness

BYTES_PER_EVENT = 102
PROGRAM = '''
import sys, threading, time
def naps(n):
    for _ in range(n): time.sleep(0)
threads = [threading.Thread(target=naps, args=(int(sys.argv[1]),)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
'''


def holds_of(path):
    """Slices on rows of GILs."""
    with open(path) as file:
        events = json.load(file)['traceEvents']
    return sum(e['ph'] == 'X' and 999900000 < e['tid'] <= 1000000000 for e in events)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--python', default=harness.pythons()[0])
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--naps', type=int, default=60_000)
    args = parser.parse_args()
    if not harness.can_record():
        print('recording needs root and tracefs')
        sys.exit(measure.SKIP)
    table = measure.Table(f'four threads of {args.naps:,} sleep(0), {args.python}')
    with measure.Folder():
        command = [harness.GILPROBE, 'record', '-q', '--no-summary', '-o', 'x.data', '--', args.python, '-c',
                   PROGRAM, args.naps]
        lost = []
        for _ in range(args.rounds):
            measure.run(command)
            report = json.loads(subprocess.check_output([harness.GILPROBE, 'report', '--json', 'x.data']))
            lost.append(report['quality']['lost'])
        events, takes = report['quality']['events'], sum(g['takes'] for g in report['gils'])
        table.row('events', f'{events:,}')
        table.row('lost', ' '.join(map(str, lost)), holds=not any(lost), target='(none)')
        size = os.path.getsize('x.data')
        table.row('recording', f'{size / 1e6:.1f} MB', f'{size / events:.1f} B/event')
        measure.converter_rows(table, harness.GILPROBE, 'x.data', args.rounds)
        for name in 'trace.json', 'trace.json.gz':
            each = os.path.getsize(name) / events
            table.row(name, f'{os.path.getsize(name) / 1e6:.1f} MB', f'{each:.1f} B/event',
                      holds=each <= BYTES_PER_EVENT, target=f'(at most {BYTES_PER_EVENT} B/event)')
        drawn = holds_of('trace.json')
        table.row('holds drawn', f'{drawn:,}', f'of {takes:,}', holds=drawn >= takes, target='(all)')
    table.exit()


if __name__ == '__main__':
    main()
