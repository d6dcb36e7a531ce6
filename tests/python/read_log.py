"""Reads a log of tact with the official Python readers and compares it, bit by bit, with what the
test program says it recorded. Usage: read_log.py WRITE_LOG FOLDER; exit status 77 is a skip."""

import io
import os
import struct
import subprocess
import sys
import venv
import zlib

PACKAGES = ["mcap==1.6.0", "mcap-ros2-support==0.6.0"]
ANCHOR_NS = 1763725461000000001
DOUBLES = 100


def ensure_readers(folder):
    """Starts this script again in a venv that has the readers, or skips."""
    python = os.path.join(folder, "venv", "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(os.path.join(folder, "venv")):
        return
    try:
        if subprocess.run([python, "-c", "import mcap, mcap_ros2"], capture_output=True).returncode:
            raise OSError("the venv has no readers yet")
    except OSError:
        try:
            venv.create(os.path.join(folder, "venv"), with_pip=True, clear=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True,
                           timeout=240)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"skipped: the MCAP readers cannot be installed: {error}")
            sys.exit(77)
    os.execv(python, [python, *sys.argv])


def bits(value):
    return struct.pack("<d", value)


def to_ns(time):
    return time.sec * 10**9 + time.nanosec


def check_tick(message, logged, line, columns):
    words = line.split()
    values = [struct.pack("<Q", int(word, 16)) for word in words[2:]]
    assert message.tick == int(words[0])
    assert to_ns(message.stamp) == int(words[1])
    assert logged.log_time == logged.publish_time == ANCHOR_NS + int(words[1])
    offset = 0
    for name, count in columns:
        field = getattr(message, name)
        found = [bits(field)] if count == 1 else [bits(value) for value in field]
        assert found == values[offset:offset + count], (words[0], name)
        offset += count
    assert offset == len(values) == DOUBLES
    return [struct.unpack("<d", value)[0] for value in values]


def check_joints(message, logged, values):
    assert message.name == ["left", "right"]
    assert to_ns(message.header.stamp) == logged.log_time
    assert list(map(bits, message.position)) == list(map(bits, values[0:2]))
    assert list(message.velocity) == []
    assert bits(message.effort[0]) == bits(values[9]) and message.effort[1] != message.effort[1]


def check_tf(message, logged, values):
    (transform,) = message.transforms
    assert transform.header.frame_id == "world" and transform.child_frame_id == "ruler"
    assert to_ns(transform.header.stamp) == logged.log_time
    place, turn = transform.transform.translation, transform.transform.rotation
    found = [place.x, place.y, place.z, turn.w, turn.x, turn.y, turn.z]
    assert list(map(bits, found)) == list(map(bits, values[2:9]))


def check_messages(reader, expected):
    """All topics, in the order of the index or, without one, of the file."""
    columns = [("device_q", 2), ("ruler_pose", 7), ("force", 1), ("wake", 1), ("rest", 89)]
    counts, records = {}, {}
    for decoded in reader:
        topic, message = decoded.channel.topic, decoded.decoded_message
        counts[topic] = counts.get(topic, 0) + 1
        if topic == "/tact/tick":
            records[decoded.message.log_time] = check_tick(
                message, decoded.message, expected[message.tick], columns)
        elif topic == "/tact/events":
            event = (message.tick, to_ns(message.stamp), message.name, message.text)
            assert event in [(7, 8, "marker", "released \u2713"), (9, -10, "fault", "")], event
        elif topic == "/joint_states":
            check_joints(message, decoded.message, records[decoded.message.log_time])
        elif topic == "/tf":
            check_tf(message, decoded.message, records[decoded.message.log_time])
    assert counts == {"/tact/tick": 3000, "/tact/events": 2, "/joint_states": 300, "/tf": 300}, \
        counts


