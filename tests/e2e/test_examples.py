#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each example says which verdict to expect; that must be the one that comes."""
import ast
import re

import harness

EXAMPLES = harness.TOP / 'examples'


class Examples(harness.Case):
    attempts = 3


def test_of(path):
    def test(self):
        doc = ast.get_docstring(ast.parse(path.read_text()))
        expected = re.search(r'^verdict: (\S+)$', doc, re.M)[1]
        self.record(harness.pythons()[0], path)
        report = self.report('x.data')
        self.assert_sums(report)
        verdict = report['verdict']
        if verdict['class'] == 'cpu-starved':  # the machine is: then the class stands behind it
            self.assertIn(f'apart from that: {expected}', verdict['reason'])
        else:
            self.assertEqual(verdict['class'], expected, verdict)
        self.assertEqual(report['quality']['overlapping_holds'], 0)
    return test


for example in sorted(EXAMPLES.glob('*.py')):
    setattr(Examples, f'test_{example.stem}', test_of(example))

if __name__ == '__main__':
    harness.main()
