#!/usr/bin/env python3
"""imports.py SUBJECT TACT SOURCE: recordings of other programs as logs.

exact   columns, units, rate, times, quaternions, against what is computed here
bad     mappings and files that are wrong: one line with file and key, exit 2, nothing written
hand    hands of MJCF and URDF: to stdout and to a file, which is not written over; meshes from another folder; a log
        with the files of the hand; what is refused, in one line
mesh    PLY, GLB and DAE as OBJ, placed by their nodes; mutations of them, each refused in one line or read
step    surfaces of STEP files, which are exact; what is refused, in one line
step_mutations  STEP files changed at random: read, or refused in one line, within the limits of the reader
guiding a person guiding a robot arm, and real ones in the data of $TACT_SHARED: counts, replay, plot, diff;
        and people who probe a spring, against which a twin then presses as they did
"""
import csv
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from step_torus import circle, closed_torus, toroidal_surface, torus

MAP = "examples/imports/guiding.yaml"


def tact(*words, code=0):
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == code, (words, run.returncode, code, run.stdout, run.stderr)
    return run.stdout, run.stderr


def run_import(path, out):
    """What an import says that may be refused."""
    return subprocess.run([TACT, "import", path, "-o", out, "--force"], capture_output=True, text=True, check=False, timeout=120).stdout


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


def export(folder, log, fields="recording_input", name="export.csv"):
    """The ticks of an exported log, of the fields that begin so: of the device "recording" state, stamp, then its channels by
    name."""
    table = os.path.join(folder, name)
    tact("export", log, "--csv", table, "--force")
    with open(table, encoding="ascii", newline="") as stream:
        rows = list(csv.reader(stream))
    chosen = [i for i, column in enumerate(rows[0]) if column.startswith(fields)]
    return [[float(row[i]) for i in chosen] for row in rows[1:]]


def imported(folder, text, mapping):
    log = os.path.join(folder, "out.mcap")
    data, rules = write(folder, "data.csv", text), write(folder, "map.yaml", mapping)
    output = json.loads(tact("import", data, rules, "-o", log, "--force", "--json")[0])
    assert tact("replay", log)[0].split(", ")[2].startswith("0 differing")
    return output, export(folder, log), log


def exact(folder):
    # A rate that does not divide the ticks; millimetres; a repeated force at rows 2 and 3.
    x = [0.0, 2.0, 6.0, 5.0, 9.0]
    force = [1.0, 4.0, 4.0, 4.0, -2.0]
    text = "px,py,pz,f\n" + "".join(f"{a!r},1,2,{b!r}\n" for a, b in zip(x, force))
    mapping = ("name: small\nrate: 400\nrepeats: {}\nposes:\n  - {{name: tool, position: [px, py, pz], "
               "unit: mm}}\nwrenches:\n  - {{name: wrist, force: [f, f, f], force_unit: mN}}\n")
    for repeats in ("keep", "fill"):
        output, ticks, log = imported(folder, text, mapping.format(repeats))
        assert (output["rows"], output["ticks"], output["gaps"]) == (5, 11, 0), output
        assert output["groups"]["wrist"] == {"channels": 6, "repeated": 2, "longest_run": 2}, output
        assert output["groups"]["tool"]["repeated"] == 0
        used = force if repeats == "keep" else [1, 4, 2, 0, -2]
        for k, row in enumerate(ticks):
            at = min(k * 0.4, 4)
            i = min(int(at + 1e-9), 3)
            share = at - i
            assert row[0] == 0 and abs(row[2] - 1e-3 * (x[i] + share * (x[i + 1] - x[i]))) < 1e-15
            assert row[3:9] == [1e-3, 2e-3, 1, 0, 0, 0], row
            assert abs(row[9] - 1e-3 * (used[i] + share * (used[i + 1] - used[i]))) < 1e-15
            assert row[12:] == [0, 0, 0], row
    found = json.loads(tact("info", log, "--json")[0])
    assert found["topics"]["/sensors/wrist/wrench"]["messages"] == 2, found["topics"]
    assert found["facts"]["import_repeats"] == "tool 0, wrist 2"

    # Times in milliseconds with a gap, a row with the time of the one before, w last, turned over.
    half = math.sqrt(0.5)
    rows = [(100, 0, (0, 0, 0, 1), 10), (102, 1, (0, 0, -half, -half), 20),
            (102, 7, (0, 0, 1, 0), 20), (104, 2, (0, 0, 1, 0), 30), (120, 3, (0, 0, 1, 0), 40),
            (122, 4, (0, 0, 1, 0), 50)]
    text = "t;q;x;y;z;w;u\n" + "".join(
        f"{t};{q};" + ";".join(map(repr, turn)) + f";{u}\n" for t, q, turn, u in rows)
    output, ticks, log = imported(folder, text, """name: timed
time: t
time_unit: ms
joints:
  - {name: elbow, position: q, unit: deg, effort: u}
poses:
  - {name: hand, position: [q, q, q], quat_xyzw: [x, y, z, w]}
""")
    assert (output["dropped"], output["gaps"], output["ticks"]) == (1, 1, 23), output
    assert abs(output["longest_gap_s"] - 0.016) < 1e-12 and abs(output["rate_Hz"] - 500) < 1e-6
    states = [row[0] for row in ticks]
    assert states == [0] * 4 + [1] * 16 + [0] * 3, states  # stale from the row at 4 ms to that at 20
    for k in (1, 3):  # half-way between turns of 0 and 90, and of 90 and 180 degrees
        turn = ticks[k][7:11]
        angle = math.radians(45 if k == 1 else 135)
        assert max(abs(a - b) for a, b in zip(turn, (math.cos(angle / 2), 0, 0, math.sin(angle / 2)))
                   ) < 1e-12, turn
    assert abs(ticks[1][2] - math.radians(0.5)) < 1e-15 and abs(ticks[1][3] - 15) < 1e-12
    assert abs(ticks[10][2] - math.radians(2)) < 1e-15 and abs(ticks[22][3] - 50) < 1e-9


