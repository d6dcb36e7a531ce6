#!/usr/bin/env python3
"""outputs.py SUBJECT TACT SOURCE: files that subcommands make.

kept   what exists is refused, also a further file of a session and a session that was killed;
       --force replaces it; %n takes the next number, also where several processes ask at once; what is read is never
       written over
whole  a full disk, a limit of file sizes, a missing folder, a pipe that closes: an exit code, one
       line, and no part of a file
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from recordings import start_recording

RULER = "examples/scenes/ruler.yaml"
SHORT = ("--duration", "0.05", "--moments", "host", "--quiet")


def run(*words, **how):
    return subprocess.run([TACT, *words], capture_output=True, text=True, check=False, timeout=60, **how)


def good(*words, **how):
    done = run(*words, **how)
    assert done.returncode == 0, (words, done)
    return done


def refused(words, named, code=2, **how):
    """One line on stderr that names the file; nothing but the ends of lines is no line."""
    done = run(*words, **how)
    assert done.returncode == code and len(done.stderr.splitlines()) == 1, (words, done)
    assert named in done.stderr, (words, done)
    return done.stderr


def content(path):
    with open(path, "rb") as stream:
        return stream.read()


def writers(log, folder):
    """Each subcommand that makes a file, and the file."""
    def at(name):
        return os.path.join(folder, name)
    data, rules = at("data.csv"), at("map.yaml")
    with open(data, "w", encoding="ascii") as stream:
        stream.write("a\n" + "".join(f"{i}\n" for i in range(200)))
    with open(rules, "w", encoding="ascii") as stream:
        stream.write("name: one\nrate: 1000\nsignals:\n  - {name: a, column: a, unit: V}\n")
    bench = ("bench", "contact", "--scene", "octagon", "--ticks", "1", "--update", "1e-3", "-o")
    words = [(("sim", RULER, *SHORT, "--record"), at("r.mcap")), (("plot", log, "-o"), at("p.gp")),
             (("export", log, "--csv"), at("e.csv")), (("export", log, "--hdf5"), at("e.h5")),
             (("import", data, rules, "-o"), at("i.mcap")), ((*bench,), at("b.csv"))]
    if shutil.which("gnuplot"):
        words += [(("plot", log, "-o"), at("p.png")), (("plot", log, "-o"), at("p.svg")),
                  (("picture", log, "-o"), at("q.png"))]
    return words


def numbered(folder):
    names = [json.loads(good("sim", RULER, *SHORT, "--json", "--record", f"{folder}/trial-%n.mcap").stdout)
             ["log"]["file"] for _ in range(2)]
    assert names == [f"{folder}/trial-{k}.mcap" for k in (1, 2)], names
    with open(f"{folder}/trial-007.mcap", "w", encoding="ascii"):
        pass
    together = [subprocess.Popen([TACT, "sim", RULER, *SHORT, "--record", f"{folder}/trial-%n.mcap"],
                                 stdout=subprocess.DEVNULL) for _ in range(6)]
    assert [one.wait() for one in together] == [0] * 6
    assert sorted(os.listdir(folder)) == sorted([f"trial-{k}.mcap" for k in (1, 2, 8, 9, 10, 11, 12, 13)] +
                                                ["trial-007.mcap"]), os.listdir(folder)


def kept(folder):
    log = os.path.join(folder, "a.mcap")
    good("sim", RULER, *SHORT, "--record", log)
    for words, out in writers(log, folder):
        good(*words, out)
        before = content(out)
        assert "--force" in refused([*words, out], out)
        assert content(out) == before, words
        with open(out, "w", encoding="ascii") as stream:
            stream.write("mine")
        refused([*words, out], out)
        assert content(out) == b"mine", words
        good(*words, out, "--force")
        assert len(content(out)) > 100, words
    # What is read, under any name, is not written over, also by force.
    linked, text = os.path.join(folder, "link.csv"), content(log)
    os.link(log, linked)
    os.symlink(log, os.path.join(folder, "link.gp"))
    for words in (["export", log, "--csv", linked], ["export", log, "--csv", log],
                  ["plot", log, "-o", os.path.join(folder, "link.gp")]):
        refused([*words, "--force"], words[-1])
        assert content(log) == text, words
    scene = os.path.join(folder, "scene.yaml")
    shutil.copy(RULER, scene)
    refused(["sim", scene, *SHORT, "--record", scene, "--force"], scene)
    assert content(scene) == content(RULER)
    hand = os.path.join(folder, "hand")
    shutil.copytree("examples/hands", hand)
    with open("examples/scenes/mug.yaml", encoding="utf-8") as source, open(os.path.join(hand, "mug.yaml"), "w", encoding="utf-8") as stream:
        stream.write(source.read().replace("../hands/", ""))
    for part in ("allegro_like.xml", "assets/bracket.obj"):
        path = os.path.join(hand, part)
        before = content(path)
        refused(["sim", os.path.join(hand, "mug.yaml"), *SHORT, "--record", path, "--force"], path)
        assert content(path) == before, part
    # Further files of a session of the same name.
    further = os.path.join(folder, "b.3.mcap")
    with open(further, "w", encoding="ascii"):
        pass
    refused(["sim", RULER, *SHORT, "--record", os.path.join(folder, "b.mcap")], further)
    assert not os.path.exists(os.path.join(folder, "b.mcap"))
    killed = os.path.join(folder, "killed.mcap")
    running = start_recording(TACT, RULER, killed, "--quiet")
    time.sleep(0.6)
    running.kill()
    running.wait()
    assert "tact recover" in refused(["sim", RULER, *SHORT, "--record", killed], killed)
    good("recover", killed)
    assert json.loads(good("info", killed, "--json").stdout)["ticks"] > 100
    os.mkdir(os.path.join(folder, "n"))
    numbered(os.path.join(folder, "n"))


def small():
    resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))


def whole(folder):
    log = os.path.join(folder, "a.mcap")
    good("sim", RULER, "--duration", "2", "--moments", "host", "--quiet", "--record", log)
    for words, out in writers(log, folder):
        refused([*words, "no/such/" + os.path.basename(out)], "no/such/", code=(2 if out[-4:] == "mcap" else 1))
        before = set(os.listdir(folder))
        if words[0] in ("bench", "import"):
            continue  # less than a limit that leaves them room to work
        done = run(*words, out, preexec_fn=small)
        assert done.returncode in (1, 2) and "File too large" in done.stderr, (words, done)
        assert words[0] == "sim" or len(done.stderr.splitlines()) == 1, done
        left = set(os.listdir(folder)) - before
        assert left <= {"r.mcap"}, (words, left)
    for words in (["export", log, "--csv"], ["import", "examples/hands/leap_like.xml", "--quiet", "-o"],
                  ["import", "examples/hands/inspire_like.urdf", "--quiet", "-o"]):
        assert "No space left" in refused([*words, "/dev/full"], "/dev/full", code=1), words
    with open("/dev/full", "w", encoding="ascii") as full:
        for words in (["info", log], ["info", log, "--json"], ["diff", log, log], ["replay", log],
                      ["moments", "sphere:1", "sphere:1"], ["sim", RULER, *SHORT], ["recover", log], ["--help"]):
            done = subprocess.run([TACT, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == 1 and "No space left" in done.stderr, (words, done)
    closed = subprocess.Popen([TACT, "export", log, "--csv", "/dev/stdout"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    closed.stdout.read(10)
    closed.stdout.close()
    said = closed.stderr.read()
    assert closed.wait() == 1 and len(said.splitlines()) == 1 and b"Broken pipe" in said, said
    # Without a standard output its number must not go to the log.
    shut = os.path.join(folder, "shut.mcap")
    done = subprocess.run(["sh", "-c", f"exec '{TACT}' sim {RULER} {' '.join(SHORT)} --record '{shut}' >&-"],
                          stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "Bad file descriptor" in done.stderr, done
    assert json.loads(good("info", shut, "--json").stdout)["complete"]


def main():
    global TACT
    subjects = {f.__name__: f for f in (kept, whole)}
    if len(sys.argv) != 4 or sys.argv[1] not in subjects:
        sys.exit(__doc__)
    TACT = os.path.abspath(sys.argv[2])
    os.chdir(sys.argv[3])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        subjects[sys.argv[1]](folder)


if __name__ == "__main__":
    main()
