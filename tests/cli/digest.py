#!/usr/bin/env python3
"""digest.py SUBJECT TACT CHANGE_LOG SOURCE: `tact info --hash=results`, see rt/log/LOG.md.

exact    computed again, from what `tact export` and `tact info --json` report, by xxHash's own library
same     whatever the order in which a scene declares what does not meet
changed  by the last bit of a value of each field that is part of it, and of no other
"""
import csv
import ctypes
import ctypes.util
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

LOGS = "tests/data/version1"
RULER, SWING = "examples/scenes/ruler.yaml", "examples/scenes/swing.yaml"
HEAD = "name: apart\nduration: 0.2\ncontact: {overlap: 1.0e-4}\n"
MATERIALS = ["  - {name: wood}\n", "  - {name: steel}\n"]
PAIRS = ["  - {materials: [wood, wood], friction: 0.3}\n",
         "  - {materials: [wood, steel], friction: 0.7}\n",
         "  - {materials: [steel, steel], friction: 0.2}\n"]
FLOOR = "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: wood}]}\n"
# Two balls and a cube of two shapes, which roll and slide apart from each other on a floor.
BODIES = [f"  - {{name: {name}, mass: 0.1, position: [{x}, 0, 0.02], velocity: [0, {x}, -0.1], shapes: "
          f"[{{type: sphere, radius: 0.02, material: {material}}}]}}\n"
          for name, x, material in (("zebra", 0.3, "wood"), ("ant", -0.2, "steel"))]
BODIES.append("  - {name: mole, mass: 0.1, position: [0, 0.5, 0.0199], velocity: [0.2, 0, 0], shapes: ["
              "{type: box, size: [0.04, 0.04, 0.04], material: steel}, {type: box, size: [0.04, "
              "0.04, 0.04], material: wood, position: [0.05, 0, 0]}]}\n")


def tact(*words):
    """Runs the command; gives stdout."""
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, (words, run.returncode, run.stdout, run.stderr)
    return run.stdout


def digest(log):
    found = tact("info", log, "--hash=results").split("  ")[0]
    assert re.fullmatch("[0-9a-f]{32}", found), found
    return found


def record(folder, name, scene, seconds):
    log = os.path.join(folder, name)
    tact("sim", scene, "--duration", seconds, "--moments", "host", "--record", log, "--force",
         "--quiet")
    return log


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh128(data):
    name = ctypes.util.find_library("xxhash")
    if not name:
        print("skipped: the shared library of xxHash is not found")
        sys.exit(77)
    function = ctypes.CDLL(name).XXH3_128bits
    function.argtypes, function.restype = [ctypes.c_char_p, ctypes.c_size_t], Digest
    found = function(data, len(data))
    return f"{found.high:016x}{found.low:016x}"


def field_name(name):
    """As the fields of the record are called."""
    return re.sub("[^a-z0-9]+", "_", name.lower())


def columns_of(names):
    """Of the table: numbers of the columns by field, and by field and element."""
    fields = {}
    for k, name in enumerate(names):
        fields.setdefault(name.split("[")[0], []).append(k)
    return fields, {name: k for k, name in enumerate(names)}


def list_items(info, names):
    """By name: the columns of its values, and those of a contact's patch."""
    fields, column = columns_of(names)
    items = {}
    for name in info["bodies"]:
        items["body " + name] = [k for what in ("center", "twist", "pose")
                                 for k in fields[f"{field_name(name)}_{what}"]], []
    for name in (pair["name"] for pair in info["pairs"]):
        wrench, patch, warm = (fields[f"{field_name(name)}_{what}"] for what in ("wrench", "patch", "warm"))
        items["contact " + name] = wrench + patch + warm[:6], patch
    for name in (device["name"] for device in info["devices"]):
        state, _, *channels = fields[field_name(name) + "_input"]
        items["device " + name] = [state], []
        for k in channels:
            items[f"input {name}." + re.search(r"\[(.*)\]", names[k])[1]] = [k], []
    for field in fields:
        if field.endswith("_joint"):
            name = field[:-len("_joint")]
            items["joint " + name] = fields[name + "_wrench"] + fields[field], []
    for name in info["joints"]:
        hand, link = name.split(".")
        items["link " + name] = [column[f"{field_name(hand)}_{what}[{link}]"]
                                 for what in ("position", "velocity", "target", "torque")], []
    for name in (name[len("outputs_sent["):-1] for name in names if name.startswith("outputs_sent[")):
        items["output " + name] = [column[f"outputs_{what}[{name}]"] for what in ("wanted", "sent")], []
    return items


