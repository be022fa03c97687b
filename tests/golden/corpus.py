# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings, kept packed; see corpus/README.md for how each was made.

usage: corpus.py FOLDER    unpack all of them there
"""
import lzma
import pathlib
import re
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / 'corpus'


def names():
    """Every recording: files, and the folder of directory mode."""
    files = [p.name[:-3] for p in CORPUS.glob('*.xz')]
    return sorted(files + [p.name for p in CORPUS.iterdir() if p.is_dir()])


def unpack(name, to):
    """Writes recording @name to the path @to and returns it."""
    to = pathlib.Path(to)
    if (CORPUS / name).is_dir():
        to.mkdir(exist_ok=True)
        for part in (CORPUS / name).glob('*.xz'):
            (to / part.name[:-3]).write_bytes(lzma.decompress(part.read_bytes()))
    else:
        to.write_bytes(lzma.decompress((CORPUS / f'{name}.xz').read_bytes()))
    return to


def samples():
    """Name -> number of samples, from the table of corpus/README.md (what perf script lists)."""
    table = {}
    for line in (CORPUS / 'README.md').read_text().splitlines():
        cells = [c.strip() for c in line.strip('|').split('|')]
        if len(cells) != 4 or not re.fullmatch(r'[\d +]+', cells[2]):
            continue
        files = [f.strip().rstrip('/') for f in cells[0].split('+')]
        table.update(zip(files, map(int, cells[2].split('+'))))
    return table


if __name__ == '__main__':
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for each in names():
        unpack(each, folder / each)
    folder.touch()
