#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast recordings are read, against perf script, and in how much memory.

usage: converter.py [--events N] [--rounds N] [--data FILE]

Generates recordings of N (10 million) events, of a tenth of them, and of as many with short-lived
threads. Fails when report is not 6 times, convert 3 times (.json.gz: once) as fast as perf script,
when anything takes more than 64 MiB, or when memory grows with the length of the recording.
Environment: GILPROBE, GENERATE, COST (the programs).
"""
import argparse
import os
import subprocess

import measure

GILPROBE, GENERATE = os.environ.get('GILPROBE', 'gilprobe'), os.environ.get('GENERATE')
LIMIT_MIB = 64
CHURN_NAPS = 20


def memory(table, title, data, before=None):
    """Peak memory of each way to read @data; @before: of the same on a file of a tenth."""
    ways = {
        'report': ([GILPROBE, 'report', '--json', data], measure.NULL),
        'convert to a pipe': ([GILPROBE, 'convert', '-q', '-o', '-', data], subprocess.PIPE),
        'convert --all to a pipe': ([GILPROBE, 'convert', '-q', '--all', '-o', '-', data], subprocess.PIPE),
        'events to a pipe': ([GILPROBE, 'events', '-q', data], subprocess.PIPE),
    }
    peaks = {}
    for name, (words, stdout) in ways.items():
        cost = measure.run(words, stdout)
        peaks[name] = cost.mib
        table.row(f'{title}, {name}', f'{cost.cpu:.2f} s', f'{cost.mib:.1f} MiB', f'{cost.written / 1e6:.0f} MB',
                  holds=cost.mib < LIMIT_MIB, target=f'(below {LIMIT_MIB} MiB)')
        if before:
            grown = cost.mib - before[name]
            table.row('  more than for a tenth', '', f'{grown:.1f} MiB', holds=grown < 2, target='(below 2 MiB)')
    return peaks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--events', type=int, default=10_000_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--data', help='compare the speed on this recording instead')
    args = parser.parse_args()
    if args.data:
        table = measure.Table(f'{args.data}: CPU time, peak memory, against perf script')
        data = os.path.abspath(args.data)
        with measure.Folder():
            measure.converter_rows(table, GILPROBE, data, args.rounds)
        table.exit()
    tenth = args.events // 10
    with measure.Folder():
        table = measure.Table(f'{tenth:,} generated events: CPU time, peak memory, against perf script')
        measure.run([GENERATE, tenth, 'tenth.data'])
        measure.converter_rows(table, GILPROBE, 'tenth.data', args.rounds)
        print('CPU time, peak memory, output', flush=True)
        before = memory(table, f'{tenth:,}', 'tenth.data')
        measure.run([GENERATE, args.events, 'whole.data'])
        memory(table, f'{args.events:,}', 'whole.data', before)
        os.unlink('whole.data')
        measure.run([GENERATE, tenth, 'churn.data', CHURN_NAPS])
        memory(table, 'short threads', 'churn.data')
    table.exit()


if __name__ == '__main__':
    main()
