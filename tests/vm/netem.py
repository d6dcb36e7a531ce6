#!/usr/bin/env python3
"""netem.py TACT: both ends of a teleoperation in two network namespaces of the virtual machine, with keys, over the kernel's own
poor network: 50 ms one way, 20 ms of jitter, 5 % lost. In the press the network is cut for a second, once by a loss of 100 %
and once by taking an interface down: both ends are safe in the stated time, and the same press returns. Then each end is stopped for
a second and killed: the other one is safe in the same time, and the logs are complete. Runs where TACT_LONG is 1, as it takes over a
minute."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from site_logs import check_log, columns, wait_for  # noqa: E402

POOR = "delay 50ms 20ms loss 5%"  # tc netem: 30 to 70 ms
OK, LOST = 0, 2  # states of a device
ADDRESS = {"person": "192.0.2.1", "robot": "192.0.2.2"}
JOINT = {"person": "arm_tip", "robot": "robot_tip"}

PERSON = """name: person
duration: 120
moments: {source: host}
hands:
  - name: arm
    weightless: true
    links:
      - name: tip
        mass: 0.4
        inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]
        joint: {type: slide, axis: [1, 0, 0], viscous: 1, coupling: {stiffness: 300, damping: 10}}
devices:
  - {name: site, type: network}
  - {name: person, type: operator, settings: {script: [[1, 0, 0, 0], [2, 1, 0, 0]]}}
inputs: [{from: person.grip, to: arm.tip, scale: 0.07}]
remotes: [{joint: arm.tip, device: site, impedance: 10}]
"""
ROBOT = """name: robot
duration: 120
moments: {source: host}
materials: [{name: steel}]
pairs: [{materials: [steel, steel], friction: 0.5, model: features, compliance: 2e-4}]
bodies:
  - name: wall
    fixed: true
    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.11, 0, 0], material: steel}]
hands:
  - name: robot
    weightless: true
    links:
      - name: tip
        mass: 0.5
        inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0]
        joint: {type: slide, axis: [1, 0, 0], viscous: 2}
        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: steel}]
