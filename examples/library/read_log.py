"""Reads a log: when each pair touched, and the largest force between the two.

    pip install mcap mcap-ros2-support
    python3 read_log.py FILE
"""
import sys

from mcap.exceptions import EndOfFile
from mcap.reader import NonSeekingReader
from mcap_ros2.decoder import DecoderFactory

PERIOD = 0.001  # of the scene [s]


def read(path):
    """Number of ticks, pairs with [ticks, first tick, last tick, largest force], whether there is an end."""
    ticks, pairs = 0, {}
    with open(path, "rb") as file:
        reader = NonSeekingReader(file, decoder_factories=[DecoderFactory()])
        try:
            for _, _, _, m in reader.iter_decoded_messages(topics=["/tact/tick"], log_time_order=False):
                ticks += 1
                for contact in m.contacts:
                    force = sum(x * x for x in contact.wrench[:3]) ** 0.5
                    if force > 0.0:
                        pair = pairs.setdefault(contact.name, [0, m.tick, m.tick, 0.0])
                        pair[0] += 1
                        pair[2] = m.tick
                        pair[3] = max(pair[3], force)
        except EndOfFile:
            return ticks, pairs, False
    return ticks, pairs, True


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ticks, pairs, complete = read(sys.argv[1])
    print(f"{ticks} ticks{'' if complete else ', not complete'}")
    for name, (count, first, last, most) in pairs.items():
        print(f"{name}: {count} ticks from {first * PERIOD:.3f} to {last * PERIOD:.3f} s, at most {most:.3f} N")


if __name__ == "__main__":
    main()
