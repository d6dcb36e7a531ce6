#!/usr/bin/env python3
"""How hard must two soft fingertips press a ruler that they grasp 5 cm from its centre of mass?

    examples/pinch_study.py [TACT] [--json]

Runs examples/scenes/ruler.yaml with commanded grip forces in place of its joint targets, for three coefficients of
friction, and prints by how much the ruler turned in 1.5 s, and the torsion that a patch could bear of what it must."""
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GRIP = "grips: [{links: [pinch.left_distal, pinch.right_distal], from: operator.grip, scale: %g, speed: 0.5}]\n\n"


def turned(tact, friction, force):
    """By how much the ruler turned [deg], and with what torque a patch held it [N m]."""
    with open(os.path.join(HERE, "scenes", "ruler.yaml"), encoding="utf-8") as file:
        text = file.read().replace("friction: 0.8", f"friction: {friction}")
    before, after = text.split("inputs:")[0], text[text.index("outputs:"):]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as scene:
        scene.write(before + GRIP % force + after + "moments: {source: host}\n")
        scene.flush()
        run = [tact, "sim", scene.name, "--duration", "2.5", "--json"]
        report = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    w = min(1.0, abs(report["bodies"]["ruler"]["quat_wxyz"][0]))
    return math.degrees(2.0 * math.acos(w)), [abs(pair["spin_torque"]) for pair in report["pairs"]]


if __name__ == "__main__":
    TACT = next((word for word in sys.argv[1:] if word != "--json"), "tact")
    ROWS = [(mu, force, *turned(TACT, mu, force)) for mu in (0.3, 0.5, 0.8) for force in (2.0, 4.0, 8.0)]
    if "--json" in sys.argv:
        print(json.dumps([{"friction": m, "force": f, "turned_deg": t, "torque": q} for m, f, t, q in ROWS]))
    else:
        print("friction  grip [N]  turned [deg]")
        print("\n".join(f"{m:8g} {f:9g} {t:13.3f}  {'held' if t < 1.0 else 'slips'}" for m, f, t, _ in ROWS))
