#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare one `gilprobe report --json` with the truth of a case.

usage: check.py truth.json CASE.py report.json        exit 0 all bounds hold, 1 some do not, 2 unusable input

Thread groups are matched by name (the OS thread name, or a prefix with *). Metrics, over all threads of a group:
  hold           seconds holding the GIL (has_gil_s + has_gil_off_cpu_s)        hold_frac      the same / life_s
  gilwait_frac   waiting_s / life_s (time in take_gil and forced-switch time inside drop_gil)
  holdsleep_frac has_gil_blocked_s / hold      holdrunq_frac  has_gil_runnable_s / hold
  takes_per_s    takes / life_s                mean_hold_us   hold / takes
  maxhold maxwait  longest single hold / wait, seconds      n  threads      npids  processes
life_s = from the thread's first GIL evidence to its last.
Bounds are wide: they hold on a busy machine. A result outside them is wrong, not noisy.
"""
import fnmatch
import json
import sys


def metric(name, threads):
    total = lambda key: sum(t.get(key) or 0 for t in threads)
    life, takes = total('life_s') or 1e-9, max(1, total('takes'))
    hold = total('has_gil_s') + total('has_gil_off_cpu_s')
    return {
        'n': lambda: len(threads),
        'npids': lambda: len({t['pid'] for t in threads}),
        'hold': lambda: hold,
        'hold_frac': lambda: hold / life,
        'gilwait_frac': lambda: total('waiting_s') / life,
        'holdsleep_frac': lambda: total('has_gil_blocked_s') / (hold or 1e-9),
        'holdrunq_frac': lambda: total('has_gil_runnable_s') / (hold or 1e-9),
        'takes_per_s': lambda: total('takes') / life,
        'mean_hold_us': lambda: hold / takes * 1e6,
        'cpu_frac': lambda: (total('has_gil_s') + total('native_s')) / life,
        'maxhold': lambda: max(t['max_hold_s'] for t in threads),
        'maxwait': lambda: max(t['max_wait_s'] for t in threads),
    }[name]()


def main(truth_path, case, report_path):
    truth = json.load(open(truth_path))[case.rsplit('/', 1)[-1]]
    report = json.load(open(report_path))
    bad = []
    for group, name, low, high in truth['checks']:
        threads = [t for t in report['threads'] if fnmatch.fnmatch(t['name'], group)]
        if not threads:
            bad.append(f'no thread named {group}')
            continue
        value = metric(name, threads)
        if not low <= value <= high:
            bad.append(f'{group} {name} = {value:.4g}, not in [{low:g}, {high:g}]')
    overlap = report['quality'].get('overlapping_holds', 0)
    if overlap and 'overlap_min' not in truth:
        bad.append(f'{overlap} overlapping holds')
    print(f"{'ok' if not bad else 'BAD'} {case}: {len(truth['checks'])} checks" + ''.join('\n  ' + b for b in bad))
    return 1 if bad else 0


if __name__ == '__main__':
    try:
        sys.exit(main(*sys.argv[1:4]))
    except (OSError, ValueError, KeyError, TypeError) as err:
        print(f'check.py: {type(err).__name__}: {err}', file=sys.stderr)
        sys.exit(2)
