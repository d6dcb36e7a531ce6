#!/usr/bin/env python3
"""readers.py SUBJECT TACT CHANGE_LOG SOURCE: what the command reports of a log or a scene.

info     whole, cut and damaged logs: how they ended, what is in them, as text and as JSON
values   numbers of a log out of their range, a log without a tick
plot     a page as PNG, as SVG and as gnuplot's script, whose numbers are checked
picture  moments of a session: size, the colours of patch and force, what is refused
export   usage, outputs that cannot be written, cut logs (tests/python reads what is written)
diff     equal sessions, one changed bit, another friction, other lengths
bench    sweeps of the 6D contact and of contact points, against what the paper shows
recompute  a part of a log; with other moments, with another solver
split    a session in several files: read as one, one file missing, killed and recovered
markers  buttons as events; what of real time was granted
"""
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
import zlib

from ports import free_port
from recordings import start_recording
from svg_text import boxes

RULER = "examples/scenes/ruler.yaml"


def tact(*words, code=0, folder=None):
    """Runs the command, in a folder; gives stdout and stderr. The exit code must be as said."""
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120, cwd=folder)
    assert run.returncode == code, (words, run.returncode, code, run.stdout, run.stderr)
    return run.stdout, run.stderr


def check_zeros(text):
    """A number that is rounded to zero has no sign."""
    found = re.search(r"(?<![\w.])[-\u2212]0(\.0+)?(?![\w.])", text)
    assert not found, text[max(0, found.start() - 80):found.end() + 20]


def record(folder, name, seconds="2", scene=RULER):
    log = os.path.join(folder, name)
    out, _ = tact("sim", scene, "--duration", seconds, "--moments", "host", "--record", log, "--force", "--quiet")
    check_zeros(out)
    return log


def usage(name, *bad):
    """The help, and one line on stderr for each bad usage."""
    out, err = tact(name, "--help")
    assert f"usage: tact {name}" in out and "exit codes:" in out and "example" in out and not err
    assert max(map(len, out.splitlines())) <= 100, name
    for words in ([], ["--no-such-option"], *bad):
        out, err = tact(name, *words, code=2)
        assert not out and len(err.splitlines()) == 1, (words, out, err)


def inside_chunk(data, after):
    """A byte in the middle of the first chunk that begins after a place in an MCAP file."""
    at = 8
    while data[at] != 6 or at < after:
        at += 9 + int.from_bytes(data[at + 1:at + 9], "little")
    return at + 9 + int.from_bytes(data[at + 1:at + 9], "little") // 2


