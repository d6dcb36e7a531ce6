#!/usr/bin/env python3
"""Real tosses of a cube in tact, MuJoCo and Drake: identify parameters, or score with those stored.

    toss.py score FOLDER [--half held|identify|all] [--engines tact,mujoco,drake] [--json]
    toss.py identify FOLDER --engines tact [--seed 1] [--write]

FOLDER holds starts.csv and tosses.csv. Every second toss from the first is there to identify on, the
others to score. Every engine is searched by the same seeded search, with as many roll-outs, for the
least sum of position error / 13 % and rotation error / 16 degrees; all begin with the same states and
step four times between two samples. A peer that is not installed is left out, with its reason
(`pip install mujoco drake`). `--write` puts what was found into the parameter file.
"""
import argparse
import csv
import json
import math
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
STAGES = ((64, 4), (48, 2), (8, 1))  # roll-outs of so many points, of every so-many-th toss


class Tact:
    """bench_toss, which keeps the tosses in memory and answers a line of parameters with a score."""
    ranges = {"length": (0.97, 1.0), "lag": (0.0, 1.0), "friction": (0.1, 0.3),
              "restitution": (0.0, 0.4), "log_dissipation": (-3.3, -1.0)}
    version = "tact"

    def __init__(self, options):
        self.command = [options.bench, options.folder, "--parameters", options.parameters,
                        "--half", options.half, "--serve"]
        self.server = None

    def evaluate(self, p, stride):
        if not self.server:
            self.server = subprocess.Popen(self.command, stdin=subprocess.PIPE, text=True,
                                           stdout=subprocess.PIPE)
        sent = dict(p, stride=stride)
        if "log_dissipation" in sent:
            sent["dissipation"] = 10 ** sent.pop("log_dissipation")
        self.server.stdin.write(" ".join(f"{k}={v!r}" for k, v in sent.items()) + "\n")
        self.server.stdin.flush()
        answer = self.server.stdout.readline().split()
        if len(answer) != 2:
            sys.exit("bench_toss gave no answer")
        return float(answer[0]), float(answer[1])


class Peer:
    """An engine of peers.py on the tosses of the half."""

    def __init__(self, engine, options):
        self.engine, self.ranges, self.version = engine, engine.ranges, engine.version
        self.tosses = read(options.folder)
        if options.half != "all":
            self.tosses = self.tosses[options.half == "held"::2]

    def evaluate(self, p, stride):
        self.engine.prepare(p)
        scores = [self.engine.roll_out(toss, p) for toss in self.tosses[::stride]]
        return tuple(sum(s[k] for s in scores) / len(scores) for k in range(2))


def read(folder):
    import numpy as np
    samples = {}
    with open(os.path.join(folder, "tosses.csv"), encoding="utf-8") as f:
        for row in csv.reader(f):
            if row[0] != "toss":
                samples.setdefault(int(row[0]), []).append([float(x) for x in row[3:10]])
    tosses = []
    with open(os.path.join(folder, "starts.csv"), encoding="utf-8") as f:
        for row in csv.reader(f):
            if row[0] != "toss":
                k0, count, v = int(row[1]), int(row[2]), [float(x) for x in row[3:]]
                s = np.array(samples[int(row[0])][k0:k0 + count])
                s[0] = v[:7]
                tosses.append({"position": s[:, :3], "velocity": np.array(v[7:10]),
                               "quat_wxyz": s[:, 3:] / np.linalg.norm(s[:, 3:], axis=1)[:, None],
                               "turning_body": np.array(v[10:13])})
    return tosses


def open_engine(name, options):
    """The engine, or None with the reason on stderr."""
    if name == "tact":
        return Tact(options)
    try:
        sys.path.insert(0, HERE)
        import peers
        return Peer({"mujoco": peers.Mujoco, "drake": peers.Drake}[name](), options)
    except ImportError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return None