def bad(folder):
    out = os.path.join(folder, "out.mcap")
    good = "name: x\nrate: 100\nsignals:\n  - {name: a, column: a}\n"
    data = "a,b\n1,2\n2,3\n"
    for name, text, mapping, words in (
            ("unknown key", data, good + "colour: red\n", "colour"),
            ("no rate", data, good.replace("rate: 100\n", ""), "map.yaml: rate"),
            ("two clocks", data, good + "time: b\n", "map.yaml: time"),
            ("no column", data, good.replace("column: a", "column: z"), 'no column "z"'),
            ("unit", data, good.replace("column: a", "column: a, unit: inch"), '"inch" is not a unit'),
            ("length", data, "name: x\nrate: 100\nposes:\n  - {name: p, position: [a, a, a], unit: N}\n",
             "not a unit of m"),
            ("twice", data, good + "  - {name: a, column: b}\n", "two mapped columns"),
            ("nothing", data, "name: x\nrate: 100\n", "no joints"),
            ("not a number", data + "x,1\n", good, "data.csv:4:1: a"),
            ("not finite", data + "nan,1\n", good, "data.csv:4:1: a"),
            ("cut row", data + "1\n", good, "data.csv:4"),
            ("one row", "a,b\n1,2\n", good, "fewer than two rows"),
            ("backward", data + "3,1\n", good.replace("rate: 100", "time: b"), "data.csv:4: time"),
            ("unit", "a,b\n1,0\n2,10000000\n", good.replace("rate: 100", "time: b"),
             "data.csv:3: time: 1e+07 s since the first row, with times in s: more than 1e+09 ticks of 0.001 s"),
            ("overflow", "a,b\n1,0\n2,0.001\n3,1e90\n", good.replace("rate: 100", "time: b\ntime_unit: us"),
             "data.csv:4: time: 1e+84 s since the first row, with times in us: "),
            ("rate", data, good.replace("rate: 100", "rate: 1e-7"), "data.csv:3: rate: 1e+07 s"),
            ("no turn", data, good + "poses:\n  - {name: p, position: [a, a, a], "
             "quat_wxyz: [a, a, b, b]}\n", "length"),
            ("scene", data, good + "scene: none.yaml\n", "none.yaml")):
        rules, rows = write(folder, "map.yaml", mapping), write(folder, "data.csv", text)
        output, messages = tact("import", rows, rules, "-o", out, code=2)
        assert not output and len(messages.splitlines()) == 1 and words in messages, (name, messages)
        assert not os.path.exists(out), name
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    for name, why in (pipe, "not a regular file"), (folder, "this path is a folder: expected a file"):
        for words in (rows, name), (name, rules):
            assert tact("import", *words, "-o", out, code=2) == ("", f"tact: {name}: {why}\n"), words
    for words in ([], ["a"], ["a", "b"], ["a", "b", "c", "-o", "d"], ["no.csv", MAP, "-o", out]):
        output, messages = tact("import", *words, code=2)
        assert not output and len(messages.splitlines()) == 1, (words, messages)
    output, messages = tact("import", "--help")
    assert "exit codes" in output and max(map(len, output.splitlines())) <= 100 and not messages


