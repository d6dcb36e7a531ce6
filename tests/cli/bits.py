#!/usr/bin/env python3
"""bits.py SUBJECT TACT FOLDER SOURCE: a session has the same bits on every processor.

variants  with the variants of the C library that its tunables select, and with a libm that is wrong
python    inside a Python process
models    on x86-64 models with and without AVX2 and FMA, by QEMU's user mode

FOLDER holds libwrong_libm.so and libhost_session.so. What is compared is `tact info --hash`: every value of
every tick but stamps and measured times.
"""
import os
import platform
import shutil
import subprocess
import sys
import tempfile

# Seconds until bodies touch and turn: hinges and elastic tips, tilted boxes, mechanisms, meshes.
SESSIONS = {"ruler": 0.65, "stack_loose": 0.1, "swing": 0.1, "bumpy_cube": 0.1, "five_fingers": 0.1}
NO_FMA = "-FMA,-FMA4,-AVX2,-FMA_Usable,-FMA4_Usable,-AVX2_Usable"
MODELS = ("qemu64", "Nehalem", "SandyBridge", "Haswell", "EPYC")


def run(*words, env=None):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=280,
                          env=dict(os.environ, **(env or {})))
    assert done.returncode == 0, (words, env, done.returncode, done.stdout, done.stderr)
    return done.stdout


def digest(log):
    return run(TACT, "info", "--hash", log).split()[0]


def sim(name, folder, *before, env=None):
    """The hash of a session that is run by the command, which `before` starts."""
    log = os.path.join(folder, f"{name}.mcap")
    if os.path.exists(log):
        os.remove(log)
    run(*before, TACT, "sim", f"examples/scenes/{name}.yaml", "--duration", str(SESSIONS[name]),
        "--moments", "host", "--record", log, "--quiet", env=env)
    return digest(log)


def same(stated, *hashes):
    print(stated, *sorted(set(hashes)))
    assert len(set(hashes)) == 1, (stated, hashes)


def variants(folder):
    wrong = os.path.abspath(os.path.join(BUILT, "libwrong_libm.so"))
    root = run(sys.executable, "-c", "import math; print(math.pow(2, 2))", env={"LD_PRELOAD": wrong})
    assert float(root) != 4.0, "the wrong libm was not taken"
    for name in SESSIONS:
        same(name, sim(name, folder), sim(name, folder, env={"LD_PRELOAD": wrong}),
             sim(name, folder, env={"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={NO_FMA}"}))


def python(folder):
    code = ("import ctypes, sys\n"
            "call = ctypes.CDLL(sys.argv[1]).tact_host_session\n"
            "call.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_double)\n"
            "sys.exit(call(sys.argv[2].encode(), sys.argv[3].encode(), float(sys.argv[4])) != 0)\n")
    log = os.path.join(folder, "python.mcap")
    for name, seconds in SESSIONS.items():
        if os.path.exists(log):
            os.remove(log)
        run(sys.executable, "-c", code, os.path.abspath(os.path.join(BUILT, "libhost_session.so")),
            f"examples/scenes/{name}.yaml", log, str(seconds))
        same(name, sim(name, folder), digest(log))


def models(folder):
    qemu = shutil.which("qemu-x86_64")
    if not qemu or platform.machine() != "x86_64":
        print("skipped: qemu-x86_64 (Debian: qemu-user) is not installed, or this is no x86-64")
        sys.exit(77)
    for name in ("ruler", "stack_loose") if not os.environ.get("TACT_LONG") else SESSIONS:
        same(name, sim(name, folder), *(sim(name, folder, qemu, "-cpu", model) for model in MODELS))


def main():
    global TACT, BUILT
    subjects = {f.__name__: f for f in (variants, python, models)}
    if len(sys.argv) != 5 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    subject, (TACT, BUILT) = subjects[sys.argv[1]], map(os.path.abspath, sys.argv[2:4])
    os.chdir(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        subject(folder)


if __name__ == "__main__":
    main()
