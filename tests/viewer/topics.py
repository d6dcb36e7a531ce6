#!/usr/bin/env python3
"""topics.py TACT SOURCE: the protocol foxglove.sdk.v1 of the live view, by a client of our own: every topic is decoded
by its schema, and its values are those of the log at that tick; who is refused, who is slow, many at once, garbage.
With TACT_LONG=1 garbage lasts ten minutes."""
import concurrent.futures
import csv
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
from socket import IPPROTO_TCP, TCP_INFO
from xml.etree import ElementTree

import ros2
from common import Viewer, sim
from devtools import WebSocket

PROTOCOL = "foxglove.sdk.v1"
LONG = os.environ.get("TACT_LONG") == "1"
PAIRS = ("ruler_pinch_left_distal", "ruler_pinch_right_distal")
TOPICS = {"/tact/tick": "tact_msgs/msg/Tick", "/joint_states": "sensor_msgs/msg/JointState",
          "/tf": "tf2_msgs/msg/TFMessage", "/contacts/markers": "visualization_msgs/msg/MarkerArray",
          "/scene": "visualization_msgs/msg/MarkerArray",
          **{f"/contacts/{pair}/wrench": "geometry_msgs/msg/WrenchStamped" for pair in PAIRS}}


def tick_of(data):
    return struct.unpack_from("<Q", data, 12)[0]  # after the encapsulation and the stamp


class Client:
    """Subscribes to topics, and sorts what comes."""

    def __init__(self, viewer, every=None, **more):
        path = "/" if every is None else f"/?every={every}"
        self.socket = WebSocket("127.0.0.1", viewer.port, path, **{"protocol": PROTOCOL, **more})
        self.info, self.advertised = json.loads(self.socket.receive()), json.loads(self.socket.receive())
        assert self.info["op"] == "serverInfo" and self.advertised["op"] == "advertise", self.info
        self.channels = {c["topic"]: c for c in self.advertised["channels"]}
        self.types = {name: ros2.parse(c["schemaName"], c["schema"]) for name, c in self.channels.items()}
        self.names, self.statuses, self.time = {}, [], None

    def send(self, op, **more):
        self.socket.send(json.dumps({"op": op, **more}))

    def subscribe(self, *topics):
        new = [{"id": 1000 + self.channels[topic]["id"], "channelId": self.channels[topic]["id"]} for topic in topics]
        self.names.update({item["id"]: topic for item, topic in zip(new, topics)})
        self.send("subscribe", subscriptions=new)

    def receive(self):
        """The next message of a topic: its name, its log time [ns], its bytes."""
        while True:
            message = self.socket.receive()
            if message is None:
                raise ConnectionError("closed by the server")
            if isinstance(message, str):
                self.statuses.append(json.loads(message))
            elif message[0] == 2:
                self.time = struct.unpack_from("<Q", message, 1)[0]
                assert len(message) == 9
            else:
                opcode, subscription, wall = struct.unpack_from("<BIQ", message)
                assert opcode == 1
                return self.names[subscription], wall, message[13:]

    def status(self, seconds=5.0):
        """The next status, within that time."""
        end = time.time() + seconds
        while not self.statuses and time.time() < end:
            message = self.socket.receive()
            if isinstance(message, str):
                self.statuses.append(json.loads(message))
        return self.statuses.pop(0)

    def decode(self, topic, data):
        return ros2.decode(self.channels[topic]["schemaName"], self.types[topic], data)

    def until(self, last):
        """All messages up to a tick that is not before `last`."""
        out, tick = [], -1
        while tick < last:
            out.append(self.receive())
            if out[-1][0] == "/tact/tick":
                tick = tick_of(out[-1][2])
        return out

    def frames(self, messages):
        """The messages of each tick, by topic, decoded; without the last tick, of which there may be more."""
        out = []
        for topic, wall, data in messages:
            if topic == "/tact/tick":
                out.append({"wall": wall})
            if out and topic != "/scene":
                assert topic not in out[-1] and wall == out[-1]["wall"], topic
                out[-1][topic] = self.decode(topic, data)
        return out[:-1]

    def close(self):
        self.socket.close()


def page(viewer):
    """The page's own connection, by which a log is moved."""
    return WebSocket("127.0.0.1", viewer.port, "/", protocol="tact.view.1")


