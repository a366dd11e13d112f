"""Several arrays: names, how they are written, shares of the budget; one parameter with gradient and update."""

import tracemalloc

import numpy as np
import pytest

import vistorch
from tests.debug.array.test_record import belongs, walk
from vistorch import nn
from vistorch.debug.array import build, parameter, strip
from vistorch.debug.updates import forget, remember
from vistorch.widgets._frame import bundles, wire


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 5)
        self.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.LayerNorm(16))
        self.table = nn.Embedding(10, 4)
        self.own = nn.Parameter(vistorch.ones(2, 2))


def test_a_module_shows_its_parameters_by_path():
    r = strip(Net(), name="net", index="net")
    walk(r.wire())
    assert r.layout == "strip" and r.title == "net"
    assert [(i.name, i.index, i.dims) for i in r.items] == [
        ("own", "net.own", ("axis 0", "axis 1")),
        ("conv.weight", "net.conv.weight", ("out", "in", "kh", "kw")),
        ("conv.bias", "net.conv.bias", ("out",)),
        ("head.0.weight", "net.head[0].weight", ("out", "in")),
        ("head.0.bias", "net.head[0].bias", ("out",)),
        ("head.2.weight", "net.head[2].weight", ("feature",)),
        ("head.2.bias", "net.head[2].bias", ("feature",)),
        ("table.weight", "net.table.weight", ("entry", "feature")),
    ]


@pytest.mark.parametrize(
    ("module", "dims"),
    [
        (nn.ConvTranspose1d(2, 3, 4), [("in", "out", "k"), ("out",)]),
        (nn.Conv3d(1, 2, 3), [("out", "in", "kd", "kh", "kw"), ("out",)]),
        (nn.BatchNorm2d(3), [("feature",), ("feature",)]),
        (nn.Bilinear(2, 3, 4), [("out", "in1", "in2"), ("out",)]),
        (
            nn.GRU(2, 3),
            [("gate and hidden", "in"), ("gate and hidden", "hidden")] + [("gate and hidden",)] * 2,
        ),
        (nn.PReLU(), [("feature",)]),
    ],
)
def test_names_of_axes_of_known_modules(module, dims):
    assert [i.dims for i in strip(module).items] == dims


def test_dicts_and_lists_also_nested():
    things = {"a": vistorch.ones(2), "b": [np.zeros(3), {"<b>c</b>": 2.5}], "text": "no", "none": None}
    r = strip(things, index="d")
    walk(r.wire())
    assert [(i.name, i.index) for i in r.items] == [
        ("a", "d['a']"),
        ("b.0", "d['b'][0]"),
        ("b.1.<b>c</b>", "d['b'][1]['<b>c</b>']"),
    ]
    assert r.says == ["not shown, because they are no arrays: text, none"]


def test_what_holds_itself_ends():
    things = [vistorch.ones(1)]
    things.append(things)
    r = strip(things)
    assert len(r.items) == 1 and r.says == ["not shown, because they are no arrays: 1 (itself)"]


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="cannot show a int as a strip"):
        strip(3)
    assert strip({}).text() == "nothing to show"


def test_a_lazy_parameter_is_named_not_shown():
    r = strip(nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 1)))
    assert [i.name for i in r.items] == ["1.weight", "1.bias"]
    assert len(r.says) == 2 and r.says[0].startswith("0.weight: ")


def test_the_table():
    x = vistorch.tensor([[1.0, -2.0], [float("nan"), 5.0]])
    assert strip({"first\nline": x, "flags": vistorch.tensor([True, False])}).text().splitlines() == [
        "name        shape  dtype    min  max   mean     std",
        "first line  2 \N{MULTIPLICATION SIGN} 2  float32   -2    5  1.333   3.512  1 NaN",
        "flags       2      bool       0    1    0.5  0.7071",
    ]


def test_many_share_the_budget_and_the_rest_are_small():
    big = {f"w{i}": vistorch.randn(200, 200) for i in range(20)} | {
        f"b{i}": vistorch.randn(9) for i in range(10)
    }
    r = strip(big)
    walk(r.wire())
    full = [i for i in r.items if any(s.counts.size for s in i.layers[0].scales)]
    assert full == r.items[:24] and len(r.items) == 30
    sent = sum(a.nbytes for i in full for a in (i.layers[0].codes, i.layers[0].data) if a is not None)
    assert sent <= 50_000
    assert all(i.layers[0].exact for i in full if i.name[0] == "b")
    for small, x in zip(r.items[24:], list(big.values())[24:], strict=True):
        (scale,) = small.layers[0].scales
        assert small.layers[0].cells().shape == small.grid and 0 < np.prod(small.grid) <= 96
        assert (scale.lo, scale.hi) == (-scale.hi, pytest.approx(x.abs().max().item(), rel=1e-8))
    assert r.says == ["24 of 30 are drawn in full, 6 small: show one by itself for all of it"]


