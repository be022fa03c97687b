#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gilprobe scale with a recording: the class of every target, by evidence, under any load.

SCALE_CLASSES_ALL=1 tries every interpreter and every load instead of one each: an hour's work.
"""
import json
import os
import signal
import subprocess
import time

import harness
import scale_cases

CASES = str(harness.HERE / 'scale_cases.py')
LOADS = ('alone', 'hogs', 'one cpu')


def free_threaded(python):
    return subprocess.run([python, '-c', 'import sys; sys.exit(getattr(sys, "_is_gil_enabled", '
                           'lambda: True)())']).returncode == 0


class Classes(harness.Case):
    attempts = 3

    def measure(self, name, python, before=()):
        words = ['scale', '--json', '--quiet', '--repeat', '2', '--workers', '2', '--python', python]
        words += (['--builtin', name] if name in scale_cases.BUILTINS else
                  ['--target', f'{CASES}:{name}'])
        done = subprocess.run([*before, harness.GILPROBE, *words], capture_output=True, text=True,
                              timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_all(self, python, before=()):
        wrong = []
        for name, right in {**scale_cases.BUILTINS, **scale_cases.CASES}.items():
            got = self.measure(name, python, before)
            if got['class'] not in right or got['evidence'] != 'recording':
                wrong.append((name, got['class'], got['reason'], got['evidence_note'],
                              got['quality']))
        self.assertEqual(wrong, [], python)

    def test_classes(self):
        everything = os.environ.get('SCALE_CLASSES_ALL') == '1'
        for python in harness.pythons() if everything else harness.pythons()[:1]:
            for load in LOADS if everything else LOADS[2:]:
                with self.subTest(python=python, load=load):
                    hogs = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
                            for _ in range(2 if load == 'hogs' else 0)]
                    try:
                        self.check_all(python, ['taskset', '-c', '0'] if load == 'one cpu' else [])
                    finally:
                        for hog in hogs:
                            hog.kill()
                            hog.wait()

    def test_the_recording_and_the_trace_are_kept(self):
        done = harness.run('scale', '--builtin', 'pure-python', '--repeat', '2', '--scale', '0.2',
                           '--workers', '2,3', '-o', 'x.data', '--trace', 'x.json', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        self.assertEqual((got['recording'], got['trace']), ('x.data', 'x.json'))
        self.assertEqual(got['quality']['lost'], 0)
        with open('x.json') as file:
            names = {event.get('name') for event in json.load(file)['traceEvents']}
        self.assertLessEqual({'serial 3', 'threads 2', 'threads 3', 'processes 2', 'processes 3'}, names)
        self.assertTrue(any('mark' in line for line in harness.run('events', 'x.data').stdout.splitlines()))
        threads = got['modes']['threads']
        lives = sum(threads['gil'][key] for key in (
            'held_s', 'has_gil_off_cpu_s', 'waiting_s', 'native_s', 'runnable_s', 'blocked_s',
            'unknown_s'))
        self.assertAlmostEqual(lives, threads['gil']['life_s'], delta=1e-3)
        self.assertIsNotNone(got['fit'])
        self.assertAlmostEqual(got['gil_share'], 1, delta=0.1)

    def test_files_that_cannot_be_written_are_said_before_anything_runs(self):
        for words in (['-o', 'no/such/x.data'], ['--trace', 'no/such/x.json']):
            done = harness.run('scale', '--target', 'mine.py:f', *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("'no/such", done.stderr)

    def test_under_sudo_the_target_is_the_user(self):
        target = self.for_all(harness.HERE / 'targets.py')
        for words in ([], ['--no-recording']):
            done = harness.run('scale', '--target', f'{target}:who', '--repeat', '1', '--python',
                               '/usr/bin/python3', *words,
                               env={**os.environ, 'SUDO_UID': '65534', 'SUDO_GID': '65534'})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('uid=65534', done.stderr)
            self.assertNotIn('uid=0', done.stderr)

    def test_no_recording_is_left_unless_it_was_asked_for(self):
        done = harness.run('scale', '--builtin', 'io', '--repeat', '1', '--scale', '0.1',
                           env={**os.environ, 'TMPDIR': str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertIn('quality: ', done.stdout)

    def test_the_gate_closes_on_evidence(self):
        for name, status in (('pure-python', 1), ('native-release', 0)):
            done = harness.run('scale', '--builtin', name, '--repeat', '2', '--workers', '2',
                               '--fail-if-gil-bound')
            self.assertEqual(done.returncode, status, done.stdout)

    def test_sub_interpreters_hold_their_own_gils_side_by_side(self):
        newer = [p for p in harness.pythons()
                 if harness.version_of(p) >= (3, 12) and not free_threaded(p)]
        if not newer:
            self.skipTest('no CPython 3.12 at hand')
        for python in newer:
            done = harness.run('scale', '--builtin', 'pure-python', '--repeat', '2', '--workers', '2',
                               '--interpreters', '--python', python, '--json')
            modes = json.loads(done.stdout)['modes']
            apart, together = modes['interpreters']['gil'], modes['threads']['gil']
            self.assertLess(apart['waiting_s'], 0.1 * apart['life_s'])
            self.assertGreater(together['waiting_s'], 0.1 * together['life_s'])

    def test_threads_of_a_free_threaded_interpreter_scale(self):
        free = list(filter(free_threaded, harness.pythons()))
        if not free:
            self.skipTest('no free-threaded CPython at hand')
        for python in free:
            for name, right in (('pure-python', 'releases-the-gil'), ('io', 'io-bound'),
                                ('lock_convoy', 'lock-contention-not-gil')):
                got = self.measure(name, python)
                self.assertEqual((got['class'], got['evidence']), (right, 'recording'), got['reason'])
                self.assertFalse(got['interpreter']['gil_enabled'])
                self.assertTrue(got['interpreter']['free_threaded_build'])
                self.assertEqual(got['modes']['threads']['gil']['waiting_s'], 0)

    def test_a_user_without_the_right_measures_by_the_clock(self):
        done = subprocess.run(
            [self.for_all(harness.GILPROBE), 'scale', '--builtin', 'io', '--repeat', '1', '--scale', '0.1', '--json',
             '--python', '/usr/bin/python3'], capture_output=True, text=True, user=65534, group=65534,
            extra_groups=[], env={**os.environ, 'TMPDIR': str(self.folder)})
        if done.returncode == 0:
            got = json.loads(done.stdout)
            self.assertEqual(got['evidence'], 'wall-clock')
            self.assertIn('65534', got['evidence_note'])
            self.assertIn('gilprobe: not recorded: ', done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_interrupted_recording_leaves_nothing(self):
        probe = subprocess.Popen([harness.GILPROBE, 'scale', '--target',
                                  str(harness.HERE / 'targets.py') + ':ignores_signals'],
                                 stderr=subprocess.PIPE,
                                 env={**os.environ, 'TMPDIR': str(self.folder)})
        while len(harness.descendants(probe.pid)) < 3:
            time.sleep(0.1)
        time.sleep(1)
        below = harness.descendants(probe.pid)
        probe.send_signal(signal.SIGINT)
        said = probe.communicate(timeout=harness.PATIENCE)[1].decode()
        self.assertEqual(probe.returncode, 130, said)
        self.assertIn('interrupted; killed', said)
        end = time.monotonic() + harness.PATIENCE  # the recorder's janitor is the last to go
        while any(os.path.exists(f'/proc/{p}') for p in below) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual([p for p in below if os.path.exists(f'/proc/{p}')], [])
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == '__main__':
    harness.main()
