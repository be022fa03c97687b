#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the tree that no compiler checks. usage: lint.py TOP [RULE...]

Each rule is a function that yields 'file:line: what'. Without names all of them run.
"""
import pathlib
import re
import subprocess
import sys

# stage -> stages whose headers it may include, its own aside (the order of the data flow)
MAY_INCLUDE = {
    'base': [],
    'perfdata': ['base'],
    'locate': ['base'],
    'record': ['base', 'perfdata', 'locate'],
    'decode': ['base', 'perfdata'],
    'order': ['base', 'decode'],
    'fold': ['base', 'decode'],
    'classify': ['base', 'fold', 'workload/result.h'],
    'emit': ['base', 'fold'],
    'report': ['base', 'fold', 'classify', 'workload/result.h'],
    'workload': ['base'],
    'pipeline': ['base', 'perfdata', 'decode', 'order', 'fold', 'classify', 'emit', 'report'],
    'cli': ['base', 'perfdata', 'locate', 'record', 'decode', 'order', 'fold', 'classify', 'emit',
            'report', 'workload', 'pipeline'],
}

# third-party header -> the only places that may include it
DOORS = {
    r'traceevent/|event-parse\.h': ['src/record/'],
    r'tracefs': ['src/record/'],
    r'perf/(evlist|evsel|mmap|cpumap|threadmap|core|event)\.h|internal/': ['src/record/'],
    r'libelf\.h|gelf\.h|elfutils/|dwarf\.h': ['src/locate/'],
    r'Python\.h': ['src/workload/'],
    r'cJSON\.h|cjson/': ['src/emit/', 'src/workload/', 'src/report/', 'tests/'],
    r'zstd\.h': ['src/perfdata/', 'tests/'],
    r'zlib\.h': ['src/base/out.c', 'src/emit/', 'tests/'],
}

MAX_FILE, MAX_HEADER, MAX_FUNCTION = 500, 150, 80
TEXT = {'.c', '.h', '.py', '.sh', '.md', '.build', '.mjs', '.js', '.wrap', '.txt', ''}


def tracked(top):
    names = subprocess.run(['git', '-C', top, 'ls-files', '-z', '--cached', '--others',
                            '--exclude-standard'], capture_output=True, check=True).stdout
    for name in sorted(filter(None, names.decode().split('\0'))):
        path = top / name
        if path.is_file() and not path.is_symlink():
            yield name, path


def lines(path):
    return enumerate(path.read_text(errors='replace').splitlines(), 1)


def c_files(top, under='src/'):
    return [(n, p) for n, p in tracked(top) if n.startswith(under) and p.suffix in ('.c', '.h')]


def includes(top):
    """A stage includes only the stages before it."""
    for name, path in c_files(top):
        stage = name.split('/')[1]
        for number, line in lines(path):
            found = re.match(r'\s*#\s*include\s+"(([a-z]+)/[^"]+)"', line)
            if not found or found[2] not in MAY_INCLUDE:
                continue
            allowed = MAY_INCLUDE[stage] + [stage]
            if found[2] not in allowed and found[1] not in allowed:
                yield f'{name}:{number}: {stage}/ may not include {found[1]}'


def doors(top):
    """Third-party headers stay behind one door each."""
    for name, path in c_files(top) + c_files(top, 'tests/'):
        for number, line in lines(path):
            found = re.match(r'\s*#\s*include\s+<([^>]+)>', line)
            for header, places in DOORS.items():
                if found and re.match(header, found[1]) and not any(
                        name.startswith(p) for p in places):
                    yield f'{name}:{number}: {found[1]} may be included only in {", ".join(places)}'


def sizes(top):
    """Files, headers and functions stay readable."""
    for name, path in c_files(top) + c_files(top, 'tests/'):
        text = path.read_text().splitlines()
        limit = MAX_HEADER if path.suffix == '.h' else MAX_FILE
        if len(text) > limit:
            yield f'{name}:{limit}: {len(text)} lines, limit {limit}'
        start = None
        for number, line in enumerate(text, 1):
            if line == '{':
                start = number
            elif line == '}' and start:
                if number - start - 1 > MAX_FUNCTION:
                    yield f'{name}:{start}: function of {number - start - 1} lines, limit {MAX_FUNCTION}'
                start = None


def heads(top):
    """Every source file says its licence, and every .c of a stage what it does."""
    for name, path in tracked(top):
        if path.suffix not in ('.c', '.h', '.py', '.build') and not (
                path.read_bytes()[:2] == b'#!'):
            continue
        head = path.read_text().splitlines()[:6]
        if not any('SPDX-License-Identifier: GPL-2.0-or-later' in line for line in head):
            yield f'{name}:1: no SPDX-License-Identifier: GPL-2.0-or-later'
        if name.startswith('src/') and path.suffix in ('.c', '.h') and not (
                len(head) > 1 and head[1].startswith('/*')):
            yield f'{name}:2: no comment that says what the file is for'


def machine(top):
    """No path of somebody's machine and no registry host."""
    wrong = re.compile(r'/(root|farm)/|/work/|\.pyenv/|/home/[a-z]+/|https?://[^ ]*(pypi|npmjs|debian)\.')
    for name, path in tracked(top):
        if path.suffix not in TEXT or name.startswith(('tests/lint/', 'tests/golden/')) or name == 'LICENSE':
            continue
        for number, line in lines(path):
            if wrong.search(line):
                yield f'{name}:{number}: names a machine or a host: {line.strip()[:80]}'


