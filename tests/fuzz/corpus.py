#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kept inputs of each fuzz target, packed: corpus/TARGET.tar.xz.

usage: corpus.py unpack FOLDER         all of them, into FOLDER/TARGET
       corpus.py pack TARGET FOLDER    keep the files of FOLDER, in place of what was kept
"""
import io
import pathlib
import sys
import tarfile

CORPUS = pathlib.Path(__file__).resolve().parent / 'corpus'


def unpack(folder):
    for archive in CORPUS.glob('*.tar.xz'):
        into = pathlib.Path(folder) / archive.name[:-len('.tar.xz')]
        into.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            for member in tar:
                (into / pathlib.Path(member.name).name).write_bytes(tar.extractfile(member).read())
    pathlib.Path(folder).touch()


def pack(target, folder):
    with tarfile.open(CORPUS / f'{target}.tar.xz', 'w:xz', preset=9, format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(pathlib.Path(folder).iterdir()):
            data = path.read_bytes()
            member = tarfile.TarInfo(path.name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


if __name__ == '__main__':
    {'unpack': unpack, 'pack': pack}[sys.argv[1]](*sys.argv[2:])
