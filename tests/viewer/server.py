#!/usr/bin/env python3
"""server.py TACT SOURCE CHANGE_LOG: `tact view` as a client sees it that is no browser: frames, who is refused, who is
slow, many at once, and what makes no sense. With TACT_LONG=1 that lasts ten minutes."""
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from client import ask, at_tick, connect, next_frame, next_message, number, shows, start, tick, token_of
from common import Viewer, messages_of, sim, sim_many, sim_soft

LONG = os.environ.get("TACT_LONG") == "1"


def check_frames(viewer):
    client = connect(viewer)
    hello, meshes, frame = start(client)
    assert hello["op"] == "hello" and hello["name"] == "ruler" and hello["kind"] == "log", hello
    shapes = [s for s in hello["shapes"] if s["kind"] not in ("sphere", "halfspace")]
    assert len(meshes) == len(shapes) >= 1, (len(meshes), hello["shapes"])
    for mesh in meshes:
        vertices, triangles = struct.unpack_from("<II", mesh, 8)
        assert len(mesh) == 16 + 12 * vertices + 12 * triangles
    assert tick(frame) == 1, tick(frame)
    kinds = []  # of what follows: frames only, as a page has the meshes
    for target in (2000, 40, hello["last"]):
        ask(client, "seek", tick=target)
        for _ in range(20):
            frame = next_frame(client)
            kinds.append(frame[0])
            if tick(frame) == target:
                break
        assert tick(frame) == target, (tick(frame), target)
    assert len(frame) < 20000, len(frame)
    assert kinds.count(1) == 0 and kinds == [2] * len(kinds) and len(kinds) >= 3, kinds
    client.close()


