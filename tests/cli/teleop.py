#!/usr/bin/env python3
"""teleop.py TACT SOURCE: the two ends of examples/teleop.yaml as processes of this machine. The robot's is killed
while it presses and started again, then the person's is stopped for a second; then the link is cut for a second: the other
is safe in the stated times, and every log is complete and replays bit for bit."""
import csv
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from ports import free_port

TACT, SOURCE = (os.path.abspath(word) for word in sys.argv[1:3])
OK, LOST = 0, 2  # states of a device
RUNS = []


def tact(*words):
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, (words, run.returncode, run.stdout, run.stderr)
    return run.stdout


def edited(path, **edits):
    """Writes an example here, with a free port or a shorter script."""
    with open(os.path.join(SOURCE, "examples", path), encoding="utf-8") as file:
        text = file.read()
    for key, value in edits.items():
        text, count = re.subn(key, value, text)
        assert count, key
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def start(name, log):
    with open(f"{log}.err", "w", encoding="utf-8") as err:
        run = subprocess.Popen([TACT, "teleop", "teleop.yaml", "--site", name, "--moments", "host", "--record", f"{log}.mcap"],
                                stdout=subprocess.DEVNULL, stderr=err)
    RUNS.append(run)
    return run


def wait_for(log, words, count=1):
    until = time.monotonic() + 60
    while True:
        with open(f"{log}.err", encoding="utf-8") as file:
            text = file.read()
        if text.count(words) >= count:
            return
        assert time.monotonic() < until, text
        time.sleep(0.02)


def columns(log, *names):
    tact("export", f"{log}.mcap", "--csv", f"{log}.csv", "--force")
    with open(f"{log}.csv", encoding="ascii") as file:
        rows = csv.reader(file)
        head = next(rows)
        at = [head.index(name) for name in names]
        return [[float(row[i]) for i in at] for row in rows]


def checked(log):
    assert "complete" in tact("info", f"{log}.mcap")
    assert " 0 differing" in tact("replay", f"{log}.mcap", "--verify")


def released(rows, first):
    """From the last packet before row `first` on, in which the device was no longer OK: STALE within 0.1 s, LOST within
    0.5 s, no force after 0.3 s more; a tick that was late has its own time."""
    heard = rows[first][2]
    for stamp, state, _, force in rows[first:]:
        silent = 1e-9 * (stamp - heard)
        if state == OK:
            return
        assert silent < 0.56 or state == LOST, (silent, state)
        assert silent < 0.36 or abs(force) < 0.05, (silent, force)


def main():
    port = free_port()
    script = "script: [[1.5, 0, 0, 0], [2.2, 1, 0, 0]]\n      deadman_from: 1"
    edited("teleop.yaml", **{r"127\.0\.0\.1:4710": f"127.0.0.1:{port}"})
    edited("scenes/teleop_local.yaml", **{r"script:(.*\n)*?.*deadman_from: 2": script, "duration: 24": "duration: 20"})
    edited("scenes/teleop_remote.yaml", **{"duration: 24": "duration: 20"})
    robot = start("remote", "killed")
    person = start("local", "local")
    wait_for("local", "is there")
    time.sleep(3.5)
    robot.send_signal(signal.SIGKILL)
    robot.wait()
    time.sleep(1.0)
    again = start("remote", "again")
    wait_for("local", "is there", 2)
    time.sleep(1.0)
    person.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    person.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    person.send_signal(signal.SIGTERM)
    person.wait(60)
    again.send_signal(signal.SIGTERM)
    again.wait(60)

    tact("recover", "killed.mcap")
    for log in ("killed", "local", "again"):
        checked(log)
    numbers = ("stamp_ns", "site_input[state]", "site_input[stamp_ns]")
    rows = columns("local", *numbers, "person_left_remote[3]")
    tact("plot", "local.mcap", "again.mcap", "-o", "both.gp")
    with open("both.gp", encoding="utf-8") as file:
        begins = float(re.search(r"B \(dashed, ([-+0-9.]*) s\)", file.read())[1])
    apart = 1e-9 * (columns("again", "stamp_ns")[0][0] - rows[0][0])  # of one machine, whose clock they share
    assert abs(begins - apart) < 0.02, (begins, apart)
    found = [row[1] == OK for row in rows].index(True)
    first = next(i for i in range(found, len(rows)) if rows[i][1] != OK)
    pressed = min(row[3] for row in rows[:first])
    print(f"pressed with {-pressed:.2f} N, silent from {1e-9 * (rows[first][2] - rows[0][0]):.3f} s on")
    assert pressed < -2.0, pressed
    released(rows, first)
    assert rows[first][0] - rows[first][2] < 0.3e9  # it was noticed within 0.1 s, and late ticks
    assert all(abs(row[3]) < 0.05 for row in rows[first + 600:]), "engaged again without its deadman"
    states = [row[1] for row in columns("again", *numbers)]
    assert states.count(OK) > 100, ("the end that was started again was connected too shortly", states.count(OK), len(states))
    assert LOST in states[states.index(OK):], "did not notice that the person's end was stopped"
    held = [row[0] for row in columns("killed", "robot_left_remote[3]")]
    assert max(held) > 2.0, max(held)