def guided(folder, data, rate, repeated):
    """Checks one recording at its rate; gives its log."""
    log = os.path.join(folder, os.path.basename(data) + ".mcap")
    with open(MAP, encoding="ascii") as stream:
        rules = write(folder, "map.yaml", stream.read().replace("rate: 100 ", f"rate: {rate} "))
    output = json.loads(tact("import", data, rules, "-o", log, "--force", "--json", "--quiet")[0])
    with open(data, encoding="ascii") as stream:
        rows = [[float(word) for word in line.split(",")] for line in stream.readlines()[1:]]
    assert output["rows"] == len(rows) and output["gaps"] == output["dropped"] == 0, output
    same = sum(a[6:] == b[6:] for a, b in zip(rows, rows[1:]))
    assert output["groups"]["wrist"]["repeated"] == same == repeated, output
    ticks = export(folder, log)
    assert len(ticks) == output["ticks"] == int((len(rows) - 1) / (1e-3 * rate)) + 1
    for k in range(0, len(ticks), 97):  # positions and velocities, which are not filled
        at = k * 1e-3 * rate
        i = min(int(at), len(rows) - 2)
        for mine, column in ((2, 0), (3, 1), (4, 2), (15, 3), (16, 4), (17, 5)):
            a, b = rows[i][column], rows[i + 1][column]
            assert abs(ticks[k][mine] - (a + (at - i) * (b - a))) < 1e-12, (k, mine)
    replay = json.loads(tact("replay", log, "--json")[0])
    assert replay["differing"] == 0 and replay["complete"] and replay["ticks"] == len(ticks)
    found = json.loads(tact("info", log, "--json")[0])
    assert found["topics"]["/tf"]["messages"] == (len(ticks) + 9) // 10
    picture = os.path.join(folder, "plot.gp")
    tact("plot", log, "-o", picture, "--force")
    with open(picture, encoding="utf-8") as stream:
        script = stream.read()
    for word in ("'tool_x'", "'wrist_fz'", "'vy'", "[m/s]"):
        assert word in script, word
    return log


def guiding(folder):
    logs = [guided(folder, "examples/imports/guiding.csv", 100, 267)]
    shared = os.environ.get("TACT_SHARED", "../shared")
    for number, repeated in ((0, 1647), (1, 1658)):
        data = os.path.join(shared, f"data/franka_guiding/rec{number}.csv")
        if os.path.exists(data):
            logs.append(guided(folder, data, 695, repeated))
            tact("diff", *logs[-2:], code=1)
        else:
            print(f"absent: {data}")
    probing(folder)


# The device is where the recorded person was, whatever the force; nothing is felt in free air.
PROBE = """name: probe
duration: {duration}
materials: [{{name: rigid}}]
pairs: [{{materials: [rigid, rigid], friction: 0, model: features, overlap: 1e-7, dissipation: 0}}]
bodies:
  - name: wall
    fixed: true
    position: [0, -0.11, 0]
    shapes:
      - type: convex
        generate: {{kind: bumpy_cube, edge: 0.2, bump: 0, count: 1, triangles: 1200}}
        material: rigid
hands:
  - name: hand
    weightless: true
    links:
      - name: tip
        mass: 1e-7
        inertia: [1e-9, 1e-9, 1e-9, 0, 0, 0]
        joint: {{type: slide, axis: [0, 1, 0], start: {start}, coupling: {{stiffness: {stiffness}, damping: 1e-5}}}}
        shapes: [{{type: box, size: [0.02, 0.02, 0.02], material: rigid}}]
devices:
  - name: probe
    type: twin
    settings:
      axes: y
      forces: f
      mass: 0.1
      start: {start}
      hand: trajectory
      hand_file: export.csv
      hand_time: time
      hand_columns: "recording_input[y]"
      hand_channels: "recording_input[y]"
      hand_interpolation: linear
      hand_stiffness: 1e8
      hand_damping: 6e3
inputs: [{{from: probe.y, to: hand.tip}}]
outputs: [{{from: hand.tip, to: probe.f, limit: 100, rate: 1e9}}]
"""


