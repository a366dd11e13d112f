"""All op records on a real card, forward and backward, against torch on the CPU."""

import pytest

from tests.cuda import test_strict_ops as strict
from tests.ops.draws import draws_are_counted  # noqa: F401  the fixture counts draws
from vistorch import cuda

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def gpu(clean):
    """Skip with the reason the diagnosis gives."""
    if not cuda.is_available():
        pytest.skip(f"needs a GPU: {cuda.diagnose().reason}")


@strict.for_each("card", lambda op: op.name not in strict.ON_THE_HOST and any(s.xs() for s in op.samples))
def test_op(op: strict.Op) -> None:
    strict.test_what_is_asked_of_cupy(op, None)