class Relay(threading.Thread):
    """Between the person's end and the robot's: what arrives at its port goes to the robot's and back, but while it is cut."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.cut, self.ended, self.to, self.person = False, False, ("127.0.0.1", to), None
        self.near, self.far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.near.bind(("127.0.0.1", 0))
        self.port = self.near.getsockname()[1]

    def run(self):
        while not self.ended:
            for side in select.select([self.near, self.far], [], [], 0.1)[0]:
                try:
                    data, sender = side.recvfrom(2048)
                    self.person = sender if side is self.near else self.person
                    if not self.cut:
                        (self.far if side is self.near else self.near).sendto(data, self.to if side is self.near else self.person)
                except ConnectionError:  # the robot's end is not there yet
                    pass
        self.near.close()
        self.far.close()


def cut():
    """The link is cut for 1 s in the press. Nobody has a deadman here, so that the ties engage by themselves: the same
    press returns, without a jump."""
    port = free_port()
    relay = Relay(port)
    relay.start()
    edited("teleop.yaml", **{r'connect: "127\.0\.0\.1:4710"': f'connect: "127.0.0.1:{relay.port}"',
                             r'listen: "127\.0\.0\.1:4710"': f'listen: "127.0.0.1:{port}"', r"delay: 0\.05": "delay: 0.01"})
    edited("scenes/teleop_local.yaml", **{r"script:(.*\n)*?.*deadman_from: 2": "script: [[0.8, 0, 0, 0], [1.3, 1, 0, 0]]\n      deadman_from: 0",
                                          "duration: 24": "duration: 20", "deadman: operator.deadman": ""})
    edited("scenes/teleop_remote.yaml", **{"duration: 24": "duration: 20"})
    ends = start("remote", "robot"), start("local", "person")
    wait_for("person", "is there")
    time.sleep(2.7)
    relay.cut = True
    time.sleep(1.0)
    relay.cut = False
    wait_for("person", "is there", 2)
    time.sleep(4.0)
    for end in reversed(ends):
        end.send_signal(signal.SIGTERM)
        end.wait(60)
    relay.ended = True
    relay.join()
    for log, joint in (("person", "person_left_remote[3]"), ("robot", "robot_left_remote[3]")):
        checked(log)
        rows = columns(log, "stamp_ns", "site_input[state]", "site_input[stamp_ns]", joint)
        found = [row[1] == OK for row in rows].index(True)
        first = next(i for i in range(found, len(rows)) if rows[i][1] == LOST)
        while rows[first - 1][1] != OK:
            first -= 1
        back = next(i for i in range(first, len(rows)) if rows[i][1] == OK)
        before, least, after = rows[first - 150][3], min(abs(row[3]) for row in rows[first:back]), rows[-50][3]
        jump = max(abs(a[3] - b[3]) for a, b in zip(rows[back:back + 1500], rows[back + 1:]))
        print(f"{log}: {before:.3f} N, {least:.3f} N while it was cut, {after:.3f} N after it; at most {jump:.3f} N a tick")
        assert LOST in [row[1] for row in rows[first:back]] and abs(before) > 4.0, before
        assert abs(after - before) < 0.05 * abs(before), (before, after)
        if log == "person":
            released(rows, first)
            assert jump < 0.5, jump


for end in ("local", "remote"):  # the example by a model is one that can be run
    assert "mode: model" in tact("teleop", os.path.join(SOURCE, "examples/teleop_model.yaml"), "--site", end, "--print")
for _ in range(50 if os.environ.get("TACT_LONG", "0") not in ("", "0") else 1):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            main()
            cut()
        finally:
            for process in RUNS:
                process.kill()
            os.chdir("/")
