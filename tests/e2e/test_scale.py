#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gilprobe scale: options, exit status, JSON, and targets that do harm. Without a recording."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import harness

TARGETS = str(harness.HERE / 'targets.py')
QUICK = ('--no-recording', '--repeat', '1', '--workers', '2', '--scale', '0.01')
MODE_KEYS = {'mode', 'wall_s', 'median_wall_s', 'cpu_s', 'cpu_per_wall', 'worker_cpu_s',
             'task_wall_s', 'runs'}


class Scale(harness.Case):
    attempts = 3

    records = False

    def setUp(self):
        super().setUp()
        os.environ['GILPROBE_TEST'] = self.folder.name  # everything that a test starts has it

    def running(self):
        """Pids of what the running test has started and what is still there."""
        found = []
        for entry in pathlib.Path('/proc').iterdir():
            try:
                if entry.name.isdigit() and self.folder.name.encode() in (
                        entry / 'environ').read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def scale(self, *words, status=0, quick=QUICK, **how):
        done = harness.run('scale', *quick, *words, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def target(self, name, *words, **how):
        return self.scale('--target', f'{TARGETS}:{name}', *words, **how)

    def json(self, *words, **how):
        return json.loads(self.scale('--json', *words, **how).stdout)

    def error(self, done):
        """The one line that says what is wrong."""
        lines = [line for line in done.stderr.splitlines() if line.startswith('gilprobe: ')]
        self.assertEqual(done.stdout, '')
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def tearDown(self):
        super().tearDown()
        self.assertEqual(self.running(), [], 'processes were left')


class Usage(Scale):
    def test_what_is_refused(self):
        for words, text in (
                ([], 'what to run'),
                (['--target', 'a:b', '--builtin', 'io'], 'exclude each other'),
                (['--builtin', 'pure-pyhton'], "nearest is 'pure-python'"),
                (['--target', 'nocolon'], '--target must look like'),
                (['--target', ':f'], '--target must look like'),
                (['--builtin', 'io', '--arg', '1'], '--arg only applies to --target'),
                (['--builtin', 'io', '--workers', '0'], '--workers must be between 1 and 256'),
                (['--builtin', 'io', '--workers', '257'], '--workers must be between 1 and 256'),
                (['--builtin', 'io', '--workers', '1,x'], '--workers must be between 1 and 256'),
                (['--builtin', 'io', '--workers', ''], '--workers must be between 1 and 256'),
                (['--builtin', 'io', '--repeat', '0'], '--repeat must be between 1 and 50'),
                (['--builtin', 'io', '--repeat', '51'], '--repeat must be between 1 and 50'),
                (['--builtin', 'io', '--timeout', '0'], '--timeout must be > 0'),
                (['--builtin', 'io', '--timeout', '-1'], 'timeout'),
                (['--builtin', 'io', '--scale', '0'], 'scale'),
                (['--builtin', 'io', '--scale', '-1'], 'scale'),
                (['--builtin', 'io', 'more'], "unexpected argument 'more'"),
                (['--builtin', 'io', '--trace', 'x.txt'], 'the name must end in .json'),
                (['--builtin', 'io', '--no-recording', '-o', 'x.data'], '--no-recording leaves')):
            done = harness.run('scale', *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr, words)
            self.assertIn("try 'gilprobe scale -h'", done.stderr)

    def test_help_warns_that_code_is_executed(self):
        self.assertIn('EXECUTES CODE', harness.run('scale', '--help').stdout)
        self.assertLessEqual(len(harness.run('scale', '-h').stdout.splitlines()), 25)

    def test_without_any_python_the_built_in_library_runs(self):
        done = subprocess.run([harness.GILPROBE, 'scale', *QUICK, '--builtin', 'io', '--json'],
                              capture_output=True, text=True, env={'PATH': '/nowhere'})
        if done.returncode == 2:
            self.assertIn("cannot run the interpreter 'python3'", done.stderr)
            return
        got = json.loads(done.stdout)
        self.assertNotIn('error', got['modes']['processes'])
        self.assertTrue(got['interpreter']['python'].startswith('3.'))

    def test_an_interpreter_that_cannot_be_run(self):
        done = self.scale('--builtin', 'io', '--python', 'no-such-python', status=2)
        self.assertIn("cannot run the interpreter 'no-such-python'", done.stderr)
        done = self.scale('--builtin', 'io', '--python', '/bin/true', status=2)
        self.assertIn('ended before the first run: exit status 0', self.error(done))


class Results(Scale):
    def test_keys_are_a_superset_of_the_reference(self):
        got = self.json('--builtin', 'pure-python', '--interpreters')
        self.assertEqual(got['schema'], 'gilprobe.scale/1')
        self.assertLessEqual({'interpreter', 'modes', 'classification', 'confidence', 'advice'}, set(got))
        self.assertLessEqual({'python', 'implementation', 'free_threaded_build', 'gil_enabled',
                              'switch_interval_s', 'cpu_count', 'usable_cpus', 'cpu_availability'},
                             set(got['interpreter']))
        self.assertEqual(list(got['modes']), ['serial', 'threads', 'processes', 'interpreters'])
        for name, mode in got['modes'].items():
            self.assertEqual(mode['mode'], name)
            if 'error' in mode:
                self.assertEqual(name, 'interpreters')
                self.assertIn('3.12', mode['error'])
                continue
            self.assertLessEqual(MODE_KEYS, set(mode))
            self.assertEqual('speedup' in mode, name != 'serial')
            self.assertEqual(len(mode['worker_cpu_s']), 2)
            self.assertEqual(len(mode['task_wall_s']), 2)
            self.assertEqual(mode['runs'], 1)
            self.assertIsNone(mode['gil'])
        self.assertEqual((got['evidence'], got['recording'], got['trace'], got['fit']),
                         ('wall-clock', None, None, None))
        self.assertEqual(got['evidence_note'], '--no-recording')

    def test_every_builtin_runs_in_every_interpreter(self):
        for python in harness.pythons():
            version = subprocess.run([python, '-c', 'import sys; print(sys.version.split()[0])'],
                                     capture_output=True, text=True).stdout.strip()
            for name in ('pure-python', 'native-release', 'native-hold', 'io', 'mixed'):
                got = self.json('--builtin', name, '--python', python, '--interpreters')
                self.assertEqual(got['interpreter']['python'], version)
                for mode in ('serial', 'threads', 'processes'):
                    self.assertNotIn('error', got['modes'][mode])
                if harness.version_of(python) >= (3, 12):
                    self.assertNotIn('error', got['modes']['interpreters'])

    def test_workers_give_a_curve(self):
        got = self.json('--builtin', 'pure-python', '--workers', '3,1,2,3', '--repeat', '2')
        self.assertEqual([(p['mode'], p['workers']) for p in got['curve']],
                         [(m, n) for m in ('threads', 'processes') for n in (1, 2, 3)])
        self.assertEqual(got['modes']['threads']['workers'], 3)
        self.assertEqual(got['modes']['threads']['runs'], 2)
        self.assertEqual(len(got['modes']['threads']['runs_wall_s']), 2)
        self.assertIn(got['fit']['best_workers'], (1, 2, 3))
        self.assertLessEqual(got['fit']['amdahl_serial_fraction'], 1)

    def test_one_worker_is_inconclusive(self):
        got = self.json('--builtin', 'io', '--workers', '1')
        self.assertEqual((got['class'], got['classification']),
                         ('inconclusive', 'inconclusive: need --workers >= 2'))

    def test_most_workers(self):
        got = self.json('--builtin', 'io', '--workers', '256')
        self.assertEqual(len(got['modes']['threads']['task_wall_s']), 256)
        self.assertEqual(len(got['modes']['processes']['task_wall_s']), 256)

    def test_the_table_names_what_json_names(self):
        done = self.scale('--builtin', 'io')
        for word in ('io, 1 run of each mode', 'usable CPUs', 'CPU availability', 'serial', 'threads',
                     'processes', 'median s', 'cpu/wall', 'speedup', 'verdict: ', 'Classification: ',
                     'confidence: ', 'Next step: ', 'by wall-clock time only'):
            self.assertIn(word, done.stdout)

    def test_the_gate(self):
        self.scale('--builtin', 'io', '--scale', '0.5', '--fail-if-gil-bound')
        done = harness.run('scale', '--no-recording', '--builtin', 'pure-python', '--json',
                           '--fail-if-gil-bound')
        bound = json.loads(done.stdout)['class'].startswith('gil-bound')
        self.assertEqual(done.returncode, 1 if bound else 0)

    def test_beside_the_reference(self):
        reference = os.environ.get('GILPROBE_REFERENCE')
        if not reference:
            self.skipTest('GILPROBE_REFERENCE names no script')
        for name in ('pure-python', 'native-release', 'native-hold', 'io', 'mixed'):
            words = ['--builtin', name, '--workers', '2', '--repeat', '1', '--scale', '0.2', '--json']
            theirs = json.loads(subprocess.run([harness.pythons()[0], reference, *words],
                                               capture_output=True, check=True).stdout)
            ours = self.json(*words[:-1], '--python', harness.pythons()[0])
            self.assertLessEqual(set(theirs), set(ours))
            self.assertLessEqual(set(theirs['interpreter']), set(ours['interpreter']))
            for key in ('python', 'implementation', 'free_threaded_build', 'gil_enabled',
                        'switch_interval_s', 'cpu_count', 'usable_cpus'):
                self.assertEqual(theirs['interpreter'][key], ours['interpreter'][key])
            for mode, numbers in theirs['modes'].items():
                self.assertLessEqual(set(numbers), set(ours['modes'][mode]))


class Surroundings(Scale):
    def show(self, target, *words, **how):
        done = self.scale('--target', target, *words, **how)
        return [line for line in done.stderr.splitlines() if line.startswith('args=')][-1]

    def test_arguments_are_literals_or_text(self):
        self.assertIn("args=(3, 'text', [1, {'a': None}], '[1,', b'x')", self.show(
            TARGETS + ':show', '--arg', '3', '--arg', 'text', '-a', "[1, {'a': None}]", '-a', '[1,',
            '-a', "b'x'"))

    def test_a_file_is_main_and_its_folder_is_on_the_path(self):
        shutil.copy(TARGETS, 'mine.py')
        said = self.show('mine.py:show')
        self.assertIn(f"argv=['mine.py'] path0={self.folder} ", said)
        self.assertIn(f'cwd={self.folder}', said)
        self.assertIn('main=__mp_main__', said)

    def test_a_module_is_found_from_the_working_directory(self):
        pathlib.Path('pkg').mkdir()
        shutil.copy(TARGETS, 'pkg/deep.py')
        pathlib.Path('pkg/__init__.py').touch()
        self.assertIn(f'path0={self.folder} ', self.show('pkg.deep:show'))
        self.scale('--target', 'pkg.deep:Outer.Inner.method', '--arg', '0.001')
        self.assertEqual(list(pathlib.Path('pkg').glob('__pycache__')), [])

    def test_a_virtual_environment_is_active(self):
        subprocess.run([harness.pythons()[0], '-m', 'venv', '--without-pip', 'env'], check=True)
        prefix = f'prefix={self.folder}/env '
        self.assertIn(prefix, self.show(TARGETS + ':show', '--python', 'env/bin/python'))
        env = {**os.environ, 'VIRTUAL_ENV': str(self.folder / 'env')}
        self.assertIn(prefix, self.show(TARGETS + ':show', env=env))

    def test_what_the_target_prints_is_no_result(self):
        done = self.target('prints_a_line', '--json')
        self.assertIn('a line', done.stderr)
        json.loads(done.stdout)


class Trouble(Scale):
    def test_targets_that_cannot_be_loaded(self):
        pathlib.Path('broken.py').write_text('import no_such_module_at_all\n')
        for spec, text in (
                ('missing.py:f', 'FileNotFoundError: target file not found: missing.py'),
                ('no_such_module_at_all:f', 'ModuleNotFoundError: '),
                ('broken.py:f', "No module named 'no_such_module_at_all' (broken.py:1)"),
                (TARGETS + ':nosuch', 'AttributeError: '),
                (TARGETS + ':Outer.nosuch', 'AttributeError: '),
                (TARGETS + ':NUMBER', 'is not callable'),
                (TARGETS + ':coroutine', 'only makes a generator or coroutine')):
            said = self.error(self.scale('--target', spec, status=2))
            self.assertIn(f'cannot load target {spec}: ', said)
            self.assertIn(text, said)

    def test_exceptions(self):
        self.assertIn('workload raised during the serial run: ValueError: no luck (targets.py:',
                      self.error(self.target('raises', status=2)))
        self.assertIn('workload raised during the serial run: SystemExit: 3',
                      self.error(self.target('sys_exits', status=2)))
        self.assertIn('workload raised during the threads run: ValueError: only in threads',
                      self.error(self.target('raises_in_threads', status=2)))

    def test_a_target_that_raises_in_worker_processes_only(self):
        got = json.loads(self.target('raises_in_processes', '--json').stdout)
        self.assertIn('only in processes', got['modes']['processes']['error'])
        self.assertIn('wall_s', got['modes']['threads'])

    def test_ends_of_the_interpreter(self):
        self.assertIn('ended its interpreter during the serial run: exit status 3',
                      self.error(self.target('exits', status=2)))
        self.assertIn('during the serial run: ended by signal 9 (Killed)',
                      self.error(self.target('dies', status=2)))
        got = json.loads(self.target('exits_in_processes', '--json').stdout)
        self.assertRegex(got['modes']['processes']['error'],
                         '^worker process [12] of 2 exited with status 3$')

    def test_a_target_that_kills_its_supervisor(self):
        self.assertIn('the supervisor of the target is gone',
                      self.error(self.target('kills_its_parent', status=2)))

    def test_forks_stay_children(self):
        got = json.loads(self.target('forks', '--json').stdout)
        self.assertNotIn('error', got['modes']['processes'])

    def test_what_is_left_behind_is_killed(self):
        self.target('leaves_daemon')
        self.target('leaves_thread')

    def test_hangs_end_at_the_timeout(self):
        for name in ('hangs', 'ignores_signals'):
            said = self.error(self.target(name, '--timeout', '1.5', status=2))
            self.assertIn('timed out after 1.5s in the serial run; killed', said)

    def test_signals_kill_everything(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            probe = subprocess.Popen([harness.GILPROBE, 'scale', *QUICK, '--target',
                                      TARGETS + ':ignores_signals'], stderr=subprocess.PIPE)
            while len(self.running()) < 3:
                time.sleep(0.05)
            probe.send_signal(number)
            said = probe.communicate(timeout=harness.PATIENCE)[1].decode()
            self.assertEqual(probe.returncode, 130, said)
            self.assertIn('interrupted; killed the target and all its workers', said)
            self.assertEqual(self.running(), [])

    def test_nothing_outlives_a_killed_probe(self):
        probe = subprocess.Popen([harness.GILPROBE, 'scale', *QUICK, '--target',
                                  TARGETS + ':ignores_signals'])
        while len(self.running()) < 3:
            time.sleep(0.05)
        probe.kill()
        probe.wait()
        end = time.monotonic() + harness.PATIENCE
        while self.running() and time.monotonic() < end:
            time.sleep(0.05)

    def test_memory_ends(self):
        self.assertIn('workload raised during the serial run: MemoryError',
                      self.error(self.target('eats_memory', status=2)))

    def test_streams(self):
        for name in ('closes_stdout', 'ok'):
            got = json.loads(self.target(name, '--json').stdout)
            self.assertNotIn('error', got['modes']['processes'])
        self.assertIn('it closed descriptors that were not its own',
                      self.error(self.target('closes_everything', status=2)))

    def test_a_hundred_megabytes(self):
        with open(os.devnull, 'w') as nowhere:
            done = subprocess.run([harness.GILPROBE, 'scale', *QUICK, '--json', '--target',
                                   TARGETS + ':prints', '--arg', '25'], stdout=subprocess.PIPE,
                                  stderr=nowhere, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0)
        json.loads(done.stdout)

    def test_an_extension_that_refuses_sub_interpreters(self):
        if harness.version_of(harness.pythons()[0]) < (3, 12):
            newer = [p for p in harness.pythons() if harness.version_of(p) >= (3, 12)]
            if not newer:
                self.skipTest('no CPython 3.12 at hand')
        else:
            newer = harness.pythons()[:1]
        got = json.loads(self.target('refuses_interpreters', '--json', '--interpreters', '--python',
                                     newer[0]).stdout)
        self.assertIn('does not support loading in subinterpreters',
                      got['modes']['interpreters']['error'])
        self.assertIn('wall_s', got['modes']['processes'])


if __name__ == '__main__':
    harness.main()
