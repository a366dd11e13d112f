"""How workers end: by themselves, by violence, with their iterator, with the main process. Nothing stays behind."""

import contextlib
import ctypes
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import pytest

import vistorch
from vistorch.utils.data import DataLoader, Dataset
from vistorch.utils.data._workers import launch

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="counts by /proc"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.timeout(120),
]
PATIENCE = 60.0  # seconds until a test gives up: a loaded machine is slow


def processes():
    """The parent of every process that runs."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    found[int(name)] = int(parent)
    return found


def runs(pid):
    return pid in processes()


def wait_until(happened):
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def here():
    """What this process holds: child processes, those of its server too, threads, descriptors, shared mappings."""
    gc.collect()
    servers = {server._forkserver_pid for server in launch._servers.values()}
    with open("/proc/self/maps") as maps:
        rings = sum("vistorch-" in line for line in maps)
    return (
        {pid for pid, parent in processes().items() if parent in {os.getpid(), *servers}} - servers,
        threading.active_count(),
        {os.readlink(f"/proc/self/fd/{fd}") for fd in descriptors()},
        len(descriptors()),
        rings,
    )


def descriptors():
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the one that lists them is closed by now
            os.readlink(f"/proc/self/fd/{fd}")
            found.append(fd)
    return found


@pytest.fixture(params=["ours", "fork"])
def context(request):
    return None if request.param == "ours" else "fork"


@pytest.fixture(autouse=True)
def nothing_stays(request):
    next(iter(DataLoader(range(2), num_workers=1)))  # the server runs from now on
    before = here()
    yield
    wait_until(lambda: here()[0] <= before[0])
    after = here()
    assert after[1] == before[1], "a thread stays"
    assert after[3] == before[3], f"a descriptor stays: {sorted(after[2] - before[2])}"
    assert after[4] == before[4], "shared memory stays mapped"


def images():
    """Samples so large that batches are lent."""

    class Images(Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            return vistorch.full((50_000,), float(i))

    return Images()


def doing(act, at=2):
    """A dataset that does something at one of its samples."""

    class Acts(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            if i == at:
                act()
            return i

    return Acts()


def text_of(error):
    return "".join(traceback.format_exception(error))


def ended_by(act, context, number=2):
    loader = DataLoader(doing(act), num_workers=number, multiprocessing_context=context)
    it = iter(loader)
    pids = [process.pid for process in it._workers]
    with pytest.raises(RuntimeError) as caught:
        list(it)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)  # and it stays so: to go on would be to leave samples out
    assert not any(map(runs, pids))
    return str(caught.value), text_of(caught.value), pids


def test_a_worker_that_exits(context):
    said, whole, pids = ended_by(lambda: os._exit(3), context)
    assert said == f"DataLoader worker (pid(s) {pids[0]}) exited unexpectedly"
    assert f"DataLoader worker (pid {pids[0]}) exited unexpectedly with exit code 3." in whole


def test_a_worker_that_is_killed(context):
    said, whole, pids = ended_by(lambda: os.kill(os.getpid(), signal.SIGKILL), context)
    assert said == f"DataLoader worker (pid(s) {pids[0]}) exited unexpectedly"
    assert f"DataLoader worker (pid {pids[0]}) is killed by signal: Killed." in whole


def test_a_worker_that_crashes_says_where(context):
    def crash_here():
        ctypes.string_at(1)

    _, whole, pids = ended_by(crash_here, context)
    assert f"DataLoader worker (pid {pids[0]}) is killed by signal: Segmentation fault." in whole
    assert "in crash_here" in whole


def test_a_worker_that_leaves_by_sys_exit():
    _, whole, _ = ended_by(lambda: sys.exit(4), None, number=1)
    assert "exit code 4" in whole


def test_what_came_before_the_end_is_not_lost():
    it = iter(DataLoader(doing(lambda: os._exit(1), at=2), num_workers=1, prefetch_factor=3))
    wait_until(lambda: not it._workers[0].is_alive())
    assert [next(it).item(), next(it).item()] == [0, 1]
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)


def test_a_worker_killed_between_epochs():
    loader = DataLoader(range(4), num_workers=2, persistent_workers=True)
    assert len(list(loader)) == 4
    os.kill(loader._iterator._workers[1].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)
    assert len(list(loader)) == 4  # a new epoch, new workers


def test_the_server_is_killed():
    it = iter(DataLoader(doing(lambda: threading.Event().wait(), at=0), num_workers=1))
    (server,) = launch._servers.values()
    os.kill(server._forkserver_pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)
    del it
    assert [x.item() for x in DataLoader(range(2), num_workers=1)] == [0, 1]


def test_a_server_that_dies_is_replaced_when_it_no_longer_answers(monkeypatch):
    server = launch._server()

    def refuse(fds):
        monkeypatch.undo()
        os.kill(server._forkserver_pid, signal.SIGKILL)
        raise ConnectionRefusedError

    monkeypatch.setattr(server, "connect_to_new_process", refuse)
    assert [x.item() for x in DataLoader(range(2), num_workers=1)] == [0, 1]


def test_a_server_that_dies_is_replaced_when_it_has_taken_the_luggage():
    before = launch._server()._forkserver_pid
    os.kill(before, signal.SIGSTOP)
    killer = threading.Timer(0.2, os.kill, (before, signal.SIGKILL))
    killer.start()
    assert [x.item() for x in DataLoader(range(2), num_workers=1)] == [0, 1]
    killer.join()
    assert launch._server()._forkserver_pid != before


def test_a_living_server_that_refuses_is_no_reason_to_wait_for_ever(monkeypatch):
    def refuse(fds):
        raise ConnectionRefusedError("no")

    monkeypatch.setattr(launch._server(), "connect_to_new_process", refuse)
    with pytest.raises(ConnectionRefusedError):
        next(iter(DataLoader(range(2), num_workers=1)))


def test_timeout():
    loader = DataLoader(doing(lambda: threading.Event().wait(), at=0), num_workers=1, timeout=0.2)
    with pytest.raises(RuntimeError, match=r"^DataLoader timed out after 0\.2 seconds$"):
        next(iter(loader))


@pytest.mark.parametrize("persistent", [False, True])
def test_a_loop_that_is_left(context, persistent):
    for _ in DataLoader(
        images(),
        batch_size=8,
        num_workers=2,
        persistent_workers=persistent,
        multiprocessing_context=context,
    ):
        break


def test_an_exception_in_the_loop():
    with contextlib.suppress(ZeroDivisionError):
        for _ in DataLoader(images(), batch_size=8, num_workers=2):
            1 / 0  # noqa: B018


def test_an_iterator_that_is_let_go():
    it = iter(DataLoader(images(), batch_size=8, num_workers=2))
    pids = [process.pid for process in it._workers]
    next(it)
    del it
    assert not any(map(runs, pids))  # by reference counts alone, and waited for


def test_an_iterator_that_was_not_begun():
    iter(DataLoader(images(), batch_size=8, num_workers=1))


def test_a_loader_with_workers_that_stay_is_let_go():
    loader = DataLoader(images(), batch_size=8, num_workers=1, persistent_workers=True)
    for _ in range(2):
        assert sum(len(x) for x in loader) == 64
    (worker,) = loader._iterator._workers
    pid = worker.pid
    assert runs(pid)
    del loader
    assert not runs(pid)


def test_epochs_that_are_left_early_and_begun_again():
    loader = DataLoader(images(), batch_size=8, num_workers=2, persistent_workers=True)
    for _ in range(3):
        for i, x in enumerate(loader):
            assert x[:, 0].tolist() == [float(8 * i + k) for k in range(8)]
            if i == 2:
                break
    assert [int(x[0, 0]) for x in loader] == list(range(0, 64, 8))


def test_a_worker_that_cannot_be_started(monkeypatch):
    started = []

    def start(process):
        if started:
            raise OSError("no more processes")
        started.append(process)
        process.start()

    monkeypatch.setattr(launch, "start", start)
    with pytest.raises(OSError, match="no more processes"):
        iter(DataLoader(images(), num_workers=2))
    assert started


def test_a_worker_that_will_not_leave_is_ended(monkeypatch):
    from vistorch.utils.data._workers import worker_pool

    monkeypatch.setattr(worker_pool, "GRACE", 0.2)

    def stay():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1)

    it = iter(DataLoader(doing(stay, at=1), num_workers=1))
    (worker,) = it._workers
    pid = worker.pid
    next(it)
    del it, worker
    assert not runs(pid)


def test_a_stopped_worker_is_ended(monkeypatch):
    from vistorch.utils.data._workers import worker_pool

    monkeypatch.setattr(worker_pool, "GRACE", 0.2)
    it = iter(DataLoader(range(10), num_workers=1))
    pid = it._workers[0].pid
    os.kill(pid, signal.SIGSTOP)
    del it
    assert not runs(pid)


# ---- other main processes --------------------------------------------------------------------------------------
PRELUDE = """
import os, signal, sys, time
import vistorch
from vistorch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __init__(self, seconds=0.0):
        self.seconds = seconds
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(self.seconds)
        return vistorch.full((30_000,), float(i))

