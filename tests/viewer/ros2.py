"""ROS 2 messages by their ros2msg schema: plain CDR, little-endian, decoded into dicts."""
import re
import struct

NUMBERS = {"bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
           "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}
FIELD = re.compile(r"^([\w/]+)(\[(\d*)\])?\s+(\w+)(?:\s.*)?$")  # a default may follow the name


def short(name):
    """geometry_msgs/msg/Vector3 and geometry_msgs/Vector3 are one."""
    return name.replace("/msg/", "/")


def parse(name, schema):
    """Fields (type, count, name) of each type that the schema defines; count: None of a single value, 0 of a list."""
    types, package, fields = {}, short(name).split("/")[0], []
    types[short(name)] = fields
    for line in schema.split("\n"):
        line = line.split("#")[0].strip()
        if line.startswith("MSG:"):
            own = short(line[4:].strip())
            package, fields = own.split("/")[0], []
            types[own] = fields
        elif line and "=" not in line:
            kind, array, count, field = FIELD.match(line).groups()
            if kind not in NUMBERS and kind != "string" and "/" not in kind:
                kind = f"{package}/{kind}"
            fields.append((short(kind), None if array is None else int(count or 0), field))
    return types


class Reader:
    def __init__(self, types, data):
        assert data[:4] == b"\0\1\0\0", data[:4]
        self.types, self.data, self.at = types, data[4:], 0

    def number(self, code):
        size = struct.calcsize("<" + code)
        self.at = (self.at + size - 1) // size * size
        value = struct.unpack_from("<" + code, self.data, self.at)[0]
        self.at += size
        return value

    def one(self, kind):
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == "string":
            size = self.number("I")
            text = self.data[self.at:self.at + size]
            assert size >= 1 and text[-1] == 0, text
            self.at += size
            return text[:-1].decode()
        return {field: self.value(part, count) for part, count, field in self.types[kind]}

    def value(self, kind, count):
        if count is None:
            return self.one(kind)
        return [self.one(kind) for _ in range(count or self.number("I"))]


def decode(name, types, data):
    """The message; every byte of it must be used."""
    reader = Reader(types, data)
    message = reader.one(short(name))
    assert reader.at == len(reader.data), (name, reader.at, len(reader.data))
    return message
