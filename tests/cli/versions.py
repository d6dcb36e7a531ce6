#!/usr/bin/env python3
"""versions.py SUBJECT TACT CHANGE_LOG SOURCE: logs of every results version.

read     info, plot, picture, export, diff and recover work on the logs of tests/data/version1
verify   a replay names the results versions where they differ, before anything else, and the machine
table    rt/log/README.md has a line for each results version
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

RULER = "examples/scenes/ruler.yaml"
LOGS = {  # `tact info --hash`, as version 1 itself read them, and --hash=results
    "tests/data/version1/ruler.mcap": ("36b5b16cfb84d1d7", "1b69ccb613e24b0aa120fa98e1e491e3"),
    "tests/data/version1/stack.mcap": ("3a8c5e44e4469b00", "9fd2f610c4ae3f8e55bc7728c1cf4d1f"),
    "tests/data/version1/swing.mcap": ("6ce6bb293e63c9e2", "3798d496ccc16216a3c73fe6478abca2"),
}


def tact(*words, code=0):
    """Runs the command; gives stdout and stderr. The exit code must be as said."""
    run = subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=120)
    codes = code if isinstance(code, tuple) else (code,)
    assert run.returncode in codes, (words, run.returncode, code, run.stdout, run.stderr)
    return run.stdout, run.stderr


def results_version(folder):
    """What a log that is made now states."""
    log = os.path.join(folder, "now.mcap")
    tact("sim", RULER, "--duration", "0.01", "--moments", "host", "--record", log, "--quiet")
    return log, int(json.loads(tact("info", log, "--json")[0])["facts"]["results_version"])


def read(folder):
    csv, h5, png = (os.path.join(folder, "a." + ending) for ending in ("csv", "h5", "png"))
    for k, option in enumerate(("--hash", "--hash=results")):
        hashes = [line.split()[0] for line in tact("info", option, *LOGS)[0].splitlines()]
        assert hashes == [pair[k] for pair in LOGS.values()], hashes
    for log in LOGS:
        reported = json.loads(tact("info", log, "--json")[0])
        assert reported["complete"] and reported["ticks"] == 200 and "results_version" not in reported["facts"]
        touched = [pair for pair in reported["pairs"] if pair["touching_ticks"] > 100]
        assert len(touched) > 1 and all(pair["normal_max_N"] > 2 for pair in touched), touched
        tact("plot", log, "-o", os.path.join(folder, "a.gp"), "--force")
        if shutil.which("gnuplot"):
            tact("picture", log, "--time", "0.1", "-o", png, "--force")
        tact("export", log, "--csv", csv, "--hdf5", h5, "--force")
        with open(csv, encoding="ascii") as stream:
            assert len(stream.readlines()) == 201
        assert os.path.getsize(h5) > 10000
        tact("diff", log, log)
        if log == next(iter(LOGS)):  # its outputs are reactions of drives
            assert not reported["ports"] and len(reported["outputs_without_energy"]) == 4, reported
            assert set(reported["outputs_without_energy"].values()) == {"an older tact recorded the log (results before version 62), without the energy of this port"}
        cut = os.path.join(folder, "cut.mcap")
        shutil.copy(log, cut)
        os.chmod(cut, 0o644)
        os.truncate(cut, os.path.getsize(cut) - 300)  # the index
        tact("recover", cut, code=3)
        assert ": 0 differ" in tact("diff", log, cut)[0]
        assert tact("info", "--hash=results", cut)[0].split()[0] == LOGS[log][1]
        assert json.loads(tact("info", cut, "--json")[0])["complete"]


def verify(folder):
    now, version = results_version(folder)
    assert version >= 1
    for log in LOGS:
        out, err = tact("replay", log, "--verify", code=(0, 1))
        assert "200 ticks replayed" in out, out
        words = f"tact: warning: log {log}: recorded by a program of results version 1, this one has {version}: replayed values may differ\n"
        assert err.startswith(words) if version > 1 else "results version" not in err, err
        assert json.loads(tact("replay", log, "--json", code=(0, 1))[0])["results_version"] == 1
    assert "results version" not in tact("replay", now)[1]
    reported = json.loads(tact("info", now, "--json")[0])
    assert len(reported["ports"]) == 4 and not reported["outputs_without_energy"], reported["ports"]
    other = os.path.join(folder, "other.mcap")
    for stated, read_as in (("9000", 9000), ("0", 0), ("-1", 0), ("1e3", 0), ("1" * 40, 0)):
        subprocess.run([CHANGE_LOG, now, other, "ruler_twist", "2", "5",
                        f"results_version={stated}"], check=True)
        out, err = tact("replay", other, code=1)
        assert err.startswith(f"tact: warning: log {other}: recorded by a program of results version {read_as}, "
                              f"this one has {version}: replayed values may differ\n"), err
        assert "recorded with another results version" in out, out
    subprocess.run([CHANGE_LOG, now, other, "ruler_twist", "2", "5", "machine=pdp11"], check=True)
    out, err = tact("replay", other, code=1)
    assert 'machine was "pdp11" when the log was recorded and is "' in err, err
    assert "recorded with another machine\n" in out, out
    # The processor's model and the C library change no bits.
    subprocess.run([CHANGE_LOG, now, other, "ruler_twist", "2", "5", "cpu=Z80"], check=True)
    assert "warning" not in tact("replay", other, code=1)[1]


def table():
    with open("rt/session/facts.h", encoding="utf-8") as stream:
        version = int(re.search(r"#define TACT_RESULTS_VERSION (\d+)", stream.read())[1])
    with open("rt/log/README.md", encoding="utf-8") as stream:
        section = stream.read().split("\n## Results versions\n")[1].split("\n## ")[0]
    listed = [int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert listed == list(range(1, version + 1)), (listed, version)


def main():
    global TACT, CHANGE_LOG
    subjects = {f.__name__: f for f in (read, verify, table)}
    if len(sys.argv) != 5 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    subject, (TACT, CHANGE_LOG) = subjects[sys.argv[1]], sys.argv[2:4]
    os.chdir(sys.argv[4])
    if subject.__code__.co_argcount:
        with tempfile.TemporaryDirectory() as folder:
            subject(folder)
    else:
        subject()


if __name__ == "__main__":
    main()
