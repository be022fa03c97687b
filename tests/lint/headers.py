#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every header of src/ compiles alone. usage: headers.py TOP CC..."""
import pathlib
import subprocess
import sys

top, *compiler = sys.argv[1:]
packages = subprocess.run(['pkg-config', '--cflags', 'libtraceevent', 'libtracefs', 'libcjson', 'python3'],
                          capture_output=True, text=True, check=True).stdout.split()
libperf = f'-isystem{top}/subprojects/libperf/tools/lib/perf/include'
bad = 0
headers = sorted(pathlib.Path(top, 'src').rglob('*.h'))
for header in headers:
    run = subprocess.run(
        [*compiler, '-std=gnu11', '-D_GNU_SOURCE', '-DGILPROBE_VERSION="0"', '-Wall', '-Wextra', '-Werror',
         '-Wno-unused-parameter', '-Wno-missing-field-initializers',
         f'-I{top}/src', libperf, *packages, '-fsyntax-only', '-x', 'c', '-'],
        input=f'#include "{header.relative_to(pathlib.Path(top, "src"))}"\n', text=True, capture_output=True)
    if run.returncode:
        print(run.stderr)
        bad += 1
print(f'{len(headers)} headers, {bad} do not compile alone')
sys.exit(bool(bad) or not headers)
