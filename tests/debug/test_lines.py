"""Lines of nodes, writes and cuts, and of both sides of an overwritten value."""

import os
import sys
import traceback

import pytest

import vistorch as L
from vistorch.debug import Cut, Lines, Stepper, line_of, note_of, overwritten
from vistorch.engine.backward.backward_pass import order_of
from vistorch.engine.base.events import Listener
from vistorch.engine.core.graph import Leaf, Out, edge


def line(node):
    found = line_of(note_of(node).get("line"))
    return None if found is None else found.text


def nodes(t):
    return [n for n in order_of([edge(t)]) if n.__class__ not in (Leaf, Out)]


class Half(L.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.line = "the user's own"
        ctx.node = "the user's own"
        return x * 0.5

    @staticmethod
    def backward(ctx, g):
        return g * 0.5


def test_each_node_knows_its_line():
    x = L.rand(3, 3).requires_grad_()
    with Lines():
        a = x * 2
        b, c, d = a.unbind(0)
        e = Half.apply(b + c)
        f = L.cat([d, e]).sum()
    assert {n.name(): line(n) for n in nodes(f)} == {
        "MulBackward0": "a = x * 2",
        "UnbindBackward0": "b, c, d = a.unbind(0)",
        "AddBackward0": "e = Half.apply(b + c)",
        "HalfBackward": "e = Half.apply(b + c)",
        "CatBackward0": "f = L.cat([d, e]).sum()",
        "SumBackward0": "f = L.cat([d, e]).sum()",
    }
    assert line((x * 2).grad_fn) is None  # nobody listens any more


def test_assignments_and_writes_through_views():
    x = L.rand(3, 3).requires_grad_()
    with Lines():
        y = x * 1.0
        y[0] = x[1] * 2
        v = y[:, 1]
        v.mul_(3)
        y[L.tensor([0, 2])] = 0.5
    texts = [line(n) for n in nodes(y)]
    assert "y[0] = x[1] * 2" in texts and "v.mul_(3)" in texts and "y[L.tensor([0, 2])] = 0.5" in texts
    assert line(y.grad_fn) == "y[L.tensor([0, 2])] = 0.5"


def test_frames_of_a_stepper_show_the_line():
    x = L.ones(2, requires_grad=True)
    with Lines():
        y = (x * x).sum()
    stepper = Stepper(y, names={x: "weight"})
    texts = [str(stepper.step()).replace(os.path.relpath(__file__), "FILE") for _ in range(3)]
    number = test_frames_of_a_stepper_show_the_line.__code__.co_firstlineno + 3
    assert texts == [
        f"1 of 3: SumBackward0  (FILE:{number}: y = (x * x).sum())",
        f"2 of 3: MulBackward0  (FILE:{number}: y = (x * x).sum())",
        "3 of 3: AccumulateGrad (weight)",
    ]


def test_cuts():
    x = L.ones(2, requires_grad=True)
    with Lines() as lines:
        x.detach()
        with L.no_grad():
            pass
    first, second = lines.cuts
    assert isinstance(first, Cut) and (first.kind, first.shape, first.line.text) == (
        "detach",
        (2,),
        "x.detach()",
    )
    assert (second.kind, second.shape, second.line.text) == ("no_grad", None, "with L.no_grad():")


def test_old_cuts_are_forgotten():
    x = L.ones(2)
    with Lines() as lines:
        for _ in range(10_001):
            x.detach()
    assert len(lines.cuts) == 5_001


def overwrite(custom):
    """A saved value that a later line overwrites; the root of the graph."""

    class Keeps(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.sin()
            ctx.save_for_backward(x)
            return y

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return x.cos() * g

    x = L.ones(3, requires_grad=True) * 1.0
    y = {"input": L.sin, "output": L.exp, "custom": Keeps.apply}[custom](x)
    (y if custom == "output" else x).add_(1)
    return y


@pytest.mark.parametrize("kind", ["input", "output", "custom"])
def test_an_overwritten_value_names_both_lines(kind):
    with Lines():
        y = overwrite(kind)
        node = y.grad_fn if kind != "output" else y.grad_fn.edges[0]
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    found = overwritten(node, node.saved[0])
    assert found.saved.text.startswith("y = {") and found.written.text.startswith("(y if custom")
    assert caught.value.__notes__ == [
        f"saved for backward at {found.saved}",
        f"overwritten at {found.written}",
    ]
    if sys.version_info >= (3, 11):
        assert f"overwritten at {found.written}" in "".join(traceback.format_exception(caught.value))
    # the sentence is PyTorch's all the same
    with pytest.raises(RuntimeError) as plain:
        overwrite(kind).sum().backward()
    assert str(plain.value) == str(caught.value)
    assert not hasattr(plain.value, "__notes__")


def test_what_nobody_noted_is_unknown():
    y = overwrite("input")
    found = overwritten(y.grad_fn, y.grad_fn.saved[0])
    assert found.saved is None and found.written is None
    with Lines(), pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_nested_lines_keep_the_values_of_either(order):
    x = L.ones(2, requires_grad=True)
    with Lines(values=order[0]), Lines(values=order[1]):
        y = x.exp()
    note = note_of(y.grad_fn)
    assert note["ins"][0] is x and line(y.grad_fn) == "y = x.exp()"


def test_what_others_noted_stays():
    x = L.ones(2, requires_grad=True)

    class Marks(Listener):
        def op(self, rule, ins, consts, outs):
            outs[0].grad_fn.metadata["mine"] = 1

    with (
        pytest.warns(UserWarning, match="Anomaly Detection"),
        L.autograd.detect_anomaly(check_nan=False),
        Lines(),
    ):
        y = x.exp()
    assert {"where", "parent", "line"} <= note_of(y.grad_fn).keys()
    with Lines(), Marks():
        z = x.exp()
    assert z.grad_fn.metadata == {"mine": 1} and line(z.grad_fn) == "z = x.exp()"
    with Lines(), Lines(values=True):
        w = Half.apply(x)
    w.grad_fn.metadata["mine"] = 2
    assert line(w.grad_fn) == "w = Half.apply(x)" and w.grad_fn.metadata == {"mine": 2}


def test_inference_writes_keep_nothing_alive():
    from vistorch.engine.core.graph import UNTRACKED

    with Lines(), L.inference_mode():
        L.ones(2).add_(1)
    assert not hasattr(UNTRACKED, "by")
