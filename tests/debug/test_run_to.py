"""Going to a node, a tensor or a condition, in both directions."""

import pytest

import vistorch as L
from vistorch.debug import Stepper


@pytest.mark.parametrize("way", ["node", "number", "negative", "tensor"])
def test_run_to_in_both_directions(way):
    x = L.ones(3, requires_grad=True)
    a = x * 2
    b = a.exp()
    c = b.sum()
    stepper = Stepper(c)
    assert [type(n).__name__ for n in stepper.nodes] == [
        "SumBackward0",
        "ExpBackward0",
        "MulBackward0",
        "AccumulateGrad",
    ]
    names = {
        "node": [c.grad_fn, b.grad_fn, a.grad_fn, stepper.nodes[3]],
        "number": [0, 1, 2, 3],
        "negative": [-4, -3, -2, -1],
        "tensor": [c, b, a, x],
    }[way]
    for place in (2, 0, 3, 1, 1, 3, 0):
        frame = stepper.run_to(names[place])
        assert frame.index == place and stepper.position == place + 1
        assert (x.grad is not None) == (place == 3)


def test_run_to_what_is_not_there():
    x, stranger = L.ones(3, requires_grad=True), L.ones(3, requires_grad=True)
    stepper = Stepper(x.sum())
    for node in (2, -3, stranger, stranger.exp(), stranger.exp().grad_fn, L.ones(1), "sum"):
        with pytest.raises(ValueError, match=r"no such node in this pass: .*; it has nodes 0 to 1"):
            stepper.run_to(node)
    assert stepper.position == 0


def test_run_to_a_node_that_no_gradient_reaches():
    class Blocks(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return None

    x, w = L.ones(3, requires_grad=True), L.ones(3, requires_grad=True)
    z = w * 3
    y = x * 2
    stepper = Stepper((z + Blocks.apply(y)).sum())
    assert stepper.run_to(y) is None
    position = stepper.position
    assert stepper.next_node is z.grad_fn
    assert stepper.run_to(y) is None and stepper.position == position
    stepper.finish()
    assert x.grad is None and w.grad.tolist() == [3.0] * 3


def test_run_until():
    x = L.ones(3, requires_grad=True)
    stepper = Stepper((x * 2).exp().sum())
    assert stepper.run_until(lambda frame: frame.name.startswith("Exp")).index == 1
    assert stepper.run_until(lambda frame: frame.name.startswith("Exp")) is None
    assert stepper.position == stepper.count
