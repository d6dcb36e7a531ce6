"""A mug with a handle as one closed mesh of about 20,000 triangles, and the scenes of the gallery with it.

The wall is a surface of revolution on a grid of rows and columns. Two blocks of its outside are left out, and a tube
joins their edges: the handle. It is at the angle 0 about the mug's axis, which is z; its bottom is at z = 0.
SI units.
"""
import math
import os

COLUMNS = 96
BLOCK = 6  # cells along an edge of what is left out of the wall
TUBE_ROWS = 24


def _line(begin, end, cells):
    return [tuple(b + (e - b) * k / cells for b, e in zip(begin, end)) for k in range(cells)]


def _profile(radius, height, wall, cells):
    """Points (r, z) of its section from the middle of the bottom to that of the inside, and the rows of the outside."""
    edge, floor = 0.004, 0.005
    rim = [(radius - wall / 2 + wall / 2 * math.cos(a), height - wall / 2 + wall / 2 * math.sin(a))
           for a in (math.pi * k / 8 for k in range(9))]
    foot = [(radius - edge + edge * math.sin(a), edge - edge * math.cos(a)) for a in (math.pi / 2 * k / 6 for k in range(7))]
    inside = radius - wall
    corner = [(inside - edge + edge * math.cos(a), floor + edge - edge * math.sin(a))
              for a in (math.pi / 2 * k / 6 for k in range(7))]
    points = _line((0, 0), foot[0], 10) + foot[:-1]
    first = len(points)
    points += _line(foot[-1], rim[0], cells)
    last = len(points)
    points += rim[:-1] + _line(rim[-1], corner[0], cells - 4) + corner[:-1]
    points += _line(corner[-1], (0, floor), 10) + [(0, floor)]
    return points, range(first, last + 1)


def _block(rows, height, middle, size):
    """First row of a block of cells about a height, of a list of (row, z)."""
    near = min(rows, key=lambda row: abs(row[1] - middle * height))[0]
    return near - size // 2


def mug(radius, height, wall=0.004, cells=32, reach=0.020, tube=0.004):
    """Vertices and triangles."""
    profile, outside = _profile(radius, height, wall, cells)
    rows = [(k, profile[k][1]) for k in outside]
    vertices, index = [], {}
    for k, (r, z) in enumerate(profile):
        pole = r == 0
        for c in range(1 if pole else COLUMNS):
            # turned by half of the block, whose middle is at the angle 0
            a = 2 * math.pi * (c - BLOCK / 2) / COLUMNS
            index[k, c] = len(vertices)
            vertices.append((r * math.cos(a), r * math.sin(a), z))

    def at(k, c):
        return index[k, 0 if profile[k][0] == 0 else c % COLUMNS]
    low, high = (_block(rows, height, middle, BLOCK) for middle in (0.3, 0.7))
    triangles = []
    for k in range(len(profile) - 1):
        for c in range(COLUMNS):
            if c < BLOCK and (low <= k < low + BLOCK or high <= k < high + BLOCK):
                continue
            a, b, e, d = at(k, c), at(k, c + 1), at(k + 1, c + 1), at(k + 1, c)
            triangles += [t for t in ((a, b, e), (a, e, d)) if len(set(t)) == 3]
    edge = ([(0, j) for j in range(BLOCK)] + [(i, BLOCK) for i in range(BLOCK)] +
            [(BLOCK, BLOCK - j) for j in range(BLOCK)] + [(BLOCK - i, 0) for i in range(BLOCK)])  # (row, column)
    begin, end = ([at(row + i, j) for i, j in edge] for row in (high, low))
    end = [end[edge.index((BLOCK - i, j))] for i, j in edge]  # mirrored, as the tube comes from below
    top, bottom = (profile[row + BLOCK // 2][1] for row in (high, low))
    middle, half = (top + bottom) / 2, (top - bottom) / 2
    ring = begin
    for k in range(1, TUBE_ROWS):
        s = math.pi * k / TUBE_ROWS  # from the upper block out, down and back to the lower
        centre = (radius + reach * math.sin(s), middle + half * math.cos(s))
        along = (reach * math.cos(s), -half * math.sin(s))
        size = math.hypot(*along)
        up = (-along[1] / size, along[0] / size)  # across the tube, in its plane: z at the upper end
        new = []
        for i, j in edge:
            y, z = j - BLOCK / 2, i - BLOCK / 2
            scale = tube / math.hypot(y, z)
            new.append(len(vertices))
            vertices.append((centre[0] + up[0] * scale * z, scale * y, centre[1] + up[1] * scale * z))
        triangles += _band(ring, new)
        ring = new
    triangles += _band(ring, end)
    return vertices, triangles


def _band(a, b):
    """Triangles between two rings that run counterclockwise as seen from where the tube goes."""
    n = len(a)
    return [t for i in range(n) for t in ((a[i], a[(i + 1) % n], b[(i + 1) % n]), (a[i], b[(i + 1) % n], b[i]))]


def write_mesh(path, size, turn):
    """Writes a mug whose handle is at the angle `turn` [degrees] about its axis; gives the number of triangles."""
    vertices, triangles = mug(**size)
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    with open(path, "w", encoding="ascii") as out:
        out.write("# Written by tests/bench/mug.\n")
        out.writelines(f"v {c * x - s * y:.9g} {s * x + c * y:.9g} {z:.9g}\n" for x, y, z in vertices)
        out.writelines("f {} {} {}\n".format(*(k + 1 for k in t)) for t in triangles)
    return len(triangles)


def write_scene(source, name, folder, size, turn):
    """A copy of a scene of the gallery in which a mug of one mesh takes the place of all shapes of a body; gives the
    paths of the scene and of the mesh, and the number of triangles."""
    mesh = os.path.join(folder, f"{name}.obj")
    count = write_mesh(mesh, size, turn)
    with open(source, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    begin = lines.index(f"  - name: {name}")
    shapes = next(k for k in range(begin, len(lines)) if lines[k] == "    shapes:")
    end = next(k for k in range(shapes, len(lines)) if lines[k].startswith("  - name:") or not lines[k].startswith(" "))
    hands = os.path.dirname(os.path.abspath(source))
    lines[shapes + 1:end] = [f"      - {{type: mesh, file: {name}.obj, material: plastic}}"]
    lines = [line.replace("file: ../hands", f"file: {os.path.normpath(os.path.join(hands, '../hands'))}") for line in lines]
    scene = os.path.join(folder, os.path.basename(source))
    with open(scene, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\nmoments: {source: host}\n")
    return scene, mesh, count
