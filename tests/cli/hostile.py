#!/usr/bin/env python3
"""hostile.py TACT HOSTILE_LOG SOURCE: strings made to break out, in every place of a log, a scene and
a file's name that a subcommand shows. None becomes a command, none reaches the terminal as a control
character, none makes a file, and every subcommand ends with an exit code of its own."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogates, line and paragraph ends
OWNED = "OWNED"  # what a command among the strings would make
TOUCH = f"touch {OWNED}"
STRINGS = [s.encode("utf-8") if isinstance(s, str) else s for s in (
    f"a'\nsystem('{TOUCH}')\n'", f"'; system '{TOUCH}' #", f"'.system('{TOUCH}').'", f"`{TOUCH}`",
    f"a\n`{TOUCH}`\n", f"$({TOUCH})", f"\n!{TOUCH}\n", f"\n{TOUCH}\n", f"a\\\n!{TOUCH}\n", "@x", "\\", "'\\",
    f"''\n!{TOUCH}\n", f"\"\nload '< {TOUCH}'\n", f"EOD\nsystem('{TOUCH}')\n", f"\nEOD\n!{TOUCH}\n",
    f"'\nset output '{OWNED}'\nplot x\nset output\n", f"plot '<{TOUCH}'\n", f"\r!{TOUCH}\r", "}\n{", "{/=90 big}",
    "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1bP+q544e\x1b\\", "\x1b]52;c;ZWNobw==\x07", "a\rb", "a\b\b\bc",
    "\x7f\x00"[:1], "\u009b31m", b"\x9b31m", b"\xff\xfe\xfd", b"\xc0\xaf\xc0\xae", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"cut \xe2\x82", "\u202egnp.a", "a\u2028b\ufeff", "%s%n%1$n%999999d", "n" * 10000,
    "'" * 5000 + "\n" * 5000)]


FEW = bool(os.environ.get("TACT_FEW"))  # the quick run under a sanitizer


def chosen(string, place):
    """Whether a string is tried in a place of three: in the quick run under a sanitizer each is in one of them."""
    return not FEW or string % 3 == place


def tact(*words, folder, codes=(0, 1, 2, 3)):
    """Runs the command in the folder. What it says has no control character but the ends of lines."""
    run = subprocess.run([TACT, *words], cwd=folder, capture_output=True, check=False, timeout=60)
    assert run.returncode in codes, (words, run.returncode, run.stdout, run.stderr)
    for stream in run.stdout, run.stderr:
        for c in stream.decode("utf-8"):
            assert c == "\n" or unicodedata.category(c) not in HIDDEN, (words, c, stream)
    assert not os.path.exists(os.path.join(folder, OWNED)), words
    if "--json" in words and run.stdout:
        json.loads(run.stdout)
    return run


def gnuplot(script, folder):
    run = subprocess.run(["gnuplot", "-d", "-e", "set terminal dumb", script], cwd=folder, check=False,
                         capture_output=True)
    assert run.returncode == 0, run.stderr


def page_without_session(folder, name):
    """An exported page but for its session, which has only the letters of base64: nothing of it can be markup."""
    with open(os.path.join(folder, name), encoding="utf-8") as stream:
        head, session, tail = re.split(r'id="recording">([A-Za-z0-9+/=]*)</script>', stream.read())
    assert len(session) > 1000
    return head, tail


def read_by_all(log, folder, draws):
    """Every subcommand that reads a log."""
    for words in (["info"], ["info", "--json"], ["info", "--hash"], ["info", "--hash=results"], ["replay"],
                  ["replay", "--json"], ["recover"], ["recover", "--json"]):
        tact(*words, log, folder=folder)
    tact("diff", log, "good.mcap", folder=folder)
    tact("diff", log, "good.mcap", "--json", folder=folder)
    tact("export", log, "--csv", "out.csv", "--hdf5", "out.h5", "--force", folder=folder)
    tact("plot", log, "good.mcap", "-o", "out.gp", "--force", folder=folder)
    page = os.path.join(folder, "out.html")
    if os.path.exists(page):
        os.remove(page)
    tact("export", log, "--html", "out.html", folder=folder)
    if os.path.exists(page):
        assert page_without_session(folder, "out.html") == page_without_session(folder, "good.html"), log
    if draws:
        gnuplot("out.gp", folder)
        tact("plot", log, "-o", "out.svg", "--force", folder=folder)
        tact("picture", log, "-o", "out.png", "--force", "--size", "64,64", folder=folder)
    assert not os.path.exists(os.path.join(folder, OWNED)), log
    for name in "out.csv", "out.gp", "out.svg":
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as stream:
                text = stream.read()
            assert b"\x1b" not in text and b"\x07" not in text and b"\r" not in text, name


def logs(folder, draws):
    # A page shows 12 events, and 48 channels. In the quick run under a sanitizer every string is read, and half of
    # them are on a page.
    starts = (0, 20) if FEW else (0, 10, 20, 30)
    for source, starts in ("good.mcap", starts), ("channels.mcap", (0,)):
        for start in starts:
            with open(os.path.join(folder, "strings"), "wb") as stream:
                stream.write(b"".join(s + b"\0" for s in STRINGS[start:] + STRINGS[:start]))
            subprocess.run([HOSTILE_LOG, source, "bad.mcap", "strings"], cwd=folder, check=True)
            run = tact("info", "bad.mcap", folder=folder, codes=(0,))
            assert b"touch" in run.stdout
            read_by_all("bad.mcap", folder, draws)


def names(folder, draws):
    """Names of files: all in one run of gnuplot."""
    used = []
    with open(os.path.join(folder, "names.gp"), "wb") as scripts:
        for i, text in enumerate(STRINGS):
            name = text.replace(b"/", b"_")[:200] + b".mcap"
            shutil.copy(os.path.join(folder, "good.mcap"), os.path.join(folder.encode(), name))
            used.append(name)
            if chosen(i, 0):
                tact("info", "--json" if i % 2 else "--hash", b"./" + name, folder=folder, codes=(0,))
            if chosen(i, 1):
                tact("diff", b"./" + name, b"no such log " + name, folder=folder, codes=(2,))
            if chosen(i, 2):
                tact("plot", b"./" + name, "-o", "out.gp", "--force", folder=folder, codes=(0,))
                with open(os.path.join(folder, "out.gp"), "rb") as stream:
                    scripts.write(stream.read() + b"\nreset\n")
    if draws:
        gnuplot("names.gp", folder)
        for name in used[:4]:
            tact("picture", b"./" + name, "--size", "64,64", "--force", folder=folder, codes=(0,))
    assert not os.path.exists(os.path.join(folder, OWNED))


def scenes(folder):
    """Names in a scene: refused, or shown without harm."""
    for i, text in enumerate(STRINGS):
        try:
            quoted = json.dumps(text.decode("utf-8")).encode("ascii")
        except UnicodeDecodeError:
            quoted = b'"' + text + b'"'
        for k, scene in enumerate((b"name: %s\nduration: 0.01\n",
                                   b"bodies:\n  - {name: %s, mass: 1, shapes: [{type: sphere, radius: 0.01}]}\n",
                                   b"devices:\n  - {name: d, type: %s}\n")):
            if not chosen(i, k):
                continue
            with open(os.path.join(folder, "bad.yaml"), "wb") as stream:
                stream.write(scene % quoted)
            tact("sim", "bad.yaml", "--duration", "0.005", "--moments", "host", "--record", "scene.mcap",
                 "--force", folder=folder)


def main():
    global TACT, HOSTILE_LOG
    TACT, HOSTILE_LOG, source = map(os.path.abspath, sys.argv[1:4])
    assert len(STRINGS) == 40, len(STRINGS)
    draws = shutil.which("gnuplot") is not None
    with tempfile.TemporaryDirectory() as folder:
        tact("sim", f"{source}/examples/scenes/ruler.yaml", "--duration", "0.05", "--moments", "host",
             "--quiet", "--record", "good.mcap", folder=folder, codes=(0,))
        tact("export", "good.mcap", "--html", "good.html", folder=folder, codes=(0,))
        with open(os.path.join(folder, "data.csv"), "w", encoding="ascii") as stream:
            stream.write("".join(f"{','.join(f'c{k}' for k in range(40))}\n" if row < 0 else
                                 f"{','.join(str(row * (k + 1)) for k in range(40))}\n"
                                 for row in range(-1, 60)))
        with open(os.path.join(folder, "map.yaml"), "w", encoding="ascii") as stream:
            stream.write("name: many\nrate: 1000\nsignals:\n" +
                         "".join(f"  - {{name: s{k}, column: c{k}, unit: V}}\n" for k in range(40)))
        tact("import", "data.csv", "map.yaml", "-o", "channels.mcap", folder=folder, codes=(0,))
        logs(folder, draws)
        names(folder, draws)
        scenes(folder)
    if not draws:
        print("without gnuplot: what it makes of the scripts is not tested")


if __name__ == "__main__":
    main()