def import_probe(folder, head, rows):
    """Imports rows of position and command, and exports them to export.csv. Gives the ticks, and for each of them the rows before
    and after it and its share of the time between them; None in a gap."""
    _, ticks, _ = imported(folder, "\n".join([head, *(",".join(("S", *map(repr, row))) for row in rows)]) + "\n",
                           "name: probe\ntime: t_s\nsignals:\n  - {name: y, column: y_m, unit: m}\n"
                           "  - {name: f, column: fy_cmd_N, unit: N}\n")
    i, about = 0, []
    for k, tick in enumerate(ticks):
        t = rows[0][0] + 1e-3 * k
        while i + 2 < len(rows) and rows[i + 1][0] <= t:
            i += 1
        share = (t - rows[i][0]) / (rows[i + 1][0] - rows[i][0])
        about.append((rows[i], rows[i + 1], share) if tick[0] == 0 and share <= 1 else None)
    return ticks, about


def probing(folder):
    """Three people who probe a spring: position and command in every tick are those of the rows before and after it. From 100 rows
    before the first force, 400 of each; with TACT_LONG=1 all."""
    data = os.path.join(os.environ.get("TACT_SHARED", "../shared"), "data/haptic_probe/probe.csv")
    if not os.path.exists(data):
        print(f"absent: {data}")
        return
    with open(data, encoding="ascii") as stream:
        lines = stream.read().splitlines()
    long = os.environ.get("TACT_LONG") == "1"
    for person in ("S1", "S2", "S3"):
        rows = [tuple(map(float, line.split(",")[1:])) for line in lines if line.startswith(person + ",")]
        first = next(i for i, row in enumerate(rows) if row[2] != 0)
        ticks, about = import_probe(folder, lines[0], rows if long else rows[first - 100:first + 300])
        for k, (tick, between) in enumerate(zip(ticks, about)):
            before, after, share = between or ((), (), 0)
            for got, a, b in zip(tick[2:], before[1:], after[1:]):
                assert abs(got - (a + share * (b - a))) < 1e-9, (person, k, got, a, b)
        assert sum(map(bool, about)) > 0.9 * len(ticks) > 4000, (person, len(ticks))
        assert max(tick[3] for tick in ticks) > 0.5, person
        for stiffness in (40, 85):
            pressed = [i for i, row in enumerate(rows) if row[1] < -1e-3 and abs(row[2] / row[1] + stiffness) < 1]
            play(folder, lines[0], rows[pressed[0] - 36:pressed[-1] + 1 if long else pressed[0] + 114], person, stiffness)


def play(folder, head, rows, person, stiffness):
    """A twin that follows the exported import into a wall: it is sent the recorded command in every tick, also between the rows,
    but where one row is in the wall and the next one is not; and a replay has the same bits."""
    ticks, about = import_probe(folder, head, rows)
    scene, log = PROBE.format(duration=len(ticks) * 1e-3, start=rows[0][1], stiffness=stiffness), os.path.join(folder, "probe.mcap")
    tact("sim", write(folder, "probe.yaml", scene), "--record", log, "--force", "--quiet")
    assert tact("replay", log)[0].split(", ")[2].startswith("0 differing")
    forces, commands = [row[0] for row in export(folder, log, "outputs_sent", "sent.csv")], [tick[3] for tick in ticks]
    assert len(forces) == len(commands)
    off = [abs(force - command) for force, command, between in zip(forces, commands, about)
           if between and (between[0][1] < 0) == (between[1][1] < 0)]
    print(f"{person}, {stiffness} N/m: {len(off)} of {len(ticks)} ticks, up to {max(commands):.3f} N, off by {max(off):.1e} N")
    assert max(off) < 1e-4 and len(off) > 0.9 * len(ticks) and max(commands) > 0.5, (person, stiffness)


