#!/usr/bin/env python3
"""make.py: writes meshes/ and friction_problems/ of this folder, and examples/imports/guiding.csv, anew."""
import json
import math
import os
import random
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
TURN = 2 * math.pi


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def unit(a):
    size = math.sqrt(dot(a, a))
    return [x / size for x in a]


# Meshes: vertices, and triangles that run counter-clockwise seen from outside.


def grid(rows, columns, point, wrap_rows):
    """Squares of two triangles over a surface of rows x columns that closes over its columns."""
    vertices = [point(i, k) for i in range(rows) for k in range(columns)]
    triangles = []
    for i in range(rows if wrap_rows else rows - 1):
        for k in range(columns):
            a, b = i * columns + k, i * columns + (k + 1) % columns
            c, d = (i + 1) % rows * columns + (k + 1) % columns, (i + 1) % rows * columns + k
            triangles += [(a, b, c), (a, c, d)]
    return vertices, triangles


def knot():
    """A tube of radius 0.5 along a trefoil of radius 3, made to a radius of about 0.5."""
    def axis(t):
        return [math.sin(t) + 2 * math.sin(2 * t), math.cos(t) - 2 * math.cos(2 * t), -math.sin(3 * t)]

    def point(i, k):
        t, around = TURN * i / 60, TURN * k / 10
        along = unit([b - a for a, b in zip(axis(t - 1e-4), axis(t + 1e-4))])
        side = unit(cross(along, [0, 0, 1]))
        up = cross(side, along)
        return [0.13 * (p + 0.5 * (math.cos(around) * s + math.sin(around) * u))
                for p, s, u in zip(axis(t), side, up)]

    vertices, triangles = grid(60, 10, point, True)
    return vertices, [(a, c, b) for a, b, c in triangles]


def capped(rows, columns, radius, height):
    """A surface of revolution about z from its lower to its upper pole, both closed by fans."""
    def point(i, k):
        around = TURN * k / columns
        r = radius(i, around)
        return [r * math.cos(around), r * math.sin(around), height(i)]

    vertices, triangles = grid(rows, columns, point, False)
    low, high = len(vertices), len(vertices) + 1
    vertices += [[0, 0, height(-1)], [0, 0, height(rows)]]
    last = (rows - 1) * columns
    for k in range(columns):
        following = (k + 1) % columns
        triangles += [(low, following, k), (high, last + k, last + following)]
    return vertices, triangles


def star():
    """A ball of radius 0.5 with six ridges a third as high as their base."""
    def latitude(i):
        return TURN / 4 * (2 * (i + 1) / 15 - 1)

    return capped(14, 48, lambda i, a: 0.5 * math.cos(latitude(i)) * (0.75 + 0.25 * math.cos(6 * a)),
                  lambda i: 0.5 * math.sin(latitude(i)))


def tip():
    """A fingertip of radius 8 mm, in millimetres: a tube closed by half a ball, open where it is held."""
    def point(i, k):
        around, tilt = TURN * k / 24, TURN / 4 * max(i - 1, 0) / 8
        r, z = 8 * math.cos(tilt), 12 * min(i, 1) + 8 * math.sin(tilt)
        return [r * math.cos(around), r * math.sin(around), z]

    vertices, triangles = grid(9, 24, point, False)
    top = len(vertices)
    vertices.append([0, 0, 20])
    return vertices, triangles + [(top, 8 * 24 + k, 8 * 24 + (k + 1) % 24) for k in range(24)]


def bracket():
    """A U with legs of unequal length, 0.1 m long."""
    across = [(0, 0), (10, 0), (10, 7), (8, 7), (8, 2), (2, 2), (2, 4), (0, 4)]
    ends = [(0, 1, 4), (0, 4, 5), (1, 2, 4), (2, 3, 4), (0, 5, 7), (5, 6, 7)]
    n = len(across)
    vertices = [[0.01 * x, 0.01 * y, z] for z in (0.0, 0.06) for x, y in across]
    triangles = [(a, c, b) for a, b, c in ends] + [(a + n, b + n, c + n) for a, b, c in ends]
    for k in range(n):
        following = (k + 1) % n
        triangles += [(k, following, following + n), (k, following + n, k + n)]
    return vertices, triangles


def write_obj(name, mesh):
    with open(os.path.join(HERE, "meshes", name), "w", encoding="ascii") as stream:
        for v in mesh[0]:
            stream.write("v " + " ".join(f"{x:.6f}" for x in v) + "\n")
        for t in mesh[1]:
            stream.write("f " + " ".join(str(i + 1) for i in t) + "\n")


def write_stl(name, mesh):
    with open(os.path.join(HERE, "meshes", name), "wb") as stream:
        stream.write(b"made by tests/data/make.py".ljust(80) + struct.pack("<I", len(mesh[1])))
        for t in mesh[1]:
            a, b, c = (mesh[0][i] for i in t)
            normal = unit(cross([y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]))
            stream.write(struct.pack("<12fH", *normal, *a, *b, *c, 0))


# Coulomb problems u = W r + q of rigid bodies: W = J M^-1 J^T, q = J v with the velocity v of the bodies
# without contact, per contact along its normal and two directions across it.


class Body:
    def __init__(self, mass, inertia, at, twist):
        self.mass, self.inertia, self.at, self.twist = mass, inertia, at, twist


