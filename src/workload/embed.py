# SPDX-License-Identifier: GPL-2.0-or-later
# Turns files into C arrays: embed.py OUTPUT NAME FILE [NAME FILE …]. For meson only.
# Every array is followed by a NUL that its size does not count, so that texts are C strings.
import sys

with open(sys.argv[1], 'w') as out:
    for name, path in zip(sys.argv[2::2], sys.argv[3::2]):
        with open(path, 'rb') as file:
            data = file.read()
        rows = [', '.join('%d' % byte for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
        out.write('static const unsigned char %s[] __attribute__((aligned(8))) = {\n%s, 0};\n' % (name, ',\n'.join(rows)))
        out.write('enum { %s_size = %d };\n' % (name, len(data)))
