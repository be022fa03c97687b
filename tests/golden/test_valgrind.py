#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program itself under valgrind: no bad access, no uninitialised value, no leak.

A recording of each form, small ones; all of them when GILPROBE_VALGRIND is all.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
import corpus
import harness

FORMS = ('bigendian.data', 'cut.data', 'dir.data', 'killed.data', 'own.data', 'pipe.data', 'zstd.data')
VALGRIND = ['valgrind', '-q', '--error-exitcode=99', '--leak-check=full', '--show-leak-kinds=all',
            '--errors-for-leak-kinds=all', '--track-fds=yes']


class Valgrind(harness.Case):
    records = False

    def setUp(self):
        super().setUp()
        if not shutil.which('valgrind'):
            self.assertNotEqual(os.environ.get('CI'), 'true', 'valgrind is missing')
            self.skipTest('no valgrind')

    def silent(self, *words, status=0):
        done = subprocess.run([*VALGRIND, harness.GILPROBE, *map(str, words)], capture_output=True, text=True,
                              errors='replace', timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, status, (words, done.stderr[:4000]))
        self.assertFalse([line for line in done.stderr.splitlines() if line.startswith('==')],
                         (words, done.stderr[:4000]))

    def files(self):
        names = corpus.names() if os.environ.get('GILPROBE_VALGRIND') == 'all' else FORMS
        for name in names:
            yield corpus.unpack(name, self.folder / name)

    def test_report_and_convert(self):
        for file in self.files():
            bare = file.name == 'giltracer-sched.data'  # no GIL event in it
            waits = file.name == 'single.data'          # takes only: nothing can be drawn
            self.silent('report', '--json', file, status=2 if bare else 0)
            self.silent('convert', '-o', 'trace.json.gz', file, status=2 if bare or waits else 0)

    def test_two_inputs_and_a_report_of_viztracer(self):
        files = [corpus.unpack(f'giltracer-{part}.data', self.folder / part) for part in ('gil', 'sched')]
        self.silent('report', *files)
        report = pathlib.Path(__file__).resolve().parent / 'data' / 'viztracer.json'
        own = corpus.unpack('own.data', self.folder / 'own.data')
        self.silent('convert', '--viztracer', report, '-o', 'trace.json', own)


if __name__ == '__main__':
    harness.main()
