"""The project's CUDA kernels, run by the emulator, against torch in float64; none of it needs a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import vistorch
from tests.cuda import emulator, replay
from tests.cuda.strict_array import Array
from vistorch.engine.core import rules
from vistorch.engine.kernels.cuda import faults, halves, products, rows
from vistorch.engine.memory import placement
from vistorch.engine.ops.attention import kernels as of_weights
from vistorch.engine.random.generators import pick

torch = pytest.importorskip("torch")
T = torch.nn.functional
F = vistorch.nn.functional
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-11}
DTYPES = list(TOLERANCE)


@pytest.fixture(autouse=True)
def gpu(strict_gpu, monkeypatch):
    """The stand-in, with a list of the kernels that ran."""
    calls: list[str] = []
    run = emulator.Function.__call__

    def counted(self, *args, **kwargs):
        calls.append(self.name)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(emulator.Function, "__call__", counted)
    strict_gpu.xp.calls = calls
    return strict_gpu.xp


@pytest.fixture(params=emulator.ORDERS)
def order(request, monkeypatch):
    """The order in which the threads of a block run: nothing may depend on it."""
    monkeypatch.setattr(emulator.Function, "order", request.param)


def numbers(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).standard_normal(shape) * scale


def both(build, *arrays, dtype="float64", grad=None):
    """(mine, theirs) of what `build(library, functional, *tensors)` gives and of its gradients."""
    found = []
    for lib, f, device in ((vistorch, F, "cuda:0"), (torch, T, "cpu")):
        kind = getattr(lib, dtype)
        xs = []
        for a in arrays:
            x = lib.tensor(a)
            if a.dtype.kind == "f":
                x = x.to(kind)
                x = (x if lib is vistorch else x.double()).to(device).requires_grad_()
            xs.append(x.to(device))
        outs = build(lib, f, *xs)
        outs = outs if isinstance(outs, tuple) else (outs,)
        first = outs[0]
        g = lib.tensor(numbers(*first.shape, seed=9)).to(first.dtype).to(device)
        (first * g).sum().backward()
        grads = [x.grad for x in xs if x.requires_grad]
        found.append([t.detach().double().cpu().numpy() for t in (*outs, *grads)])
    return found


def close(pair, dtype):
    mine, theirs = pair
    for a, b in zip(mine, theirs, strict=True):
        assert a.shape == b.shape
        scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0.0))
        assert np.allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(gpu, order, dim, dtype):
    x = numbers(3, 37, 5, scale=4)
    close(both(lambda lib, f, x: f.softmax(x, dim), x, dtype=dtype), dtype)
    close(both(lambda lib, f, x: f.log_softmax(x, dim), x, dtype=dtype), dtype)
    kind = "rows" if dim == 2 else "columns"
    assert {f"softmax_{kind}", f"slope_{kind}"} <= set(gpu.calls)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 129, 1025])
def test_softmax_of_rows_of_any_length(gpu, n):
    close(both(lambda lib, f, x: f.softmax(x, -1), numbers(3, n, scale=30)), "float64")


def test_softmax_at_the_ends(gpu):
    """Infinities, nan and large numbers go as in torch."""
    x = np.array(
        [[1e4, -1e4, 0.0], [-np.inf, 0, 1], [np.inf, 0, 1], [-np.inf] * 3, [np.nan, 0, 1], [0, 1, np.inf]]
    )
    for name in ("softmax", "log_softmax"):
        mine = getattr(F, name)(vistorch.tensor(x).to("cuda:0"), 1).cpu().numpy()
        assert np.allclose(mine, getattr(T, name)(torch.tensor(x), 1).numpy(), equal_nan=True)


def test_what_the_kernels_do_not_know_goes_the_plain_way(gpu):
    assert vistorch.zeros(0, 3, device="cuda:0").softmax(1).shape == (0, 3)
    assert vistorch.tensor(2.0, device="cuda:0").softmax(0).item() == 1
    assert gpu.calls == ["softmax_rows"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_layer_norm(gpu, order, dtype):
    x, w, b = numbers(7, 3, 33) * 2 + 5, numbers(3, 33, seed=1), numbers(3, 33, seed=2)
    close(both(lambda lib, f, x, w, b: f.layer_norm(x, (3, 33), w, b, 1e-3), x, w, b, dtype=dtype), dtype)
    assert {"normalise_rows", "rows_gradient", "column_sums"} <= set(gpu.calls)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm(gpu, order, dtype):
    x, w = numbers(130, 45), numbers(45, seed=1)
    close(both(lambda lib, f, x, w: f.rms_norm(x, (45,), w, 1e-3), x, w, dtype=dtype), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_group_norm(gpu, order, dtype):
    x, w, b = numbers(3, 6, 5, 3) * 2 - 1, numbers(6, seed=1), numbers(6, seed=2)
    close(both(lambda lib, f, x, w, b: f.group_norm(x, 2, w, b, 1e-3), x, w, b, dtype=dtype), dtype)
    assert "plane_sums" in gpu.calls


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_batch_norm(gpu, order, dtype, training):
    x, w, b = numbers(5, 3, 7) * 2 + 3, numbers(3, seed=1), numbers(3, seed=2)
    mean, var = np.array([1.0, 2, 3]), np.array([1.0, 4, 0.5])

    def build(lib, f, x, w, b):
        m, v = (lib.tensor(a).to(x.dtype).to(x.device) for a in (mean, var))
        return f.batch_norm(x, m, v, w, b, training, 0.1, 1e-3), m, v

    close(both(build, x, w, b, dtype=dtype), dtype)


def test_a_large_mean_costs_no_digits(gpu):
    """The variance of numbers round 1e4 in float32."""
    x = numbers(4, 3, 50) + 1e4
    for build in (
        lambda lib, f, x: f.batch_norm(x, None, None, training=True),
        lambda lib, f, x: f.layer_norm(x, (50,)),
        lambda lib, f, x: f.group_norm(x, 3),
    ):
        mine, theirs = both(build, x.astype("f4").astype("f8"), dtype="float32")
        assert np.allclose(mine[0], theirs[0], atol=2e-3)


WINDOWS = [  # kernel, stride, padding, dilation, ceil_mode
    (2, 2, 0, 1, False),
    (3, 2, 1, 1, True),
    (3, 1, 1, 2, False),
    ((2, 3), (3, 1), (1, 1), (1, 2), False),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", WINDOWS)
def test_max_pool(gpu, window, dtype):
    size, stride, padding, dilation, ceil = window
    x = np.round(numbers(2, 3, 9, 8) * 2)  # with equals
    close(
        both(lambda lib, f, x: f.max_pool2d(x, size, stride, padding, dilation, ceil), x, dtype=dtype), dtype
    )
    pair = both(
        lambda lib, f, x: f.max_pool2d(x, size, stride, padding, dilation, ceil, True), x, dtype=dtype
    )
    close(pair, dtype)
    assert {"max_pool", "max_pool_gradient"} <= set(gpu.calls)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pools_of_all_dims(gpu, dims, kind):
    x = numbers(2, 3, *(7, 6, 5)[:dims])
    close(both(lambda lib, f, x: getattr(f, f"{kind}_pool{dims}d")(x, 3, 2, 1), x), "float64")
    close(both(lambda lib, f, x: getattr(f, f"adaptive_{kind}_pool{dims}d")(x, 4), x), "float64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count, override", [(True, None), (False, None), (True, 7)])
def test_avg_pool(gpu, dtype, count, override):
    x = numbers(2, 3, 9, 8)

    def build(lib, f, x):
        return f.avg_pool2d(x, (3, 2), (2, 3), (1, 1), True, count, override)

    close(both(build, x, dtype=dtype), dtype)
    assert {"avg_pool", "avg_pool_gradient"} <= set(gpu.calls)


def test_nan_in_a_pool(gpu):
    """It wins, the last of several."""
    x = np.array([[[np.nan, 1, 2, np.nan, np.nan, 3.0]]])
    mine, where = F.max_pool1d(vistorch.tensor(x).to("cuda:0"), 3, return_indices=True)
    theirs, there = T.max_pool1d(torch.tensor(x), 3, return_indices=True)
    assert np.allclose(mine.cpu().numpy(), theirs.numpy(), equal_nan=True)
    assert where.tolist() == there.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_embedding_and_additions(gpu, order, dtype):
    w, i = numbers(11, 5), np.random.default_rng(3).integers(0, 11, (4, 6))
    close(both(lambda lib, f, w: f.embedding(lib.tensor(i).to(w.device), w, 2), w, dtype=dtype), dtype)
    assert "add_rows" in gpu.calls


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy(gpu, dtype, reduction, weighted):
    for shape in ((6, 5), (2, 5, 3, 2)):
        t = np.random.default_rng(1).integers(0, 5, (shape[0], *shape[2:]))
        t.reshape(-1)[1] = -100
        w = np.linspace(0.5, 1.5, 5)

        def build(lib, f, x, t=t, w=w):
            weight = lib.tensor(w).to(x.dtype).to(x.device) if weighted else None
            return f.cross_entropy(x, lib.tensor(t).to(x.device), weight, reduction=reduction)

        close(both(build, numbers(*shape), dtype=dtype), dtype)
    assert {"nll_pick", "nll_gradient"} <= set(gpu.calls)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(5, 5, 4, 4), (37, 70, 8, 40), (33, 32, 33, 5), (2, 65, 1, 1)])
def test_attention(gpu, sizes, causal, dtype):
    rows, columns, depth, width = sizes
    q, k, v = (
        numbers(2, 3, rows, depth),
        numbers(2, 3, columns, depth, seed=1),
        numbers(2, 3, columns, width, seed=2),
    )

    def build(lib, f, q, k, v):
        return f.scaled_dot_product_attention(q, k, v, is_causal=causal)

    close(both(build, q, k, v, dtype=dtype), dtype)
    if depth == width:
        assert {"attend", "attend_rows", "attend_columns"} <= set(gpu.calls)


def test_attention_in_any_order(gpu, order):
    q, k, v = (numbers(1, 2, 40, 8, seed=s) for s in range(3))
    close(
        both(lambda lib, f, q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v),
        "float64",
    )


@pytest.mark.parametrize("shape", [(35, 40), (1, 1, 1, 40), (2, 1, 35, 40), (2, 3, 35, 1)])
def test_attention_with_a_mask(gpu, shape):
    """A mask of truths that hides a whole row, and one that is added; where nothing is seen, zero comes out."""
    q, k, v = numbers(2, 3, 35, 8), numbers(2, 3, 40, 8, seed=1), numbers(2, 3, 40, 8, seed=2)
    added = numbers(*shape, seed=5)
    seen = added > -0.5
    seen[(..., slice(0, 1), slice(None))] = shape[-2] == 1
    for mask in (added, seen):

        def build(lib, f, q, k, v, mask=mask):
            return f.scaled_dot_product_attention(q, k, v, lib.tensor(mask).to(q.device))

        close(both(build, q, k, v), "float64")
    assert "attend_columns" in gpu.calls


def test_no_matrix_of_scores_is_kept(gpu):
    """A node keeps three dims, not four, and it is the logarithm of each row's sum."""
    q, k = numbers(1, 2, 40, 8), numbers(1, 2, 50, 8, seed=1)
    kernel = rules.TABLE["attention"].kernels[1]
    arrays = [gpu.asarray(a) for a in (q, k, k)]
    out, lse = kernel(*arrays, False, 0.5, True)
    assert (out.shape, lse.shape) == ((1, 2, 40, 8), (1, 2, 40))
    scores = torch.tensor(q) @ torch.tensor(k).transpose(-1, -2) * 0.5
    assert np.allclose(lse._a, scores.logsumexp(-1).numpy())


