#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way in which people make a recording with the perf tool, on a real interpreter.

Of each: perf script and gilprobe see the same samples and the same GIL events; no two threads hold
the GIL at once; what the recording cannot tell is null; and its timeline obeys its rules.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness
import perftool
from perftool import SCHED

sys.path.insert(0, str(harness.HERE.parent / 'lib'))
import check_trace

WORKLOAD = harness.HERE.parent / 'golden/corpus/workload.py'
THRASH = '''
import threading, time
def f():
    for _ in range({n}): time.sleep(0)
threads = [threading.Thread(target=f) for _ in (1, 2)]
[t.start() for t in threads]; [t.join() for t in threads]
'''
FOREVER = '''
import threading, time
def f():
    while True:
        sum(range(20000))
        time.sleep(0.001)
[threading.Thread(target=f, daemon=True).start() for _ in (1, 2)]
print("up", flush=True)
while True:
    t = threading.Thread(target=sum, args=(range(1000),)); t.start(); t.join(); time.sleep(0.01)
'''


class Recordings(harness.Case):
    attempts = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = perftool.interpreter_with_symbols()
        if cls.found:
            cls.python, *where = cls.found
            cls.probes = perftool.Probes(*where)
            cls.addClassCleanup(cls.probes.remove)
            cls.probes.add()

    def setUp(self):
        super().setUp()
        perftool.need(self, self.found, 'perf, or an interpreter with the symbols take_gil and drop_gil')
        self.gil = self.probes.names()

    def command(self, n=60000):
        return [self.python, '-I', '-S', WORKLOAD, n]

    def perf(self, *options, events=None, output='x.data', command=None, clock='CLOCK_MONOTONIC'):
        """perf record; its samples are those of @output unless that is standard output."""
        events = [*self.gil, *SCHED] if events is None else events
        words = ['record', '-q', '-o', output, *(['-k', clock] if clock else []), *options]
        for event in events:
            words += ['-e', event]
        done = perftool.perf(*words, '--', *(command or self.command()))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def same_samples(self, report, *files, piped=False):
        found = [s for file in files for s in perftool.samples(file, piped)]
        self.assertEqual(report['quality']['events'], len(found))
        ours = set()
        for line in harness.run('events', *files).stdout.splitlines():
            time, _, tid, _, kind, *_ = line.split()
            if kind in perftool.KINDS.values():
                ours.add((int(time), int(tid), kind))
        theirs = perftool.gil_events(found, self.probes.group)
        self.assertEqual(ours, theirs)
        self.assertGreater(len(ours), 100)

    def trace(self, *files):
        done = harness.run('convert', '-o', 'trace.json', *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = check_trace.Trace('trace.json')
        try:
            trace.check()
        except check_trace.Bad as bad:
            self.fail(bad)
        return trace

    def check(self, *files, cpu=True, runnable=False, lost=False, piped=False, threads=3):
        """What holds for every recording. Returns its report."""
        files = files or ('x.data',)
        report = self.report(*files)
        quality = report['quality']
        self.same_samples(report, *files, piped=piped)
        self.assert_sums(report)
        if not lost:
            self.assertEqual(quality['lost'], 0)
            self.assertEqual(quality['overlapping_holds'], 0, quality)
        for thread in report['threads']:
            self.assertIsNotNone(thread['has_gil_s'])
            self.assertIsNotNone(thread['waiting_s'])
            for key in ('native_s', 'blocked_s', 'has_gil_off_cpu_s'):
                self.assertEqual(thread[key] is not None, cpu, key)
            self.assertEqual(thread['runnable_s'] is not None, runnable)
        notes = ' '.join(quality['notes'])
        self.assertEqual('no scheduler events' in notes, not cpu)
        self.assertEqual('no system-wide wakeups' in notes, cpu and not runnable)
        trace = self.trace(*files)
        self.assertEqual(len(trace.own['threads']), len(report['threads']))
        if threads:
            self.assertEqual(len(report['threads']), threads)
            self.assertEqual(len(report['gils']), 1)
        return report

    def target(self):
        """A process that goes on until the test ends."""
        process = subprocess.Popen([self.python, '-I', '-S', '-c', FOREVER], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), 'up\n')
        return process


