#!/usr/bin/env python3
"""link.py TACT: keys, and the link between two processes of this machine."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from ports import free_port

TACT = os.path.abspath(sys.argv[1])


def tact(*words, code=0):
    """Runs the command; returns stdout and stderr. The exit code must be as said."""
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == code, (words, run.returncode, run.stdout, run.stderr)
    return run.stdout, run.stderr


def keys():
    printed, err = tact("keygen", "a.key")
    assert not err and os.stat("a.key").st_mode & 0o777 == 0o600, err
    with open("a.key.pub", encoding="ascii") as file:
        assert file.read() == printed and printed.startswith("tact-public-key-1 ")
    with open("a.key", encoding="ascii") as file:
        secret = file.read()
    assert "exists already" in tact("keygen", "a.key", code=2)[1]
    with open("a.key", encoding="ascii") as file:
        assert file.read() == secret
    with open("b.key.pub", "w", encoding="ascii"):
        pass
    assert "b.key.pub: exists already" in tact("keygen", "b.key", code=2)[1]
    assert not os.path.exists("b.key")  # no half of a pair
    os.unlink("b.key.pub")
    tact("keygen", "b.key")
    tact("keygen", "c.key")
    assert "no/such/a.key" in tact("keygen", "no/such/a.key", code=1)[1]


def measured(listen, connect, codes=(0, 0)):
    """Runs both ends on a free port; returns what each printed."""
    port = free_port()
    ends = [subprocess.Popen([TACT, "link", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for words in (("--listen", f"127.0.0.1:{port}", *listen), ("--connect", f"127.0.0.1:{port}", *connect))]
    out = [end.communicate(timeout=60) for end in ends]
    assert tuple(end.returncode for end in ends) == codes, out
    return out


def checked(text, authenticated):
    """The measurement of one end over loopback, where nothing is lost."""
    got = json.loads(text)
    assert got["authenticated"] == authenticated and got["sessions"] == 1, got
    assert got["expected"] > 50 and got["lost"] == 0 and got["overtaken"] == 0, got
    assert 0 < got["round_trip"]["min"] < 0.05 and got["delay"]["min"] <= got["delay"]["p999"], got
    assert got["refused"] == dict.fromkeys(got["refused"], 0), got
    channel = got["channel"]
    assert channel["playout"] >= 10 and abs(channel["delay"] - channel["playout"] / 200) < 1e-12, channel
    for line in channel["lines"]:
        assert abs(line["stiffness"] * channel["delay"] / line["impedance"] - 1) < 1e-12, line


SCENE = """name: end
period: 0.002
hands:
  - {name: arm, links: [{name: tip, mass: 1, inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [1, 0, 0]}},
                        {name: top, parent: tip, mass: 1, inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [0, 1, 0]}}]}
devices: [{name: site, type: network, settings: {%s: "127.0.0.1:%d", axes: 2, repeats: 5, jitter: 0.1%s}}]
remotes:
  - {joint: arm.tip, device: site, impedance: 10}
  - {joint: arm.top, device: site, axis: 1, mode: position_force, damping: 1}
