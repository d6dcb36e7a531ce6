"""What the drivers that compare tact with MuJoCo share."""
import json
import math
import os
import statistics
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MUJOCO = "mujoco-core==4.0.0"  # the library and its headers
FEATURES_BAR = 1.0  # of the median time of a tick by `volume`


def say(text):
    print(text, file=sys.stderr, flush=True)


def build_program(build, name):
    """Path of a program of tests/bench, built where it is not there; exits with 2 where it cannot be."""
    path = os.path.join(build, "tests", "bench", name)
    text = ""
    if not os.path.exists(path):
        try:
            run = subprocess.run(["cmake", "--build", build, "--target", name], capture_output=True, text=True, check=False)
            text = run.stdout + run.stderr if run.returncode else ""
        except OSError as error:
            text = str(error)
    if text:
        say(f"{text.strip()}\n{name} cannot be built in {build}, which must be a build with tests: .ci/install --tests, "
            f"then cmake -S {SOURCE} -B {build} -G Ninja -DBUILD_TESTING=ON")
        sys.exit(2)
    return path


def build_peer(build, name):
    """Path of the peer program, built against MuJoCo's wheel; exits with 77 without a network."""
    venv = os.path.join(build, "bench-venv")
    python = os.path.join(venv, "bin", "python3")
    find = [python, "-c", "import importlib.util as u; "
            "print(u.find_spec('mujoco').submodule_search_locations[0])"]
    if not os.path.exists(python) or subprocess.run(find, capture_output=True, check=False).returncode:
        say(f"installing {MUJOCO} into {venv}")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", MUJOCO],
                             capture_output=True, text=True, check=False)
        if pip.returncode:
            say(f"skipped: pip cannot install {MUJOCO}: {pip.stderr.strip().splitlines()[-1]}")
            sys.exit(77)
    wheel = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    for command in (["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", f"-DTACT_MUJOCO={wheel}"],
                    ["cmake", "--build", build, "--target", name]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            say(run.stdout + run.stderr)
            sys.exit(2)
    return os.path.join(build, "tests", "bench", name)


def run_json(command, cpu):
    """The JSON object that a command pinned to one CPU prints."""
    os.sched_setaffinity(0, {cpu})  # inherited by the command
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(run.stdout)
    except OSError as error:
        say(f"{error}: build tact first (.ci/try)")
    except ValueError:
        say(f"{' '.join(command)}: exit {run.returncode}, no JSON\n{run.stderr}")
    sys.exit(2)


def compare(commands, held, rounds, cpu):
    """Runs the commands ("tact", "mujoco") in alternation; held(name, report) states whether a run did
    what it should. Gives the medians over the rounds of p50 and p99 [us], and their ratio; with a third command,
    "features", also the median over the rounds of its times over those of "tact", by `volume`, in the same round."""
    times = {name: [] for name in commands}
    good = dict.fromkeys(commands, True)
    for k in range(rounds):
        for name, command in commands.items():
            report = run_json(command, cpu)
            times[name].append(report["compute_us"])
            good[name] &= held(name, report)
        say(f"round {k + 1}: p50 {times['tact'][-1]['p50']:.1f} us in tact, "
            f"{times['mujoco'][-1]['p50']:.1f} us in MuJoCo")
    result = {name: {q: statistics.median(t[q] for t in times[name]) for q in ("p50", "p99")}
              | {"held": good[name]} for name in times}
    result["ratio"] = {q: result["tact"][q] / result["mujoco"][q] for q in ("p50", "p99")}
    if "features" in times:
        ratio = {q: statistics.median(f[q] / t[q] for f, t in zip(times["features"], times["tact"])) for q in ("p50", "p99")}
        result["features_to_volume"] = ratio | {"bar": FEATURES_BAR, "met": ratio["p50"] <= FEATURES_BAR}
    result["rounds"] = rounds
    result["cpu"] = cpu
    return result


def creep(command, bodies, start, end, cpu):
    """How far one of the bodies moves at most between two times of a scene [m]: two runs of `tact sim`, of which the
    shorter is the beginning of the longer, bit for bit."""
    at = [run_json([*command, "--duration", str(t)], cpu)["bodies"] for t in (start, end)]
    return max(math.dist(at[0][body]["position"], at[1][body]["position"]) for body in bodies)


def add_creep(result, commands, bodies, interval, cpu):
    """Adds the creep of each engine between two times of the scene to the result of compare()."""
    for name, command in commands.items():
        moved = run_json(command, cpu)["creep_m"] if name == "mujoco" else creep(command, bodies, *interval, cpu)
        result[name]["creep_m"] = moved
    result["creep_s"] = interval


def with_features(scene, folder):
    """Path of a copy of the scene, which reads no other file, whose contacts are by `features`."""
    with open(scene, encoding="utf-8") as file:
        text = file.read()
    copy = os.path.join(folder, os.path.basename(scene))
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text + "\ncontact: {model: features}\n")
    return copy


def finish(result, as_json):
    """Prints the table or the JSON; exits with 1 where one of them did not hold, or features took longer than volume."""
    names = [name for name, row in result.items() if isinstance(row, dict) and "held" in row]
    features = result["features_to_volume"]
    if as_json:
        print(json.dumps(result))
    else:
        print(f"{'':8} {'p50 us':>8} {'p99 us':>8}  {'creep m':>8}  held")
        for name in names:
            row = result[name]
            print(f"{name:8} {row['p50']:8.1f} {row['p99']:8.1f}  {row['creep_m']:8.1e}  {'yes' if row['held'] else 'NO'}")
        print(f"{'ratio':8} {result['ratio']['p50']:8.2f} {result['ratio']['p99']:8.2f}")
        print(f"features / volume: p50 {features['p50']:.3f} ({'at most' if features['met'] else 'NOT at most'} "
              f"{features['bar']:.2f}), p99 {features['p99']:.3f}")
    sys.exit(0 if features["met"] and all(result[name]["held"] for name in names) else 1)


def enter_venv(build, package="mujoco==4.0.0"):
    """Runs this program again with MuJoCo's Python package, which is installed on first use; exits with 77 without a
    network."""
    venv = os.path.join(build, "bench-hands-venv")
    python = os.path.join(venv, "bin", "python3")
    if os.path.realpath(sys.prefix) == os.path.realpath(venv):
        return
    if not os.path.exists(python) or subprocess.run([python, "-c", "import mujoco"], check=False,
                                                    capture_output=True).returncode:
        say(f"installing {package} into {venv}")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = subprocess.run([python, "-m", "pip", "install", "-q", package], capture_output=True, text=True, check=False)
        if pip.returncode:
            say(f"skipped: pip cannot install {package}: {pip.stderr.strip().splitlines()[-1]}")
            sys.exit(77)
    os.execv(python, [python, *sys.argv])
