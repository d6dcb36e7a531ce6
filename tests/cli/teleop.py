#!/usr/bin/env python3
"""teleop.py TACT SOURCE: the two ends of examples/teleop.yaml as processes of this machine. The robot's is killed
while it presses and started again, then the person's is stopped for a second; then the link is cut in both directions and
in one, and unplugged at both ends and at one, and in the long form each end is stopped and killed, 50 times each: the other is safe
in the stated times, and every log is complete and replays bit for bit. tact plot draws what both logs say of the link."""
import glob
import math
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
from site_logs import check_log, columns, command, wait_for

TACT, SOURCE = (os.path.abspath(word) for word in sys.argv[1:3])
OK, LOST = 0, 2  # states of a device
RUNS = []


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


def released(rows, first):
    """From the last packet before row `first` on, in which the device was no longer OK: STALE within 0.1 s, LOST within
    0.5 s, no force after 0.3 s more; a tick that was late has its own time."""
    heard = rows[first][2]
    for stamp, state, _, force, *_ in rows[first:]:
        silent = 1e-9 * (stamp - heard)
        if state == OK:
            return
        assert silent < 0.56 or state == LOST, (silent, state)
        assert silent < 0.36 or abs(force) < 0.05, (silent, force)


def plotted(script, title, log, column):
    """A curve of a panel of a plot, as the least and largest value in each time interval: that of log 'A' or 'B' that is
    `column` columns after the first one of its kind in the panel, with the sign of the drawing."""
    panel = script[script.index(f"set label 80 '{title}"):]
    panel = panel[:panel.index("\nset lmargin") if "\nset lmargin" in panel else None]
    sign, number = re.findall(rf"\${log} u 1:\(?(-?)\$?(\d+)\)?", panel)[column]
    block = script[script.index(f"\n${log} << EOD\n") if log == "B" else script.index("$A << EOD\n"):]
    rows = [line.split() for line in block[block.index("EOD\n") + 4:block.index("\nEOD")].splitlines() if line]
    values = [float(row[int(number) - 1]) for row in rows]
    return sign, list(zip(values[::2], values[1::2]))


def check_curve(script, title, log, column, sign, ticks, values):
    """The curve has the least and the largest number of the log's ticks in each of 500 time intervals."""
    intervals = {}
    end = (ticks[-1] + 1) * 0.001
    for tick, value in zip(ticks, values):
        intervals.setdefault(math.floor(500 * (tick * 0.001) / end), []).append(value)
    wanted = [[value for value in intervals[i] if not math.isnan(value)] for i in sorted(intervals)]
    found_sign, found = plotted(script, title, log, column)
    assert found_sign == sign and len(found) == len(wanted), (title, log, column, found_sign, len(found), len(wanted))
    for pair, numbers in zip(found, wanted):
        assert all(map(math.isnan, pair)) if not numbers else all(
            math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-12) for a, b in zip(pair, (min(numbers), max(numbers)))), (title, log, column, pair, numbers)


def is_position_drawn(script, log, ticks, values):
    """Whether one of the joints that are drawn has these values: each has its target, its position and where it is at a stop."""
    for column in range(1, 12, 3):
        try:
            check_curve(script, "Joints [mm]", log, column, "", ticks, values)
            return True
        except (AssertionError, IndexError):
            pass
    return False


def check_link_panels():
    """The panels of both ends of the link draw what the two logs say of it."""
    command(TACT, "plot", "local.mcap", "killed.mcap", "-o", "link.gp")
    with open("link.gp", encoding="utf-8") as file:
        script = file.read()
    delay, lost, energy = ("Delay of the link [ms]; red: nothing arrives", "Packets and waves lost so far",
                           "Energy of the channel, right: left in tanks [mJ]")
    site = [f"site_input[{name}]" for name in ("one_way", "round_trip", "playout_fill", "lost", "late", "missing",
                                               "channel_energy", "state")]
    most = {}
    for log, name, tie in ("A", "local", "person_left_remote"), ("B", "killed", "robot_left_remote"):
        tick, force, tank, *link, state = map(list, zip(*columns(TACT, name, "tick", f"{tie}[3]", f"{tie}[12]", *site)))
        hand, joint = tie.split("_")[:2]
        position, rate = map(list, zip(*columns(TACT, name, f"{hand}_position[{joint}]", f"{hand}_velocity[{joint}]")))
        check_curve(script, "Force of ties [N], dotted: drag; A negated", log, 0, "-" if log == "A" else "", tick, force)
        drag = [-f * math.copysign(1, v) if log == "A" else f * math.copysign(1, v) for f, v in zip(force, rate)]
        check_curve(script, "Force of ties [N], dotted: drag; A negated", log, 1, "", tick,
                    [value if abs(v) >= 1e-3 else math.nan for value, v in zip(drag, rate)])
        assert is_position_drawn(script, log, tick, [1e3 * value for value in position]), (log, joint)
        most[log] = max(map(abs, force))
        for column in range(3):
            known = [state[i] == OK if column == 2 else value > 0 for i, value in enumerate(link[column])]
            check_curve(script, delay, log, column, "", tick, [1e3 * v if k else math.nan for v, k in zip(link[column], known)])
            check_curve(script, lost, log, column, "", tick, link[3 + column])
        check_curve(script, energy, log, 0, "", tick, [1e3 * value for value in link[6]])
        if log == "B":  # the robot's end has a tank for each tie, the person's has none
            check_curve(script, energy, log, 2, "", tick, [1e3 * value for value in tank])
        assert max(link[6]) > 0 and 0.04 < max(link[0]) and 0.01 < link[0][-1] < 0.5, (name, max(link[6]), max(link[0]), link[0][-1])
    assert min(most.values()) > 2.0 and "'person.left, robot.left'" in script, most


