# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets of every class. CASES: name -> classes that are right. Runs on CPython 3.6 and later.

Each call takes about a tenth of a second on one core.
"""
import ctypes
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
import zlib

GIL = ('gil-bound', 'gil-bound/long-c-call', 'gil-bound/convoy')
CASES = {
    'pure_python': GIL[:1],
    'hashlib_small': GIL[:1],
    'hashlib_large': ('releases-the-gil',),
    'zlib_large': ('releases-the-gil',),
    'json_dumps': GIL[:2],
    'regex': GIL[1:2],
    'sqlite_query': ('releases-the-gil',),
    'stat_calls': ('gil-dropped-too-often',),
    'sleep': ('io-bound',),
    'lock_convoy': ('lock-contention-not-gil',),
    'pydll_sleep': ('gil-bound/blocking-call-keeps-gil',),
    'cdll_sleep': ('io-bound',),
    'run_process': ('io-bound',),
}
BUILTINS = {
    'pure-python': GIL[:1],
    'native-release': ('releases-the-gil',),
    'native-hold': GIL[1:2],
    'io': ('io-bound',),
    'mixed': ('mixed',),
}

small, large = bytes(1024), bytes(1 << 20)
lines = (b'the quick brown fox jumps over the lazy dog %d\n' * 2000)[:1 << 16] * 4
record = {'key %d' % i: [i, i / 7, 'text' * 4, None, True] for i in range(4000)}
text = 'to be, or not to be: that is the 1 question\n' * 30000
pattern = re.compile(r'(\w+)\s+(\w+)')
lock = threading.Lock()
keep, free = ctypes.PyDLL(None), ctypes.CDLL(None)


def pure_python():
    total = 0
    for i in range(1500000):
        total += i * i % 7


def hashlib_small():
    for _ in range(60000):
        hashlib.sha256(small).digest()


def hashlib_large():
    for _ in range(100):
        hashlib.sha256(large).digest()


def zlib_large():
    for _ in range(80):
        zlib.compress(lines, 6)


def json_dumps():
    for _ in range(10):
        json.loads(json.dumps(record))


def regex():
    pattern.findall(text)


def sqlite_query():
    db = sqlite3.connect(':memory:')
    db.execute('with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) '
               'select count(*), sum(i * i % 7) from n').fetchall()


def stat_calls():
    for _ in range(40000):
        os.stat('/')


def sleep():
    time.sleep(0.1)


def lock_convoy():
    for _ in range(40):
        with lock:
            time.sleep(0.002)


def pydll_sleep():
    keep.usleep(100000)


def cdll_sleep():
    free.usleep(100000)


def run_process():
    # one that works for a while: starting it keeps the GIL, asleep until the child has called exec
    subprocess.check_call([sys.executable, '-S', '-c', 'import time; time.sleep(0.08)'])