"""


def by_scenes():
    """Address, keys and rate of both ends from their scenes, and what their ties are like."""
    port = free_port()
    ends = []
    for way, key, peer in (("listen", "a.key", "b.key.pub"), ("connect", "b.key", "a.key.pub")):
        with open(f"{way}.yaml", "w", encoding="ascii") as file:
            file.write(SCENE % (way, port, f", key: {key}, peer: {peer}"))
        ends.append(subprocess.Popen([TACT, "link", "--scene", f"{way}.yaml", "--seconds", "0.5", "--wait", "20",
                                      *(("--json",) if way == "connect" else ())], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    table, report = (end.communicate(timeout=60) for end in ends)
    scene = json.loads(report[0])["scene"]
    assert [tie["stable"] for tie in scene["ties"]] == [True, False] and 0.11 <= scene["delay"] < 0.13, scene
    out, err = table
    assert ends[0].returncode == 0 and "has proven its key" in out and "at 500 Hz" in out, (out, err)
    # A machine that stops an end for more than 0.1 s makes 99.9 % later than that.
    jitter = float(re.search(r"99.9 % come within (\S+) s", out)[1])
    assert f"0.1 s: {'enough' if jitter <= 0.1 else 'too little'}" in out and "arm.top              position_force: a wall is not stable" in out, out
    stiffness = float(re.search(r"10 N s/m: a wall feels at first as through a spring of (\d+) N/m", out)[1])
    assert 80 < stiffness <= 91, stiffness  # 10 / (0.1 + 5 x 0.002), and what the link takes
    with open("none.yaml", "w", encoding="ascii") as file:
        file.write("name: none\n")
    assert "one device of type network, not 0" in tact("link", "--scene", "none.yaml", code=2)[1]
    assert "--scene without --key" in tact("link", "--scene", "none.yaml", "--listen", "1", code=2)[1]


BOTH = """name: both
local: {scene: %s, connect: "127.0.0.1:%d", key: a.key, peer: b.key.pub}
remote: {scene: listen.yaml, listen: "127.0.0.1:%d", key: b.key, peer: a.key.pub%s}
"""


def by_one_file():
    """Both ends of a teleoperation by one file in another folder: what it sets, what the link supports, what is refused."""
    port = free_port()

    def write(more="", scene="connect.yaml", remote=""):
        with open("both.yaml", "w", encoding="ascii") as file:
            file.write(BOTH % (scene, port, port, remote) + more)

    def refused_by(code, expected, *words):
        out, err = tact("teleop", "folder/../both.yaml", *(words or ("--site", "local", "--print")), code=code)
        assert not out and expected in err and err.count("\n") == 1, (expected, err)

    os.makedirs("folder", exist_ok=True)
    write("mode: waves\nimpedance: 5\njitter: 0.25\nrepeats: 0\nlink: {delay: 0.1, blackout: [90, 90.5]}\n", remote=", stiffness: 400, damping: 5")
    shown = tact("teleop", "both.yaml", "--site", "remote", "--print")[0]
    with open("folder/shown.yaml", "w", encoding="ascii") as file:
        file.write(shown)
    for words in (f'key: "{os.path.realpath("b.key")}"', "jitter: 0.25", "repeats: 0", "link: {delay: 0.1", "blackout: [90, 90.5]", "stiffness: 400"):
        assert words in " ".join(shown.split()), shown
    assert shown.count("impedance: 5") == 2 and "position_force" not in shown and "a.key, " not in shown, shown
    ends = [subprocess.Popen([TACT, "teleop", "both.yaml", "--site", site, "--check", "--seconds", "0.4", "--wait", "20", *more],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for site, more in (("remote", ()), ("local", ("--json",)))]
    (table, report) = (end.communicate(timeout=60) for end in ends)
    assert [end.returncode for end in ends] == [0, 0], (table, report)
    scene = json.loads(report[0])["scene"]
    modes = {mode["mode"]: mode for mode in scene["modes"]["list"]}
    assert scene["modes"]["best"] == "waves" and scene["modes"]["stiffness"] == 400 and not scene["modes"]["assumed"], scene
    series = 1 / (1 / 400 + scene["delay"] / 5)
    assert abs(modes["waves"]["stiffness"] / series - 1) < 1e-9 and modes["waves"]["supported"], modes
    press = (2 * 5 * 1 / scene["delay"]) ** 0.5  # of the default tank
    assert scene["modes"]["tank"] == 1 and abs(scene["modes"]["press"] / press - 1) < 1e-9, (scene, press)
    assert "by the tank of 1 J; twice as much needs 4 J" in table[0], table
    assert "has proven its key" in table[0] and "position_force     stable to 0 N/m: not supported" in table[0], table
    # Joints with dampers of 100 N s/m are stable with 5000 N/m by forces that are late by 2 x 6 or 7 ms and 3 ms, not 9000 N/m.
    with open("person.yaml", "w", encoding="ascii") as file:
        file.write((SCENE % ("listen", 1, "")).replace("slide,", "slide, viscous: 100,"))
    for stiffness, code in ((5000, 0), (9000, 3)):
        write("jitter: 0.002\nrepeats: 2\nmode: position_force\n", scene="person.yaml, damping: 1", remote=f", stiffness: {stiffness}, damping: 1")
        ends = [subprocess.Popen([TACT, "teleop", "both.yaml", "--site", site, "--check", "--seconds", "0.3", "--wait", "20"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for site in ("remote", "local")]
        out = [end.communicate(timeout=60) for end in ends]
        assert [end.returncode for end in ends] == [code, code], out
    write()
    for words, expected in ((("--print",), "--site local or --site remote"), (("--site", "here"), "--site local or --site remote"),
                            (("--site", "local", "--print", "--check"), "not both"), (("--site",), "expected a value"),
                            (("--site", "local", "--print", "--json"), "cannot be combined with --json"), (("--site", "local", "--seconds", "3"), "are only for --check"),
                            (("--site", "local", "--check", "--record", "x.mcap"), "records nothing"),
                            (("--site", "local", "--force", "--record", "both.yaml"), "is an input of this command"),
                            (("--site", "local", "--force", "--record", "listen.yaml"), "is an input of this command"),
                            (("--site", "local", "--check", "--seconds", "nan"), "from 0.1 to 600")):
        refused_by(2, expected, *words)
    for more, expected in (("mode: wave\n", "both.yaml:4:7: mode: "), ("impedance: -1\n", "both.yaml:4:12: impedance: "),
                           ("jitter: 2\n", "both.yaml:4:9: jitter: "), ("lnk: {}\n", "did you mean \"link\""),
                           ("mode: position_position\n", "folder/../connect.yaml:8:5: remotes[0].stiffness: "),
                           ("mode: position_position\n", "(in the mode that folder/../both.yaml sets)"),
                           ("repeats: 3\nlink: {delay: 2}\n", "both.yaml:5:15: link.delay: "),
                           ("link: {delay: .nan}\n", "both.yaml:4"), ("link: {blackout: [2, 1]}\n", "both.yaml:4:18: link.blackout: expected two times"),
                           ("link: {blackout: 3}\n", "both.yaml:4:18: link.blackout: expected a list of 2"), ("key: a\n", "unknown key"),
                           ("mode: position_force\nimpedance: 10\n", "both.yaml:5:12: impedance: this key is only for \"mode: waves\""),
                           ("tank: 1\nmode: position_force\n", "both.yaml:4:7: tank: this key is only for \"mode: waves\"")):
        write(more)
        refused_by(2, expected, *(("--site", "local", "--moments", "host") if "delay: 2" in more or "[2, 1]" in more else ()))
    with open("forces.yaml", "w", encoding="ascii") as file:
        file.write((SCENE % ("listen", 1, "")).replace("impedance: 10", "mode: position_force, damping: 1") + "deadman: site.held\n")
    write("impedance: 3\n", "forces.yaml")
    refused_by(2, "both.yaml:4:12: impedance: this key is only for \"mode: waves\", which no tie of forces.yaml has")
    write("repeats: 3\n", "forces.yaml")
    refused_by(2, "folder/../forces.yaml:10:10: deadman: is a channel of the other site", "--site", "local", "--moments", "host", "--quiet")
    with open("both.yaml", "w", encoding="ascii"):
        pass
    refused_by(2, "both.yaml:1:1: the file is empty")
    os.makedirs(b"\xff", exist_ok=True)
    write()
    for name in ("both.yaml", "connect.yaml"):
        os.replace(name, os.path.join(b"\xff", name.encode()))
    run = subprocess.run([TACT, "teleop", b"\xff/both.yaml", "--site", "local", "--print"], capture_output=True, check=False, timeout=60)
    assert run.returncode == 2 and b"both.yaml:2:" in run.stderr and b"local.key: the name of its folder is not in UTF-8" in run.stderr, run
    os.replace(b"\xff/connect.yaml", "connect.yaml")
    for scene, remote, expected in (("none.yaml", "", "none.yaml:1:1: devices: expected one device"), ("gone.yaml", "", "gone.yaml: cannot be read"),
                                    ("connect.yaml", ", connect: \"127.0.0.1:1\"", 'remote: expected either the key "listen" or the key "connect"')):
        write("", scene, remote)
        refused_by(2, expected)


BASE = """name: end
period: 0.002
hands:
  - {name: tool, weightless: true, base: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]%s},
     links: [{name: base_ring, mass: 1, inertia: [1, 1, 1, 0, 0, 0], joint: {type: hinge, axis: [1, 0, 0], viscous: %g}}]}
