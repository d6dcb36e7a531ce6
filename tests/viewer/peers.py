#!/usr/bin/env python3
"""peers.py TACT SOURCE FOLDER: foxglove.sdk.v1 of the live view as others speak it. The clients of Python (websockets, with
the decoder of mcap-ros2-support) and of JavaScript (@foxglove/ws-protocol) list topics and decode every message; the
server of foxglove-sdk is asked what ours is asked. The packages come from PyPI and npm into FOLDER; exit status 77, a
skip, where they cannot be had: where those of npm cannot, after everything else has passed. The layout for Foxglove is checked against the types of foxglove-sdk."""
import concurrent.futures
import dataclasses
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import types
import typing
import venv

from common import Viewer, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import npm_packages  # noqa: E402

PYTHON = ["websockets==17.4", "mcap==1.6.0", "mcap-ros2-support==0.6.0", "foxglove-sdk==0.30.3"]
NODE = ["@foxglove/ws-protocol@0.8.0", "@foxglove/rosmsg@5.0.5", "@foxglove/rosmsg2-serialization@3.1.0", "ws@8.23.0"]
PROTOCOL = "foxglove.sdk.v1"
EVERY = 10  # the log has derived topics of these ticks
LAST = 3000


def ensure_python(folder):
    """Starts this script again in a venv that has the packages, or skips."""
    home = os.path.join(folder, "venv-peers")
    python = os.path.join(home, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(home):
        return
    if subprocess.run(["sh", "-c", f"{python} -c 'import websockets, mcap_ros2, foxglove'"],
                      capture_output=True, check=False).returncode:
        try:
            venv.create(home, with_pip=True, clear=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PYTHON], check=True, timeout=240)
        except (OSError, subprocess.SubprocessError) as error:
            skip(f"the packages of Python cannot be installed: {error}")
    os.execv(python, [python, *sys.argv])


def connect(port, path="/", protocols=(PROTOCOL,)):
    from websockets.sync.client import connect as open_socket

    return open_socket(f"ws://127.0.0.1:{port}{path}", subprotocols=list(protocols), max_size=None, proxy=None)


def with_python(port):
    """Every message up to the last tick: topic -> its channel, [(log time, bytes)]."""
    with connect(port, f"/?every={EVERY}") as socket:
        info, advertised = json.loads(socket.recv()), json.loads(socket.recv())
        assert info["op"] == "serverInfo" and advertised["op"] == "advertise"
        channels = {c["id"]: c for c in advertised["channels"]}
        socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": i, "channelId": i} for i in channels]}))
        out, tick = {c["topic"]: (c, []) for c in channels.values()}, -1
        while tick < LAST:
            message = socket.recv()
            assert isinstance(message, bytes), message
            if message[0] == 1:
                _, subscription, wall = struct.unpack_from("<BIQ", message)
                topic = channels[subscription]["topic"]
                out[topic][1].append((wall, message[13:]))
                if topic == "/tact/tick":
                    tick = struct.unpack_from("<Q", message, 13 + 12)[0]
        return out


def with_node(port, home):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.mjs")
    return json.loads(npm_packages.run_script(home, script, str(port), str(EVERY), str(LAST), timeout=60))


