"""Sessions that record a log while a test stops them."""
import os
import subprocess
import time


def start_recording(tact, scene, log, *words, subcommand="run", **how):
    """Gives the process when its log is no longer empty, however long that takes."""
    if os.path.exists(log):
        os.remove(log)
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how}
    run = subprocess.Popen([tact, subcommand, scene, "--moments", "host", "--record", log, *words], **how)
    until = time.monotonic() + 60
    while not os.path.exists(log) or not os.path.getsize(log):
        assert run.poll() is None and time.monotonic() < until, (run.returncode, log)
        time.sleep(0.01)
    return run
