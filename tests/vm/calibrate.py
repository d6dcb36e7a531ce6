"""What `tact calibrate` makes of a stick (uinput) and of a measurement card (comedi_test, whose inputs
read back its outputs), and what a session makes of the files. Part of check-devices, in the machine.
Usage: calibrate.py TACT"""

import csv
import ctypes
import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

TACT = sys.argv[1]
ABS_X, ABS_Y, ABS_THROTTLE = 0, 1, 6


def new_stick():
    stick = os.open("/dev/uinput", os.O_RDWR)
    for request, values in ((0x64, (1, 3)), (0x65, (288,)), (0x67, (ABS_X, ABS_Y, ABS_THROTTLE))):
        for value in values:  # UI_SET_EVBIT, KEYBIT, ABSBIT
            fcntl.ioctl(stick, 0x40045500 | request, value)
    for axis, low, high in (ABS_X, -1000, 1000), (ABS_Y, -1000, 1000), (ABS_THROTTLE, 0, 255):
        fcntl.ioctl(stick, 0x401C5504, struct.pack("=Hxxiiiiii", axis, 0, low, high, 0, 0, 0))
    fcntl.ioctl(stick, 0x405C5503, struct.pack("=HHHH80sI", 3, 1, 2, 1, b"worn stick", 0))
    fcntl.ioctl(stick, 0x5501)  # UI_DEV_CREATE
    time.sleep(0.3)
    return stick


def push(stick, *states):
    for x, throttle in states:
        for kind, code, value in (3, ABS_X, x), (3, ABS_THROTTLE, throttle), (0, 0, 0):
            os.write(stick, struct.pack("=qqHHi", 0, 0, kind, code, value))
        time.sleep(0.005)


def write_output(channel, volts):
    """COMEDI_INSN: INSN_WRITE of one value to subdevice 1."""
    raw = ctypes.c_uint32(round((volts + 10) / 20 * 65535))
    insn = struct.pack("@IIPIIIII", 0x8000001, 1, ctypes.addressof(raw), 1, channel, 0, 0, 0)
    board = os.open("/dev/comedi0", os.O_RDWR)
    fcntl.ioctl(board, 0x8028640C, insn)
    os.close(board)


