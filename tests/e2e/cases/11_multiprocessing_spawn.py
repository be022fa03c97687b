# SPDX-License-Identifier: GPL-2.0-or-later
"""CASE 11  multiprocessing, start method spawn: the workers are new executables (fork + exec), plus a resource tracker.
MIN_PYTHON: 3.6    SECONDS: ~3

EXPECT  as case 10, and: 3 extra processes (2 workers + resource_tracker, which is Python too); each one execs, so its image, its load
  address and its GIL are new; the first take of each is the interpreter start-up (init: create_gil / take_gil).
  Children must be found by inherit + exec, and probes must be file (inode) probes so that they follow the exec.
  An exec'd NON-Python program in between (case 20) must not confuse the table.
NAIVE TOOL GETS WRONG: attaches by pid or by address of the first process; treats the child as a continuation of the
  parent's thread (same pid before and after exec -> state must be reset at exec); shows `python` five times
  without saying which is the worker (argv or comm is needed).
"""
import os, runpy, sys

if __name__ == '__main__':
    os.environ['CASE_METHOD'] = 'spawn'
    # spawn re-imports the main file, so the real code lives in case 10 (same folder)
    sys.argv[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), '10_multiprocessing_fork.py')
    runpy.run_path(sys.argv[0], run_name='__main__')
