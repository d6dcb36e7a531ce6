#!/usr/bin/env python3
"""study.py TACT SOURCE: the pinch study of the examples, against Hertz's patch and the ruler's weight.

A patch of radius a = (3 F R / 4 E*)^(1/3) under the force F transmits at most 3 pi / 16 mu F a of torsion, and each of
the two bears half of the ruler's torque: five of the nine grips slip."""
import json
import math
import os
import subprocess
import sys

TORQUE = 0.03 * 9.81 * 0.05 / 2.0  # of a patch, from the ruler's weight [N m]

if __name__ == "__main__":
    tact, source = sys.argv[1:]
    script = os.path.join(source, "examples", "pinch_study.py")
    with open(script, encoding="utf-8") as file:
        assert len(file.readlines()) <= 40
    run = subprocess.run([sys.executable, script, tact, "--json"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)
    assert len(rows) == 9
    for row in rows:
        radius = (3.0 * row["force"] * 0.008 / (4.0 * 3e5)) ** (1.0 / 3.0)
        limit = 3.0 * math.pi / 16.0 * row["friction"] * row["force"] * radius
        print(f"friction {row['friction']}, {row['force']} N: limit {limit:.5f} of {TORQUE:.5f} N m, "
              f"turned {row['turned_deg']:.3f} degrees")
        assert (row["turned_deg"] > 5.0) == (limit < TORQUE), row
        if limit > TORQUE:
            assert row["turned_deg"] < 0.1 and max(abs(q - TORQUE) for q in row["torque"]) < 1e-5, row
    assert sum(row["turned_deg"] > 5.0 for row in rows) == 5
    table = subprocess.run([sys.executable, script, tact], capture_output=True, text=True, check=True).stdout
    assert table.count("slips") == 5 and table.count("held") == 4, table
