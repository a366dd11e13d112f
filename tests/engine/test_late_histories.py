"""Histories that are made late: of views whose base was written, reshaped or asked for gradients since.

Invariant: what each story gives is what torch gives.
"""

import warnings

import pytest
import torch

import vistorch


def a_base_that_is_detached_after_a_view_was_only_looked_at(L):
    """An op that records nothing leaves the view's history to who asks next."""
    a = L.ones(2, 3, dtype=L.float64, requires_grad=True)
    b = a * 1.0
    v = b.t()
    with L.no_grad():
        v.mul_(v)
        v[1:2]
        v.sum()
    b.detach_()
    s = (v.sum() + a.sum()) ** 2
    s.backward()
    return a.grad.tolist(), v.requires_grad


def asked_in_no_grad(L):
    """`grad_fn` shows what is there now, whatever the mode."""
    a = L.ones(2, 3, requires_grad=True)
    b = a * 1.0
    v = b[0]
    b.mul_(2)
    with L.no_grad():
        name = type(v.grad_fn).__name__
        v.sum()
    (v * 3).sum().backward()
    return name, a.grad.tolist()


def an_expanded_parameter_reshaped(L):
    """Views of it are views of it, not of what it was."""
    p = L.nn.Parameter(L.ones(3).expand(2, 3).detach())
    with L.no_grad():
        p.t_()
    found = [part._base is p for part in (*p.unbind(1), *p.split(1, 0), p[0])]
    (p * 2).sum().backward()
    return found, p._base is None, p.is_leaf, p.grad.tolist()


def an_argument_of_func_that_asks_through_its_base(L):
    """A view that is older than its base's wish for a gradient has the wish, and no history."""
    a, w = L.tensor(-0.5), L.tensor(2.0)
    view = a.squeeze()
    a.requires_grad_()
    function = lambda x: (x * x * w).sum()  # noqa: E731
    value, pull = L.func.vjp(function, view)
    return (
        L.func.grad(function)(view).requires_grad,
        value.requires_grad,
        pull(L.tensor(1.0))[0].requires_grad,
        L.func.grad(lambda x: w * 1)(view).requires_grad,
    )


def copied_to_itself(L):
    """An expanded tensor, by every name it has."""
    b, seen = L.arange(2.0).expand(3, 2), []
    for name, other in {
        "itself": b,
        "detached": b.detach(),
        "data": b.data,
        "a view": b[:],
        "a part": b[:1],
        "a copy": b.clone(),
        "another type": b.double(),
    }.items():
        try:
            b.copy_(other)
            seen.append((name, b._version, b.tolist()))
        except RuntimeError as error:
            seen.append((name, str(error)))
    return seen


@pytest.mark.parametrize(
    "story",
    [
        a_base_that_is_detached_after_a_view_was_only_looked_at,
        asked_in_no_grad,
        an_expanded_parameter_reshaped,
        an_argument_of_func_that_asks_through_its_base,
        copied_to_itself,
    ],
)
def test_as_in_torch(story):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert story(vistorch) == story(torch)