def box(mass, size, at, twist):
    x, y, z = (length * length / 12 for length in size)
    return Body(mass, [mass * (y + z), mass * (x + z), mass * (x + y)], at, twist)


def problem(name, bodies, contacts):
    """Contacts: pushed body, body that it rests on or None, point, normal, friction."""
    rows = []
    for over, under, at, normal, _ in contacts:
        first = unit(cross(normal, [0, 1, 0] if abs(normal[1]) < 0.5 else [1, 0, 0]))
        for along in (normal, first, cross(normal, first)):
            row = {}
            for body, sign in ((over, 1), (under, -1)):
                if body is not None:
                    arm = [p - c for p, c in zip(at, bodies[body].at)]
                    row[body] = [sign * x for x in [*along, *cross(arm, along)]]
            rows.append(row)

    def entry(a, b):
        total = 0.0
        for i in set(a) & set(b):
            inverse = [1 / bodies[i].mass] * 3 + [1 / x for x in bodies[i].inertia]
            total += sum(x * y * w for x, y, w in zip(a[i], b[i], inverse))
        return total

    found = {"name": name, "nc": len(contacts), "mu": [c[4] for c in contacts],
             "q": [sum(dot(row[i], bodies[i].twist) for i in row) for row in rows],
             "W": [[entry(a, b) for b in rows] for a in rows], "order": "per contact N,T1,T2; u=W r+q"}
    with open(os.path.join(HERE, "friction_problems", name + ".json"), "w", encoding="ascii") as stream:
        json.dump(found, stream)
        stream.write("\n")


def corners(x, y, z, over, under, friction):
    return [(over, under, [i * x, k * y, z], [0, 0, 1], friction) for i in (-0.5, 0.5) for k in (-0.5, 0.5)]


def problems():
    kick = 9.81e-3  # gravity in a tick
    problem("pushed_box", [box(1.0, [0.2, 0.1, 0.06], [0, 0, 0.03], [0.3, 0.1, -kick, 0, 0, 2])],
            corners(0.2, 0.1, 0, 0, None, 0.3))
    ball = Body(0.2, [2e-5] * 3, [0, 0, 0], [0.02, 0.01, -kick, 3, 20, 1])
    side = math.sqrt(0.5)
    problem("ball_in_groove", [ball],
            [(0, None, [s * -0.015 * side, 0, -0.015 * side], [s * side, 0, side], 0.8) for s in (1, -1)])
    # The heaviest on top, and the lightest kicked out from under it.
    problem("kicked_from_stack",
            [box(1.0, [0.1, 0.1, 0.1], [0, 0, 0.05], [0, 0, -kick, 0, 0, 0]),
             box(0.5, [0.1, 0.1, 0.1], [0, 0, 0.15], [0.5, 0.2, -kick, 0, 0, 1]),
             box(5.0, [0.1, 0.1, 0.1], [0, 0, 0.25], [0, 0, -kick, 0, 0, 0])],
            corners(0.1, 0.1, 0, 0, None, 0.3) + corners(0.1, 0.1, 0.1, 1, 0, 0.3) +
            corners(0.1, 0.1, 0.2, 2, 1, 0.3))


# A person who guides a robot arm by its hand, 100 rows a second: two strokes, each of least jerk, with tremor. The
# force is measured at two of three rows, as if by a slower sensor.


def guiding():
    strokes = ((0.8, 4.8, (-0.005, -0.14, 0.0)), (5.1, 7.3, (0.085, 0.004, -0.001)))  # from, to [s], by [m]
    tremor = ((8.3, 3e-5), (9.7, 2e-5), (11.1, 4e-5))  # [Hz, m] along x, y, z
    noise = random.Random(1)
    rows = []
    for i in range(801):
        t = 0.01 * i
        at, speed, pull = [-0.52, -0.25, 0.26], [0.0] * 3, [0.0] * 3
        for start, end, by in strokes:
            s = min(max((t - start) / (end - start), 0), 1)
            for k in range(3):
                at[k] += by[k] * s ** 3 * (10 - 15 * s + 6 * s * s)
                speed[k] += by[k] * 30 * (s * (1 - s)) ** 2 / (end - start)
                pull[k] += by[k] * 60 * s * (1 - s) * (1 - 2 * s) / (end - start) ** 2
        for k, (rate, size) in enumerate(tremor):
            at[k] += size * math.sin(TURN * rate * t)
            speed[k] += size * TURN * rate * math.cos(TURN * rate * t)
        force = [3 * a + 20 * v + noise.gauss(0, 0.1) for a, v in zip(pull, speed)]
        rows.append(at + speed + (rows[-1][6:] if i % 3 == 2 else force))
    with open(os.path.join(HERE, "../../examples/imports/guiding.csv"), "w", encoding="ascii") as stream:
        stream.write("px_m,py_m,pz_m,vx,vy,vz,fx_N,fy_N,fz_N\n")
        for row in rows:
            stream.write(",".join([f"{x:.6f}" for x in row[:6]] + [f"{x:.3f}" for x in row[6:]]) + "\n")


def main():
    for folder in ("meshes", "friction_problems"):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    write_obj("knot.obj", knot())
    write_obj("star.obj", star())
    write_stl("bracket.stl", bracket())
    write_stl("tip.stl", tip())
    problems()
    guiding()


if __name__ == "__main__":
    main()
