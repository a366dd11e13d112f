"""Memory that other processes can see: who moves there with a tensor, what stays as it was, and what is given back."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import weakref

import pytest

import vistorch
from tests.story import story
from vistorch import nn, optim
from vistorch.engine.memory import memory_users
from vistorch.engine.memory.shared_memory import ledger


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@story
def test_all_that_share_the_memory_move(L, report):
    x = L.arange(12.0).reshape(3, 4)
    row, turned, same, storage = x[1], x.t(), x.detach(), x.untyped_storage()
    report(x.is_shared(), storage.is_shared(), x.share_memory_() is x)
    for t in (x, row, turned, same, storage):
        report(t.is_shared())
    x.fill_(7)
    row[2] = 1
    report(x, row, turned, same, storage.nbytes(), row.storage_offset(), turned.stride())
    report(row.untyped_storage().data_ptr() == x.data_ptr() == storage.data_ptr())


@story
def test_moving_through_a_view_or_a_storage(L, report):
    x = L.zeros(4, 4)
    x[1:3, 1:3].share_memory_()
    report(x.is_shared())
    y = L.ones(3)
    storage = y.untyped_storage()
    report(storage.share_memory_() is storage, y.is_shared(), L.UntypedStorage._new_shared(4).is_shared())
    y[0] = 5
    report(storage.tolist(), y)


@story
def test_what_a_tensor_is_does_not_change(L, report):
    w = L.ones(2, 3, requires_grad=True)
    y = w * 2
    y.share_memory_()
    report(y.grad_fn is not None, y.requires_grad, y.is_shared(), w.is_shared())
    y.sum().backward()
    report(w.grad, w.share_memory_().is_leaf, w.grad.is_shared())
    for t in (L.tensor(3.0), L.empty(0), L.empty(0, 3), L.ones(3, dtype=L.bfloat16), L.ones(2).expand(3, 2)):
        before = t.stride()
        report(t.is_shared(), t.share_memory_().is_shared(), t, t.shape, t.stride() == before)


def test_parameters_stay_the_objects_an_optimizer_holds():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    held = list(net.parameters())
    net.share_memory()
    assert all(a is b for a, b in zip(held, net.parameters(), strict=True))
    assert all(t.is_shared() for t in (*net.parameters(), *net.buffers()))


def test_a_parameter_nobody_else_looks_at_costs_no_search(monkeypatch):
    looked = []
    monkeypatch.setattr(memory_users, "_holders", lambda root: looked.append(root) or [])
    net = nn.Linear(3, 4)
    net.share_memory()
    assert not looked and net.weight.is_shared()
    alias = net.bias.detach()
    monkeypatch.undo()
    other = vistorch.ones(3)
    shown = other.detach()
    other.share_memory_()
    assert shown.is_shared() and alias.is_shared()


@pytest.mark.parametrize(
    "name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam"]
)
def test_optimizers_write_the_shared_memory(name):
    p = nn.Parameter(vistorch.ones(5))
    p.share_memory_()
    seen_elsewhere = vistorch.Tensor.detach(p)
    optimizer = getattr(optim, name)([p], lr=0.1)
    for _ in range(3):
        (p * p).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert p.is_shared() and p.data_ptr() == seen_elsewhere.data_ptr()
    assert bool((seen_elsewhere < 1).all())


def test_in_place_ops_and_loading_write_the_shared_memory():
    net = nn.Linear(2, 2)
    net.share_memory()
    place = net.weight.data_ptr()
    with vistorch.no_grad():
        net.weight.mul_(2).add_(1).clamp_(0, 1)
        net.weight[0] = 3
        net.weight.data.copy_(vistorch.zeros(2, 2))
    net.load_state_dict(nn.Linear(2, 2).state_dict())
    assert net.weight.data_ptr() == place and net.weight.is_shared()


def test_copies_are_not_shared():
    x = vistorch.arange(3.0).share_memory_()
    for made in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x + 0):
        assert not made.is_shared() and bool((made == x).all())
        made[0] = 9
    assert x[0] == 0


def mappings():
    with open("/proc/self/maps") as maps:
        return sum("vistorch" in line for line in maps)


def test_memory_is_given_back_by_reference_counts():
    gc.collect()
    gc.disable()
    try:
        before, mapped = descriptors(), mappings()
        large = [vistorch.ones(1 << 19).share_memory_() for _ in range(5)]
        assert descriptors() == before + 5
        part = large[0][7:]
        del large
        assert descriptors() == before + 1 and part.sum() == part.numel()
        assert mappings() == mapped + 1
        del part
        assert descriptors() == before and mappings() == mapped
    finally:
        gc.enable()


def test_nobody_comes_by_memory_that_is_being_given_back():
    """Another thread may ask for the segment while its mapping is undone: it must have been forgotten by then."""
    segment = ledger.new(1 << 22).segment
    known, forgotten = weakref.ref(segment), []
    segment._mapping._close = lambda fd: forgotten.append((known() is None, os.close(fd)))
    del segment
    assert forgotten == [(True, None)]


def test_small_tensors_share_a_descriptor():
    gc.collect()
    before = descriptors()
    small = [vistorch.full((100,), float(i)).share_memory_() for i in range(500)]
    assert descriptors() <= before + 1
    assert all(bool((t == i).all()) for i, t in enumerate(small))
    del small
    assert descriptors() == before


def test_the_limit_of_open_files_is_raised_where_it_may_be():
    program = """
import resource, vistorch
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 120))
kept = [vistorch.ones(1 << 19).share_memory_() for _ in range(80)]
try:
    for _ in range(80):
        kept.append(vistorch.ones(1 << 19).share_memory_())
except RuntimeError as error:
    print(len(kept) > 80, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.startswith(
        "True Too many open files. Communication with the workers is no longer possible."
    )


def test_a_cuda_tensor_is_always_shared():
    vistorch.cuda.simulate(1)
    try:
        x = vistorch.ones(2, device="cuda")
        assert x.is_shared() and x.share_memory_() is x and x.untyped_storage().is_shared()
    finally:
        vistorch.cuda.simulate(None)


def test_an_uninitialized_parameter_is_not():
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
        nn.LazyLinear(3).share_memory()
