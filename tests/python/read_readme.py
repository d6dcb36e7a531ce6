"""Runs the Python of README.md as it stands there, on a log that is whole, on one that is being
recorded and on one whose recorder was killed. Usage: read_readme.py TACT SOURCE FOLDER; exit status 77
is a skip."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

STEP = 500  # README prints every tick that this divides


def ticks_of(script, folder):
    """The ticks that README's program prints, and whether it says that the log has no end."""
    run = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    cut = bool(lines) and lines[-1].startswith("the log has no end")
    return [int(line.split()[0]) for line in lines[:-1 if cut else None]], cut


def change(log, copy):
    """Copies a log with a changed byte in the chunk in its middle."""
    with open(log, "rb") as file:
        data = bytearray(file.read())
    at, chunks = 8, []
    while at + 9 < len(data):
        chunks += [at] if data[at] == 6 else []
        at += 9 + int.from_bytes(data[at + 1:at + 9], "little")
    data[chunks[len(chunks) // 2] + 100] ^= 1
    with open(copy, "wb") as file:
        file.write(data)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tact, source, folder = map(os.path.abspath, sys.argv[1:])
    from read_export import ensure_readers

    os.makedirs(folder, exist_ok=True)
    ensure_readers(folder)
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        (script,) = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
    scene = os.path.join(source, "examples/scenes/ruler.yaml")
    with tempfile.TemporaryDirectory() as temporary:
        words = [tact, "sim", scene, "--moments", "host", "--quiet", "--record", "ruler.mcap", "--force"]
        subprocess.run([*words, "--duration", "1.6"], cwd=temporary, check=True, stdout=subprocess.DEVNULL)
        assert ticks_of(script, temporary) == ([0, 500, 1000, 1500], False)
        words[1] = "run"
        run = subprocess.Popen([*words, "--duration", "60"], cwd=temporary, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            time.sleep(2.5)
            # As it is at one moment: of the file itself the reader would continue as long as more comes.
            now = os.path.join(temporary, "now")
            os.mkdir(now)
            shutil.copy(os.path.join(temporary, "ruler.mcap"), now)
            running, cut = ticks_of(script, now)
            assert cut and len(running) >= 2 and running == list(range(0, STEP * len(running), STEP)), running
        finally:
            run.kill()
            run.wait()
        killed, cut = ticks_of(script, temporary)
        assert cut and killed[:len(running)] == running, (killed, running)
        changed = os.path.join(temporary, "changed")
        os.mkdir(changed)
        change(os.path.join(temporary, "ruler.mcap"), os.path.join(changed, "ruler.mcap"))
        run = subprocess.run([tact, "recover", "ruler.mcap"], cwd=changed, capture_output=True, text=True)
        assert run.returncode == 3 and "ticks are lost" in run.stdout, run
        rest, cut = ticks_of(script, changed)
        # Of every 500th tick one at most is in a chunk of a quarter of a second.
        assert not cut and set(rest) <= set(killed) and len(rest) >= len(killed) - 1, (rest, killed)
        subprocess.run([tact, "recover", "ruler.mcap"], cwd=temporary, check=True, stdout=subprocess.DEVNULL)
        whole, cut = ticks_of(script, temporary)
        assert not cut and whole[:len(killed)] == killed, (whole, killed)
        print(f"{len(running)} ticks of a running, {len(killed)} of a killed, {len(whole)} of the recovered log")


if __name__ == "__main__":
    main()
