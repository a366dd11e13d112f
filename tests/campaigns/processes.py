"""Killed workers, killed servers, interrupted trainings: an answer in time, and nothing left behind.

Invariant: every process a try starts belongs to a session of its own, which is looked at, and ended, afterwards.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from .result import Result

PATIENCE = 60
PRELUDE = """
import os, signal, sys, time, warnings
warnings.simplefilter("ignore")
import vistorch
from vistorch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __init__(self, seconds=0.0):
        self.seconds = seconds
    def __len__(self):
        return 400
    def __getitem__(self, i):
        time.sleep(self.seconds)
        return vistorch.full((30_000,), float(i))

def say(*words):
    print(*words, flush=True)
"""
# Where a worker is when it is killed.
STAGES = {
    "before the first batch": ("Slow(0.2)", 0, {}),
    "in a sample": ("Slow(0.01)", 1, {}),
    "with batches waiting": ("Slow()", 1, {"prefetch_factor": 4}),
    "large batches": ("Slow()", 2, {"batch_size": 32}),
    "late": ("Slow()", 30, {"batch_size": 4}),
    "persistent, first epoch": ("Slow()", 1, {"persistent_workers": True}),
    "one worker": ("Slow()", 1, {"num_workers": 1}),
    "four workers": ("Slow()", 1, {"num_workers": 4}),
    "forked": ("Slow()", 1, {"multiprocessing_context": "fork"}),
    "spawned": ("Slow()", 1, {"multiprocessing_context": "spawn"}),
}
KILL = """
if __name__ == "__main__":
    loader = DataLoader({dataset}, **{options})
    it = iter(loader)
    for _ in range({batches}):
        next(it)
    os.kill(it._workers[0].pid, signal.{signal})
    begun = time.monotonic()
    try:
        for _ in it:
            pass
    except RuntimeError as error:
        assert "DataLoader worker" in str(error), error
        say("refused", time.monotonic() - begun)
    else:
        say("nothing was said")
    del it, loader
    assert sum(len(batch) for batch in DataLoader(Slow(), batch_size=100, num_workers=1)) == 400
    say("next")
"""
SERVER = """
if __name__ == "__main__":
    from vistorch.utils.data._workers import launch
    from multiprocessing import resource_tracker
    it = iter(DataLoader(Slow({seconds}), num_workers=2))
    next(it)
    if {victim!r} == "server":
        (server,) = launch._servers.values()
        os.kill(server._forkserver_pid, signal.{signal})
    else:
        resource_tracker.ensure_running()
        os.kill(resource_tracker._resource_tracker._pid, signal.{signal})
    begun = time.monotonic()
    try:
        for _ in range(50):
            next(it)
    except RuntimeError as error:
        assert "DataLoader worker" in str(error), error
    say("refused", time.monotonic() - begun)
    del it
    assert sum(len(batch) for batch in DataLoader(Slow(), batch_size=100, num_workers=1)) == 400
    say("next")
"""
TRAIN = """
if __name__ == "__main__":
    net = vistorch.nn.Linear(30_000, 2)
    optimizer = vistorch.optim.SGD(net.parameters(), lr=1e-9)
    try:
        say("begun")
        for epoch in range(1000):
            for batch in DataLoader(Slow(), batch_size=8, num_workers=2):
                optimizer.zero_grad()
                net(batch).square().mean().backward()
                optimizer.step()
    except KeyboardInterrupt:
        say("interrupted")
    assert vistorch.is_grad_enabled()
    assert sum(len(batch) for batch in DataLoader(Slow(), batch_size=100, num_workers=1)) == 400
    say("next")
