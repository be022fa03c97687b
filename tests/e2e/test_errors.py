#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong gets one clear message, a hint, the documented status, and leaves nothing."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import harness

NOBODY = 65534


def unshare(*words):
    """Runs words in a mount namespace of its own."""
    return ['unshare', '--mount', *words]


class Errors(harness.Case):
    def assert_failed(self, done, status, text, hint=None, lines=3):
        self.assertEqual(done.returncode, status, done.stderr)
        said = done.stderr.splitlines()
        self.assertLessEqual(len(said), lines, done.stderr)
        self.assertRegex(said[0], r'^gilprobe: ' + text)
        self.assertTrue(all(line.startswith('gilprobe: ') for line in said), done.stderr)
        if hint:
            self.assertRegex(done.stderr, r'gilprobe: hint: .*' + hint)
        self.assertEqual(done.stdout, '')

    def assert_nothing_left(self, *names):
        left = {p.name for p in self.folder.iterdir()} - set(names)
        self.assertFalse(left, left)


class Usage(Errors):
    records = False

    def test_unknown_command_names_the_nearest(self):
        self.assert_failed(harness.run('recrod'), 2, "unknown command 'recrod'; nearest is 'record'",
                           "try 'gilprobe -h'")

    def test_unknown_option_names_the_nearest(self):
        for command in ('record', 'report', 'convert', 'events', 'check'):
            done = harness.run(command, '--verbsoe')
            self.assert_failed(done, 2, "unknown option '--verbsoe'; nearest is '--verbose'",
                               f"try 'gilprobe {command} -h'")

    def test_bad_values(self):
        for words, text in (
                (['record', '--duration', '5 s', 'true'], 'expected a duration'),
                (['record', '-p', '0'], 'expected a process id'),
                (['record', '-m', '2x', 'true'], 'expected a size'),
                (['report', '--color=blue'], 'expected auto, always or never'),
                (['convert', '-o', 'x.foo'], r"'x\.foo': the name must end in"),
                (['report', '--from', '5s', '--to', '1s'], '--from must be before --to'),
                (['report', '-o'], "option '-o' needs a value"),
                (['record'], 'what to record'),
                (['record', '-p', '1', 'true'], 'both a command and --pid')):
            self.assert_failed(harness.run(*words), 2, '.*' + text, "try 'gilprobe ")

    def test_short_help_is_short_and_starts_with_examples(self):
        for command in ('record', 'report', 'convert', 'events', 'check'):
            done = harness.run(command, '-h')
            self.assertEqual(done.returncode, 0)
            lines = done.stdout.splitlines()
            self.assertLessEqual(len(lines), 25, command)
            self.assertIn('gilprobe', lines[2])
            self.assertLessEqual(max(map(len, lines)), 110)
            self.assertIn(lines[0], harness.run('help', command).stdout)

    def test_man_page_and_completions_are_accepted_by_their_programs(self):
        man = harness.run('--generate', 'man').stdout
        done = subprocess.run(['man', '-l', '--warnings', '-'], input=man, capture_output=True,
                              text=True, env={**os.environ, 'MANWIDTH': '100', 'LC_ALL': 'C.UTF-8'})
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('--fail-if-gil-bound', done.stdout)
        bash = harness.run('--generate', 'complete-bash').stdout
        words = subprocess.run(
            ['bash', '-c', bash + '\nCOMP_WORDS=(gilprobe report --fa) COMP_CWORD=2; _gilprobe;'
             'echo "${COMPREPLY[*]}"'], capture_output=True, text=True, check=True).stdout
        self.assertEqual(words, '--fail-if-gil-bound\n')
        self.assertEqual(harness.run('--generate', 'nothing').returncode, 2)