# ---- attention with dropout ----------------------------------------------------------------------------------------
def dropped_by_torch(q, k, v, mask, left, causal):
    """The composition, with given numbers for the weights."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=bool).tril(), -np.inf)
    return (scores.softmax(-1) * left) @ v


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(5, 5, 4), (37, 70, 8), (66, 33, 33)])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_with_dropout(gpu, sizes, causal, masked, dtype):
    rows, columns, depth = sizes
    arrays = [numbers(2, 3, n, depth, seed=s) for s, n in enumerate((rows, columns, columns))]
    mask = numbers(2, 1, rows, columns, seed=5) if masked else None
    kind = getattr(vistorch, dtype)
    q, k, v = (vistorch.tensor(a).to(kind).to("cuda:0").requires_grad_() for a in arrays)
    m = None if mask is None else vistorch.tensor(mask).to(kind).to("cuda:0")
    vistorch.manual_seed(11)
    y = F.scaled_dot_product_attention(q, k, v, m, 0.3, causal)
    g = vistorch.tensor(numbers(*y.shape, seed=7)).to(kind).to("cuda:0")
    y.backward(g)
    assert {"attend", "attend_rows", "attend_columns"} <= set(gpu.calls)
    left = of_weights.noise(np, (2, 3, rows, columns), np.dtype("f8"), (0, 11, 0), 1 - 0.3)
    assert 0.2 < (left == 0).mean() < 0.4 or rows == 5
    there = [torch.tensor(t.detach().cpu().double().numpy(), requires_grad=True) for t in (q, k, v)]
    given = None if m is None else torch.tensor(m.cpu().double().numpy())
    z = dropped_by_torch(*there, given, torch.tensor(left), causal)
    z.backward(torch.tensor(g.cpu().double().numpy()))
    mine = [t.detach().cpu().double().numpy() for t in (y, q.grad, k.grad, v.grad)]
    close((mine, [t.detach().numpy() for t in (z, *(t.grad for t in there))]), dtype)


def test_dropped_weights_do_not_depend_on_the_order_of_threads(gpu, order):
    q, k, v = (vistorch.tensor(numbers(1, 2, 40, 8, seed=s)).to("cuda:0").requires_grad_() for s in range(3))
    vistorch.manual_seed(3)
    y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5, is_causal=True)
    y.sum().backward()
    left = torch.tensor(of_weights.noise(np, (1, 2, 40, 40), np.dtype("f8"), (0, 3, 0), 0.5))
    there = [torch.tensor(t.detach().cpu().numpy(), requires_grad=True) for t in (q, k, v)]
    dropped_by_torch(*there, None, left, True).sum().backward()
    close(([t.grad.cpu().numpy() for t in (q, k, v)], [t.grad.numpy() for t in there]), "float64")


def test_a_row_of_random_numbers_is_known_by_its_place(gpu):
    """A kernel and numpy draw the same; a call takes as much of the stream as a row is long."""
    kernel = rules.TABLE["attention_noise"].kernels[1]
    q, k = (gpu.asarray(numbers(2, 3, n, 4)) for n in (7, 10))
    for stream in ((0, 5, 0), (0, -1, 12), (0, 2**40 + 3, 2**34)):
        here = of_weights.noise(np, (2, 3, 7, 10), np.dtype("f8"), stream, 0.4)
        assert np.array_equal(kernel(q, k, stream, 0.4)._a, here)
    held = np.array([5, 8], np.int64)  # of a graph: the seed and what was drawn before it
    drawn = kernel(q, k, (held.ctypes.data, 0, 4), 0.4)._a
    assert np.array_equal(drawn, of_weights.noise(np, (2, 3, 7, 10), np.dtype("f8"), (0, 5, 12), 0.4))
    vistorch.manual_seed(0)
    source = pick(None, placement.place_of("cuda:0"), "dropout")
    before = source.counter.offset
    q, k = (vistorch.tensor(numbers(1, 1, n, 4)).to("cuda:0") for n in (3, 10))
    first = F.scaled_dot_product_attention(q, k, k, dropout_p=0.5)
    assert source.counter.offset - before == 12
    assert not vistorch.equal(first, F.scaled_dot_product_attention(q, k, k, dropout_p=0.5))
    vistorch.manual_seed(0)
    assert vistorch.equal(first, F.scaled_dot_product_attention(q, k, k, dropout_p=0.5))


def test_no_matrix_is_kept_of_dropped_weights(gpu):
    q, k = (vistorch.tensor(numbers(1, 2, n, 8)).to("cuda:0").requires_grad_() for n in (40, 50))
    y = F.scaled_dot_product_attention(q, k, k, dropout_p=0.5)
    arrays = [s[0] for s in y.grad_fn.saved if isinstance(s, tuple) and hasattr(s[0], "shape")]
    shapes = {tuple(a.shape) for a in arrays} | {tuple(getattr(a, "_data", a).shape) for a in arrays}
    assert (1, 2, 40) in shapes and not any(shape[-2:] == (40, 50) for shape in shapes)


def test_dropped_attention_that_does_not_fit_draws_the_same(gpu):
    """Too deep for a tile: the composition, with the same numbers."""
    q, k, v = (numbers(1, 2, n, 257, seed=s) for s, n in enumerate((3, 5, 5)))
    tensors = [vistorch.tensor(a).to("cuda:0").requires_grad_() for a in (q, k, v)]
    vistorch.manual_seed(9)
    F.scaled_dot_product_attention(*tensors, dropout_p=0.4).sum().backward()
    assert "attend" not in gpu.calls and "noise" in gpu.calls
    left = torch.tensor(of_weights.noise(np, (1, 2, 3, 5), np.dtype("f8"), (0, 9, 0), 0.6))
    there = [torch.tensor(a, requires_grad=True) for a in (q, k, v)]
    dropped_by_torch(*there, None, left, False).sum().backward()
    close(([t.grad.cpu().numpy() for t in tensors], [t.grad.numpy() for t in there]), "float64")


def test_second_derivatives_of_dropped_attention(gpu):
    arrays = [numbers(1, 1, n, 4, seed=s) for s, n in enumerate((3, 5, 5))]
    left = torch.tensor(of_weights.noise(np, (1, 1, 3, 5), np.dtype("f8"), (0, 2, 0), 0.6))
    found = []
    for lib in (vistorch, torch):
        ts = [lib.tensor(a).to("cuda:0" if lib is vistorch else "cpu").requires_grad_() for a in arrays]
        vistorch.manual_seed(2)
        y = (
            F.scaled_dot_product_attention(*ts, dropout_p=0.4)
            if lib is vistorch
            else dropped_by_torch(*ts, None, left, False)
        )
        grads = lib.autograd.grad((y * y).sum(), ts, create_graph=True)
        sum((a * a).sum() for a in grads).backward()
        found.append([t.grad.cpu().numpy() for t in ts])
    close(found, "float64")


# ---- indices out of range ------------------------------------------------------------------------------------------
def test_a_wrong_index_is_reported_at_the_next_synchronisation(gpu):
    """With the op's name, once; the call itself does not wait, and nothing outside is touched."""
    x = vistorch.zeros(3, 5, device="cuda:0", requires_grad=True)
    target = vistorch.tensor([1, 7, 2]).to("cuda:0")
    loss = F.nll_loss(x, target)
    with pytest.raises(faults.DeviceIndexError, match=r"nll_loss\(\): index 7 is out of bounds .* size 5"):
        vistorch.cuda.synchronize()
    vistorch.cuda.synchronize()
    assert isinstance(loss, vistorch.Tensor)
    with pytest.raises(IndexError, match="index 7"):
        F.nll_loss(x, target).item()
    with pytest.raises(RuntimeError, match="index 7"):
        F.nll_loss(x, target).tolist()
    with pytest.raises(IndexError, match="index 7"):
        F.nll_loss(x, target).cpu()