FINGER = """<mujoco model="finger">
  <compiler angle="radian" meshdir="assets"/>
  <asset><mesh file="bracket.obj"/></asset>
  <worldbody>
    <body name="link" pos="0 0 0.1">
      <joint name="bend" axis="0 1 0" range="-1 1"/>
      <geom type="mesh" mesh="bracket"/>
      <site name="tip"/>
    </body>
  </worldbody>
</mujoco>
"""
# What URDF does not have and exporters write all the same; readers of URDF leave it out.
EXPORTED = """<robot name="exported">
  <link name="palm"><origin xyz="1 2 3"/></link>
  <link name="tip"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="bend" type="revolute"><parent link="palm"/><child link="tip"/><axis xyz="0 1 0"/>
    <limit effort="1" velocity="8" lower="-1" upper="1"/>
    <joint_properties friction="0.0"/></joint>
</robot>
"""
SCENE = ("name: s\nduration: 0.02\nmaterials: [{name: skin}]\npairs: [{materials: [skin, skin], friction: 1}]\n"
         "hands: [{name: h, file: hand/finger.xml, material: skin, drive: {stiffness: 1, damping: 0.1}}]\n")


def hand(folder):
    os.makedirs(os.path.join(folder, "hand", "assets"))
    shutil.copy("examples/hands/assets/bracket.obj", os.path.join(folder, "hand", "assets"))
    model = write(folder, "hand/finger.xml", FINGER)
    text, notes = tact("import", model, "--material", "skin")
    assert "name: 'skin'" in text and "bracket.obj" in text and "<site> is left out" in notes, (text, notes)
    assert tact("import", model, "--quiet")[1] == ""
    notes = tact("import", write(folder, "exported.urdf", EXPORTED))[1]
    assert ":2: link: <origin> is left out" in notes and ":7: <joint_properties> is left out" in notes, notes
    wrong = write(folder, "wrong.urdf", EXPORTED.replace("joint_properties", "joint_spring"))
    assert "wrong.urdf:7: joint: <joint_spring> is not supported" in tact("import", wrong, code=2)[1]

    mesh = '<collision><geometry><mesh filename="package://some_hand/tip.stl"/></geometry></collision></link>'
    error = tact("import", write(folder, "package.urdf", EXPORTED.replace("</inertial></link>", "</inertial>" + mesh)),
                 code=2)[1]
    assert ":4: package://some_hand is taken as the folder of this file" in error and "tip.stl" in error, error
    assert "xacro" in tact("import", write(folder, "hand.urdf.xacro", '<robot xmlns:xacro="http://wiki.ros.org/xacro">'
                                           "<xacro:arg/></robot>"), code=2)[1]

    out = os.path.join(folder, "hand.yaml")
    tact("import", model, "-o", out, "--quiet")
    write(folder, "hand.yaml", "mine")
    assert "hand.yaml" in tact("import", model, "-o", out, code=2)[1]
    with open(out, encoding="utf-8") as stream:
        assert stream.read() == "mine"
    tact("import", model, "-o", out, "--force", "--quiet")
    tact("import", model, "-o", model, "--force", code=2)
    with open(model, encoding="utf-8") as stream:
        assert stream.read() == FINGER
    with open(out, encoding="utf-8") as stream:
        assert "file: 'hand/assets/bracket.obj'" in stream.read()
    tact("sim", out, "--duration", "0.02")
    other = os.path.join(folder, "hand", "assets", "up.yaml")
    tact("import", model, "-o", other, "--quiet", "--collision", "mesh")
    with open(other, encoding="utf-8") as stream:
        assert "type: mesh, file: '../assets/bracket.obj'" in stream.read()
    tact("sim", other, "--duration", "0.02")

    log = os.path.join(folder, "s.mcap")
    scene = write(folder, "s.yaml", SCENE)
    assert "import FILE" in tact("sim", scene, "--record", log)[1]
    shutil.rmtree(os.path.join(folder, "hand"))
    replay = json.loads(tact("replay", log, "--json")[0])
    assert replay["differing"] == 0 and replay["complete"], replay

    for text, part in (("<mujoco>", "not XML"), ("<mujoco><include file='/etc/passwd'/></mujoco>", "<include>"),
                       ("<!DOCTYPE x SYSTEM '/etc/passwd'><mujoco/>", "document type"), ("", "not XML")):
        error = tact("import", write(folder, "bad.xml", text), code=2)[1]
        assert part in error and error.count("\n") == 1 and "bad.xml:" in error and "root:" not in error, error
    assert "cannot be read" in tact("import", os.path.join(folder, "none.urdf"), code=2)[1]
    assert "are expected" in tact("import", scene, code=2)[1]
    assert "--collision" in tact("import", model, "--collision", "soft", code=2)[1]

    # a scene could not have it: the message has the hand's file and line
    os.makedirs(os.path.join(folder, "hand"))
    loud = write(folder, "hand/LOUD.XML", FINGER)
    many = write(folder, "many.xml", "<mujoco><worldbody>\n" + "<body><joint/><geom size='1'/></body>" * 200
                 + "</worldbody></mujoco>")
    os.symlink(os.path.abspath("examples/hands/assets"), os.path.join(folder, "hand", "assets"))
    for words, part in (((many,), "many.xml:"), ((loud,), "outside of the folder"), ((loud, "--json"), "--json"),
                        (("data.csv", MAP, "-o", log + "2", "--material", "m"), "--material")):
        error = tact("import", *words, code=2)[1]
        assert part in error and error.count("\n") == 1, error


