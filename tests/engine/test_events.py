"""What the engine emits: every kind, at the right moment, with the right subject and line."""

from functools import partial

import numpy as np
import pytest

import vistorch as L
from tests.ops.library import attempt, prepare
from tests.ops.samples import OPS as RECORDS
from vistorch.debug import Stepper, line_of
from vistorch.engine.base.events import KINDS, Listener, listeners, where
from vistorch.engine.base.modes import mode
from vistorch.engine.core.registry import METHODS
from vistorch.engine.ops.loss import entropy


class Recorder(Listener):
    """Writes down all it is given, with the text of the line."""

    def __init__(self):
        self.noted = []

    def _note(self, kind, *given):
        place = line_of(where())
        self.noted.append((kind, *given, place.text if place else None))

    def op(self, rule, ins, consts, outs):
        self._note("op", rule, ins, consts, outs, bool(mode.on))

    def cut(self, kind, tensor):
        self._note("cut", kind, tensor, None if tensor is None else tensor.requires_grad)

    def write(self, tensor, rule):
        self._note("write", tensor, rule)

    def backward(self, run, outputs):
        self._note("backward", run, outputs)

    def saved(self, node, entry, error):
        self._note("saved", node, entry, error)

    def of(self, kind):
        return [t[1:] for t in self.noted if t[0] == kind]


@pytest.fixture(autouse=True)
def nobody_listens():
    assert all(getattr(listeners, kind) is None for kind in KINDS)
    yield
    assert all(getattr(listeners, kind) is None for kind in KINDS)


X = L.rand(3, 3).add(0.5).requires_grad_()
Y = L.rand(3, 3).requires_grad_()

OPS = {
    "add": (lambda: X + Y, "add"),
    "scaled": (lambda: X * 2.0, "mul"),
    "promoted": (lambda: X * L.arange(3), "mul"),
    "reflected": (lambda: 2 - X, "rsub"),
    "unary": (lambda: X.exp(), "exp"),
    "integers": (lambda: L.arange(3).sin(), "sin"),
    "reduction": (lambda: X.sum(0), "sum_dims"),
    "matmul": (lambda: X @ Y, "mm"),
    "row": (lambda: X[0], "select"),
    "slice": (lambda: X[1:], "slice"),
    "view": (lambda: X.view(9), "view"),
    "transpose": (lambda: X.transpose(0, 1), "transpose"),
    "pieces": (lambda: X.unbind(0), "unbind"),
    "split": (lambda: X.split(1), "split"),
    "cat": (lambda: L.cat([X, Y]), "cat"),
    "where": (lambda: L.where(X > 0, X, Y), "where"),
    "two results": (lambda: X.max(0), "max_dim"),
}


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("case", OPS)
def test_an_op_is_emitted_once_with_its_history_and_line(case, recorded):
    make, name = OPS[case]
    with L.set_grad_enabled(recorded), Recorder() as received:
        made = make()
    outs = made if isinstance(made, tuple) else (made,)
    found = [t for t in received.of("op") if t[0].name == name]
    assert len(found) == 1
    rule, ins, _, noted, on, text = found[0]
    assert len(noted) == len(outs) and all(a is b for a, b in zip(noted, outs, strict=True))
    assert on is recorded
    assert text.startswith(f'"{case}": (lambda')
    tensors = [t for t in ins if isinstance(t, L.Tensor)]
    if recorded and any(t.requires_grad for t in tensors):
        assert outs[0].grad_fn is not None and outs[0].grad_fn.rule.name == rule.name
    else:
        assert outs[0].grad_fn is None


@pytest.mark.parametrize("case", OPS)
def test_listening_changes_no_result_and_no_history(case):
    make, _ = OPS[case]
    plain = make()
    with Recorder():
        received = make()
    pairs = zip(plain, received, strict=True) if isinstance(plain, tuple) else [(plain, received)]
    for a, b in pairs:
        assert a.tolist() == b.tolist() and a._is_view() == b._is_view()
        assert type(a.grad_fn) is type(b.grad_fn)


