"""Reads the topics of a session with the official MCAP readers: each one's count, type and time stamps
must be what `tact info` tells, and what is derived from the records must hold the records' own doubles.
Usage: read_topics.py TACT SOURCE FOLDER; exit status 77 is a skip."""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
SCENES = {"ruler": "1.5", "turn": "1.5"}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def bits(values):
    return [struct.pack("<d", value) for value in values]


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def quat(q):
    return [q.w, q.x, q.y, q.z]


def to_ns(time):
    return time.sec * 10**9 + time.nanosec


def turn(q, v):
    """v turned by the unit quaternion q (w first)."""
    w, u = q[0], q[1:]
    cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0]]
    t = [2 * x for x in cross(u, v)]
    return [x + w * y + z for x, y, z in zip(v, t, cross(u, t))]


def contact(record, topic):
    """The contact of a topic's name in the list of a tick, or None."""
    from read_export import field_name

    return next((c for c in record.contacts if field_name(c.name) == topic), None)


def check_wrench(name, message, logged, record, frames):
    """In a frame of /tf that stands at the patch's centre, axes as the world's."""
    found = contact(record, name)
    assert bits(xyz(message.wrench.force) + xyz(message.wrench.torque)) == bits(found.wrench), name
    assert to_ns(message.header.stamp) == logged.log_time
    place = frames[logged.log_time][message.header.frame_id]
    assert bits(xyz(place.translation)) == bits(found.patch[:3]), name
    assert quat(place.rotation) == [1, 0, 0, 0]


def check_arrows(message, record, names):
    shown = 0
    for marker in message.markers:
        found = contact(record, names[marker.id])
        assert marker.header.frame_id == "world" and marker.ns == "force" and marker.type == 0
        if marker.action == 2:
            assert not marker.points and (found is None or found.patch[6] == 0)
            continue
        shown += 1
        start, tip = xyz(marker.points[0]), xyz(marker.points[1])
        assert bits(start) == bits(found.patch[:3])
        force = found.wrench[:3]
        assert all(abs(b - a - 0.01 * f) < 1e-12 for a, b, f in zip(start, tip, force))
    return shown


def check_scene(message):
    """The ruler as a box, four links' tips as spheres."""
    kinds = {}
    for marker in message.markers:
        kinds.setdefault(marker.header.frame_id, []).append(marker.type)
        assert marker.frame_locked and marker.scale.x > 0 and marker.color.a > 0
    assert kinds["ruler"] == [1] and kinds["pinch.left_distal"] == [2], kinds
    ruler = [m for m in message.markers if m.header.frame_id == "ruler"][0]
    assert xyz(ruler.scale) == [0.3, 0.002, 0.03] or ruler.scale.x > 0.1


def tip_of(frames, link):
    """Where a fingertip's centre stands, by the chain of frames."""
    place, child = [0.0, 0.0, -0.05], link
    while child != "world":
        parent, transform = frames[child]
        place = [a + b for a, b in zip(turn(quat(transform.rotation), place),
                                       xyz(transform.translation))]
        child = parent
    return place


def check(path, info):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    records, frames, chains, counts, times = {}, {}, {}, {}, {}
    names = [t.split("/")[2] for t in info["topics"] if t.startswith("/contacts/") and
             t.endswith("/wrench")]
    touched = 0
    with open(path, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
        summary = reader.get_summary()
        types = {c.topic: summary.schemas[c.schema_id].name for c in summary.channels.values()}
        items = [(i.channel.topic, i.message, i.decoded_message)
                 for i in reader.iter_decoded_messages(log_time_order=False)]
    for topic, logged, message in items:
        counts[topic] = counts.get(topic, 0) + 1
        first, last = times.get(topic, (logged.log_time, logged.log_time))
        times[topic] = (min(first, logged.log_time), max(last, logged.log_time))
        if topic == "/tact/tick":
            records[logged.log_time] = message
        elif topic == "/tf":
            frames[logged.log_time] = {t.child_frame_id: t.transform for t in message.transforms}
            chains[logged.log_time] = {t.child_frame_id: (t.header.frame_id, t.transform)
                                       for t in message.transforms}
        elif topic == "/scene":
            check_scene(message)
    for topic, logged, message in items:
        record = records[logged.log_time]
        if topic.endswith("/wrench"):
            check_wrench(topic.split("/")[2], message, logged, record, frames)
        elif topic == "/contacts/markers":
            touched += check_arrows(message, record, names)
        elif topic == "/joint_states":
            assert bits(message.position) == bits(record.pinch_position)
            assert bits(message.velocity) == bits(record.pinch_velocity)
            assert bits(message.effort) == bits(record.pinch_torque)
        elif topic == "/tf":
            ruler = frames[logged.log_time]["ruler"]
            assert bits(xyz(ruler.translation) + quat(ruler.rotation)) == bits(record.ruler_pose)
    assert touched > 100, touched
    for topic, told in info["topics"].items():
        assert types[topic] == told["type"] and counts.get(topic, 0) == told["messages"], topic
        assert times.get(topic, (0, 0)) == (told["first_wall_ns"], told["last_wall_ns"]), topic
    assert set(types) == set(info["topics"])
    # The chain of frames ends where the contact is: half of the overlap inside the fingertip.
    end = max(chains)
    tip = tip_of(chains[end], "pinch.left_distal")
    centre = xyz(frames[end]["contact/ruler_pinch_left_distal"].translation)
    assert abs(math.dist(tip, centre) - 0.008) < 2e-4, (tip, centre)
    return types


def check_with_node(path, info, folder):
    """The same counts and time stamps by @mcap/core."""
    home = os.path.join(folder, "node")
    if not shutil.which("npm"):
        print("without npm: @mcap/core is not asked")
        return
    os.makedirs(home, exist_ok=True)
    if not os.path.isdir(os.path.join(home, "node_modules", "@mcap", "core")):
        try:
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--prefix", home,
                            "@mcap/core@2", "fzstd@0.1"], check=True, timeout=120)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"@mcap/core cannot be installed and is not asked: {error}")
            return
    script = os.path.join(home, "read_topics.mjs")
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_topics.mjs"), script)
    found = json.loads(run("node", script, path))
    told = {name: [t["type"], t["messages"], str(t["first_wall_ns"]), str(t["last_wall_ns"])]
            for name, t in info["topics"].items()}
    assert found == told, (found, told)
    print("@mcap/core agrees")


def main():
    tact, source, folder = sys.argv[1:4]
    from read_export import ensure_readers

    ensure_readers(folder)
    with tempfile.TemporaryDirectory() as temporary:
        for scene, seconds in SCENES.items():
            log = os.path.join(temporary, scene + ".mcap")
            run(tact, "sim", os.path.join(source, f"examples/scenes/{scene}.yaml"), "--duration",
                seconds, "--moments", "host", "--quiet", "--record", log)
            info = json.loads(run(tact, "info", log, "--json"))
            types = check(log, info)
            print(f"{scene}: {len(types)} topics agree")
            check_with_node(log, info, folder)


if __name__ == "__main__":
    main()
