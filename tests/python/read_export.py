"""Reads what tact export wrote with numpy and h5py, and the log itself with the official MCAP
reader: every double must have the same bits, every topic the count that tact info reports.
Usage: read_export.py TACT SOURCE FOLDER; exit status 77 is a skip."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import venv

PACKAGES = ["numpy==2.4.6", "h5py==3.16.0", "mcap==1.6.0", "mcap-ros2-support==0.6.0"]
TICKS = 1500
JOINTS = ["left_proximal", "left_distal", "right_proximal", "right_distal"]
ELEMENTS = {  # of examples/scenes/ruler.yaml
    **{f"pinch_{what}": JOINTS for what in ("position", "velocity", "target", "torque")},
    "operator_input": ["state", "stamp_ns", "grip", "turn", "lift", "deadman"],
    "outputs_wanted": [f"operator.felt_{k}" for k in range(4)],
    "outputs_sent": [f"operator.felt_{k}" for k in range(4)],
}


def ensure_readers(folder):
    """Starts this script again in a venv that has the readers, or skips."""
    home = os.path.join(folder, "venv-export")
    python = os.path.join(home, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(home):
        return
    try:
        if subprocess.run([python, "-c", "import numpy, h5py, mcap_ros2"],
                          capture_output=True).returncode:
            raise OSError("the venv has no readers yet")
    except OSError:
        try:
            venv.create(home, with_pip=True, clear=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True,
                           timeout=240)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"skipped: the readers cannot be installed: {error}")
            sys.exit(77)
    os.execv(python, [python, *sys.argv])


def field_name(pair):
    return re.sub("[^a-z0-9]+", "_", pair.lower()).strip("_")


def contact_fields(contact):
    """Of an element of a tick's list: by field, as the reader of the log lays them out."""
    return {f"{field_name(contact.name)}_{what}": getattr(contact, what) for what in contact.__slots__
            if what not in ("name", "a", "b", "same")}


def spread(lists):
    """By field a value for each tick; where a pair is not in the list, 0, and 1 (open) of its limits."""
    import numpy

    fields = {}
    for tick, contacts in enumerate(lists):
        for name, value in (item for contact in contacts for item in contact_fields(contact).items()):
            if name not in fields:
                shape = (len(lists), *numpy.shape(value))
                fields[name] = numpy.full(shape, float(name.endswith("_limits")))
            fields[name][tick] = value
    return fields


def read_log(path, info):
    """Every tick's numbers by field, as the official reader has them."""
    import numpy
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    counts, ticks, stamps, fields, lists = {}, [], [], {}, []
    with open(path, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        for channel in summary.channels.values():
            counts[channel.topic] = summary.statistics.channel_message_counts.get(channel.id, 0)
            assert summary.schemas[channel.schema_id].name == info["topics"][channel.topic]["type"]
        for item in reader.iter_decoded_messages(topics=["/tact/tick"]):
            message = item.decoded_message
            ticks.append(message.tick)
            stamps.append(message.stamp.sec * 10**9 + message.stamp.nanosec)
            for name in message.__slots__:
                if name == "contacts":
                    lists.append(message.contacts)
                elif name not in ("stamp", "tick"):
                    fields.setdefault(name, []).append(getattr(message, name))
        assert summary.statistics.message_start_time == info["start_wall_ns"]
    assert counts == {name: topic["messages"] for name, topic in info["topics"].items()}, counts
    fields = {name: numpy.array(value, dtype="<f8") for name, value in fields.items()}
    return ticks, stamps, fields | spread(lists)


def check_hdf5(path, ticks, stamps, fields, info):
    import h5py

    with h5py.File(path) as file:
        assert set(file) == set(fields) | {"time", "tick", "stamp_ns"}, set(file)
        assert file["time"][:].tolist() == [tick * 1e-3 for tick in ticks]
        assert file["time"].attrs["unit"].startswith("s,")
        for name, expected in ELEMENTS.items():
            assert file[name].attrs["elements"].tolist() == expected, name
        assert "elements" not in file["ruler_twist"].attrs
        for name, end in {"moments": "grad m^2 m^3 (6)", "margins": "edge, joint"}.items():
            unit = file[f"ruler_pinch_left_distal_{name}"].attrs["unit"]
            assert unit.endswith(end) and len(unit) > 63, unit
        assert file["tick"][:].tolist() == ticks and file["stamp_ns"][:].tolist() == stamps
        for name, expected in fields.items():
            found = file[name]
            assert found.shape == expected.shape, (name, found.shape, expected.shape)
            assert found[:].tobytes() == expected.tobytes(), name
            assert found.attrs["kind"] in ("input", "output", "timing"), name
        assert file["timing"].attrs["kind"] == "timing"
        assert file["ruler_twist"].attrs["unit"].startswith("m/s, rad/s")
        for key, value in info["facts"].items():
            assert file.attrs[key] == value, key


def check_csv(path, ticks, stamps, fields):
    import numpy

    with open(path, newline="", encoding="ascii") as stream:
        names, *rows = csv.reader(stream)
    columns = dict(zip(names, zip(*rows)))
    assert len(columns) == len(names) and len(rows) == len(ticks)
    assert list(map(float, columns.pop("time"))) == [tick * 1e-3 for tick in ticks]
    assert list(map(int, columns.pop("tick"))) == ticks
    assert list(map(int, columns.pop("stamp_ns"))) == stamps
    for name, expected in fields.items():
        for k in range(1 if expected.ndim == 1 else expected.shape[1]):
            element = ELEMENTS[name][k] if name in ELEMENTS else k
            text = columns.pop(name if expected.ndim == 1 else f"{name}[{element}]")
            found = numpy.array(list(map(float, text)), dtype="<f8")
            wanted = expected if expected.ndim == 1 else expected[:, k]
            assert found.tobytes() == wanted.tobytes(), (name, k)
    assert not columns, columns.keys()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tact, source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    ensure_readers(folder)
    with tempfile.TemporaryDirectory() as temporary:
        log, table, h5 = (os.path.join(temporary, name) for name in ("a.mcap", "a.csv", "a.h5"))
        subprocess.run([tact, "sim", f"{source}/examples/scenes/ruler.yaml", "--duration",
                        str(TICKS / 1000), "--moments", "host", "--quiet", "--record", log],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run([tact, "export", log, "--csv", table, "--hdf5", h5], check=True)
        info = json.loads(subprocess.run([tact, "info", log, "--json"], check=True,
                                         capture_output=True).stdout)
        ticks, stamps, fields = read_log(log, info)
        assert len(ticks) == info["ticks"] == TICKS
        check_hdf5(h5, ticks, stamps, fields, info)
        check_csv(table, ticks, stamps, fields)
        values = sum(field.size for field in fields.values())
        print(f"{values} doubles in {len(fields)} fields: the same bits in HDF5 and CSV")


if __name__ == "__main__":
    main()
