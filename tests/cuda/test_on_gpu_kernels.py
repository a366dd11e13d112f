"""The project's own kernels on a real card, by the tests that the emulator runs elsewhere."""

import pytest

from tests.cuda import test_own_kernels as emulated
from tests.cuda.test_own_kernels import both, close, numbers
from vistorch import cuda

pytestmark = pytest.mark.gpu


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
}


@pytest.mark.parametrize("dtype", emulated.DTYPES)
@pytest.mark.parametrize("name", BUILDS)
def test_against_double(name, dtype):
    build, shape = BUILDS[name]
    close(both(build, numbers(*shape), dtype=dtype), dtype)


@pytest.mark.parametrize("name", emulated.WRONG)
def test_a_wrong_index_is_reported(name):
    emulated.test_every_way_to_index_is_looked_at(None, name)


def test_the_words_of_philox():
    import cupy

    from vistorch.engine.kernels.cuda import launch

    out = cupy.empty(11, "u4")
    args = (out, 11, 7, 1 << 33)
    launch.launch("philox", "words", cupy.dtype("f4"), 3, 32, args)
    assert out.get().tolist() == [w for b in range(3) for w in emulated.philox(7, (1 << 33) + b)][:11]