@pytest.mark.parametrize("count", [1, 15, 16, 30, 62, 400, 1500])
def test_a_network_of_any_size_is_shown_whole(count):
    """All parameters, in bounded bytes; none without its numbers."""
    r = strip(nn.Sequential(*[nn.Linear(5, 4) for _ in range(count)]))
    walk(r.wire())
    assert len(r.items) == 2 * count and all(i.layers[0].stats.max is not None for i in r.items)
    assert len(bundles.deflated(wire.pack("array", r.wire()))) < 350 * len(r.items) + 60_000
    pictures = sum(bool(i.layers[0].scales) for i in r.items)
    assert pictures == len(r.items) if count <= 400 else pictures == 24


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (7,), (130, 70), (5, 3, 40, 9), (0, 3)])
def test_a_small_item_has_the_numbers_of_a_full_one(kind, shape, monkeypatch):
    x = np.random.default_rng(0).standard_normal(shape) * 5
    if kind == "complex64":
        x = x + 1j * x[..., ::-1] if shape else np.asarray(x + 2j)
    x = x.astype(kind)
    if x.size > 50 and x.dtype.kind in "fc":
        x.reshape(-1)[[3, 5, 8, 13]] = np.nan, np.inf, -np.inf, 0
    full = strip({"x": x}).items[0]
    monkeypatch.setattr(build, "LARGE", -1)
    small = strip({"x": x}).items[0]
    one, two = (vars(i.layers[0].stats) for i in (full, small))
    for name in ("count", "zeros", "nan", "posinf", "neginf"):
        assert one[name] == two[name], name
    for name in ("min", "max", "mean", "std"):
        assert two[name] == (one[name] if one[name] is None else pytest.approx(one[name], rel=1e-6, abs=1e-6))
    assert (small.shape, small.dtype, small.dims) == (full.shape, full.dtype, full.dims)


def test_more_than_can_be_looked_through_is_named(monkeypatch):
    monkeypatch.setattr(build, "LARGE", 100)
    monkeypatch.setattr(build, "LOOKED", 250)
    r = strip([vistorch.randn(100), vistorch.randn(200), vistorch.randn(300)])
    walk(r.wire())
    assert [i.layers[0].stats.read for i in r.items] == [True, True, False]
    assert r.items[2].layers[0].stats.count == 300 and r.items[2].layers[0].cells() is None
    assert r.says[-1] == "1 of 3 are named only, for all are too large to look through"
    assert r.text().splitlines()[3].split() == ["2", "300", "float32"]


def test_what_is_only_listed_is_not_copied():
    things = [vistorch.ones(1)] * 24 + [vistorch.randn(2000, 2000)]
    strip(things)
    tracemalloc.start()
    try:
        r = strip(things)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert r.items[-1].layers[0].stats.max == things[-1].max().item()
    assert peak < things[-1].nbytes / 2


# ---- one parameter ---------------------------------------------------------------------------------------------
def test_value_gradient_and_update():
    p = nn.Parameter(vistorch.randn(60, 80))
    r = parameter(p, name="fc.weight", index="w", dims=("out", "in"))
    assert [i.role for i in r.items] == ["value"] and len(r.says) == 2
    assert r.text() == repr(p)
    opt = vistorch.optim.SGD([p], lr=0.1)
    remember(p)
    (p * p).sum().backward()
    opt.step()
    r = belongs(p, parameter(p, name="fc.weight", index="w", dims=("out", "in")))
    assert r.layout == "linked" and r.says == []
    assert [(i.role, i.index, i.dims) for i in r.items] == [
        ("value", "w", ("out", "in")),
        ("gradient", "w.grad", ("out", "in")),
        ("update", "update", ("out", "in")),
    ]
    assert [i.layers[0].scales[0].map for i in r.items] == ["tide", "ember", "tide"]
    assert len({i.block for i in r.items}) == 1
    grad, update = (i.layers[0].stats for i in r.items[1:])
    assert update.max == pytest.approx(-0.1 * grad.min, rel=1e-5)
    forget()


def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"the gradient has shape \(3,\), the parameter \(2,\)"):
        parameter(vistorch.ones(2), vistorch.ones(3), None)