devices: [{name: site, type: network}]
remotes: [{joint: robot.tip, device: site, impedance: 10, stiffness: 1000, damping: 30, tank: 1}]
"""
BOTH = """name: both
local: {scene: person.yaml, connect: "192.0.2.2:4710", key: person.key, peer: robot.key.pub}
remote: {scene: robot.yaml, listen: "192.0.2.2:4710", key: robot.key, peer: person.key.pub}
jitter: 0.04
repeats: 20
"""


def do(words):
    subprocess.run(words.split(), check=True)


def lay_network():
    for name in ADDRESS:
        do(f"ip netns add {name}")
    do("ip link add to_robot netns person type veth peer name to_person netns robot")
    for name, other in (("person", "robot"), ("robot", "person")):
        do(f"ip -n {name} address add {ADDRESS[name]}/24 dev to_{other}")
        do(f"ip -n {name} link set to_{other} up")
        do(f"tc -n {name} qdisc add dev to_{other} root netem {POOR}")


def lose(what):
    for name, other in (("person", "robot"), ("robot", "person")):
        do(f"tc -n {name} qdisc change dev to_{other} root netem {what}")


def connections(log):
    with open(f"{log}.err", encoding="utf-8") as file:
        return file.read().count("is connected")


class Ends:
    """Both ends, and what happens to them: for each event its kind, its time, the logs of the ends that notice it."""

    def __init__(self, tact):
        self.tact, self.runs, self.logs, self.events = tact, {}, {}, []

    def start(self, name, log):
        with open(f"{log}.err", "w", encoding="utf-8") as err:
            self.runs[name] = subprocess.Popen(["ip", "netns", "exec", name, self.tact, "teleop", "both.yaml", "--site",
                                                "local" if name == "person" else "remote", "--record", f"{log}.mcap"],
                                               stdout=subprocess.DEVNULL, stderr=err)
        self.logs[name] = log

    def suffer(self, kind, begin, end, names):
        """Packets on their way arrive for 70 ms after the beginning. The ends that are named are connected again afterwards."""
        before = [connections(self.logs[name]) for name in names]
        begin()
        self.events.append({"kind": kind, "time": time.monotonic_ns(), "logs": [self.logs[name] for name in names]})
        time.sleep(1)
        end()
        for name, count in zip(names, before):
            wait_for(self.logs[name], "is connected", count + 1)
        time.sleep(7)

    def start_again(self, name):
        """After it was killed."""
        self.runs[name].wait()
        self.start(name, f"{name}_again")


def inside(tact, folder):
    """In the machine, in memory: what the programs write takes no time of the host there."""
    os.chdir("/dev/shm")
    for name, text in (("person.yaml", PERSON), ("robot.yaml", ROBOT), ("both.yaml", BOTH)):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    for name in ADDRESS:
        do(f"{tact} keygen {name}.key")
    for module in "veth", "sch_netem":
        do(f"modprobe {module}")
    lay_network()
    ends = Ends(tact)
    ends.start("robot", "robot")
    ends.start("person", "person")
    wait_for("person", "has proven its key", 1)
    time.sleep(7)
    ends.suffer("loss", lambda: lose("loss 100%"), lambda: lose(POOR), ("person", "robot"))
    ends.suffer("interface", lambda: do("ip -n robot link set to_person down"), lambda: do("ip -n robot link set to_person up"),
                ("person", "robot"))
    for name, other in ("robot", "person"), ("person", "robot"):
        ends.suffer("stop", lambda run=ends.runs[name]: run.send_signal(signal.SIGSTOP),
                    lambda run=ends.runs[name]: run.send_signal(signal.SIGCONT), (other,))
    for name, other in ("robot", "person"), ("person", "robot"):
        ends.suffer("kill", ends.runs[name].kill, lambda name=name: ends.start_again(name), (other,))
        do(f"{tact} recover {name}.mcap")
    for end in ends.runs.values():
        end.send_signal(signal.SIGTERM)
        end.wait(60)
    for log in [log for name in ADDRESS for log in (name, f"{name}_again")]:
        with open(f"{log}.err", encoding="utf-8") as err:
            print(f"{log}:\n{err.read()}", flush=True)
        do(f"cp {log}.mcap {folder}")
    with open(os.path.join(folder, "events"), "w", encoding="ascii") as file:
        json.dump(ends.events, file)


def check(rows, log, event):
    """Silence as the end of this log saw it, in its rows of time, state, time of the newest packet and force."""
    kind, begin = event["kind"], event["time"]
    first = next(i for i, row in enumerate(rows) if row[0] > begin + 5e7 and row[1] != OK)
    back = next(i for i in range(first, len(rows)) if rows[i][1] == OK)
    heard = rows[first][2]
    silent = [(1e-9 * (row[0] - heard), row[1], abs(row[3])) for row in rows[first:back]]
    gone = next((i for i in range(back, len(rows)) if rows[i][1] != OK), len(rows))  # the next event, or the other's end
    before, after = rows[first - 200][3], rows[min(back + 4500, gone) - 1][3]
    lost = next(time for time, state, _ in silent if state == LOST)
    held = max((force for time, _, force in silent if time > 0.31), default=0.0)
    jump = max(abs(a[3] - b[3]) for a, b in zip(rows[back:back + 1500], rows[back + 1:]))
    print(f"{log}, {kind}: heard until {1e-9 * (heard - begin):.3f} s after it, stale {silent[0][0]:.3f} s later, lost {lost:.3f} s; "
          f"{before:.2f} N, {held:.3f} N from 0.31 s on, {after:.2f} N again, at most {jump:.2f} N a tick")
    assert heard - begin < 0.09e9 and silent[0][0] < 0.11 and lost < 0.52
    # An end that was started again counts the other position from where both are then.
    assert kind == "kill" or (abs(before) > 3.0 and abs(after / before - 1) < 0.2)
    if log.startswith("person"):
        assert held < 0.05 and jump < 1.0


def main(tact):
    if os.environ.get("TACT_LONG", "0") in ("", "0"):
        print("skipped: TACT_LONG is not 1")
        sys.exit(77)
    tact = os.path.abspath(tact)
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([os.path.join(HERE, "run"), "-t", "500", "-s", "1", "-w", folder, "--", "python3",
                              os.path.abspath(__file__), "inside", tact, folder], check=False)
        if run.returncode:
            sys.exit(run.returncode)
        os.chdir(folder)
        with open("events", encoding="ascii") as file:
            events = json.load(file)
        joints = {log: JOINT[log.split("_")[0]] for log in ("person", "robot", "person_again", "robot_again")}
        for log, joint in joints.items():
            check_log(tact, log)
            rows = columns(tact, log, "stamp_ns", "site_input[state]", "site_input[stamp_ns]", f"{joint}_remote[3]")
            for event in events:
                if log in event["logs"]:
                    check(rows, log, event)
        os.chdir("/")


if sys.argv[1] == "inside":
    inside(*sys.argv[2:4])
else:
    main(sys.argv[1])