class Calibrate:
    """A run of the command, step by step."""

    def __init__(self, *words):
        self.run = subprocess.Popen([TACT, "calibrate", *words, "--force"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def asked(self):
        """What the next step says, once it waits for Enter."""
        text = b""
        while not text.endswith(b"Enter: "):
            byte = os.read(self.run.stderr.fileno(), 1)
            assert byte, text
            text += byte
        return text.decode()

    def enter(self):
        self.run.stdin.write(b"\n")
        self.run.stdin.flush()

    def end(self, code=0):
        out, err = self.run.communicate()
        print(out.decode(), err.decode(), flush=True)
        assert self.run.returncode == code, (self.run.returncode, err)
        return out.decode(), err.decode()


def numbers(path, key):
    text = open(path).read()
    return [float(n) for n in re.search(rf"^  {key}: \[(.*)\]", text, re.MULTILINE)[1].split(",")]


def session(scene, field):
    """The last values of a device's input in a session of that scene."""
    log, table = scene + ".mcap", scene + ".csv"
    subprocess.run([TACT, "sim", scene, "--duration", "0.05", "--record", log, "--force"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([TACT, "export", log, "--csv", table, "--force"], check=True, stdout=subprocess.DEVNULL)
    last = list(csv.DictReader(open(table)))[-1]
    own = [float(value) for name, value in last.items() if name.startswith(f"{field}_input[")]
    return own[2:]  # behind the state and the stamp


HAND = """moments: {source: host}
hands:
  - name: robot
    weightless: true
    links:
      - {name: tip, mass: 0.1, inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0], joint: {type: hinge, axis: [0, 0, 1]}}
"""


def axes(folder):
    stick = new_stick()
    push(stick, (30, 5))
    path = f"{folder}/stick.yaml"
    for json_too in [], ["--json"]:
        run = Calibrate("worn stick", "--seconds", "0.3", "--sweep", "0.6", "--output", path, *json_too)
        assert "release e" in run.asked()
        run.enter()
        time.sleep(0.05)
        push(stick, (30, 5), (34, 5), (30, 5))
        assert "both of its ends" in run.asked()
        run.enter()
        time.sleep(0.05)
        push(stick, (-900, 100), (0, 240), (950, 100), (36, 6))
        assert "release e" in run.asked()
        push(stick, (38, 6))
        run.enter()
        out, _ = run.end()
        assert json_too or re.search(r"abs_y +did not move", out), out
        assert numbers(path, "abs_x") == [-900, 34, 950, 5], open(path).read()
    stated = json.loads(out)
    x, y, _ = stated["axes"]
    assert x == {"name": "abs_x", "moved": True, "lowest": -900, "rest": 34, "highest": 950, "width": 5}
    assert not y["moved"] and (stated["device"], stated["file"]) == ("worn stick", path), stated
    assert numbers(path, "abs_throttle") == [5, 5.5, 240, 1.5], open(path).read()
    assert 'calibrated_for: "worn stick"' in open(path).read()
    scene = f"{folder}/stick-scene.yaml"
    with open(scene, "w") as file:
        file.write("name: stick\ndevices:\n  - {name: pad, type: evdev, calibration: stick.yaml, "
                   f"settings: {{match: worn}}}}\n{HAND}inputs:\n  - {{from: pad.abs_x, to: robot.tip}}\n")
    push(stick, (-900, 6))
    x, _, throttle, _ = session(scene, "pad")
    assert (x, throttle) == (-1, 0), (x, throttle)
    still = Calibrate("worn stick", "--seconds", "0.1", "--sweep", "0.1", "--wait", "0", "--output",
                      f"{folder}/none.yaml")
    assert "no axis has moved" in still.end(1)[1] and not os.path.exists(f"{folder}/none.yaml")
    gone = Calibrate("worn stick", "--output", f"{folder}/none.yaml")
    gone.run.stdin.close()
    gone.run.stdin = None
    assert "the input ended" in gone.end(1)[1] and not os.path.exists(f"{folder}/none.yaml")
    os.close(stick)


def board(folder):
    scene, path = f"{folder}/board.yaml", f"{folder}/rig.yaml"
    gauges = [f"g{i}" for i in range(6)]
    rows = ", ".join(str([float(i == k) for i in range(6)]) for k in range(6))
    with open(scene, "w") as file:
        file.write("name: board\ndevices:\n  - name: board\n    type: comedi\n    calibration: rig.yaml\n"
                   "    settings:\n      inputs: angle=ai0 "
                   + " ".join(f"{g}=ai{i + 1}" for i, g in enumerate(gauges))
                   + "\n      outputs: motor=ao7\n      input_units: rad V V V V V V\n      wrenches:\n"
                   f"        - {{name: wrist, channels: {' '.join(gauges)}, matrix: [{rows}]}}\n"
                   f"{HAND}inputs:\n  - {{from: board.angle, to: robot.tip}}\n")
    words = ["board", "--scene", scene, "--seconds", "0.05"]
    run = Calibrate(*words, "--channel", "angle", "--points", "0 0.5 1", "--json")
    for angle in 0.0, 0.5, 1.0:
        assert f"bring angle to {angle:g}" in run.asked()
        write_output(0, (angle - 0.2) / 0.25)
        run.enter()
    stated = json.loads(run.end()[0])
    offset, slope = numbers(path, "angle")
    assert max(abs(a - b) for a, b in zip(stated["coefficients"], (offset, slope))) < 1e-9, stated
    assert stated["worst"] < 1e-4 and [p["value"] for p in stated["points"]] == [0, 0.5, 1], stated
    assert abs(offset - 0.2) < 1e-4 and abs(slope - 0.25) < 1e-4, (offset, slope)
    for i in range(6):
        write_output(i + 1, 0.3 * i - 0.5)
    run = Calibrate(*words, "--zero", "wrist", "--wait", "0", "--json")
    stated = json.loads(run.end()[0])["gauges"]
    bias = numbers(path, "wrist")
    assert [g["name"] for g in stated] == gauges and abs(stated[5]["bias"] - bias[5]) < 1e-9, stated
    assert all(abs(b - (0.3 * i - 0.5)) < 2e-4 for i, b in enumerate(bias)), bias
    assert numbers(path, "angle") == [offset, slope] and "comedi_test" in open(path).read()
    write_output(3, 4.1)
    stated = session(scene, "board")
    assert abs(stated[0] - 1.0) < 2e-4, stated
    # 4.1 V instead of 0.1 V; the rest is at zero
    assert all(abs(w - (4.0 if k == 2 else 0.0)) < 4e-4 for k, w in enumerate(stated[7:12])), stated
    before = open(path).read()
    write_output(3, 10.0)
    assert "is saturated" in Calibrate(*words, "--zero", "wrist", "--wait", "0").end(1)[1]
    write_output(3, 4.1)
    alike = Calibrate(*words, "--channel", "angle", "--points", "0 1", "--wait", "0")
    assert "too much alike" in alike.end(1)[1]
    assert open(path).read() == before


with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
    axes(place)
    board(place)
