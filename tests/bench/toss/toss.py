#!/usr/bin/env python3
"""Real tosses of a cube in tact, MuJoCo and Drake: identify parameters, or score with those stored.

    toss.py score FOLDER [--half held|identify|all] [--engines tact,mujoco,drake] [--ticks 7,12,96] [--json]
    toss.py measure FOLDER
    toss.py identify FOLDER --engines tact [--seed 1] [--write]

FOLDER holds starts.csv and tosses.csv. Every second toss from the first is there to identify on, the
others to score. `measure` finds from those alone what no engine has a part in: the tracker's scale of
length and the lag of recorded velocities. Every engine is searched by the same seeded search, with as
many roll-outs of the same tosses, for the least sum of position error / 13 % and rotation error / 16
degrees; all begin with the same states. The search scores four numbers of ticks a sample together:
parameters found at one number may lean on that number's numerical damping. A peer that is not
installed is left out, with its reason (`pip install mujoco drake numpy`). `--write` puts what was found
into the parameter file.
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
RATE, EDGE, GRAVITY = 148.0, 0.1048, 9.81  # as in toss.c
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
GENERATIONS, OFFSPRING = 8, 8  # of the search: 64 scores,
SEARCHED = (7, 12, 24, 48)  # each over these ticks a sample,
SHARES = 20  # every 20th toss of the half at each of them, other tosses in the next generation
SCORED = "7,12,16,24,48,96"


class Tact:
    """bench_toss, which keeps the tosses in memory and answers a line of parameters with a score."""
    ranges = {"friction": (0.15, 0.21), "rounding": (0.002, 0.008), "log_compliance": (-6.2, -5.2),
              "hunt_crossley": (0.0, 12.0)}
    version = "tact"

    def __init__(self, options):
        self.command = [options.bench, options.folder, "--parameters", options.parameters,
                        "--half", options.half, "--serve"]
        self.server = None

    def evaluate(self, p, stride, phase=0):
        if not self.server:
            self.server = subprocess.Popen(self.command, stdin=subprocess.PIPE, text=True,
                                           stdout=subprocess.PIPE)
        sent = plain(dict(p, stride=stride, phase=phase))
        self.server.stdin.write(" ".join(f"{k}={v!r}" for k, v in sent.items()) + "\n")
        self.server.stdin.flush()
        answer = self.server.stdout.readline().split()
        if len(answer) != 2:
            sys.exit("bench_toss gave no answer")
        return float(answer[0]), float(answer[1])


class Peer:
    """An engine of peers.py on the tosses of the half."""

    def __init__(self, engine, options, fixed):
        self.engine, self.ranges, self.version = engine, engine.ranges, engine.version
        self.fixed = fixed
        self.tosses = read(options.folder)
        if options.half != "all":
            self.tosses = self.tosses[options.half == "held"::2]

    def evaluate(self, p, stride, phase=0):
        p = dict(self.fixed, **p)
        self.engine.prepare(p)
        scores = [self.engine.roll_out(toss, p) for toss in self.tosses[phase::stride]]
        return tuple(sum(s[k] for s in scores) / len(scores) for k in range(2))


def read_csv(path):
    with open(path, encoding="utf-8") as f:
        return [[float(x) for x in row] for row in csv.reader(f) if row[0] != "toss"]


def read_samples(folder):
    """Position and quaternion of every sample, by the toss's number."""
    samples = {}
    for row in read_csv(os.path.join(folder, "tosses.csv")):
        samples.setdefault(int(row[0]), []).append(row[3:10])
    return samples


def read(folder):
    import numpy as np
    samples, tosses = read_samples(folder), []
    for number, k0, count, *v in read_csv(os.path.join(folder, "starts.csv")):
        s = np.array(samples[int(number)][int(k0):int(k0 + count)])
        s[0] = v[:7]
        tosses.append({"position": s[:, :3], "velocity": np.array(v[7:10]),
                       "quat_wxyz": s[:, 3:] / np.linalg.norm(s[:, 3:], axis=1)[:, None],
                       "turning_body": np.array(v[10:13])})
    return tosses


def measure(folder):
    """The tracker's scale of length, from the height at which cubes rest, and the lag of recorded
    velocities in samples, from six positions of the free fall up to the start."""
    samples, rows = read_samples(folder), read_csv(os.path.join(folder, "starts.csv"))[::2]
    length = sum(samples[int(row[0])][-1][2] for row in rows) / len(rows) / (EDGE / 2)
    lags = []
    for number, k0, _, *v in rows:
        if k0 >= 5:
            fall = GRAVITY * length / 2 / RATE ** 2
            heights = [samples[int(number)][int(k0) - i][2] + fall * i * i for i in range(6)]
            slope = sum((2.5 - i) * heights[i] for i in range(6)) / 17.5 * RATE
            bend = max(abs(heights[i] - sum(heights) / 6 - slope * (2.5 - i) / RATE)
                       for i in range(6))
            if bend < 1e-4:
                lags.append((v[9] - slope) * RATE / (GRAVITY * length))
    return length, sum(lags) / len(lags)


def open_engine(name, options):
    """The engine, or None with the reason on stderr."""
    if name == "tact":
        return Tact(options)
    try:
        sys.path.insert(0, HERE)
        import peers
        return Peer({"mujoco": peers.Mujoco, "drake": peers.Drake}[name](), options,
                    load(options.parameters)[name])
    except ImportError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return None