def main():
    port = free_port()
    script = "script: [[1.5, 0, 0, 0], [2.2, 1, 0, 0]]\n      deadman_from: 1"
    edited("teleop.yaml", **{r"127\.0\.0\.1:4710": f"127.0.0.1:{port}"})
    edited("scenes/teleop_local.yaml", **{r"script:(.*\n)*?.*deadman_from: 2": script, "duration: 24": "duration: 20"})
    edited("scenes/teleop_remote.yaml", **{"duration: 24": "duration: 20"})
    robot = start("remote", "killed")
    person = start("local", "local")
    wait_for("local", "is connected")
    time.sleep(3.5)
    killed = time.monotonic_ns()  # the clock of the logs
    robot.send_signal(signal.SIGKILL)
    robot.wait()
    time.sleep(1.0)
    again = start("remote", "again")
    wait_for("local", "is connected", 2)
    time.sleep(1.0)
    person.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    person.send_signal(signal.SIGCONT)
    time.sleep(1.5)  # the clock offset is the best one of the last two seconds, of which one follows the stop
    person.send_signal(signal.SIGTERM)
    person.wait(60)
    again.send_signal(signal.SIGTERM)
    again.wait(60)

    command(TACT, "recover", "killed.mcap")
    for log in ("killed", "local", "again"):
        check_log(TACT, log)
    numbers = ("stamp_ns", "site_input[state]", "site_input[stamp_ns]")
    rows = columns(TACT, "local", *numbers, "person_left_remote[3]")
    command(TACT, "plot", "local.mcap", "again.mcap", "-o", "both.gp")
    with open("both.gp", encoding="utf-8") as file:
        begins, error = map(float, re.search(r"B is shifted by (\S*) s .* within (\S*) ms", file.read()).groups())
    check_link_panels()
    apart = 1e-9 * (columns(TACT, "again", "stamp_ns")[0][0] - rows[0][0])  # of one machine, whose clock they share
    assert abs(begins - apart) < 1e-3 * error + 0.001, (begins, apart, error)
    found = [row[1] == OK for row in rows].index(True)
    first = next(i for i in range(found, len(rows)) if rows[i][1] != OK and rows[i][0] > killed)
    pressed = min(row[3] for row in rows[:first])
    print(f"pressed with {-pressed:.2f} N, silent from {1e-9 * (rows[first][2] - rows[0][0]):.3f} s on")
    assert pressed < -2.0, pressed
    released(rows, first)
    assert rows[first][0] - rows[first][2] < 0.3e9  # it was noticed within 0.1 s, and late ticks
    assert all(abs(row[3]) < 0.05 for row in rows[first + 600:]), "engaged again without its deadman"
    states = [row[1] for row in columns(TACT, "again", *numbers)]
    assert states.count(OK) > 100, ("the end that was started again was connected too shortly", states.count(OK), len(states))
    assert LOST in states[states.index(OK):], "did not notice that the person's end was stopped"
    held = [row[0] for row in columns(TACT, "killed", "robot_left_remote[3]")]
    assert max(held) > 2.0, max(held)