def objective(score):
    total = score[0] / 0.13 + score[1] / 16
    return total if math.isfinite(total) else math.inf


def search(engine, seed, say):
    """Random points, then steps from the best of them that shrink, on more and more of the tosses."""
    draw = random.Random(seed)
    names = sorted(engine.ranges)

    def point(x):
        return {n: engine.ranges[n][0] + x[i] * (engine.ranges[n][1] - engine.ranges[n][0])
                for i, n in enumerate(names)}

    def value(x, stride):
        score = engine.evaluate(point(x), stride)
        say(f"{objective(score):.4f} {100 * score[0]:.2f} % {score[1]:.2f} deg of 1/{stride}: "
            + " ".join(f"{n}={v:.4g}" for n, v in point(x).items()))
        return objective(score)

    pool = [[draw.random() for _ in names] for _ in range(STAGES[0][0])]
    pool = sorted((value(x, STAGES[0][1]), x) for x in pool)[:8]
    count, stride = STAGES[1]
    pool = sorted((value(x, stride), x) for _, x in pool)
    for k in range(count - len(pool)):
        base = pool[min(int(draw.expovariate(1)), len(pool) - 1)][1]
        width = 0.15 * 0.1 ** (k / (count - len(pool)))
        x = [min(1.0, max(0.0, b + draw.gauss(0, width))) for b in base]
        pool = sorted(pool + [(value(x, stride), x)])[:STAGES[2][0]]
    pool = sorted((value(x, STAGES[2][1]), x) for _, x in pool)
    return point(pool[0][1])


def load(path):
    """The sections of a file of two levels, "engine:" and "  name: number"."""
    sections, section = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].rstrip()
            if line and not line.startswith(" "):
                section = sections.setdefault(line.rstrip(":"), {})
            elif line:
                key, number = line.split(":")
                section[key.strip()] = float(number)
    return sections


def store(path, name, found):
    """Replaces numbers of one section, keeping the rest of the file."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    section = None
    for i, line in enumerate(lines):
        key = re.match(r"( *)(\w+):", line)
        if key and not key.group(1):
            section = key.group(2)
        elif key and section == name and key.group(2) in found:
            comment = "  #" + line.split("#")[1] if "#" in line else ""
            lines[i] = f"  {key.group(2)}: {found[key.group(2)]:.6g}{comment}"
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def identify(engine, name, options):
    def say(text):
        print(f"{name} {text}", file=sys.stderr, flush=True)
    found = search(engine, options.seed, say)
    if name == "tact":
        found["dissipation"] = 10 ** found.pop("log_dissipation")
    print(json.dumps({name: found}))
    if options.write:
        store(options.parameters, name, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("identify", "score"))
    parser.add_argument("folder")
    parser.add_argument("--engines", default="tact,mujoco,drake")
    parser.add_argument("--half", choices=("identify", "held", "all"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parameters", default=os.path.join(HERE, os.pardir, "toss_parameters.yaml"))
    parser.add_argument("--bench", default=os.path.join(ROOT, "build", "tests", "bench", "bench_toss"))
    options = parser.parse_args()
    options.half = options.half or ("identify" if options.what == "identify" else "held")
    table = {}
    for name in options.engines.split(","):
        engine = open_engine(name, options)
        if engine and options.what == "identify":
            identify(engine, name, options)
        elif engine:
            p = load(options.parameters)[name]
            position, rotation = engine.evaluate({} if name == "tact" else p, 1)
            table[engine.version] = {"position_percent": 100 * position, "rotation_deg": rotation}
    if options.json and table:
        print(json.dumps(table))
    elif table:
        print(f"{'':16} {'position':>10} {'rotation':>10}   ({options.half} tosses of {options.folder})")
        for version, row in table.items():
            print(f"{version:16} {row['position_percent']:8.2f} % {row['rotation_deg']:6.2f} deg")


if __name__ == "__main__":
    main()
