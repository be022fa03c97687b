#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings made by the perf tool: what report says of each, against what can be known otherwise.

Holds and takes are computed a second time here, by the simplest program that can, from the lines
of `gilprobe events`; those lines are compared with perf script by the events test.
"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import corpus
import harness

SAMPLES = corpus.samples()


def simple_holds(lines):
    """(pid, tid) -> [hold ns, takes], by pairing each acquire with the thread's next release."""
    since, holds = {}, collections.defaultdict(lambda: [0, 0])
    last = 0
    for line in lines:
        time, pid, tid, _, kind, *_ = line.split()
        who, last = (int(pid), int(tid)), int(time)
        if kind == 'acquire':
            if who in since:
                holds[who][0] += last - since[who]
            since[who] = last
            holds[who][1] += 1
        elif kind in ('release', 'exit') and who in since:
            holds[who][0] += last - since.pop(who)
    for who, start in since.items():
        holds[who][0] += last - start
    return holds


class Corpus(harness.Case):
    records = False

    def read(self, *names):
        files = [corpus.unpack(name, self.folder / name) for name in names]
        report = self.report(*files)
        self.assert_sums(report)
        return files, report

    def test_every_recording_gives_a_report(self):
        for name in corpus.names():
            if name == 'giltracer-sched.data':  # no GIL event: see test_errors
                continue
            with self.subTest(name):
                _, report = self.read(name)
                self.assertTrue(report['threads'])
                self.assertTrue(report['gils'])
                if name in SAMPLES:
                    self.assertEqual(report['quality']['events'], SAMPLES[name])
                if name != 'lost.data':
                    self.assertEqual(report['quality']['overlapping_holds'], 0)
                    self.assertEqual(report['quality']['lost'], 0)

    def test_holds_and_takes_agree_with_the_simple_program(self):
        for name in ('default.data', 'switch.data', 'per4m-gil.data', 'mp.data', 'pipe.data',
                     'zstd.data', 'dir.data', 'fp.data', 'bigendian.data', 'args.data',
                     'noclock.data'):
            with self.subTest(name):
                (path,), report = self.read(name)
                lines = harness.run('events', path).stdout.splitlines()
                holds = simple_holds(lines)
                self.assertEqual(len(report['threads']), len(holds))
                for thread in report['threads']:
                    hold, takes = holds[thread['pid'], thread['tid']]
                    self.assertEqual(thread['takes'], takes)
                    known = thread['has_gil_s'] + (thread['has_gil_off_cpu_s'] or 0)
                    self.assertAlmostEqual(known, hold / 1e9, delta=2e-3)

    def test_the_two_threads_of_the_workload_share_the_gil(self):
        for name in ('default.data', 'noclock.data', 'pipe.data', 'zstd.data', 'dir.data', 'fp.data',
                     'per4m-gil.data', 'switch.data', 'bigendian.data', 'args.data'):
            with self.subTest(name):
                _, report = self.read(name)
                workers = [t for t in report['threads'] if t['tid'] != t['pid']]
                self.assertEqual(len(workers), 2)
                for thread in workers:
                    hold = thread['has_gil_s'] + (thread['has_gil_off_cpu_s'] or 0)
                    self.assertGreater(hold / thread['life_s'], 0.1)
                    self.assertGreater(thread['waiting_s'] / thread['life_s'], 0.05)

    def test_without_scheduler_events_the_cpu_side_is_null(self):
        _, report = self.read('per4m-gil.data')
        for thread in report['threads']:
            for key in ('has_gil_off_cpu_s', 'native_s', 'runnable_s', 'blocked_s'):
                self.assertIsNone(thread[key])
            self.assertIsNotNone(thread['waiting_s'])

    def test_switch_records_tell_no_runnable_time(self):
        _, report = self.read('switch.data')
        for thread in report['threads']:
            self.assertIsNone(thread['runnable_s'])
            self.assertIsNotNone(thread['blocked_s'])

    def test_cut_and_killed_files_say_what_is_missing(self):
        _, report = self.read('cut.data')
        self.assertIn('cut short', ' '.join(report['quality']['notes']))
        _, report = self.read('killed.data')
        self.assertIn('killed', ' '.join(report['quality']['notes']))

    def test_lost_events_are_counted_once(self):
        _, report = self.read('lost.data')
        self.assertGreater(report['quality']['lost'], 0)
        lost = report['quality']['lost']
        lines = harness.run('events', self.folder / 'lost.data').stdout.splitlines()
        said = sum(int(line.rsplit('lost=', 1)[1]) for line in lines if ' lost ' in line)
        self.assertEqual(lost, said)

    def test_forked_children_have_gils_of_their_own(self):
        _, report = self.read('fork2-both.data')
        self.assertEqual(len(report['gils']), 3)
        self.assertEqual(len({g['pid'] for g in report['gils']}), 3)

    def test_two_inputs_are_merged(self):
        _, both = self.read('giltracer-gil.data', 'giltracer-sched.data')
        alone = self.report('giltracer-gil.data')
        self.assertEqual(sum(t['takes'] for t in both['threads']),
                         sum(t['takes'] for t in alone['threads']))
        self.assertEqual(both['quality']['events'],
                         SAMPLES['giltracer-gil.data'] + SAMPLES['giltracer-sched.data'])

    def test_a_pipe_reads_as_its_file(self):
        (path,), report = self.read('default.data')
        with open(path, 'rb') as stdin:
            done = subprocess.run([harness.GILPROBE, 'report', '--json', '-'], stdin=stdin,
                                  capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)['threads'], report['threads'])
        (path,), report = self.read('pipe.data')
        done = subprocess.run(f'cat pipe.data | {harness.GILPROBE} report --json -', shell=True,
                              capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)['threads'], report['threads'])

    def test_a_signal_ends_the_wait_for_a_silent_pipe(self):
        whole = corpus.unpack('pipe.data', self.folder / 'pipe.data').read_bytes()
        for words in (['report', '-'], ['convert', '-', '-o', 'out.json'], ['convert', '-', '-o', 'out.json.gz'],
                      ['events', '-', '-o', 'out']):
            for size, number in ((0, signal.SIGINT), (1000, signal.SIGTERM), (len(whole) // 2, signal.SIGINT)):
                process = subprocess.Popen([harness.GILPROBE, *words], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                with process:
                    process.stdin.write(whole[:size])
                    process.stdin.flush()
                    while not self.catches(process, number):
                        time.sleep(0.01)
                    while process.poll() is None:  # it may not be waiting yet
                        process.send_signal(number)
                        time.sleep(0.05)
                    self.assertEqual((process.returncode, process.stdout.read(), process.stderr.read()),
                                     (130, b'', b''), (words, size))
                self.assertEqual(os.listdir(), ['pipe.data'])

    def catches(self, process, number):
        self.assertIsNone(process.poll())
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        return int(re.search(r'SigCgt:\s*(\S+)', status)[1], 16) >> (number - 1) & 1

    def test_every_cut_of_a_file_ends_well(self):
        whole = corpus.unpack('single.data', self.folder / 'single.data').read_bytes()
        for size in list(range(0, 400, 7)) + list(range(400, len(whole), len(whole) // 60)):
            pathlib.Path('cut').write_bytes(whole[:size])
            done = harness.run('report', '--json', 'cut')
            self.assertIn(done.returncode, (0, 2), (size, done.stderr))
            if done.returncode:
                self.assertRegex(done.stderr, '^gilprobe: ')
                self.assertEqual(done.stdout, '')
            else:
                json.loads(done.stdout)


if __name__ == '__main__':
    harness.main()