WRONG = {  # an op, and an index outside
    "embedding": lambda x, i: F.embedding(i, x),
    "index": lambda x, i: x.index_put((i,), vistorch.ones(3, 4, device="cuda:0")),
    "gather": lambda x, i: x.gather(0, i.reshape(-1, 1)),
    "index_add": lambda x, i: x.index_add(0, i, vistorch.ones(3, 4, device="cuda:0")),
    "index_select": lambda x, i: x.index_select(0, i),
    "scatter": lambda x, i: x.scatter(0, i.reshape(-1, 1), 1.0),
    "take": lambda x, i: x.take(i),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_way_to_index_is_looked_at(gpu, name):
    x = vistorch.zeros(5, 4, device="cuda:0")
    WRONG[name](x, vistorch.tensor([1, 0, 3]).to("cuda:0"))
    vistorch.cuda.synchronize()
    WRONG[name](x, vistorch.tensor([1, 99, 3]).to("cuda:0"))
    with pytest.raises(IndexError, match=rf"{name}\(\): index 99 is out of bounds"):
        vistorch.cuda.current_stream().synchronize()


def test_indices_in_range_from_the_end(gpu):
    x = vistorch.arange(5.0).to("cuda:0")
    x[vistorch.tensor([1, 7]).to("cuda:0")]
    with pytest.raises(IndexError, match="index 7"):
        vistorch.cuda.synchronize()
    assert x[vistorch.tensor([-1, -5]).to("cuda:0")].tolist() == [4.0, 0.0]


# ---- the table -----------------------------------------------------------------------------------------------------
def test_every_listed_row_is_there(gpu):
    """And knows what it stands over."""
    assert set(rows.KERNELS) | set(rows.TOGETHER) <= set(rules.TABLE)
    for name in rows.TOGETHER:
        assert rules.TABLE[name].together.elsewhere is not None


def test_other_rows_run_their_plain_kernel(gpu):
    assert not hasattr(rules.TABLE["exp"].kernels[1], "plain")


# ---- the emulator itself -------------------------------------------------------------------------------------------
TOY = """
extern "C" __global__ void left(T* y) { if (threadIdx.x < 40) __syncthreads(); y[threadIdx.x] = 1; }
extern "C" __global__ void unset(T* y) { __shared__ T s[64]; y[threadIdx.x] = s[threadIdx.x]; }
extern "C" __global__ void race(T* y) {
  __shared__ T s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def toy(name, order=0):
    y = Array.around(np.zeros(64, np.float32))
    emulator.Function.order = order
    try:
        emulator.Function("#define T float\n#define A float\n" + TOY, name)((1,), (64,), (y,))
    finally:
        emulator.Function.order = 0
    return y._a


def test_the_emulator_finds_what_a_device_would_not_say(gpu):
    with pytest.raises(RuntimeError, match="left: some threads wait where others have gone by"):
        toy("left")
    assert np.isnan(toy("unset")).all()
    assert not np.array_equal(toy("race"), toy("race", 1), equal_nan=True)


# ---- half types ----------------------------------------------------------------------------------------------------
IMAGES, ROWS = (2, 4, 6, 6), (5, 12)
HALF_CASES = {
    "softmax": (lambda f, x: f.softmax(x, 1), ROWS),
    "log_softmax": (lambda f, x: f.log_softmax(x, 1), ROWS),
    "cross_entropy": (lambda f, x: f.cross_entropy(x, of_library(f, [3, 0, 11, 5, 5])), ROWS),
    "layer_norm": (lambda f, x: f.layer_norm(x, (12,)), ROWS),
    "rms_norm": (lambda f, x: f.rms_norm(x, (12,)), ROWS),
    "group_norm": (lambda f, x: f.group_norm(x, 2), IMAGES),
    "batch_norm": (lambda f, x: f.batch_norm(x, None, None, training=True), IMAGES),
    "max_pool": (lambda f, x: f.max_pool2d(x, 2), IMAGES),
    "avg_pool": (lambda f, x: f.avg_pool2d(x, 3, 2, 1), IMAGES),
    "adaptive_max_pool": (lambda f, x: f.adaptive_max_pool2d(x, 4), IMAGES),
    "adaptive_avg_pool": (lambda f, x: f.adaptive_avg_pool2d(x, 4), IMAGES),
    "attention": (lambda f, x: f.scaled_dot_product_attention(x, x, x), IMAGES),
    "gelu": (lambda f, x: f.gelu(x), ROWS),
    "gelu_tanh": (lambda f, x: f.gelu(x, approximate="tanh"), ROWS),
    "relu": (lambda f, x: f.relu(x), ROWS),
}


def of_library(f, values):
    return torch.tensor(values) if f is T else vistorch.tensor(values, device="cuda:0")


@pytest.fixture
def widened(monkeypatch):
    """The shapes of half arrays of more than one element that were made float32."""
    found = []
    plain = Array.astype

    def astype(self, dtype, *args, **kwargs):
        if self.dtype.itemsize == 2 and self.size > 1 and np.dtype(dtype).itemsize > 2:
            found.append(self.shape)
        return plain(self, dtype, *args, **kwargs)

    monkeypatch.setattr(Array, "astype", astype)
    return found


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", list(HALF_CASES))
def test_a_half_type_is_not_widened_on_its_way_back(gpu, widened, case, dtype):
    build, shape = HALF_CASES[case]
    a = numbers(*shape, seed=4)
    x = vistorch.tensor(a).to(getattr(vistorch, dtype)).to("cuda:0").requires_grad_()
    y = build(F, x)
    g = vistorch.tensor(numbers(*y.shape, seed=5)).to(y.dtype).to("cuda:0")
    widened.clear()
    y.backward(g)
    assert not widened and x.grad.dtype == x.dtype
    z = torch.tensor(x.detach().cpu().to(vistorch.float64).numpy(), requires_grad=True)
    build(T, z).backward(torch.tensor(g.cpu().to(vistorch.float64).numpy()))
    mine, theirs = x.grad.cpu().to(vistorch.float64).numpy(), z.grad.numpy()
    scale = max(1.0, np.abs(theirs).max())
    assert np.allclose(mine, theirs, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)


MATRICES = {
    "mm": (lambda lib, a, b: a @ b, (5, 7), (7, 4)),
    "bmm": (lambda lib, a, b: lib.bmm(a, b), (3, 5, 7), (3, 7, 4)),
    "batches": (lambda lib, a, b: a @ b, (2, 3, 5, 7), (7, 4)),
    "linear": (lambda lib, a, w, b: lib.nn.functional.linear(a, w, b), (2, 5, 7), (4, 7), (4,)),
    "addmm": (lambda lib, x, a, b: lib.addmm(x, a, b, beta=0.5, alpha=2), (4,), (5, 7), (7, 4)),
    "no addend": (lambda lib, x, a, b: lib.addmm(x, a, b, beta=0), (4,), (5, 7), (7, 4)),
    "baddbmm": (lambda lib, x, a, b: lib.baddbmm(x, a, b, alpha=3), (3, 5, 4), (3, 5, 7), (3, 7, 4)),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", MATRICES)
def test_products_of_half_types_are_cublas_own(gpu, widened, monkeypatch, case, dtype):
    """Operands go as they are, sums are float32, forward and backward."""
    blas = replay.Cublas()
    monkeypatch.setattr(products, "find", lambda: blas)
    monkeypatch.setattr(products, "_handles", {})
    monkeypatch.setattr(products, "_missing", set())
    monkeypatch.setattr(products, "WORKSPACE", 64)
    build, *shapes = MATRICES[case]
    held = [
        vistorch.tensor(numbers(*shape, seed=i)).to(getattr(vistorch, dtype)).to("cuda:0").requires_grad_()
        for i, shape in enumerate(shapes)
    ]
    there = [torch.tensor(t.detach().cpu().double().numpy(), requires_grad=True) for t in held]
    widened.clear()
    y = build(vistorch, *held)
    z = build(torch, *there)
    matrices = [shape for shape in widened if len(shape) > 1]
    assert not matrices or case in ("addmm", "baddbmm")  # what is added, which is no operand
    assert not [shape for shape in matrices if shape[-1] == 7 or shape[-2] == 7]
    g = vistorch.tensor(numbers(*y.shape, seed=9)).to(y.dtype).to("cuda:0")
    widened.clear()
    y.backward(g)
    z.backward(torch.tensor(g.cpu().double().numpy()))
    assert not [shape for shape in widened if 7 in shape] and set(blas.computes) == {68}
    mine = [t.detach().cpu().double().numpy() for t in (y, *(t.grad for t in held if t.grad is not None))]
    theirs = [t.detach().numpy() for t in (z, *(t.grad for t in there if t.grad is not None))]
    if case == "no addend":
        mine, theirs = mine[:1] + mine[-2:], theirs[:1] + theirs[-2:]
    close((mine, theirs), dtype)


def test_every_row_that_takes_half_types_is_there(gpu):
    assert set(rules.TABLE) >= halves.FORMULAS | halves.KERNELS
    assert all(rules.TABLE[name].halves for name in halves.FORMULAS)
    assert all(rules.TABLE[name].kernels[1].halves for name in halves.KERNELS)


def test_each_stream_has_a_workspace_of_its_own(gpu):
    own = products.Products(replay.Cublas(), gpu.empty(8, "u1"))
    for stream in (3, 4, 3):
        own.on(stream)
    assert len({int(space.data.ptr) for space in own.spaces.values()}) == 2


def test_a_half_type_that_a_kernel_does_not_know_is_widened(gpu, widened):
    x = vistorch.tensor(numbers(1, 1, 300, 3)).half().to("cuda:0").requires_grad_()
    x.transpose(2, 3).softmax(3).sum().backward()
    wide = vistorch.tensor(numbers(1, 1, 3, 300)).half().to("cuda:0").requires_grad_()  # too deep for a tile
    y = F.scaled_dot_product_attention(wide, wide, wide)
    widened.clear()
    y.backward(vistorch.ones_like(y))
    assert widened and wide.grad.dtype == vistorch.float16


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu(gpu, order, dtype):
    x = np.concatenate([numbers(70, scale=3), [0.0, -0.0, 8.0, -8.0, 30.0, -30.0]])
    for form in ("none", "tanh"):
        close(both(lambda lib, f, x, form=form: f.gelu(x, approximate=form), x, dtype=dtype), dtype)
    assert {"gelu_gradient", "gelu_tanh_gradient"} <= set(gpu.calls)
