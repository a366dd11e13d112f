"""Checks of what docs/differences.md says of workers and other processes.

Invariant: a check runs at module level what a worker has to import; each loader of PyTorch that would wait has a limit.
"""

import ast
import os
import signal
import string
import threading
import time
import warnings
from pathlib import Path

import pytest
import torch

import vistorch

from .sentences import claims, message

ROOT = Path(__file__).resolve().parents[2]


class Reports:
    """Two items that say where they were read."""

    def __init__(self, also=None):
        self.also = also

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return [os.getppid(), int(hasattr(string, "marked_by_a_test")), vistorch.cuda.device_count()]


class Unsendable(Reports):
    """Items that no pipe takes."""

    def __getitem__(self, index):
        return threading.Lock()


class Interrupted(Reports):
    """Items behind an interrupt."""

    def __getitem__(self, index):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return index


class Dies(Reports):
    """The worker of the odd items ends."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index % 2:
            os._exit(1)
        return index


def batches(L, dataset, **options):
    """Return an iterator over the batches, by workers."""
    limit = (
        {"timeout": 1} if L is torch else {}
    )  # it looks for dead workers every five seconds, or at the limit
    return iter(L.utils.data.DataLoader(dataset, **{"num_workers": 1, "batch_size": 2, **limit, **options}))


@claims(
    "Workers of a `DataLoader` are started by a server, which itself starts with the loader, and get a copy of the"
    " dataset (on Linux; elsewhere they are spawned, as PyTorch's are)."
)
@claims("A change of a global that the dataset does not refer to is not seen there.")
@claims("They never see a CUDA device.")
def workers():
    string.marked_by_a_test = True
    vistorch.cuda.simulate(2)
    try:
        ours, theirs = (next(batches(L, Reports())) for L in (vistorch, torch))
    finally:
        del string.marked_by_a_test
        vistorch.cuda.simulate(None)
    assert ours[0].tolist() != [os.getpid()] * 2 and theirs[0].tolist() == [os.getpid()] * 2
    assert ours[1].tolist() == [0, 0] and theirs[1].tolist() == [1, 1]
    assert ours[2].tolist() == [0, 0] and theirs[2].tolist() == [2, 2]


@claims("If something cannot be pickled, the workers are forks, with a warning.")
def forks():
    for L in (vistorch, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            parents = next(batches(L, Reports(threading.Lock())))[0].tolist()
        said = [one for one in caught if "cannot be sent to other processes" in str(one.message)]
        assert parents == [os.getpid()] * 2 and bool(said) is (L is vistorch)


@claims("An interrupt does not end them.")
def interrupts():
    assert next(batches(vistorch, Interrupted())).tolist() == [0, 1]
    assert "exited unexpectedly" in message(next, batches(torch, Interrupted()))


@claims("A batch that cannot be sent is an error, where PyTorch waits forever.")
def unsendable():
    said = message(next, batches(vistorch, Unsendable(), batch_size=None))
    assert "cannot pickle '_thread.lock' object" in said
    assert "timed out after 1 seconds" in message(next, batches(torch, Unsendable(), batch_size=None))


@claims("After a worker has died, the iterator does not go on.")
def dead_worker():
    def later(L):
        iterator = batches(L, Dies(), num_workers=2, batch_size=1)
        while "exited unexpectedly" not in message(next, iterator):
            pass
        return [message(next, iterator)[:12] for _ in range(2)]

    assert later(vistorch) == ["RuntimeError"] * 2
    # Whether PyTorch's other worker gets through is a race.
    assert any("" in later(torch) for _ in range(20))


@claims("Data pipes (`IterDataPipe` and similar) are not here.")
def data_pipes():
    assert isinstance(vistorch.utils.data.IterDataPipe, type) and hasattr(torch.utils.data, "IterDataPipe")
    with pytest.raises(NotImplementedError, match="IterDataPipe is not built"):
        vistorch.utils.data.IterDataPipe()


def tested_in(path, *names):
    """Say that tests elsewhere run what a sentence says; they start processes, which is not done twice."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert set(names) <= there, f"{path} has no {set(names) - there}"


@claims("Between processes small tensors share one file descriptor.")
def descriptors():
    vistorch.ones(2).share_memory_()
    grown = []
    for L in (vistorch, torch):
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        kept = [L.ones(2).share_memory_() for _ in range(20)]
        grown.append(len(os.listdir("/proc/self/fd")) - before if before else 20 * (L is torch))
        del kept
    assert grown[0] <= 1 and grown[1] - grown[0] > 10
    tested_in("tests/multiprocessing/test_sharing.py", "test_small_tensors_share_a_descriptor")


@claims("Both sharing strategies do the same, and nothing is ever put into `/dev/shm`.")
def strategies():
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    kept = vistorch.multiprocessing.get_sharing_strategy()
    for strategy in sorted(vistorch.multiprocessing.get_all_sharing_strategies()):
        vistorch.multiprocessing.set_sharing_strategy(strategy)
        shared = vistorch.ones(1 << 20).share_memory_()
        assert shared.is_shared()
        assert not before or not {name for name in os.listdir("/dev/shm") if "torch" in name} - before
    vistorch.multiprocessing.set_sharing_strategy(kept)
    assert (
        torch.multiprocessing.get_all_sharing_strategies()
        == vistorch.multiprocessing.get_all_sharing_strategies()
    )
    tested_in("tests/multiprocessing/test_travel.py", "test_strategies")


@claims(
    "A process may end before its tensors were received: it leaves them with its parent, as long as the "
    "parent joins it."
)
def outlives():
    tested_in("tests/multiprocessing/test_travel.py", "test_what_was_sent_outlives_its_sender")


@claims("A child started by `vistorch.multiprocessing` ends when its parent is killed.")
def orphans():
    tested_in("tests/multiprocessing/test_nothing_left.py", "test_nothing_is_left")


@claims("Functions and classes of a notebook cell can be sent.")
def cells():
    tested_in("tests/multiprocessing/test_notebook.py", "test_functions_and_classes_of_a_session")
