#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gilprobe record as its users meet it: statuses, signals, process trees, and a file perf can read."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness

TWO_THREADS = '''
import threading, time
def spin():
    end = time.monotonic() + {seconds}
    while time.monotonic() < end: pass
threads = [threading.Thread(target=spin) for _ in (1, 2)]
for t in threads: t.start()
for t in threads: t.join()
'''


class Record(harness.Case):
    attempts = 3

    def python(self):
        return harness.pythons()[0]

    def start(self, *words, **options):
        return subprocess.Popen([harness.GILPROBE, *map(str, words)], stderr=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, **options)

    def test_the_status_is_the_targets(self):
        for code in (0, 1, 42, 255):
            self.record(self.python(), '-c', f'import sys; sys.exit({code})', status=code)
        self.record(self.python(), '-c', 'import os; os.kill(os.getpid(), 9)', status=137)
        self.record(self.python(), '-c', 'import os; os.abort()', status=134)

    def test_streams_are_the_targets(self):
        done = harness.run('record', '--', self.python(), '-c',
                           'import sys; print(sys.stdin.read()[::-1]); print("e", file=sys.stderr)',
                           input='abc')
        self.assertEqual(done.stdout, 'cba\n')
        self.assertIn('e\n', done.stderr)

    def test_options_of_the_target_are_left_to_it(self):
        done = harness.run('record', self.python(), '-c', 'import sys; print(sys.argv[1:])', '-o', '--', '-h')
        self.assertEqual(done.stdout, "['-o', '--', '-h']\n")
        self.assertTrue(os.path.exists('perf.data'))

    def test_an_older_recording_is_kept_once(self):
        for _ in range(3):
            self.record(self.python(), '-c', '1', output='perf.data')
        self.assertEqual(sorted(os.listdir()), ['perf.data', 'perf.data.old'])

    def test_a_target_that_is_missing_keeps_the_older_recording(self):
        self.record(self.python(), '-c', '1')
        before = pathlib.Path('x.data').read_bytes()
        harness.run('record', '-o', 'x.data', '--', './missing')
        self.assertEqual(pathlib.Path('x.data').read_bytes(), before)
        self.assertEqual(os.listdir(), ['x.data'])

    def test_the_end_says_what_was_recorded_and_what_to_do(self):
        done = self.record(self.python(), '-c', TWO_THREADS.format(seconds=0.5))
        self.assertRegex(done.stderr.splitlines()[0], r'^gilprobe: recording .*CPython 3\.\d+')
        self.assertRegex(done.stderr, r'\d+ events, 0 lost, [\d.]+ s, [\d.]+ MiB')
        following = re.search(r'next: (gilprobe report[^;]*); (gilprobe convert.*)', done.stderr)
        for command in following.groups():
            words = command.split()[1:]
            self.assertEqual(harness.run(*words).returncode, 0, command)
        self.assertEqual(done.stdout, '')
        quiet = self.record(self.python(), '-c', '1', options=['-q'])
        self.assertEqual(quiet.stderr, '')
        brief = self.record(self.python(), '-c', '1', options=['--no-summary'])
        self.assertNotIn('verdict', brief.stderr)
        self.assertRegex(brief.stderr, r'\d+ events, 0 lost')

    def test_two_threads_of_bytecode_share_the_gil(self):
        for python in harness.pythons():
            with self.subTest(python):
                self.record(python, '-c', TWO_THREADS.format(seconds=1))
                report = self.report('x.data')
                self.assert_sums(report)
                self.assertEqual(report['quality']['overlapping_holds'], 0)
                self.assertEqual(report['quality']['lost'], 0)
                workers = [t for t in report['threads'] if t['tid'] != t['pid']]
                self.assertEqual(len(workers), 2)
                for thread in workers:
                    hold = thread['has_gil_s'] + thread['has_gil_off_cpu_s']
                    self.assertTrue(0.3 < hold / thread['life_s'] < 0.7, thread)
                    self.assertTrue(0.3 < thread['waiting_s'] / thread['life_s'] < 0.7, thread)
                self.assertEqual(report['verdict']['class'], 'gil-bound')

    def test_perf_reads_the_file(self):
        if not shutil.which('perf'):
            self.assertNotEqual(os.environ.get('CI'), 'true', 'perf is missing')
            self.skipTest('no perf')
        self.record(self.python(), '-c', TWO_THREADS.format(seconds=0.3))
        script = subprocess.run(['perf', 'script', '-i', 'x.data', '--ns', '-F', 'tid,cpu,time,event'],
                                capture_output=True, text=True)
        self.assertEqual(script.returncode, 0, script.stderr)
        samples = [line for line in script.stdout.splitlines() if line.strip()]
        self.assertEqual(len(samples), self.report('x.data')['quality']['events'])
        header = subprocess.run(['perf', 'report', '--header-only', '-i', 'x.data'],
                                capture_output=True, text=True)
        self.assertEqual(header.returncode, 0, header.stderr)
        self.assertIn(os.uname().nodename, header.stdout)
        names = subprocess.run(['perf', 'evlist', '-i', 'x.data'], capture_output=True, text=True)
        self.assertEqual(names.returncode, 0, names.stderr)
        self.assertIn('sched:sched_switch', names.stdout)
        self.assertIn('acquire', names.stdout)

    def test_forks_execs_and_shells_are_followed(self):
        child = f'{self.python()} -c "import time; time.sleep(0.01)"'
        self.record('sh', '-c', f'{child}; {child}', options=['--python', self.python()])
        self.assertEqual(len({t['pid'] for t in self.report('x.data')['threads']}), 2)
        code = ('import os, sys, time\n'
                'if os.fork() == 0:\n    time.sleep(0.01); os._exit(0)\n'
                'os.wait()\nos.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(0.01)"])')
        self.record(self.python(), '-c', code)
        report = self.report('x.data')
        self.assertEqual(report['quality']['overlapping_holds'], 0)
        self.assertEqual(len(report['gils']), 3)  # parent before exec, child, parent after exec

    def test_scripts_venvs_and_links_lead_to_their_interpreter(self):
        script = pathlib.Path('app')
        script.write_text(f'#!{self.python()}\nimport time\ntime.sleep(0.01)\n')
        script.chmod(0o755)
        self.record('./app')
        self.assertTrue(self.report('x.data')['threads'])
        subprocess.run([self.python(), '-m', 'venv', '--without-pip', 'venv'], check=True)
        self.record('venv/bin/python', '-c', 'import time; time.sleep(0.01)')
        self.assertTrue(self.report('x.data')['threads'])
        folder = pathlib.Path('with blank')
        folder.mkdir()
        shutil.copy(os.path.realpath('/usr/bin/python3'), folder / 'my python')
        self.record(folder / 'my python', '-c', 'import time; time.sleep(0.01)')
        self.assertTrue(self.report('x.data')['threads'])

    def test_attach_sees_threads_old_and_new(self):
        code = ('import threading, time\ndef f():\n    while True: time.sleep(0.001)\n'
                'threading.Thread(target=f, daemon=True).start()\nprint("up", flush=True)\n'
                'while True:\n    t = threading.Thread(target=time.sleep, args=(0.01,)); t.start(); t.join()')
        target = subprocess.Popen([self.python(), '-c', code], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        target.stdout.readline()
        done = harness.run('record', '-o', 'x.data', '-p', target.pid, '--duration', '1s')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNone(target.poll())
        report = self.report('x.data')
        self.assertEqual({t['pid'] for t in report['threads']}, {target.pid})
        self.assertGreater(len(report['threads']), 5)
        self.assertEqual(report['quality']['overlapping_holds'], 0)

    def test_other_processes_are_not_recorded(self):
        other = subprocess.Popen([self.python(), '-c', 'import time\nwhile True: time.sleep(0.001)'])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.record(self.python(), '-c', TWO_THREADS.format(seconds=0.3))
        pids = {t['pid'] for t in self.report('x.data')['threads']}
        self.assertEqual(len(pids), 1)
        self.assertNotIn(other.pid, pids)
        kinds = {line.split()[4] for line in harness.run('events', 'x.data').stdout.splitlines()
                 if line.split()[1] == str(other.pid)}
        # its switches are there where a traced thread had the CPU before or after
        self.assertLessEqual(kinds, {'switch-in', 'switch-out'})

    def test_ctrl_c_reaches_the_target_and_keeps_the_recording(self):
        code = ('import time, sys\ntry:\n    print("up", flush=True)\n    while True: time.sleep(0.01)\n'
                'except KeyboardInterrupt:\n    sys.exit(7)')
        process = self.start('record', '-o', 'x.data', '--', self.python(), '-c', code)
        self.assertEqual(process.stdout.readline(), 'up\n')
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 7, said)
        self.assertTrue(self.report('x.data')['threads'])

    def killed(self, janitor):
        """A recorder and its target are killed; and the janitor, or not."""
        code = 'import time\nprint("up", flush=True)\nfor _ in range(300): time.sleep(0.01)'
        process = self.start('record', '-o', 'x.data', '--', self.python(), '-c', code)
        self.assertEqual(process.stdout.readline(), 'up\n')
        time.sleep(1)
        children = {pid: pathlib.Path(f'/proc/{pid}/comm').read_text().strip()
                    for pid in harness.descendants(process.pid)}
        self.assertIn('gilprobe-clean', children.values())
        if janitor:  # first: it acts when the recorder is gone
            for pid, name in children.items():
                if name == 'gilprobe-clean':
                    os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for pid, name in children.items():
            if name != 'gilprobe-clean':
                with contextlib.suppress(ProcessLookupError):  # on a slow machine it has ended
                    os.kill(pid, signal.SIGKILL)
        return f'gilprobe_{process.pid}'

    def test_a_killed_recorder_leaves_a_readable_file_and_no_probe(self):
        self.killed(janitor=False)
        self.assertFalse(self.groups_left(60))
        report = self.report('x.data')
        self.assertTrue(report['threads'])
        self.assertIn('killed', ' '.join(report['quality']['notes']))

    def test_the_next_recording_removes_what_a_killed_janitor_left(self):
        left = self.killed(janitor=True)
        self.assertIn(left, harness.probe_groups())
        self.record(self.python(), '-c', 'pass', output='y.data')
        self.assertNotIn(left, harness.probe_groups())

    def test_two_recordings_at_once(self):
        both = [self.start('record', '-o', f'{i}.data', '--', self.python(), '-c',
                           TWO_THREADS.format(seconds=0.5)) for i in (1, 2)]
        for process in both:
            _, said = process.communicate(timeout=harness.PATIENCE)
            self.assertEqual(process.returncode, 0, said)
        for i in (1, 2):
            report = self.report(f'{i}.data')
            self.assertEqual(len({t['pid'] for t in report['threads']}), 1)
            self.assertEqual(report['quality']['overlapping_holds'], 0)

    def test_the_gate(self):
        self.record(self.python(), '-c', TWO_THREADS.format(seconds=0.5))
        self.assertEqual(harness.run('report', '--fail-if-gil-bound', 'x.data').returncode, 1)
        self.record(self.python(), '-c', 'import time; time.sleep(0.5)')
        self.assertEqual(harness.run('report', '--fail-if-gil-bound', 'x.data').returncode, 0)

    def test_events_of_a_recording_come_in_order(self):
        self.record(self.python(), '-c', TWO_THREADS.format(seconds=0.3))
        times = [int(line.split()[0]) for line in harness.run('events', 'x.data').stdout.splitlines()]
        self.assertEqual(times, sorted(times))
        kinds = {line.split()[4] for line in harness.run('events', 'x.data').stdout.splitlines()}
        self.assertLessEqual({'want', 'acquire', 'release', 'switch-in', 'switch-out', 'wakeup',
                              'fork', 'exit', 'exec'}, kinds)
        self.assertEqual(json.loads(harness.run('report', '--json', 'x.data').stdout)['quality']['late'], 0)


if __name__ == '__main__':
    harness.main()
