"""Reads the topics of a session with the official MCAP readers: each one's count, type and time stamps
must be what `tact info` reports, and what is derived from the records must hold the records' own doubles.
Usage: read_topics.py TACT SOURCE FOLDER; exit status 77 is a skip."""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import npm_packages

SCENES = {"ruler": "1.5", "turn": "1.5"}
SOFT = """
name: soft
duration: 0.5
recorder: {pressure_rate: 100}
materials:
  - {name: rubber, field: {modulus: 2e5, thickness: 0.01}}
  - {name: steel}
pairs:
  - {materials: [rubber, steel], friction: 0.6, model: field, dissipation: 0.003}
  - {materials: [rubber, rubber], friction: 0.6, model: field}
bodies:
  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}
  - {name: ball, mass: 0.1, position: [0, 0, 0.02], shapes: [{type: sphere, radius: 0.02, material: rubber}]}
  - {name: rod, mass: 0.2, position: [0.1, 0, 0.02], shapes: [{type: cylinder, radius: 0.02, length: 0.04, material: rubber}]}
"""


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
    """In a frame of /tf whose origin is the patch's centre, axes as the world's."""
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
    for topic, stated in info["topics"].items():
        assert types[topic] == stated["type"] and counts.get(topic, 0) == stated["messages"], topic
        assert times.get(topic, (0, 0)) == (stated["first_wall_ns"], stated["last_wall_ns"]), topic
    assert set(types) == set(info["topics"])
    # The chain of frames ends where the contact is: half of the overlap inside the fingertip.
    end = max(chains)
    tip = tip_of(chains[end], "pinch.left_distal")
    centre = xyz(frames[end]["contact/ruler_pinch_left_distal"].translation)
    assert abs(math.dist(tip, centre) - 0.008) < 2e-4, (tip, centre)
    return types


def triangles(sides, points):
    """Of convex polygons."""
    at = 0
    for count in sides:
        yield from ([points[at], points[at + k], points[at + k + 1]] for k in range(1, count - 1))
        at += count


def area_of(t):
    u, v = ([t[k][i] - t[0][i] for i in range(3)] for k in (1, 2))
    return 0.5 * math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def check_pressure(path, info):
    """A ball and a cylinder at rest: the loads are their weights, and the integrals of the polygons'
    pressures; the marker has the same triangles, the lightest at the peak."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    maps, markers = [], []
    with open(path, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
        for item in reader.iter_decoded_messages(topics=["/contacts/pressure", "/contacts/markers"]):
            if item.channel.topic == "/contacts/pressure":
                maps.append(item.decoded_message)
            elif item.decoded_message.markers[0].ns == "pressure":
                markers.append(item.decoded_message.markers)
    assert len(maps) == info["topics"]["/contacts/pressure"]["messages"] == 50, len(maps)
    assert [m.tick for m in maps] == list(range(0, 500, 10)) and len(markers) >= 49
    last, (marker,) = maps[-1], markers[-1]
    assert last.patches_left_out == last.polygons_left_out == 0
    assert [(p.name, p.a, p.b) for p in last.patches] == [("floor/ball", 0, 1), ("floor/rod", 0, 2)]
    count, whole = 0, 0.0
    for patch, weight, near in zip(last.patches, (0.981, 1.962), (0.02, 1e-5)):
        points = [patch.corners[4 * i:4 * i + 4] for i in range(sum(patch.sides))]
        cut = list(triangles(patch.sides, points))
        load = sum(area_of(t) * sum(p[3] for p in t) / 3 for t in cut)
        assert len(patch.corners) == 4 * len(points) and patch.polygons_left_out == 0
        assert abs(patch.load - weight) < 1e-3 * weight and abs(load - patch.load) < near * load, (load, patch.load)
        assert abs(max(p[3] for p in points) - patch.peak) < 1e-6 * patch.peak
        assert abs(patch.normal[2] + 1) < 1e-6 and abs(patch.center[2]) < 1e-3
        count, whole = count + len(cut), whole + sum(map(area_of, cut))
    corners = [xyz(p) for p in marker.points]
    assert len(marker.points) == len(marker.colors) == 3 * count and marker.type == 11 and marker.action == 0
    assert abs(sum(area_of(corners[i:i + 3]) for i in range(0, len(corners), 3)) - whole) < 1e-5 * whole
    assert max(c.g for c in marker.colors) > 0.94 and min(c.g for c in marker.colors) < 0.06


def check_with_node(path, info, home):
    """The same counts and time stamps by @mcap/core."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_topics.mjs")
    found = json.loads(npm_packages.run_script(home, script, path, timeout=60))
    stated = {name: [t["type"], t["messages"], str(t["first_wall_ns"]), str(t["last_wall_ns"])]
            for name, t in info["topics"].items()}
    assert found == stated, (found, stated)
    print("@mcap/core agrees")


def main():
    tact, source, folder = sys.argv[1:4]
    from read_export import ensure_readers

    ensure_readers(folder)
    home, why = npm_packages.install(os.path.join(os.path.dirname(folder), "node"), "@mcap/core@2.2.2", "fzstd@0.1.1")
    with tempfile.TemporaryDirectory() as temporary:
        for scene, seconds in SCENES.items():
            log = os.path.join(temporary, scene + ".mcap")
            run(tact, "sim", os.path.join(source, f"examples/scenes/{scene}.yaml"), "--duration",
                seconds, "--moments", "host", "--quiet", "--record", log)
            info = json.loads(run(tact, "info", log, "--json"))
            types = check(log, info)
            print(f"{scene}: {len(types)} topics agree")
            if home:
                check_with_node(log, info, home)
        scene, log = (os.path.join(temporary, name) for name in ("soft.yaml", "soft.mcap"))
        with open(scene, "w", encoding="utf-8") as out:
            out.write(SOFT)
        run(tact, "sim", scene, "--moments", "host", "--quiet", "--record", log)
        check_pressure(log, json.loads(run(tact, "info", log, "--json")))
        print("pressure maps agree")
    if not home:
        print(f"skipped: everything but @mcap/core passed, which cannot be installed: {why}")
        sys.exit(77)


if __name__ == "__main__":
    main()
