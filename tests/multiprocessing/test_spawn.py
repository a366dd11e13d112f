"""`spawn`: processes that stand and fall together, with torch's sentences."""

import os
import pickle
import signal
import threading

import pytest

import vistorch
import vistorch.multiprocessing as mp
from tests.multiprocessing import workers

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
METHODS = ("fork", "spawn", "forkserver")


def alive(context):
    return [process for process in context.processes if process.is_alive()]


@pytest.mark.parametrize("method", METHODS)
def test_each_gets_its_number_and_the_shared_arguments(method):
    found = vistorch.zeros(2).share_memory_()
    assert mp.start_processes(workers.number, (found,), nprocs=2, start_method=method) is None
    assert found.tolist() == [1, 2]


def test_an_exception_ends_the_others_and_carries_its_traceback():
    started = mp.get_context("spawn").Semaphore(0)
    context = mp.spawn(workers.raises, (started,), nprocs=3, join=False)
    for _ in range(3):
        assert started.acquire(timeout=120)
    with pytest.raises(mp.ProcessRaisedException) as caught:
        while not context.join():
            pass
    text = str(caught.value)
    assert text.startswith(
        "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n"
    )
    assert 'in raises\n    raise ValueError("the second one")' in text and text.endswith(
        "ValueError: the second one\n"
    )
    assert caught.value.error_index == 1 and caught.value.error_pid == context.pids()[1]
    assert not alive(context)
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_an_exit_code_and_a_signal():
    with pytest.raises(mp.ProcessExitedException) as caught:
        mp.start_processes(workers.exits, (7,), nprocs=1, start_method="fork")
    assert str(caught.value) == "process 0 terminated with exit code 7" and caught.value.exit_code == 7
    with pytest.raises(mp.ProcessExitedException) as caught:
        mp.start_processes(workers.killed, nprocs=1, start_method="fork")
    assert str(caught.value) == "process 0 terminated with signal SIGKILL"
    assert (caught.value.exit_code, caught.value.signal_name) == (-signal.SIGKILL, "SIGKILL")
    assert pickle.loads(pickle.dumps(caught.value)).signal_name == "SIGKILL"


def test_a_traceback_longer_than_a_pipe():
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)Traceback.*\n\.\.\.\n.*xxx"):
        mp.start_processes(workers.talks_long, nprocs=1, start_method="fork")


def test_waiting_for_a_while():
    started = mp.get_context("fork").Semaphore(0)
    context = mp.start_processes(workers.pauses, (started,), nprocs=2, join=False, start_method="fork")
    assert context.join(timeout=0.01) is False and len(alive(context)) == 2
    for _ in range(2):
        assert started.acquire(timeout=120)
    context.processes[0].kill()
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL"):
        context.join(grace_period=0.01)
    assert not alive(context)


def test_an_interrupt_ends_them_all():
    started, seen = mp.get_context("fork").Semaphore(0), threading.Event()

    def interrupt():
        for _ in range(2):
            started.acquire(timeout=120)
        while not seen.wait(2):  # one that comes right after a fork may be lost in Python's own callbacks
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        mp.start_processes(workers.pauses, (started,), nprocs=2, start_method="fork")
    seen.set()
    thread.join()
    assert not mp.active_children()


def test_old_names_and_wrong_ones():
    with pytest.warns(FutureWarning, match=r"This method only supports start_method=spawn \(got: fork\)"):
        mp.spawn(workers.number, (vistorch.zeros(1),), start_method="fork")
    with pytest.warns(UserWarning, match=r"SpawnContext is renamed to ProcessContext since 1.4 release."):
        assert mp.SpawnContext([], []).join()


def test_no_update_is_lost_to_a_copy():
    p = vistorch.nn.Parameter(vistorch.zeros(1000)).share_memory_()
    lock = mp.get_context("spawn").Lock()
    mp.spawn(workers.add_ones, (p, lock, 50), nprocs=4)
    assert bool((p == 200).all())


def test_hogwild_learns():
    vistorch.manual_seed(0)
    net = vistorch.nn.Sequential(vistorch.nn.Linear(3, 16), vistorch.nn.Tanh(), vistorch.nn.Linear(16, 1))
    net.share_memory()
    x = vistorch.randn(200, 3)

    def loss():
        with vistorch.no_grad():
            return vistorch.nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).item()

    before = loss()
    mp.start_processes(workers.learn, (net, 150), nprocs=4, start_method="fork")
    assert loss() < before / 10, (before, loss())
    assert all(p.grad is None and p.is_shared() for p in net.parameters())