@pytest.mark.parametrize("needs", [True, False])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("ignore_index", [-100, 10])
def test_a_cross_entropy_in_one_go_is_emitted_as_the_two_ops_it_is(
    needs, reduction, ignore_index, monkeypatch
):
    x, y = L.rand(4, 10, requires_grad=needs), L.tensor([3, 0, 9, 3])

    def noted():
        with Recorder() as received:
            loss = L.nn.functional.cross_entropy(x, y, reduction=reduction, ignore_index=ignore_index)
        first, second = [t[:4] for t in received.of("op")]
        assert first[1][0] is x and second[1][0] is first[3][0] and second[1][1] is y and second[3][0] is loss
        return [
            (rule, consts, [(o.tolist(), o.dtype, o.requires_grad) for o in outs])
            for rule, _, consts, outs in (first, second)
        ]

    at_once = noted()
    monkeypatch.setattr(entropy, "cross_entropy_together", lambda *_: None)
    apart = noted()
    assert [t[:2] for t in at_once] == [t[:2] for t in apart]
    for (*_, a), (*_, b) in zip(at_once, apart, strict=True):
        assert [o[1:] for o in a] == [o[1:] for o in b]
        for (got, *_), (wanted, *_) in zip(a, b, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-6)


class Square(L.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
        return x**power

    @staticmethod
    def backward(ctx, g):
        return g, None


def test_a_custom_function_is_emitted_with_all_it_was_given():
    with Recorder() as received:
        y = Square.apply(X, 2)
    rule, ins, consts, outs, on, text = received.of("op")[-1]
    assert rule.name == "Square" and rule.function is Square and on
    assert ins[0] is X and consts[0][0] is X and consts[0][1] == 2 and outs[0] is y
    assert text == "y = Square.apply(X, 2)"
    assert [t[0].name for t in received.of("op")] == ["pow", "Square"]  # what happens inside is emitted, too
    assert not received.of("op")[0][4]


CUTS = {
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "item": lambda x: x.sum().item(),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.detach().numpy(),
    "requires_grad_(False)": lambda x: x.requires_grad_(False),
}


@pytest.mark.parametrize("kind", CUTS)
def test_cuts(kind):
    x = L.ones(3, requires_grad=True)
    with Recorder() as received:
        CUTS[kind](x)
    kinds = {t[0]: t for t in received.of("cut")}
    _, tensor, required, text = kinds[kind]
    assert text == f'"{kind}": {text.partition(": ")[2]}' and "lambda x" in text
    assert required is (kind != "numpy")  # before it was cut
    assert tensor is x or kind in ("item", "numpy")


def test_cut_by_copying():
    x = L.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"), Recorder() as received:
        L.tensor(x)
    assert received.of("cut") == [("tensor(t)", x, True, "L.tensor(x)")]


def test_requires_grad_false_is_no_cut_where_there_was_none():
    with Recorder() as received:
        L.ones(3).requires_grad_(False)
        L.ones(3).requires_grad_(True)
    assert received.of("cut") == []


def test_no_grad_in_all_its_forms():
    @L.no_grad()
    def decorated():
        return 1

    with Recorder() as received:
        with L.no_grad():
            with L.no_grad():  # nothing is cut that was not cut before
                pass
            with L.enable_grad():
                pass
        L.set_grad_enabled(False)
        L.set_grad_enabled(True)
        with L.inference_mode():
            pass
        decorated()
    assert [(t[0], t[-1]) for t in received.of("cut")] == [
        ("no_grad", "with L.no_grad():"),
        ("no_grad", "L.set_grad_enabled(False)"),
        ("inference_mode", "with L.inference_mode():"),
        ("no_grad", "decorated()"),
    ]


class Dirty(L.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x._data += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def assign(x, index, value):
    x[index] = value


WRITES = {
    "mul_": lambda x: x.mul_(2),
    "add_": lambda x: x.add_(L.ones(3)),
    "sin_": lambda x: x.sin_(),
    "clamp_": lambda x: x.clamp_(0, 1),
    "operator": lambda x: x.__iadd__(1),
    "row": lambda x: assign(x, 0, 1.0),
    "slice": lambda x: assign(x, slice(1), L.zeros(1, 3)),
    "mask": lambda x: assign(x, x > 0, 2.0),
    "indices": lambda x: assign(x, [0, 1], 2.0),
    "copy_": lambda x: x.copy_(L.ones(3)),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(3),
    "normal_": lambda x: x.normal_(),
    "t_": lambda x: x.t_(),
    "out": lambda x: L.add(x.clone(), 1, out=x),
    "arange": lambda x: L.arange(9, out=x),
    "zeros": lambda x: L.zeros(3, 3, out=x),
    "increment_version": lambda x: L.autograd.graph.increment_version(x),
    "dirty": lambda x: Dirty.apply(x),
}


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("case", WRITES)
def test_writes(case, history):
    x = L.ones(3, 3)
    if history and case not in ("out", "arange", "zeros"):  # these refuse tensors with a history
        x = x.requires_grad_() * 1.0
    before = x._version
    with Recorder() as received:
        WRITES[case](x)
    assert x._version == before + 1
    noted = [t for t in received.of("write") if t[0]._ver is x._ver]
    assert len(noted) == 1
    text = noted[0][-1]
    assert f'"{case}"' in text or text == "x[index] = value"


def test_backward_is_emitted_before_it_starts():
    x = L.ones(3, requires_grad=True)
    passes = []

    class Passes(Listener):
        def backward(self, run, outputs):
            assert run.at == 0 and x.grad is None
            passes.append((run, outputs, line_of(where()).text))

    y = x * 2
    with Passes():
        L.autograd.grad(y.sum(), x, retain_graph=True)
        Stepper(y.sum())
        y.sum().backward()
    assert [p[2] for p in passes] == [
        "L.autograd.grad(y.sum(), x, retain_graph=True)",
        "Stepper(y.sum())",
        "y.sum().backward()",
    ]
    assert all(len(p[1]) == 1 and p[1][0].shape == () for p in passes)
    assert x.grad.tolist() == [2.0] * 3


@pytest.mark.parametrize("custom", [False, True])
def test_saved_is_emitted_with_the_error_about_to_be_raised(custom):
    class Keeps(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0].cos() * g

    x = L.ones(3, requires_grad=True) * 1.0
    y = Keeps.apply(x) if custom else x.sin()
    x.add_(1)
    with (
        Recorder() as received,
        pytest.raises(RuntimeError, match="modified by an inplace operation") as caught,
    ):
        y.sum().backward()
    ((node, _, error, text),) = received.of("saved")
    assert node is y.grad_fn and error is caught.value
    assert text == ("return ctx.saved_tensors[0].cos() * g" if custom else "y.sum().backward()")


class Written(Listener):
    """Keeps the version cells of all writes, and what is in the memory before each."""

    def __init__(self):
        self.cells = []
        self.before = []

    def overwrite(self, tensor):
        self.before.append((tensor._data, tensor._data.copy()))

    def write(self, tensor, rule):
        self.cells.append(tensor._ver)


IN_PLACE = {label for label in METHODS if label.endswith("_") and not label.endswith("__")}


def test_every_in_place_op_of_the_records_emits_each_write_once():
    wrong, seen, silent = [], set(), set()
    for op in RECORDS:
        label = op.base if op.base.endswith("_") else op.base + "_"
        if label not in IN_PLACE:
            continue
        for sample in op.samples:
            call = attempt(prepare, L, sample, "float64").value
            if call is None or not call.args or not call.tensors or call.args[0] is not call.tensors[0]:
                continue
            for history in (False, True):
                x = call.args[0].detach().clone()
                if history and not x.is_floating_point():
                    continue
                x = x.requires_grad_().clone() if history else x
                before, held, was = x._version, x._data, x._data.copy()
                with Written() as written:
                    if attempt(partial(getattr(x, label), *call.args[1:], **call.kwargs)).error is not None:
                        continue
                seen.add(label)
                if x._version - before != sum(cell is x._ver for cell in written.cells):
                    wrong.append((label, sample, history))
                if not np.array_equal(held, was, equal_nan=held.dtype.kind in "fc"):
                    said = [
                        a.shape != was.shape or np.array_equal(d, was, equal_nan=True)
                        for a, d in written.before
                        if np.shares_memory(a, held)
                    ]
                    silent.update([] if any(said) else [label])
    assert not wrong and not silent
    assert len(seen) > 100