class Forms(Recordings):
    def test_a_file(self):
        report = self.check_default()
        self.assertEqual(report['recording']['clock'], 'CLOCK_MONOTONIC')
        self.assertIn(str(WORKLOAD), report['recording']['command'])
        self.assertIn(self.probes.path, [i['path'] for i in report['recording']['interpreters']])

    def check_default(self, *options, **expected):
        self.perf(*options)
        return self.check(**expected)

    def through_a_pipe(self, receiver):
        events = [word for e in (*self.gil, *SCHED) for word in ('-e', e)]
        sender = subprocess.Popen(
            list(map(str, ['perf', 'record', '-q', '-o', '-', '-k', 'CLOCK_MONOTONIC', *events, '--', *self.command()])),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            return receiver(sender.stdout)
        finally:
            sender.stdout.close()
            said = sender.stderr.read()
            sender.stderr.close()
            self.assertEqual(sender.wait(harness.PATIENCE), 0, said)

    def test_a_pipe_into_convert(self):
        def receiver(stream):
            return harness.run('convert', '-', '-o', 'trace.json', stdin=stream)

        done = self.through_a_pipe(receiver)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = check_trace.Trace('trace.json')
        trace.check()
        self.assertEqual(len(trace.thread_rows), 3)
        self.assertEqual(trace.own['quality']['overlapping_holds'], 0)

    def test_a_pipe_into_a_file(self):
        def receiver(stream):
            with open('x.data', 'wb') as f:
                shutil.copyfileobj(stream, f)

        self.through_a_pipe(receiver)
        report = self.check(piped=True)
        with open('x.data', 'rb') as stdin:
            again = harness.run('report', '--json', '-', stdin=stdin)
        self.assertEqual(json.loads(again.stdout)['threads'], report['threads'])

    def test_compressed(self):
        self.check_default('-z')
        header = perftool.perf('report', '--header-only', '-i', 'x.data').stdout
        self.assertIn('compressed', header)

    def test_a_folder(self):
        self.check_default('--threads')
        self.assertTrue(os.path.isdir('x.data'))

    def test_injected(self):
        self.perf()
        before = self.check()
        for options in (['-b'], ['--buildid-all'], ['--itrace=i'], ['-s']):
            done = perftool.perf('inject', *options, '-i', 'x.data', '-o', 'y.data')
            self.assertEqual(done.returncode, 0, done.stderr)
            after = self.check('y.data')
            if '-s' not in options:  # it merges switches with sched_stat events
                self.assertEqual(after['threads'], before['threads'])

    def test_two_recorders_of_one_process(self):
        target = self.target()
        recorders = [subprocess.Popen(
            ['perf', 'record', '-q', '-o', name, '-k', 'CLOCK_MONOTONIC', '-p', str(target.pid),
             *[word for e in events for word in ('-e', e)], '--', 'sleep', '2'])
            for name, events in (('gil.data', self.gil), ('sched.data', SCHED))]
        for recorder in recorders:
            self.assertEqual(recorder.wait(harness.PATIENCE), 0)
        both = self.check('gil.data', 'sched.data', threads=0)
        self.assertEqual(both['threads'], self.report('sched.data', 'gil.data')['threads'])
        alone = self.report('gil.data')
        self.assertEqual([t['takes'] for t in both['threads']], [t['takes'] for t in alone['threads']])

    def test_clocks_that_differ_are_refused(self):
        self.perf(output='a.data')
        self.perf(output='b.data', clock=None)
        for command in (['report'], ['convert', '-o', 'trace.json'], ['events']):
            done = harness.run(*command, 'a.data', 'b.data')
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn('different clocks', done.stderr)
            self.assertIn('hint: record both with the same clock', done.stderr)
        self.assertFalse(os.path.exists('trace.json'))


class Options(Recordings):
    def test_call_chains(self):
        self.perf('-g')
        self.check()

    def test_dwarf_call_chains(self):
        self.perf('--call-graph', 'dwarf,4096', '-m', '8M')
        self.check()

    def test_every_field_a_sample_can_have(self):
        self.perf('-g', '-d', '-P', '-W', '-T', '--phys-data', '--data-page-size', '--code-page-size',
                  '--user-regs=ip,sp', '--intr-regs=ip,sp', '--running-time', '--transaction', '--sample-cpu')
        self.check()

    def test_identifiers_first(self):
        self.perf('--sample-identifier', '--namespaces', '--all-cgroups', '--buildid-mmap', '--tail-synthesize')
        self.check()

    def test_switch_records_of_tasks(self):
        self.perf('--switch-events', events=self.gil)
        self.check()

    def test_switch_records_of_cpus(self):
        self.perf('--switch-events', '-a', '-m', '16M', events=self.gil)
        self.check(threads=0)

    def test_no_scheduler_events(self):
        self.perf(events=self.gil)
        self.check(cpu=False)

    def test_no_returns_of_drop_gil(self):
        self.perf(events=[*self.gil[:3], *SCHED])
        notes = self.check()['quality']['notes']
        self.assertIn('forced switches cannot be told', ' '.join(notes))

    def test_no_takes(self):
        self.perf(events=[*self.gil[2:], *SCHED])
        report = self.report('x.data')
        self.assert_sums(report)
        self.assertEqual(report['quality']['events'], len(perftool.samples('x.data')))
        self.assert_nothing_told(report, 'no takes')

    def test_orders_of_events(self):
        for events in ([*SCHED, *self.gil], [*self.gil[::-1], SCHED[1], SCHED[0]],
                       [self.gil[2], SCHED[0], self.gil[1], self.gil[3], SCHED[1], self.gil[0]],
                       [f'{{{",".join(self.gil)}}}', *SCHED], [f'{self.probes.group}:*', 'sched:*']):
            with self.subTest(events):
                self.perf(events=events)
                self.check()

    def test_a_clock_that_is_not_named(self):
        self.perf(clock=None)
        self.assertNotEqual(self.check()['recording']['clock'], 'CLOCK_MONOTONIC')
        report = harness.HERE.parent / 'golden/data/viztracer.json'
        done = harness.run('convert', 'x.data', '--viztracer', report, '-o', 'both.json')
        self.assertEqual(done.returncode, 2)
        self.assertIn('CLOCK_MONOTONIC', done.stderr)

    def test_another_clock(self):
        self.perf(clock='CLOCK_MONOTONIC_RAW')
        self.assertEqual(self.check()['recording']['clock'], 'CLOCK_MONOTONIC_RAW')

    def test_lost_events(self):
        self.perf('-m', '1', '--call-graph', 'dwarf,512', command=[self.python, '-I', '-S', '-c', THRASH.format(n=20000)])
        report = self.check(lost=True)
        self.assertGreater(report['quality']['lost'], 0)
        self.assertIn('events were lost', ' '.join(report['quality']['notes']))

    def test_sampled_at_a_frequency(self):
        self.perf('-F', '99', command=[self.python, '-I', '-S', '-c', THRASH.format(n=5000)])
        report = self.report('x.data')
        self.assert_sums(report)
        self.assertEqual(report['quality']['events'], len(perftool.samples('x.data')))
        self.assertIn('sampled at a frequency', ' '.join(report['quality']['notes']))
        self.assert_nothing_told(report, 'frequency')

    def assert_nothing_told(self, report, why):
        self.assertEqual(report['verdict']['class'], 'inconclusive')
        self.assertIn(why, report['verdict']['reason'])
        for thread in report['threads']:
            for key in ('has_gil_s', 'waiting_s', 'native_s', 'blocked_s', 'max_hold_s', 'max_wait_s'):
                self.assertIsNone(thread[key], key)
        done = harness.run('convert', '-o', 'trace.json', 'x.data')
        self.assertEqual(done.returncode, 2)
        self.assertIn('missing', done.stderr)
        self.assertIn('hint: record', done.stderr)
        self.assertFalse(os.path.exists('trace.json'))

    def test_only_the_main_thread(self):
        self.perf('--no-inherit')
        self.check(threads=1)

    def test_the_newest_only(self):
        self.perf('--overwrite', '-m', '16', command=[self.python, '-I', '-S', '-c', THRASH.format(n=5000)])
        report = self.report('x.data')
        self.same_samples(report, 'x.data')
        self.assert_sums(report)
        self.assertEqual(report['quality']['overlapping_holds'], 0)
        self.trace('x.data')


class Scopes(Recordings):
    def test_attached(self):
        target = self.target()
        self.perf('-p', target.pid, command=['sleep', '1'])
        report = self.check(threads=0)
        self.assertEqual({t['pid'] for t in report['threads']}, {target.pid})
        self.assertGreater(len(report['threads']), 3)

    def test_attached_per_thread(self):
        target = self.target()
        self.perf('--per-thread', '-p', target.pid, command=['sleep', '1'])
        self.check(threads=3)

    def test_system_wide_with_a_stranger(self):
        stranger = self.target()
        self.perf('-a', '-m', '16M')
        report = self.check(runnable=True, threads=0)
        pids = {t['pid'] for t in report['threads']}
        self.assertIn(stranger.pid, pids)
        self.assertEqual({g['pid'] for g in report['gils']}, pids)
        self.assertGreaterEqual(len(pids), 2)
        for pid in pids:
            done = harness.run('report', '--json', '--pid', pid, 'x.data')
            one = json.loads(done.stdout)
            self.assertEqual(one['threads'], [t for t in report['threads'] if t['pid'] == pid])
            self.assertEqual({g['pid'] for g in one['gils']}, {pid})
            harness.run('convert', '--pid', pid, '-o', 'one.json', 'x.data')
            trace = check_trace.Trace('one.json')
            trace.check()
            self.assertEqual({t['pid'] for t in trace.own['threads']}, {pid})
        done = harness.run('report', '--pid', 1, 'x.data')
        self.assertEqual(done.returncode, 2)
        self.assertIn('no GIL event', done.stderr)


class Inlined(Recordings):
    """drop_gil was inlined into its callers: its symbol sees only the releases of one of them."""

    def find(self):
        """An interpreter with more than one place that releases, and (file, take_gil, drop_gil)."""
        for python in harness.pythons():
            checked = json.loads(harness.run('check', '--json', '--', python).stdout)
            for found in checked['interpreters'][:1]:
                where = perftool.gil_functions(found)
                if where:
                    return python, found['path'], *where
        return None

    def setUp(self):
        harness.Case.setUp(self)
        found = self.find()
        perftool.need(self, shutil.which('perf') and found, 'an interpreter whose drop_gil is inlined')
        self.python, path, take, drop = found
        self.probes = perftool.Probes(path, [take], [drop], suffix='_inlined')
        self.addCleanup(self.probes.remove)
        self.probes.add()
        self.gil = self.probes.names()

    def test_no_hold_is_shown(self):
        self.perf()
        report = self.report('x.data')
        self.assert_sums(report)
        self.same_samples(report, 'x.data')
        self.assertEqual(report['verdict']['class'], 'inconclusive')
        self.assertRegex(report['verdict']['reason'], r'releases .* missing.*\d+ of \d+ .*gilprobe record')
        for gil in report['gils']:
            for key in ('held_s', 'held_on_cpu_s', 'max_hold_s', 'handoffs', 'serial_fraction'):
                self.assertIsNone(gil[key], key)
        for thread in report['threads']:
            for key in ('has_gil_s', 'has_gil_off_cpu_s', 'native_s', 'max_hold_s'):
                self.assertIsNone(thread[key], key)
            self.assertIsNotNone(thread['waiting_s'])
        self.assertEqual((report['holds'], report['blame']), ([], []))
        table = harness.run('report', 'x.data')
        self.assertEqual(table.returncode, 0)
        self.assertIn('gilprobe record -- ', table.stdout)
        self.assertNotRegex(table.stdout, r'held [\d.]+ %')

    def test_only_waits_are_drawn(self):
        self.perf()
        done = harness.run('convert', '-o', 'trace.json', 'x.data')
        self.assertEqual(done.returncode, 0)
        self.assertIn('releases of the GIL are missing', done.stderr)
        self.assertIn('gilprobe record', done.stderr)
        trace = self.trace('x.data')
        self.assertTrue(trace.own['quality']['release_missing'])
        names = {name for rows in trace.slices.values() for _, _, name, _ in rows}
        self.assertEqual(names, {'waiting for GIL'})
        self.assertFalse(trace.flows)
        for words in (['-o', '-', 'x.data'], ['-o', 'pipe.json', '-']):
            with open('x.data', 'rb') as stdin:
                done = harness.run('convert', *words, stdin=stdin)
            self.assertEqual((done.returncode, done.stdout[:20] if words[0] != '-o' else ''), (2, ''))
            self.assertIn('releases of the GIL are missing', done.stderr)
        self.assertFalse(os.path.exists('pipe.json'))


class Own(Recordings):
    """What gilprobe record writes, read by perf."""

    def setUp(self):
        harness.Case.setUp(self)
        perftool.need(self, shutil.which('perf'), 'perf')

    def test_perf_lists_the_same_samples(self):
        for python in harness.pythons():
            for code in (['-c', THRASH.format(n=2000)], [WORKLOAD, 60000]):
                self.record(python, '-I', '-S', *map(str, code))
                found = perftool.samples('x.data')
                self.assertEqual(self.report('x.data')['quality']['events'], len(found))
                ours, theirs = set(), set()
                for line in harness.run('events', 'x.data').stdout.splitlines():
                    time, _, tid, _, kind, *_ = line.split()
                    if kind in ('acquire', 'release', 'want', 'yield'):
                        ours.add((int(time), int(tid), kind))
                    elif kind == 'wakeup' or kind.startswith('switch'):
                        ours.add((int(time), kind[:2]))
                for time, tid, event in found:
                    system, _, name = event.partition(':')
                    if system.startswith('gilprobe_'):
                        site = name.rstrip('0123456789_').rstrip('m')
                        theirs.add((time, tid, perftool.OWN_KINDS[site]))
                    else:
                        theirs.add((time, name.removeprefix('sched_')[:2]))
                self.assertEqual(ours - theirs, set())
                self.assertEqual(theirs - ours, set())


if __name__ == '__main__':
    harness.main()
