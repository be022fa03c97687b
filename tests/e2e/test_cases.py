#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with known truth: record each, report, and compare with bounds that no load breaks."""
import json
import pathlib
import re

import check
import harness

CASES = harness.HERE / 'cases'
TRUTH = json.loads((CASES / 'truth.json').read_text())


class Cases(harness.Case):
    attempts = 3

    def run_case(self, python, name):
        data = self.folder / 'x.data'
        done = harness.run('record', '-o', data, '--', python, CASES / name)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report(data)
        self.assert_sums(report)
        self.assertEqual(report['quality']['lost'], 0)
        pathlib.Path('report.json').write_text(json.dumps(report))
        self.assertEqual(check.main(CASES / 'truth.json', name, 'report.json'), 0, done.stderr)


def add_tests():
    for python in harness.pythons():
        version = harness.version_of(python)
        for name, truth in TRUTH.items():
            if name.startswith('_') or version < tuple(map(int, truth['python'].split('.'))):
                continue
            label = re.sub(r'\W', '_', f'{name[:-3]}_{python}')
            setattr(Cases, f'test_{label}',
                    lambda self, python=python, name=name: self.run_case(python, name))


add_tests()
if __name__ == '__main__':
    harness.main()
