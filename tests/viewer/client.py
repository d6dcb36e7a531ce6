"""A client of the viewer's own protocol, tact.view.1, that is no browser."""
import json
import struct

from devtools import WebSocket

PROTOCOL = "tact.view.1"


def connect(viewer, **more):
    client = WebSocket("127.0.0.1", viewer.port, "/", **{"protocol": PROTOCOL, **more})
    client.token = viewer.address.partition("#token=")[2]
    return client


def start(client):
    """Reads up to the first frame: hello, meshes, that frame."""
    hello, meshes = json.loads(client.receive()), []
    while True:
        message = client.receive()
        if message[0] == 2:
            return hello, meshes, message
        meshes.append(message)


def ask(client, op, **more):
    client.send(json.dumps({"op": op, **more}))


def number(frame):
    return struct.unpack_from("<I", frame, 4)[0]


def tick(frame):
    return struct.unpack_from("<d", frame, 8)[0]


def next_message(client):
    ask(client, "ack", **({"token": client.token} if client.token else {}))
    return client.receive()


def next_frame(client):
    """The next frame, without the texts before it: a session that runs sends its events when they occur."""
    while isinstance(message := next_message(client), str):
        pass
    return message


def token_of(viewer):
    return viewer.address.split("#token=")[1]


def at_tick(client, target):
    """The frame of a tick that was asked for."""
    for _ in range(60):
        frame = next_frame(client)
        if tick(frame) == target:
            return frame
    raise AssertionError((target, tick(frame)))


def shows(client, target):
    """Whether a log still goes to a tick; seeks of others may be on their way."""
    client.socket.settimeout(1)
    frame, asked = None, 0
    while asked < 20 and (frame is None or tick(frame) != target):
        ask(client, "seek", tick=target)
        asked += 1
        try:
            frame = next_frame(client)
        except TimeoutError:
            pass
    assert frame is not None and tick(frame) == target, asked