def plain(p):
    """Powers of ten in place of their logarithms."""
    return {k.removeprefix("log_"): 10 ** v if k.startswith("log_") else v for k, v in p.items()}


def evaluate_together(engine, p, generation):
    """Mean scores over the ticks of the search, and which tosses are rolled out at which."""
    many = len(SEARCHED)
    phases = [(generation + SHARES // many * (k + generation)) % SHARES for k in range(many)]
    scores = [engine.evaluate(dict(p, substeps=n), SHARES, phase)
              for n, phase in zip(SEARCHED, phases)]
    return tuple(sum(score[k] for score in scores) / many for k in range(2))


def objective(score):
    total = score[0] / 0.13 + score[1] / 16
    return total if math.isfinite(total) else math.inf


def search(engine, begin, seed, say):
    """CMA-ES (Hansen 2016) in the unit cube of the ranges. All of a generation see the same tosses.
    It begins at the parameters stored; the answer is the mean that is left: the best point met owes
    much to luck, as roll-outs are chaotic."""
    import numpy as np
    draw = np.random.default_rng(seed)
    names = sorted(engine.ranges)
    n, parents = len(names), OFFSPRING // 2
    weights = math.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    mass = 1 / (weights @ weights)
    c_path, c_size = (4 + mass / n) / (n + 4 + 2 * mass / n), (mass + 2) / (n + mass + 5)
    c_one = 2 / ((n + 1.3) ** 2 + mass)
    c_mu = min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
    usual = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    mean = np.array([(begin[k] - engine.ranges[k][0]) / (engine.ranges[k][1] - engine.ranges[k][0])
                     for k in names])
    size, cov, path, size_path = 0.2, np.eye(n), np.zeros(n), np.zeros(n)

    def point(x):
        return {k: lo + min(1.0, max(0.0, float(x[i]))) * (hi - lo)
                for i, k in enumerate(names) for lo, hi in [engine.ranges[k]]}

    for g in range(GENERATIONS):
        lengths, axes = np.linalg.eigh(cov)
        lengths = np.sqrt(np.maximum(lengths, 1e-20))
        steps = [axes * lengths @ draw.standard_normal(n) for _ in range(OFFSPRING)]
        values = []
        for step in steps:
            x = mean + size * step
            outside = float(((x - np.clip(x, 0, 1)) ** 2).sum())
            values.append(objective(evaluate_together(engine, point(x), g)) + 5 * outside)
        best = [steps[i] for i in np.argsort(values)[:parents]]
        step = weights @ np.array(best)
        mean = mean + size * step
        size_path = (1 - c_size) * size_path + math.sqrt(c_size * (2 - c_size) * mass) * (
            axes / lengths @ axes.T @ step)
        path = (1 - c_path) * path + math.sqrt(c_path * (2 - c_path) * mass) * step
        cov = ((1 - c_one - c_mu) * cov + c_one * np.outer(path, path)
               + c_mu * sum(w * np.outer(y, y) for w, y in zip(weights, best)))
        size *= math.exp(c_size / (1 + c_size) * (np.linalg.norm(size_path) / usual - 1))
        say(f"generation {g}: best {min(values):.4f} median {np.median(values):.4f} size {size:.3f} "
            + " ".join(f"{k}={v:.4g}" for k, v in point(mean).items()))
    return point(mean)


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
    stored = load(options.parameters)[name]
    begin = {k: stored[k] if k in stored else math.log10(stored[k.removeprefix("log_")])
             for k in engine.ranges}
    found = search(engine, begin, options.seed, say)
    if name == "tact":
        found = plain(found)
    print(json.dumps({name: found}))
    if options.write:
        store(options.parameters, name, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("measure", "identify", "score"))
    parser.add_argument("folder")
    parser.add_argument("--engines", default="tact,mujoco,drake")
    parser.add_argument("--half", choices=("identify", "held", "all"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ticks", default=SCORED, help="ticks a sample to score (" + SCORED + ")")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parameters", default=os.path.join(HERE, os.pardir, "toss_parameters.yaml"))
    parser.add_argument("--bench", default=os.path.join(ROOT, "build", "tests", "bench", "bench_toss"))
    options = parser.parse_args()
    if options.what == "measure":
        print("length: {:.5f}, lag: {:.3f} samples".format(*measure(options.folder)))
        return
    options.half = options.half or ("identify" if options.what == "identify" else "held")
    table, ticks = {}, [int(n) for n in options.ticks.split(",")]
    for name in options.engines.split(","):
        engine = open_engine(name, options)
        if engine and options.what == "identify":
            identify(engine, name, options)
        elif engine:
            p = {} if name == "tact" else load(options.parameters)[name]
            rows = table[engine.version] = []
            for n in ticks:
                position, rotation = engine.evaluate(dict(p, substeps=n), 1)
                rows.append({"ticks": n, "position_percent": 100 * position,
                             "rotation_deg": rotation})
    if options.json and table:
        print(json.dumps(table))
    elif table:
        print(f"{'':16} {'ticks':>5} {'position':>10} {'rotation':>10}   "
              f"({options.half} tosses of {options.folder})")
        for version, rows in table.items():
            for row in rows:
                print(f"{version:16} {row['ticks']:5} {row['position_percent']:8.2f} % "
                      f"{row['rotation_deg']:6.2f} deg")


if __name__ == "__main__":
    main()