CORNERS, FACES = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def make_ply():
    head = ("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
            "element face 4\nproperty list uchar int vertex_indices\nend_header\n")
    return (head + "".join("%g %g %g\n" % p for p in CORNERS) + "".join("3 %d %d %d\n" % f for f in FACES)).encode()


def make_glb():
    data = b"".join(struct.pack("<3f", *p) for p in CORNERS) + b"".join(struct.pack("<3H", *f) for f in FACES)
    text = json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [0, 0, 2], "scale": [2, 2, 2]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48},
                        {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0],
                       "max": [1, 1, 1]}, {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}]})
    text = text.encode() + b" " * (-len(text) % 4)
    return (struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(data)) + struct.pack("<II", len(text), 0x4E4F534A)
            + text + struct.pack("<II", len(data), 0x004E4942) + data)


def make_dae():
    numbers = " ".join(str(x) for p in CORNERS for x in p)
    indices = " ".join(str(i) for f in FACES for i in f)
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="12">{numbers}</float_array><technique_common>
      <accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
        <param name="Z" type="float"/></accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{indices}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 5</translate>
    <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
""".encode()


def mesh(folder):
    if not os.access(os.path.join(os.path.dirname(TACT), "tact-mesh"), os.X_OK):
        print("skipped: built without assimp")
        sys.exit(77)
    rng = random.Random(3)
    for kind, data, lowest, size in (("ply", make_ply(), 0, 1), ("glb", make_glb(), 2, 2), ("dae", make_dae(), 5, 1)):
        source, out = os.path.join(folder, "t." + kind), os.path.join(folder, kind + ".obj")

        def put(content):
            with open(source, "wb") as stream:
                stream.write(content)
        put(data)
        text = tact("import", source, "-o", out)[0]
        assert "4 triangles" in text and "closed: usable by `type: mesh`" in text, text
        with open(out, encoding="ascii") as stream:
            corners = [[float(x) for x in line.split()[1:]] for line in stream if line.startswith("v")]
        assert sorted(corners) == sorted([size * x, size * y, size * z + lowest] for x, y, z in CORNERS), corners
        tact("import", source, "-o", out, code=2)
        if kind == "ply":  # nobody can say how the reader ended
            run = subprocess.run([TACT, "import", source, "-o", out, "--force"], capture_output=True, text=True,
                                 check=False, timeout=60, restore_signals=False,
                                 preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            assert run.returncode == 2 and "the process that reads this file was stopped" in run.stderr, run
        for _ in range(4 if kind == "ply" else 12):
            changed = bytearray(data)
            for _ in range(rng.randint(1, 6)):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            put(changed[:rng.choice((len(data), len(data), rng.randrange(len(data))))])
            run = subprocess.run([TACT, "import", source, "-o", out, "--force"], capture_output=True, text=True,
                                 check=False, timeout=60)
            assert run.returncode in (0, 2) and run.stderr.count("\n") == (run.returncode == 2), run
            assert run.returncode == 0 or f"t.{kind}" in run.stderr, run.stderr


def points_of(path):
    """The sorted control points of an OBJ file, rounded to 1e-12."""
    with open(path, encoding="ascii") as stream:
        return sorted(tuple(round(float(x), 12) for x in line.split()[1:]) for line in stream if line.startswith("v"))


def readers_folders():
    return {name for name in os.listdir("/tmp") if name.startswith("tact-step-")}


def wait_until_removed(folders):
    """Other readers may run, whose folders are soon gone."""
    until = time.monotonic() + 60
    while folders & readers_folders():
        assert time.monotonic() < until, folders & readers_folders()
        time.sleep(0.05)


def ended_reader_leaves_nothing(text):
    """A reader of STEP files that is ended, as by a terminal that closes, removes the folder of its process."""
    before = readers_folders()
    with subprocess.Popen([os.path.join(os.path.dirname(TACT), "tact-step"), "step", str(len(text))], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True) as run:
        run.stdin.write(text)
        run.stdin.close()
        until = time.monotonic() + 60
        while not readers_folders() - before:
            assert time.monotonic() < until
        run.send_signal(signal.SIGHUP)
        assert run.wait(60) == 1
    wait_until_removed(readers_folders() - before)


def step(folder):
    if not os.access(os.path.join(os.path.dirname(TACT), "tact-step"), os.X_OK):
        print("skipped: built without gmsh")
        sys.exit(77)
    out, good = os.path.join(folder, "torus.obj"), torus(30, 8)
    text = tact("import", write(folder, "torus.stp", good), "-o", out)[0]
    assert "9 surfaces" in text and "3.78993e-05 m^3" in text, text
    c = circle(3)
    assert points_of(out) == sorted(
        tuple(round(x, 12) for x in (1e-3 * (30 + 8 * c[j][0]) * c[i][0], 1e-3 * (30 + 8 * c[j][0]) * c[i][1],
                                     8e-3 * c[j][1], c[i][2] * c[j][2]))
        for a in range(3) for b in range(3) for i in range(2 * a, 2 * a + 3) for j in range(2 * b, 2 * b + 3))
    text = tact("import", write(folder, "one.stp", toroidal_surface(30, 8)), "-o", out, "--force")[0]
    assert "1 surfaces" in text and "3.78993e-05 m^3" in text, text
    # OpenCASCADE makes a B-spline that closes on itself periodic.
    text = tact("import", write(folder, "closed.stp", closed_torus(30, 8)), "-o", out, "--force")[0]
    assert "1 surfaces" in text and "3.78993e-05 m^3" in text, text
    # an ellipsoid of 50 x 30 x 20 mm half axes as OpenCASCADE writes it, a B-spline with two poles
    ellipsoid = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ellipsoid.step")
    text = tact("import", ellipsoid, "-o", out, "--force")[0]
    assert "1 surfaces" in text and "0.000125664 m^3" in text, text
    ended_reader_leaves_nothing(good)
    for name, content, words in (("trimmed", torus(30, 8, trimmed=True), "trimmed"),
                                 ("hole", torus(30, 8, holed=True), "face 2, a B-spline: trimmed; expected a whole surface"),
                                 ("text", "solid\n" + good[40:], "cannot read the file as STEP"),
                                 ("digits", good.replace("E+", "e+", 3), "errors in the STEP file"),
                                 ("reference", good.replace("(#", "(#9", 3), ""),
                                 ("short", good[:len(good) // 2], ""), ("empty", "", "")):
        path = write(folder, name + ".step", content)
        if name == "digits" and "3.78993e-05 m^3" in run_import(path, out):
            continue  # the OpenCASCADE of Debian 13 reads them
        error = tact("import", path, "-o", out, "--force", code=2)[1]
        assert error.count("\n") == 1 and name + ".step" in error and words in error, error


def limits_of_reader(reader, text):
    """The limits and confinement of the process in which gmsh reads, while it reads a large solid."""
    with subprocess.Popen([reader, "step", str(len(text))], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as run:
        run.stdin.write(text)
        run.stdin.close()
        status, until = {}, time.monotonic() + 60
        while status.get("Seccomp") != "2":
            assert time.monotonic() < until and run.poll() is None, "the process that reads was never confined"
            with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as stream:
                children = stream.read().split()
            if children:
                with open(f"/proc/{children[0]}/status", encoding="ascii") as stream:
                    status = dict(line.rstrip("\n").split(":\t", 1) for line in stream if ":\t" in line)
        with open(f"/proc/{children[0]}/limits", encoding="ascii") as stream:
            limits = {line[:26].strip(): line[26:].split()[:2] for line in stream}
        assert run.wait(60) == 0, run.stderr.read()
    assert status["NoNewPrivs"] == "1", status
    for name, most in (("Max cpu time", 21), ("Max file size", 1 << 30), ("Max core file size", 0),
                       ("Max address space", 4 << 30)):
        assert all(word != "unlimited" and int(word) <= most for word in limits[name]), (name, limits[name])


def mutated(rng, text):
    """A STEP file with one to four things wrong: bytes, numbers, references, lines."""
    for _ in range(rng.randint(1, 4)):
        lines, kind = text.split("\n"), rng.randrange(6)
        i, k = rng.randrange(len(lines)), rng.randrange(len(lines))
        if kind == 0:
            at = rng.randrange(len(text))
            text = text[:at] + chr(rng.randrange(32, 127)) + text[at + 1:]
        elif kind in (1, 2):  # a number, or a reference, becomes another
            pattern = r"#\d+" if kind == 2 else r"(?<![#\d])-?\d+(\.\d*)?(E[+-]?\d+)?"
            found = list(re.finditer(pattern, text))
            if not found:  # little of the text is left
                continue
            at = rng.choice(found)
            other = rng.choice(found).group() if kind == 2 else rng.choice(
                ("0", "-1", "1e308", "1E-320", "nan", "4294967297", "99999999999999999999", "0.", "3", "$", "()"))
            text = text[:at.start()] + other + text[at.end():]
        elif kind == 3:
            lines[i], lines[k] = lines[k], lines[i]
            text = "\n".join(lines)
        elif kind == 4:
            text = "\n".join(lines[:i] + lines[i:i + 1] * rng.choice((0, 2)) + lines[i + 1:])
        else:
            at = rng.randrange(len(text))
            text = text[:at] + text[at + rng.randint(1, 40):] if rng.randrange(4) else text[:at]
        text = text or "\n"
    return text


def step_mutations(folder):
    """Files that are changed at random end in a surface or in one line, within the limits of time and memory."""
    reader = os.path.join(os.path.dirname(TACT), "tact-step")
    if not os.access(reader, os.X_OK):
        print("skipped: built without gmsh")
        sys.exit(77)
    limits_of_reader(reader, torus(30, 8, 20))
    rng = random.Random(7 + int(os.environ.get("TACT_SEED") or 0))
    good, out = (toroidal_surface(30, 8), torus(30, 8)), os.path.join(folder, "out.obj")
    before, counts, longest = readers_folders(), {"read": 0, "refused": 0, "failed": 0}, 0.0
    for i in range(1000 if os.environ.get("TACT_LONG") == "1" else 20 if os.environ.get("TACT_FEW") else 30):
        text, began = mutated(rng, good[i % 2]), resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run([reader, "step", str(len(text))], input=text, capture_output=True, text=True, check=False,
                             timeout=120)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        longest = max(longest, used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime)
        assert run.returncode in (0, 1) and run.stderr.count("\n") == run.returncode, (i, run.returncode, run.stderr)
        assert run.returncode or "surf" in run.stdout, i
        what = "failed" if "failed while" in run.stderr or "too long" in run.stderr else "refused"
        counts[what if run.returncode else "read"] += 1
        if i % 20 == 0 or not run.returncode and i % 5 == 0:  # what was read is a surface, or refused, in one line
            path = write(folder, "changed.step", text)
            run = subprocess.run([TACT, "import", path, "-o", out, "--force"], capture_output=True, text=True, check=False,
                                 timeout=120)
            assert run.returncode in (0, 2) and run.stderr.count("\n") == (run.returncode == 2), (i, run)
            assert run.returncode == 0 or "changed.step" in run.stderr, (i, run.stderr)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{counts}, at most {longest:.2f} s of processor time and {memory >> 10} MiB")
    assert counts["read"] and counts["refused"], counts
    assert longest < 25 and memory < 4 << 20
    wait_until_removed(readers_folders() - before)


def main():
    global TACT
    subjects = {f.__name__: f for f in (exact, bad, hand, mesh, step, step_mutations, guiding)}
    if len(sys.argv) != 4 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    TACT = sys.argv[2]
    os.chdir(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        subjects[sys.argv[1]](folder)


if __name__ == "__main__":
    main()
