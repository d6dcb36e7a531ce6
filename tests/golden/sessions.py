"""The reference sessions of tests/golden/digests: which there are, and how they are made."""
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIGESTS = os.path.join(SOURCE, "tests", "golden", "digests")
IMPORT = "guiding"  # a session recorded elsewhere


def committed():
    """By session: seconds, to where its bodies touch and move; results version; digest."""
    with open(DIGESTS, encoding="ascii") as stream:
        rows = [line.split() for line in stream if not line.startswith("#")]
    return {name: (seconds, int(version), digest) for name, seconds, version, digest in rows}


def fail(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)
    sys.exit(2)


def run(*words, env=None):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env=dict(os.environ, **(env or {})))
    if done.returncode:
        fail(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def make(tact, session, log, moments="host", before=(), env=None):
    """Its scene is in the folder of the log."""
    if session == IMPORT:
        files = [os.path.join(SOURCE, "examples/imports", name) for name in ("guiding.csv", "guiding.yaml")]
        run(*before, tact, "import", *files, "-o", log, "--quiet", "--force", env=env)
        return
    scene = os.path.join(os.path.dirname(log), f"{session}.yaml")
    run(*before, tact, "sim", scene, "--duration", committed()[session][0], "--moments", moments, "--record",
        log, "--quiet", "--force", env=env)


def scene_text(session):
    """Of an example, or of a scene beside this file."""
    path = os.path.join(SOURCE, "tests", "golden", f"{session}.yaml")
    if not os.path.exists(path):
        path = os.path.join(SOURCE, "examples", "scenes", f"{session}.yaml")
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def copy_scenes(folder):
    """Into the folder, with the paths in them; gives the names of the sessions."""
    for session in committed():
        if session != IMPORT:
            with open(os.path.join(folder, f"{session}.yaml"), "w", encoding="utf-8") as stream:
                stream.write(scene_text(session).replace("../imports/", os.path.join(SOURCE, "examples/imports/")))
    return list(committed())
