"""Text of an SVG that gnuplot drew, with the box of each, by the widths of the installed font."""
import functools
import os
import re
import struct
import subprocess
import xml.etree.ElementTree


class Font:
    """Widths of the characters of a TrueType font, by its tables cmap (format 4) and hmtx."""

    def __init__(self, style):
        path = subprocess.run(["fc-match", "-f", "%{file}", "DejaVu Sans:style=" + style], capture_output=True, text=True,
                              check=True).stdout
        assert os.path.basename(path).startswith("DejaVuSans"), path
        with open(path, "rb") as stream:
            data = stream.read()
        table = {data[at:at + 4]: struct.unpack_from(">I", data, at + 8)[0]
                 for at in range(12, 12 + 16 * struct.unpack_from(">H", data, 4)[0], 16)}
        self.units = struct.unpack_from(">H", data, table[b"head"] + 18)[0]
        count = struct.unpack_from(">H", data, table[b"hhea"] + 34)[0]
        self.advances = [struct.unpack_from(">H", data, table[b"hmtx"] + 4 * i)[0] for i in range(count)]
        maps = (struct.unpack_from(">I", data, table[b"cmap"] + 8 + 8 * i)[0] + table[b"cmap"]
                for i in range(struct.unpack_from(">H", data, table[b"cmap"] + 2)[0]))
        self.data, self.map = data, next(at for at in maps if struct.unpack_from(">H", data, at)[0] == 4)

    def advance(self, character):
        """Of the size of the font."""
        code, data, at = ord(character), self.data, self.map
        doubled = struct.unpack_from(">H", data, at + 6)[0]
        for i in range(at + 14, at + 14 + doubled, 2):
            end, first, delta, offset = (struct.unpack_from(">H", data, i + k)[0] for k in
                                         (0, doubled + 2, 2 * doubled + 2, 3 * doubled + 2))
            if first <= code <= end:
                glyph = code + delta if not offset else delta + struct.unpack_from(
                    ">H", data, i + 3 * doubled + 2 + offset + 2 * (code - first))[0]
                return self.advances[min(glyph & 0xFFFF, len(self.advances) - 1)] / self.units
        return 1.0

    def width(self, text, size):
        """Of the two ways of programs, characters at whole pixels and between them, the wider one."""
        widths = [size * self.advance(character) for character in text]
        return max(sum(widths), sum(map(round, widths)))


@functools.lru_cache
def font(style):
    return Font(style)


def boxes(svg):
    """Text of an SVG of gnuplot, with its box [pixels], by the widths of the installed font."""
    def walk(node, x, y, size, anchor, style):
        shift = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", node.get("transform", ""))
        if shift:
            x, y = x + float(shift[1]), y + float(shift[2])
        size, anchor = float(node.get("font-size", size)), node.get("text-anchor", anchor)
        style = {"bold": "Bold", "normal": "Book"}.get(node.get("font-weight"), style)
        if node.tag.endswith("}text"):
            text = "".join(node.itertext()).strip()
            for part in node.iter():
                size = float(part.get("font-size", size))
            width = font(style).width(text, size)
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            if text:
                yield text, left, left + width, y - 0.75 * size, y + 0.2 * size
            return
        for child in node:
            yield from walk(child, x, y, size, anchor, style)
    return list(walk(xml.etree.ElementTree.parse(svg).getroot(), 0.0, 0.0, 12.0, "start", "Book"))