def say(*words):
    print(*words, flush=True)
"""


@contextlib.contextmanager
def program(text):
    """A main process of its own, in a session of its own: not guarded by `if __name__ == "__main__"`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore::UserWarning", "-c", PRELUDE + textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def pids_from(process):
    return [int(word) for word in process.stdout.readline().split()]


def test_the_end_of_the_interpreter():
    with program(
        """
        loaders = [DataLoader(Slow(), num_workers=1, persistent_workers=p) for p in (False, True)]
        its = [iter(loader) for loader in loaders]
        batch = [next(it) for it in its]
        say(*[w.pid for it in its for w in it._workers])
        """
    ) as process:
        pids = pids_from(process)
        out, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, errors) == (0, "", "")
        assert len(pids) == 2
        wait_until(lambda: not any(map(runs, pids)))


@pytest.mark.parametrize("way", ["None", "'fork'", "'spawn'"])
def test_the_main_process_is_killed(way):
    with program(
        f"""
        its = [iter(DataLoader(Slow(1000.0 * k), num_workers=2, multiprocessing_context={way})) for k in (0, 1)]
        next(its[0])
        say(*[w.pid for it in its for w in it._workers])
        time.sleep(1000)
        """
    ) as process:
        pids = pids_from(process)
        assert len(pids) == 4 and all(map(runs, pids))
        process.kill()
        wait_until(lambda: not any(map(runs, pids)))  # also those that sit in a sample for long


