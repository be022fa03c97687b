#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The first allocation fails, the second, …: each command says so and leaves nothing, or does its work."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import corpus
import harness

SHIM = os.environ['FAILING_MALLOC']
VIZTRACER = str(pathlib.Path(__file__).resolve().parent / 'data' / 'viztracer.json')


class OutOfMemory(harness.Case):
    records = False

    def run_with(self, words, at, on):
        env = {**os.environ, 'LD_PRELOAD': SHIM, 'FAILING_MALLOC_AT': str(at),
               'FAILING_MALLOC_COUNT': str(self.folder / 'count')}
        if on:
            env['FAILING_MALLOC_ON'] = '1'
        done = subprocess.run([harness.GILPROBE, *words], capture_output=True, env=env, cwd=self.folder / 'in',
                              timeout=harness.PATIENCE)
        return done, int((self.folder / 'count').read_text())

    def outputs(self):
        """What lies in the folder beside the input, taken away."""
        found = {}
        for path in (self.folder / 'in').iterdir():
            if path.name != self.inputs:
                found[path.name] = path.read_bytes()
                path.unlink()
        return found

    def every_allocation(self, name, *words):
        self.inputs = name
        (self.folder / 'in').mkdir()
        corpus.unpack(name, self.folder / 'in' / name)
        words = [*words, name]
        done, total = self.run_with(words, 0, False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(total, 50)
        right = done.stdout, self.outputs()
        failed = 0
        for on in (False, True):
            for at in range(1, total + 1):
                where = f'{words}: allocation {at} of {total} {"and all after it" if on else ""}'
                done, _ = self.run_with(words, at, on)
                left = self.outputs()
                if done.returncode == 0:
                    self.assertTrue((done.stdout, left) == right, f'{where}: wrong output')
                    continue
                failed += 1
                self.assertEqual(done.returncode, 2, f'{where}: {done.stderr}')
                self.assertIn(b'gilprobe: ', done.stderr, where)
                self.assertIn(b'out of memory', done.stderr.lower(), where)
                self.assertEqual(left, {}, where)
        self.assertGreater(failed, total)
        shutil.rmtree(self.folder / 'in')

    def test_report(self):
        self.every_allocation('own.data', 'report')
        self.every_allocation('killed.data', 'report', '--json')

    def test_convert(self):
        self.every_allocation('own.data', 'convert', '-o', 'trace.json')
        self.every_allocation('own.data', 'convert', '-o', 'trace.json', '--viztracer', VIZTRACER)
        self.every_allocation('pipe.data', 'convert', '-o', 'trace.json.gz')
        self.every_allocation('dir.data', 'convert', '-o', 'trace.json.gz')

    def test_events(self):
        self.every_allocation('switch.data', 'events', '-o', 'events.txt')
        self.every_allocation('zstd.data', 'events')


if __name__ == '__main__':
    harness.main()