def ask(socket, op, **more):
    socket.send(json.dumps({"op": op, **more}))


class Rows(dict):
    """Rows of a log by tick; one that is asked for is by field a list of its values."""

    def __init__(self, lines):
        self.names = [name.split("[")[0] for name in next(lines)]
        super().__init__((int(line[self.names.index("tick")]), line) for line in lines)

    def __getitem__(self, tick):
        row = {}
        for name, value in zip(self.names, super().__getitem__(tick)):
            row.setdefault(name, []).append(float(value))
        return row


def logged(tact, log, folder):
    path = os.path.join(folder, "log.csv")
    subprocess.run([tact, "export", log, "--csv", path, "--force"], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return Rows(csv.reader(file))


def check_tick(message, row):
    """Every field of the tick: the log's to the bit. A list of contacts is spread by their names."""
    flat = {name: value if isinstance(value, list) else [value] for name, value in message.items()
            if name not in ("stamp", "tick", "contacts")}
    for contact in message.get("contacts", []):
        prefix = contact["name"].lower().replace("/", "_").replace(".", "_")
        flat.update({f"{prefix}_{name}": value if isinstance(value, list) else [value]
                     for name, value in contact.items() if name not in ("name", "a", "b", "same")})
    assert len(flat) > 15
    for name, values in flat.items():
        assert values == row[name], (message["tick"], name, values, row[name])


def check_frame(frame, row):
    """The topics that follow from the tick."""
    joints = frame["/joint_states"]
    assert joints["name"] == ["pinch." + n for n in ("left_proximal", "left_distal", "right_proximal", "right_distal")]
    assert joints["position"] == row["pinch_position"] and joints["velocity"] == row["pinch_velocity"]
    assert joints["effort"] == row["pinch_torque"]
    transforms = {t["child_frame_id"]: t for t in frame["/tf"]["transforms"]}
    t, q = (transforms["ruler"]["transform"][part] for part in ("translation", "rotation"))
    assert [t["x"], t["y"], t["z"], q["w"], q["x"], q["y"], q["z"]] == row["ruler_pose"]
    touching = 0
    for i, pair in enumerate(PAIRS):
        arrow = frame["/contacts/markers"]["markers"][i]
        patch, wrench = row[pair + "_patch"], frame.get(f"/contacts/{pair}/wrench")
        assert arrow["id"] == i and arrow["action"] == (0 if any(patch[3:6]) else 2), (pair, arrow["action"])
        assert (wrench is not None) == any(patch[3:6]) == ("contact/" + pair in transforms), pair
        if wrench:
            force, torque = wrench["wrench"]["force"], wrench["wrench"]["torque"]
            assert [part[axis] for part in (force, torque) for axis in "xyz"] == row[pair + "_wrench"]
            assert wrench["header"]["frame_id"] == "contact/" + pair
            touching += 1
    return touching


def check_topics(client):
    """What is listed, and that each schema can be read."""
    assert client.info["capabilities"] == ["time"] and client.info["name"] == "tact: ruler", client.info
    assert {name: c["schemaName"] for name, c in client.channels.items()} == TOPICS
    assert len({c["id"] for c in client.channels.values()}) == len(TOPICS)
    for channel in client.channels.values():
        assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg"), channel


def check_layouts(source, frame):
    """What the installed layouts show is in the messages."""
    folder = os.path.join(source, "examples/layouts")
    with open(os.path.join(folder, "foxglove.json"), encoding="utf-8") as file:
        layout = json.load(file)
    paths = [path["value"] for panel in layout["configById"].values() for path in panel.get("paths", [])]
    topics = [topic for panel in layout["configById"].values() for topic in panel.get("topics", {})]
    topics += [panel["topicPath"] for panel in layout["configById"].values() if "topicPath" in panel]
    assert topics and set(topics) <= set(TOPICS), topics
    curves = [curve.get("name") for curve in ElementTree.parse(os.path.join(folder, "plotjuggler.xml")).iter("curve")]
    for path in paths + ["/tact/tick." + curve.removeprefix("/tact/tick/") for curve in curves]:
        topic, field, index = re.fullmatch(r"(/[\w/]+)\.(\w+)\[(\d+)\]", path).groups()
        assert isinstance(frame[topic][field][int(index)], float), path
    assert len(paths) > 8 and len(curves) > 4, (paths, curves)


def check_scene(client, data):
    kinds = {m["type"] for m in client.decode("/scene", data)["markers"]}
    frames = {m["header"]["frame_id"] for m in client.decode("/scene", data)["markers"]}
    assert kinds and {"ruler", "pinch.left_distal"} <= frames, (kinds, frames)


def shown(client, mover, target):
    """The frame of a log's tick. It is asked for again until another one follows it, with which it is whole."""
    messages, ticks = [], []
    ask(mover, "seek", tick=target)
    while ticks[-2:] != [target, target]:
        messages.append(client.receive())
        if messages[-1][0] == "/tact/tick":
            ticks.append(tick_of(messages[-1][2]))
            ask(mover, "seek", tick=target)
    return client.frames(messages)[-1]


def check_log(viewer, rows, source):
    """A log: the tick that it is at, and every tick that is passed."""
    mover, client = page(viewer), Client(viewer)
    check_topics(client)
    client.subscribe(*TOPICS)
    topic, wall, data = client.receive()
    assert topic == "/scene" and wall == client.time, topic
    check_scene(client, data)
    touching = 0
    for target in (1500, 40, 2210):
        ask(mover, "seek", tick=target)
        frame = shown(client, mover, target)
        row = rows[target]
        check_tick(frame["/tact/tick"], row)
        touching += check_frame(frame, row)
        check_layouts(source, frame)
    assert touching == 4, touching
    client.close()
    every = Client(viewer, every=1)
    every.subscribe("/tact/tick")
    ask(mover, "seek", tick=2000)
    ask(mover, "play")
    ticks = [tick_of(every.receive()[2]) for _ in range(600)]
    start = ticks.index(2001)
    gaps = [(a, b) for a, b in zip(ticks[start:], ticks[start + 1:]) if b != a + 1]
    assert not gaps and len(ticks) - start > 500, gaps
    ask(mover, "pause")
    mover.close()
    every.close()


def check_repeats(viewer):
    """With ?every=N a tick is sent once: where the present one is shown again, for others or for topics that are new to this
    client, it gets these topics only."""
    mover, client, other = page(viewer), Client(viewer, every=5), Client(viewer, every=10)
    client.subscribe("/tact/tick")
    ask(mover, "seek", tick=700)
    while tick_of(client.receive()[2]) != 700:
        pass
    other.subscribe("/tact/tick", "/tf")
    assert tick_of(other.until(700)[-1][2]) == 700
    for topic in ("/joint_states", "/tf", "/scene"):
        client.subscribe(topic)
        assert client.receive()[0] == topic
    for _ in range(3):
        client.send("subscribe", subscriptions=[])
    ask(mover, "seek", tick=700)
    ask(mover, "seek", tick=705)
    names = []
    while not names or tick_of(data) != 705:
        name, _, data = client.receive()
        names.append(name)
        assert name == "/tact/tick", names
    for socket in (mover, client, other):
        socket.close()


def segments_of(client):
    """TCP segments with data that a client has received so far (tcpi_data_segs_in)."""
    return struct.unpack_from("<I", client.socket.socket.getsockopt(IPPROTO_TCP, TCP_INFO, 256), 152)[0]


def check_segments(viewer):
    """The messages of a frame come in one segment: on loopback each one wakes the client and takes the sender the work of both sides."""
    mover, client = page(viewer), Client(viewer)
    client.subscribe(*TOPICS)
    shown(client, mover, 900)
    ask(mover, "play")
    frames, before, messages = 0, segments_of(client), 0
    while frames < 40:
        topic, _, data = client.receive()
        frames += topic == "/tact/tick"
        messages += 1
        if topic == "/tact/tick" and tick_of(data) > 2600:
            ask(mover, "seek", tick=900)
    segments = segments_of(client) - before
    ask(mover, "pause")
    print(f"{messages} messages of {frames} frames in {segments} segments")
    assert messages > 5 * frames and segments <= 1.2 * frames + 4, (messages, frames, segments)
    client.close()
    mover.close()


def record_session(tact, source, log, command):
    """A session that is recorded, and what three clients were sent: their frames, and the number of reports of loss to each."""
    words = (tact, command, os.path.join(source, "examples/scenes/ruler.yaml"), "--moments", "host", "--record", log,
             "--force", "--view", "--no-browser", "--quiet", "--duration", "2.2")
    with Viewer(*words, stream="stderr") as viewer:
        clients = {every: Client(viewer, every=every) for every in (None, 1, 10)}
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for client in clients.values():
                client.subscribe(*TOPICS)
            sent = {every: threads.submit(client.until, 1800) for every, client in clients.items()}
        frames = {every: clients[every].frames(done.result()) for every, done in sent.items()}
        viewer.process.send_signal(2)
        viewer.process.communicate(timeout=30)
        assert viewer.process.returncode == 0
    return frames, {every: sum(s.get("op") == "status" for s in client.statuses) for every, client in clients.items()}


def check_session(tact, source, folder, command):
    """Each tick that a client asked for, against the log afterwards. Of the 105 frames that are due in 1.8 s a client must
    get 58. Other programs may starve the server's thread: that counts only where it happens three times."""
    log = os.path.join(folder, command + ".mcap")
    for _ in range(3):
        frames, missed = record_session(tact, source, log, command)
        if len(frames[None]) >= 58:
            break
        print(f"{command}: only {len(frames[None])} frames of 105")
    rows = logged(tact, log, folder)
    for every, sent in frames.items():
        ticks = [frame["/tact/tick"]["tick"] for frame in sent]
        if every and not missed[every]:
            expected = [tick for tick in rows if tick % every == 0 and ticks[0] <= tick <= ticks[-1]]
            assert ticks == expected, (every, sorted(set(expected) ^ set(ticks))[:20])
        assert len(ticks) >= (1000 // every if every else 58) and ticks == sorted(set(ticks)), (every, len(ticks))
        touching = 0
        for frame in sent:
            row = rows[frame["/tact/tick"]["tick"]]
            check_tick(frame["/tact/tick"], row)
            touching += check_frame(frame, row)
        assert touching > 0, every
        print(f"{command}, every {every}: {len(ticks)} frames from tick {ticks[0]} on, reports of loss: {missed[every]}")


def check_replay(tact, log, rows):
    """A replay: what was computed again, which is the log."""
    with Viewer(tact, "replay", log, "--view", "--no-browser", "--quiet", stream="stderr") as viewer:
        client = Client(viewer, every=1)
        client.subscribe(*TOPICS)
        frames = client.frames(client.until(400))
        for frame in frames:
            row = rows[frame["/tact/tick"]["tick"]]
            check_tick(frame["/tact/tick"], row)
            check_frame(frame, row)
        assert len(frames) > 100
        client.close()


def check_answers(viewer):
    """What a client may get wrong: it is answered as by the reference, and nothing ends."""
    client = Client(viewer)
    client.subscribe("/tf")
    client.receive()
    one = client.channels["/tf"]["id"]
    wrong = [('{"op":"subscribe","subscriptions":[{"id":5,"channelId":%d}]}' % one, 1, "already subscribed"),
             ('{"op":"subscribe","subscriptions":[{"id":%d,"channelId":1}]}' % (1000 + one), 2, "already used"),
             ('{"op":"subscribe","subscriptions":[{"id":6,"channelId":99}]}', 2, "Unknown channel ID: 99"),
             ('{"op":"subscribe","subscriptions":[{"id":6,"channelId":0}]}', 2, "Unknown channel ID: 0"),
             ("{", 2, "Invalid"), ("null", 2, "Invalid"), ("[]", 2, "Invalid"), ('{"op":"nope"}', 2, "Invalid"),
             ('{"op":"subscribe"}', 2, "Invalid"), ('{"op":"subscribe","subscriptions":"x"}', 2, "Invalid"),
             ('{"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]}', 2, "Invalid"),
             ('{"op":"subscribe","subscriptions":[{"id":4294967296,"channelId":1}]}', 2, "Invalid"),
             ('{"op":"subscribe","subscriptions":[{"id":7,"channelId":1},{"id":1.5,"channelId":2}]}', 2, "Invalid"),
             ('{"op":"setParameters","parameters":[]}', 2, "Invalid"), ('{"op":["subscribe"]}', 2, "Invalid"),
             ('{"op":"advertise","channels":[{"id":1,"topic":"/x","encoding":"json","schemaName":""}]}', 2, "Invalid"),
             ("x" * 20000, 2, "longer than 16384"), (b"\1\2\3", 2, "Invalid")]
    for message, level, text in wrong:
        client.socket.send(message)
        answer = client.status()
        assert answer["op"] == "status" and answer["level"] == level and text in answer["message"], (message, answer)
    client.send("unsubscribe", subscriptionIds=[77, "x", None, -1])
    client.send("unsubscribe", subscriptionIds=[1000 + one])
    client.subscribe("/joint_states")  # the id of an unsubscribed topic is free, and no message of /tf comes
    topic, _, _ = client.receive()
    while topic == "/tf":
        topic, _, _ = client.receive()
    for _ in range(3):
        client.send("subscribe", subscriptions=[])  # each shows the present tick again
        assert client.receive()[0] == "/joint_states"
    client.close()


def check_refused(viewer):
    port = viewer.port
    bad = [{"origin": "http://evil.example"}, {"origin": f"https://127.0.0.1:{port}"}, {"origin": "null"},
           {"origin": "https://app.foxglove.dev.evil.example"}, {"origin": "https://app.foxglove.dev"},
           {"origin": f"http://127.0.0.1:{port}.evil.example"}, {"host_header": "evil.example"},
           {"host_header": f"evil.example:{port}"}, {"protocol": "foxglove.websocket.v1"}, {"protocol": None},
           {"protocol": "foxglove.sdk.v2"}, {"every": 0}, {"every": -1}, {"every": "x"}, {"every": "1&x=2"},
           {"every": 1000001}, {"every": ""}, {"every": "1" * 100}, {"every": "1.5"}]
    for more in bad:
        try:
            Client(viewer, **more)
        except (ConnectionError, OSError):
            continue
        raise AssertionError(f"accepted: {more}")
    for good in ({"origin": f"http://127.0.0.1:{port}"}, {"every": 1000000}, {"protocol": "foo, foxglove.sdk.v1"}):
        Client(viewer, **good).close()


def check_fault(tact, source, folder):
    """A fault is named to a client that comes after it."""
    with open(os.path.join(source, "examples/scenes/ruler.yaml"), encoding="utf-8") as file:
        text = file.read()
    scene, log = os.path.join(folder, "fault.yaml"), os.path.join(folder, "fault.mcap")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(text.replace("name: ruler", "name: ruler\nmax_speed: 0.001", 1))
    run = subprocess.run([tact, "sim", scene, "--record", log, "--duration", "1.2", "--quiet"], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert run.returncode == 1, run.returncode
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        answer = Client(viewer).status()
        assert answer["level"] == 2 and answer["message"].startswith("fault: "), answer


def check_slow(tact, source, seconds):
    """Clients that stop reading: what they are sent when they read again is new; what they missed is counted."""
    words = (tact, "sim", os.path.join(source, "examples/scenes/ruler.yaml"), "--view", "--no-browser", "--quiet",
             "--duration", str(seconds + 30))
    with Viewer(*words, stream="stderr") as viewer:
        quick, slow, thorough = Client(viewer), Client(viewer), Client(viewer, every=1)
        for client in (quick, slow, thorough):
            client.subscribe("/tact/tick")
            client.receive()
        end = time.time() + seconds
        while time.time() < end:
            newest = tick_of(quick.receive()[2])
        for client, old in ((slow, 8), (thorough, 200)):
            ticks = [tick_of(client.receive()[2]) for _ in range(old + 1)]
            late = [tick for tick in ticks if tick < newest - 400]
            assert len(late) <= old and ticks[-1] >= newest - 400, (ticks[:3], ticks[-1], newest)
            answer = client.status()
            assert answer["level"] == 1 and "too slow" in answer["message"], answer
            missed = int(answer["message"].split()[0])
            print(f"{len(late)} old frames after {seconds} s, then tick {ticks[-1]} of {newest}; {missed} missed")
            assert missed > (seconds - 2) * (20 if client is slow else 200), missed  # the machine may be busy
            assert missed <= ticks[-1], missed
        viewer.process.send_signal(2)
        viewer.process.communicate(timeout=30)


def check_many(viewer):
    """Fifty clients at once, each with every topic; further ones are refused, and those stay."""
    clients = [Client(viewer) for _ in range(50)]
    for client in clients:
        client.subscribe(*TOPICS)
    for client in clients:
        assert client.receive()[0] == "/scene"
        assert client.receive()[0] == "/tact/tick"
    more = []
    try:
        more = [Client(viewer) for _ in range(20)]
        raise AssertionError("70 clients are accepted")
    except (ConnectionError, OSError):
        pass
    clients[0].send("subscribe", subscriptions=[])
    clients[0].receive()
    for client in clients + more:
        client.close()


def answers(client):
    """Whether the server still answers; what came until then is read."""
    client.statuses.clear()
    client.send("subscribe", subscriptions=[{"id": 1, "channelId": 99}])
    while "Unknown channel ID: 99" not in client.status()["message"]:
        pass  # reports of what it missed while the others were served


def check_garbage(viewer, seconds):
    """Bytes that are no request, in frames and in place of them, false pongs; a correct client is served meanwhile."""
    numbers = random.Random(int(os.environ.get("TACT_SEED", "1")))
    good = Client(viewer)
    good.subscribe("/tact/tick")
    texts = ['{"op":', "[]", '{"op":"subscribe","subscriptions":[[[[]]]]}', '{"op":"unsubscribe","subscriptionIds":{}}',
             '{"op":"subscribe","subscriptions":[{"id":1e99,"channelId":1}]}', "\\ud800", "[" * 9000, "[" * 2000 + "]" * 2000, "", "\0" * 100,
             '{"op":"subscribe","subscriptions":[%s]}' % ",".join('{"id":%d,"channelId":%d}' % (i, i % 9) for i in range(300))]
    end, checked = time.time() + seconds, 0.0
    while time.time() < end or not checked:
        if time.time() > checked + 1.0:
            answers(good)
            checked = time.time()
        try:
            bad = WebSocket("127.0.0.1", viewer.port, numbers.choice(("/", "/?every=1", "/?every=7")), protocol=PROTOCOL)
            kind = numbers.randrange(4)
            for _ in range(numbers.randrange(1, 20)):
                if kind == 0:
                    bad.send(numbers.choice(texts))
                elif kind == 1:
                    bad.send(numbers.randbytes(numbers.randrange(20000)), numbers.choice((1, 2, 3, 9)))
                elif kind == 2:
                    bad.send(struct.pack("<I", numbers.choice((0, 1, 2, 2**31, 2**32 - 1))), 10)
                else:
                    bad.socket.sendall(numbers.randbytes(numbers.randrange(200)))
            bad.close()
        except (ConnectionError, OSError):
            pass
    answers(good)
    assert viewer.process.poll() is None
    good.close()


def check_origin(tact, log):
    """An origin that is allowed may look; it may not move the page."""
    with Viewer(tact, "view", log, "--paused", "--no-browser", "--allow-origin", "https://app.foxglove.dev") as viewer:
        client = Client(viewer, origin="https://app.foxglove.dev")
        client.subscribe("/tf")
        assert client.receive()[0] == "/tf"
        for protocol, origin in ((PROTOCOL, "https://app.foxglove.de"), ("tact.view.1", "https://app.foxglove.dev")):
            try:
                WebSocket("127.0.0.1", viewer.port, "/", protocol=protocol, origin=origin).receive()
            except (ConnectionError, OSError):
                continue
            raise AssertionError(f"accepted: {protocol} {origin}")


def main():
    tact, source = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        log = sim(tact, source, folder, seconds=2.8)
        rows = logged(tact, log, folder)
        with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
            check_log(viewer, rows, source)
            check_repeats(viewer)
            check_segments(viewer)
            check_answers(viewer)
            check_refused(viewer)
            check_many(viewer)
            check_garbage(viewer, 600.0 if LONG else 2.0)
            code, _, err = viewer.close()
            assert code == 0 and not err, (code, err)
        check_origin(tact, log)
        check_replay(tact, log, rows)
        check_fault(tact, source, folder)
        check_session(tact, source, folder, "sim")
        check_session(tact, source, folder, "run")
        check_slow(tact, source, 10 if LONG else 4)
    print("1 passed, 0 failed")


main()
