#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings killed at random moments: nothing stays behind, and what was written converts."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import harness

ROUNDS = int(os.environ.get('GILPROBE_KILLS', '12'))
TARGET = '''
import threading, time
def run():
    for i in range(15000):
        sum(range(200)); time.sleep(0)
for _ in range(3): threading.Thread(target=run).start()
'''


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


class Kill(harness.Case):
    def one(self, number, what, victim):
        mark = f'gilprobe-kill-{os.getpid()}-{number}'
        data = self.folder / f'{number}.data'
        process = subprocess.Popen(
            [harness.GILPROBE, 'record', '--no-summary', '-o', data, '--', harness.pythons()[0], '-c',
             TARGET + f'# {mark}'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(random.uniform(0, 0.6))
        pid = process.pid
        if victim == 'target':
            pid = next(iter(self.targets(process.pid, mark)), process.pid)
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass
        try:
            _, said = process.communicate(timeout=harness.PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail(f'{what!r} to the {victim}: the recorder did not end')
        for left in harness.processes_with(mark):  # a target outlives its killed recorder
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertTrue(wait_until(lambda: not harness.processes_with(mark), 60))
        self.assertNotIn('Assertion', said)
        self.check_file(data, what, victim)

    def targets(self, recorder, mark):
        return [p for p in harness.descendants(recorder) if p in harness.processes_with(mark)]

    def check_file(self, data, what, victim):
        if not data.exists():
            return
        done = harness.run('convert', data, '-o', self.folder / 't.json')
        context = (what, victim, done.stderr)
        if done.returncode == 0:
            json.loads((self.folder / 't.json').read_text())
        else:
            # killed before the first GIL event, or before the header was written
            self.assertEqual(done.returncode, 2, context)
            self.assertRegex(done.stderr, 'no GIL event|0 bytes|empty', context)
        data.unlink()

    def test_random_kills(self):
        random.seed(os.getpid())
        kinds = [(signal.SIGINT, 'recorder'), (signal.SIGTERM, 'recorder'),
                 (signal.SIGKILL, 'recorder'), (signal.SIGINT, 'target'),
                 (signal.SIGTERM, 'target'), (signal.SIGKILL, 'target')]
        for number in range(ROUNDS):
            with self.subTest(number):
                self.one(number, *kinds[number % len(kinds)])
        self.assertFalse(self.groups_left(60))
        names = [pathlib.Path(f'/proc/{p}/comm').read_text().strip()
                 for p in harness.processes_with(str(self.folder))]
        self.assertFalse(names)


if __name__ == '__main__':
    harness.main()