class Relay(threading.Thread):
    """Between the person's end and the robot's: what arrives at its port goes to the robot's and back, but in the
    directions that are cut. Where a side is unplugged its port is closed, as where a cable is drawn: the system refuses what is sent."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.cut, self.unplugged, self.ended, self.person = (), (), False, None
        self.to, self.ports, self.sides = ("127.0.0.1", to), [0, 0], [None, None]  # sides: the person's, the robot's
        self.plug(())
        self.ports = [side.getsockname()[1] for side in self.sides]

    def plug(self, unplugged):
        for i, name in enumerate(("local", "remote")):
            if name in unplugged and self.sides[i]:
                self.sides[i].close()
                self.sides[i] = None
            elif name not in unplugged and not self.sides[i]:
                self.sides[i] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self.sides[i].bind(("127.0.0.1", self.ports[i]))

    def pass_on(self, side):
        try:
            data, sender = side.recvfrom(2048)
            way = "to robot" if side is self.sides[0] else "to person"
            self.person = sender if way == "to robot" else self.person
            to = self.sides[way == "to robot"]
            if way not in self.cut and to:
                to.sendto(data, self.to if way == "to robot" else self.person)
        except ConnectionError:  # an end is not there
            pass

    def run(self):
        while not self.ended:
            self.plug(self.unplugged)
            for side in select.select([side for side in self.sides if side], [], [], 0.02)[0]:
                self.pass_on(side)
        self.plug(("local", "remote"))


class Ends:
    """Both ends over a relay, and what happens to them. Nobody has a deadman here, so that the ties engage by
    themselves once both are there again. The person presses from 1.3 s after the start on: more than the second after a
    return that is judged, also where this end was killed and started again."""

    def __init__(self):
        port = free_port()
        self.relay = Relay(port)
        self.relay.start()
        edited("teleop.yaml", **{r'connect: "127\.0\.0\.1:4710"': f'connect: "127.0.0.1:{self.relay.ports[0]}"',
                                 r'listen: "127\.0\.0\.1:4710"': f'listen: "127.0.0.1:{port}"', r"delay: 0\.05": "delay: 0.01",
                                 "mode: waves": "mode: waves\\ntank: 1"})
        edited("scenes/teleop_local.yaml", **{r"script:(.*\n)*?.*deadman_from: 2": "script: [[1.3, 0, 0, 0], [1.8, 1, 0, 0]]\n      deadman_from: 0",
                                              "duration: 24": "duration: 3000", "deadman: operator.deadman": ""})
        edited("scenes/teleop_remote.yaml", **{"duration: 24": "duration: 3000"})
        self.logs, self.times = {"local": [], "remote": []}, []
        self.runs = {}
        for site in ("remote", "local"):
            self.start(site)

    def start(self, site):
        self.logs[site].append(f"{site}_{len(self.logs[site])}")
        self.runs[site] = start(site, self.logs[site][-1])

    def suffer(self, event):
        """One event, after which both ends are there again, as the one says that noticed it."""
        what, _, where = event.partition(" ")
        asked = "remote" if where in ("local", "robot") else "local"
        log = self.logs[asked][-1]
        with open(f"{log}.err", encoding="utf-8") as file:
            before = file.read().count("is connected")
        self.times.append(time.monotonic_ns())  # the clock of the logs
        if what == "kill":
            self.runs[where].send_signal(signal.SIGKILL)
            self.runs[where].wait()
            command(TACT, "recover", f"{self.logs[where][-1]}.mcap")
        elif what == "stop":
            self.runs[where].send_signal(signal.SIGSTOP)
        elif what == "unplug":
            self.relay.unplugged = (where,) if where else ("local", "remote")
        else:
            self.relay.cut = (event,) if where else ("to robot", "to person")
        time.sleep(0.9)
        if what == "kill":
            self.start(where)
        elif what == "stop":
            self.runs[where].send_signal(signal.SIGCONT)
        self.relay.unplugged, self.relay.cut = (), ()
        wait_for(log, "is connected", before + 1)
        time.sleep(2.5 if what == "kill" else 1.0)

    def end(self):
        for site in ("local", "remote"):
            self.runs[site].send_signal(signal.SIGTERM)
            assert self.runs[site].wait(60) == 0, site
        self.relay.ended = True
        self.relay.join()


def silences(rows):
    """First rows of the times in which the device was not OK, from its first OK on."""
    return [i for i in range(1, len(rows)) if rows[i - 1][1] == OK and rows[i][1] != OK]


def stayed(rows, first):
    """The end of the robot's line stays where it is while the device is not OK, which is from 0.1 s after the last wave on: of
    the motion that stops with 20 ms, exp(-5) is left; all of it where the loop was stopped itself for that time."""
    until = next((i for i in range(first, len(rows)) if rows[i][1] == OK), len(rows))
    moved = max(abs(row[4] - rows[first][4]) for row in rows[first:until])
    assert moved < (2e-4 if rows[first][0] - rows[first - 1][0] > 0.1e9 else 2e-5), (first, moved)


def largest_jump(rows, first):
    """Of the force in a tick, from 0.15 s before a silence, in which a direction may be cut already, to 1 s after it [N]. Two
    ticks between which the loop was late and skipped others say nothing of one tick."""
    return max(abs(a[3] - b[3]) for a, b in zip(rows[first - 150:end_of(rows, first)], rows[first - 149:]) if b[0] - a[0] < 5e6)


def end_of(rows, first):
    """Row 1 s after a silence."""
    return min(len(rows), next((i for i in range(first, len(rows)) if rows[i][1] == OK), len(rows)) + 1000)


def stalls(rows):
    """Times at which the machine did not run the loop, which was not stopped by the test for 0.9 s [ns]."""
    return [b[0] for a, b in zip(rows, rows[1:]) if 20e6 < b[0] - a[0] < 500e6]


def is_undisturbed(rows, first, disturbed):
    """No end was late from 0.5 s before a silence on, and it was after the touch, of which the force rises by itself."""
    return rows[first][0] > rows[0][0] + 2.5e9 and not any(rows[first][0] - 0.5e9 < time_ns <= rows[end_of(rows, first) - 1][0] + 0.2e9 for time_ns in disturbed)


def is_settled(rows, disturbed):
    """The device was OK and no end was late for 5 s, in which the force has returned, until the other end was terminated, which is the
    robot's last silence. A late loop is a silence too."""
    until = max(row[0] for row in rows if row[1] == OK)
    return (all(row[1] == OK for row in rows if until - 5.0e9 < row[0] <= until)
            and not any(until - 5.0e9 < time_ns <= until for time_ns in disturbed))


