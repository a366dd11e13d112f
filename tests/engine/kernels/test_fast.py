"""Every fast kernel beside the plain one that it stands for, and beside torch where torch's is the same kernel."""

from functools import partial

import numpy as np
import pytest
import torch

import vistorch as L
from tests.engine.kernels.fast import every_size
from vistorch.engine.base.numpy_warnings import hushed
from vistorch.engine.core.rules import TABLE
from vistorch.engine.kernels.fast import rows
from vistorch.engine.kernels.fast.switch import onednn
from vistorch.engine.kernels.strides import scope

pytestmark = pytest.mark.skipif(not onednn.available(), reason=f"needs oneDNN: {onednn.why}")
F = L.nn.functional
T = torch.nn.functional


def plain(fn, *args):
    """The same call without oneDNN."""
    with L.backends.mkldnn.flags(enabled=False):
        return fn(*args)


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def close(mine, theirs, tolerance=2e-5):
    """Equal up to rounding, next to the largest value; nan and infinity in the same places."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    assert mine.shape == theirs.shape
    assert mine.dtype == theirs.dtype
    np.testing.assert_array_equal(np.isfinite(mine), np.isfinite(theirs))
    fine = np.isfinite(mine)
    np.testing.assert_array_equal(mine[~fine], theirs[~fine])
    scale = max(np.abs(theirs[fine]).max(initial=0), 1e-30)
    assert np.abs(mine[fine] - theirs[fine]).max(initial=0) <= tolerance * scale


def kernels(name):
    """The kernel of a row, and the plain one."""
    run = TABLE[name].kernels[0]
    slow = run.plain if hasattr(run, "plain") else rows.PLAIN[name]
    return [partial(hushed, kernel) for kernel in (run, slow)]


def layouts(a):
    """An array as it is, with its dims in another memory order, with gaps, and backwards."""
    yield a
    yield np.asfortranarray(a)
    gaps = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    gaps[..., ::2] = a
    yield gaps[..., ::2]
    yield a[::-1].copy()[::-1]


# ---- convolution ----------------------------------------------------------------------------------------------------
CONVOLUTIONS = [  # x, w, stride, padding, dilation, groups
    ((4, 3, 12, 12), (6, 3, 5, 5), (1, 1), (0, 0), (1, 1), 1),
    ((2, 16, 9, 7), (32, 16, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 16, 9, 7), (32, 16, 3, 3), (2, 3), (1, 0), (1, 1), 1),
    ((2, 16, 9, 9), (32, 16, 3, 3), (1, 1), (2, 2), (2, 2), 1),
    ((2, 8, 9, 9), (8, 1, 3, 3), (1, 1), (1, 1), (1, 1), 8),
    ((2, 8, 9, 9), (16, 4, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    ((2, 24, 6, 6), (20, 24, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 24, 6, 6), (20, 24, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((1, 1, 5, 5), (1, 1, 2, 4), (1, 1), (1, 2), (1, 1), 1),
    ((2, 6, 20), (4, 6, 5), (2,), (2,), (1,), 1),
    ((2, 3, 6, 5, 4), (4, 3, 3, 2, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
    ((2, 3, 4, 4), (4, 3, 3, 3), (1, 1), (3, 3), (1, 1), 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolution_and_its_gradients(case):
    xs, ws, *geometry = case
    x, w, b = noise(*xs), noise(*ws, seed=1), noise(ws[0], seed=2)
    fast, slow = kernels("convolution")
    with_bias, slow_with_bias = kernels("convolution_with_bias")
    with every_size():
        want = slow(x, w, *geometry)
        for at in layouts(x):
            close(fast(at, w, *geometry), want)
        close(with_bias(x, w, b, *geometry), slow_with_bias(x, w, b, *geometry))
        g = noise(*want.shape, seed=3)
        for name, args in (
            ("conv_input_grad", (w, xs[2:])),
            ("conv_weight_grad", (x, ws[2:])),
            ("convolution_transposed", (w, xs[2:])),
            ("convolution_transposed_with_bias", (w, noise(xs[1], seed=4), xs[2:])),
        ):
            fast, slow = kernels(name)
            want = slow(g, *args, *geometry)
            for at in layouts(g):
                close(fast(at, *args, *geometry), want)


SAME = [
    ((4, 3, 32, 32), (6, 3, 5, 5), (1, 1), (0, 0), (1, 1), 1),
    ((2, 64, 8, 8), (64, 64, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((8, 64, 32, 32), (64, 64, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 64, 8, 8), (128, 64, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    ((2, 64, 8, 8), (64, 1, 3, 3), (1, 1), (1, 1), (1, 1), 64),
]


@pytest.mark.parametrize(
    ("case", "last"), [(case, False) for case in SAME] + [(case, True) for case in SAME[1:3]]
)
def test_convolution_is_torchs_bit_for_bit(case, last):
    """Where our images lie with channels last, its kernel for those is the same one."""
    xs, ws, stride, padding, dilation, groups = case
    order = torch.channels_last if last else torch.contiguous_format
    x, w, b = noise(*xs), noise(*ws, seed=1), noise(ws[0], seed=2)
    theirs = [torch.tensor(a, requires_grad=True) for a in (x, w, b)]
    mine = [L.tensor(a, requires_grad=True) for a in (x, w, b)]
    theirs[0] = torch.tensor(x).to(memory_format=order).requires_grad_()
    before = torch.get_num_threads(), L.get_num_threads()
    torch.set_num_threads(1)
    L.set_num_threads(1)
    try:
        with every_size():
            scope.open, scope.made = last, []
            out, want = (
                F.conv2d(*mine, stride, padding, dilation, groups),
                T.conv2d(*theirs, stride, padding, dilation, groups),
            )
            g = noise(*want.shape, seed=3)
            ours = L.tensor(g)
            if last:  # as it would come from the next of such operations
                ours = ours.to(memory_format=L.channels_last)
            out.backward(ours)
            want.backward(torch.tensor(g).to(memory_format=order))
    finally:
        scope.open = scope.made = None
        torch.set_num_threads(before[0])
        L.set_num_threads(before[1])
    for ours, his in zip(
        [out.detach(), *[t.grad for t in mine[:2]]],
        [want.detach(), *[t.grad for t in theirs[:2]]],
        strict=True,
    ):
        np.testing.assert_array_equal(ours.numpy(), his.numpy())
    close(mine[2].grad.numpy(), theirs[2].grad.numpy())


def test_convolution_of_nothing_and_of_other_types():
    with every_size():
        assert F.conv2d(L.zeros(0, 3, 8, 8), L.zeros(4, 3, 3, 3)).shape == (0, 4, 6, 6)
        for dtype in (L.float64, L.float16, L.bfloat16):
            x, w = L.tensor(noise(2, 3, 8, 8)).to(dtype), L.tensor(noise(4, 3, 3, 3)).to(dtype)
            mine = F.conv2d(x, w)
            assert mine.dtype == dtype
            close(mine.float().numpy(), plain(F.conv2d, x, w).float().numpy(), 1e-2)
        ints = L.ones(1, 1, 4, 4, dtype=L.int64)
        assert F.conv2d(ints, L.ones(1, 1, 2, 2, dtype=L.int64)).tolist() == [[[[4] * 3] * 3]]


def test_convolution_keeps_nan_and_infinity_where_they_are():
    x, w = noise(1, 16, 8, 8), noise(16, 16, 3, 3, seed=1)
    x[0, 3, 2, 2], x[0, 4, 6, 6] = np.nan, np.inf
    fast, slow = kernels("convolution")
    with every_size():
        mine, want = [f(x, w, (1, 1), (1, 1), (1, 1), 1) for f in (fast, slow)]
    np.testing.assert_array_equal(np.isnan(mine), np.isnan(want))


# ---- pooling -------------------------------------------------------------------------------------------------------
def pooled(fn, x, *args, **named):
    x = L.tensor(x, requires_grad=True)
    y = fn(x, *args, **named)
    y.backward(L.tensor(noise(*y.shape, seed=5)))
    return y.detach().numpy(), x.grad.numpy()


POOLS = [
    (F.max_pool2d, (2, 3, 8, 8), (2,), {}),
    (F.max_pool2d, (2, 3, 9, 7), (3, 2, 1), {}),
    (F.max_pool2d, (2, 3, 9, 7), (3, 2, 1), {"ceil_mode": True}),
    (F.max_pool2d, (2, 3, 9, 7), (2, 1, 0, 2), {}),
    (F.max_pool3d, (2, 3, 6, 6, 4), (2,), {}),
    (F.max_pool2d, (3, 8, 8), (2,), {}),
    (F.avg_pool2d, (2, 3, 8, 8), (2,), {}),
    (F.avg_pool2d, (2, 3, 9, 7), (3, 2, 1), {}),
    (F.avg_pool2d, (2, 3, 9, 7), (3, 2, 1), {"count_include_pad": False}),
    (F.avg_pool2d, (2, 3, 9, 8), (3, 2, 1), {"ceil_mode": True}),
    (F.avg_pool2d, (2, 3, 9, 8), (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}),
    (F.avg_pool2d, (2, 3, 8, 8), (2,), {"divisor_override": 3}),
    (F.avg_pool3d, (2, 3, 6, 6, 4), (2,), {}),
]


@pytest.mark.parametrize(("fn", "shape", "args", "named"), POOLS, ids=range(len(POOLS)))
def test_pooling(fn, shape, args, named):
    x = np.round(noise(*shape), 1)  # with ties
    with every_size():
        mine = pooled(fn, x, *args, **named)
        want = plain(lambda: pooled(fn, x, *args, **named))
    for ours, theirs in zip(mine, want, strict=True):
        close(ours, theirs, 1e-6)


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_max_pooling_of_special_values(value):
    x = noise(2, 2, 4, 4)
    x[0, 0, :2, :2] = value
    x[1, 1, 3, 3] = value
    with every_size():
        mine = pooled(F.max_pool2d, x, 2)
    their = torch.tensor(x, requires_grad=True)
    y = T.max_pool2d(their, 2)
    y.backward(torch.tensor(noise(*y.shape, seed=5)))
    np.testing.assert_array_equal(mine[0], y.detach().numpy())
    np.testing.assert_array_equal(mine[1], their.grad.numpy())


def test_two_poolings_of_one_array_do_not_mix_their_maxima():
    x = L.tensor(noise(2, 3, 12, 12), requires_grad=True)
    with every_size():
        a, b = F.max_pool2d(x, 2), F.max_pool2d(x, 3)
        (a.sum() + (2 * b).sum()).backward()
    y = torch.tensor(x.detach().numpy(), requires_grad=True)
    (T.max_pool2d(y, 2).sum() + (2 * T.max_pool2d(y, 3)).sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


# ---- pointwise, softmax, layer norm ---------------------------------------------------------------------------------
SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-30, 50.0, -50.0, 1e38, -1e38, np.nan], "f4")
POINTWISE = ["gelu", "gelu_tanh", "hardswish", "sigmoid", "silu"]


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(name):
    fast, slow = kernels(name)
    x = noise(3, 5, 7) * 4
    with every_size():
        for at in (*layouts(x), x[:0], np.array(0.5, "f4"), x[None], SPECIAL):
            close(fast(at), slow(at), 1e-6)
        if f"{name}_backward" in rows.KERNELS:
            fast, slow = kernels(f"{name}_backward")
            for at in (*layouts(x), x[:0], np.clip(SPECIAL, -1e4, 1e4)):
                g = noise(*at.shape, seed=1)
                close(fast(g, at), slow(g, at), 2e-6)


def test_gelu_is_torchs_bit_for_bit():
    x, y = [lib.tensor(noise(64, 512) * 3, requires_grad=True) for lib in (L, torch)]
    with every_size():
        mine, theirs = F.gelu(x), T.gelu(y)
    np.testing.assert_array_equal(mine.detach().numpy(), theirs.detach().numpy())


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(name, dim):
    fast, slow = kernels(name)
    back, slow_back = kernels(f"{name}_backward_data")
    x = noise(4, 6, 9) * 3
    with every_size():
        for at in (*layouts(x), x[:0], x[..., :1], x * 100):
            y = slow(at, dim)
            close(fast(at, dim), y, 2e-6)
            g = noise(*at.shape, seed=1)
            close(back(g, y, dim), slow_back(g, y, dim), 5e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    "row",
    [
        [-np.inf] * 4,
        [np.nan, 0, 0, 0],
        [np.inf, 0, 0, 0],
        [-np.inf, 0, 0, 0],
        [0, 0, 0, np.nan],
        [3e38, 0, 0, -3e38],
    ],
    ids=str,
)
def test_softmax_of_special_rows(name, row):
    x = np.array([row, [1, 2, 3, 4]], "f4")
    with every_size():
        mine = getattr(F, name)(L.tensor(x), 1).numpy()
    np.testing.assert_allclose(mine, getattr(T, name)(torch.tensor(x), 1).numpy(), 1e-5)


@pytest.mark.parametrize("shape", [(7,), (3, 7), (5,)])
@pytest.mark.parametrize("affine", ["both", "weight", "none"])
def test_layer_norm(shape, affine):
    def run(lib, nn):
        x = lib.tensor(noise(6, 3, *shape)[..., : shape[-1]] * 2 + 1, requires_grad=True)
        w = lib.tensor(noise(*shape, seed=1), requires_grad=True) if affine != "none" else None
        b = lib.tensor(noise(*shape, seed=2), requires_grad=True) if affine == "both" else None
        y = nn.layer_norm(x, shape, w, b, 1e-5)
        y.backward(lib.tensor(noise(*y.shape, seed=3)))
        return [y.detach().numpy(), *[t.grad.numpy() for t in (x, w, b) if t is not None]]

    with every_size():
        mine = run(L, F)
    for ours, theirs in zip(mine, run(torch, T), strict=True):
        close(ours, theirs, 2e-6)


def test_layer_norm_of_nan_and_of_constant_rows():
    x = noise(4, 64)
    x[0, 3], x[1] = np.nan, 5.0
    with every_size():
        mine = F.layer_norm(L.tensor(x), (64,)).numpy()
    theirs = T.layer_norm(torch.tensor(x), (64,)).numpy()
    assert np.isnan(mine[0]).all()
    np.testing.assert_allclose(mine[1:], theirs[1:], 1e-4, 1e-5)


# ---- products -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sizes", [(3, 4, 5), (1, 4, 5), (3, 1, 5), (64, 32, 48), (3, 4, 1)], ids=str)
def test_products(sizes):
    m, k, n = sizes
    fast, slow = kernels("mm")
    with every_size():
        for a in layouts(noise(m, k)):
            for b in layouts(noise(k, n, seed=1)):
                close(fast(a, b), slow(a, b), 2e-6)
        a, b = noise(k, m).T, np.broadcast_to(noise(1, n), (k, n))
        close(fast(a, b), slow(a, b), 2e-6)
        fast, slow = kernels("bmm")
        for a in layouts(noise(6, m, k)):
            for b in layouts(noise(6, k, n, seed=1)):
                close(fast(a, b), slow(a, b), 2e-6)
                close(fast(a, b.transpose(0, 2, 1).copy().transpose(0, 2, 1)), slow(a, b), 2e-6)


@pytest.mark.parametrize("name", ["mm", "bmm"])
def test_products_that_do_not_fit_and_products_of_nothing(name):
    fast, slow = kernels(name)
    lead = (2,) if name == "bmm" else ()
    with every_size():
        for a, b in (((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0))):
            a, b = np.ones((*lead, *a), "f4"), np.ones((*lead, *b), "f4")
            np.testing.assert_array_equal(fast(a, b), slow(a, b))
        with pytest.raises(ValueError, match=r"shape|dimension"):
            fast(np.ones((*lead, 2, 3), "f4"), np.ones((*lead, 2, 3), "f4"))
        double = np.ones((*lead, 40, 40))
        np.testing.assert_array_equal(fast(double, double), slow(double, double))


def test_a_matrix_times_a_batch():
    fast, slow = kernels("bmm")
    with every_size():
        for a, b in (
            ((5, 4), (3, 4, 6)),
            ((3, 5, 4), (4, 6)),
            ((1, 5, 4), (3, 4, 6)),
            ((2, 1, 5, 4), (3, 4, 6)),
        ):
            a, b = noise(*a), noise(*b, seed=1)
            close(fast(a, b), slow(a, b), 2e-6)


# ---- recurrent layers -----------------------------------------------------------------------------------------------
def layers(kind, width=6, units=5, **options):
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(width, units, **options)
    mine = getattr(L.nn, kind)(width, units, **options)
    mine.load_state_dict({name: L.tensor(p.numpy()) for name, p in theirs.state_dict().items()})
    return mine, theirs


@pytest.mark.parametrize(
    "options",
    [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}, {"batch_first": True}, {"proj_size": 3}],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported")
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind, options):
    if kind != "LSTM" and "proj_size" in options:
        options = {"num_layers": 3}
    mine, theirs = layers(kind, **options)
    results = []
    for lib, net in ((L, mine), (torch, theirs)):
        x = lib.tensor(noise(7, 3, 6), requires_grad=True)
        with every_size():
            out, state = net(x)
            last = state[1] if kind == "LSTM" else state
            ((out * lib.tensor(noise(*out.shape, seed=1))).sum() + last.sum()).backward()
        results.append([out, x.grad, *[p.grad for p in net.parameters()]])
    for a, b in zip(*results, strict=True):
        close(a.detach().numpy(), b.detach().numpy(), 5e-6)


def test_lstm_is_torchs_bit_for_bit_and_its_output_may_be_overwritten():
    mine, theirs = layers("LSTM", num_layers=2)
    x, y = L.tensor(noise(7, 3, 6), requires_grad=True), torch.tensor(noise(7, 3, 6), requires_grad=True)
    state = [noise(2, 3, 5, seed=i) for i in (1, 2)]
    with every_size():
        out = mine(x, tuple(map(L.tensor, state)))[0]
        total = out.sum()
        with L.no_grad():
            out.zero_()
        total.backward()
        want = theirs(y, tuple(map(torch.tensor, state)))[0]
        want.sum().backward()
        again = mine(x, tuple(map(L.tensor, state)))[0]
    np.testing.assert_array_equal(again.detach().numpy(), want.detach().numpy())
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), q.grad.numpy())


def test_lstm_gradients_that_are_recorded_and_inference():
    mine, _ = layers("LSTM")

    def second():
        x = L.tensor(noise(4, 2, 6), requires_grad=True)
        (g,) = L.autograd.grad(mine(x)[0].square().sum(), x, create_graph=True)
        return L.autograd.grad(g.square().sum(), x)[0].numpy()

    with every_size(), L.no_grad():
        close(
            mine(L.tensor(noise(4, 2, 6)))[0].numpy(),
            plain(lambda: mine(L.tensor(noise(4, 2, 6)))[0].numpy()),
            1e-6,
        )
    with every_size():
        close(second(), plain(second), 1e-4)


# ---- whole networks -------------------------------------------------------------------------------------------------
def network():
    L.manual_seed(0)
    nn = L.nn
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 16, 3, padding=1, groups=4), nn.GELU(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(256, 32), nn.LayerNorm(32), nn.SiLU(), nn.Linear(32, 10), nn.Softmax(1),
    )  # fmt: skip


def gradients():
    net = network()
    x = L.tensor(noise(4, 3, 16, 16), requires_grad=True)
    (net(x) ** 2).sum().backward()
    return [x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]]


def test_a_network_has_the_same_gradients_on_both():
    with every_size():
        mine = gradients()
        want = plain(gradients)
    for ours, theirs in zip(mine, want, strict=True):
        close(ours, theirs, 1e-4)


def test_double_backward_through_fast_kernels():
    def second():
        x = L.tensor(noise(2, 3, 8, 8), requires_grad=True)
        w = L.tensor(noise(4, 3, 3, 3, seed=1), requires_grad=True)
        y = F.gelu(F.conv2d(x, w, padding=1))
        (g,) = L.autograd.grad((y * y).sum(), x, create_graph=True)
        return L.autograd.grad((g * g).sum(), w)[0].numpy()

    with every_size():
        close(second(), plain(second), 1e-4)


# ---- attention ------------------------------------------------------------------------------------------------------
ATTENTION = [  # query, rows of the key, what is hidden
    ((2, 4, 64, 16), 64, "future"),
    ((2, 4, 64, 16), 64, ""),
    ((3, 2, 40, 8), 70, "mask"),
    ((3, 2, 70, 8), 40, "future"),
    ((1, 3, 600, 16), 600, "future"),  # in pieces of rows
    ((1, 2, 300, 16), 600, "future mask"),
    ((40, 8, 48, 8), 48, "future"),  # in pieces of heads
    ((1, 40, 130, 8), 130, "mask"),
    ((8, 2, 16, 1), 16, ""),  # a head of one number
    ((2, 4, 64, 16), 64, "row"),  # a row that sees nothing
    ((2, 4, 64, 16), 64, "nan"),
]


def attention(lib, case, layout):
    shape, rows, hidden = case
    made = [noise(*shape), *[noise(*shape[:2], rows, shape[3], seed=i) for i in (1, 2)]]
    if "nan" in hidden:
        made[0][0, 1, 5] = np.nan
    if layout == "packed":  # as they come from one linear layer
        made = [np.ascontiguousarray(a.transpose(0, 2, 1, 3)) for a in made]
    ts = [lib.tensor(a, requires_grad=True) for a in made]
    query, key, value = [t.transpose(1, 2) if layout == "packed" else t for t in ts]
    mask = None
    if "mask" in hidden:
        mask = lib.tensor(noise(shape[0], 1, shape[2], rows, seed=4))
    if "row" in hidden:
        mask = lib.zeros(shape[2], rows)
        mask[3] = -float("inf")
    if "future" in hidden and mask is not None:
        mask = mask + lib.full((shape[2], rows), -float("inf")).triu(1)
    causal = hidden == "future"
    y = lib.nn.functional.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
    grads = lib.autograd.grad(y, ts, lib.tensor(noise(*shape[:3], shape[3], seed=5)))
    return [t.detach().numpy() for t in (y, *grads)], y.stride()


@pytest.mark.parametrize("layout", ["dense", "packed"])
@pytest.mark.parametrize("case", ATTENTION, ids=str)
def test_attention_and_its_gradients(case, layout):
    fast, strides = attention(L, case, layout)
    slow, as_plain = plain(attention, L, case, layout)
    assert strides == as_plain
    theirs, _ = attention(torch, case, layout)
    for mine, other, torchs in zip(fast, slow, theirs, strict=True):
        close(mine, other)
        if "row" not in case[2] and "nan" not in case[2]:
            close(mine, torchs)


def test_attention_is_computed_by_onednn_and_not_by_threads_of_python(monkeypatch):
    from vistorch.engine.kernels.fast import attention as kernel
    from vistorch.engine.ops.attention import kernels as slow

    onednn.primitives.forget()  # a thread that saw many shapes waits until one comes again
    monkeypatch.setattr(slow, "_each", None)
    monkeypatch.setattr(kernel.threads, "count", lambda: 4)
    for case in ATTENTION[:9]:
        if case[0][-1] > 1:
            attention(L, case, "dense")
            attention(L, case, "packed")


# ---- copies ---------------------------------------------------------------------------------------------------------
def permuted():
    bits = np.random.default_rng(0).integers(0, 2**32, (8, 32, 64, 4), dtype=np.uint32)
    a = bits.view("f4")  # every kind of nan, and numbers that processors may flush to zero
    for axes in ((3, 2, 1, 0), (0, 3, 1, 2), (1, 0, 3, 2), (0, 2, 1, 3), (2, 3, 0, 1)):
        yield a.transpose(axes)
    yield a.reshape(256, 256).T
    yield a.reshape(256, 256).T[:, 3:250]  # with gaps
    yield a.reshape(256, 256).T[::2]
    yield a.reshape(256, 256).T[::-1]
    yield np.lib.stride_tricks.as_strided(a, (128, 256), (4, 8))  # elements that share memory
    yield np.broadcast_to(a.reshape(-1)[:256, None], (256, 256))


def test_batch_norm_is_computed_by_onednn_and_not_by_threads_of_python(monkeypatch):
    """OpenMP's threads wait awake for the next call: Python's would take turns with them."""

    def gradients():
        x = L.tensor(noise(8, 65, 33, 32) + 0.1, requires_grad=True)
        norm = L.nn.BatchNorm2d(65)
        norm(x).backward(L.tensor(noise(8, 65, 33, 32, seed=1)))
        return [x.grad, norm.weight.grad, norm.bias.grad]

    want = [g.numpy() for g in plain(gradients)]
    before = L.get_num_threads()
    try:
        L.set_num_threads(1)
        alone = [g.numpy() for g in gradients()]
        monkeypatch.setattr("vistorch.engine.kernels.threads.Pool.run", lambda *args: pytest.fail("woken"))
        L.set_num_threads(3)
        found = [g.numpy() for g in gradients()]
    finally:
        L.set_num_threads(before)
    for mine, one, theirs in zip(found, alone, want, strict=True):
        close(mine, theirs)
        np.testing.assert_array_equal(mine, one)


def test_a_copy_by_rows_has_the_same_bits(monkeypatch):
    from vistorch.engine.kernels.fast import copies

    onednn.primitives.forget()
    done, rows_of = [], onednn.copies.rows
    monkeypatch.setattr(onednn.copies, "rows", lambda a: done.append(a) or rows_of(a))
    for a in permuted():
        out = copies.by_rows(a)
        assert out.flags.c_contiguous and not np.shares_memory(out, a)
        np.testing.assert_array_equal(out.view("u4"), np.array(a, order="C").view("u4"))
    assert len(done) == 6


def test_what_lies_transposed_is_copied_by_rows(monkeypatch):
    onednn.primitives.forget()
    done, rows_of = [], onednn.copies.rows
    monkeypatch.setattr(onednn.copies, "rows", lambda a: done.append(a.shape) or rows_of(a))
    L.tensor(noise(128, 256)).t().contiguous()
    x = L.tensor(noise(128, 256), requires_grad=True)
    x.t().backward(L.tensor(noise(256, 128)))
    assert done == [(256, 128), (128, 256)]
    assert x.grad.stride() == (256, 1)


@pytest.mark.parametrize("dense", [True, False])
def test_a_batch_of_little_work_is_numpys_where_blas_takes_it(monkeypatch, dense):
    from vistorch.engine.kernels.fast import matrices

    asked, batched = [], onednn.products.batched
    monkeypatch.setattr(onednn.products, "batched", lambda a, b: asked.append(a.shape) or batched(a, b))
    a, b = noise(2, 64, 16, 16)
    if not dense:
        a = a[..., ::-1]  # BLAS takes no steps backwards
    made = matrices.matmul(a, b)
    assert asked == ([] if dense else [a.shape])
    close(made, np.einsum("bij,bjk->bik", a, b))