devices: [{name: site, type: network, settings: {%s: "127.0.0.1:1", axes: 6, repeats: 2, jitter: 0.002}}]
remotes:
%s"""


def by_kinds():
    """Ties that slide and those that turn are judged by the stiffness and the damping of their kind, whatever their joints are called."""
    def scenes(tied, viscous, damping, turn_damping, stiffness, turn_stiffness):
        grips = (f", coupling: {{stiffness: 100, damping: {damping}}}, turn_coupling: {{stiffness: 1, damping: {turn_damping}}}", "")
        for way, grip, ring, keys in (("connect", grips[0], viscous, ("", "")),
                                      ("listen", grips[1], 0.0, (f"stiffness: {stiffness}, ", f"stiffness: {turn_stiffness}, "))):
            ties = "".join(f"  - {{joint: tool.{joint}, device: site, axis: {axis}, mode: position_force, {keys[joint[:6] == 'base_r']}damping: 1}}\n"
                           for axis, joint in enumerate(tied))
            with open(f"{way}.yaml", "w", encoding="ascii") as file:
                file.write(BASE % (grip, ring, way, ties))

    def check(code, stable, modes):
        port = free_port()
        with open("both.yaml", "w", encoding="ascii") as file:
            file.write(BOTH % ("connect.yaml", port, port, ""))
        ends = [subprocess.Popen([TACT, "teleop", "both.yaml", "--site", site, "--check", "--seconds", "0.3", "--wait", "20", *more],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for site, more in (("remote", ("--json",)), ("local", ()))]
        report, table = (end.communicate(timeout=60) for end in ends)
        assert [end.returncode for end in ends] == [code, code], (report, table)
        scene = json.loads(report[0])["scene"]
        assert [tie["stable"] for tie in scene["ties"]] == stable, scene
        assert {key: (scene[key]["stiffness"], scene[key]["damping"]) for key in ("modes", "turn_modes") if key in scene} == modes, scene
        for key, unit in (("modes", "N/m"), ("turn_modes", "N m/rad")):
            assert (f" {unit}, of a surface" in table[0]) == (key in modes), table
        return scene

    base = [f"base_{name}" for name in ("x", "y", "z", "rx", "ry", "rz")]
    # late by 2 x 6 or 7 ms and 3 ms: 100 N s/m are stable to 6000 N/m, 0.02 N m s/rad to 1.2 N m/rad, and the other way round
    scenes(base, 0, 100, 0.02, 2000, 3)
    check(3, [True] * 3 + [False] * 3, {"modes": (2000, 100), "turn_modes": (3, 0.02)})
    scenes(base, 0, 1, 0.2, 2000, 3)
    check(3, [False] * 3 + [True] * 3, {"modes": (2000, 1), "turn_modes": (3, 0.2)})
    scenes(base, 0, 100, 0.2, 2000, 3)
    check(0, [True] * 6, {"modes": (2000, 100), "turn_modes": (3, 0.2)})
    scenes(["base_ring"], 0.02, 100, 0.02, 2000, 3)
    check(3, [False], {"turn_modes": (3, 0.02)})


def link():
    short = ("--seconds", "0.5", "--rate", "200", "--json", "--wait", "20")
    a, b = ("--key", "a.key", "--peer", "b.key.pub"), ("--key", "b.key", "--peer", "a.key.pub")
    for out, _ in measured((*a, *short), (*b, *short)):
        checked(out, True)
    for out, _ in measured(short, short):
        checked(out, False)
    out = measured((*a, *short[:-2]), (*b, "--seconds", "0.5", "--rate", "200"))[1][0]
    assert "has proven its key" in out and "0.000 % lost" in out and "impedance" in out, out
    wait = ("--wait", "0.7")
    stranger = ("--key", "c.key", "--peer", "a.key.pub")
    for out, err in measured((*a, *wait), (*stranger, *wait), (1, 1)):
        assert not out and "no session with the other end" in err, err
    assert "wrong key" in measured((*a, *wait), (*wait,), (1, 1))[0][1]


def unanswered():
    """An end that connects says after 5 s that nothing answers: nobody listens, or a listener refuses its key, as that one says."""
    port = free_port()
    with open("both.yaml", "w", encoding="ascii") as file:
        file.write(BOTH % ("connect.yaml", port, port, ""))
    with open("wrong.yaml", "w", encoding="ascii") as file:
        file.write(BOTH.replace("peer: a.key.pub", "peer: c.key.pub") % ("connect.yaml", port, port, ""))
    runs = [subprocess.Popen([TACT, "teleop", path, "--site", site], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for path, site in (("wrong.yaml", "remote"), ("both.yaml", "local"))]
    time.sleep(7)
    for run in runs:
        run.terminate()
    listener, caller = (run.communicate(timeout=60)[1] for run in runs)
    assert "packets with a wrong key arrive" in listener and "no answer" not in listener, listener
    assert caller.count(f"no answer from 127.0.0.1:{port} for 5 s") == 1 and "the key `peer` of one end" in caller, caller


def refused():
    for words, expected in (
            ((), "expected one of --listen, --connect and --scene"),
            (("--listen", "1", "--connect", "127.0.0.1:1"), "expected one of"),
            (("--listen", "0.0.0.0:4710"), "needs a key for each end"),
            (("--connect", "192.0.2.7:4710"), "needs a key for each end"),
            (("--connect", "127.0.0.1"), "expected HOST:PORT"),
            (("--listen", "4710", "--key", "a.key"), "or neither"),
            (("--listen", "4710", "--key", "a.key", "--peer", "a.key.pub"), "equals that of this end"),
            (("--listen", "4710", "--key", "a.key.pub", "--peer", "b.key.pub"), "is a public key"),
            (("--listen", "4710", "--key", "a.key", "--peer", "b.key"), "is a secret key"),
            (("--listen", "4710", "--key", "none", "--peer", "b.key.pub"), "none: No such file"),
            (("--listen", "4710", "--seconds", "0"), "expected a number from 0.1 to 600"),
            (("--listen", "4710", "--rate", "nan"), "expected a number from 10 to 4000")):
        out, err = tact("link", *words, code=2)
        assert not out and expected in err and err.count("\n") == 1, (words, err)
    os.chmod("c.key", 0o644)
    assert "chmod 600" in tact("link", "--listen", "4710", "--key", "c.key", "--peer", "a.key.pub", code=2)[1]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    keys()
    link()
    by_scenes()
    by_one_file()
    by_kinds()
    unanswered()
    refused()