def again(log, folder):
    """The digest by the words of rt/log/LOG.md."""
    table = os.path.join(folder, "a.csv")
    tact("export", log, "--csv", table, "--force")
    info = json.loads(tact("info", log, "--json"))
    out, kinds = [], set()
    with open(table, newline="", encoding="ascii") as stream:
        names, *rows = csv.reader(stream)
    items = sorted((name.encode(), *which) for name, which in list_items(info, names).items())
    tick = names.index("tick")
    for row in rows:
        there = [item for item in items if not item[2] or any(float(row[k]) != 0 for k in item[2])]
        out.append(struct.pack("<QI", int(row[tick]), len(there)))
        for name, values, _ in there:
            out.append(struct.pack(f"<I{len(name)}sI", len(name), name, len(values)))
            out.append(struct.pack(f"<{len(values)}d", *(float(row[k]) for k in values)))
            kinds.add(name.split()[0].decode())
    return xxh128(b"".join(out)), kinds


def write_scene(folder, turned):
    """What is declared, in one order or in the other."""
    path = os.path.join(folder, f"scene{turned}.yaml")
    lists = [part[::-1] if turned else part for part in (MATERIALS, PAIRS, BODIES)]
    with open(path, "w", encoding="ascii") as stream:
        stream.write(HEAD + "materials:\n" + "".join(lists[0]) + "pairs:\n" + "".join(lists[1]) +
                     "bodies:\n" + FLOOR + "".join(lists[2]))
    return path


def exact(folder):
    logs = [record(folder, "ruler.mcap", RULER, "1.2"), record(folder, "swing.mcap", SWING, "0.1"),
            record(folder, "apart.mcap", write_scene(folder, 0), "0.2")]
    met = set()
    for log in logs + [os.path.join(LOGS, name) for name in sorted(os.listdir(LOGS))]:
        expected, kinds = again(log, folder)
        assert digest(log) == expected, (log, digest(log), expected)
        met |= kinds
    assert met == {"body", "contact", "device", "input", "joint", "link", "output"}, met


def same(folder):
    one, other = (record(folder, f"{k}.mcap", write_scene(folder, k), "0.2") for k in (0, 1))
    touched = {pair["name"] for pair in json.loads(tact("info", one, "--json"))["pairs"]
               if pair["touching_ticks"]}
    assert touched == {"floor/zebra", "floor/ant", "floor/mole", "floor/mole#2"}, touched
    assert tact("info", "--hash", one)[:16] != tact("info", "--hash", other)[:16]
    assert digest(one) == digest(other)
    lines = tact("info", one, other, "--hash=results").splitlines()
    assert lines == [f"{digest(one)}  {log}" for log in (one, other)], lines


def changed(folder):
    log, other = record(folder, "a.mcap", RULER, "0.6"), os.path.join(folder, "b.mcap")
    pair, found = "ruler_pinch_left_distal", {digest(log)}

    def change(field, element):
        subprocess.run([CHANGE_LOG, log, other, field, str(element), "580"], check=True)
        return digest(other)

    parts = [("ruler_center", 7), ("ruler_twist", 6), ("ruler_pose", 7), (pair + "_wrench", 6),
             (pair + "_patch", 8), (pair + "_warm", 6), ("outputs_wanted", 4), ("outputs_sent", 4)]
    parts += [(f"pinch_{what}", 4) for what in ("position", "velocity", "target", "torque")]
    cases = [(field, k) for field, count in parts for k in (0, count - 1)]
    cases += [("operator_input", k) for k in (0, 2, 3, 4, 5)]
    for case in cases:
        digest_of_case = change(*case)
        assert digest_of_case not in found, case
        found.add(digest_of_case)
    for case in (("operator_input", 1), ("timing", 0), ("solver", 2), ("safety_state", 3),
                 (pair + "_moments", 0), (pair + "_warm", 6), (pair + "_margins", 1)):
        assert change(*case) == digest(log), case


def main():
    global TACT, CHANGE_LOG
    subjects = {f.__name__: f for f in (exact, same, changed)}
    if len(sys.argv) != 5 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    subject, (TACT, CHANGE_LOG) = subjects[sys.argv[1]], sys.argv[2:4]
    os.chdir(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        subject(folder)


if __name__ == "__main__":
    main()
