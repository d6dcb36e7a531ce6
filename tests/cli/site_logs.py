"""Messages and logs of two sites that run as programs of their own."""
import csv
import subprocess
import time


def command(tact, *words):
    run = subprocess.run([tact, *words], capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, (words, run.returncode, run.stdout, run.stderr)
    return run.stdout


def wait_for(log, words, count=1):
    until = time.monotonic() + 60
    while True:
        with open(f"{log}.err", encoding="utf-8") as file:
            text = file.read()
        if text.count(words) >= count:
            return
        assert time.monotonic() < until, text
        time.sleep(0.02)


def columns(tact, log, *names):
    command(tact, "export", f"{log}.mcap", "--csv", f"{log}.csv", "--force")
    with open(f"{log}.csv", encoding="ascii") as file:
        rows = csv.reader(file)
        head = next(rows)
        at = [head.index(name) for name in names]
        return [[float(row[i]) for i in at] for row in rows]


def check_log(tact, log):
    """It is complete and replays bit for bit."""
    assert "complete" in command(tact, "info", f"{log}.mcap")
    assert " 0 differing" in command(tact, "replay", f"{log}.mcap", "--verify")
