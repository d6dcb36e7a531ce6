#!/usr/bin/env python3
"""start.py SUBJECT TACT SOURCE: a page of examples/ as a new user follows it, in an empty folder that has the examples: every
command that it shows, the scenes that it shows, and the numbers that it states. Subjects: start (START.md), hands (HANDS.md)."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "viewer"))
from devtools import WebSocket  # noqa: E402


def open_page(line):
    """Runs a command that shows a page, as a browser would see it; its first frame, and the end by Ctrl-C."""
    running = subprocess.Popen(["sh", "-c", f"exec {line.split('#')[0]} --no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    port = None
    for text in running.stdout:
        port = re.search(r"http://127\.0\.0\.1:(\d+)/", text)
        if port:
            break
    assert port, line
    page = WebSocket("127.0.0.1", int(port[1]), "/", protocol="tact.view.1")
    hello = json.loads(page.receive())
    while page.receive()[0] != 2:  # meshes, then a frame
        pass
    page.close()
    running.send_signal(2)
    rest, _ = running.communicate(timeout=60)
    assert running.returncode == 0, (line, running.returncode, rest)
    return hello["name"]


def run_line(line):
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, (line, done)
    return done.stdout


def follow(page):
    """Every block of the page in its order: scenes are written to the file whose name comes before, commands are run. What
    the commands print, by their lines."""
    printed, shown = {}, []
    for before, kind, text in re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)```", page, re.DOTALL):
        if kind == "yaml":
            with open(re.search(r"`(\w+\.yaml)`", before)[1], "w", encoding="utf-8") as file:
                file.write(text)
        for line in text.splitlines() if kind == "sh" else []:
            if line.startswith("tact view") or "--view" in line:
                shown.append(open_page(line))
            elif line.startswith(("tact plot", "tact picture")) and not shutil.which("gnuplot"):
                print(f"skipped without gnuplot: {line}")
            elif line.startswith("tests/"):
                print(f"left out, as it may need the network: {line}")
            else:
                printed[line.split(" #")[0].strip()] = run_line(line)
    return printed, shown


def last_row(log):
    """The last row of a log, by field and element."""
    subprocess.run(["tact", "export", log, "--csv", "row.csv", "--force"], check=True, stdout=subprocess.DEVNULL)
    with open("row.csv", encoding="ascii") as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


def check_numbers(printed):
    """What the page says that a user sees."""
    moved = re.search(r"cup +[-\d. ]+ (\d+\.\d+) +\d+\.\d+\n", printed["tact sim cup.yaml --record cup.mcap"])
    assert moved and round(float(moved[1])) == 754, printed
    with open("cup.yaml", encoding="utf-8") as file, open("stays.yaml", "w", encoding="utf-8") as rough:
        rough.write(file.read().replace("friction: 0.4", "friction: 0.7"))
    moved = re.search(r"cup +[-\d. ]+ (\d+\.\d+) +\d+\.\d+\n", run_line("tact sim stays.yaml"))
    assert moved and float(moved[1]) < 0.1, moved
    run_line("tact sim examples/scenes/ruler.yaml --moments host --duration 4 --record ruler.mcap")
    row = last_row("ruler.mcap")
    for side in ("left", "right"):
        used = 1 - row[f"ruler_pinch_{side}_distal_margins[3]"]
        assert round(100 * used) == 91, used
    for name in ("cup.mcap", "cup.csv", "cup.html"):
        assert os.path.getsize(name) > 1000, name
    if shutil.which("gnuplot"):
        assert os.path.getsize("cup.png") > 1000 and os.path.getsize("strip.png") > 1000
        run_line("tact sim soft.yaml --record soft.mcap && tact picture soft.mcap -o soft.svg")
        with open("soft.svg", encoding="utf-8") as file:
            peaks = [float(peak) for peak in re.findall(r"(\d\.\d+) kPa", file.read())]
        assert any(abs(peak - 1.58) < 0.03 for peak in peaks), peaks


def start(page):
    printed, shown = follow(page)
    assert shown == ["ruler", "ruler", "cup", "cup", "cup", "cup"], shown
    check_numbers(printed)


def check_lift():
    """lift.yaml: how far the hand lifts the mug, and what its grip does."""
    report = json.loads(run_line("tact sim lift.yaml --moments host --quiet --json"))
    (hold,), (grip,), height = report["holds"], report["grips"], report["bodies"]["mug"]["position"][2]
    assert hold["touching"] and hold["touches"] == 1 and f"{1e3 * hold['slip']:.2f}" == "0.02", hold
    assert abs(grip["force"] - 4) < 1e-3 and grip["short_ticks"] == 0 and report["solver"]["unconverged"] == 0, report
    assert round(1e3 * height) == 97, height


def hands(page):
    printed, shown = follow(page)
    assert shown == ["allegro_whole"], shown
    assert "mug in right" in printed["tact sim lift.yaml --record lift.mcap"], printed
    check_lift()


def main():
    subject, tact, source = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    name, follow_page = {"start": ("START.md", start), "hands": ("HANDS.md", hands)}[subject]
    with open(os.path.join(source, "examples", name), encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PATH"] = os.path.join(folder, "bin") + ":" + os.environ["PATH"]
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(tact, os.path.join(folder, "bin/tact"))
        os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
        os.chdir(folder)
        follow_page(page)
        os.chdir(source)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