class BadInput(Errors):
    records = False

    def check_file(self, name, text):
        for command in (['report'], ['convert', '-o', 'out.json'], ['events']):
            done = harness.run(*command, name)
            self.assert_failed(done, 2, f".*{re.escape(name)}.*" + text)
        self.assert_nothing_left(*([name] if os.path.exists(name) else []))

    def test_missing(self):
        self.check_file('missing.data', 'No such file')

    def test_default_missing_says_how_to_make_one(self):
        self.assert_failed(harness.run('report'), 2, '.*perf.data', 'gilprobe record --')

    def test_empty(self):
        pathlib.Path('empty.data').touch()
        self.check_file('empty.data', '')

    def test_text(self):
        pathlib.Path('text.data').write_text('hello, I am a text\n' * 100)
        self.check_file('text.data', '')

    def test_only_the_magic(self):
        pathlib.Path('magic.data').write_bytes(b'PERFILE2')
        self.check_file('magic.data', '')

    def test_an_output_folder_that_is_missing(self):
        corpus_file(self.folder / 'd.data', 'default.data')
        done = harness.run('convert', '-o', 'no/such/t.json', 'd.data')
        self.assert_failed(done, 2, "unable to write 'no/such/t.json'", 'no/such')
        self.assert_nothing_left('d.data')

    def test_a_full_disk(self):
        corpus_file(self.folder / 'd.data', 'default.data')
        done = harness.run('report', 'd.data', '-o', '/dev/full')
        self.assert_failed(done, 2, "unable to write '/dev/full': No space left on device")
        with open('/dev/full', 'w') as full:
            done = subprocess.run([harness.GILPROBE, 'events', 'd.data'], stderr=subprocess.PIPE,
                                  stdout=full, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('No space left on device', done.stderr)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        corpus_file(self.folder / 'd.data', 'default.data')
        done = subprocess.run(f'{harness.GILPROBE} events d.data | head -1', shell=True,
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_a_recording_without_gil_events_is_said(self):
        corpus_file(self.folder / 's.data', 'giltracer-sched.data')
        done = harness.run('report', 's.data')
        self.assert_failed(done, 2, "no GIL event in 's.data'", 'gilprobe record')

    def test_inputs_with_different_clocks_are_refused(self):
        corpus_file(self.folder / 'a.data', 'default.data')
        corpus_file(self.folder / 'b.data', 'noclock.data')
        done = harness.run('convert', '-o', 'x.json', 'a.data', 'b.data')
        self.assert_failed(done, 2, ".*different clocks", 'CLOCK_MONOTONIC')
        self.assert_nothing_left('a.data', 'b.data')


def corpus_file(to, name):
    sys.path.insert(0, str(harness.TOP / 'tests/golden'))
    import corpus
    corpus.unpack(name, to)


class Recording(Errors):
    def test_a_command_that_is_missing(self):
        self.assert_failed(harness.run('record', '--', './no-such-command'), 127,
                           ".*no-such-command")
        self.assert_nothing_left()

    def test_a_python_that_does_not_exist(self):
        self.assert_failed(harness.run('record', '--', '/no/such/python3', 'x.py'), 127,
                           ".*/no/such/python3")
        self.assert_failed(harness.run('record', '--python', '/no/such/python3', 'true'), 125,
                           ".*/no/such/python3")
        self.assert_nothing_left()

    def test_a_file_that_is_not_executable(self):
        pathlib.Path('plain').write_text('x')
        self.assert_failed(harness.run('record', '--', './plain'), 126, ".*plain")
        self.assert_nothing_left('plain')

    def test_a_process_that_is_gone(self):
        gone = subprocess.Popen(['true'])
        gone.wait()
        self.assert_failed(harness.run('record', '-p', gone.pid), 125, f'.*{gone.pid}')
        self.assert_nothing_left()

    def test_an_output_folder_that_is_missing(self):
        done = harness.run('record', '-o', 'no/such/x.data', '--', 'python3', '-c', 'open("ran","w")')
        self.assert_failed(done, 125, "(unable to|cannot) create 'no/such/x.data'")
        self.assert_nothing_left()

    def test_a_static_program_that_is_no_python(self):
        source = pathlib.Path('main.c')
        source.write_text('int main(void) { return 3; }\n')
        subprocess.run(['cc', '-static', '-o', 'program', 'main.c'], check=True)
        done = harness.run('record', '--', './program')
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, 'no GIL event')
        self.assertRegex(done.stderr, 'gilprobe: hint: ')

    def test_a_full_disk(self):
        small = self.folder / 'small'
        small.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', small], check=True)
        self.addCleanup(subprocess.run, ['umount', small])
        loop = 'import time\nfor _ in range(20000): time.sleep(0)'
        done = harness.run('record', '-o', small / 'x.data', '--', 'python3', '-c', loop)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, r"x\.data': No space left on device")

    def as_nobody(self, words, **options):
        os.chmod(self.folder, 0o777)
        return subprocess.run([shutil.copy(harness.GILPROBE, '/tmp/gilprobe-e2e-nobody'), *words],
                              capture_output=True, text=True, user=NOBODY, group=NOBODY,
                              extra_groups=[], **options)

    def test_an_ordinary_user(self):
        self.addCleanup(os.unlink, '/tmp/gilprobe-e2e-nobody')
        done = self.as_nobody(['record', '--', '/usr/bin/python3', '-c', 'open("ran","w")'])
        self.assert_failed(done, 125, '.*', 'sudo gilprobe record|uid 65534')
        self.assert_nothing_left()
        done = self.as_nobody(['check', '--', '/usr/bin/python3'])
        self.assertEqual(done.returncode, 1)
        self.assertIn('missing', done.stdout)
        self.assertIn('fix:', done.stdout)

    def test_without_tracefs(self):
        hide = ('mount -t tmpfs none /sys/kernel/tracing; mount -t tmpfs none /sys/kernel/debug; '
                'mount -t tmpfs -o ro none /sys/kernel/tracing 2>/dev/null; exec "$@"')
        done = subprocess.run(
            unshare('sh', '-c', hide, 'sh', harness.GILPROBE, 'record', '--', '/usr/bin/python3', '-c',
                    'open("ran","w")'), capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assert_failed(done, 125, '.*(tracefs|/sys/kernel/tracing)', 'mount -t tracefs')
        self.assert_nothing_left()

    def test_root_without_capabilities(self):
        done = subprocess.run(
            ['setpriv', '--bounding-set=-sys_admin,-perfmon,-dac_override,-dac_read_search',
             '--inh-caps=-all', harness.GILPROBE, 'record', '--', '/usr/bin/python3', '-c',
             'open("ran","w")'], capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assert_failed(done, 125, '.*', '.*')
        self.assert_nothing_left()

    def test_check_says_ok_here(self):
        done = harness.run('check', '--', harness.pythons()[0])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('probe sites', done.stdout)

    def test_files_under_sudo_belong_to_the_user(self):
        os.chmod(self.folder, 0o777)
        done = subprocess.run(
            [harness.GILPROBE, 'record', '-o', 'x.data', '--', '/usr/bin/python3', '-c',
             'import os; print(os.getuid(), os.getgid()); open("made", "w")'], capture_output=True,
            text=True, env={**os.environ, 'SUDO_UID': str(NOBODY), 'SUDO_GID': str(NOBODY)})
        self.assertEqual((done.returncode, done.stdout), (0, f'{NOBODY} {NOBODY}\n'), done.stderr)
        self.assertEqual(os.stat('x.data').st_uid, NOBODY)
        self.assertEqual(os.stat('made').st_uid, NOBODY)
        self.assertEqual(done.stderr.count(f'uid {NOBODY}'), 1)
        self.assertEqual(stat.S_IMODE(os.stat('x.data').st_mode) & 0o022, 0)


if __name__ == '__main__':
    harness.main()