def check_summary(fresh):
    """fresh() makes a reader: without an index it answers one question only."""
    header = fresh().get_header()
    assert header.profile == "ros2" and header.library.startswith("tact ")
    summary = fresh().get_summary()
    assert summary.statistics.message_count == 3602
    assert summary.statistics.attachment_count == 3 and summary.statistics.metadata_count == 1
    assert summary.statistics.chunk_count == len(summary.chunk_indexes) >= 3
    # The events' stamps lie before those of the records.
    assert summary.statistics.message_start_time == ANCHOR_NS - 10
    assert summary.statistics.message_end_time == ANCHOR_NS + 1234567890123 + 2999 * 10**6
    for channel in summary.channels.values():
        assert channel.message_encoding == "cdr"
        assert channel.metadata == {"offered_qos_profiles": ""}
        assert summary.schemas[channel.schema_id].encoding == "ros2msg"
    attachments = {a.name: (a.media_type, a.data) for a in fresh().iter_attachments()}
    assert attachments == {"scene.yaml": ("application/yaml", b"bodies: []\n"),
                           "meshes/empty.obj": ("", b""),
                           "binary": ("application/octet-stream", b"\0\1\2\xff")}
    (metadata,) = fresh().iter_metadata()
    assert metadata.name == "tact"
    assert metadata.metadata["build_id"] == "0123abcd"
    assert metadata.metadata["wall_anchor_ns"] == str(ANCHOR_NS)


def check_by_hand(data):
    """What the readers take on trust: the checksums of the data and of the index, and where the index
    of each chunk points."""
    import zstandard
    from mcap.records import Chunk, MessageIndex
    from mcap.stream_reader import StreamReader

    summary_start, _, summary_crc = struct.unpack_from("<QQI", data, len(data) - 8 - 20)
    assert zlib.crc32(data[summary_start:-8 - 4]) == summary_crc
    data_end = summary_start - 13
    assert data[data_end] == 0x0F
    assert zlib.crc32(data[:data_end]) == struct.unpack_from("<I", data, data_end + 9)[0]
    messages = 0
    for record in StreamReader(io.BytesIO(data), emit_chunks=True, validate_crcs=True).records:
        if isinstance(record, Chunk):
            chunk = record.data
            if record.compression == "zstd":
                chunk = zstandard.ZstdDecompressor().decompress(chunk, record.uncompressed_size)
            assert len(chunk) == record.uncompressed_size
            start, end = record.message_start_time, record.message_end_time
        elif isinstance(record, MessageIndex):
            for time, offset in record.records:
                opcode, _, channel, _, log_time = struct.unpack_from("<BQHIQ", chunk, offset)
                assert (opcode, channel, log_time) == (5, record.channel_id, time)
                assert start <= time <= end
                messages += 1
    assert messages == 3602
    return data_end


def count_of_killed(data):
    """Messages that the official reader finds in a log that ends without its index."""
    from mcap.exceptions import EndOfFile
    from mcap.reader import NonSeekingReader

    count = 0
    try:
        for _ in NonSeekingReader(io.BytesIO(data)).iter_messages(log_time_order=False):
            count += 1
    except EndOfFile:
        pass
    return count


def main():
    write_log, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    ensure_readers(folder)

    from mcap.reader import NonSeekingReader, SeekingReader
    from mcap_ros2.decoder import DecoderFactory

    log, text = os.path.join(folder, "log.mcap"), os.path.join(folder, "expected.txt")
    for level in "10":
        subprocess.run([write_log, log, text, level], check=True)
        with open(text, encoding="ascii") as file:
            expected = file.read().splitlines()
        for kind in SeekingReader, NonSeekingReader:
            with open(log, "rb") as file:

                def fresh():
                    file.seek(0)
                    return kind(file, validate_crcs=True, decoder_factories=[DecoderFactory()])

                check_summary(fresh)
                check_messages(fresh().iter_decoded_messages(), expected)
        with open(log, "rb") as file:
            data = file.read()
        data_end = check_by_hand(data)
        assert count_of_killed(data[:data_end]) == 3602
        assert 1000 < count_of_killed(data[:data_end * 6 // 10]) < 3000
        print(f"zstd level {level}: {len(expected)} ticks in {os.path.getsize(log)} bytes, equal")


main()
