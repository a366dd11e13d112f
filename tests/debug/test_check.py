"""One node against finite differences: all rows that the records exercise, planted errors, refusals."""

import copy
import re
from collections import Counter

import numpy as np
import pytest

import vistorch as L
from tests.ops.cases import gradient_dtypes
from tests.ops.library import prepare, run, tensors_of
from tests.ops.samples import create, index, linalg, pointwise, random, reduce, shape
from vistorch.debug import Lines, Stepper, check_node, note_of
from vistorch.engine.backward.backward_pass import order_of
from vistorch.engine.core.graph import Leaf, Out, edge
from vistorch.engine.core.record import record
from vistorch.engine.core.rules import TABLE
from vistorch.engine.core.tensor import wrap

FAMILIES = {
    f.__name__.rpartition(".")[2]: f.OPS for f in (create, index, linalg, pointwise, random, reduce, shape)
}
# What may be refused, and why the sentence is right.
REFUSALS = re.compile(
    "is not finite at its inputs, so they cannot be compared"  # records with NaN, or a deviation of one number
    "|the gradient of .* cannot be computed: .*derivative for .* is not implemented"  # as PyTorch refuses it
    "|the gradient of Linalg.* cannot be computed: .*(ill-defined|not differentiable|depends on Q)"  # says the formula
    "|gives no floating-point output, so it has no derivative"
    "|has a kink or a jump at its inputs"  # records of ties and kinks
    "|computes no gradient, so there is nothing to check"
)


def there(name):
    found = L
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


def nodes_below(tensors):
    order = order_of([edge(t) for t in tensors if t.requires_grad])
    return [n for n in order if n.__class__ not in (Leaf, Out)]


def recorded(op, sample, dtype):
    """The nodes of a call and of its recorded gradient, whose rows are helpers of formulas."""
    with Lines(values=True):
        call = prepare(L, sample, dtype, needs_grad=True)
        outcome = run(op, call)
        if outcome.error is not None:
            return []
        outs = [t for t in tensors_of(outcome.value, L) if t.requires_grad]
        if not outs:
            return []
        nodes = nodes_below(outs)
        try:
            gs = [L.ones_like(t).detach().requires_grad_() for t in outs]
            found = L.autograd.grad(outs, call.grads, gs, create_graph=True, allow_unused=True)
        except RuntimeError:  # once differentiable, or not at all
            return nodes
    return list(dict.fromkeys([*nodes, *nodes_below([g for g in found if g is not None])]))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_node_of_the_records(family):
    wrong, judged = [], Counter()
    for op in FAMILIES[family]:
        if not there(op.name):
            continue  # that it is missing is another test's matter
        for sample in op.samples:
            for dtype in gradient_dtypes(op, sample):
                if dtype not in ("float64", "complex128"):
                    continue
                for node in recorded(op, sample, dtype):
                    if "line" not in note_of(node):
                        wrong.append((op.id, sample, dtype, node.name(), "no line"))
                    if judged[op.id, node.name(), dtype] == 6:
                        continue
                    try:
                        check = check_node(node)
                    except ValueError as refusal:
                        if not REFUSALS.search(str(refusal)):
                            wrong.append((op.id, sample, dtype, str(refusal)))
                        continue
                    judged[op.id, node.name(), dtype] += 1
                    # PyTorch defines a gradient for ties and for indices that meet twice; it is no derivative
                    fine = (check.ok and check.error <= 1e-5) or not sample.smooth
                    if not fine or not check.at.startswith("its inputs"):
                        wrong.append((op.id, sample, dtype, node.name(), str(check)))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert judged or family == "random"


def planted(name, factor, *values):
    """A node of a copy of a row whose first formula is wrong by a factor."""
    rule = copy.copy(TABLE[name])
    right = rule.vjps[0]
    rule.vjps = ((lambda F, *given: right(F, *given) * factor), *rule.vjps[1:])
    rule.node_class = type(rule.grad_name, rule.node_class.__mro__[1:2], {"__slots__": (), "rule": rule})
    tensors = tuple(L.tensor(v, dtype=L.float64, requires_grad=True) for v in values)
    out = wrap(rule.kernels[0](*[t._data for t in tensors]))
    return record(rule, tensors, (), (out,))