@pytest.mark.parametrize("when", ["waiting", "working"])
def test_an_interrupt(when):
    """The terminal sends it to the workers too; they do not mind."""
    body = "pass" if when == "waiting" else "say('begun'); time.sleep(1000)"
    with program(
        f"""
        it = iter(DataLoader(Slow(0.0 if {when!r} == "working" else 1000.0), num_workers=2, batch_size=2))
        pids = [w.pid for w in it._workers]
        try:
            say(*pids)
            for x in it:
                {body}
        except KeyboardInterrupt:
            say("interrupted")
        if {when!r} == "working":
            say("goes on with", int(next(it)[0, 0]))
        del it
        say(*[os.path.exists(f"/proc/{{pid}}") for pid in pids])
        """
    ) as process:
        pids = pids_from(process)
        if when == "working":
            assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
        expected = ["interrupted", *(["goes on with 2"] if when == "working" else []), "False False"]
        assert (out.splitlines(), errors, process.returncode) == (expected, "", 0)
        assert not any(map(runs, pids))


def test_a_fork_of_the_main_process_leaves_its_workers_alone():
    with program(
        """
        it = iter(DataLoader(Slow(), num_workers=1))
        next(it)
        child = os.fork()
        if child == 0:
            del it  # not its own
            say("child", [int(x[0, 0]) for x, _ in zip(DataLoader(Slow(), num_workers=1), range(2))])
            os._exit(0)
        os.waitpid(child, 0)
        say("parent", int(next(it)[0, 0]))
        """
    ) as process:
        out, errors = process.communicate(timeout=PATIENCE)
        assert (out.splitlines(), errors) == (["child [0, 1]", "parent 1"], "")


def test_a_script_without_a_guard_runs_once(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        PRELUDE + 'say("once")\nsay(sum(1 for _ in DataLoader(Slow(), batch_size=500, num_workers=2)))\n'
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert (done.stdout.split(), done.stderr, done.returncode) == (["once", "2"], "", 0)
