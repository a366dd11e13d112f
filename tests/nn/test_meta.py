"""Tensors without values: shapes, dtypes and modules on the meta device, in both libraries."""

import copy
import io
import resource

import pytest

import vistorch
from tests.story import story


@story
def test_what_they_say(L, report):
    x = L.empty(2, 3, device="meta")
    y = L.arange(4, device="meta")
    for t in (x, x + 1, y, x > 0, x.sum(), x.half().t(), L.nn.Parameter(x), L.empty(0, device="meta")):
        report(repr(t), str(t.dtype), tuple(t.stride()), t.is_meta, t.is_cpu, str(t.device), t.data_ptr())
    report(format(x.sum()), str(L.device("meta").index))


@story
def test_where_they_come_from(L, report):
    for make in (
        lambda: L.zeros(2, device="meta"),
        lambda: L.full((2, 1), 3.0, device="meta"),
        lambda: L.randn(2, 3, device="meta"),
        lambda: L.randperm(4, device="meta"),
        lambda: L.tensor([1.0], device="meta"),
        lambda: L.ones(2, 3).t().to("meta"),
        lambda: L.ones(2, requires_grad=True).to(device="meta"),
        lambda: L.empty_like(L.ones(2, dtype=L.int32), device="meta"),
        lambda: copy.deepcopy(L.ones(2, device="meta")),
    ):
        t = make()
        report(repr(t), tuple(t.stride()))
    with L.device("meta"):
        report(repr(L.ones(2)), L.nn.Linear(2, 3).weight.is_meta)


@story
def test_values_are_refused(L, report):
    x = L.ones(1, device="meta")
    report.raises(lambda: x.item())
    report.raises(lambda: float(x))
    report.raises(lambda: bool(x))
    report.raises(lambda: x.tolist())
    report.raises(lambda: x.numpy())
    report.raises(lambda: x.cpu())
    report.raises(lambda: x.to("cpu"))
    report.raises(lambda: L.ones(1).copy_(x))
    report.raises(lambda: L.nn.Linear(2, 2, device="meta").to("cpu"))


@story
def test_modules(L, report):
    net = L.nn.Sequential(
        L.nn.Conv2d(3, 4, 3, device="meta"),
        L.nn.BatchNorm2d(4, device="meta"),
        L.nn.Dropout(),
        L.nn.Flatten(),
        L.nn.Linear(144, 2, device="meta"),
    )
    out = net(L.empty(2, 3, 8, 8, device="meta"))
    out.sum().backward()
    report(repr(out.detach()), [repr(p.grad) for p in net.parameters()])
    report(tuple(L.nn.LSTM(3, 4, device="meta")(L.empty(5, 2, 3, device="meta"))[0].shape))
    words = L.zeros(2, dtype=L.long, device="meta")
    report(tuple(L.nn.Embedding(5, 3, device="meta")(words).shape))
    layer = L.nn.TransformerEncoderLayer(8, 2, device="meta")
    report(tuple(layer(L.empty(2, 3, 8, device="meta")).shape))
    L.manual_seed(0)
    given = L.nn.Linear(3, 2)
    empty = L.nn.Linear(3, 2, device="meta")
    report(str(empty.load_state_dict(given.state_dict(), assign=True)))
    report(empty.weight, empty(L.ones(1, 3)))
    report(L.nn.Linear(3, 2, device="meta").to_empty(device="cpu").weight.is_meta)


@story
def test_nothing_is_drawn_or_written(L, report):
    L.manual_seed(0)
    x = L.empty(3, device="meta")
    L.nn.init.normal_(x)
    x.uniform_().fill_(3).zero_().copy_(L.ones(3))
    L.randn(3, device="meta")
    L.nn.functional.dropout(x)
    L.nn.Linear(3, 3, device="meta")
    report(L.rand(2), repr(x))


def test_a_net_larger_than_the_memory_takes_none():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with vistorch.device("meta"):
        net = vistorch.nn.Sequential(*[vistorch.nn.Linear(30_000, 30_000) for _ in range(10)])
    assert sum(p.numel() * 4 for p in net.parameters()) > 36e9
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_file_of_them_is_refused_with_a_sentence():
    with pytest.raises(NotImplementedError, match="a meta tensor has no data to save"):
        vistorch.save(vistorch.ones(1, device="meta"), io.BytesIO())
