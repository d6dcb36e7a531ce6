"""What the tests of the viewer share: a log, and `tact view` serving it."""
import os
import re
import subprocess
import sys

SKIP = 77


def sim(tact, source, folder, scene="ruler", change=None, seconds=None):
    """Simulates a scene of the gallery, its text changed by pairs (from, to). The log's path."""
    with open(os.path.join(source, "examples/scenes", scene + ".yaml"), encoding="utf-8") as file:
        text = file.read()
    for old, new in change or []:
        assert old in text, old
        text = text.replace(old, new)
    path = os.path.join(folder, scene + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    log = os.path.join(folder, scene + ".mcap")
    words = [tact, "sim", path, "--record", log, "--force", "--quiet"]
    subprocess.run(words + (["--duration", str(seconds)] if seconds else []), check=True, stdout=subprocess.DEVNULL)
    return log


def sim_soft(tact, folder, balls=10):
    """Simulates soft balls of 20 mm that rest on a rigid plane side by side, their pressure known. The log's path."""
    body = "  - {{name: ball_{0}, mass: 0.1, position: [{1}, 0, 0.02], shapes: [{{type: sphere, radius: 0.02, material: rubber}}]}}"
    text = "\n".join([
        "name: soft", "duration: 0.3", "materials:", "  - {name: rubber, field: {modulus: 2e5, thickness: 0.01}}", "  - {name: steel}",
        "pairs:", "  - {materials: [rubber, steel], friction: 0.6, model: field, dissipation: 0.003}",
        "  - {materials: [rubber, rubber], friction: 0.6, model: field}", "bodies:",
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}",
        *(body.format(i, round(0.05 * i, 3)) for i in range(balls))])
    path, log = (os.path.join(folder, "soft" + ending) for ending in (".yaml", ".mcap"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    subprocess.run([tact, "sim", path, "--record", log, "--force", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return log


class Viewer:
    """A running `tact view`, or another command that prints the page's address first."""

    def __init__(self, *words, stream="stdout"):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found, lines = None, []
        for line in getattr(self.process, stream):  # after warnings, as of a log that was replaced
            lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\S*", line)
            if found:
                break
        if not found:
            raise AssertionError(f"no address: {lines!r} {self.process.stderr.read()!r}")
        self.address, self.port = found.group(0), int(found.group(1))

    def close(self):
        """Ends it as Ctrl-C does; its exit code, and what it printed besides."""
        self.process.send_signal(2)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)
