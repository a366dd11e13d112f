"""The exercises of the tutorial about own operations, and its CUDA kernel, which compiles without a GPU."""

import ast

import pytest

from tests.cuda.conftest import compiler  # noqa: F401  (a fixture)
from tests.tutorials.cells import said, sources

NOTEBOOK = "16_extending"


def verdict(number, *answers, **more):
    return said(NOTEBOOK, number, *answers, **more).partition(": ")[2].partition(".")[0]


def test_the_derivative_of_the_signed_square():
    assert verdict(1, "lambda x: 2 * x.abs()") == "right"
    assert verdict(1, "lambda x: 2 * x") == verdict(1, "lambda x: x.abs()") == "not yet"


THREE_TIMES = """
x = torch.tensor(1.0, requires_grad=True)
found = LogCosh.apply(x)
for _ in range({times}):
    (found,) = torch.autograd.grad(found, x, create_graph=True)
"""


def test_a_third_derivative():
    assert verdict(2, "found.item()", before=THREE_TIMES.format(times=3)) == "right"
    assert verdict(2, "found", before=THREE_TIMES.format(times=3)) == "right"
    assert verdict(2, "found.item()", before=THREE_TIMES.format(times=2)) == "not yet"


def test_the_gradient_of_a_difference():
    assert verdict(3, "lambda g: g - nn.functional.pad(g[1:], (0, 1))") == "right"
    assert verdict(3, "lambda g: g - g.roll(-1)") == "not yet"  # the last one goes round
    assert verdict(3, "lambda g: g - nn.functional.pad(g[:-1], (1, 0))") == "not yet"  # the operation itself


def kernel():
    """The CUDA source of the notebook."""
    for source in sources(NOTEBOOK):
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "LEAK":
                return ast.literal_eval(node.value)
    raise AssertionError("no kernel in the notebook")


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_the_kernel_compiles(architecture, compiler):  # noqa: F811  (a fixture)
    assert compiler.compile(kernel(), architecture) > 0


def test_a_mistake_in_the_kernel_would_be_seen(compiler):  # noqa: F811  (a fixture)
    with pytest.raises(ValueError, match="identifier"):
        compiler.compile(kernel().replace("decay *", "delay *"), "sm_80")
