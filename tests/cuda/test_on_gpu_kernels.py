"""The project's own kernels on a real card, by the tests that the emulator runs elsewhere."""

import types

import numpy as np
import pytest

import vistorch
from tests.cuda import test_kernel_bounds as bounds
from tests.cuda import test_own_kernels as emulated
from tests.cuda import test_random as drawn
from tests.cuda.test_own_kernels import both, close, numbers
from vistorch import cuda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu
KERNELS = ("attend", "attend_rows", "attend_columns")


@pytest.fixture(autouse=True)
def gpu(clean):
    """Skip with the reason the diagnosis gives."""
    if not cuda.is_available():
        pytest.skip(f"needs a GPU: {cuda.diagnose().reason}")


BUILDS = {
    "softmax": (lambda lib, f, x: f.softmax(x, 1), (65, 1025)),
    "log_softmax_columns": (lambda lib, f, x: f.log_softmax(x, 1), (7, 129, 33)),
    "layer_norm": (lambda lib, f, x: f.layer_norm(x, (257,)), (129, 257)),
    "rms_norm": (lambda lib, f, x: f.rms_norm(x, (257,)), (129, 257)),
    "group_norm": (lambda lib, f, x: f.group_norm(x, 4), (5, 16, 9, 7)),
    "batch_norm": (lambda lib, f, x: f.batch_norm(x, None, None, training=True), (33, 16, 9, 7)),
    "max_pool": (lambda lib, f, x: f.max_pool2d(x, 3, 2, 1), (5, 8, 31, 29)),
    "avg_pool": (lambda lib, f, x: f.avg_pool2d(x, 3, 2, 1), (5, 8, 31, 29)),
    "adaptive": (lambda lib, f, x: f.adaptive_avg_pool2d(x, (5, 4)), (5, 8, 31, 29)),
    "attention": (
        lambda lib, f, x: f.scaled_dot_product_attention(x, x * 0.5, x + 1, is_causal=True),
        (2, 3, 130, 64),
    ),
    "gelu": (lambda lib, f, x: f.gelu(x * 3), (129, 257)),
    "gelu_tanh": (lambda lib, f, x: f.gelu(x * 3, approximate="tanh"), (129, 257)),
    "products": (lambda lib, f, x: (x @ x.mT) @ x * 0.05, (3, 65, 130)),
    "linear": (lambda lib, f, x: f.linear(x, x[:40], x[0, :40]) * 0.1, (65, 130)),
    "addmm": (lambda lib, f, x: lib.addmm(x[0, :65], x, x.mT, beta=0.5, alpha=0.1), (65, 130)),
    "convolution with bias": (
        lambda lib, f, x: f.conv2d(x, x[:4, :, :3, :3], x[0, :4, 0, 0], padding=1) * 0.2,
        (5, 8, 31, 29),
    ),
}


@pytest.mark.parametrize("dtype", emulated.DTYPES)
@pytest.mark.parametrize("name", BUILDS)
def test_against_double(name, dtype):
    build, shape = BUILDS[name]
    close(both(build, numbers(*shape), dtype=dtype), dtype)


@pytest.mark.parametrize("dtype", emulated.DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(37, 70, 8), (130, 130, 64)])
def test_attention_with_dropout(sizes, causal, dtype):
    """The card draws what numpy draws, forward and backward."""
    emulated.test_attention_with_dropout(types.SimpleNamespace(calls=KERNELS), sizes, causal, True, dtype)


@pytest.mark.parametrize("case", bounds.CASES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_memory_may_begin_at_any_element(case, dtype):
    if case != "index_add":  # which adds in another order from run to run
        bounds.test_memory_may_begin_at_any_element(None, case, dtype)


@pytest.mark.parametrize("name", emulated.WRONG)
def test_a_wrong_index_is_reported(name):
    emulated.test_every_way_to_index_is_looked_at(None, name)


@pytest.mark.parametrize("dtype", [np.dtype("f2"), np.dtype("f4"), np.dtype("f8")], ids=str)
@pytest.mark.parametrize("name", drawn.DRAWS)
def test_draws(name, dtype, monkeypatch):
    """The kernels on the card draw what numpy draws."""
    drawn.test_kernels_draw_what_numpy_draws(None, monkeypatch, name, dtype, 5003)


@pytest.mark.parametrize("name", drawn.WHOLE)
def test_whole_draws(name, monkeypatch):
    drawn.test_whole_numbers_are_the_same(None, monkeypatch, name, 2100)


@pytest.mark.parametrize("shape", [(10,), (3000,), (1000, 1001)])
def test_the_numbers_are_torchs(shape):
    """Of the same seed on the same card, bit by bit."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU: torch here has no CUDA")
    found = []
    for lib in (vistorch, torch):
        lib.manual_seed(5)
        x = lib.ones(shape, device="cuda")
        f = lib.nn.functional
        values = [lib.rand(shape, device="cuda"), lib.randn(shape, device="cuda"), f.dropout(x, 0.3)]
        values += [lib.randn(shape, device="cuda", dtype=lib.float64), x.clone().bernoulli_(0.4)]
        values += [
            x.clone().bernoulli_(x * 0.4),
            lib.randint(99, shape, device="cuda"),
            x.clone().exponential_(),
        ]
        values += [lib.randperm(1000, device="cuda"), f.dropout(x.half(), 0.3), x.half().uniform_(-1, 2)]
        state = lib.cuda.get_rng_state()
        found.append([v.cpu().double().numpy() for v in (*values, state)])
    for mine, theirs in zip(*found, strict=True):
        assert np.array_equal(mine, theirs)
