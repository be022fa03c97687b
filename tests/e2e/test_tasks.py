#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes and threads that come and go: ids used again, vfork, exec, names, thousands of threads."""
import os
import pathlib
import re
import sys

import harness

sys.path.insert(0, str(harness.HERE.parent / 'lib'))
import check_trace

CONTROL = re.compile(r'[\x00-\x09\x0b-\x1f\x7f]')
EVENT = re.compile(r'\d+ -?\d+ -?\d+ -?\d+ [a-z-]+')
LAST_PID = pathlib.Path('/proc/sys/kernel/ns_last_pid')

# The kernel gives the id after the last one, if nobody else was quicker.
AGAIN = '''
import os, sys, threading, time
def again(wanted, start):
    for _ in range(300):
        with open('/proc/sys/kernel/ns_last_pid', 'w') as f: f.write(str(wanted - 1))
        if start() == wanted: return
    sys.exit('the id was never given again')
'''
PROCESSES = AGAIN + '''
def start():
    pid = os.fork()
    if pid == 0:
        for _ in range(5): time.sleep(0.002)
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
wanted = start()
again(wanted, start)
print(wanted)
'''
THREADS = AGAIN + '''
def start():
    ids = []
    def f():
        ids.append(threading.get_native_id())
        for _ in range(5): time.sleep(0.002)
    t = threading.Thread(target=f); t.start(); t.join(); time.sleep(0.01)
    return ids[0]
wanted = start()
again(wanted, start)
print(wanted)
'''
VFORK = '''
import subprocess, sys, threading
def f():
    for _ in range(3):
        subprocess.run([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(0.005)'], check=True)
threads = [threading.Thread(target=f) for _ in (1, 2)]
[t.start() for t in threads]; [t.join() for t in threads]
'''
NAMES = '''
import threading, time
def f(name):
    time.sleep(0.005)
    with open('/proc/thread-self/comm', 'wb') as file: file.write(name)
    time.sleep(0.005)
names = [b'late', b'with blank', b'"\\\\\\t\\x1b[31m', b'\\xff\\xfe\\x80 bytes', 'löng näme äöü'.encode(), b' ', b'\\x01\\x7f</script>']
threads = [threading.Thread(target=f, args=(n,)) for n in names]
[t.start() for t in threads]; [t.join() for t in threads]
'''
CROWD = '''
import threading
def f(): sum(range(100))
for _ in range(10000):
    t = threading.Thread(target=f); t.start(); t.join()
'''


class Tasks(harness.Case):
    attempts = 3

    def read(self, code, **how):
        python = harness.pythons()[0]
        done = self.record(python, '-I', '-S', '-c', code, **how)
        report = self.report('x.data')
        self.assert_sums(report)
        self.assertEqual(report['quality']['overlapping_holds'], 0)
        converted = harness.run('convert', '-o', 'trace.json', 'x.data')
        self.assertEqual(converted.returncode, 0, converted.stderr)
        trace = check_trace.Trace('trace.json')
        try:
            trace.check()
        except check_trace.Bad as bad:
            self.fail(bad)
        self.assertEqual(len(trace.own['threads']), len(report['threads']))
        return done.stdout, report, trace

    def need_last_pid(self):
        if not LAST_PID.exists():
            self.assertNotEqual(os.environ.get('CI'), 'true', f'{LAST_PID} is missing')
            self.skipTest(f'no {LAST_PID}')

    def test_a_process_id_used_again_is_another_process(self):
        self.need_last_pid()
        out, report, _ = self.read(PROCESSES)
        pid = int(out)
        gils = [g for g in report['gils'] if g['pid'] == pid]
        self.assertEqual(len(gils), 2)
        threads = [t for t in report['threads'] if t['pid'] == pid]
        self.assertEqual(len(threads), 2)
        for thread in threads:
            self.assertLess(thread['life_s'], 10)
            self.assertGreaterEqual(thread['takes'], 5)
        for gil, thread in zip(gils, threads):
            self.assertEqual(gil['takes'], thread['takes'])

    def test_a_thread_id_used_again_is_another_thread(self):
        self.need_last_pid()
        out, report, _ = self.read(THREADS)
        threads = [t for t in report['threads'] if t['tid'] == int(out)]
        self.assertEqual(len(threads), 2)
        for thread in threads:
            self.assertGreaterEqual(thread['takes'], 5)
        self.assertEqual(len(report['gils']), 1)

    def test_children_of_vfork_have_gils_of_their_own(self):
        _, report, _ = self.read(VFORK)
        self.assertEqual(len(report['gils']), 7)
        self.assertEqual(len({g['pid'] for g in report['gils']}), 7)
        of_parent = [t for t in report['threads'] if t['pid'] == report['threads'][0]['pid']]
        self.assertEqual(len(of_parent), 3)

    def test_names_of_any_bytes_are_valid_text(self):
        _, report, trace = self.read(NAMES)
        names = {t['name'] for t in report['threads']}
        self.assertEqual(len(report['threads']), 8)
        self.assertLessEqual({'late', 'with blank', '"\\\t\x1b[31m', ' ', '\x01\x7f</script>'}, names)
        self.assertIn('\ufffd\ufffd\ufffd bytes', names)
        self.assertTrue(any(n.startswith('löng näme ä') for n in names))
        rows = {e['args']['name'] for e in trace.top['traceEvents'] if e['name'] == 'thread_name'}
        self.assertLessEqual({name + ' GIL' for name in names}, rows)
        table = harness.run('report', 'x.data').stdout
        self.assertFalse(CONTROL.findall(table))
        self.assertIn('late', table)
        lines = harness.run('events', 'x.data').stdout
        self.assertFalse(CONTROL.findall(lines))
        self.assertFalse([line for line in lines.splitlines() if not EVENT.match(line)])
        self.assertIn('comm="\\\\x09\\x1b[31m\n', lines)

    def test_ten_thousand_short_threads(self):
        _, report, _ = self.read(CROWD)
        self.assertEqual(report['quality']['lost'], 0)
        self.assertEqual(len(report['threads']), 10001)
        self.assertEqual(len(report['gils']), 1)
        table = harness.run('report', 'x.data').stdout
        self.assertLess(len(table.splitlines()), 100)
        whole = harness.run('report', '--all-threads', 'x.data').stdout
        self.assertGreater(len(whole.splitlines()), 10001)


if __name__ == '__main__':
    harness.main()