@pytest.mark.parametrize(
    ("name", "values"), [("exp", ([0.3, 1.0],)), ("mul", ([0.3, 1.0], [2.0, 3.0])), ("add", ([1.0], [2.0]))]
)
def test_a_wrong_formula_is_reported(name, values):
    assert check_node(planted(name, 1.0, *values)).ok
    for factor in (1.0001, -1.0, 0.0):
        check = check_node(planted(name, factor, *values))
        assert not check.ok and str(check).startswith("WRONG: relative error")
        assert 0.3 < check.error / abs(factor - 1) < 1.01
        assert check.per_input[0] == check.error
        assert all(e <= 1e-5 for e in check.per_input[1:])


def test_one_wrong_element_among_many_is_seen():
    rule = copy.copy(TABLE["exp"])
    spoil = np.ones(1000)
    spoil[17] = 1.1
    rule.vjps = (lambda F, g, out: g * out * spoil,)
    rule.node_class = type(rule.grad_name, rule.node_class.__mro__[1:2], {"__slots__": (), "rule": rule})
    x = L.linspace(-1, 1, 1000, dtype=L.float64).requires_grad_()
    assert not check_node(record(rule, (x,), (), (wrap(np.exp(x.detach().numpy())),))).ok


CASES = {
    "keeps its inputs": (lambda x, y: x * y, "its inputs"),
    "keeps one input": (lambda x, y: x.sin(), "its inputs"),
    "keeps only its output": (lambda x, y: x.exp(), "a random point"),
    "keeps nothing": (lambda x, y: x + y, "its inputs"),
    "keeps a number": (lambda x, y: x * 2.5, "its inputs"),
    "keeps a shape": (lambda x, y: x.sum(0), "its inputs"),
    "broadcasts": (lambda x, y: x * y[0], "its inputs"),
    "power": (lambda x, y: (x * x + 1) ** 3, "its inputs"),
    "matrices": (lambda x, y: x @ y.t(), "its inputs"),
    "several outputs": (lambda x, y: x.unbind(1)[1], "its inputs"),
    "pieces": (lambda x, y: x.split([1, 1])[0], "its inputs"),
    "two results": (lambda x, y: sum(L.std_mean(x, 1)), None),
    "list of tensors": (lambda x, y: L.cat([x, y, x]), "its inputs"),
    "statistics": (lambda x, y: L.nn.BatchNorm1d(3, dtype=x.dtype).eval()(x), "a random point"),
    "numbers beside": (lambda x, y: L.stack([x, L.ones(2, 3, dtype=L.int64)]), "its inputs"),
    "other dtype": (lambda x, y: x.to(L.float32 if x.dtype is L.float64 else L.float64), "its inputs"),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("case", CASES)
def test_what_a_node_keeps_serves_without_lines(case, dtype):
    make, at = CASES[case]
    L.manual_seed(0)
    x, y = (L.rand(2, 3).add(0.5).to(getattr(L, dtype)).requires_grad_() for _ in range(2))
    if "matrices" in case and dtype == "bfloat16":
        x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    node = make(x, y).grad_fn
    check = check_node(node)
    assert check.ok, check
    assert at is None or check.at == at
    assert x.grad is None and y.grad is None


@pytest.mark.parametrize(
    "make",
    [
        lambda z: z * z,
        lambda z: z.abs(),
        lambda z: z.conj() * z,
        lambda z: z.exp(),
        lambda z: z.real,
        lambda z: z.angle(),
        lambda z: z @ z,
        lambda z: z / (z + 2),
    ],
)
def test_complex_nodes(make):
    z = L.tensor([0.5 + 1j, -1.0 + 0.25j], dtype=L.complex128, requires_grad=True)
    with Lines(values=True):
        out = make(z)
    for node in nodes_below([out]):
        assert check_node(node).ok


@pytest.mark.parametrize("values", [False, True])
def test_writes_through_views(values):
    x = L.rand(3, 3, dtype=L.float64).requires_grad_()
    with Lines(values=values):
        y = x * 1.0
        v = y[:, 1]
        v.mul_(x[0] + 1)
        y[0] = x[1].sum()
        y[:, 2].sin_()
        w = v * 2
    names = set()
    for node in nodes_below([y.exp(), w]):
        assert check_node(node).ok
        names.add(node.name())
    assert {"CopySlices", "AsStridedBackward0"} <= names


class Cube(L.autograd.Function):
    """Right or wrong by `factor`, with a constant and a second, unused tensor."""

    factor = 1.0
    calls = 0

    @staticmethod
    def forward(ctx, x, power, other):
        Cube.calls += 1
        ctx.save_for_backward(x)
        ctx.power = power
        return x**power, x.sum()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return Cube.factor * ctx.power * x ** (ctx.power - 1) * g + h, None, None


@pytest.mark.parametrize(("factor", "ok"), [(1.0, True), (1.01, False)])
def test_custom_functions(factor, ok, monkeypatch):
    x = L.tensor([1.0, 2.0], requires_grad=True)
    with Lines(values=True):
        y, s = Cube.apply(x, 3, L.ones(1))
    monkeypatch.setattr(Cube, "factor", factor)
    check = check_node(y.grad_fn)
    assert check.ok is ok and check.at == "its inputs"
    assert check.per_input[1] is None
    assert x.grad is None
    monkeypatch.setattr(Cube, "factor", 1.0)
    (y.sum() + s).backward()  # the graph is as it was
    assert x.grad.tolist() == [4.0, 13.0]


def test_custom_function_that_writes_into_its_input():
    class Doubled(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = L.tensor([1.0, 2.0], requires_grad=True)
    with Lines(values=True):
        y = Doubled.apply(x * 1.0)
    assert check_node(y.grad_fn).ok
    assert y.tolist() == [2.0, 4.0]


def test_overwritten_inputs_are_said_to_be():
    x = L.rand(3, requires_grad=True)
    with Lines(values=True):
        y = x.exp()
    with L.no_grad():
        x.add_(1.0)
    assert check_node(y.grad_fn).at == "its inputs as they are now"


def test_inputs_that_lines_kept_serve_after_the_graph_was_freed():
    x = L.rand(3, requires_grad=True)
    with Lines(values=True):
        y = x.sin()
    y.sum().backward()
    assert check_node(y.grad_fn).ok


def no_gradient():
    x = L.rand(3, requires_grad=True)
    y = x.sin()
    y.sum().backward()
    return y.grad_fn


def relu_at_zero():
    with Lines(values=True):
        return L.zeros(3, requires_grad=True).clamp(min=0).grad_fn


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            no_gradient,
            "SinBackward0 was freed by a backward pass: check it before, or step with retain_graph=True",
        ),
        (relu_at_zero, "ClampBackward1 has a kink or a jump at its inputs"),
        (lambda: L.tensor([-1.0], requires_grad=True).sqrt().square().grad_fn, "is not finite at its inputs"),
        (
            lambda: Cube.apply(L.ones(1, requires_grad=True), 3, None)[0].grad_fn,
            "listen with Lines.values=True. when",
        ),
        (lambda: L.ones(1), "a node is needed, such as a tensor's grad_fn, not a leaf's tensor"),
        (lambda: None, "a node is needed, such as a tensor's grad_fn, not NoneType"),
        (lambda: L.ones(1, requires_grad=True).exp().grad_fn.edges[0], "AccumulateGrad computes no gradient"),
    ],
)
def test_refusals_say_why(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_node(make())


def test_overwritten_saved_value_is_refused_with_pytorchs_sentence():
    x = L.ones(2, requires_grad=True)
    y = x * 1.0
    z = y.sin()
    y.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        check_node(z.grad_fn)


def test_stepper_checks_where_it_stands_and_elsewhere():
    x = L.tensor([0.5, 1.5], requires_grad=True)
    y = x.sin()
    stepper = Stepper(y.sum())
    with pytest.raises(ValueError, match="no step has been taken yet: name a node"):
        stepper.check()
    stepper.step()
    waiting, before = stepper.pending(), np.geterr()
    assert stepper.check().ok and stepper.check(1).ok and stepper.check(y).ok and stepper.check(y.grad_fn).ok
    assert stepper.pending().keys() == waiting.keys() and x.grad is None and np.geterr() == before
    assert L.is_grad_enabled() and stepper.position == 1
    stepper.last()
    with pytest.raises(ValueError, match="AccumulateGrad computes no gradient"):
        stepper.check()


def test_a_check_at_large_and_small_numbers():
    for value in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        x = L.tensor([value, value * 2], dtype=L.float64, requires_grad=True)
        for make in (
            lambda x: x.log(),
            lambda x: x.reciprocal(),
            lambda x: x.sqrt(),
            lambda x: x**2,
            lambda x: x / 3,
        ):
            with Lines(values=True):
                node = make(x).grad_fn
            assert check_node(node).ok, (value, node, check_node(node))
