# SPDX-License-Identifier: GPL-2.0-or-later
# Turns files into C arrays: embed.py OUTPUT NAME FILE [NAME FILE ...]. For meson only.
# Every array is followed by a NUL that its size does not count, so that texts are C strings. For
# every function that an ELF file exports, NAME_FUNCTION is its offset in the file.
import struct
import sys


def exports(elf):
    """(name, offset in the file) of every function in the dynamic symbol table of an ELF64 file."""
    phoff, shoff = struct.unpack_from('<QQ', elf, 32)
    phentsize, phnum, shentsize, shnum = struct.unpack_from('<HHHH', elf, 54)
    sections = [struct.unpack_from('<IIQQQQIIQQ', elf, shoff + i * shentsize) for i in range(shnum)]
    segments = [struct.unpack_from('<IIQQQQQQ', elf, phoff + i * phentsize) for i in range(phnum)]
    for section in sections:
        if section[1] != 11:  # SHT_DYNSYM
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, _ = struct.unpack_from('<IBBHQQ', elf, at)
            if info & 15 != 2 or not index:  # STT_FUNC, defined here
                continue
            end = elf.index(b'\0', strings + name)
            for kind, _, offset, vaddr, _, filesz, _, _ in segments:
                if kind == 1 and vaddr <= value < vaddr + filesz:  # PT_LOAD
                    yield elf[strings + name:end].decode(), value - vaddr + offset


with open(sys.argv[1], 'w') as out:
    for array, path in zip(sys.argv[2::2], sys.argv[3::2]):
        with open(path, 'rb') as file:
            data = file.read()
        rows = [', '.join('%d' % byte for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
        out.write('static const unsigned char %s[] __attribute__((aligned(8))) = {\n%s, 0};\n' % (
            array, ',\n'.join(rows)))
        out.write('enum { %s_size = %d };\n' % (array, len(data)))
        for name, offset in exports(data) if data[:6] == b'\x7fELF\x02\x01' else ():
            out.write('enum { %s_%s = %d };\n' % (array, name, offset))
