"""All layers and all optimizers on a real card, against torch on the CPU, and the fuzz there."""

import pytest

from tests.cuda import test_fused_steps as steps
from tests.cuda import test_layers as layers
from tests.cuda import test_training as training
from tests.fuzz.machine import BAD
from tests.fuzz.run import fuzz
from tests.nn.record import Build, Layer
from tests.nn.test_modules import cases
from tests.ops.draws import draws_are_counted  # noqa: F401  the fixture counts draws
from tests.ops.record import Sample
from vistorch import cuda

pytestmark = pytest.mark.gpu
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}


@pytest.fixture(autouse=True)
def gpu(clean):
    """Skip with the reason the diagnosis gives."""
    if not cuda.is_available():
        pytest.skip(f"needs a GPU: {cuda.diagnose().reason}")


@cases("forward", fed=True)
def test_layers(layer: Layer, build: Build, feed: Sample) -> None:
    layers.check(layer, build, feed, layer.dtypes[-1])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name, options", steps.CASES)
def test_optimizers(name, options, dtype):
    mine = steps.path(steps.vistorch, name, options, dtype, "cuda:0")
    theirs = steps.path(steps.torch, name, options, dtype, "cpu")
    for a, b in zip(mine, theirs, strict=True):
        assert steps.np.allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("name, dtype", training.CASES)
def test_autocast(name, dtype):
    training.check(name, dtype)


def test_programs():
    """Random programs; `python -m tests.fuzz.run --device cuda` runs more."""
    seeds, failures = fuzz("device:cuda", 200)
    assert not [verdict for verdict in BAD if verdict in seeds], failures