def suffers(events):
    """The other end is safe in the stated times, both return without a jump, and to the same press where none was killed, and the
    logs are complete. Returns the events around which an end was late, which are to be repeated: what it does then is not judged."""
    for name in glob.glob("*.mcap") + glob.glob("*.err"):  # of the events before
        os.unlink(name)
    ends = Ends()
    wait_for(ends.logs["local"][0], "is connected")
    time.sleep(3.0)
    for event in events:
        ends.suffer(event)
    time.sleep(5.5)
    ends.end()
    joints = {"local": "person_left_remote", "remote": "robot_left_remote"}
    tables = {log: columns(TACT, log, "stamp_ns", "site_input[state]", "site_input[stamp_ns]", f"{joints[site]}[3]",
                           f"{joints[site]}[0]") for site in joints for log in ends.logs[site]}
    disturbed = [time_ns for rows in tables.values() for time_ns in stalls(rows)]
    repeated = set()
    for site in joints:
        found = judged = 0
        for log in ends.logs[site]:
            check_log(TACT, log)
            rows = tables[log]
            assert OK in [row[1] for row in rows], log
            jump = 0.0
            for first in silences(rows):
                found += 1
                if is_undisturbed(rows, first, disturbed):
                    (released if site == "local" else stayed)(rows, first)
                    jump = max(jump, largest_jump(rows, first))
                    judged += 1
                else:
                    repeated |= {i for i, begin in enumerate(ends.times) if begin - 0.3e9 < rows[first][0] < begin + 1.5e9}
            print(f"{log}: {len(silences(rows))} silences, at most {jump:.3f} N a tick, {rows[-50][3]:.3f} N at the end")
            assert jump < 0.5, (log, jump)  # at either end [N], of 4.6 N
        # An end that was started again counts the other position from where both are then.
        if not any(event.startswith("kill") for event in events):
            if is_settled(rows, disturbed):
                assert abs(abs(rows[-50][3]) / 4.4 - 1.0) < 0.05, rows[-50][3]
            else:
                repeated.add(len(events) - 1)
        print(f"{judged} of {found} silences were judged: no end was late around them")
        assert found >= len(events) - sum(event in (f"kill {site}", f"stop {site}") for event in events), (site, found)
    return tuple(events[i] for i in sorted(repeated))


EVENTS = ("cut", "to person", "to robot", "unplug", "unplug local", "unplug remote", "stop remote", "stop local", "kill remote", "kill local")
LONG = os.environ.get("TACT_LONG", "0") not in ("", "0")
TRIES = 12 if LONG else 5
for end in ("local", "remote"):  # the example by a model is one that can be run
    assert "mode: model" in command(TACT, "teleop", os.path.join(SOURCE, "examples/teleop_model.yaml"), f"--site={end}", "--print")
ROUNDS = [None] + ([(event,) * 50 for event in EVENTS] if LONG else [EVENTS[:6]])
for events in ROUNDS:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            if events:
                print(f"{len(events)} times: {', '.join(dict.fromkeys(events))}")
                for _ in range(TRIES):
                    events = suffers(events)
                    print(f"{len(events)} events to repeat, as the machine was late: {events}")
                    if not events:
                        break
                else:
                    assert not LONG, f"the machine was late around {events} in all of {TRIES} rounds"
                    print(f"skipped: the machine was late around {events} in all of {TRIES} rounds")
                    sys.exit(77)
            else:
                main()
        finally:
            for process in RUNS:
                process.kill()
            os.chdir("/")
