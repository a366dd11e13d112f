"""The plain case of one number for all elements: the same values, nodes and histories as the general way.

Invariant: torch runs the same lines, and what it gives is met exactly.
"""

import doctest

import numpy as np
import pytest
import torch

import vistorch
from vistorch.engine.core.rules import REC, TABLE

BOTH = (vistorch, torch)
NAN, INF = float("nan"), float("inf")


def array(t):
    return np.array(t.detach().tolist())


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_examples_of_decorated_functions(name):
    """`testmod` takes a function that another module decorated for that module's own."""
    test = doctest.DocTestParser().get_doctest(getattr(vistorch, name).__doc__, {}, name, None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.attempted > 1
    assert result.failed == 0


@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.arange(12, dtype=lib.float32),
        lambda lib: lib.arange(12, dtype=lib.float64).reshape(3, 4),
        lambda lib: lib.arange(12, dtype=lib.float32).reshape(3, 4).t(),
        lambda lib: lib.arange(12, dtype=lib.float32)[::3],
        lambda lib: lib.tensor(2.5),
        lambda lib: lib.tensor([1.0, 3.0, 3.0, 1.0]),
        lambda lib: lib.tensor([[1.0, NAN], [NAN, 1.0]]),
        lambda lib: lib.tensor([1.0, NAN, 2.0]),
        lambda lib: lib.tensor([INF, 1.0, INF]),
        lambda lib: lib.tensor([3, 1], dtype=lib.int32),
        lambda lib: lib.ones(2000),
    ],
)
def test_one_number_for_all_is_the_same_from_every_way_in(name, make):
    found = []
    for lib in BOTH:
        x = make(lib)
        if x.is_floating_point():
            x = x.detach().requires_grad_()
        ways = [getattr(lib, name)(x), getattr(x, name)(), getattr(lib, name)(input=x)]
        if x.requires_grad:
            for way in ways:
                way.backward()
            ways.append(x.grad)
            assert [w.grad_fn.name() for w in ways[:3]] == [ways[0].grad_fn.name()] * 3
        found.append([(array(w), str(w.dtype).rpartition(".")[2], tuple(w.shape)) for w in ways])
    for (a, *kind), (b, *kind_there) in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
        assert kind == kind_there


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_the_plain_case_makes_the_node_of_the_row(name):
    x = vistorch.rand(7).requires_grad_()
    row = TABLE[f"{name}_all"]
    plain, general = getattr(x, name)(), getattr(REC, row.name)(x)
    assert type(plain.grad_fn) is type(general.grad_fn)
    assert plain.grad_fn.edges == general.grad_fn.edges
    assert array(plain) == array(general)
    assert (plain.grad_fn.shape, plain.grad_fn.dtype) == (general.grad_fn.shape, general.grad_fn.dtype)
    if name == "sum":
        assert plain.grad_fn.saved == general.grad_fn.saved == ((7,),)
    else:
        (given, made), (_, same) = plain.grad_fn.saved, general.grad_fn.saved
        assert given == (x, 0)
        assert made[0] is plain._data
        assert made[1:] == (plain._ver, 0)
        assert same[2] == 0


def test_a_view_of_what_was_written_since_knows_it():
    """The plain case looks at a view's history after it is brought up to date."""
    grads = []
    for lib in BOTH:
        base, w = lib.zeros(4), lib.ones(2).requires_grad_()
        part = base[:2]
        base[:2] = w * 3
        total = part.sum() + part.max() + (part @ part)
        total.backward()
        grads.append(array(w.grad))
    np.testing.assert_array_equal(*grads)
