"""A headless Chromium, driven through its DevTools protocol; WebSocket client included.

Only what the tests of the viewer need: navigate, evaluate, take a screenshot, send keys and clicks.
"""
import atexit
import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")


class WebSocket:
    """RFC 6455, client side."""

    def __init__(self, host, port, path="/", protocol=None, origin=None, timeout=20, host_header=None):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host_header or f'{host}:{port}'}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        if protocol:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        if origin:
            lines.append(f"Origin: {origin}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.socket.recv(1)
            if not part:
                raise ConnectionError("closed in the handshake")
            head += part
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.split(b"\r\n")[0].decode())

    def read(self, count):
        while len(self.buffer) < count:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("closed")
            self.buffer += part
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def receive(self):
        """The next message: bytes or str; None where the other side closes."""
        data, kind = b"", None
        while True:
            first, second = self.read(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.read(8))[0]
            payload = self.read(size)
            opcode = first & 15
            if opcode == 8:
                return None
            if opcode == 9:
                self.send(payload, 10)
                continue
            if opcode == 10:
                continue
            kind = kind or opcode
            data += payload
            if first & 128:
                return data.decode() if kind == 1 else data

    def send(self, data, opcode=None):
        text = isinstance(data, str)
        data = data.encode() if text else data
        opcode = opcode if opcode is not None else 1 if text else 2
        mask = os.urandom(4)
        head = bytes([128 | opcode])
        if len(data) < 126:
            head += bytes([128 | len(data)])
        elif len(data) < 65536:
            head += bytes([128 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([128 | 127]) + struct.pack(">Q", len(data))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def close(self):
        self.socket.close()


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, width=1280, height=720):
        program = next((shutil.which(p) for p in PROGRAMS if shutil.which(p)), None)
        if not program:
            raise FileNotFoundError("no Chromium is installed")
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder}", f"--window-size={width},{height}",
             "--hide-scrollbars", "--force-device-scale-factor=1", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        atexit.register(self.close)  # of a test that fails, too
        port = self.find_port()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=20) as answer:
            target = next(t for t in json.load(answer) if t["type"] == "page")
        path = "/" + target["webSocketDebuggerUrl"].split("/", 3)[3]
        self.socket = WebSocket("127.0.0.1", port, path, timeout=60)
        self.number = 0
        self.errors = []
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def find_port(self):
        name = os.path.join(self.folder, "DevToolsActivePort")
        for _ in range(300):
            if os.path.exists(name):
                with open(name, encoding="ascii") as file:
                    line = file.readline().strip()
                    if line:
                        return int(line)
            time.sleep(0.1)
        raise TimeoutError("Chromium did not start")

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                detail = answer["params"]
                if answer["method"] == "Runtime.exceptionThrown" or detail.get("type") == "error":
                    self.errors.append(json.dumps(detail)[:500])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait(self, expression, seconds=60, state="null"):
        """Until an expression is true; its value. `state` is evaluated for the report of one that is not."""
        end = time.time() + seconds
        while time.time() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"{expression} did not become true in {seconds} s; state: {self.evaluate(state)}; errors: {self.errors}")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def key(self, key):
        """Presses a key until the page has received it: before it is drawn the browser drops keys."""
        self.evaluate("window.keysReceived ?? addEventListener('keydown', () => { keysReceived++; }, true), window.keysReceived = 0, 1")
        for _ in range(100):
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
            if self.evaluate("keysReceived"):
                return
            time.sleep(0.1)
        raise TimeoutError(f"the page did not receive the key {key}")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def drag(self, start, end, shift=False):
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1, modifiers=8 * shift)

    def wheel(self, x, y, turned):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turned)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def cpu_seconds(self):
        """What all its processes have taken of the processors."""
        ticks = 0
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if int(fields[3]) == self.process.pid:  # its session
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # and the processes that it started
            self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
