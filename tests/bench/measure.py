# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks share: CPU time and memory of a command, and a table that can fail.

Environment: COST (cost.c), GILPROBE_BENCH_DIR (where large files go; else the temporary folder).
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
NULL = subprocess.DEVNULL


class Cost:
    """Of a finished command: CPU seconds, peak memory in MiB, bytes that it wrote to its pipe."""

    def __init__(self, microseconds, kib, written):
        self.cpu = microseconds / 1e6
        self.mib = kib / 1024
        self.written = written


def run(words, stdout=NULL):
    """Runs a command in the current folder. Its failure ends the benchmark."""
    with open('said', 'w') as said:
        child = subprocess.Popen([os.environ['COST'], 'cost', *map(str, words)], stdout=stdout, stderr=said)
        written = drain(child.stdout) if child.stdout else 0
    if child.wait():
        with open('said', errors='replace') as said:
            sys.exit(f'{" ".join(map(str, words))}: status {child.returncode}\n{said.read()}')
    with open('cost') as file:
        return Cost(*map(int, file.read().split()), written)


def drain(pipe):
    written = 0
    while block := pipe.read(1 << 20):
        written += len(block)
    return written


def least(rounds, ways):
    """Runs each of the commands in turn, @rounds times: {name: the cheapest Cost}."""
    costs = {name: [] for name in ways}
    for _ in range(rounds):
        for name, words in ways.items():
            costs[name].append(run(words))
    return {name: min(c, key=lambda cost: cost.cpu) for name, c in costs.items()}


class Table:
    """Rows of what was measured; a row can have a target, and one that is missed fails the run."""

    def __init__(self, title):
        self.missed = 0
        print(title, flush=True)

    def row(self, name, *values, holds=None, target=''):
        verdict = '' if holds is None else ('ok' if holds else 'MISSED')
        self.missed += holds is False
        print(f'  {name:34}', *(f'{v:>12}' for v in values), f' {target} {verdict}'.rstrip(), flush=True)

    def exit(self):
        sys.exit(1 if self.missed else 0)


class Folder:
    """A folder for large files, beside the program that is measured: /tmp may be memory."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='bench-', dir=os.environ.get('GILPROBE_BENCH_DIR'))
        os.chdir(self.path)
        return self.path

    def __exit__(self, *_):
        os.chdir('/')
        shutil.rmtree(self.path)


def converter_rows(table, gilprobe, data, rounds):
    """CPU time of gilprobe against perf's, on the same file in the same run."""
    ways = {
        'perf script': ['perf', 'script', '-i', data],
        'gilprobe report': [gilprobe, 'report', '--json', data],
        'gilprobe convert, .json': [gilprobe, 'convert', '-q', '-o', 'trace.json', data],
        'gilprobe convert, .json.gz': [gilprobe, 'convert', '-q', '-o', 'trace.json.gz', data],
    }
    targets = {'gilprobe report': 6, 'gilprobe convert, .json': 3, 'gilprobe convert, .json.gz': 1}
    if not shutil.which('perf'):
        table.row('perf script', 'missing', target='nothing to compare with')
        del ways['perf script']
    costs = least(rounds, ways)
    for name, cost in costs.items():
        words = [f'{cost.cpu:.2f} s', f'{cost.mib:.1f} MiB']
        if name in targets and 'perf script' in costs:
            ratio = costs['perf script'].cpu / cost.cpu
            table.row(name, *words, f'{ratio:.1f} x', holds=ratio >= targets[name],
                      target=f'(at least {targets[name]} x)')
        else:
            table.row(name, *words)
    return costs