def info(folder):
    usage("info", ["a", "b"], ["no/such.mcap"], [RULER], ["--hash"], ["--hash", RULER],
          ["--hash=results"], ["--hash=results", RULER], ["--hash=values", RULER])
    log = record(folder, "a.mcap")
    again = record(folder, "again.mcap")  # other stamps and times, the same values
    hashes = [line.split() for line in tact("info", "--hash", log, again)[0].splitlines()]
    assert [name for _, name in hashes] == [log, again] and len(hashes[0][0]) == 16, hashes
    assert hashes[0][0] == hashes[1][0], hashes
    subprocess.run([CHANGE_LOG, log, again, "ruler_twist", "2", "1700"], check=True)
    assert tact("info", "--hash", again)[0].split()[0] != hashes[0][0]
    out, err = tact("info", log)
    assert not err
    for word in ("2.000 s", "free-wheeling", "complete", "2000 (0 to 1999), 0 missing in 0 gaps",
                 "ruler/pinch.left_distal", "operator (operator)", "tf2_msgs/msg/TFMessage",
                 "lapack", "armed at the end, 0 faults"):
        assert word in out, (word, out)
    found = json.loads(tact("info", log, "--json")[0])
    assert found["complete"] and found["why"] == "" and found["bytes_lost"] == 0
    assert found["file_bytes"] == os.path.getsize(log)
    assert abs(found["duration_s"] - 2) < 1e-9
    assert [(e["name"], e["text"]) for e in found["events"]] == [("touch", "ruler in pinch")], found["events"]
    assert 100 < found["events"][0]["tick"] < 600, found["events"]
    counts = {name: topic["messages"] for name, topic in found["topics"].items()}
    assert counts.pop("/contacts/ruler_pinch_left_distal/wrench") > 100 < counts.pop(
        "/contacts/ruler_pinch_right_distal/wrench"), counts
    assert counts.pop("/contacts/markers") > 100
    assert counts == {"/tact/tick": 2000, "/tact/events": 1, "/joint_states": 200, "/tf": 200,
                      "/scene": 1}, counts
    pairs = {pair["name"]: pair for pair in found["pairs"]}
    for side in ("left", "right"):
        pair = pairs[f"ruler/pinch.{side}_distal"]
        assert pair["friction"] == 0.8 and 3.9 < pair["normal_max_N"] < 4.5, pair
        assert 1000 < pair["touching_ticks"] < 2000, pair
        assert 0.006 < pair["torsion_max_Nm"] < 0.01, pair
        assert re.fullmatch(r"sticks, \d+ % of friction and torsion used", pair["at_end"]), pair
        assert "at the end: " + pair["at_end"] in out, (pair, out)
    hold, = found["holds"]
    assert (hold["body"], hold["hand"], found["stops"]) == ("ruler", "pinch", {}), (hold, found["stops"])
    assert 7.8 < hold["grip_force_max_N"] < 9 and hold["slip_m"] < 1e-5 and 5 < hold["grip_over_load_least"], hold
    assert found["bodies"] == ["ruler"] and len(found["joints"]) == 4
    # A handle pushes a box without friction: the box weighs nothing on it but rounding errors.
    pushed, = json.loads(tact("info", record(folder, "pushed.mcap", scene="examples/scenes/admittance.yaml"), "--json")[0])["holds"]
    assert pushed["grip_over_load_least"] is None and pushed["grip_force_max_N"] > 1, pushed
    assert found["facts"]["period_s"] == "0.001" and found["facts"]["build"]

    with open(log, "rb") as stream:
        data = bytearray(stream.read())
    bad = os.path.join(folder, "bad.mcap")
    with open(bad, "wb") as stream:
        stream.write(data[:len(data) // 2])
    out, _ = tact("info", bad, code=3)
    assert "not complete: " in out and "bytes lost" in out, out
    cut = json.loads(tact("info", bad, "--json", code=3)[0])
    assert not cut["complete"] and cut["why"] and 0 < cut["ticks"] < 2000, cut
    assert cut["damage_at"] + cut["bytes_lost"] == cut["file_bytes"] == len(data) // 2, cut
    ticks = cut["ticks"]
    counts = {name: topic["messages"] for name, topic in cut["topics"].items()}
    tenth = (ticks + 9) // 10
    assert (counts["/tact/tick"], counts["/joint_states"], counts["/tf"]) == (ticks, tenth, tenth)
    data[inside_chunk(data, len(data) // 2)] ^= 4
    with open(bad, "wb") as stream:
        stream.write(data)
    flipped = json.loads(tact("info", bad, "--json", code=3)[0])
    assert not flipped["complete"] and ticks <= flipped["ticks"] < 2000, flipped


def changed_log(folder, log, *change):
    """A copy of a log with a number of its own, or without ticks: see change_log."""
    bad = os.path.join(folder, "changed.mcap")
    subprocess.run([CHANGE_LOG, log, bad, *change], check=True)
    return bad


def recorded(folder, log, why):
    """A device that plays a log which cannot be played is refused in one line."""
    scene = os.path.join(folder, "recorded.yaml")
    with open(scene, "w", encoding="utf-8") as stream:
        stream.write(f"name: played\ndevices:\n  - {{name: operator, type: recording, settings: {{file: {log}}}}}\n"
                     "bodies:\n  - {name: ball, mass: 1, shapes: [{type: sphere, radius: 0.1, material: steel}]}\n"
                     "materials: [{name: steel}]\n")
    out, err = tact("sim", scene, "--duration", "0.01", code=2)
    assert not out and err.count("\n") == 1 and why in err and "recorded.yaml:3:" in err, (out, err)


def values(folder):
    """Numbers of a log out of their range, and a log without a tick: each is said, none is taken for an index."""
    log, page = record(folder, "a.mcap", "0.8"), os.path.join(folder, "a.gp")
    for element, number in ("0", "inf"), ("1", "nan"), ("1", "1e300"), ("0", "-7"):
        bad = changed_log(folder, log, "timing", element, "100", f"number={number}")
        tact("info", bad)
        tact("plot", bad, "-o", page, "--force")
    for number, share in ("inf", "0 %"), ("nan", "100 %"), ("7", "0 %"), ("-0.5", "100 %"):
        bad = changed_log(folder, log, "ruler_pinch_left_distal_margins", "1", "799", f"number={number}")
        left, = (pair for pair in json.loads(tact("info", bad, "--json")[0])["pairs"] if "left" in pair["name"])
        assert left["at_end"] == f"sticks, {share} of friction and torsion used", (number, left)
    for number, state in ("-1", "unknown"), ("3", "unknown"), ("inf", "unknown"), ("0", "disarmed"):
        bad = changed_log(folder, log, "safety_state", "0", "799", f"number={number}")
        assert f"safety     {state} at the end" in tact("info", bad)[0]
        assert json.loads(tact("info", bad, "--json")[0])["safety"]["end"] == state
    for side, number in ("left", "-inf"), ("right", "inf"):  # one of them along the normal, which the other is not
        bad = changed_log(folder, log, f"ruler_pinch_{side}_distal_wrench", "1", "790", f"number={number}")
        pairs = {pair["name"]: pair for pair in json.loads(tact("info", bad, "--json")[0])["pairs"]}
        assert list(pairs) == ["ruler/pinch.left_distal", "ruler/pinch.right_distal"], pairs
        assert pairs[f"ruler/pinch.{side}_distal"]["normal_max_N"] is None, pairs
        if shutil.which("gnuplot"):
            tact("plot", bad, "--from", "780", "--to", "800", "-o", os.path.join(folder, "a.svg"), "--force")
    for element, number in ("0", "-1"), ("0", "nan"), ("0", "1e10"), ("1", "inf"), ("1", "-1e19"):
        recorded(folder, changed_log(folder, log, "operator_input", element, "7", f"number={number}"), "tick 7 of the log: ")
    empty = changed_log(folder, log, "timing", "0", "0", "end=0")
    out, _ = tact("info", empty)
    assert out.startswith(f"{empty}: 0.000 s, unknown\n"), out  # a log without a tick has no time
    untimed = json.loads(tact("info", empty, "--json")[0])
    assert (untimed["ticks"], untimed["duration_s"], untimed["start_wall_ns"]) == (0, 0, -1), untimed
    assert "ticks      0 " in out and "a tick" not in out and "inf" not in re.sub(r"info|infin", "", out), out
    out, err = tact("plot", empty, "-o", page, "--force", code=2)
    assert not out and err == f"tact: {empty}: the log has no tick\n", err
    recorded(folder, empty, "the log to play back has no tick")


def blocks(path):
    """The data blocks of a script, by name, as rows of numbers."""
    found, rows = {}, None
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if line.rstrip().endswith("<< EOD"):
                rows = found.setdefault(line.split()[0], [])
            elif line.strip() == "EOD":
                rows = None
            elif rows is not None and line.strip():
                rows.append([float(word) for word in line.split()])
    return found


def ranges(name, folder):
    """What --from and --to refuse, the same in every subcommand."""
    log = record(folder, "range.mcap", "0.1")
    for text in ("1.5", "0.5", "-1", "1e2", "2x", "1.5 s", "0x10", "0x10s", "1e2s", "nan", "infs", "1.5m", "", "s", "1,5s",
                 "99999999999999999999"):
        for option in ("--from", "--to"):
            out, err = tact(name, log, f"{option}={text}", code=2)
            assert not out and err.count("\n") == 1, (text, out, err)
            assert f"{option} {text}: " in err and "1.5s or 1500ms" in err and "a tick" in err, err
    for words in (("--from", "0.1s"), ("--from", "100"), ("--from", "3s"), ("--to", "0"), ("--to", "0ms"),
                  ("--from", "50", "--to", "50"), ("--from", "60ms", "--to", "0.02s"),
                  ("--from", "60", "--to", "0.02s"), ("--from", "0.06s", "--to", "20")):
        out, err = tact(name, log, *words, code=2)
        assert not out and err.count("\n") == 1 and "range" in err, (words, out, err)
    return log


def check_texts(svg, least=31):
    """No text of a page runs into another, or out of the page."""
    found = boxes(svg)
    width, height = (float(n) for n in xml.etree.ElementTree.parse(svg).getroot().get("viewBox").split()[2:])
    assert len(found) >= least, found
    for i, (text, left, right, top, bottom) in enumerate(found):
        check_zeros(text)
        assert left >= 0 and right <= width and top >= 0 and bottom <= height, (text, left, right, top, bottom)
        for other in found[:i]:
            apart = right <= other[1] or other[2] <= left or bottom <= other[3] or other[4] <= top
            assert apart or (text, left) == other[:2], (text, other)


def record_balls(folder, names):
    """Balls of these names that rest on a floor, each with a contact of its own. The log."""
    scene = os.path.join(folder, "many.yaml")
    with open(scene, "w", encoding="utf-8") as stream:
        stream.write("name: many\nduration: 0.1\nmaterials: [{name: steel}]\n"
                     "pairs: [{materials: [steel, steel], friction: 0.5}]\nbodies:\n"
                     "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n")
        for i, name in enumerate(names):
            stream.write(f"  - {{name: {name}, mass: 0.01, position: [{0.05 * (i % 10)}, {0.05 * (i // 10)}, 0.01], "
                         "shapes: [{type: sphere, radius: 0.01, material: steel}]}\n")
    return record(folder, "many.mcap", "0.1", scene)


def plot_counts(folder, svg):
    """From one contact to 75, with names of one letter and of 47, of narrow and of the widest letters: no text runs into
    another in plot or picture."""
    cases = [(count, letters, "0") for count in (1, 2, 3, 4, 5, 6, 7, 9, 13, 26, 40, 75) for letters in (1, 2, 12, 30, 47)
             if 26 ** letters >= count]
    wide = [(6, letters, fill) for letters in (12, 30, 47) for fill in "WmM_i"]
    for count, letters, fill in cases + wide + [(75, 30, "m"), (75, 47, "W")]:
        names = [(chr(97 + i % 26) + (str(i // 26) if letters > 1 else "")).ljust(letters, fill) for i in range(count)]
        log = record_balls(folder, names)
        for command in ("plot", "picture"):
            tact(command, log, "-o", svg, "--force")
            check_texts(svg, 9)
        os.remove(log)
    with open(os.path.join(folder, "many.yaml"), "r+", encoding="utf-8") as stream:
        text = stream.read()
        stream.seek(0)
        stream.write(text.replace(f"name: {names[0]}", "name: " + 60 * "w"))
    out, err = tact("sim", os.path.join(folder, "many.yaml"), code=2)
    assert not out and err.count("\n") == 1 and "name" in err, err


def plot_many(folder, svg):
    """75 contacts, names of 47 letters, the longest that there are: the page names what it draws and counts the rest."""
    log = record_balls(folder, [f"BALL_{i:02d}_" + "W" * 39 for i in range(75)])
    tact("plot", log, "-o", svg, "--force")
    text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    assert "and 69 further contacts with less force, not drawn" in text, text
    assert text.count("µm") + text.count(" mm") >= 6 and "no patch" not in text, text
    assert "and 71 further bodies, not drawn" in text, text
    check_texts(svg)
    # The pictures of the same: small and large frames, one and many side by side.
    for size, columns, times in (("64,48", 1, "0.02,0.05"), ("80,60", 12, "0,0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08"),
                                 ("200,100", 2, "0.05,0.09,0.02"), ("600,100", 1, "0.05")):
        tact("picture", log, "-o", svg, "--force", "--size", size, "--columns", str(columns), "--time", times)
        check_texts(svg, 1 + len(times.split(",")) + 4)
    text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    assert "0.05 s: 75 contacts, max 0.098" in text and "force, longest 0.098" in text, text


def plot_formats(folder, svg):
    """The longest names and a long path of a log: text runs into no other, with one log and with two, and is as wide beside
    the page in a PNG as it is in an SVG, of which that is checked."""
    scene, deep, png = (os.path.join(folder, name) for name in ("long.yaml", "deep" * 20, "long.png"))
    with open(RULER, encoding="utf-8") as source, open(scene, "w", encoding="utf-8") as stream:
        text = source.read().replace("name: ruler", "name: " + "ruler_" * 7 + "ruler", 1)
        stream.write(text.replace("pinch", "pinch_of_many_fingers").replace("left_distal", "left_distal_" + "L" * 12))
    os.mkdir(deep)
    log = record(folder, os.path.join("deep" * 20, "long.mcap"), "1.2", scene)
    with open(scene, "w", encoding="utf-8") as stream:
        for old, new in ("ruler_" * 7 + "ruler", "W" * 47), ("ruler", "W" * 47), ("pinch", "M" * 20), ("distal", "m" * 26):
            text = text.replace(old, new)
        stream.write(text)
    wide = record(folder, "W" * 60 + ".mcap", "1.2", scene)
    for logs in (wide,), (wide, log), (log, wide), (log, log), (log,):
        tact("plot", *logs, "-o", svg, "--force")
        check_texts(svg)
    title = next(box for box in boxes(svg) if box[0].startswith("ruler_ruler"))
    tact("plot", log, "-o", png)
    width, _, rows = pixels(png, 40)
    ends = [max((x for x in range(width) if max(rows[y][x]) < 100), default=0) for y in range(int(title[3]) + 2, int(title[4]) - 2)]
    assert abs(max(ends) / title[2] - 1) < 0.08, (max(ends), title)


def plot_pressure(folder, svg):
    """A soft ball and a soft block on a plane: what they press with, drawn and written."""
    scene = os.path.join(folder, "soft.yaml")
    with open(scene, "w", encoding="utf-8") as stream:
        stream.write("name: soft\nduration: 0.3\nmaterials: [{name: rubber, field: {modulus: 2e5, thickness: 0.01}}, {name: steel}]\n"
                     "pairs:\n  - {materials: [rubber, steel], friction: 0.6, model: field, dissipation: 0.003}\n"
                     "  - {materials: [rubber, rubber], friction: 0.6, model: field}\nbodies:\n"
                     "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n"
                     "  - {name: ball, mass: 0.1, position: [0, 0, 0.02], shapes: [{type: sphere, radius: 0.02, material: rubber}]}\n"
                     "  - {name: block, mass: 0.2, position: [0.1, 0, 0.01], shapes: [{type: box, size: [0.04, 0.05, 0.02], material: rubber}]}\n")
    log, gp, png = record(folder, "soft.mcap", "0.3", scene), os.path.join(folder, "soft.gp"), os.path.join(folder, "soft.png")
    tact("plot", log, "-o", gp)
    with open(gp, encoding="utf-8") as stream:
        script = stream.read()
    polygons = re.findall(r"set object (\d+) polygon", script)
    assert len(polygons) > 256 and polygons[-1] == str(len(polygons)) and f"[i=1:{polygons[-1]}] object" in script
    # 0.2 kg on 40 x 50 mm; and a ball, N = 2 pi slope int (R - r) r dr from R - d to R.
    assert re.search(r", 0\.98\d kPa, 1\.96 N", script) and ", 17.9 kPa, 0.981 N" in script, re.findall(r".*kPa.*", script)
    tact("plot", log, "-o", svg, "--force")
    check_texts(svg)
    tact("picture", log, "-o", png, "--time", "0.2", "--camera", "-90,60", "--look", "0,0,0,0.02")
    _, _, rows = pixels(png)
    light = sum(r > 230 and 200 < g and b < 160 for row in rows[24:284] for r, g, b in row)
    dark = sum(30 < r < 110 and g < 40 and 60 < b < 110 for row in rows[24:284] for r, g, b in row)
    assert light > 100 and dark > 100, (light, dark)
    tact("picture", log, "-o", svg, "--force")
    text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    assert "pressure, 0 to " in text and re.search(r"0\.299 s: 2 contacts, max 1\.96 N, 17\.\d kPa", text), text
    check_texts(svg, 9)


def plot_changing(folder):
    """A patch that changes its shape: the centres of pressure are in the one that is drawn, some at its edge."""
    gp = os.path.join(folder, "cube.gp")
    tact("plot", record(folder, "cube.mcap", "0.2", "examples/scenes/bumpy_cube.yaml"), "-o", gp)
    data = blocks(gp)
    outline, shares = data["$AO0"], []
    for x, y in data["$AC0"]:
        share = 0.0
        for (ax, ay), (bx, by) in zip(outline, outline[1:] + outline[:1]):
            nx, ny = by - ay, ax - bx
            if nx * ax + ny * ay > 1e-9:
                share = max(share, (nx * x + ny * y) / (nx * ax + ny * ay))
        shares.append(share)
    assert len(shares) > 50 and 1 - 1e-3 < max(shares) < 1 + 1e-3 and min(shares) < 0.7, (max(shares), min(shares))


def plot_impact(folder):
    """The largest force of an impact, which exceeds the axis, is stated as in tact info: 149 N, before 178."""
    gp, log = os.path.join(folder, "impact.gp"), record(folder, "impact.mcap", "0.8", "examples/scenes/bumpy_cube.yaml")
    tact("plot", log, "-o", gp)
    with open(gp, encoding="utf-8") as stream:
        panel = stream.read().split("set label 80 'Normal force [N]'")[1].split("set label 80")[0]
    normal = max(pair["normal_max_N"] for pair in json.loads(tact("info", log, "--json")[0])["pairs"])
    assert re.search(r"set label 81 'max (\S+)'", panel)[1] == f"{normal:.0f}", (normal, panel[:400])


def plot_limits(folder):
    """A puck that slides, spins, does both, or rests: what is marked as at its limit is on the line of the limit, mu N and
    mu N k; a puck that slides and spins shares the limit between the two, and is below each."""
    scene, gp = os.path.join(folder, "puck.yaml"), os.path.join(folder, "puck.gp")
    for speed, spin in ((1, 0), (0, 60), (1, 60), (0, 0)):
        with open(scene, "w", encoding="utf-8") as stream:
            stream.write("name: puck\nmaterials: [{name: steel}]\npairs: [{materials: [steel, steel], friction: 0.4}]\nbodies:\n"
                         "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n"
                         f"  - {{name: puck, mass: 0.2, position: [0, 0, 0.005], velocity: [{speed}, 0, 0], angular_velocity: [0, 0, {spin}], "
                         "shapes: [{type: box, size: [0.06, 0.06, 0.01], material: steel}]}\n")
        tact("plot", record(folder, "puck.mcap", "0.15", scene), "-o", gp, "--force")
        rows = [row[1:8] for row in blocks(gp)["$A"] if row[0] > 0.01]
        for normal, friction, limit, torsion, torsion_limit, slides, spins in rows:
            assert abs(normal / (0.2 * 9.81) - 1) < 1e-4 and abs(limit / (0.4 * normal) - 1) < 1e-5, (normal, limit)
            assert (slides == friction if speed else math.isnan(slides)), (speed, slides, friction)
            assert (spins == torsion if spin else math.isnan(spins)), (spin, spins, torsion)
            if speed and spin:
                assert 0.4 < slides / limit < 0.6 and 0.7 < -spins / torsion_limit < 0.9, (slides, limit, spins, torsion_limit)
            elif speed or spin:
                assert abs((slides / limit if speed else -spins / torsion_limit) - 1) < 1e-5, (slides, limit, spins, torsion_limit)
        assert len(rows) > 200, len(rows)


def axis_of(script, title):
    """The lower and upper end of the vertical axis of a panel."""
    found = re.search(r"set yrange \[([-\d.e+]+):([-\d.e+]+)\]", script[script.index(title):])
    return float(found[1]), float(found[2])


def plot_rounding(folder):
    """Boxes that nothing pushes aside: what is left of friction by rounding is not blown up to a panel's height; the
    friction and torsion of a held ruler are."""
    for scene, friction, torsion in (("floating_boxes", 1.0, 1.0), ("ruler", 0.4, 10.0)):
        gp = os.path.join(folder, scene + ".gp")
        tact("plot", record(folder, scene + ".mcap", "1.5" if scene == "ruler" else "0.1", f"examples/scenes/{scene}.yaml"), "-o", gp)
        with open(gp, encoding="utf-8") as stream:
            script = stream.read()
        low, high = axis_of(script, "Friction force")
        assert low == 0 and friction <= high <= 10 * friction, (scene, low, high)
        low, high = axis_of(script, "Torsion [mN m]")
        assert low == -high and 0.5 * torsion <= high <= 2 * torsion, (scene, low, high)


def plot_units(folder, script):
    """Each axis has one unit: forces of contacts are drawn with forces only, and counts of ticks and ratios on axes of their own."""
    log, columns = record(folder, "units.mcap", "0.5"), {}
    tact("plot", log, "-o", script)
    with open(script, encoding="utf-8") as stream:
        panels = re.split(r"set label 80 '", stream.read())[1:]
    for panel in panels:  # their curves: data block, last column, axes
        columns[panel.split("'")[0]] = {(name, int(re.findall(r"\d+", use.rstrip(")"))[-1]), axes) for name, use, axes in
                                        re.findall(r"\$(AH?) u (\S+)\s+(axes x1y2)?", panel)}
    forces = {title: found for title, found in columns.items() if "[N]" in title and "torque" not in title}  # without ports
    assert sorted(title.split(" [")[0].split(",")[0] for title in forces) == ["Friction force", "Grip force", "Normal force"], columns
    pair = {("A", 2 + 7 * i + k, "") for i in range(2) for k in (0, 1, 2, 5)}  # normal, friction, its limit, sliding
    for title, found in forces.items():
        first = {curve for curve in found if not curve[2]}
        assert first <= pair if "Grip" not in title else len(first) == 2 and len(found) == 3, (title, found)
    counts = [title for title, found in columns.items() if any(name == "AH" for name, _, _ in found)]
    assert counts == ["Number of ticks by duration [µs]"] and {name for name, _, _ in columns[counts[0]]} == {"AH"}, columns


def plot_stopped(folder):
    """A session that is stopped for 60 ms in its ticks: what takes longer than any other tick is drawn and counted as well."""
    log, gp = os.path.join(folder, "stopped.mcap"), os.path.join(folder, "stopped.gp")
    for _ in range(10):  # it may be stopped between two ticks
        running = start_recording(TACT, RULER, log, "--duration", "20", "--quiet", subcommand="sim")
        time.sleep(0.05)
        for signal_sent in (signal.SIGSTOP, signal.SIGCONT):
            running.send_signal(signal_sent)
            time.sleep(0.06)
        assert running.wait() == 0
        tact("plot", log, "-o", gp, "--force")
        data = blocks(gp)
        longest = max(row[-1] for row in data["$A"])
        if longest > 50e3:
            break
    assert longest > 50e3, longest
    with open(gp, encoding="utf-8") as stream:
        top = float(re.search(r"set logscale y; set yrange \[0.5:([\d.e+]+)\]", stream.read())[1])
    # the last of the bins, at 94 ms, has all longer ticks
    assert top > longest and data["$AH"][-1][0] > 0.8 * min(longest, 1e5), (top, longest, data["$AH"][-1])
    assert sum(row[2] for row in data["$AH"]) == 19999, len(data["$AH"])


def plot_gallery(folder, svg):
    """Every scene of the gallery that needs no device: text of its plot and of its picture runs into no other."""
    scenes = sorted(name for name in os.listdir("examples/scenes") if name.endswith(".yaml"))
    without = ("pad.yaml", "wheel.yaml", "teleop_local.yaml", "teleop_remote.yaml", "teleop_peg_local.yaml",
               "teleop_peg_remote.yaml")  # they need devices, or the other end
    drawn = 0
    for scene in scenes:
        if scene in without:
            continue
        log = os.path.join(folder, "gallery.mcap")
        out, _ = tact("sim", "examples/scenes/" + scene, "--moments", "host", "--record", log, "--force", "--quiet")
        check_zeros(out)
        for command, least in (("plot", 20), ("picture", 9)):
            tact(command, log, "-o", svg, "--force")
            check_texts(svg, least)
        drawn += 1
    assert drawn == len(scenes) - len(without), drawn


def plot_ports(folder, svg):
    """The port of an admittance device: energy as in tact info, force while the person pushes the box; of two logs as well."""
    gp, log = os.path.join(folder, "ports.gp"), record(folder, "ports.mcap", "2.5", "examples/scenes/admittance.yaml")
    tact("plot", log, "-o", gp)
    energy, least, force, limited = blocks(gp)["$A"][-1][-6:-2]
    (port,) = json.loads(tact("info", log, "--json")[0])["ports"].values()
    assert abs(energy - 1e3 * port["energy_J"]) < 1e-2 and energy > 100 and least == 0 and math.isnan(limited), (energy, port)
    assert abs(force - 2.162) < 2e-3, force
    with open(gp, encoding="utf-8") as stream:
        script = stream.read()
    assert script.count("Energy absorbed") == 1 and "'hand.handle'" in script, script[-3000:]
    tact("plot", record(folder, "puck.mcap", "0.1", "examples/scenes/tool_puck.yaml"), "-o", gp, "--force")
    with open(gp, encoding="utf-8") as stream:
        assert "Energy absorbed" not in stream.read()  # its port has no force
    tact("plot", log, log, "-o", svg, "--force")
    check_texts(svg)


def plot_ties(folder, svg):
    """Two ends of a link that did not meet: the panels of the ties, and one line that says that they have no common clock;
    of one end alone and of two logs of the same end nothing is said. tests/cli/teleop.py compares the panels with logs."""
    port, gp, logs = free_port(), os.path.join(folder, "ties.gp"), []
    for end in ("local", "remote"):
        scene = os.path.join(folder, f"{end}.yaml")
        with open(f"examples/scenes/teleop_{end}.yaml", encoding="utf-8") as stream:
            text = stream.read()
        with open(scene, "w", encoding="utf-8") as stream:
            stream.write(text.replace("127.0.0.1:4710", f"127.0.0.1:{port}"))
        logs.append(record(folder, f"{end}.mcap", "0.1", scene))
    for words, said in ((logs, 1), (logs[:1], 0), ((logs[0], logs[0]), 0)):
        _, err = tact("plot", *words, "-o", gp, "--force")
        assert len(err.splitlines()) == said and ("not connected with each other" in err) == said, (words, err)
        with open(gp, encoding="utf-8") as stream:
            script = stream.read()
        assert script.count("'Force of ties [N], dotted: drag'") == 1 and "negated" not in script, script[-3000:]
        assert ("'person.left, robot.left'" in script) == said and "not drawn" not in script, script[-3000:]
        # what only the second one touches is named and drawn
        assert ("'nothing touched'" in script.split("Last patches")[1].split("set label 80")[0]) != said, words
        assert ("'B: bench/ruler'" in script) == ("'B: robot.left'" in script) == ("$BO0 u" in script) == said, words
    tact("plot", *logs, "-o", svg, "--force")
    check_texts(svg, 40)
    for number in ("inf", "nan", "-1e300"):  # the round trip of one tick of twenty
        bad = changed_log(folder, logs[0], "site_input", "3", "50", f"number={number}")
        tact("plot", bad, "--from", "40", "--to", "60", "-o", svg, "--force")


def plot_turns(folder):
    """A rattleback that goes on at 4 rad/s and rocks: its angle is drawn over whole turns."""
    gp = os.path.join(folder, "rattleback.gp")
    tact("plot", record(folder, "rattleback.mcap", "6", "examples/scenes/rattleback.yaml"), "-o", gp)
    turned = [row[1 + 2 * 7 + 2] for row in blocks(gp)["$A"]]
    most = 0.0
    for angle in turned:
        assert angle > most - 5, (angle, most)
        most = max(most, angle)
    assert abs(most / (math.degrees(4) * 6) - 1) < 0.02, most
    # A hinge that turns at 5 rad/s, whose value in the log is from -pi to pi.
    gp = os.path.join(folder, "turntable.gp")
    tact("plot", record(folder, "turntable.mcap", "2", "examples/scenes/turntable.yaml"), "-o", gp)
    hinge = [row[1 + 7] for row in blocks(gp)["$A"]]
    assert hinge == sorted(hinge) and abs(hinge[-1] / math.degrees(10) - 1) < 0.01, hinge[-1]


def plot(folder):
    usage("plot", ["a", "b", "c"], ["no/such.mcap"], [RULER], ["a", "-o", "a.jpg"],
          ["a", "--from", "-1"], ["a", "--from", "2", "--to", "1"])
    ranges("plot", folder)
    log, gp = record(folder, "it's a.mcap"), os.path.join(folder, "a.gp")
    tact("plot", log, "-o", gp)
    data = blocks(gp)
    assert {"$A", "$AH", "$AC0", "$AO0", "$AC1", "$AO1"} == set(data), set(data)
    last = data["$A"][-1]
    assert 1.99 < last[0] < 2 and len(data["$A"]) == 1000
    assert sum(row[2] for row in data["$AH"]) == 1999  # the first tick has no tick before it
    for side in (0, 1):
        normal, friction, friction_limit, torsion, limit = last[1 + 7 * side:6 + 7 * side]
        assert 3.9 < normal < 4.1 and abs(friction_limit / (0.8 * normal) - 1) < 1e-5
        # R is that of a paraboloid through the overlap: a third of a per cent off a sphere's.
        # Hertz: a = (3 N R / 4 E*)^(1/3), and torsion up to mu N 3 pi / 16 a.
        a = (3 * normal * 0.008 / (4 * 3e5)) ** (1 / 3)
        assert abs(limit / (0.8 * normal * 3 * math.pi / 16 * a) - 1) < 3e-3, (limit, a)
        # Each tip holds half of the ruler's weight, and half of its torque about the tips.
        assert abs(friction / (0.03 * 9.81 / 2) - 1) < 0.01, friction
        assert abs(abs(torsion) / (0.03 * 9.81 * 0.05 / 2) - 1) < 0.02, torsion
        for x, y in data[f"$AO{side}"]:
            assert abs(math.hypot(x, y) / (1e3 * a) - 1) < 3e-3, (x, y, a)
        assert all(math.hypot(x, y) < 1e-6 for x, y in data[f"$AC{side}"])

    tact("plot", log, log, "--from", "0.5s", "--to", "1000ms", "-o", gp, "--force")
    data = blocks(gp)
    assert repr(data["$A"]) == repr(data["$B"])
    # Times of the ticks that are shown, and of each session its own limits.
    assert repr(data["$AH"]) == repr(data["$BH"]) and [sum(row[k] for row in data["$AH"]) for k in (1, 2)] == [500, 500]
    with open(gp, encoding="utf-8") as stream:
        script = stream.read()
    for session in "AB":
        assert f"${session} u 1:(1*1*$4) w l lw 0.8" in script and f"${session} u 1:(-1*1000*$6) w l lw 0.8" in script, session
    assert 0.5 <= data["$A"][1][0] < data["$A"][-1][0] <= 1.001
    with open(RULER, encoding="utf-8") as stream:
        scene = stream.read()
    rough = os.path.join(folder, "rough.yaml")
    with open(rough, "w", encoding="utf-8") as stream:
        assert scene.count("friction: 0.8") == 1
        stream.write(scene.replace("friction: 0.8", "friction: 0.9"))
    tact("plot", log, record(folder, "rough.mcap", "1", rough), "--to", "1s", "-o", gp, "--force")
    data = blocks(gp)
    for session, coefficient in ("A", 0.8), ("B", 0.9):
        loaded = [row for row in data["$" + session] if row[1] > 1 and row[8] > 1]
        assert len(loaded) > 100, (session, len(loaded))
        for row in loaded:
            assert all(abs(row[3 + 7 * side] / (coefficient * row[1 + 7 * side]) - 1) < 1e-5 for side in (0, 1)), (session, row)
    run = subprocess.run([TACT, "plot", log], env={"PATH": folder}, capture_output=True, text=True,
                         check=False)
    assert run.returncode == 1 and "gnuplot-nox" in run.stderr, run
    if not shutil.which("gnuplot"):
        print("skipped: there is no gnuplot")
        sys.exit(77)
    tact("plot", log)
    with open(os.path.join(folder, "it's a.png"), "rb") as stream:
        head = stream.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == (1400, 2139)  # of six rows
    svg = os.path.join(folder, "a.svg")
    for words in ((log,), (log, record(folder, "b.mcap", "1", "examples/scenes/turn.yaml"))):
        _, err = tact("plot", *words, "-o", svg, "--force")
        assert not err, err
        text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
        for word in ("Torsion [mN m]", "pinch.left_distal", "support ends: ruler", "it's a.mcap"):
            assert word in text, (word, text)
        check_texts(svg)
    pdf = os.path.join(folder, "a.pdf")
    tact("plot", log, "-o", pdf)
    with open(pdf, "rb") as stream:
        assert stream.read(5) == b"%PDF-"
    plot_many(folder, svg)
    plot_pressure(folder, svg)
    plot_limits(folder)
    plot_stopped(folder)
    plot_ports(folder, svg)
    plot_ties(folder, svg)
    if not os.environ.get("TACT_FEW"):
        plot_changing(folder)
        plot_impact(folder)
        plot_units(folder, os.path.join(folder, "units.gp"))
        plot_turns(folder)
        plot_rounding(folder)
        plot_formats(folder, svg)
    if os.environ.get("TACT_LONG") == "1":
        plot_gallery(folder, svg)
        plot_counts(folder, svg)
    with open(log, "rb") as stream:
        data = stream.read()
    with open(log, "wb") as stream:
        stream.write(data[:len(data) * 3 // 4])
    tact("plot", log, "--force", code=3)


def pixels(path, most=None):
    """Width, height, and the rows, or the first of them, of a PNG of 8 bits a channel without alpha."""
    with open(path, "rb") as stream:
        data = stream.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body, at = data[at + 8:at + 8 + size], at + 12 + size
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            assert (depth, colours) == (8, 2)
        packed += body if kind == b"IDAT" else b""
    raw, rows, above, step = zlib.decompress(packed), [], bytes(3 * width), 3 * width + 1
    for y in range(min(height, most or height)):
        how, row = raw[y * step], bytearray(raw[y * step + 1:(y + 1) * step])
        for x in range(3 * width):
            a, c = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            p = a + above[x] - c
            nearest = min((abs(p - v), i) for i, v in enumerate((a, above[x], c)))[1]
            row[x] = (row[x] + (0, a, above[x], (a + above[x]) // 2,
                                (a, above[x], c)[nearest])[how]) & 255
        rows.append([tuple(row[3 * i:3 * i + 3]) for i in range(width)])
        above = bytes(row)
    return width, height, rows


def funnel(folder, walls):
    """The log of a ball on a floor within vertical walls, each of which adds a corner to the outline of the floor."""
    scene = os.path.join(folder, "funnel.yaml")
    turns = [math.tau * i / walls for i in range(walls)]
    half = "{type: halfspace, material: m}"
    with open(scene, "w", encoding="utf-8") as stream:
        stream.write("name: funnel\nmaterials: [{name: m}]\npairs: [{materials: [m, m], friction: 0.5}]\nbodies:\n"
                     "  - {name: ball, mass: 0.1, position: [0, 0, 0.01], shapes: [{type: sphere, radius: 0.01, material: m}]}\n"
                     f"  - {{name: floor, fixed: true, shapes: [{half}]}}\n")
        stream.writelines(f"  - {{name: w{i}, fixed: true, position: [{0.05 * math.cos(a):.9f}, {0.05 * math.sin(a):.9f}, 0], quat_wxyz: "
                          f"[{0.5 ** 0.5}, {0.5 ** 0.5 * math.sin(a)}, {-0.5 ** 0.5 * math.cos(a)}, 0], shapes: [{half}]}}\n"
                          for i, a in enumerate(turns))
    return record(folder, "funnel.mcap", "0.01", scene)


def picture(folder):
    scene = "examples/scenes/sphere_slope.yaml"
    log, png = record(folder, "it's a.mcap", "1", scene), os.path.join(folder, "it's a.png")
    usage("picture", ["a", "b"], ["no/such.mcap"], [scene], [log, "--time", "2"],
          [log, "--time", "x"], [log, "--camera", "0"], [log, "--size", "63,60"], [log, "-o", "a.jpg"],
          [log, "--look", "0,0,0,-1"], [log, "--columns", "0"])
    run = subprocess.run([TACT, "picture", log], env={"PATH": folder}, capture_output=True,
                         text=True, check=False)
    assert run.returncode == 1 and "gnuplot-nox" in run.stderr, run
    if not shutil.which("gnuplot"):
        print("skipped: there is no gnuplot")
        sys.exit(77)
    # A ball that rolls past the camera: its marks are left out, and only it.
    tact("picture", record(folder, "far.mcap", "10", "examples/scenes/chaplygin.yaml"), "--time", "0.001,9", "-o", png)
    _, _, rows = pixels(png)
    first, last = ([p for row in rows[24:284] for p in row[at:at + 300]] for at in (0, 304))
    assert any(r > 180 and g < 40 and b < 60 for r, g, b in first) and not any(r > 180 and g < 40 for r, g, _ in last)
    # A floor with more corners than any fixed list: a disc of 0.1 m from above, 200 pixels wide.
    tact("picture", funnel(folder, 200), "--time", "0.005", "-o", png, "--force", "--camera", "0,88", "--look", "0,0,0,0.15")
    _, _, rows = pixels(png)
    disc = sum(max(p) < 250 for row in rows[24:284] for p in row[:300])
    assert abs(disc - math.pi * 100 ** 2) < 0.05 * math.pi * 100 ** 2, disc
    os.remove(png)
    # The ball of 0.1 m, seen from the side in the middle of a view of 0.3 m, on 120 pixels: 40 wide.
    _, err = tact("picture", log, "--time", "0.002,0.05,0.1", "--columns", "2", "--size", "120,100",
                  "--camera", "-90,20", "--look", "0.013,0.07,0.05,0.3")
    assert not err, err
    width, height, rows = pixels(png)
    assert width == 260 and (height - 24 - 2 * 120 - 4) % 20 == 0, (width, height)
    rows = rows[24:]
    blue = [sum(b > r + 30 for r, g, b in row[:120]) for row in rows[:100]]
    assert abs(max(blue) - 40) <= 5, max(blue)
    red = sum(r > g + 60 and r > b + 40 for row in rows[:100] for r, g, b in row[:120])
    assert red > 10, red
    svg, pdf = os.path.join(folder, "a.svg"), os.path.join(folder, "a.pdf")
    tact("picture", log, "-o", svg)
    check_texts(svg, 8)
    text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    for words in ("sphere_slope", "2 contacts, max", "contact patch", "centre of pressure", "force, longest ", " mm, as the grid"):
        assert words in text, (words, text)
    # Of a log in which a loop skipped ticks: the moments are those of their ticks, or of the last one before.
    late = changed_log(folder, log, "timing", "0", "300", "gap=300")
    tact("picture", late, "--time", "0.2,0.45,0.6,0.8,0.999", "-o", svg, "--force")
    text = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
    for words in ("0.2 s", "0.299 s", "0.6 s", "0.8 s", "0.999 s"):
        assert words in text, (words, text)
    tact("picture", log, "-o", pdf)
    with open(pdf, "rb") as stream:
        assert stream.read(5) == b"%PDF-"
    with open(log, "rb") as stream:
        data = stream.read()
    with open(log, "wb") as stream:
        stream.write(data[:len(data) * 3 // 4])
    tact("picture", log, "--time", "0.01", "--force", code=3)


def export(folder):
    usage("export", ["a"], ["a", "b", "--csv", "x"], ["no/such.mcap", "--csv", "x"])
    log = record(folder, "a.mcap", "1")
    csv, h5 = os.path.join(folder, "a.csv"), os.path.join(folder, "a.h5")
    for words in (("--csv", "no/such/a.csv"), ("--hdf5", "no/such/a.h5"), ("--csv", "/dev/full")):
        out, err = tact("export", log, *words, code=1)
        assert not out and words[1] in err and len(err.splitlines()) == 1, (words, err)
    with open(log, "rb") as stream:
        data = stream.read()
    with open(log, "wb") as stream:
        stream.write(data[:len(data) * 3 // 4])
    tact("export", log, "--csv", csv, "--hdf5", h5, code=3)
    ticks = json.loads(tact("info", log, "--json", code=3)[0])["ticks"]
    with open(csv, encoding="ascii") as stream:
        assert len(stream.readlines()) == 1 + ticks
    assert os.path.getsize(h5) > 10000


def diff(folder):
    usage("diff", ["a"], ["a", "b", "c"], ["no/such.mcap", "a"])
    a, b = record(folder, "a.mcap"), record(folder, "b.mcap")
    out, err = tact("diff", a, b)  # stamps and times differ, and are not compared
    assert "2000 ticks" in out and ": 0 differ" in out and not err, out
    changed = os.path.join(folder, "c.mcap")
    subprocess.run([CHANGE_LOG, a, changed, "ruler_twist", "2", "1700"], check=True)
    found = json.loads(tact("diff", a, changed, "--json", code=1)[0])
    assert found["differing"] == 1 and found["only_a"] == found["only_b"] == 0, found
    first, field = found["first"], found["fields"].pop("ruler_twist")
    assert (first["tick"], first["field"], first["element"]) == (1700, "ruler_twist", 2), first
    assert (field["tick"], field["element"], field["differing"]) == (1700, 2, 1) == (
        field["first_tick"], 2, 1), field
    assert float(field["largest"]) == abs(float(first["a"]) - float(first["b"])) > 0
    assert not found["fields"]
    out, _ = tact("diff", a, changed, code=1)
    assert "the first difference at tick 1700, ruler_twist[2]: " in out, out

    with open(RULER, encoding="utf-8") as stream:
        scene = stream.read().replace("friction: 0.8", "friction: 0.2")
    slippery = os.path.join(folder, "slippery.yaml")
    with open(slippery, "w", encoding="utf-8") as stream:
        stream.write(scene)
    found = json.loads(tact("diff", a, record(folder, "d.mcap", "1.5", slippery), "--json",
                            code=1)[0])
    assert found["ticks"] == 1500 and found["only_a"] == 500 and found["only_b"] == 0
    assert 300 < found["first"]["tick"] < 1000, found["first"]  # not before they touch
    assert float(found["fields"]["ruler_pose"]["largest"]) > 0.1
    found = json.loads(tact("diff", a, record(folder, "e.mcap", "1", "examples/scenes/turn.yaml"),
                            "--json", code=1)[0])
    assert found["fields_unmatched"] > 5, found
    with open(b, "rb") as stream:
        data = stream.read()
    with open(b, "wb") as stream:
        stream.write(data[:len(data) // 2])
    tact("diff", a, b, code=3)


def recompute(folder):
    for words in (["a", "--from", "-1"], ["a", "--to", "2x"], ["a", "--recompute", "guess"]):
        out, err = tact("replay", *words, code=2)
        assert not out and len(err.splitlines()) == 1, (words, err)
    ranges("replay", folder)
    log = record(folder, "a.mcap")
    for words, ticks in ((("--from", "500"), 1500), (("--to", "0.25s"), 250), ((), 2000),
                         (("--from", "0.4s", "--to", "1200"), 800), (("--from", "1"), 1999),
                         (("--from", ".5s", "--to", "501"), 1), (("--from", "1500ms"), 500),
                         (("--from", "1999", "--to", "9s"), 1)):
        found = json.loads(tact("replay", log, "--json", *words)[0])
        assert (found["ticks"], found["differing"], found["resyncs"]) == (ticks, 0, 0), found
    out, _ = tact("replay", log, "--recompute", "host")  # as it was recorded
    assert out.count(" 0 differ") == 2, out
    found = json.loads(tact("replay", log, "--recompute", "cone", "--json")[0])
    assert found["ticks"] == 2000 and found["differing"] == 0, found
    found = json.loads(tact("replay", log, "--each", "--json")[0])  # a record is the whole state
    assert (found["ticks"], found["differing"]) == (2000, 0), found
    each = json.loads(tact("replay", log, "--each", "--recompute", "bouchard", "--json", code=1)[0])["fields"]
    found = json.loads(tact("replay", log, "--recompute", "bouchard", "--json", code=1)[0])
    assert 300 < found["first"]["tick"] < 1200, found["first"]  # not before they touch
    drifted, apart = (float(f["ruler_pose"]["largest"]) for f in (found["fields"], each))
    assert drifted > 1e-9 and apart < 0.5 * drifted, (drifted, apart)
    assert "operator_input" not in found["fields"]
    out, _ = tact("replay", log, "--recompute", "bouchard", code=1)
    assert "largest" in out and "ruler_pose" in out, out
    boxes = os.path.join(folder, "boxes.mcap")  # balls are the host's wherever moments come from
    tact("sim", "examples/scenes/stack.yaml", "--moments", "host", "--duration", "0.3", "--record", boxes, "--quiet")
    try:
        out, _ = tact("replay", boxes, "--recompute", "opencl", "--json", "--quiet", code=1)
    except AssertionError as failed:
        if "cannot be computed by OpenCL" not in str(failed):
            raise
        print("skipped: there is no OpenCL")
        sys.exit(77)
    fields = json.loads(out)["fields"]
    assert 0 < float(fields["cube_9_pose"]["largest"]) < 1e-6, fields["cube_9_pose"]
    assert fields["cube_0_cube_1_status"]["b"] != "0", list(fields)


def bench_figures(folder):
    """Figures 3 to 5 of Yi and Drumwright: tact's are exact where the paper's other reading is off."""
    gp, csv = os.path.join(folder, "f.gp"), os.path.join(folder, "f.csv")
    out, err = tact("bench", "contact", "--figure", "3", "--figure", "4", "--figure", "5", "--json",
                    "-o", csv)
    assert not err, err
    figures = json.loads(out)["figures"]
    off = {name: force["deviation_rad"] for name, force in figures["3"]["forces"].items()}
    fine = abs(off["deepest point"] - off["deepest point, fine"])
    assert off["deepest point"] > 0.3 and fine < 1e-3, off  # however small the steps
    assert off["field"] < 2e-3 and off["field"] < 0.2 * off["field, 1 ms"], off
    for way in figures["4"]:
        assert not way["moves_as_drawn"] and way["gap"] > 0.004, way
        assert abs(way["moved"] / way["gap"] - 1) < 1e-3, way
    for ball in figures["5"]:
        assert abs(ball["depth"] - 0.005) < 1e-15 and abs(ball["distance_after"]) < 1e-16, ball
        assert abs(ball["aside"]) < 1e-16, ball
        assert math.isclose(ball["centres_aside"], 0.005 * ball["offset"] / 0.045), ball
    with open(csv, encoding="ascii") as stream:
        assert len(stream.read().splitlines()) == 1 + 5 * len(figures["3"]["forces"]["field"]["roll_rad"])
    out, err = tact("bench", "contact", "--figure", "3", "-o", gp)
    assert not err and "Figure 3" in out and "Figure 4" not in out, out
    assert "$D4" in blocks(gp)


def bench_tables():
    """Tables I and II of Kry and Pai."""
    # The paper's own method takes a minute: in a campaign alone.
    long = ("--reduced",) if os.environ.get("TACT_LONG", "0") != "0" and not os.environ.get("TACT_FEW") else ()
    out, err = tact("bench", "contact", "--table", "1", "--table", "2", *long, "--json")
    assert not err, err
    tables = json.loads(out)["tables"]
    assert [row["published_s"] for row in tables["2"]] == [6.542, 3.328, 1.766, 0.974, 0.521, 0.370, 0.286]
    assert all(row["unconverged"] == 0 for row in tables["2"])
    # It slides and rolls on the table in each, and where it is after 3 s depends on the step: its motion is chaotic after the
    # first second. At 64 ms it still falls.
    assert all(0.0 < row["position_m"][0] < 0.4 and -0.02 < row["position_m"][2] < 0.01 for row in tables["2"][:6])
    for row in tables["2"]:
        reduced = row.get("reduced", {"simulated_s": 3.0, "time_s": 1.0, "steps": 1})
        assert 0.3 < reduced["simulated_s"] < 3.01 and reduced["time_s"] > 0 and reduced["steps"] > 0, row
        assert ("reduced" in row) == bool(long), row
    assert [row["published_s"] for row in tables["1"]][0] == 0.2413e-3
    # Ten derivatives are more work than a contact's six with normal and curvature, on a busy machine at least half of it.
    assert all(row["time_s"] > 0 and row["time_of_ten_s"] > 0.5 * row["time_s"] for row in tables["1"])


def bench_field():
    """Figure 6 of Elandt: the field's force is M / T times the depth under the wave, in closed form; the paper's field carries
    as much as finite elements where the wave is under all of it, and 23 % less at its largest amplitude."""
    out, err = tact("bench", "field", "--json")
    assert not err, err
    rows = json.loads(out)["figures"]["6"]
    for row in rows:
        a, d, width = row["amplitude_m"], 1e-3, 0.04
        half = math.acos(max(1 - d / a, -1.0))  # phase at which the wave leaves the layer
        exact = 2e6 * width**2 / math.pi * ((d - a) * half + a * math.sin(half))
        assert abs(row["field_n"] / exact - 1) < 1.5e-3, (row, exact)
        assert row["query_s"] > 0 and row["polygons"] > 100, row
    assert [row["paper_less"] for row in rows] == [0, None, 0.23]
    assert abs(rows[0]["less"]) < 1e-9 and 0.08 < rows[1]["less"] < 0.087 and abs(rows[2]["less"] - 0.23) < 0.005, rows
    out, err = tact("bench", "field")
    assert not err and "23 %" in out and out.count(" us (") == 3, out


def bench_folder(folder):
    """Elsewhere the scenes are those that the option names; where there are none, one line says so."""
    for words, name in ((), "octagon.yaml"), (("--scene", "salad"), "salad.yaml"), (("--table", "2"), "loop_bowl.obj"):
        out, err = tact("bench", "contact", *words, code=2, folder=folder)
        assert not out and err.startswith(f"tact bench: {name} is neither in examples/scenes nor in /"), err
        assert "; --scenes FOLDER says where it is" in err and err.count("\n") == 1, err
    out, err = tact("bench", "contact", "--scenes", os.path.join(os.getcwd(), "examples/scenes"), "--scene", "octagon",
                    "--ticks", "1", "--update", "1e-3", folder=folder)
    assert "octagon" in out and not err, err


def bench(folder):
    usage("bench", ["field", "--ticks", "3"], ["field", "x"], ["field", "--table", "1"])
    usage("bench", ["contact", "no/such.yaml"], ["contact", "--scene", "none"], ["contact", "stack"],
          ["loop"], ["contact", "--ticks", "0"], ["contact", "--ticks", "1e7"], ["contact", "--sweeps", "20000"], ["contact", "--update", "x"],
          ["contact", "-o", "a.pdf"], ["contact", "--figure", "6"],
          ["contact", "--figure", "3", "--scene", "octagon"], ["contact", "--table", "3"],
          ["contact", "--table", "1", "--figure", "3"], ["contact", "--table", "1", "--reduced"], ["contact", "--table", "2", "-o", "a.png"],
          ["contact", "--figure", "4", "-o", "a.png"])
    bench_figures(folder)
    bench_tables()
    bench_field()
    bench_folder(folder)
    scenes = ("--scene", "octagon", "--scene", "stack_tapered")
    gp, csv = os.path.join(folder, "a.gp"), os.path.join(folder, "a.csv")
    # Quick under a sanitizer: with one of the two bounds.
    for update, ratio in (("1e-10", 40), ("1e-14", 60))[:1 if os.environ.get("TACT_FEW") else 2]:
        out, err = tact("bench", "contact", *scenes, "--ticks", "10", "--update", update, "--json",
                        "-o", csv, "--force")
        assert not err, err
        octagon, stack = json.loads(out)["scenes"]
        assert octagon["methods"]["6D"]["sweeps_cold"]["most"] <= 3
        assert stack["methods"]["6D"]["sweeps_cold"]["most"] <= 5
        assert stack["methods"]["6D"]["sweeps_warm"]["most"] <= 5
        for scene in octagon, stack:
            for name, method in scene["methods"].items():
                assert method["unsolved"] == method["points_left_out"] == 0, (scene["name"], name)
                assert method["curve"]["update"][-1] <= 1e-15 and len(method["time_us"]) == 4
        points = stack["methods"]["points"]
        assert points["unknowns"] == 3 * 20
        assert points["sweeps_cold"]["mean"] >= ratio * stack["methods"]["6D"]["sweeps_cold"]["mean"]
        assert stack["paper"]["6D"]["sweeps_cold"]["mean"] == 74
    # The sweep at which the octagon's curve falls under the paper's 1e-15.
    assert sum(u > 1e-15 for u in octagon["methods"]["6D"]["curve"]["update"]) < 3
    with open(csv, encoding="ascii") as stream:
        rows = stream.read().splitlines()
    assert rows[0] == "scene,method,sweep,update,residual"
    assert sum(row.startswith('stack_tapered,"6D",') for row in rows) >= 2
    assert sum(row.startswith("stack_tapered,") and ",points," in row.replace('"', "") for row in rows) > 100
    out, err = tact("bench", "contact", "examples/scenes/stack.yaml", "--ticks", "2", "--settle",
                    "0.01", "--update", "1e-3", "-o", gp)
    assert not err and "Table 1" in out and "Table 2" in out and "stack " in out, out
    assert "$D0_2" in blocks(gp)


def records(data):
    """The records of an MCAP file: opcode, offset, end."""
    at = 8
    while at + 9 <= len(data):
        end = at + 9 + int.from_bytes(data[at + 1:at + 9], "little")
        yield data[at], at, end
        at = end


def foreign_parts(folder, session, others):
    """What has the name of a session's next file is removed if it is that file and has no tick, and else left."""
    log, second = os.path.join(folder, "f.mcap"), os.path.join(folder, "f.2.mcap")
    with open(session, "rb") as stream:
        first = stream.read()
    with open(session.replace(".mcap", ".2.mcap"), "rb") as stream:
        own = stream.read()
    # A recorder that was killed before it finished the first file: without the end, which names the next one.
    first = first[:next(at for op, at, _ in records(first) if op == 0x0C and b"continued_in" in first[at:at + 200])]

    def unused(data):
        return data[:next(end for op, _, end in records(data) if op == 0x0C)]

    def recovered(content, removed):
        with open(log, "wb") as stream:
            stream.write(first)
        with open(second, "wb") as stream:
            stream.write(content)
        out, err = tact("recover", log, code=3)  # its recorder left no ticks in memory
        assert f"{second}: {'removed' if removed else 'not changed'}: " in err and err.count("\n") == 1, (out, err)
        if removed:
            assert not os.path.exists(second), err
            return
        with open(second, "rb") as stream:
            assert stream.read() == content, err

    header = bytes((1,)) + (10).to_bytes(8, "little") + (2).to_bytes(4, "little") + b"me" + bytes(4)
    recovered(unused(own), True)
    recovered(b"", False)
    recovered(own[:8] + header, False)
    recovered(unused(others), False)
    recovered(others[:len(others) // 2], False)  # with ticks that could be recovered
    changed = bytearray(unused(own))
    changed[-30] ^= 1  # in the facts, whose checksum is then wrong
    recovered(bytes(changed), False)
    os.remove(second)
    shutil.copy(session, log)
    out, err = tact("recover", log, code=3)
    assert "the file of the session's log that follows file 1 is missing" in out and not err, (out, err)


def split(folder):
    for words in (["--split-seconds", "0"], ["--split-mb", "x"]):
        out, err = tact("sim", RULER, *words, code=2)
        assert not out and words[0] in err, err
    log, whole = os.path.join(folder, "a.mcap"), record(folder, "whole.mcap", "3")
    tact("run", RULER, "--duration", "3", "--moments", "host", "--record", log, "--force", "--quiet",
         "--split-seconds", "0.5")
    parts = sorted(name for name in os.listdir(folder) if name.startswith("a."))
    assert {"a.2.mcap", "a.mcap"} <= set(parts), parts  # more, unless the machine is busy
    found = json.loads(tact("info", log, "--json")[0])
    assert found["complete"] and found["files"] == len(parts), found
    assert found["ticks"] + found["skipped"] == 3000 and found["lost"] == 0, found
    assert found["missing"] == found["skipped"], found
    again = json.loads(tact("replay", log, "--json")[0])
    assert again["differing"] == 0 and again["complete"], again
    if not found["skipped"]:
        for option in ("--hash", "--hash=results"):
            hashes = {line.split()[0] for line in tact("info", option, log, whole)[0].splitlines()}
            assert len(hashes) == 1, (option, hashes)
        assert ": 0 differ" in tact("diff", log, whole)[0]
        assert again["ticks"] == 3000
    csv = os.path.join(folder, "a.csv")
    tact("export", log, "--csv", csv)
    with open(csv, encoding="ascii") as stream:
        assert len(stream.readlines()) == 1 + found["ticks"]
    second = json.loads(tact("info", os.path.join(folder, "a.2.mcap"), "--json")[0])
    assert second["complete"] and 400 < second["first_tick"], second

    os.rename(os.path.join(folder, "a.2.mcap"), os.path.join(folder, "away"))
    cut = json.loads(tact("info", log, "--json", code=3)[0])
    assert cut["ticks"] == second["first_tick"] and "a.2.mcap" in cut["why"], cut
    os.rename(os.path.join(folder, "away"), os.path.join(folder, "a.2.mcap"))

    with open(os.path.join(folder, "a.2.mcap"), "rb") as stream:
        others = stream.read()
    run = start_recording(TACT, RULER, log, "--quiet", "--force", "--split-seconds", "0.3")
    time.sleep(2.0)
    run.kill()
    run.wait()
    assert "tact recover" in tact("info", log, code=3)[0]
    stated = json.loads(tact("recover", log, "--json")[0])
    assert stated["whole"] and stated["ticks_lost"] == 0, stated
    found = json.loads(tact("info", log, "--json")[0])
    assert found["complete"] and found["files"] >= 2, found
    assert found["ticks"] == stated["ticks"] and found["missing"] == found["skipped"], (found, stated)
    assert json.loads(tact("replay", log, "--json")[0])["differing"] == 0
    foreign_parts(folder, log, others)


def markers(folder):
    with open(RULER, encoding="utf-8") as stream:
        scene = stream.read()
    scene = scene.replace("    settings:\n", "    settings:\n      deadman_from: 0.25\n", 1)
    scene += "\nmarkers:\n  - {from: operator.deadman, name: press}\n  - {from: operator.grip}\n"
    path = os.path.join(folder, "marked.yaml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(scene)
    log = os.path.join(folder, "a.mcap")
    tact("run", path, "--duration", "1", "--moments", "host", "--record", log, "--force", "--quiet")
    events = json.loads(tact("info", log, "--json")[0])["events"]
    found = {event["name"]: event for event in events}
    assert found["press"]["tick"] == 250 and found["press"]["text"] == "operator.deadman", events
    assert 250 < found["marker"]["tick"] < 500, events  # half of the grip, between 0.1 and 0.6 s
    assert found["realtime"]["text"].startswith("granted:"), events
    assert found["touch"]["text"] == "ruler in pinch" and len(events) == 4, events


def main():
    global TACT, CHANGE_LOG
    subjects = {f.__name__: f for f in (info, values, plot, picture, export, diff, bench, recompute)}
    subjects.update({f.__name__: f for f in (split, markers)})
    if len(sys.argv) != 5 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    TACT, CHANGE_LOG = sys.argv[2:4]
    os.chdir(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        subjects[sys.argv[1]](folder)


if __name__ == "__main__":
    main()