def check_refused(viewer):
    port = viewer.port
    bad = [{"origin": "http://evil.example"}, {"origin": f"https://127.0.0.1:{port}"}, {"origin": "null"},
           {"origin": f"http://127.0.0.1:{port}.evil.example"}, {"origin": "http://127.0.0.1:1"},
           {"host_header": "evil.example"}, {"host_header": f"evil.example:{port}"}, {"host_header": "127.0.0.1"},
           {"host_header": f"127.0.0.1:{port}@evil.example"}, {"host_header": "x" * 300}]
    for more in bad:
        try:
            connect(viewer, **more).receive()
        except (ConnectionError, OSError):
            continue
        raise AssertionError(f"accepted: {more}")
    for protocol in ("tact.timer", "http", "tact.view.2", None):  # the first is what the server calls its own timer
        try:
            connect(viewer, protocol=protocol).receive()
        except (ConnectionError, OSError):
            continue
        raise AssertionError(f"accepted: {protocol}")
    for good in ({"origin": f"http://127.0.0.1:{port}"}, {"origin": f"http://localhost:{port}"}, {}):
        client = connect(viewer, **good)
        assert json.loads(client.receive())["op"] == "hello", good
        client.close()
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"GET /view.js HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert b"200" not in plain.recv(4096).split(b"\r\n")[0]
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(f"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert b"200" not in plain.recv(4096).split(b"\r\n")[0]


def server_thread(viewer):
    """The folder of /proc of the server's thread."""
    tasks = f"/proc/{viewer.process.pid}/task"
    for number_ in os.listdir(tasks):
        with open(f"{tasks}/{number_}/comm", encoding="ascii") as file:
            if file.read() == "tact-viewer\n":
                return f"{tasks}/{number_}"
    raise AssertionError("no thread tact-viewer")


def wakes_of(thread):
    """How often a thread has waited so far."""
    with open(f"{thread}/status", encoding="ascii") as file:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", file.read())[1])


def processor_ms_of(thread):
    with open(f"{thread}/schedstat", encoding="ascii") as file:
        return 1e-6 * int(file.read().split()[0])


def least_rise(count, bar):
    """The least rise of a count in half a second, of up to ten, until one is within the bar: others are closing, or the machine is busy."""
    rises = []
    while len(rises) < 10 and (not rises or rises[-1] > bar):
        before = count()
        time.sleep(0.5)
        rises.append(count() - before)
    return min(rises)


def check_idle(viewer):
    """Without clients the server's thread does not wake; a client that is sent nothing takes it 30 short wake-ups in half a second.
    With the timers of the library, which poll, it took 28 wake-ups and 15 ms of a processor in either case."""
    thread = server_thread(viewer)
    wakes = least_rise(lambda: wakes_of(thread), 3)
    client = connect(viewer)
    start(client)
    taken = least_rise(lambda: processor_ms_of(thread), 4) if os.path.exists(f"{thread}/schedstat") else 0
    client.close()
    print(f"server's thread in half a second: without clients {wakes} wake-ups, with one {taken:.2f} ms of a processor")
    assert wakes <= 3, wakes
    assert taken <= 4, taken


def check_priority(tact, log):
    """The server's thread is of normal priority, also where the command is of real-time priority."""
    words = ("chrt", "--fifo", "1")
    if not shutil.which("chrt") or subprocess.run([*words, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("not checked: priority of the server's thread, as no real-time priority is allowed")
        return
    with Viewer(*words, tact, "view", log, "--paused", "--no-browser") as viewer:
        expected, end = [os.SCHED_FIFO, os.SCHED_OTHER], time.monotonic() + 10
        while True:  # the thread has the priority of its creator until it first runs
            policy = {thread: os.sched_getscheduler(int(os.path.basename(thread)))
                      for thread in (f"/proc/{viewer.process.pid}", server_thread(viewer))}
            if list(policy.values()) == expected or time.monotonic() > end:
                break
            time.sleep(0.05)
        assert list(policy.values()) == expected, policy


def check_slow(viewer, seconds):
    """A client that stops reading gets the newest frame when it reads again, and few old ones."""
    slow, quick = connect(viewer), connect(viewer)
    start(slow)
    _, _, frame = start(quick)
    ask(quick, "seek", tick=10)
    ask(quick, "play")
    end = time.time() + seconds
    while time.time() < end:
        frame = next_frame(quick)
        if tick(frame) > 4000:  # at its end the log would pause
            ask(quick, "seek", tick=10)
    newest = number(frame)
    old = [number(next_frame(slow)) for _ in range(3)]
    assert old[-1] >= newest - 2, (old, newest)
    assert newest > 100, newest  # 60 a second, and the machine may be busy
    ask(quick, "pause")
    slow.close()
    quick.close()


def check_many(viewer):
    clients = [connect(viewer) for _ in range(50)]
    for client in clients:
        hello, _, frame = start(client)
        assert hello["op"] == "hello" and frame[0] == 2
    for client in clients:
        client.close()


def check_garbage(viewer, seconds):
    """Bytes that are no request, in frames and in place of them; a correct client is served meanwhile."""
    numbers = random.Random(int(os.environ.get("TACT_SEED", "1")))
    good = connect(viewer)
    start(good)
    texts = ['{"op":', "[]", "null", '{"op":"seek","tick":-1e308}', '{"op":"seek","tick":"x"}', '{"op":"speed","factor":0}',
             '{"op":"step","ticks":1e300}', '{"op":["seek"]}', '{"op":"' + "x" * 5000 + '"}', "\\ud800", "{" * 3000, "[" * 2000 + "]" * 2000, "", '{"op":"values","at":[-1]}',
             '{"op":"values","at":[1e300]}', '{"op":"values","at":[0,1,2,3]}', '{"op":"values","at":[' + "0," * 2000 + "0]}"]
    end, checked = time.time() + seconds, time.time()
    while time.time() < end:
        if time.time() > checked + 60:  # who answers nothing for five minutes is disconnected
            shows(good, 76)
            checked = time.time()
        try:
            bad = connect(viewer)
            kind = numbers.randrange(3)
            for _ in range(numbers.randrange(1, 20)):
                if kind == 0:
                    bad.send(numbers.choice(texts))
                elif kind == 1:
                    bad.send(numbers.randbytes(numbers.randrange(3000)), numbers.choice((1, 2, 3, 9, 10)))
                else:
                    bad.socket.sendall(numbers.randbytes(numbers.randrange(200)))
            bad.close()
        except (ConnectionError, OSError):
            pass
    shows(good, 77)
    good.close()


def check_live(tact, source, folder):
    """A session in real time: frames while it runs, markers and the end only with the token."""
    log = os.path.join(folder, "live.mcap")
    words = (tact, "run", os.path.join(source, "examples/scenes/ruler.yaml"), "--moments", "host", "--duration", "30",
             "--record", log, "--view", "--no-browser", "--quiet")
    with Viewer(*words, stream="stderr") as viewer:
        client = connect(viewer)
        hello, _, frame = start(client)
        assert hello["kind"] == "real time", hello
        before = tick(frame)
        for _ in range(30):
            frame = next_frame(client)
        assert tick(frame) > before + 200, (before, tick(frame))
        for token in (None, "", "0" * 32, token_of(viewer)[:-1], token_of(viewer).upper() + "x"):
            ask(client, "stop", **({} if token is None else {"token": token}))
            ask(client, "marker", **({} if token is None else {"token": token}))
        for _ in range(10):
            frame = next_frame(client)
        assert viewer.process.poll() is None
        ask(client, "marker", token=token_of(viewer))
        texts = [m for m in (next_message(client) for _ in range(20)) if isinstance(m, str) and '"marker"' in m]
        late = connect(viewer)  # is sent it as well
        texts += [m for m in (next_message(late) for _ in range(20)) if isinstance(m, str) and '"marker"' in m]
        ask(client, "stop", token=token_of(viewer))
        out, err = viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0 and "stopped before its end" in out, (out, err)
    info = subprocess.run([tact, "info", log, "--json"], capture_output=True, text=True, check=True)
    markers = [e for e in json.loads(info.stdout)["events"] if e["name"] == "marker"]
    assert [m["text"] for m in markers] == ["a marker set on the page of tact view"], markers
    events = [json.loads(text) for text in texts]
    assert len(events) == 2 and events[0] == events[1], events
    assert {key: events[0][key] for key in ("op", "name", "text")} == {"op": "event", "name": "marker", "text": markers[0]["text"]}, events
    assert 0 <= markers[0]["tick"] - events[0]["tick"] <= 500, (markers, events)  # that of the frame before; the machine may be busy
    assert subprocess.run([tact, "replay", log, "--verify"], check=False, stdout=subprocess.DEVNULL).returncode == 0


def check_ports(tact, log):
    """Two commands to which no port is given: each serves at the first one from 8765 that is free."""
    words = (tact, "view", log, "--paused", "--no-browser")
    with Viewer(*words, has_own_port=False) as first, Viewer(*words, has_own_port=False) as second:
        assert 8765 <= first.port < second.port < 8785, (first.port, second.port)
        start(connect(second))


def check_paced(tact, source, folder):
    """A simulation goes at the page's pace: pause, step, speed; its log replays, whatever was asked."""
    log = os.path.join(folder, "paced.mcap")
    words = (tact, "sim", os.path.join(source, "examples/scenes/ruler.yaml"), "--record", log, "--view", "--no-browser",
             "--quiet")
    with Viewer(*words, stream="stderr") as viewer:
        time.sleep(0.7)  # of a page that takes time to open nothing is missed
        client, token = connect(viewer), token_of(viewer)
        _, _, frame = start(client)
        other = connect(viewer)  # as the page of an earlier session does, which is still open
        start(other)
        for wrong in ({}, {"token": "0" * 32}):
            ask(other, "ack", **wrong)
        time.sleep(0.3)  # nor of one that takes time with its first frame
        ask(client, "values", at=[])  # is answered by a frame
        shows = client.receive()
        assert tick(frame) == 0 and tick(shows) == 0, (tick(frame), tick(shows))
        began = time.monotonic()
        frame = next_frame(client)
        passed = time.monotonic() - began
        assert tick(frame) < 1000 * passed + 50, (tick(frame), passed)  # in real time, from this client on
        for bad in ({}, {"token": ""}, {"token": "0" * 32}, {"token": token[:-1]}):
            for op, more in (("pause", {}), ("step", {"ticks": 3}), ("speed", {"factor": 1e-3}), ("seek", {"tick": 0})):
                ask(client, op, **more, **bad)
        before = tick(frame)
        for _ in range(10):
            frame = next_frame(client)
            assert not frame[1] & 1, frame[:8]
        assert tick(frame) > before + 5, (tick(frame), before)  # at a thousandth of the speed it would be there in 5 s
        ask(client, "pause", token=token)
        while not frame[1] & 1:
            frame = next_frame(client)
        paused = tick(frame)
        for op, more in (("step", {"ticks": 3}), ("play", {})):
            ask(client, op, **more)
        shows_still = number(frame)
        ask(client, "step", ticks=0, token=token)  # is answered by a frame, after those above
        while number(frame) == shows_still:
            frame = next_frame(client)
        assert tick(frame) == paused and frame[1] & 1, (tick(frame), paused)
        ask(client, "step", ticks=3, token=token)
        assert tick(at_tick(client, paused + 3)) == paused + 3
        ask(client, "speed", factor=10, token=token)
        ask(client, "play", token=token)
        began, first = time.monotonic(), tick(next_frame(client))
        while tick(next_frame(client)) - first < max(1500, 1500 * (time.monotonic() - began)):
            assert time.monotonic() < began + 20  # a busy machine reaches it later
        ask(client, "stop", token=token)
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0
    assert subprocess.run([tact, "replay", log, "--verify"], check=False, stdout=subprocess.DEVNULL).returncode == 0


def check_events(tact, source, folder):
    """Touches and slips of a session that runs are sent while it does, to those that come later, too: those of its log."""
    log = os.path.join(folder, "events.mcap")
    with open(os.path.join(source, "examples/scenes/ruler.yaml"), encoding="utf-8") as file:
        text = file.read().replace("friction: 0.8", "friction: 0.6")
    scene = os.path.join(folder, "slips.yaml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(text)
    with Viewer(tact, "sim", scene, "--record", log, "--view", "--no-browser", "--quiet", stream="stderr") as viewer:
        client, token, events = connect(viewer), token_of(viewer), []
        start(client)
        ask(client, "speed", factor=10, token=token)

        def read(until):
            """Messages up to a frame, which is after the events of its ticks."""
            while isinstance(message := next_message(client), str) or not until(message):
                events.extend([json.loads(message)] if isinstance(message, str) else [])

        read(lambda frame: tick(frame) >= 1500)
        ask(client, "pause", token=token)
        read(lambda frame: frame[1] & 1)
        late, again = connect(viewer), []
        while isinstance(message := late.receive(), str) or message[0] != 2:
            again.extend([json.loads(message)] if isinstance(message, str) else [])
        ask(client, "stop", token=token)
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0
    info = json.loads(subprocess.run([tact, "info", log, "--json"], capture_output=True, text=True, check=True).stdout)
    listed = [[e["tick"], e["name"], e["text"]] for e in info["events"]]
    for sent in (events, again):
        sent = [[e["tick"], e["name"], e["text"]] for e in sent if e["op"] == "event"]
        assert sent == listed and [name for _, name, _ in sent][:2] == ["touch", "slip"], (sent, listed)


def check_never_armed(tact, source, folder):
    """Outputs that the deadman keeps disarmed stay so, whatever a page asks for with the token."""
    with open(os.path.join(source, "examples/scenes/ruler.yaml"), encoding="utf-8") as file:
        text = file.read().replace("    settings:\n", "    settings:\n      deadman_from: 9\n", 1)
    scene = os.path.join(folder, "disarmed.yaml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(text)
    with Viewer(tact, "sim", scene, "--view", "--no-browser", "--quiet", stream="stderr") as viewer:
        client, token = connect(viewer), token_of(viewer)
        _, _, frame = start(client)
        for op in ("arm", "armed", "enable", "deadman", "limit", "reset", "safety", "set", "output"):
            ask(client, op, value=1, limit=1e9, name="operator.deadman", token=token)
        began, states = tick(frame), set()
        while tick(frame) < began + 400:
            frame = next_frame(client)
            states.add((frame[2], frame[1] & 4))
        assert states == {(0, 0)}, states  # disarmed, and the deadman released
        ask(client, "stop", token=token)
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0


def values_of(frame, hello):
    """Values of records after a frame: their tick, and each by its offset; (None, {}) where it has none."""
    shapes, contacts, joints, devices, bins = struct.unpack_from("<5I", frame, 60)
    at = 88 + 32 * shapes
    for _ in range(contacts):
        corners, peak = struct.unpack_from("<I", frame, at + 16)[0], struct.unpack_from("<f", frame, at + 172)[0]
        at += 176 + (12 * corners + 7) // 8 * 8 + (616 if peak > 0 else 0)
    at += 40 * joints + (4 * devices + 7) // 8 * 8 + 8 * bins
    if at == len(frame):
        return None, {}
    of, count, listed = struct.unpack_from("<dII", frame, at)
    assert listed == 1 and len(frame) == at + 16 + 8 * count, (len(frame), at, count)
    values = struct.unpack_from(f"<{count}f", frame, at + 16)
    return of, dict(zip(struct.unpack_from(f"<{count}I", frame, at + 16 + 4 * count), values))


def check_values(viewer):
    """Fields of the record follow the frames of who asked for them, and of no other; what is no list of them is ignored."""
    client, other = connect(viewer), connect(viewer)
    hello, _, _ = start(client)
    start(other)
    fields = {name: (offset, count) for name, _, offset, count in hello["fields"]}
    assert len(fields) == hello["field_count"] > 20, hello["fields"]
    size = max(offset + count for offset, count in fields.values())
    solver = fields["solver"][0]
    ask(client, "values", at=[solver + 1, solver])
    for bad in ([size], [-1], ["x"], [0.5], [0] * 17, {"0": 1}, None, 7, [1e300], [True]):
        ask(client, "values", at=bad)
    ask(client, "seek", tick=2345)
    frame = at_tick(client, 2345)
    for _ in range(20):
        of, values = values_of(frame, hello)
        if of == 2345:
            break
        ask(client, "seek", tick=2345)
        frame = at_tick(client, 2345)
    assert of == 2345 and values == {solver + 1: struct.unpack_from("<I", frame, 48)[0], solver: 2}, (of, values)
    assert values_of(next_frame(other), hello) == (None, {})
    ask(client, "values", at=[])
    ask(client, "seek", tick=2400)
    assert values_of(at_tick(client, 2400), hello) == (None, {})
    client.close()
    other.close()


def check_size(tact, folder):
    """A frame of ten contacts with pressures is short."""
    with Viewer(tact, "view", sim_soft(tact, folder), "--paused", "--no-browser", "--time", "0.2") as viewer:
        client = connect(viewer)
        _, _, frame = start(client)
        contacts = struct.unpack_from("<I", frame, 64)[0]
        assert contacts == 10 and len(frame) < 20000, (contacts, len(frame))
        client.close()


def check_limits(tact, folder):
    """A log of many values: the page lists as many fields as it takes, and a file has as many as fit in 32 MiB; the others are
    counted, and named by tact export."""
    with Viewer(tact, "view", sim_many(tact, folder, 700, 0.1), "--paused", "--no-browser") as viewer:
        client = connect(viewer)
        hello, _, _ = start(client)
        counts = [count for *_, count in hello["fields"]]
        assert 8100 < sum(counts) <= 8192 and hello["field_count"] > len(counts), (sum(counts), len(counts), hello["field_count"])
        client.close()
    log, out = sim_many(tact, folder, 300, 25), os.path.join(folder, "many.html")
    done = subprocess.run([tact, "export", log, "--html", out], capture_output=True, text=True, check=True)
    with open(out, encoding="utf-8") as file:
        messages = messages_of(file.read())
    hello, frame = json.loads(messages[0][1]), next(m for kind, m in reversed(messages) if kind == 2)
    shapes, contacts, joints, devices, bins = struct.unpack_from("<5I", frame, 60)
    assert (shapes, contacts, joints, devices) == (300, 0, 0, 0), (shapes, contacts, joints, devices)
    at = 88 + 32 * shapes + 8 * bins
    _, count, listed = struct.unpack_from("<dII", frame, at)
    assert listed == 0 and len(frame) == at + 16 + 4 * count, (len(frame), at, count)
    frames = sum(kind == 2 and m[0] == 2 for kind, m in messages)
    assert 31 * 2**20 < frames * (16 + 4 * count) <= 32 * 2**20, (frames, count)
    left = [name for name, _, offset, size in hello["fields"] if offset + size > count]
    said = re.fullmatch(r"tact export: (\S+): left out (\d+) of (\d+) fields of the log, as the page takes at most 8192 values and 32 MiB: "
                        r"(.*), and all up to (\w+); --csv and --hdf5 write all\n", done.stderr)
    assert said and said[1] == out and said[2] == str(len(left)) and said[3] == str(hello["field_count"]), done.stderr
    assert said[4].split(", ") == left[:16] and said[5] == left[-1], (said[4], left)
    os.remove(out)


def check_paced_pressure(tact, folder):
    """A simulation that is paused shows the pressure of the tick at which it is."""
    sim_soft(tact, folder)
    with Viewer(tact, "sim", os.path.join(folder, "soft.yaml"), "--duration", "30", "--view", "--no-browser", "--quiet",
                stream="stderr") as viewer:
        client, token = connect(viewer), token_of(viewer)
        _, _, frame = start(client)
        while tick(frame) < 20:
            frame = next_frame(client)
        ask(client, "pause", token=token)
        while not frame[1] & 1:
            frame = next_frame(client)
        ask(client, "step", ticks=1, token=token)
        target = tick(frame) + 1
        frame = at_tick(client, target)
        shapes, contacts = struct.unpack_from("<II", frame, 60)
        peak = struct.unpack_from("<f", frame, 88 + 32 * shapes + 172)[0]
        assert contacts == 10 and peak > 0.0, (contacts, peak)
        ask(client, "stop", token=token)
        viewer.process.communicate(timeout=30)


def check_gap(tact, change_log, log, folder):
    """Seeking in a log in which a loop skipped ticks 1000 to 1999: to the tick that was asked for, or the last one before."""
    late = os.path.join(folder, "late.mcap")
    subprocess.run([change_log, log, late, "timing", "0", "1000", "gap=1000"], check=True)
    with Viewer(tact, "view", late, "--paused", "--no-browser", "--time", "3") as viewer:
        client = connect(viewer)
        _, _, frame = start(client)
        assert tick(frame) == 3000, tick(frame)
        for target, found in ((4500, 4500), (2000, 2000), (1500, 999), (1, 1), (999, 999), (1e12, 4999)):
            ask(client, "seek", tick=target)
            at_tick(client, found)
        client.close()
        code, _, err = viewer.close()
        assert code == 0 and not err, (code, err)


def check_speed(viewer):
    """A speed is sent to the other pages and to those that connect later, not to the one that set it; one out of range is not sent."""
    first, second = connect(viewer), connect(viewer)
    for client in (first, second):
        start(client)
    ask(first, "speed", factor=1e9)
    ask(first, "speed", factor=0.25)
    third = connect(viewer)
    for client in (second, third):
        texts = []
        for _ in range(100):
            message = client.receive() if client is third and not texts else next_message(client)
            texts += [json.loads(message)] if isinstance(message, str) else []
            if texts and texts[-1]["op"] == "speed":
                break
        assert texts[-1] == {"op": "speed", "factor": 0.25}, texts
    ask(first, "speed", factor=1)
    for client in (first, second, third):
        client.close()


def check_replayed(tact, log):
    """A replay at the page's pace: where it goes in the log, and that every tick is compared all the same."""
    with Viewer(tact, "replay", log, "--view", "--no-browser", "--json", stream="stderr") as viewer:
        client = connect(viewer)
        hello, _, frame = start(client)
        assert hello["kind"] == "log" and hello["last"] == 4999, hello
        ask(client, "pause")
        ask(client, "seek", tick=3000)
        at_tick(client, 3000)
        ask(client, "step", ticks=2)
        at_tick(client, 3002)
        ask(client, "step", ticks=-2)
        at_tick(client, 3000)
        ask(client, "speed", factor=4)
        ask(client, "play")
        began = time.time()
        while tick(frame := next_frame(client)) < 4999:
            assert time.time() < began + 20, tick(frame)
        ask(client, "seek", tick=0)  # the end is not the end: pages may go back
        at_tick(client, 1)
        ask(client, "seek", tick=1e12)
        at_tick(client, 4999)
        client.close()
        viewer.process.send_signal(signal.SIGINT)
        out, err = viewer.process.communicate(timeout=30)
        report = json.loads(out)
        assert viewer.process.returncode == 0 and not err, err
        assert report["ticks"] > 2000 and report["differing"] == 0 and report["resyncs"] == 0, report


def main():
    tact, source, change_log = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        log = sim(tact, source, folder, seconds=5)
        with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
            check_frames(viewer)
            check_refused(viewer)
            check_values(viewer)
            check_speed(viewer)
            check_idle(viewer)
            check_slow(viewer, 10.0 if LONG else 3.0)
            check_many(viewer)
            check_garbage(viewer, 600.0 if LONG else 3.0)
            code, _, err = viewer.close()
            assert code == 0 and not err, (code, err)
        check_priority(tact, log)
        check_size(tact, folder)
        check_limits(tact, folder)
        check_gap(tact, change_log, log, folder)
        check_replayed(tact, log)
        check_live(tact, source, folder)
        check_paced(tact, source, folder)
        check_events(tact, source, folder)
        check_never_armed(tact, source, folder)
        check_paced_pressure(tact, folder)
        check_ports(tact, log)
        for words in (["view"], ["view", log, "--port", "0"], ["view", log, "--time", "x"],
                      ["view", os.path.join(folder, "none.mcap")], ["view", os.path.join(folder, "ruler.yaml"), "--port", "70000"],
                      ["view", os.path.join(folder, "ruler.yaml"), "--paused"], ["sim", "a.yaml", "--view=x"],
                      ["replay", log, "--view=0"], ["replay", log, "--view", "--realtime"]):
            run = subprocess.run([tact, *words], capture_output=True, text=True, check=False, timeout=20)
            assert run.returncode == 2 and run.stderr.count("\n") == 1, (words, run)
    print("1 passed, 0 failed")


main()
