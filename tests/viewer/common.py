"""What the tests of the viewer share: a log, and `tact view` serving it."""
import base64
import json
import math
import os
import re
import socket
import struct
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


def sim_many(tact, folder, count, seconds):
    """Simulates balls that move side by side and touch nothing, with 13 values of the log each. The log's path."""
    body = "  - {{name: ball_{0}, mass: 0.1, position: [{1}, {2}, 0], velocity: [0.001, 0, 0], shapes: [{3}]}}"
    text = "\n".join([
        "name: many", f"duration: {seconds}", "period: 0.01", "gravity: [0, 0, 0]", "materials: [{name: steel}]",
        "pairs: [{materials: [steel, steel], friction: 0.5}]", "bodies:",
        *(body.format(i, i % 20, i // 20, "{type: sphere, radius: 0.1, material: steel}") for i in range(count))])
    path, log = (os.path.join(folder, "many" + ending) for ending in (".yaml", ".mcap"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    subprocess.run([tact, "sim", path, "--moments", "host", "--record", log, "--force", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return log


def messages_of(page):
    """The messages in a page of tact export --html: kind (1: text) and bytes each."""
    data, out, at = base64.b64decode(re.search(r'id="recording">([^<]*)</script>', page)[1]), [], 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        out.append((kind, data[at + 8:at + 8 + size]))
        at += 8 + (size + 7) // 8 * 8
    return out


def write_ball(path, rows, columns, radius):
    """A bumpy ball of 2 columns (rows - 1) triangles."""
    points = [(0.0, 0.0, -radius)]
    for i in range(1, rows):
        a = math.pi * (i / rows - 0.5)
        for j in range(columns):
            b = 2 * math.pi * j / columns
            r = radius * (1 + 0.05 * math.cos(8 * b) * math.cos(6 * a))
            points.append((r * math.cos(a) * math.cos(b), r * math.cos(a) * math.sin(b), r * math.sin(a)))
    points.append((0.0, 0.0, radius))
    faces, last = [], len(points) - 1
    for j in range(columns):
        k = (j + 1) % columns
        faces.append((0, 1 + k, 1 + j))
        for i in range(rows - 2):
            a, b = 1 + i * columns + j, 1 + i * columns + k
            faces += [(a, b, b + columns), (a, b + columns, a + columns)]
        faces.append((last, last - columns + j, last - columns + k))
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in points)
        file.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)


def sim_triangles(tact, folder, seconds):
    """Simulates five balls of 20,000 triangles that turn in the air, and touch nothing. The log's path."""
    write_ball(os.path.join(folder, "ball.obj"), 101, 100, 0.02)
    body = "  - {{name: ball_{0}, mass: 0.1, position: [{1}, 0, {2}], angular_velocity: [0.3, 1, 0.2], shapes: [{3}]}}"
    text = "\n".join([
        "name: triangles", f"duration: {seconds}", "gravity: [0, 0, 0]", "materials: [{name: steel}]",
        "pairs: [{materials: [steel, steel], friction: 0.5}]", "bodies:",
        *(body.format(i, round(0.06 * (i % 3), 3), round(0.06 * (i // 3), 3), "{type: mesh, file: ball.obj, material: steel}")
          for i in range(5))])
    path, log = (os.path.join(folder, "triangles" + ending) for ending in (".yaml", ".mcap"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    subprocess.run([tact, "sim", path, "--record", log, "--force", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return log


def with_own_port(words):
    """The words of a command, which then serves at a port that no command had before: a page that is still open connects
    again to the port of its own command."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [f"--view={port}" if word == "--view" else word for word in words]
    return words + ["--port", str(port)] if "view" in words and "--port" not in words else words


class Viewer:
    """A running `tact view`, or another command that prints the page's address first."""

    def __init__(self, *words, stream="stdout", has_own_port=True):
        self.process = subprocess.Popen(with_own_port(words) if has_own_port else words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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


def open_counted(browser, viewer):
    """Opens the page, which then counts in `drawn` how often it draws the scene."""
    browser.open(viewer.address)
    browser.wait("window.tactPage && tactPage.stage && tactPage.stage.frame && tactPage.stage.solids.every((s) => s.mesh)", 60)
    browser.evaluate("""(() => {
      const stage = tactPage.stage, draw = stage.draw.bind(stage);
      window.drawn = 0;
      stage.draw = (dark) => { draw(dark); window.drawn++; };
    })()""")


def pixels(browser, points, prepare=""):
    """Colours of the canvas where points of the scene are drawn, after what `prepare` does to its stage s: the page draws
    nothing between."""
    return browser.evaluate(f"""(() => {{
      const s = tactPage.stage, r = s.canvas.width / s.canvas.clientWidth;
      {prepare}
      s.draw(false);
      return {json.dumps(points)}.map((point) => {{
        const [x, y] = s.project(point), p = new Uint8Array(4);
        s.gl.readPixels(Math.round(x * r), s.canvas.height - Math.round(y * r), 1, 1, s.gl.RGBA, s.gl.UNSIGNED_BYTE, p);
        return [...p];
      }});
    }})()""")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)
