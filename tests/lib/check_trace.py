#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks timelines of gilprobe by the rules of their layout, with nothing but a JSON parser.

usage: check_trace.py TRACE...      .json or .json.gz; exit 0 all right, 1 some are not

Rules: types and ranges of every field, times with three decimals in the text, slices of a row
disjoint, the states of a thread tile its life and add up to the totals in the trace (those of rapid
switching by their args), rows named and ordered, arrows paired with held slices at both ends, counters sane, one thread per CPU.
"""
import bisect
import collections
import gzip
import json
import re
import sys

ROWS = 1000000000
PHASES = ROWS - 1    # their process
STATES = {
    'GIL held, running': ('has_gil_ns', 'thread_state_running'),
    'GIL held, off-CPU': ('has_gil_off_cpu_ns', 'yellow'),
    'waiting for GIL': ('waiting_ns', 'terrible'),
    'running without GIL': ('native_ns', 'good'),
    'waiting for a CPU': ('runnable_ns', 'thread_state_runnable'),
    'I/O or sleep': ('blocked_ns', 'thread_state_sleeping'),
}
RAPID = 'rapid switching'    # many short states; its args tell how long each of them was
RAPID_ARGS = {total.replace('_ns', '_us'): name for name, (total, _) in STATES.items()}
HELD = ('GIL held, running', 'GIL held, off-CPU')
WAIT_ARGS = {'holders': str, 'holder_tids': str, 'holder_running_us': float,
             'holder_off_cpu_us': float, 'gil_free_us': float, 'switch_requests': int,
             'forced_switch': bool, 'gil': int}
HOLD_ARGS = {'tid': int, 'on_cpu_percent': int, 'others_waited_us': float, 'waiters': int,
             'ended_by_request': bool, 'never_released': bool}
METADATA = {'process_name': 'name', 'thread_name': 'name', 'process_sort_index': 'sort_index',
            'thread_sort_index': 'sort_index'}
COUNTER = re.compile(r'GIL( #\d+)?( held| mean)?')
KERNEL_STATE = re.compile(r'Running|R\+?|[SDTtXZPIKW](\|[A-Z])?')


class Number(str):
    """A number with a point, as it stands in the text."""

    def ns(self):
        whole, part = self.split('.')
        return int(whole) * 1000 + int(part)


class Bad(Exception):
    pass


def expect(condition, what, *where):
    if not condition:
        raise Bad(what + ''.join(f' {w}' for w in where))


def no_constant(text):
    raise Bad(f'{text} is no JSON')


def unique(pairs):
    keys = [k for k, _ in pairs]
    expect(len(keys) == len(set(keys)), 'a key stands twice:', keys)
    return dict(pairs)


def load(path):
    with open(path, 'rb') as file:
        data = file.read()
    if path.endswith('.gz'):
        expect(data[:2] == b'\x1f\x8b', 'is not compressed')
        data = gzip.decompress(data)
    return data, json.loads(data.decode('utf-8'), parse_float=Number,
                            parse_constant=no_constant, object_pairs_hook=unique)


def is_int(value, low, high=2**63):
    return type(value) is int and low <= value < high


def is_time(value):
    return isinstance(value, Number) and re.fullmatch(r'(0|[1-9]\d*)\.\d{3}', value)


class Trace:
    def __init__(self, path):
        self.path = path
        self.data, self.top = load(path)
        self.slices = collections.defaultdict(list)     # (pid, tid) -> [(start, end, name, event)]
        self.states = collections.defaultdict(list)     # the same, of T events
        self.flows = collections.defaultdict(dict)      # id -> ph -> event
        self.meta = {}                                  # (pid, tid, name) -> value
        self.counters = collections.defaultdict(list)   # (pid, name, key) -> [(ts, value)]
        self.own = self.top.get('gilprobe', {})
        self.merged = self.own.get('merged', False)

    def check(self):
        self.check_top()
        for event in self.top['traceEvents']:
            try:
                self.take(event)
            except Bad as bad:
                raise Bad(f'{bad} in {json.dumps(event)}') from None
        self.check_rows()
        self.check_names()
        self.check_totals()
        self.check_rapid_totals()
        self.check_arrows()
        self.check_counters()
        self.check_cpus()

    def check_top(self):
        expect(isinstance(self.top, dict), 'is no object')
        keys = list(self.top)
        expect(self.data.startswith(b'{"traceEvents":['), 'does not begin with traceEvents')
        expect(set(keys) <= {'traceEvents', 'viztracer_metadata', 'gilprobe', 'file_info'}, 'keys', keys)
        meta = self.top['viztracer_metadata']
        expect(isinstance(meta['version'], str) and isinstance(meta['overflow'], bool), 'metadata', meta)
        expect('baseTimeNanoseconds' not in meta or is_int(meta['baseTimeNanoseconds'], -2**63), 'base', meta)
        for name in ('gils', 'threads', 'quality', 'start_ns', 'end_ns', 'idle', 'min_dur_ns',
                     'rapid_switching'):
            expect(name in self.own, 'gilprobe has no', name)

    def take(self, event):
        expect(isinstance(event.get('name'), str), 'no name')
        expect(is_int(event.get('pid'), 1, 2**32), 'pid')
        kind = event.get('ph')
        row = (event['pid'], event.get('tid'))
        expect(kind == 'C' or is_int(row[1], 1, 2**32), 'tid')
        if self.merged and kind != 'T' and is_int(row[1], 1, ROWS // 2):
            return      # of the report that was merged
        expect(kind in {'X', 'M', 'C', 's', 'f', 'T'}, 'ph')
        getattr(self, 'take_' + kind)(event, row)

    @staticmethod
    def only(event, *keys):
        expect(set(event) <= {'ph', 'name', 'pid', 'tid', *keys}, 'unknown keys')

    @staticmethod
    def times(event):
        expect(is_time(event.get('ts')), 'ts')
        expect(is_time(event.get('dur')) and event['dur'].ns() > 0, 'dur')
        return event['ts'].ns(), event['ts'].ns() + event['dur'].ns()

    def take_X(self, event, row):
        self.only(event, 'ts', 'dur', 'cname', 'args')
        start, end = self.times(event)
        self.slices[row].append((start, end, event['name'], event))

    def take_T(self, event, row):
        self.only(event, 'ts', 'dur', 'args')
        start, end = self.times(event)
        expect(row[1] < ROWS // 2, 'a kernel state on a row of ours')
        expect(KERNEL_STATE.fullmatch(event['name']), 'state')
        args = event.get('args', {})
        expect(set(args) <= {'cpu'} and is_int(args.get('cpu', 0), 0, 65536), 'args')
        self.states[row].append((start, end, event['name'], event))

    def take_M(self, event, row):
        self.only(event, 'args')
        key = METADATA.get(event['name'])
        expect(key and list(event['args']) == [key], 'metadata')
        value = event['args'][key]
        expect(isinstance(value, str) and value if key == 'name' else is_int(value, 0, 2**31), 'value')
        self.meta[(*row, event['name'])] = value

    def take_C(self, event, row):
        self.only(event, 'ts', 'args')
        expect(is_time(event.get('ts')), 'ts')
        expect(COUNTER.fullmatch(event['name']) and len(event['args']) == 1, 'counter')
        (key, value), = event['args'].items()
        expect(type(value) is int or isinstance(value, Number), 'value')
        self.counters[row[0], event['name'], key].append((event['ts'].ns(), float(value)))

    def take_s(self, event, row):
        self.only(event, 'ts', 'id', 'bp')
        expect(is_time(event.get('ts')), 'ts')
        expect(is_int(event.get('id'), 1) and event['name'] == 'GIL hand-over', 'arrow')
        expect(event.get('bp') == (None if event['ph'] == 's' else 'e'), 'bp')
        expect(event['ph'] not in self.flows[event['id']], 'an id stands twice')
        self.flows[event['id']][event['ph']] = event

    take_f = take_s

    def check_rows(self):
        for rows in (self.slices, self.states):
            for row, slices in rows.items():
                slices.sort(key=lambda s: s[:2])
                for a, b in zip(slices, slices[1:]):
                    expect(a[1] <= b[0], f'overlap on row {row}:', a, b)
        self.gil_rows = {row for row in self.slices
                         if row[1] <= ROWS and row[0] != PHASES and row[1] > ROWS - 100000}
        self.phase_rows = {row for row in self.slices if row[0] == PHASES}
        self.thread_rows = set(self.slices) - self.gil_rows - self.phase_rows
        for row in self.thread_rows:
            expect(row[1] > ROWS, f'slices on real row {row}')
            for start, _, name, event in self.slices[row]:
                if name == RAPID:
                    self.check_rapid(event)
                    continue
                expect(name in STATES, 'unknown state', event)
                expect(event.get('cname') == STATES[name][1], 'colour', event)
                self.check_args(event, WAIT_ARGS if name == 'waiting for GIL' else {})
        for row in self.gil_rows:
            for _, _, name, event in self.slices[row]:
                expect(re.match(r'[A-Z]{1,7}( .|$)', name), 'no letter', event)
                self.check_args(event, HOLD_ARGS)

    def check_rapid(self, event):
        expect(event.get('cname') == 'grey', 'colour', event)
        parts = dict(event['args'])
        expect(is_int(parts.pop('states'), 2), 'states', event)
        expect(set(parts) <= {*RAPID_ARGS, 'unknown_us'} and all(map(is_time, parts.values())), 'args', event)
        expect(sum(p.ns() for p in parts.values()) == event['dur'].ns(), 'its states do not add up to', event)

    @staticmethod
    def check_args(event, known):
        if 'args' not in event:
            return
        expect(event['args'], 'empty args', event)
        for key, value in event['args'].items():
            kind = known.get(key)
            if kind is float:
                expect(is_time(value), f'{key} in', event)
            else:
                expect(type(value) is kind, f'{key} in', event)

    def check_names(self):
        orders = collections.defaultdict(list)
        for pid, tid in self.slices:
            for name in ('thread_name',) if pid == PHASES else ('thread_name', 'thread_sort_index'):
                expect((pid, tid, name) in self.meta, f'row {pid} {tid} has no', name)
            named = self.meta[pid, tid, 'thread_name']
            if (pid, tid) in self.thread_rows:
                expect(named.endswith(' GIL'), 'row name', named)
            elif (pid, tid) in self.gil_rows:
                expect(named == ('GIL' if tid == ROWS else f'GIL #{ROWS - tid + 1}'), 'row name', named)
            else:
                expect(named == 'phase', 'row name', named)
                continue
            orders[pid].append((self.meta[pid, tid, 'thread_sort_index'], (pid, tid) in self.thread_rows))
        pids = {pid for pid, _ in self.slices} - {PHASES}
        if not self.merged:
            for pid in pids:
                for name in ('process_name', 'process_sort_index'):
                    expect((pid, pid, name) in self.meta, f'process {pid} has no', name)
        for pid, order in orders.items():
            order.sort()
            expect([t for _, t in order] == sorted(t for _, t in order), f'a thread above a GIL in {pid}')
            expect(len({i for i, _ in order}) == len(order), f'two rows of {pid} in one place')

    def check_totals(self):
        whole = self.own['min_dur_ns'] == 0
        known = collections.Counter()
        lives = collections.defaultdict(list)
        for thread in self.own['threads']:
            row = (thread['pid'], ROWS + thread['tid'])
            lives[row].append((thread['first_ns'], thread['last_ns']))
            parts = [thread[key] for key, _ in STATES.values()] + [thread['unknown_ns']]
            expect(sum(parts) == thread['last_ns'] - thread['first_ns'], 'states do not add up to the life of', thread)
            for name, (key, _) in STATES.items():
                known[row, name] += thread[key]
        for row in self.thread_rows:
            expect(row in lives, f'row {row} is of no thread')
            first, last = min(lives[row])[0], max(l for _, l in lives[row])
            expect(first <= self.slices[row][0][0] and self.slices[row][-1][1] <= last, f'row {row} is longer than its thread')
        for row in lives:
            drawn = collections.Counter()
            for start, end, name, event in self.slices.get(row, ()):
                drawn[name] += end - start
                if name == RAPID:
                    for key, part in event['args'].items():
                        if key in RAPID_ARGS:
                            drawn[RAPID_ARGS[key]] += part.ns()
            for name in STATES:
                if name == 'I/O or sleep' and not self.own['idle']:
                    alone = any(s[2] == name for s in self.slices.get(row, ()))
                    expect(not alone, 'idle slices in', row)
                elif whole:
                    expect(drawn[name] == known[row, name], f'{row} {name}: drawn {drawn[name]}, total {known[row, name]}')
                else:
                    expect(drawn[name] <= known[row, name], f'{row} {name}: more drawn than there is')
        self.check_holds(whole)

    def check_rapid_totals(self):
        rapid = [e for row in self.thread_rows for _, _, name, e in self.slices[row] if name == RAPID]
        told = self.own['rapid_switching'] or {'slices': 0, 'states': 0}
        expect(len(rapid) == told['slices'], f'{len(rapid)} slices of rapid switching, told', told)
        expect(sum(e['args']['states'] for e in rapid) == told['states'], 'states in them, told', told)

    def check_holds(self, whole):
        quality = self.own['quality']
        for gil in self.own['gils']:
            row = (gil['pid'], ROWS + 1 - gil['number'])
            held = sum(end - start for start, end, _, _ in self.slices.get(row, ()))
            if quality['release_missing']:
                expect(held == 0, f'GIL row {row}: holds without releases')
            elif whole and not quality['overlapping_holds']:
                same = [g for g in self.own['gils'] if (g['pid'], g['number']) == (gil['pid'], gil['number'])]
                total = sum(g['held_ns'] for g in same)
                expect(held == total, f'GIL row {row}: drawn {held}, total {total}')

    @staticmethod
    def inside(slices, time):
        """Does one of the sorted (start, end) contain the time?"""
        at = bisect.bisect_right(slices or [], (time, 2**64)) - 1
        return at >= 0 and time < slices[at][1]

    def check_arrows(self):
        expect(len(self.flows) <= sum(g['handoffs'] for g in self.own['gils']), 'more arrows than hand-overs')
        starts = {(row, start) for row, slices in self.slices.items() for start, _, name, _ in slices if name in HELD}
        rapid = {row: [s[:2] for s in slices if s[2] == RAPID] for row, slices in self.slices.items()}
        ends = {(row, end) for row, slices in self.slices.items() for _, end, name, _ in slices if name in HELD}
        for pair in self.flows.values():
            expect(set(pair) == {'s', 'f'}, 'half an arrow', pair)
            s, f = pair['s'], pair['f']
            expect(s['pid'] == f['pid'] and s['tid'] != f['tid'], 'an arrow to itself', pair)
            row, time = (s['pid'], s['tid']), s['ts'].ns()
            expect((row, time + 1) in ends or self.inside(rapid.get(row), time), 'an arrow from nowhere', pair)
            expect(((f['pid'], f['tid']), f['ts'].ns()) in starts, 'an arrow to nowhere', pair)
            expect(s['ts'].ns() < f['ts'].ns(), 'an arrow back in time', pair)

    def check_counters(self):
        for (pid, name, key), values in self.counters.items():
            kind = {' held': '%', ' mean': 'waiters'}.get(name[-5:], 'waiters')
            expect(key == kind, 'key', name, key)
            values.sort(key=lambda v: v[0])
            expect(all(0 <= v and (key != '%' or v <= 100) for _, v in values), f'counter {pid} {name}')
            expect(values[-1][1] == 0, f'counter {pid} {name} does not end at 0')

    def check_cpus(self):
        cpus = collections.defaultdict(list)
        for slices in self.states.values():
            for start, end, name, event in slices:
                expect(name == 'Running' or 'cpu' not in event.get('args', {}), 'off CPU on a CPU', event)
                if 'cpu' in event.get('args', {}):
                    cpus[event['args']['cpu']].append((start, end, event['tid']))
        for cpu, running in cpus.items():
            running.sort()
            for a, b in zip(running, running[1:]):
                expect(a[1] <= b[0] or self.own['quality']['lost'], f'two threads on CPU {cpu}:', a, b)

    def summary(self):
        n = len(self.top['traceEvents'])
        slices = sum(len(s) for s in self.slices.values())
        return (f'{n} events, {slices} slices on {len(self.thread_rows)} + {len(self.gil_rows)} rows, '
                f'{len(self.flows)} arrows, {len(self.data)} bytes')


def main(*paths):
    bad = 0
    for path in paths:
        try:
            trace = Trace(path)
            trace.check()
            print(f'ok  {path}: {trace.summary()}')
        except (Bad, ValueError, KeyError, TypeError) as error:
            print(f'BAD {path}: {type(error).__name__}: {error}')
            bad += 1
    return 1 if bad or not paths else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