def layout(top):
    """Nothing but the agreed names at the top."""
    allowed = {'meson.build', 'src', 'subprojects', 'tests', 'examples', 'viewer', 'README.md',
               'LICENSE', 'bootstrap'}
    for name in sorted({n.split('/')[0] for n, _ in tracked(top)}):
        if name not in allowed and not name.startswith('.'):
            yield f'{name}:1: does not belong at the top level'


def stages_are_silent(top):
    """Only cli talks and exits; the runner lives in another process."""
    wrong = re.compile(r'\b(printf|puts|putchar|perror|exit|abort)\s*\(|\b(stdout|stderr)\b')
    allowed = ('src/cli/', 'src/workload/', 'src/base/term.')
    for name, path in c_files(top):
        if name.startswith(allowed):
            continue
        for number, line in lines(path):
            code = re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"|^\s*\*.*', '', line)
            found = wrong.search(code)
            if found and not re.search(r'_exit|atexit', code):
                yield f'{name}:{number}: a stage prints or exits: {found[0]}'


def clang_format(top):
    """Formatting is clang-format's."""
    files = [str(p) for n, p in c_files(top) + c_files(top, 'tests/')]
    run = subprocess.run(['clang-format', '--dry-run', *files], capture_output=True, text=True,
                         cwd=top)
    for line in run.stderr.splitlines():
        if 'warning:' in line or 'error:' in line:
            yield line.replace(str(top) + '/', '')


def shellcheck(top):
    """Shell scripts pass shellcheck."""
    scripts = [name for name, path in tracked(top)
               if re.match(rb'#!.*\b(sh|bash)\b', path.read_bytes()[:40].split(b'\n')[0])]
    if scripts:
        run = subprocess.run(['shellcheck', '--format=gcc', *scripts], capture_output=True,
                             text=True, cwd=top)
        yield from (run.stdout + run.stderr).splitlines()


RULES = [includes, doors, sizes, heads, machine, layout, stages_are_silent, clang_format, shellcheck]


def main(top, *names):
    top = pathlib.Path(top).resolve()
    bad = 0
    for rule in RULES:
        if names and rule.__name__ not in names:
            continue
        for finding in rule(top):
            print(f'{finding} [{rule.__name__}]')
            bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
