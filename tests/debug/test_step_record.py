"""What a frame says, and where a stepper says it stands."""

import pytest

import vistorch as L
from vistorch.debug import Frame, Stepper, formulas_of


def make():
    x = L.tensor([1.0, 2.0], requires_grad=True)
    w = L.tensor([3.0, 4.0], requires_grad=True)
    return x, w, (x * w + x).sum()


def test_every_frame_of_a_small_graph():
    x, w, y = make()
    w.grad = L.ones(2)
    stepper = Stepper(y, names={x: "x", w: "weight"})
    assert (stepper.count, stepper.position, stepper.frame) == (5, 0, None)
    frames = [stepper.step() for _ in range(5)]
    assert [str(f) for f in frames] == [
        "1 of 5: SumBackward0",
        "2 of 5: AddBackward0",
        "3 of 5: MulBackward0",
        "4 of 5: AccumulateGrad (x)",
        "5 of 5: AccumulateGrad (weight)",
    ]
    assert stepper.step() is None
    total, add, mul, of_x, of_w = frames
    assert total.incoming.item() == 1.0 and total.hooked is None and total.accumulated is None
    assert [(f.input, f.to, f.output, f.gradient.tolist(), f.before) for f in total.outgoing] == [
        ("input", 1, 0, [1.0, 1.0], None)
    ]
    assert [(f.input, f.to, f.before, f.after.tolist()) for f in add.outgoing] == [
        ("input", 2, None, [1.0, 1.0]),
        ("other", 3, None, [1.0, 1.0]),
    ]
    first, second = mul.outgoing
    assert (first.input, first.to, first.gradient.tolist()) == ("input", 3, [3.0, 4.0])
    assert (first.before.tolist(), first.after.tolist()) == ([1.0, 1.0], [4.0, 5.0])
    assert (second.input, second.to, second.before, second.after.tolist()) == ("other", 4, None, [1.0, 2.0])
    assert of_x.incoming.tolist() == [4.0, 5.0] and of_x.outgoing == []
    assert of_x.accumulated[0] is None and of_x.accumulated[1].tolist() == [4.0, 5.0]
    assert of_w.accumulated[0].tolist() == [1.0, 1.0] and of_w.accumulated[1].tolist() == [2.0, 3.0]
    assert [f.formulas for f in frames] == [formulas_of(f.node) for f in frames]
    assert [f.node for f in frames] == stepper.nodes


def test_frames_stay_true_after_later_steps_and_steps_back():
    _, w, y = make()
    w.grad = L.ones(2)
    stepper = Stepper(y)

    def seen(f):
        flows = [
            (o.gradient.tolist(), None if o.before is None else o.before.tolist(), o.after.tolist())
            for o in f.outgoing
        ]
        grads = f.accumulated and [g if g is None else g.tolist() for g in f.accumulated]
        return f.incoming.tolist(), flows, grads

    frames = [stepper.step() for _ in range(5)]
    before = [seen(f) for f in frames]
    for i in reversed(range(1, 5)):
        assert seen(stepper.back()) == before[i - 1]  # the frame of an older step, made again
    stepper.finish()
    assert [seen(f) for f in frames[:4]] == before[:4]


def test_one_edge_twice():
    x = L.tensor([3.0], requires_grad=True)
    y = x * 1.0
    frame = Stepper(y * y, L.ones(1)).step()
    first, second = frame.outgoing
    assert (first.before, first.after.tolist()) == (None, [3.0])
    assert (second.before.tolist(), second.after.tolist()) == ([3.0], [6.0])


def test_position_next_and_pending_at_every_moment():
    y = make()[2]
    stepper = Stepper(y)
    assert stepper.pending().keys() == {0} and stepper.next_node is y.grad_fn
    waiting = [{0}, {1}, {2, 3}, {3, 4}, {4}, set()]
    for position, expected in enumerate(waiting):
        assert stepper.position == position and stepper.count == 5
        assert stepper.pending().keys() == expected
        assert stepper.next_node is (stepper.nodes[position] if position < 5 else None)
        stepper.step()
    for position in (4, 3, 2, 1, 0):
        stepper.back()
        assert stepper.position == position and stepper.pending().keys() == waiting[position]
        assert stepper.next_node is stepper.nodes[position]


