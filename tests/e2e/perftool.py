# SPDX-License-Identifier: GPL-2.0-or-later
"""The perf tool and the probes its users place by hand: take_gil and drop_gil by their symbols.

Probes are named tracefs uprobes of a group of our own, which is removed at the end, and only it.
"""
import json
import os
import re
import shutil
import subprocess

import harness

SAMPLE = re.compile(r'\s*(-?\d+)\s+(?:\[\d+\]\s+)?(\d+)\.(\d{9}):\s+(\S+):\s*$')
KINDS = {'take_gil': 'want', 'take_gil__return': 'acquire', 'drop_gil': 'release',
         'drop_gil__return': 'drop-return'}
OWN_KINDS = {'acquire': 'acquire', 'signal': 'release', 'timedwait': 'want', 'wait': 'yield'}
SCHED = ('sched:sched_switch', 'sched:sched_wakeup')


def need(case, condition, what):
    """Skips the test without @condition; where everything is installed that is a failure."""
    if not condition and os.environ.get('CI') == 'true':
        case.fail(f'{what} is missing, and CI must not skip this')
    if not condition:
        case.skipTest(f'{what} is missing')


def mapped(python):
    """The interpreter's file and its libpython."""
    code = 'import re; print(*sorted(set(re.findall(r"/\\S*python\\S*", open("/proc/self/maps").read()))), sep="\\n")'
    out = subprocess.run([python, '-I', '-S', '-c', code], capture_output=True, text=True, check=True)
    return [path for path in out.stdout.split('\n') if re.search(r'(python[\d.]*d?|libpython.*\.so[\d.]*)$', path)]


def entries(path, function):
    """File offsets of @function, as perf probe finds them."""
    done = subprocess.run(['perf', 'probe', '-q', '-x', path, '-D', function], capture_output=True, text=True)
    return [int(x, 16) for x in re.findall(r':(0x[0-9a-f]+)\s*$', done.stdout, re.M)]


def interpreter_with_symbols():
    """(python, file, entries of take_gil, entries of drop_gil), of the first that has both; or None."""
    # a debug build has them where distributions strip the others
    debug = [p for p in ['/usr/bin/python3-dbg'] if os.path.exists(p)]
    for python in harness.pythons() + debug if shutil.which('perf') else ():
        checked = json.loads(harness.run('check', '--json', '--', python).stdout)
        releases = {os.path.realpath(i['path']): [s['kind'] for s in i['sites']].count('signal')
                    for i in checked['interpreters']}
        for path in mapped(python):
            take, drop = entries(path, 'take_gil'), entries(path, 'drop_gil')
            if take and drop and len(drop) == releases.get(os.path.realpath(path)):  # none was inlined
                return python, path, take, drop
    return None


def function_ranges(path):
    """Where functions begin and end, as file offsets, by the frame information of the ELF file @path."""
    loads = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True, check=True).stdout
    loads = [[int(x, 16) for x in m] for m in re.findall(
        r'^ +LOAD +0x(\S+) 0x(\S+) 0x\S+ 0x(\S+)', loads, re.M)]
    # its status is 1 where separate debug information is missing
    frames = subprocess.run(['readelf', '-wF', path], capture_output=True, text=True).stdout
    for first, last in re.findall(r' FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)', frames):
        for offset, address, size in loads:
            if address <= int(first, 16) < address + size:
                yield int(first, 16) - address + offset, int(last, 16) - address + offset


def gil_functions(interpreter):
    """
    Entries of take_gil and of the drop_gil that is not inlined, in a file that has several places of
    release; @interpreter as gilprobe check tells it. The smallest function with such a place is taken.
    """
    sites = {kind: [s['offset'] for s in interpreter['sites'] if s['kind'] == kind]
             for kind in ('acquire', 'timedwait', 'signal')}
    if len(sites['signal']) < 2 or len(sites['timedwait']) != 1 or not shutil.which('readelf'):
        return None
    take, drops = None, []
    for first, last in function_ranges(interpreter['path']):
        if first <= sites['timedwait'][0] < last and all(first <= x < last for x in sites['acquire']):
            take = first
        if any(first <= x < last for x in sites['signal']):
            drops.append((last - first, first))
    return (take, min(drops)[1]) if take and len(drops) > 1 else None


class Probes:
    """take_gil and drop_gil, entries and returns, as events of one group."""

    def __init__(self, path, take, drop, suffix=''):
        self.group = f'python_gp_{os.getpid()}{suffix}'
        self.path, self.take, self.drop = path, take, drop

    def names(self, functions=('take_gil', 'drop_gil')):
        return [f'{self.group}:{name}{end}' for name in functions for end in ('', '__return')]

    def _write(self, line):
        fd = os.open(harness.TRACEFS / 'uprobe_events', os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, line.encode() + b'\n')
        finally:
            os.close(fd)

    def add(self):
        for name, offsets in (('take_gil', self.take), ('drop_gil', self.drop)):
            for offset in offsets:
                self._write(f'p:{self.group}/{name} {self.path}:{offset:#x}')
                self._write(f'r:{self.group}/{name}__return {self.path}:{offset:#x}')

    def remove(self):
        text = (harness.TRACEFS / 'uprobe_events').read_text()
        for name in set(re.findall(rf'^[pr]:{self.group}/(\S+)', text, re.M)):
            self._write(f'-:{self.group}/{name}')


def perf(*words, **options):
    options.setdefault('timeout', harness.PATIENCE)
    return subprocess.run(['perf', *map(str, words)], capture_output=True, text=True,
                          errors='replace', **options)


def samples(path, piped=False):
    """(time ns, tid, event) of every sample that perf script lists; a sample per line."""
    with open(path if piped else os.devnull, 'rb') as stdin:
        done = perf('script', '-f', '-i', '-' if piped else path, '--ns', '-F', 'tid,time,event', stdin=stdin)
    if done.returncode:
        raise AssertionError(done.stderr)
    found = []
    for line in done.stdout.splitlines():
        match = SAMPLE.match(line)
        if match:
            tid, seconds, ns, event = match.groups()
            found.append((int(seconds + ns), int(tid), event))
        elif line.strip():
            raise AssertionError(f'perf script: {line!r}')
    return found


def gil_events(found, group):
    """Those of @found that are hits of the probes, as (time, tid, kind)."""
    return {(time, tid, KINDS[event.partition(':')[2]]) for time, tid, event in found
            if event.startswith(group + ':')}
