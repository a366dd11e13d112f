"""One op as a plain record."""

import pytest

import vistorch as L
from vistorch.debug import Operand, describe
from vistorch.engine.base.events import Listener


def seen(make, **options):
    """The records of all ops that `make` runs."""
    found = []

    class Collect(Listener):
        def op(self, *given):
            found.append(describe(*given, **options))

    with Collect():
        make()
    return found


X = L.rand(2, 3).requires_grad_()
BROADCAST = {
    "fits": (lambda: X + X, [(), ()]),
    "row": (lambda: X * L.rand(3), [(), (0,)]),
    "column": (lambda: L.rand(2, 1) * X, [(1,), ()]),
    "both": (lambda: L.rand(2, 1) - L.rand(1, 3), [(1,), (0,)]),
    "zero-dim": (lambda: X / L.tensor(2.0), [(), (0, 1)]),
    "ones stay": (lambda: L.rand(1, 3) * L.rand(3), [(), (0,)]),
    "number": (lambda: X * 2.5, [(), None]),
    "alpha": (lambda: L.add(X, L.rand(3), alpha=2), [(), (0,)]),
    "three": (lambda: L.where(X > 0, L.rand(3), X), [(), (0,), ()]),
    "matrices do not": (lambda: L.rand(1, 1) @ L.rand(1, 5), [None, None]),
    "one tensor does not": (lambda: X.sum(), [None]),
}


@pytest.mark.parametrize("case", BROADCAST)
def test_what_was_broadcast(case):
    make, expected = BROADCAST[case]
    record = seen(make)[-1]
    assert [i.broadcast for i in record.ins] == expected
    assert record.broadcasts is any(expected)
    assert all(o.broadcast is None for o in record.outs)


def test_a_record_whole():
    def make():
        return X.sum(1, keepdim=True)

    (record,) = seen(make)
    assert record.name == "sum_dims" and record.module is None
    assert record.line.text == "return X.sum(1, keepdim=True)"
    assert record.ins == (Operand("input", (2, 3), "vistorch.float32", "cpu"),)
    assert record.outs == (Operand("out", (2, 1), "vistorch.float32", "cpu"),)
    assert record.consts["dims"] == (1,) and record.consts["keepdim"] is True
    assert (record.device, record.grad_mode) == ("cpu", "grad")


def test_numbers_several_results_and_modes():
    (record,) = seen(lambda: X * 2.5)
    assert record.ins[1] == Operand("other", (), None, None, value=2.5)
    with L.no_grad():
        (record,) = seen(lambda: X.max(0))
    assert [o.name for o in record.outs] == ["out", "out1"]
    assert [o.dtype for o in record.outs] == ["vistorch.float32", "vistorch.int64"]
    assert record.grad_mode == "no_grad"
    with L.inference_mode():
        assert seen(lambda: X.exp())[0].grad_mode == "inference"


def test_finite_on_request():
    x = L.tensor([1.0, 0.0])
    (record,) = seen(lambda: x.log(), finite=True)
    assert (record.ins[0].finite, record.outs[0].finite) == (True, False)
    (record,) = seen(lambda: L.arange(3) + 1, finite=True)
    assert record.outs[0].finite is None
    (record,) = seen(lambda: x.bfloat16().log(), finite=True)[1:]
    assert record.outs[0].finite is False
    assert seen(lambda: x.log())[0].outs[0].finite is None


def test_a_custom_function():
    class Power(L.autograd.Function):
        @staticmethod
        def forward(ctx, x, power):
            return x**power

        @staticmethod
        def backward(ctx, g):
            return g, None

    record = seen(lambda: Power.apply(X, 2))[-1]
    assert record.name == "Power" and record.ins[0].shape == (2, 3)
    assert record.consts == {"args": ("tensor of shape (2, 3)", 2)}


def test_a_list_of_tensors():
    (record,) = seen(lambda: L.cat([X, X, X]))
    assert [i.shape for i in record.ins] == [(2, 3)] * 3 and record.outs[0].shape == (6, 3)


def test_a_record_holds_nothing_of_the_engine():
    def plain(value):
        if isinstance(value, (tuple, list)):
            return all(plain(v) for v in value)
        if isinstance(value, dict):
            return all(plain(v) for v in value.values())
        return value is None or isinstance(value, (int, float, complex, str, slice))

    for record in seen(lambda: (X[L.tensor([0, 1])], X[:, 1:], X.to(L.float64), X.view(6)[0].mul_)):
        assert plain(record.consts), record