def test_several_outputs_wait_together():
    x = L.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    a, b, c = x.unbind(0)
    stepper = Stepper((a * b).sum())
    stepper.step()
    frame = stepper.step()
    assert [(f.to, f.output) for f in frame.outgoing] == [(2, 0), (2, 1)]
    (gs,) = stepper.pending().values()
    assert [g if g is None else g.tolist() for g in gs] == [[3.0, 4.0], [1.0, 2.0], None]
    assert stepper.next_node is a.grad_fn
    frame = stepper.step()
    assert frame.name == "UnbindBackward0"
    assert [g if g is None else g.tolist() for g in frame.incoming] == [[3.0, 4.0], [1.0, 2.0], None]
    assert frame.outgoing[0].gradient.tolist() == [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]
    del c


def test_what_hooks_made_of_it():
    x = L.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda gs: (gs[0] + 1,))
    y.grad_fn.register_hook(lambda given, got: (given[0] * 0, None))
    x.register_hook(lambda g: g - 5)
    stepper = Stepper(y.sum())
    stepper.step()
    frame = stepper.step()
    assert frame.incoming.tolist() == [1.0, 1.0] and frame.hooked.tolist() == [11.0, 11.0]
    assert frame.outgoing[0].gradient.tolist() == [0.0, 0.0]
    frame = stepper.step()
    assert frame.incoming.tolist() == [0.0, 0.0] and frame.hooked.tolist() == [-5.0, -5.0]
    assert frame.accumulated[1].tolist() == [-5.0, -5.0]


def test_only_what_runs_is_counted():
    x, w, y = make()
    stepper = Stepper(y, inputs=[w])
    assert [type(n).__name__ for n in stepper.nodes] == [
        "SumBackward0",
        "AddBackward0",
        "MulBackward0",
        "AccumulateGrad",
    ]
    stepper.step()
    add = stepper.step()
    assert [f.to for f in add.outgoing] == [2, None]  # nobody takes what goes to x
    assert stepper.pending().keys() == {2}
    assert stepper.last().index == 3 and stepper.position == 4
    assert stepper.next_node is None and stepper.pending() == {}
    assert x.grad is None and w.grad.tolist() == [1.0, 2.0]


def test_a_target_that_is_no_leaf():
    x = L.tensor([1.0, 2.0], requires_grad=True)
    a, b = (x * 2).unbind(0)
    y = a * 3
    stepper = Stepper(y * b, inputs=[y, b])
    # As in PyTorch, what made a target runs too, and nothing beyond it.
    assert stepper.count == 3
    first, *rest = [stepper.step() for _ in range(3)]
    assert [frame.name for frame in (first, *rest)] == ["MulBackward0", "MulBackward0", "UnbindBackward0"]
    assert [f.to for f in first.outgoing] == [1, 2] and [f.to for f in rest[-1].outgoing] == [None]
    assert [f.after.item() for f in first.outgoing] == [4.0, 6.0]
    assert (y.grad.item(), b.grad.item(), x.grad) == (4.0, 6.0, None)
    stepper.back()
    assert (y.grad.item(), b.grad) == (4.0, None)
    stepper.back()
    assert y.grad is None and b.grad is None


def test_a_leaf_as_root():
    x = L.tensor(2.0, requires_grad=True)
    stepper = Stepper(x, names={x: "x"})
    assert str(stepper.step()) == "1 of 1: AccumulateGrad (x)" and x.grad.item() == 1.0


def test_names_are_by_identity():
    x, other = L.ones(2, requires_grad=True), L.ones(2, requires_grad=True)
    stepper = Stepper(x.sum(), names={other: "other"})
    assert stepper.last().label is None


def test_half_precision_and_complex_gradients_are_tensors_of_their_type():
    for dtype in (L.float16, L.bfloat16, L.complex64):
        x = L.ones(2, dtype=dtype, requires_grad=True)
        frame = Stepper(x * x, L.ones(2, dtype=dtype)).step()
        assert {f.gradient.dtype for f in frame.outgoing} == {dtype} and frame.incoming.dtype == dtype


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (lambda x: x.exp(), ["input"]),
        (lambda x: x * x, ["input", "other"]),
        (lambda x: L.cat([x, x]), ["x0", "x1"]),
    ],
)
def test_formulas(make, texts):
    found = formulas_of(make(L.ones(2, requires_grad=True)).grad_fn)
    assert [f.input for f in found] == texts
    assert all(f.latex for f in found)
    assert str(found[0]) == f"grad {texts[0]} = {found[0].latex}"


def test_formulas_of_a_custom_function():
    class Same(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    assert [str(f) for f in formulas_of(Same.apply(L.ones(1, requires_grad=True)).grad_fn)] == [
        "grad input 0 = vjp(g)"
    ]


def test_the_text_of_a_frame():
    frame = Frame(0, 3, "MulBackward0", None, None)
    assert str(frame) == "1 of 3: MulBackward0"
