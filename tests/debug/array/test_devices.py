"""Simulated devices, and arrays of a stand-in for cupy that refuses what cupy refuses: same record, one transfer.

The stand-in computes by numpy: it proves which calls are made and how often something crosses, not what a GPU computes.
"""

import numpy as np
import pytest

import vistorch
from tests.cuda.conftest import clean, install, strict_cupy, strict_gpu  # noqa: F401  fixtures
from tests.cuda.strict_array import Array
from tests.debug.array.arrays import exactly
from vistorch.debug.array import on_device, parameter, record, tile
from vistorch.debug.array.blocks import choose_block
from vistorch.debug.array.item import Wishes, make_item
from vistorch.debug.array.measure import measure
from vistorch.debug.array.on_device import measure_there
from vistorch.debug.array.scales import scales_for
from vistorch.debug.array.source import source_of
from vistorch.engine.core.tensor import wrap

KINDS = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


@pytest.fixture
def gpu(strict_gpu, monkeypatch):  # noqa: F811
    """The stand-in, with everything that crosses to the host listed."""
    crossed = []

    def asnumpy(a, order="C"):
        crossed.append(a.nbytes)
        return np.array(a._a, order=order)

    def refuse(*args, **kwargs):
        raise AssertionError("the device was waited for")

    for name in ("__bool__", "__int__", "__float__", "item", "tolist", "get", "nonzero"):
        monkeypatch.setattr(Array, name, refuse)
    monkeypatch.setattr(strict_gpu.xp, "asnumpy", asnumpy)
    return strict_gpu.xp, crossed


def arrays(kind, rng):
    for shape in ((7, 9), (300, 40), (5, 6, 7), (), (50,)):
        x = rng.standard_normal(shape) * 20
        yield np.asarray(x > 0 if kind == "?" else x.clip(0 if kind[0] == "u" else -100, 100)).astype(kind)
    x = (rng.random((40, 30)) * 100).astype(kind)
    yield x.T
    yield x[::-2, 1::3]
    yield np.broadcast_to(x[:1], (6, 30))
    if kind[0] == "f":
        x[3, 4], x[5, 6], x[7, :3] = np.nan, np.inf, -np.inf
        yield x
        yield np.broadcast_to(x[:, 4:5], (40, 9))
        yield np.full((3, 3), np.nan, kind)


@pytest.mark.parametrize("piece", [10**6, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_is_measured_with_one_transfer(gpu, kind, piece, monkeypatch):
    xp, crossed = gpu
    monkeypatch.setattr(on_device, "PIECE", piece)
    for x in arrays(kind, np.random.default_rng(3)):
        block = choose_block(x.shape, 60, tuple(range(x.ndim))[-2:])
        there = measure_there(xp, Array.around(x), block)
        here = measure(x, block)
        assert len(crossed) == 1
        crossed.clear()
        a, b = vars(there.stats), vars(here.stats)
        for name in a:
            if name in ("mean", "std"):
                np.testing.assert_allclose(a[name] or 0, b[name] or 0, rtol=1e-12, atol=1e-12)
            elif name in ("argmin", "argmax"):
                assert (a[name] is None) == (b[name] is None)
                if a[name] is not None:
                    assert exactly(x.reshape(-1))[a[name]] == exactly(x.reshape(-1))[b[name]]
            elif name == "median" and b[name] is not None:
                assert a[name] == pytest.approx(b[name], rel=2**-24)
            else:
                assert a[name] == b[name], name
        assert np.array_equal(there.cells, here.cells, equal_nan=kind[0] == "f")
        assert there.bad.at.tolist() == here.bad.at.tolist()
        assert there.bad.which.tolist() == here.bad.which.tolist()
        flat = x.reshape(-1).astype(np.float64)
        flat = flat[np.isfinite(flat)]
        for scale in scales_for(there.stats, there.spread)[0]:
            below = [(flat < e).sum() for e in scale.edges[1:-1]]
            seen = np.diff([(flat < scale.lo).sum(), *below, flat.size - (flat > scale.hi).sum()])
            assert scale.counts.tolist() == seen.tolist()


def test_only_the_overview_crosses(gpu, strict_gpu):  # noqa: F811
    crossed = gpu[1]
    x = np.random.default_rng(0).standard_normal((1500, 1500)).astype(np.float32)
    t = wrap(Array.around(x), strict_gpu)
    item = make_item(source_of(t, text=False), Wishes())
    assert len(crossed) == 1 and crossed[0] < x.nbytes / 6
    assert item.device == "cuda:0" and item.layers[0].stats.max == x.max()
    crossed.clear()
    assert tile(t, [0, 0], [1500, 1500], [10, 10]).shape == (150, 150)
    assert len(crossed) == 1 and crossed[0] < x.nbytes / 6


def test_doubles_that_float32_cannot_hold_are_measured_on_the_host(gpu):
    xp, _ = gpu
    for x in (np.array([1e300, 2.0]), np.array([1e-300, 2.0]), np.array([1e-200, -1e-201])):
        assert measure_there(xp, Array.around(x), (1,)) is None


def test_simulated_devices():
    vistorch.cuda.simulate(2)
    try:
        x = vistorch.randn(3, 4, device="cuda:1", requires_grad=True)
        r = record(x)
        assert r.items[0].device == "cuda:1 (simulated)" and r.text() == repr(x)
        assert np.array_equal(r.items[0].layers[0].cells(), x.detach().cpu().numpy())
        (x * x).sum().backward()
        assert [i.device for i in parameter(x, x.grad, None).items] == ["cuda:1 (simulated)"] * 2
    finally:
        vistorch.cuda.simulate(0)


def test_an_array_of_cupy_is_taken_as_it_is(strict_gpu):  # noqa: F811
    x = Array.around(np.arange(6.0).reshape(2, 3))
    r = record(x)
    assert r.items[0].device == "cuda:0" and r.items[0].layers[0].cells().tolist() == [[0, 1, 2], [3, 4, 5]]
