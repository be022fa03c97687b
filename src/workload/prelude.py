# SPDX-License-Identifier: GPL-2.0-or-later
# What the runner does in Python, in every interpreter that it enters: facts, the target's
# surroundings, the built-in workloads, words for exceptions. Runs on CPython 3.6 and later.
import os
import sys

PY_LOOP = 3000000
HASH_BYTES, HASH_ROUNDS = 1 << 20, 250
TEXT_LINES, TEXT_ROUNDS = 40000, 3
SLEEP_S = 0.15


def python_loop(n):
    total = 0
    for i in range(n):
        total += (i * i) % 7
    return total


def native_release(sha256, block, rounds):
    for _ in range(rounds):
        sha256(block).digest()


def native_hold(pattern, text, rounds):
    for _ in range(rounds):
        pattern.findall(text)


def mixed(sleep, n, seconds):
    python_loop(n)
    sleep(seconds)


def builtin(name, scale):
    """The callable and the arguments of a built-in workload, with all imports done."""
    if name == 'pure-python':
        return python_loop, (int(PY_LOOP * scale),)
    if name == 'native-release':
        import hashlib

        block = bytes(HASH_BYTES)  # far above 2 KiB, where hashlib starts to release the GIL
        return native_release, (hashlib.sha256, block, max(1, int(HASH_ROUNDS * scale)))
    if name == 'native-hold':
        import re

        lines = max(1, int(TEXT_LINES * min(1.0, scale * TEXT_ROUNDS)))
        text = 'to be, or not to be: that is the 1 question\n' * lines
        return native_hold, (re.compile(r'(\w+)\s+(\w+)'), text, max(1, int(TEXT_ROUNDS * scale)))
    import time

    if name == 'io':
        return time.sleep, (SLEEP_S * scale,)
    if name == 'mixed':
        return mixed, (time.sleep, int(PY_LOOP / 2 * scale), SLEEP_S / 2 * scale)
    raise ValueError('unknown built-in workload %r' % name)


def value(text):
    """A Python literal, or the text itself."""
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def run_file(path):
    """The module of a script, in the place of __main__ but without running its main block.

    As multiprocessing does for its children: they, too, will find the script by this.
    """
    import types
    from importlib.machinery import SourceFileLoader

    if not os.path.isfile(path):
        raise FileNotFoundError('target file not found: ' + path)
    module = types.ModuleType('__mp_main__')
    module.__file__ = path
    module.__loader__ = loader = SourceFileLoader('__mp_main__', path)
    sys.modules['__main__'] = sys.modules['__mp_main__'] = module
    exec(loader.get_code('__mp_main__'), module.__dict__)
    return module


def target(spec):
    """The callable that MODULE:FUNC or path/to/file.py:FUNC names, FUNC being dotted or not."""
    place, _, names = spec.rpartition(':')
    by_path = place.endswith('.py') or '/' in place
    here = os.path.dirname(os.path.abspath(place)) if by_path else os.getcwd()
    sys.argv = [place]
    if sys.path and sys.path[0] == '':  # not so with -P, -I or PYTHONSAFEPATH
        sys.path[0] = here
        if os.getcwd() not in sys.path:
            sys.path.insert(1, os.getcwd())
    if by_path:
        found = run_file(place)
    else:
        import importlib

        found = importlib.import_module(place)
    for name in names.split('.'):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError('%s is not callable' % spec)
    flags = getattr(getattr(found, '__code__', None), 'co_flags', 0)
    if flags & 0x2a0:  # generator, coroutine, asynchronous generator
        raise TypeError('%s only makes a generator or coroutine when called; name a function that '
                        'runs it' % spec)
    return found


def load(spec, name, texts, scale):
    """The callable and its arguments: the task that is measured."""
    if spec is None:
        return builtin(name, scale)
    return target(spec), tuple([value(text) for text in texts])


def describe(kind, error, trace):
    """'ValueError: words (file.py:12)' in UTF-8."""
    try:
        words = str(error)
    except Exception:
        words = ''
    text = kind.__name__ + (': ' + words if words else '')
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename[:1] != '<':
            text += ' (%s:%d)' % (os.path.basename(code.co_filename), trace.tb_lineno)
    return text.encode('utf-8', 'backslashreplace')


def gil_enabled():
    return bool(getattr(sys, '_is_gil_enabled', lambda: True)())


def facts():
    name = sys.implementation.name
    return [
        ('python', sys.version.split()[0].encode()),
        ('implementation', b'CPython' if name == 'cpython' else name.encode()),
        ('executable', os.fsencode(sys.executable or '')),
        ('free_threaded_build', b'%d' % ('t' in getattr(sys, 'abiflags', ''))),
        ('switch_interval', repr(sys.getswitchinterval()).encode()),
        ('cpu_count', b'%d' % (os.cpu_count() or 1)),
    ]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
