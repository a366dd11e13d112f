"""After a kill, a crash or an interrupt: no process, no file in /dev/shm, nothing else that has a name."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.campaigns.processes import of_session

PATIENCE = 60
MAIN = """
import vistorch, vistorch.multiprocessing as mp
from tests.multiprocessing import workers

if __name__ == "__main__":
    kept = [vistorch.ones(1 << 19).share_memory_(), vistorch.ones(3).share_memory_()]
    context = mp.get_context("METHOD")
    started = context.Semaphore(0)
    together = mp.start_processes(workers.pauses, (started,), nprocs=2, join=False, start_method="METHOD")
    alone = context.Process(target=workers.pauses, args=(0, started))
    alone.start()
    queue = context.Queue()
    queue.put(kept)
    pool = context.Pool(2)
    pool.map(workers.square, kept)
    for _ in range(3):
        started.acquire()
    print("ready", flush=True)
    HOW
"""
HOWS = {
    "killed": "workers.wait()",
    "interrupted": "workers.wait()",
    "crashed": "import os; os._exit(3)",
    "raised": "pool.terminate(); alone.kill(); [p.kill() for p in together.processes]; raise ValueError('over')",
}


def named_memory(pids):
    """The files in /dev/shm that processes have mapped or open."""
    names = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                if "/dev/shm/" in line:
                    names.add(line[line.index("/dev/shm/") :].removesuffix(" (deleted)"))
    return names


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("method", "how"), [*[("fork", how) for how in HOWS], ("spawn", "killed"), ("spawn", "interrupted")]
)
def test_nothing_is_left(method, how, tmp_path):
    script = tmp_path / "main.py"
    script.write_text(MAIN.replace("METHOD", method).replace("HOW", HOWS[how]))
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "TMPDIR": str(folder)}
    main = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=environment,
    )
    try:
        assert main.stdout.readline() == "ready\n"
        pids = of_session(main.pid)
        names = named_memory(pids)
        assert not any("vistorch" in name for name in names)
        if how == "killed":
            assert len(pids) >= 6
            main.kill()
        elif how == "interrupted":
            os.killpg(main.pid, signal.SIGINT)
        main.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while (left := of_session(main.pid)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not left, left
        assert not [name for name in names if os.path.exists(name)]
        assert not [path for path in folder.rglob("*") if "memory-" in path.name or path.is_socket()]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(main.pid, signal.SIGKILL)
        main.stdout.close()
        main.wait(PATIENCE)
