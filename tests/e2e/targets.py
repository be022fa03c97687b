# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that misbehave, for test_scale.py. Runs on CPython 3.6 and later."""
import os
import sys
import threading
import time


def ok(*args):
    return args


class Outer:
    class Inner:
        @staticmethod
        def method(seconds=0.001):
            time.sleep(seconds)


NUMBER = 3


async def coroutine():
    pass


def show(*args):
    sys.stderr.write('args=%r main=%s argv=%r path0=%s prefix=%s cwd=%s\n' % (
        args, sys.modules['__main__'].__name__, sys.argv, sys.path[0], sys.prefix, os.getcwd()))


def prints_a_line():
    print('a line')


def who():
    sys.stderr.write('uid=%d\n' % os.getuid())
    time.sleep(0.05)


def raises():
    raise ValueError('no\nluck')


def raises_in_threads():
    if threading.current_thread() is not threading.main_thread():
        raise ValueError('only in threads')


def in_worker():
    with open('/proc/self/comm') as f:
        return f.read().strip() == 'worker'


def raises_in_processes():
    if in_worker():
        raise ValueError('only in processes')


def exits_in_processes():
    if in_worker():
        os._exit(3)


def exits():
    os._exit(3)


def sys_exits():
    sys.exit(3)


def dies():
    os.kill(os.getpid(), 9)


def kills_its_parent():
    os.kill(os.getppid(), 9)
    time.sleep(1000)


def forks():
    if os.fork() == 0:
        time.sleep(0.01)
    else:
        os.wait()


def leaves_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


def leaves_thread():
    threading.Thread(target=time.sleep, args=(1000,)).start()


def hangs():
    threading.Lock().acquire()
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def ignores_signals():
    import signal

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)


def eats_memory():
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    parts = []
    while True:
        parts.append(bytearray(1 << 24))


def closes_stdout():
    sys.stdout.close()
    try:
        os.close(1)
    except OSError:
        pass


def closes_everything():
    os.closerange(3, 256)


def prints(megabytes):
    for _ in range(megabytes):
        sys.stdout.write('x' * 1048575 + '\n')


def refuses_interpreters():
    import readline
    import _testsinglephase

    return readline, _testsinglephase


def busy(n=100000):
    total = 0
    for i in range(n):
        total += i
    return total


if __name__ == '__main__':
    raise SystemExit('the main block of a target must not run')
