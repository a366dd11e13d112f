"""`allow_mutation_on_saved_tensors`: backward gets what was saved, however it is written to afterwards."""

import gc

import pytest
import torch

import vistorch


def written(lib, how):
    """The gradient of w in sum(w * x) and of exp(w), after `how(lib, x, y)` wrote to x or to y = exp(w)."""
    w = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = lib.tensor([4.0, 5.0, 6.0])
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = w.exp()
        loss = (w * x).sum() + (y * y).sum()
        how(lib, x, y)
        loss.backward()
    return w.grad.tolist()


WRITES = {
    "nothing": lambda lib, x, y: None,
    "a method": lambda lib, x, y: x.mul_(10),
    "an operator": lambda lib, x, y: y.__iadd__(1),
    "twice": lambda lib, x, y: (x.zero_(), x.add_(3)),
    "an element": lambda lib, x, y: x.__setitem__(0, 9.0),
    "out=": lambda lib, x, y: lib.zeros(3, out=x),
    "a list": lambda lib, x, y: lib._foreach_add_([x], 1.0),
    "an optimizer": lambda lib, x, y: stepped(lib, x),
    "copy_": lambda lib, x, y: x.copy_(lib.ones(3)),
}


def stepped(lib, x):
    x.requires_grad_()
    x.grad = lib.ones(3)
    lib.optim.SGD([x], 0.1).step()


@pytest.mark.parametrize("name", WRITES)
def test_a_write_changes_no_gradient(name):
    ours, theirs = (written(lib, WRITES[name]) for lib in (vistorch, torch))
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert ours == pytest.approx(written(vistorch, WRITES["nothing"]), rel=1e-6)


def test_a_write_to_a_view_changes_none_either():
    assert written(vistorch, lambda lib, x, y: x[1:].mul_(10)) == pytest.approx(
        written(vistorch, WRITES["nothing"])
    )


def test_it_copies_only_what_is_written():
    x, y = vistorch.ones(3), vistorch.ones(3)
    with vistorch.autograd.graph.allow_mutation_on_saved_tensors():
        w = vistorch.ones(3, requires_grad=True)
        node = (w * x * y).sum().grad_fn.next_functions[0][0]
        y.add_(1)
        assert node._saved_other.data_ptr() != y.data_ptr() and node._saved_other.tolist() == [1, 1, 1]
        first = node.next_functions[0][0]
        assert first._saved_other.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("lib", [vistorch, torch], ids=lambda lib: lib.__name__)
def test_it_is_not_nested_and_ends_with_its_context(lib):
    allow = lib.autograd.graph.allow_mutation_on_saved_tensors
    with allow(), pytest.raises(RuntimeError, match="contexts cannot be nested"), allow():
        pass
    with allow():
        loss = (lib.ones(2, requires_grad=True).clone() ** 2).sum()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
        loss.backward()
    x = lib.ones(2, requires_grad=True).clone()
    loss = (x**2).sum()
    x.sin_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_was_saved_goes_with_the_graph():
    with vistorch.autograd.graph.allow_mutation_on_saved_tensors() as copies:
        x = vistorch.ones(3)
        loss = (vistorch.ones(3, requires_grad=True) * x).sum()
        gc.disable()
        try:
            assert len(copies._saved)
            del loss
            assert not len(copies._saved)
        finally:
            gc.enable()
