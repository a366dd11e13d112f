"""What an exception leaves: the graph up to the op that failed, and what that was given."""

import sys

import pytest

import vistorch as L
from vistorch import nn
from vistorch.debug.graph import Calls, capture_last

from .networks import Block


def failing(function, **more):
    """The record of the exception that a call raises."""
    with pytest.raises(Exception) as caught:
        function()
    return capture_last(caught.value, **more)


def shown(r):
    return [(n.kind, n.op, n.says) for n in r.nodes if n.kind in ("op", "failed") and not n.chip]


def test_a_module_that_does_not_fit():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(7, 2))
    with Calls(forget=True):
        r = failing(lambda: net(L.ones(3, 4)), namespace={"net": net})
    assert shown(r) == [
        ("failed", "linear", "given 3 × 8, 2 × 7, 2"),
        ("op", "Tanh", ""),
        ("op", "Addmm", ""),
    ]
    assert r.title == "linear failed" and r.failed == 0
    assert r.says == ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x8 and 7x2)",)
    assert r.groups[r.nodes[0].group].path == "2"
    assert {r.nodes[e.target].label for e in r.edges if e.source == 0} == {"", "2.weight", "2.bias"}
    assert "lambda: net(L.ones(3, 4))" in r.nodes[0].line


def test_without_a_listener_and_without_names():
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(7, 2))
    Calls(forget=True)
    r = failing(lambda: net(L.ones(3, 4)))
    assert shown(r)[0][:2] == ("failed", "linear") and {n.label for n in r.nodes} >= {"0.weight", "1.weight"}


@pytest.mark.parametrize(
    ("call", "op", "given"),
    [
        (lambda a: a + L.ones(4), "add", "given 3, 4"),
        (lambda a: L.cat([a, L.ones(4, 2)]), "cat", "given 3, 4 × 2"),
        (lambda a: a.view(7), "view", "given 3"),
        (lambda a: a[5], "getitem", "given 3"),
        (
            lambda a: nn.functional.cross_entropy(a.view(3, 1), L.tensor([0])),
            "cross_entropy",
            "given 3 × 1, 1",
        ),
    ],
)
def test_ops_by_hand(call, op, given):
    r = failing(lambda: call(L.ones(3, requires_grad=True) * 2))
    assert shown(r)[0] == ("failed", op, given)
    assert {o for _, o, _ in shown(r)[1:]} >= {"Mul"}
    r.text(), r.wire(), r.scene


def test_what_the_function_had_made_is_there_too():
    class Split(nn.Module):
        def forward(self, x):
            skip = x.exp()
            other = x.sin()
            return other @ L.ones(9, 9), skip

    r = failing(lambda: Split()(L.ones(2, 3, requires_grad=True)))
    assert {o for _, o, _ in shown(r)} == {"mm", "Exp", "Sin"}


def test_names_of_a_session_are_not_looked_into():
    code = "a = L.ones(3, requires_grad=True) * 2\nb = a.exp()\nL.ones(2) + a"
    r = failing(lambda: exec(code, {"L": L}))
    assert [o for _, o, _ in shown(r)] == ["add", "Mul"]


def test_an_exception_of_the_users_own():
    class Refuses(nn.Module):
        def forward(self, x):
            self.made = x * 2
            raise KeyError("no")

    class Makes(Refuses):
        def forward(self, x):
            y = x * 2
            return super().forward(y)

    r = failing(lambda: Makes()(L.ones(2, requires_grad=True)))
    assert [o for _, o, _ in shown(r)] == ["Mul"] and r.says == ("KeyError: 'no'",) and r.failed == -1


class Bad(L.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("not here")


def test_a_backward_pass_that_fails():
    x = L.ones(3, requires_grad=True)
    loss = (Bad.apply(x * 2) * 3).sum()
    r = failing(loss.backward, namespace={"x": x})
    assert shown(r) == [
        ("op", "Sum", ""),
        ("op", "Mul", ""),
        ("failed", "Bad", "given a gradient of 3"),
        ("op", "Mul", ""),
    ]
    assert r.title == "Bad failed in the backward pass" and r.says[-1] == "ValueError: not here"


def test_an_overwritten_value():
    x = L.ones(3, requires_grad=True)
    y = x.exp()
    z = (y * y).sum()
    y.add_(1)
    r = failing(z.backward)
    assert ("failed", "Mul", "given a gradient of 3") in shown(r)


def test_the_last_exception_is_found(monkeypatch):
    try:
        Block()(L.ones(1, 3))
    except RuntimeError as exc:
        kept = exc
    monkeypatch.setattr(sys, "last_exc", None, raising=False)
    monkeypatch.setattr(sys, "last_value", kept, raising=False)
    assert capture_last().nodes[0].op == "linear"


def test_nothing_to_draw(monkeypatch):
    monkeypatch.setattr(sys, "last_exc", None, raising=False)
    monkeypatch.setattr(sys, "last_value", None, raising=False)
    with pytest.raises(ValueError, match="no exception was raised yet"):
        capture_last()
    for stranger in (KeyError("x"), None):
        with pytest.raises(ValueError, match="came from no op"):
            if stranger is None:
                try:
                    {}["a"]
                except KeyError as exc:
                    stranger = exc
            capture_last(stranger)
