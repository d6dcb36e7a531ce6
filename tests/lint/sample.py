#!/usr/bin/env python3
"""sample.py SEED SOURCE LIST KEY: names, messages and comments out of context, to be explained by a reader.

Writes to LIST 40 identifiers, 20 messages and 20 comments that are drawn at random, with the seed, from the C and
OpenCL sources below SOURCE, numbered from 1 to 80. A reader who has not seen the code says what each means. KEY gives
file and line of each, with which the answers are checked. The same seed and the same sources give the same list.

An identifier is a name of four letters or more that is declared: function, parameter, variable, member, type, macro.
Each distinct name is as likely as any other. A message is a text of four words or more outside of tests/, whose texts
are mostly scenes; a text without a space (a path, a key, the names of columns) and a fragment of a script for gnuplot,
of a page or of a message definition of ROS are none. A comment has four words or more.
"""
import os
import random
import re
import subprocess
import sys

DRAWN = (("Identifiers", 40), ("Messages", 20), ("Comments", 20))
CODE = (".c", ".h", ".cl")
TOKEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
JOINED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"(?:\s*(?:PRI\w+\s*)?\"(?:\\.|[^\"\\\n])*\")*")
TYPE = (r"(?:(?:struct|enum|union)\s+\w+|void|bool|char|short|int|long|unsigned|signed|float|double|double[234]|"
        r"float[234]|size_t|ssize_t|FILE|u?int\d+_t|tact_\w+_fn)")
# A cast such as (unsigned char) has the form of a declaration.
KEYWORDS = {"char", "double", "float", "inline", "long", "register", "restrict", "short", "signed", "unsigned", "void",
            "volatile"}
NO_MESSAGE = re.compile(r"[;{}]|^\S*$|\b(?:lc|tc|fc|lw) (?:rgb|%g|\d)|\bfont '|\bnotitle\b|\busing \d|\bpolygon from$|"
                        r"\bset (?:terminal|multiplot|encoding|object|title|label|[xy]range|[xy]label)\b|<script |"
                        r"\bat (?:graph|screen) |\b\w+_msgs/|builtin_interfaces/|^MSG: ")
DECLARED = (
    re.compile(rf"\b{TYPE}(?:\s+const)?[\s*]+(\w{{4,}})\s*[\[\](),;=:]"),
    re.compile(r"\b(?:struct|enum|union)\s+(\w{4,})\s*\{"),
    re.compile(r"^\s*#\s*define\s+(\w{4,})", re.M),
    re.compile(r"^\s+(TACT_[A-Z]\w+|[A-Z][A-Z_0-9]{3,})(?:\s*=[^,\n]*)?,", re.M),
)


def sources():
    git = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(git, capture_output=True, check=True).stdout.decode().split("\0")
    return sorted(path for path in listed if path.endswith(CODE))


def words(text):
    return len(re.findall(r"[A-Za-z]{2,}", text))


def blank(match):
    """As many spaces and lines as the text had, so that places stay."""
    return re.sub(r"[^\n]", " ", match.group())


def comment_text(text):
    text = re.sub(r"^/\*+<?|\*/$", "", text)
    return " ".join(re.sub(r"^\s*\*", "", line).strip() for line in text.split("\n")).strip()


def message_text(text):
    parts = re.findall(r"\"((?:\\.|[^\"\\])*)\"|PRI\w+", text)
    return "".join(parts).replace("\\n", " ").replace("\\\"", "\"").strip()


def collect():
    """(text, place) of each distinct identifier, message and comment."""
    found = {kind: {} for kind, _ in DRAWN}

    def add(kind, text, path, source, at):
        found[kind].setdefault(text, f"{path}:{source.count(chr(10), 0, at) + 1}")

    for path in sources():
        with open(path, encoding="utf-8") as stream:
            source = stream.read()
            source = re.sub(r"^\s*#\s*include.*", blank, source, flags=re.M)
        for match in TOKEN.finditer(source):
            if match.group().startswith("/*") and words(comment_text(match.group())) >= 4:
                add("Comments", comment_text(match.group()), path, source, match.start())
        plain = re.sub(r"/\*.*?\*/", blank, source, flags=re.S)
        if not path.startswith("tests/"):
            for match in JOINED.finditer(plain):
                text = message_text(match.group())
                if words(re.sub(r"%\S+", "", text)) >= 4 and not NO_MESSAGE.search(text):
                    add("Messages", text, path, source, match.start())
        plain = TOKEN.sub(blank, plain)
        for pattern in DECLARED:
            for match in pattern.finditer(plain):
                if match.group(1) in KEYWORDS:
                    continue
                add("Identifiers", match.group(1), path, source, match.start(1))
    return found


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    seed, listing, key = sys.argv[1], os.path.abspath(sys.argv[3]), os.path.abspath(sys.argv[4])
    os.chdir(sys.argv[2])
    found, draw, number = collect(), random.Random(int(seed)), 0
    with open(listing, "w", encoding="utf-8") as texts, open(key, "w", encoding="utf-8") as places:
        for kind, count in DRAWN:
            texts.write(f"{kind}\n\n")
            for text in draw.sample(sorted(found[kind]), count):
                number += 1
                texts.write(f"{number}. {text}\n")
                places.write(f"{number}. {found[kind][text]}\n")
            texts.write("\n")
        places.write(f"seed {seed}; drawn from {', '.join(f'{len(found[kind])} {kind.lower()}' for kind, _ in DRAWN)}\n")


if __name__ == "__main__":
    main()
