"""Arguments that PyTorch refuses are refused, and those that it takes are taken, in its words where they are fixed.

Invariant: a case is a call that both libraries end alike: the type of what comes back, or of the error.
"""

import pytest

import vistorch
from tests.story import torch

CASES = {
    "min of two, keepdim": lambda L: L.min(L.ones(3), L.ones(3), False),
    "max of two, keepdim": lambda L: L.max(L.ones(3), L.ones(3), keepdim=False),
    "max along a 0-d tensor": lambda L: L.max(L.ones(3, 3), L.tensor(0), True),
    "squeeze_ of two dims": lambda L: L.ones(1, 1).squeeze_(0, 1),
    "squeeze of two dims": lambda L: L.ones(1, 1).squeeze(0, 1),
    "split by a 0-d tensor": lambda L: L.split(L.ones(4), L.tensor(2)),
    "split by a tensor of one": lambda L: L.ones(4).split(L.tensor([2])),
    "split by a tensor of two": lambda L: L.split(L.ones(4), L.tensor([2, 2])),
    "flatten from a tensor of one": lambda L: L.flatten(L.ones(3, 3), L.tensor([0])),
    "squeeze of a tensor of one": lambda L: L.squeeze(L.ones(1, 3), L.tensor([0])),
    "size of a tensor of one": lambda L: L.ones(3).size(L.tensor([0])),
    "narrow from a tensor of one": lambda L: L.narrow(L.ones(3, 3), 0, L.tensor([0]), 1),
    "narrow from a 0-d tensor": lambda L: L.narrow(L.ones(3, 3), 0, L.tensor(0), 1),
    "diag of a tensor of one": lambda L: L.diag(L.ones(3, 3), L.tensor([0])),
    "sum over a tensor of one": lambda L: L.sum(L.ones(3), L.tensor([0])),
    "norm order": lambda L: L.linalg.norm(L.ones(3), L.tensor(2.0)),
    "vector norm order": lambda L: L.linalg.vector_norm(L.ones(3), L.tensor(2.0)),
    "norm order of one": lambda L: L.linalg.vector_norm(L.ones(3), L.tensor([2.0])),
    "renorm order": lambda L: L.renorm(L.ones(3, 3), L.tensor(2.0), 0, 1.0),
    "dist order": lambda L: L.dist(L.ones(3), L.ones(3), L.tensor(2.0)),
    "addmm beta": lambda L: L.addmm(L.ones(2, 2), L.ones(2, 2), L.ones(2, 2), beta=L.tensor(1.0)),
    "addmm beta of one": lambda L: L.addmm(L.ones(2, 2), L.ones(2, 2), L.ones(2, 2), beta=L.tensor([1.0])),
    "lu_factor pivot": lambda L: L.linalg.lu_factor(L.eye(2), pivot=1),
    "batch_norm training": lambda L: L.nn.functional.batch_norm(
        L.ones(3, 3), L.ones(3), L.ones(3), None, None, 1
    ),
    "instance_norm statistics": lambda L: L.nn.functional.instance_norm(L.ones(3, 3, 3), use_input_stats=1),
    "embedding sparse": lambda L: L.nn.functional.embedding(L.tensor([0]), L.ones(3, 3), sparse=2),
    "embedding frequency": lambda L: L.nn.functional.embedding(
        L.tensor([0]), L.ones(3, 3), scale_grad_by_freq=1
    ),
    "affine_grid corners": lambda L: L.nn.functional.affine_grid(
        L.ones(1, 2, 3), (1, 1, 2, 2), align_corners=1
    ),
    "kl_div log": lambda L: L.nn.functional.kl_div(L.ones(2), L.ones(2), reduction="sum", log_target=1),
    "rrelu training": lambda L: L.nn.functional.rrelu(L.ones(2), 0.1, 0.3, 1),
    "detach of a number": lambda L: L.detach(1),
    "histogram without bins": lambda L: L.histogram(L.ones(3)),
    "vsplit at two places": lambda L: L.ones(4, 2).vsplit(2, 2),
    "multi_dot of a tensor": lambda L: L.linalg.multi_dot(L.ones(2, 2, 2)),
}


def ended(L, call):
    """What a call gives or raises, without values."""
    try:
        return type(call(L)).__name__, ""
    except (TypeError, RuntimeError, ValueError, IndexError) as refusal:
        said = str(refusal).replace("vistorch", "torch")
        # the list of overloads, and where an argument stands, are C++'s
        known = "position" not in said and "invalid combination" not in said and "argument" not in said
        return type(refusal).__name__, said if known else ""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", CASES)
def test_an_argument_of_another_kind(case):
    assert ended(vistorch, CASES[case]) == ended(torch, CASES[case])
