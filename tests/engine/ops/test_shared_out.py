"""An `out` that shares memory with what is read is refused where PyTorch refuses it, before anything changes.

Invariant: where PyTorch allows it, so do we.
"""

import pytest
import torch

import vistorch

CASES = {
    "cat, the first": lambda t: (t.cat, lambda x: ([x, x.clone()], 0), lambda x: x),
    "cat, a part": lambda t: (t.cat, lambda x: ([x[:2], x[2:]], 0), lambda x: x),
    "stack": lambda t: (t.stack, lambda x: ([x[0], x[1], x[2], x[3]],), lambda x: x),
    "vstack": lambda t: (t.vstack, lambda x: ([x[0], x[1], x[2], x[3]],), lambda x: x),
    "cumsum, a part": lambda t: (t.cumsum, lambda x: (x[:3], 0), lambda x: x[1:]),
    "cumsum, itself": lambda t: (t.cumsum, lambda x: (x, 0), lambda x: x),
    "diff": lambda t: (t.diff, lambda x: (x, 1, 0), lambda x: x[:3]),
    "index_select, expanded": lambda t: (
        t.index_select,
        lambda x: (x, 0, t.tensor([0, 1])),
        lambda x: t.zeros(3, 1).expand(3, 4),
    ),
    "take": lambda t: (t.take, lambda x: (x, t.tensor([0, 1])), lambda x: x[0, :2]),
    "tril, itself": lambda t: (t.tril, lambda x: (x,), lambda x: x),
}


def _tried(lib, name):
    call, arguments, out = CASES[name](lib)
    x = lib.arange(16.0).reshape(4, 4)
    before = x.tolist()
    try:
        return call(*arguments(x), out=out(x)).tolist()
    except RuntimeError as refusal:
        assert lib is torch or x.tolist() == before  # PyTorch resizes first
        return str(refusal)


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    assert _tried(vistorch, name) == _tried(torch, name)


def test_kthvalue():
    for lib in (torch, vistorch):
        x = lib.arange(4.0)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            lib.kthvalue(x, 2, out=(x, lib.empty((), dtype=lib.int64)))
        assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["pow", "remainder", "xlogy", "bitwise_and", "float_power", "rsub"])
def test_two_numbers_are_no_operands(name):
    for lib in (torch, vistorch):
        with pytest.raises(
            TypeError, match=rf"{name}\(\) received an invalid combination of arguments - got \(int, int\)"
        ):
            getattr(lib, name)(2, 3)
    assert vistorch.mul(2, 3).item() == torch.mul(2, 3).item() == 6


def test_a_gradient_through_a_wide_output_padding():
    shapes = (1, 2, 4, 4), (2, 2, 4, 5)
    options = {"stride": (3, 2), "padding": (1, 2), "output_padding": (2, 3), "dilation": (4, 4)}
    torch.manual_seed(0)
    x, w = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes)
    a, b = (vistorch.tensor(t.tolist(), dtype=vistorch.float64, requires_grad=True) for t in (x, w))
    (torch.conv_transpose2d(x, w, **options) ** 2).sum().backward()
    (vistorch.conv_transpose2d(a, b, **options) ** 2).sum().backward()
    for mine, theirs in ((a, x), (b, w)):
        assert torch.allclose(torch.tensor(mine.grad.tolist(), dtype=torch.float64), theirs.grad)
