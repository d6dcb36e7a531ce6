"""`tact run` on a measurement card (comedi_test, whose inputs read back its outputs) that holds 2 V: whatever ends
it, the card is at 0 V when it has ended. Part of check-devices, in the machine. Usage: stop.py TACT"""

import ctypes
import signal
import subprocess
import sys
import tempfile
import time

SCENE = """name: push
duration: 100
moments: {source: host}
hands:
  - name: robot
    weightless: true
    links:
      - name: tip
        mass: 0.1
        inertia: [1, 1, 1, 0, 0, 0]
        joint: {type: hinge, axis: [0, 0, 1], stiffness: 2, damping: 0.02}
devices:
  - {name: hand, type: operator, settings: {script: [[0, 0, 0.25, 0], [100, 0, 0.25, 0]]}}
  - name: board
    type: comedi
    settings: {inputs: angle=ai7, input_map: [0, 1e-6], outputs: motor=ao0, output_map: [0, 4]}
inputs:
  - {from: board.angle, to: robot.tip, what: state}
  - {from: hand.turn, to: robot.tip}
outputs:
  - {from: robot.tip, to: board.motor, what: drive, limit: 2, rate: 1e6}
"""

comedi = ctypes.CDLL("libcomedi.so.0")
comedi.comedi_open.restype = ctypes.c_void_p
card = ctypes.c_void_p(comedi.comedi_open(b"/dev/comedi0"))


def volts():
    raw = ctypes.c_uint()
    assert comedi.comedi_data_read(card, 0, 0, 0, 0, ctypes.byref(raw)) == 1
    return raw.value * 20 / 65535 - 10


def wait(wanted, seconds):
    """Seconds until the output is there."""
    began = time.monotonic()
    while abs(volts() - wanted) > 0.001:
        assert time.monotonic() - began < seconds, volts()
        time.sleep(0.001)
    return time.monotonic() - began


def stop(scene, how):
    run = subprocess.Popen([sys.argv[1], "run", scene, "--quiet"], stdout=subprocess.DEVNULL)
    wait(2, 60)
    run.send_signal(how)
    if how == signal.SIGKILL:
        run.wait()
        took = wait(0, 0.05)  # the guard's part, which outlives it
    else:
        code = run.wait()
        took = 0.0
        assert code == 0 and abs(volts()) < 0.001, (how, code, volts())
    time.sleep(0.1)
    assert abs(volts()) < 0.001, (how, volts())
    print(f"{how.name}: 0 V {1e3 * took:.1f} ms after the end", flush=True)


with tempfile.NamedTemporaryFile("w", dir="/dev/shm", suffix=".yaml") as file:
    file.write(SCENE)
    file.flush()
    for each in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL:
        stop(file.name, each)
