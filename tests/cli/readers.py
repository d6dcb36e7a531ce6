#!/usr/bin/env python3
"""readers.py SUBJECT TACT CHANGE_LOG SOURCE: what the command tells about a log.

info     whole, cut and damaged logs: how they ended, what is in them, as text and as JSON
"""
import json
import os
import subprocess
import sys
import tempfile

RULER = "examples/scenes/ruler.yaml"


def tact(*words, code=0):
    """Runs the command; gives stdout and stderr. The exit code must be as said."""
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == code, (words, run.returncode, code, run.stdout, run.stderr)
    return run.stdout, run.stderr


def record(folder, name, seconds="2", scene=RULER):
    log = os.path.join(folder, name)
    tact("sim", scene, "--duration", seconds, "--moments", "host", "--record", log, "--quiet")
    return log


def usage(name, *bad):
    """The help, and one line on stderr for each bad usage."""
    out, err = tact(name, "--help")
    assert f"usage: tact {name}" in out and "exit codes:" in out and "example" in out and not err
    assert max(map(len, out.splitlines())) <= 100, name
    for words in ([], ["--no-such-option"], *bad):
        out, err = tact(name, *words, code=2)
        assert not out and len(err.splitlines()) == 1, (words, out, err)


def info(folder):
    usage("info", ["a", "b"], ["no/such.mcap"], [RULER])
    log = record(folder, "a.mcap")
    out, err = tact("info", log)
    assert not err
    for word in ("2.000 s", "free-wheeling", "complete", "2000 (0 to 1999), 0 missing in 0 gaps",
                 "ruler/pinch.left_distal", "operator (operator)", "tf2_msgs/msg/TFMessage",
                 "lapack", "armed at the end, 0 faults"):
        assert word in out, (word, out)
    found = json.loads(tact("info", log, "--json")[0])
    assert found["complete"] and found["why"] == "" and found["bytes_lost"] == 0
    assert found["file_bytes"] == os.path.getsize(log)
    assert abs(found["duration_s"] - 2) < 1e-9 and found["events"] == []
    counts = {name: topic["messages"] for name, topic in found["topics"].items()}
    assert counts == {"/tact/tick": 2000, "/tact/events": 0, "/joint_states": 200, "/tf": 200}
    pairs = {pair["name"]: pair for pair in found["pairs"]}
    for side in ("left", "right"):
        pair = pairs[f"ruler/pinch.{side}_distal"]
        assert pair["friction"] == 0.8 and 3.9 < pair["normal_max_N"] < 4.5, pair
        assert 1000 < pair["touching_ticks"] < 2000, pair
        assert 0.006 < pair["torsion_max_Nm"] < 0.01, pair
    assert found["bodies"] == ["ruler"] and len(found["joints"]) == 4
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
    assert counts == {"/tact/tick": ticks, "/tact/events": 0, "/joint_states": tenth,
                      "/tf": tenth}, counts
    data[len(data) * 3 // 4] ^= 4
    with open(bad, "wb") as stream:
        stream.write(data)
    flipped = json.loads(tact("info", bad, "--json", code=3)[0])
    assert not flipped["complete"] and ticks <= flipped["ticks"] < 2000, flipped


def main():
    global TACT, CHANGE_LOG
    subjects = {f.__name__: f for f in (info,)}
    if len(sys.argv) != 5 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    TACT, CHANGE_LOG = sys.argv[2:4]
    os.chdir(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        subjects[sys.argv[1]](folder)


if __name__ == "__main__":
    main()
