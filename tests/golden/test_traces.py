#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines of real recordings, read by what will read them: a JSON parser with the layout's rules,
VizTracer's own loader, and Perfetto's trace processor."""
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / 'e2e'), str(TESTS / 'lib')]
import check_trace
import corpus
import harness

DATA = TESTS / 'golden' / 'data'
OVERLAPS = ('select count(*) n from slice a join slice b on a.track_id = b.track_id and a.id < b.id '
            'and b.ts > a.ts and b.ts < a.ts + a.dur and b.ts + b.dur > a.ts + a.dur')
ERRORS = "select name, value from stats where value > 0 and severity != 'info'"


def events(path, kind):
    return sum(e['ph'] == kind for e in json.loads(pathlib.Path(path).read_text())['traceEvents'])


class Traces(harness.Case):
    records = False

    def need(self, condition, what):
        if not condition and os.environ.get('CI') == 'true':
            self.fail(f'{what} is missing, and CI must not skip this')
        if not condition:
            self.skipTest(f'{what} is missing')

    def unpack(self, name):
        path = self.folder / name
        return path if path.exists() else corpus.unpack(name, path)

    def convert(self, *words, output='trace.json'):
        done = harness.run('convert', '-o', output, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check(self, path='trace.json'):
        trace = check_trace.Trace(str(path))
        try:
            trace.check()
        except check_trace.Bad as bad:
            self.fail(bad)
        return trace

    def inputs(self):
        """Arguments of convert: every recording that has GIL events, and two that belong together."""
        for name in corpus.names():
            if name not in ('giltracer-sched.data', 'single.data'):
                yield name, [self.unpack(name)]
        yield 'giltracer', [self.unpack('giltracer-gil.data'), self.unpack('giltracer-sched.data')]

    def test_every_recording_by_the_rules_of_the_layout(self):
        for name, files in self.inputs():
            with self.subTest(name):
                self.convert(*files)
                trace = self.check()
                self.assertTrue(trace.thread_rows)
                report = self.report(*files)
                self.assertEqual(trace.own['quality']['events'], report['quality']['events'])
                self.assertEqual(len(trace.own['threads']), len(report['threads']))

    def test_holds_are_what_lies_between_the_probes(self):
        for name in ('default.data', 'mp.data', 'per4m-gil.data', 'switch.data', 'zstd.data',
                     'bigendian.data', 'names-gil.data', 'pipe.data'):
            with self.subTest(name):
                file = self.unpack(name)
                self.convert(file)
                trace = self.check()
                drawn = {(pid, start, end) for pid, tid in trace.gil_rows
                         for start, end, _, _ in trace.slices[pid, tid]}
                holds, since = set(), {}
                for line in harness.run('events', file).stdout.splitlines():
                    time, pid, tid, _, kind, *_ = line.split()
                    if kind == 'acquire':
                        since[tid] = int(time)
                    elif kind == 'release' and tid in since:
                        holds.add((int(pid), since.pop(tid), int(time)))
                self.assertGreater(len(holds), 300)
                self.assertLessEqual(holds, drawn)
                # a hold whose end or begin is not in the file: at most one of each thread
                self.assertLessEqual(len(drawn - holds), 2 * len(trace.thread_rows))

    def test_options_leave_out_what_they_say(self):
        file = self.unpack('default.data')
        self.convert(file)
        whole = self.check()
        self.convert(file, '--no-idle')
        self.assertLess(len(self.check().top['traceEvents']), len(whole.top['traceEvents']))
        self.convert(file, '--min-dur', '100us')
        few = self.check()
        self.assertTrue(all(e - s >= 100000 for rows in few.slices.values() for s, e, _, _ in rows))
        self.assertTrue(few.thread_rows)
        self.convert(file, '--from', '50ms', '--to', '100ms')
        window = self.check()
        first, last = whole.own['start_ns'] + 50000000, whole.own['start_ns'] + 100000000
        for rows in window.slices.values():
            self.assertTrue(first <= rows[0][0] and rows[-1][1] <= last)
        inside = sum(min(e, last) - max(s, first) for rows in whole.slices.values()
                     for s, e, _, _ in rows if s < last and e > first)
        self.assertAlmostEqual(sum(e - s for rows in window.slices.values() for s, e, _, _ in rows),
                               inside, delta=inside / 50)

    def test_rapid_switching_is_drawn_together(self):
        for name in ('default.data', 'mp.data', 'lost.data', 'per4m-gil.data', 'own.data'):
            with self.subTest(name):
                file = self.unpack(name)
                self.convert('--all', file)
                whole = self.check()
                said = self.convert('--rapid-after', '0', file).stderr
                together = self.check()
                states = together.own['rapid_switching']['states']
                self.assertIn(f'{states} short states', said)
                self.assertGreater(states, 300)
                self.assertLess(len(together.data), 0.75 * len(whole.data))
                for row in whole.gil_rows:      # every hold is there
                    self.assertEqual([s[:3] for s in whole.slices[row]], [s[:3] for s in together.slices[row]])
                self.assertEqual(whole.counters, together.counters)
                self.assertEqual(set(whole.flows), set(together.flows))

    def test_without_releases_no_hold_is_drawn(self):
        file = self.unpack('default.data')
        data = file.read_bytes().replace(b'name: drop_gil\n', b'name: else_gil\n')
        data = data.replace(b'name: drop_gil__return\n', b'name: else_gil__return\n')
        file.write_bytes(data)
        done = self.convert(file)
        self.assertIn('only waits are drawn', done.stderr)
        self.assertIn('hint: for holds record with: gilprobe record', done.stderr)
        trace = self.check()
        self.assertEqual({name for rows in trace.slices.values() for _, _, name, _ in rows}, {'waiting for GIL'})
        self.assertFalse(trace.flows)
        done = harness.run('convert', '-o', '-', file)
        self.assertEqual(done.returncode, 2)
        self.assertIn('releases of the GIL are missing', done.stderr)

    def test_takes_alone_are_no_timeline(self):
        done = harness.run('convert', '-o', 'trace.json', self.unpack('single.data'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('neither holds nor waits', done.stderr)
        self.assertFalse(os.path.exists('trace.json'))

    def test_outputs_are_the_same_text(self):
        file = self.unpack('mp.data')
        self.convert(file)
        self.convert(file, output='trace.json.gz')
        text = pathlib.Path('trace.json').read_bytes()
        self.assertEqual(gzip.decompress(pathlib.Path('trace.json.gz').read_bytes()), text)
        self.assertEqual(self.convert(file, output='-').stdout.encode(), text)
        self.check('trace.json.gz')

    def test_viztracer_loads_and_combines_every_trace(self):
        viztracer = shutil.which('viztracer')
        self.need(viztracer, 'viztracer')
        shutil.copy(DATA / 'viztracer.json', '0.json')
        for name, files in self.inputs():
            self.convert(*files, output=f'{name}.json')
        os.mkdir('all')
        traces = sorted(p.name for p in self.folder.glob('*.json'))
        for order in (traces, traces[::-1]):
            done = subprocess.run([viztracer, '--combine', *order, '-o', 'all/all.json'], capture_output=True,
                                  text=True, timeout=harness.PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn('invalid', done.stdout)
            together = json.loads(pathlib.Path('all/all.json').read_text())
            self.assertEqual(len(together['traceEvents']), sum(
                len(json.loads(pathlib.Path(name).read_text())['traceEvents']) for name in traces))
            self.assertIs(together['viztracer_metadata']['overflow'], False)

    def test_trace_processor_keeps_every_slice(self):
        web = os.environ.get('GILPROBE_WEB')
        self.need(web and shutil.which('node'), 'node with the packages of viewer/package.json')
        for name, *options in (('default.data',), ('mp.data',), ('lost.data',), ('per4m-gil.data',),
                               ('lost.data', '--rapid-after', '0')):
            with self.subTest(name):
                self.convert(*options, self.unpack(name))
                trace = self.check()
                done = subprocess.run(
                    ['node', harness.TOP / 'viewer/sql.mjs', 'trace.json', OVERLAPS, ERRORS,
                     'select count(*) n, max(depth) depth from slice', 'select count(*) n from flow',
                     'select name, count(*) n, sum(dur) dur from slice group by name'],
                    capture_output=True, text=True, timeout=harness.PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                overlaps, errors, slices, flows, sums = map(json.loads, done.stdout.splitlines())
                self.assertEqual(overlaps, [{'n': 0}])
                self.assertEqual(errors, [])
                self.assertEqual(slices, [{'n': events('trace.json', 'X'), 'depth': 0}])
                self.assertEqual(flows, [{'n': len(trace.flows)}])
                drawn = collections.Counter()
                for rows in trace.slices.values():
                    for start, end, label, _ in rows:
                        drawn[label] += end - start
                self.assertEqual({s['name'] for s in sums}, set(drawn))
                for s in sums:  # this importer computes in doubles: a nanosecond off per slice
                    self.assertAlmostEqual(s['dur'], drawn[s['name']], delta=s['n'])

    def test_a_report_of_viztracer_is_merged(self):
        report = DATA / 'viztracer.json'
        done = self.convert(self.unpack('default.data'), '--viztracer', report)
        self.assertIn('no moment in common', done.stderr)
        alone = self.check()
        self.assertEqual(events('trace.json', 'X'),
                         events(report, 'X') + sum(map(len, alone.slices.values())))
        done = harness.run('convert', self.unpack('noclock.data'), '--viztracer', report, '-o', 'x.json')
        self.assertEqual(done.returncode, 2)
        self.assertIn('CLOCK_MONOTONIC', done.stderr)
        self.assertFalse(os.path.exists('x.json'))


if __name__ == '__main__':
    harness.main()
