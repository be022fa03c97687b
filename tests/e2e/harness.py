# SPDX-License-Identifier: GPL-2.0-or-later
"""What the end-to-end tests share: the program under test, interpreters, and what must not be left.

Environment: GILPROBE (the program), GILPROBE_PYTHONS (interpreters, separated by colons; else
PATH's python3 and the system's), CI=true (a test that cannot run has failed).
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
GILPROBE = os.environ.get('GILPROBE') or str(TOP / 'build/src/cli/gilprobe')
TRACEFS = pathlib.Path('/sys/kernel/tracing')
PATIENCE = 300  # seconds until a command counts as hung, on a busy machine


def pythons():
    """Different interpreters at hand, PATH's python3 first: real paths, each file once."""
    names = os.environ.get('GILPROBE_PYTHONS')
    names = names.split(':') if names else ['python3', '/usr/bin/python3']
    found = {}
    for name in names:
        path = shutil.which(name)
        if not path:
            continue
        where = subprocess.run([path, '-c', 'import sys; print(sys.executable)'],
                               capture_output=True, text=True)
        if where.returncode == 0:
            real = os.path.realpath(where.stdout.strip())
            found.setdefault(real, where.stdout.strip())
    return list(found.values())


def version_of(python):
    text = subprocess.run([python, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
                          capture_output=True, text=True, check=True).stdout
    return tuple(map(int, text.split('.')))


def can_record():
    return os.geteuid() == 0 and os.access(TRACEFS / 'uprobe_events', os.W_OK)


def run(*words, **options):
    """gilprobe WORDS...: returns the finished process with text streams."""
    options.setdefault('timeout', PATIENCE)
    return subprocess.run([GILPROBE, *map(str, words)], capture_output=True, text=True,
                          errors='replace', **options)


def probe_groups():
    try:
        text = (TRACEFS / 'uprobe_events').read_text()
    except OSError:
        return set()
    return set(re.findall(r'gilprobe_\d+', text))


def leaked_uprobes():
    """
    What the kernel says of ours whose removal it gave up: a thread killed while it closes a probe, as
    by the exit of its process, leaves the breakpoint in every process that runs.
    """
    log = subprocess.run(['dmesg'], capture_output=True, text=True, errors='replace').stdout
    return {line for line in log.splitlines() if re.search(r'uprobe: gilprobe\S* failed to unregister', line)}


def descendants(pid):
    """Process ids below @pid, from /proc."""
    parents = {}
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / 'stat').read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rsplit(')', 1)[1].split()[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def processes_with(word):
    """Pids whose command line holds @word, ours aside."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if word.encode() in (entry / 'cmdline').read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


class Case(unittest.TestCase):
    """A test in a folder of its own that fails when something is left behind."""
    records = True
    attempts = 1  # a test whose bounds a busy machine can break is wrong when it fails this often

    def run(self, result=None):
        for _ in range(self.attempts - 1):
            trial = unittest.TestResult()
            super().run(trial)
            if trial.skipped:
                break
            if trial.wasSuccessful():
                result.startTest(self)
                result.addSuccess(self)
                result.stopTest(self)
                return result
            why = (trial.failures + trial.errors)[0][1].strip().splitlines()[-1]
            print(f'again: {self.id()}: {why[:200]}', file=sys.stderr)
        return super().run(result)

    @classmethod
    def setUpClass(cls):
        cls.leaked = leaked_uprobes()
        if cls.records and not can_record():
            if os.environ.get('CI') == 'true':
                raise AssertionError('recording is not possible here, and CI must not skip it')
            raise unittest.SkipTest('recording needs root and tracefs')

    @classmethod
    def tearDownClass(cls):
        leaked = leaked_uprobes() - cls.leaked  # not in tearDown: a second try must not hide it
        assert not leaked, f'the kernel could not unregister probes: {leaked}'

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='gilprobe-e2e-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.groups = probe_groups()
        self.before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, self.before)

    def tearDown(self):
        self.assertFalse(self.groups_left(), 'probe groups were left')

    def groups_left(self, seconds=20):
        """New probe groups of dead recorders: a janitor may need a moment to remove them."""
        end = time.monotonic() + seconds
        while True:
            left = {g for g in probe_groups() - self.groups
                    if not os.path.exists('/proc/' + g.rsplit('_', 1)[1])}
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)

    def for_all(self, path):
        """A copy that every user can read: the sources may lie below a home that is closed to others."""
        os.chmod(self.folder, 0o777)
        return shutil.copy(path, self.folder)

    def report(self, *files):
        done = run('report', '--json', *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def record(self, *command, output='x.data', options=(), status=0, **how):
        done = run('record', '-o', output, *options, '--', *command, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def assert_sums(self, report):
        """The states of a thread add up to its life, and the parts to their whole."""
        for thread in report['threads']:
            states = sum(thread[k] or 0 for k in (
                'has_gil_s', 'has_gil_off_cpu_s', 'waiting_s', 'native_s', 'runnable_s',
                'blocked_s', 'unknown_s'))
            self.assertAlmostEqual(states, thread['life_s'], delta=1e-6, msg=thread)
            if thread['has_gil_off_cpu_s'] is not None:
                parts = (thread['has_gil_blocked_s'] or 0) + (thread['has_gil_runnable_s'] or 0)
                self.assertAlmostEqual(parts, thread['has_gil_off_cpu_s'], delta=1e-6, msg=thread)


def step_forward():
    """Puts our session before others' where the scheduler groups by session: this machine is shared."""
    try:
        if os.getpid() != os.getsid(0):
            os.setsid()
        pathlib.Path('/proc/self/autogroup').write_text('-20')
    except OSError:
        pass  # no grouping, or not ours to change


def main():
    """Runs the tests of the calling file; status 77 when all were skipped."""
    step_forward()
    # a background job's shell may have set it to be ignored, and what is ignored is inherited
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program = unittest.main(exit=False, verbosity=2, warnings='ignore')
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == 0 or len(result.skipped) >= result.testsRun else 0)
