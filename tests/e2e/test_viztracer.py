#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program run under VizTracer and recorded at the same time: both timelines in one, aligned."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
import check_trace
import harness

PROGRAM = '''
import threading, time
def spin():
    total = 0
    for i in range(60000): total += i * i % 7
def rest():
    time.sleep(0.01)
def work():
    for _ in range(8):
        spin()
        rest()
threads = [threading.Thread(target=work, name=f"worker-{i}") for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
'''


def common(slices, others):
    """How much time two sorted lists of (start, end) have in common."""
    total, at = 0, 0
    for start, end in slices:
        while at < len(others) and others[at][1] <= start:
            at += 1
        for left, right in others[at:]:
            if left >= end:
                break
            total += min(end, right) - max(start, left)
    return total


class VizTracer(harness.Case):
    attempts = 3

    def setUp(self):
        super().setUp()
        self.viztracer = shutil.which('viztracer')
        if not self.viztracer and os.environ.get('CI') == 'true':
            self.fail('viztracer is missing, and CI must not skip this')
        if not self.viztracer:
            self.skipTest('viztracer is missing')
        pathlib.Path('program.py').write_text(PROGRAM)
        self.record(self.viztracer, '--quiet', '-o', 'viz.json', 'program.py')

    def test_merged_by_convert(self):
        done = harness.run('convert', 'x.data', '--viztracer', 'viz.json', '-o', 'both.json')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('no moment in common', done.stderr)
        trace = check_trace.Trace('both.json')
        trace.check()
        self.check_alignment(json.loads(pathlib.Path('both.json').read_text()))
        names = {value for (_, tid, key), value in trace.meta.items()
                 if key == 'thread_name' and tid > check_trace.ROWS}
        self.assertTrue({'MainThread GIL', 'worker-0 GIL', 'worker-1 GIL'} <= names, names)

    def test_combined_by_viztracer(self):
        harness.run('convert', 'x.data', '-o', 'trace.json')
        done = subprocess.run([self.viztracer, '--combine', 'viz.json', 'trace.json', '-o', 'both.json'],
                              capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_alignment(json.loads(pathlib.Path('both.json').read_text()))

    def check_alignment(self, both):
        """Asleep in VizTracer's rows is without the GIL in ours, and at work is with it."""
        sleeps, holds, spins = {}, {}, {}
        for event in both['traceEvents']:
            if event['ph'] != 'X':
                continue
            tid, span = event['tid'], (event['ts'], event['ts'] + event['dur'])
            if tid < check_trace.ROWS and event['name'] == 'time.sleep':
                sleeps.setdefault(tid, []).append(span)
            elif tid < check_trace.ROWS and event['name'].startswith('spin '):
                spins.setdefault(tid, []).append(span)
            elif event['name'] in check_trace.HELD:
                holds.setdefault(tid - check_trace.ROWS, []).append(span)
        self.assertEqual(len(sleeps), 2)
        for tid, asleep in sleeps.items():
            held = sorted(holds[tid])
            total = sum(end - start for start, end in asleep)
            self.assertGreater(total, 8 * 10000)
            self.assertLess(common(sorted(asleep), held) / total, 0.05)
            # all that it held, its start and end aside, it held inside spin()
            self.assertGreater(common(sorted(spins[tid]), held), 0.5 * sum(e - s for s, e in held))


if __name__ == '__main__':
    harness.main()