def of_log(path):
    """The same out of the file, by the official reader: topic -> (type, schema, {log time: bytes})."""
    from mcap.reader import make_reader

    out = {}
    with open(path, "rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            out.setdefault(channel.topic, (schema, {}))[1][message.log_time] = message.data
    return out


def plain(message):
    """A decoded message as JSON would have it."""
    if hasattr(message, "__slots__"):
        return {name: plain(getattr(message, name)) for name in message.__slots__}
    if isinstance(message, (list, tuple, bytes)):
        return [plain(item) for item in message]
    return message


def check_messages(found, logged):
    """Byte for byte what the file has, and decoded by its schema."""
    from mcap_ros2.decoder import DecoderFactory

    decoded, counts = {}, {}
    assert set(found) == set(logged) - {"/tact/events"}, (set(found), set(logged))
    for topic, (channel, messages) in found.items():
        schema, data = logged[topic]
        assert (channel["schemaName"], channel["schema"]) == (schema.name, schema.data.decode()), topic
        assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
        decode = DecoderFactory().decoder_for("cdr", schema)
        for wall, message in messages:
            decoded.setdefault(topic, {})[str(wall)] = plain(decode(message))
            if topic == "/scene":
                assert message in data.values()
            elif topic != "/contacts/markers":
                assert message == data[wall], (topic, wall)
        counts[topic] = len(messages)
    ticks = counts["/tact/tick"] - 1  # the last one is not followed to its end
    assert counts["/scene"] == 1 and ticks == counts["/tf"] == counts["/joint_states"] > 100, counts
    shown = [m for messages in decoded["/contacts/markers"].values() for m in messages["markers"] if m["action"] == 0]
    assert len(shown) == sum(n for topic, n in counts.items() if topic.endswith("/wrench")) > 100, counts
    print(f"websockets and mcap-ros2-support: {counts}")
    return decoded


def check_node(found, decoded, channels):
    """The same messages, decoded by another program."""
    assert found["topics"] == {topic: channel["schemaName"] for topic, (channel, _) in channels.items()}, found["topics"]
    same = 0
    for topic, messages in found["messages"].items():
        for wall, message in messages:
            if topic != "/scene" and wall in decoded[topic]:
                expected = json.loads(json.dumps(decoded[topic][wall]))
                assert message == expected, (topic, wall, message, expected)
                same += 1
    assert same > 500, same
    print(f"@foxglove/ws-protocol: {same} messages are the same")


def check_clients(tact, source, folder, home):
    log = os.path.join(folder, "peers.mcap")
    words = (tact, "sim", os.path.join(source, "examples/scenes/ruler.yaml"), "--record", log, "--view", "--no-browser",
             "--quiet", "--duration", "4")
    with Viewer(*words, stream="stderr") as viewer:
        with concurrent.futures.ThreadPoolExecutor() as threads:
            node = threads.submit(with_node, viewer.port, home) if home else None
            found = threads.submit(with_python, viewer.port).result()
            node = node and node.result()
        viewer.process.send_signal(2)
        viewer.process.communicate(timeout=30)
    decoded = check_messages(found, of_log(log))
    if node:
        check_node(node, decoded, found)
    return log


class Asked:
    """A client that reports what a server answers."""

    def __init__(self, port):
        self.socket = connect(port)
        self.info, self.channels = json.loads(self.socket.recv()), {}
        end = time.time() + 5
        while len(self.channels) < 2 and time.time() < end:  # one message, or one a channel
            self.channels.update({c["topic"]: c for c in json.loads(self.socket.recv())["channels"]})

    def answer(self, message, seconds=0.25):
        """Level and text of the status that follows, or None."""
        self.socket.send(message)
        end = time.time() + seconds
        while time.time() < end:
            try:
                got = self.socket.recv(timeout=max(0.01, end - time.time()))
            except TimeoutError:
                break
            if isinstance(got, str) and json.loads(got)["op"] == "status":
                status = json.loads(got)
                return status["level"], status["message"]
        return None


def requests(one, two):
    """What both servers are asked, about two of their channels; whether the text of the answer is that of the other."""
    subscribe = '{"op":"subscribe","subscriptions":[%s]}'
    item = '{"id":%s,"channelId":%s}'
    return [(subscribe % (item % (7, one)), True), (subscribe % (item % (8, one)), False),
            (subscribe % (item % (7, two)), True), (subscribe % (item % (9, 99)), True),
            ('{"op":"unsubscribe","subscriptionIds":[77]}', True), ('{"op":"unsubscribe","subscriptionIds":[7]}', True),
            (subscribe % (item % (7, two)), True), (subscribe % "", True), ("{", False), ("null", False),
            ('{"op":"nope"}', False), ('{"op":"subscribe"}', False), ('{"op":"subscribe","subscriptions":"x"}', False),
            (subscribe % (item % (-1, one)), False), (subscribe % (item % (4294967296, one)), False),
            (subscribe % (item % ("1.5", one)), False), ('{"op":"setParameters","parameters":[]}', False),
            ('{"op":"getParameters","parameterNames":[],"id":"a"}', False), ('{"op":"subscribeConnectionGraph"}', False),
            ('{"op":"advertise","channels":[{"id":1,"topic":"/x","encoding":"json","schemaName":""}]}', False),
            ('{"op":"fetchAsset","uri":"package://x","requestId":1}', False), (b"\1\2", False), (b"\x09", False)]


def handshakes(port):
    """Which subprotocol a server picks of those that a client offers; None: it refuses."""
    out = []
    for offer in ((), ("foo",), ("foxglove.websocket.v1",), (PROTOCOL,), ("foo", PROTOCOL), (PROTOCOL, "foo")):
        try:
            with connect(port, protocols=offer) as socket:
                out.append(socket.subprotocol)
        except Exception:  # whatever the client makes of a refusal
            out.append(None)
    return out


def check_server(tact, log):
    """Answers of the two servers to the same requests."""
    import foxglove
    from foxglove.websocket import Capability

    schema = foxglove.Schema(name="std_msgs/msg/Empty", encoding="ros2msg", data=b"")
    channels = [foxglove.Channel(topic, schema=schema, message_encoding="cdr") for topic in ("/a", "/b")]
    server = foxglove.start_server(host="127.0.0.1", port=0, name="reference", capabilities=[Capability.Time])
    with Viewer(tact, "view", log, "--paused", "--no-browser") as viewer:
        assert handshakes(server.port) == handshakes(viewer.port) == [None] * 3 + [PROTOCOL] * 3, handshakes(viewer.port)
        theirs, ours = Asked(server.port), Asked(viewer.port)
        assert set(theirs.info) <= set(ours.info) and ours.info["capabilities"] == theirs.info["capabilities"] == ["time"]
        assert {key: type(value) for key, value in theirs.info.items()} == {key: type(ours.info[key]) for key in theirs.info}
        their, our = theirs.channels["/b"], ours.channels["/tf"]
        assert {key: type(value) for key, value in their.items()} == {key: type(value) for key, value in our.items()}
        ids = [(theirs.channels["/a"]["id"], their["id"]), (ours.channels["/joint_states"]["id"], our["id"])]
        for (request, same), (request_to_us, _) in zip(requests(*ids[0]), requests(*ids[1])):
            a, b = theirs.answer(request), ours.answer(request_to_us)
            assert (a is None) == (b is None) and (a is None or a[0] == b[0]), (request, a, b)
            assert not same or a == b, (request, a, b)
        for server_time, asked in ((server.broadcast_time, theirs), (None, ours)):
            if server_time:
                server_time(12345)
            else:
                asked.socket.send('{"op":"subscribe","subscriptions":[]}')  # the present tick again
            message = asked.socket.recv(timeout=5)
            assert message[0] == 2 and len(message) == 9, message
    server.stop()
    del channels
    print("the server of foxglove-sdk answers alike")


def keys_of(kind):
    """The keys of a dataclass of foxglove.layouts in JSON, with the types of their values."""
    names = kind(**{field.name: field.name for field in dataclasses.fields(kind)})._to_dict()
    hints = typing.get_type_hints(kind)
    return {key: hints.get(name, str) if isinstance(name, str) else typing.Any for key, name in names.items()}


def misfits(value, hint):
    """Where a value of a layout is not what foxglove.layouts has there."""
    of, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return []
    if of in (typing.Union, types.UnionType):
        return min((misfits(value, part) for part in parts), key=len)
    if of is typing.Literal:
        return [] if value in parts else [f"{value!r} is none of {parts}"]
    if of in (list, tuple):
        hints = parts[:1] * len(value) if of is list else parts
        return [m for v, h in zip(value, hints) for m in misfits(v, h)] if isinstance(value, list) else [f"{value!r}: no list"]
    if of is dict:
        return [f"{k}: {m}" for k, v in value.items() for m in misfits(v, parts[1])] if isinstance(value, dict) else [f"{value!r}"]
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            return [f"{value!r}: no object"]
        keys = keys_of(hint)
        return [f"{k}: {m}" for k, v in value.items() for m in (misfits(v, keys[k]) if k in keys else ["unknown"])]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return [] if (number if hint is float else isinstance(value, hint)) else [f"{value!r}: no {hint}"]


def check_layout(source):
    """The settings of the panels of our layout are those that foxglove.layouts knows; the arrangement is as the files of the
    program are, of which that module has no type."""
    from foxglove import layouts

    with open(os.path.join(source, "examples/layouts/foxglove.json"), encoding="utf-8") as file:
        layout = json.load(file)
    kinds = {"3D": layouts.ThreeDeeConfig, "Plot": layouts.PlotConfig, "RawMessages": layouts.RawMessagesConfig}
    for name, panel in layout["configById"].items():
        panel.pop("foxglovePanelTitle", None)  # of the panel, not of its settings
        wrong = misfits(panel, kinds[name.split("!")[0]])
        assert not wrong, (name, wrong)
    assert misfits({"paths": [{"valeu": "/tact/tick.timing[0]"}]}, layouts.PlotConfig), "an unknown key passes"
    shown, rest = [], [layout["layout"]]
    while rest:
        node = rest.pop()
        if isinstance(node, str):
            shown.append(node)
        else:
            assert node["direction"] in ("row", "column") and set(node) <= {"direction", "first", "second", "splitPercentage"}, node
            rest += [node["first"], node["second"]]
    assert sorted(shown) == sorted(layout["configById"]), shown
    print(f"foxglove.layouts knows the settings of {len(shown)} panels")


def main():
    tact, source, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    ensure_python(folder)
    home, why = npm_packages.install(os.path.join(os.path.dirname(folder), "node"), *NODE)
    with tempfile.TemporaryDirectory() as temporary:
        log = check_clients(tact, source, temporary, home)
        check_server(tact, log)
    check_layout(source)
    if not home:
        skip(f"everything but @foxglove/ws-protocol passed, which cannot be installed: {why}")
    print("1 passed, 0 failed")


main()
