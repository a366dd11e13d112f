"""Random numbers of CUDA devices: PyTorch's, simulated by numpy and made by the kernels, none of it on a GPU."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import vistorch
from tests.cuda import emulator
from tests.cuda.conftest import unbind
from tests.cuda.strict_array import Array
from vistorch import cuda
from vistorch.engine.kernels import device_sampling, philox, sampling
from vistorch.engine.kernels.cuda import launch
from vistorch.engine.memory import placement
from vistorch.engine.memory.placement import CPU
from vistorch.engine.random import generators
from vistorch.engine.random.device_generator import DeviceGenerator

F = vistorch.nn.functional


@pytest.fixture
def simulated():
    """Two pretended devices."""
    cuda.simulate(2)
    yield
    cuda.simulate(None)


# ---- the words -----------------------------------------------------------------------------------------------------
def words(seed, place, stream):
    """A block by Python's numbers."""
    c = [place & 0xFFFFFFFF, place >> 32, stream & 0xFFFFFFFF, stream >> 32]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ key[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ key[1], p & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


KNOWN = [  # Random123's own answers for philox4x32-10: key, lower and upper half of the counter
    (0, 0, 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (2**64 - 1, 2**64 - 1, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        0x299F31D0_A4093822,
        0x85A308D3_243F6A88,
        0x03707344_13198A2E,
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize("seed, place, stream, answer", KNOWN)
def test_words(seed, place, stream, answer):
    assert tuple(words(seed, place, stream)) == answer
    found = philox.blocks(seed, place, np.array([stream, 5], np.uint64))
    assert tuple(int(w[0]) for w in found) == answer
    assert [int(w[1]) for w in found] == words(seed, place, 5)


# ---- what cards gave -----------------------------------------------------------------------------------------------
def printed(values):
    return [round(v, 4) for v in values.double().flatten().tolist()]


def test_numbers_of_cards(simulated):
    """What PyTorch printed on NVIDIA cards for the same seeds."""
    vistorch.manual_seed(0)
    first = printed(vistorch.rand(10, device="cuda"))
    assert first == [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203, 0.2290, 0.9096]
    assert printed(vistorch.rand(10, device="cuda"))[:4] == [0.9722, 0.7910, 0.4690, 0.3300]
    vistorch.manual_seed(0)
    found = printed(vistorch.randn(2, 8, device="cuda"))
    assert found[:8] == [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284]
    assert found[8:] == [-1.0745, -0.3631, -1.6711, 2.2655, 0.3117, -0.1842, 1.2866, 1.1820]


CARDS = {  # threads a card holds; what it gave last of `normal`, where it was busy more than once
    "H100": (132 * 2048, 1, (0.0, 1.0), (1, 9483264), (-0.2963, 2.6764, -0.1408), (-0.6970, -0.7780, 0.3267)),
    "A100": (108 * 2048, 1, (0.0, 1.0), (1, 9483264), (-0.2963, 2.6764, -0.1408), (0.1549, -0.6797, -0.1656)),
    "A4000": (48 * 1536, 14, (5, 5**0.5), (1000, 100), (2.8731, 5.2727, 2.9889), (8.2207, 6.5395, 4.2604)),
}


@pytest.mark.parametrize("card", CARDS)
def test_large_tensors_depend_on_the_card(simulated, monkeypatch, card):
    threads, seed, (mean, std), shape, first, last = CARDS[card]
    monkeypatch.setattr(device_sampling, "SIMULATED", threads)
    g = vistorch.Generator("cuda").manual_seed(seed)
    values = vistorch.empty(shape, device="cuda").normal_(mean, std, generator=g).flatten()
    assert printed(values[:3]) == list(first)
    assert printed(values[-3:]) == list(last)


# ---- kernels and numpy ---------------------------------------------------------------------------------------------
DRAWS = {
    "uniform": lambda g, n, dt: sampling.uniform(g, (n,), dt),
    "uniform between": lambda g, n, dt: sampling.uniform(g, (n,), dt, -3.0, 2.5),
    "normal": lambda g, n, dt: sampling.normal(g, (n,), dt),
    "normal of both": lambda g, n, dt: sampling.normal(g, (n,), dt, 4.0, 0.5),
    "log_normal": lambda g, n, dt: sampling.log_normal(g, (n,), dt, 0.5, 0.25),
    "exponential": lambda g, n, dt: sampling.exponential(g, (n,), dt, 2.0),
    "cauchy": lambda g, n, dt: sampling.cauchy(g, (n,), dt, 1.0, 0.5),
    "geometric": lambda g, n, dt: sampling.geometric(g, (n,), dt, 0.3),
    "bernoulli": lambda g, n, dt: sampling.bernoulli(g, 0.3, (n,), dt),
    "coins": lambda g, n, dt: sampling.bernoulli(g, chances(g, n), (n,), dt),
    "randint": lambda g, n, dt: sampling.randint(g, (n,), -5, 90, dt),
    "random_full": lambda g, n, dt: sampling.random_full(g, (n,), dt),
}
WHOLE = {
    "byte": lambda g, n: sampling.randint(g, (n,), 0, None, np.dtype("u1")),
    "wide": lambda g, n: sampling.randint(g, (n,), -(2**40), 2**41, np.dtype("i8")),
    "all 64 bits": lambda g, n: sampling.randint(g, (n,), -(2**63), None, np.dtype("i8")),
    "nearly all": lambda g, n: sampling.randint(g, (n,), -(2**63), 2**63 - 1, np.dtype("i8")),
    "bool": lambda g, n: sampling.random_full(g, (n,), np.dtype(bool)),
    "coins of bytes": lambda g, n: sampling.bernoulli(g, 0.6, (n,), np.dtype("u1")),
    "permutation": lambda g, n: sampling.permutation(g, n),
    "complex": lambda g, n: sampling.normal(g, (n,), np.dtype("c8")),
}
BF16 = vistorch.bfloat16.np
ULPS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "float64": 1e-12}


def chances(g, n):
    p = (np.arange(n) % 11 / 10).astype("f4")
    return g.place.xp.asarray(p)


def both(draw, strict_gpu, monkeypatch, seed=5, calls=2):
    """The same draws by the kernels and by numpy, of devices that hold few threads."""
    monkeypatch.setattr(device_sampling, "_held", few := _Few(512))
    monkeypatch.setattr(device_sampling, "SIMULATED", few.threads)
    there = DeviceGenerator("cuda:0")
    here = DeviceGenerator("cuda:0")
    here.place = CPU  # so that numpy draws
    found = []
    for g in (there, here):
        g.manual_seed(seed)
        for _ in range(calls):
            out = draw(g)
        found.append((np.asarray(getattr(out, "_a", out)), g.get_offset()))
    assert isinstance(out, np.ndarray)
    (mine, at), (theirs, place) = found
    assert at == place > 0
    assert mine.dtype == theirs.dtype
    return mine, theirs


class _Few:
    """A device that holds few threads at once."""

    def __init__(self, threads):
        self.threads = threads

    def __call__(self, index):
        return self.threads

    def cache_clear(self):
        pass


@pytest.mark.parametrize("size", [1, 300, 5003])
@pytest.mark.parametrize("dtype", [np.dtype("f2"), BF16, np.dtype("f4"), np.dtype("f8")], ids=str)
@pytest.mark.parametrize("name", DRAWS)
def test_kernels_draw_what_numpy_draws(strict_gpu, monkeypatch, name, dtype, size):
    draw = DRAWS[name]
    mine, theirs = both(lambda g: draw(g, size, dtype), strict_gpu, monkeypatch)
    if name.startswith(("uniform", "bernoulli", "coins", "rand")):
        assert np.array_equal(mine, theirs)
    scale = ULPS[dtype.name]
    close = np.isclose(mine.astype("f8"), theirs.astype("f8"), rtol=scale, atol=scale)
    # a logarithm that differs in its last bit may round up to another whole number, a tangent far out to another one
    assert close.mean() > (0.999 if name in ("geometric", "cauchy") else 1 - 1e-9)


@pytest.mark.parametrize("size", [1, 2, 77, 2100])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_are_the_same(strict_gpu, monkeypatch, name, size):
    mine, theirs = both(lambda g: WHOLE[name](g, size), strict_gpu, monkeypatch)
    assert (
        np.allclose(mine, theirs, rtol=1e-6, atol=1e-6) if name == "complex" else np.array_equal(mine, theirs)
    )
    if name == "permutation":
        assert sorted(mine.tolist()) == list(range(size))


@pytest.mark.parametrize("blocks, block", [(1, 32), (7, 64), (1000, 1024)])
def test_the_launch_changes_nothing(strict_gpu, monkeypatch, blocks, block):
    g = vistorch.Generator("cuda:0").manual_seed(3)
    before = g.get_state()
    first = vistorch.randn(3000, device="cuda:0", generator=g).cpu()
    monkeypatch.setattr(launch, "each", lambda count: blocks)
    monkeypatch.setattr(launch, "BLOCK", block)
    assert vistorch.equal(vistorch.randn(3000, device="cuda:0", generator=g.set_state(before)).cpu(), first)


def test_equal_keys_are_shuffled(strict_gpu, monkeypatch):
    """Both ways alike, in all orders, and nothing else moves."""
    keys = np.array([0, 1, 1, 1, 2, 3, 3, 4], np.int64)
    seen = set()
    for offset in range(0, 800, 4):
        order = np.arange(8)
        device_sampling._shuffle_equals(order, keys, (0, 7, offset))
        there = Array.around(np.arange(8))
        args = (there, Array.around(keys), 8, 0, 7, offset)
        launch.launch("philox", "shuffle_equals", np.dtype("f4"), 2, 32, args)
        assert there._a.tolist() == order.tolist()
        assert [order[i] for i in (0, 4, 7)] == [0, 4, 7]
        assert sorted(order.tolist()) == list(range(8))
        seen.add(tuple(order.tolist()))
    assert len(seen) == 12  # 3! x 2!


PUBLIC = {
    "bernoulli": lambda x: x.clone().bernoulli_(x.abs()),
    "bernoulli of halves": lambda x: vistorch.bernoulli(x.abs().half()),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "multinomial": lambda x: vistorch.multinomial(x.abs() + 0.1, 5),
    "replacement": lambda x: vistorch.multinomial(x.abs() + 0.1, 5, replacement=True),
    "normal": lambda x: vistorch.normal(x, x.abs()),
    "like": lambda x: vistorch.rand_like(x.t()),
    "gaps": lambda x: x[:, ::2].clone().t().normal_(),
    "permutation": lambda x: vistorch.randperm(50, device=x.device, dtype=vistorch.int32),
    "feature_dropout": lambda x: F.dropout2d(x[None, :, :, None]),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.3, True),
    "in place": lambda x: F.dropout(x.clone(), 0.3, inplace=True),
}


def of_public(name):
    cuda.manual_seed(11)
    out = PUBLIC[name](vistorch.linspace(-1, 1, 600).reshape(20, 30).to("cuda:0"))
    assert str(out.device) == "cuda:0"
    return out.double().cpu().numpy()


@pytest.mark.parametrize("name", PUBLIC)
def test_ops_draw_alike(strict_gpu, name):
    """Through the public functions: over the kernels and on a simulated device, from the same seed."""
    mine = of_public(name)
    unbind()
    for known in (placement._known, placement._real, generators._of_devices):
        known.clear()
    cuda.simulate(1)
    assert np.allclose(mine, of_public(name), rtol=1e-5, atol=1e-6)


# ---- dropout -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (6, 7), (4, 512), (24, 256)])
def test_dropout_in_one_kernel(strict_gpu, monkeypatch, dtype, shape):
    """Forward and backward use one mask; kernels and numpy choose the same elements."""
    monkeypatch.setattr(device_sampling, "_held", few := _Few(256))
    calls = []
    run = emulator.Function.__call__
    monkeypatch.setattr(
        emulator.Function, "__call__", lambda s, *a, **k: (calls.append(s.name), run(s, *a, **k))[1]
    )
    cuda.manual_seed(3)
    x = (vistorch.randn(shape) + 3).to(getattr(vistorch, dtype)).to("cuda:0").requires_grad_()
    y = F.dropout(x, 0.25)
    (y * 2).sum().backward()
    assert calls == ["dropout", "dropout_gradient"]
    assert type(y.grad_fn).__name__ == "NativeDropoutBackward0"
    kept = (y != 0).cpu().numpy()
    lanes = min(-(-x.numel() // 256) * 256, few.threads)
    run_length = device_sampling.run_of(x.numel(), x.element_size())
    expected = device_sampling._staying((0, 3, 0), x.numel(), lanes, run_length, 0.75).reshape(shape)
    assert np.array_equal(kept, expected)
    assert abs(kept.mean() - 0.75) < 0.75 / kept.size**0.5 * 3
    assert np.allclose((x.grad != 0).cpu().numpy(), kept)
    for got, want in ((y, x.double() / 0.75), (x.grad, vistorch.full_like(x, 2 / 0.75).double())):
        a, b = got.double().cpu().detach().numpy()[kept], want.cpu().detach().numpy()[kept]
        assert np.allclose(a, b, rtol=ULPS[dtype])


def test_dropout_follows_the_memory(simulated):
    """A transposed input drops the same places of memory; one with gaps goes by its indices."""
    x = vistorch.ones(6, 8, device="cuda")
    cuda.manual_seed(1)
    plain = F.dropout(x)
    cuda.manual_seed(1)
    turned = F.dropout(vistorch.ones(6, 8, device="cuda").t())
    assert turned.stride() == (1, 8)
    assert vistorch.equal(turned.t(), plain)
    assert F.dropout(vistorch.ones(6, 8, device="cuda")[:, ::2]).is_contiguous()


def test_dropout_twice_differentiable(simulated):
    x = vistorch.ones(40, device="cuda", dtype=vistorch.float64, requires_grad=True)
    y = F.dropout(x, 0.5)
    (g,) = vistorch.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = vistorch.autograd.grad(g.sum(), x)
    assert vistorch.equal(h, 2 * (y / x.detach()).detach() ** 2)


# ---- distributions -------------------------------------------------------------------------------------------------
def test_moments(simulated):
    n = 200_000
    vistorch.manual_seed(7)
    for make, mean, std in (
        (lambda d: vistorch.rand(n, dtype=d, device="cuda"), 0.5, 12**-0.5),
        (lambda d: vistorch.randn(n, dtype=d, device="cuda"), 0, 1),
        (lambda d: vistorch.empty(n, dtype=d, device="cuda").exponential_(2.0), 0.5, 0.5),
        (lambda d: vistorch.empty(n, dtype=d, device="cuda").geometric_(0.25), 4, 12**0.5),
        (lambda d: vistorch.empty(n, dtype=d, device="cuda").log_normal_(0.0, 0.5), 1.1331, 0.6039),
    ):
        for dtype in (vistorch.float32, vistorch.float64):
            values = make(dtype).cpu().numpy().astype("f8")
            assert abs(values.mean() - mean) < 5 * std / n**0.5
            assert abs(values.std() / std - 1) < 0.03
    assert vistorch.rand(n, device="cuda", dtype=vistorch.float16).max().item() < 1


def test_permutations_are_alike_likely(simulated):
    vistorch.manual_seed(2)
    seen = [tuple(vistorch.randperm(3, device="cuda").tolist()) for _ in range(1200)]
    counts = [seen.count(p) for p in set(seen)]
    assert len(counts) == 6
    assert min(counts) > 130


def test_drawn_on_the_host(simulated):
    """Distributions without a kernel read the same stream on the host, and go on in it."""
    g = vistorch.Generator("cuda").manual_seed(3)
    rates = vistorch.full((4000,), 4.0, device="cuda")
    first, at = vistorch.poisson(rates, generator=g), g.get_offset()
    second = vistorch.poisson(rates, generator=g)
    assert at > 0
    assert not vistorch.equal(first, second)
    assert abs(first.mean().item() - 4) < 0.2
    assert vistorch.equal(vistorch.poisson(rates, generator=g.manual_seed(3)), first)


# ---- generators ----------------------------------------------------------------------------------------------------
def test_states_have_pytorchs_layout(simulated):
    g = vistorch.Generator(device="cuda:1").manual_seed(0x0102030405060708)
    vistorch.rand(5, device="cuda:1", generator=g)
    state = g.get_state()
    assert (state.dtype, state.tolist()) == (vistorch.uint8, [8, 7, 6, 5, 4, 3, 2, 1, 4] + [0] * 7)
    assert cuda.get_rng_state().numel() == 16
    expected = vistorch.rand(9, device="cuda:1", generator=g)
    for other in (
        vistorch.Generator("cuda:1").set_state(state),
        pickle.loads(pickle.dumps(vistorch.Generator("cuda:1").set_state(state))),
        copy.deepcopy(vistorch.Generator("cuda:1").set_state(state)),
        vistorch.Generator("cuda:1").set_state(state).clone_state(),
    ):
        assert isinstance(other, vistorch.Generator)
        assert str(other.device) == "cuda:1"
        assert vistorch.equal(vistorch.rand(9, device="cuda:1", generator=other), expected)
    assert g.set_state(state[:8]).get_offset() == 0  # a seed alone, as PyTorch takes it


def test_what_a_generator_refuses(simulated):
    g = vistorch.Generator("cuda")
    before = g.get_state()
    with pytest.raises(RuntimeError, match=r"wrong size.*16 bytes.*has 5056; it is a CPU generator's"):
        g.set_state(vistorch.Generator().get_state())
    with pytest.raises(RuntimeError, match="multiple of 4"):
        g.set_offset(6)
    with pytest.raises(RuntimeError, match="multiple of 4"):
        g.set_state(vistorch.tensor([0] * 8 + [3] + [0] * 7, dtype=vistorch.uint8))
    with pytest.raises(TypeError, match="ByteTensor"):
        g.set_state(vistorch.zeros(16))
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        vistorch.Generator().get_offset()
    assert vistorch.equal(g.get_state(), before)


def test_a_shared_state(simulated):
    g = vistorch.Generator("cuda").manual_seed(5)
    other = vistorch.Generator("cuda").graphsafe_set_state(g.graphsafe_get_state())
    vistorch.rand(1, device="cuda", generator=g)
    assert other.get_offset() == g.get_offset() == 4


def test_refused_draws_take_nothing(simulated):
    g = vistorch.Generator("cuda")
    for call in (
        lambda: vistorch.empty(3, device="cuda").normal_(0, -1, generator=g),
        lambda: vistorch.empty(3, device="cuda").uniform_(2, 1, generator=g),
        lambda: vistorch.empty(3, device="cuda").bernoulli_(2.0, generator=g),
        lambda: vistorch.multinomial(vistorch.tensor([-1.0, 2], device="cuda"), 1, generator=g),
        lambda: vistorch.empty(3, device="cuda", dtype=vistorch.int64).exponential_(generator=g),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)):
            call()
    assert g.get_offset() == 0
    vistorch.rand(0, device="cuda", generator=g)
    assert g.get_offset() == 0


def test_a_captured_graph_moves_on(strict_gpu):
    """Kernels read seed and offset from the device's memory: each replay draws what the program would have drawn."""
    g = vistorch.Generator("cuda:0").manual_seed(9)
    vistorch.rand(10, device="cuda:0", generator=g)

    def draws():
        return [
            vistorch.randn(3000, device="cuda:0", generator=g),
            vistorch.rand(5, device="cuda:0", generator=g),
        ]

    other = g.clone_state()
    held = Array.around(np.zeros(2, np.int64))
    expected = [t.cpu().tolist() for t in (*draws(), *draws())]
    g.set_state(other.get_state())
    g.counter.begin_capture(held.data.ptr)
    with pytest.raises(RuntimeError, match="drawn on the host"):
        vistorch.poisson(vistorch.ones(3, device="cuda:0"), generator=g)
    with pytest.raises(RuntimeError, match="while a CUDA graph"):
        g.manual_seed(1)
    g.counter.end_capture()
    found = []
    for _ in range(
        2
    ):  # the emulator runs at once, so a replay is a capture with the numbers put there before
        held._a[:] = g.counter.before_replay(0)
        g.counter.begin_capture(held.data.ptr)
        found += [t.cpu().tolist() for t in draws()]
        g.counter.before_replay(g.counter.end_capture())
    assert found == expected