"""


def of_session(number: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == number and fields[0] not in "ZX":
                    found.append(int(entry.name))
    return found


def run(text: str, act=None) -> tuple[list[str], str]:
    """Run a program in a session of its own; return its lines, and what was wrong with its end.

    Args:
        text: the program, after `PRELUDE`.
        act: called with the process when it has printed its first line.
    """
    shared = set(os.listdir("/dev/shm"))
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "main.py")
        script.write_text(PRELUDE + textwrap.dedent(text))
        scratch = Path(folder, "temporary")
        scratch.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "TMPDIR": str(scratch),
        }
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        lines, errors, wrong = [], "", ""
        try:
            if act is not None:
                lines.append(process.stdout.readline().strip())
                act(process)
            out, errors = process.communicate(timeout=PATIENCE)
            lines += out.split("\n")[:-1]
            if process.returncode:
                wrong = f"exit status {process.returncode}: {errors.strip()[-300:]}"
            end = time.monotonic() + 10
            while (left := of_session(process.pid)) and time.monotonic() < end:
                time.sleep(0.02)
            if left:
                wrong += f" processes left: {left}"
            if new := [name for name in set(os.listdir("/dev/shm")) - shared if "vistorch" in name]:
                wrong += f" left in /dev/shm: {new}"
            if files := [str(path.relative_to(scratch)) for path in scratch.rglob("*") if not path.is_dir()]:
                wrong += f" files left: {files}"
        except subprocess.TimeoutExpired:
            wrong = f"no answer within {PATIENCE} s"
        finally:
            for pid in of_session(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.kill()
            process.communicate()
    return lines, wrong


def ends_well(lines: list[str], wrong: str, first: str) -> tuple[str, float]:
    """What was wrong, and how many seconds the answer took."""
    words = lines[0].split() if lines else []
    if not wrong and (not words or words[0] != first or lines[-1] != "next"):
        wrong = f"it said {lines}"
    return wrong, float(words[1]) if len(words) == 2 and not wrong else 0.0


def workers(tries: int, seed: int = 0) -> Result:
    """Kill a worker of a DataLoader at ten stages: one error that names it, then a new loader works."""
    result, slowest = Result(), 0.0
    for i in range(tries):
        stage = list(STAGES)[i % len(STAGES)]
        dataset, batches, options = STAGES[stage]
        how = ("SIGKILL", "SIGTERM")[i // len(STAGES) % 2]
        text = KILL.format(
            dataset=dataset, batches=batches, options={"num_workers": 2, **options}, signal=how
        )
        wrong, seconds = ends_well(*run(text), "refused")
        slowest = max(slowest, seconds)
        result.add(wrong and f"{stage}, {how}: {wrong}")
    result.notes.append(f"slowest answer {slowest:.1f} s")
    return result


def servers(tries: int, seed: int = 0) -> Result:
    """Kill the server that starts workers, or Python's resource tracker: the next loader works."""
    result, slowest = Result(), 0.0
    for i in range(tries):
        victim, how = ("server", "tracker")[i % 2], ("SIGKILL", "SIGTERM")[i // 2 % 2]
        text = SERVER.format(victim=victim, signal=how, seconds=(0.0, 0.01)[i // 4 % 2])
        wrong, seconds = ends_well(*run(text), "refused")
        slowest = max(slowest, seconds)
        result.add(wrong and f"{victim}, {how}: {wrong}")
    result.notes.append(f"slowest answer {slowest:.1f} s")
    return result


def interrupts(tries: int, seed: int = 0) -> Result:
    """Interrupt a training with workers at a random moment, every second time the whole group."""
    draw, result = random.Random(seed), Result()
    for i in range(tries):
        group, wait = bool(i % 2), draw.random() * 0.6

        def act(process, group=group, wait=wait):
            time.sleep(wait)
            (os.killpg if group else os.kill)(process.pid, signal.SIGINT)

        lines, wrong = run(TRAIN, act)
        if not wrong and lines != ["begun", "interrupted", "next"]:
            wrong = f"it said {lines}"
        result.add(wrong and f"try {i}, after {wait:.3f} s, {'group' if group else 'process'}: {wrong}")
    return result
