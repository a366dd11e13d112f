"""Memory that no op made may hold anything until it is written: nobody was given what nobody read."""

import warnings

import numpy as np
import pytest

import vistorch as L
from tests.debug.trace.cells import states, traced

NAN = float("nan")


def garbage(*shape, at=...):
    """What `empty` may give: memory with NaN in it."""
    memory = np.ones(shape, "f4")
    memory[at] = NAN
    return L.from_numpy(memory)


def silent(source, **given):
    """Nothing bad is said of these lines."""
    record = traced(source, **given)
    assert record.first is None and record.sentence.startswith("There is no bad value"), record.sentence
    assert {forward for forward, _ in states(record).values()} <= {"clean"}


# Arguments of methods that write in place, tried in turn.
ARGUMENTS = [
    (),
    (0.5,),
    (0,),
    (L.ones(3, 3),),
    (L.full((3, 3), 0.5),),
    (0.25, 0.5),
    (L.ones(3, 3), L.ones(3, 3)),
    (L.ones(3, 3), 1.0),
    (0, L.arange(3), L.ones(3, 3)),
    (0, L.arange(3), 2.0),
    (1, L.arange(9).view(3, 3) % 3, L.ones(3, 3)),
    (1, L.arange(9).view(3, 3) % 3, L.ones(3, 3), "sum"),
    (0, L.arange(3), L.ones(3, 3), "mean"),
    (L.ones(3, 3) > 0, 2.0),
    (L.ones(3, 3) > 0, L.ones(9)),
    (L.arange(9), L.ones(9)),
    ((L.arange(3),), L.ones(3)),
    (L.ones(3), L.ones(3)),
    (L.ones(2, 3, 3), L.ones(2, 3, 3)),
]
SHAPES = (
    "resize_",
    "squeeze_",
    "unsqueeze_",
    "t_",
    "transpose_",
    "swap",
    "detach_",
    "requires_grad_",
    "set_",
)


def results(name, arguments, named):
    """What a method leaves of targets full of different numbers."""
    left = []
    for value in (NAN, 1.0, -2.0):
        target = L.full((3, 3), value)
        L.manual_seed(0)
        getattr(target, name)(*arguments, **named)
        left.append(target.numpy())
    return left


def overwriting():
    """Every in-place method with arguments with which it leaves nothing of its target."""
    for name in sorted(dir(L.Tensor)):
        if not name.endswith("_") or name.startswith("_") or name.startswith(SHAPES):
            continue
        for arguments in ARGUMENTS:
            for named in ({}, {"beta": 0}, {"include_self": False}):
                try:
                    left = results(name, arguments, named)
                except Exception:
                    continue
                if all(x.shape == (3, 3) and np.array_equal(x, left[0]) for x in left[1:]):
                    yield name, arguments, named


def reads(name):
    """Whether a method asks for its target's values although its answer may not depend on them."""
    return name in {"pow_", "nan_to_num_", "heaviside_", "clamp_", "clip_"} or any(
        word in name
        for word in ("logical", "eq", "ne_", "gt_", "ge_", "lt_", "le_", "less", "greater", "bitwise")
    )


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of old signatures, and index_reduce's
    CASES = [case for case in overwriting() if not reads(case[0])]


def test_the_cases_are_many():
    names = {name for name, _, _ in CASES}
    assert names >= {
        *(
            "uniform_",
            "normal_",
            "zero_",
            "fill_",
            "copy_",
            "random_",
            "bernoulli_",
            "exponential_",
            "cauchy_",
        ),
        *(
            "log_normal_",
            "geometric_",
            "index_copy_",
            "index_fill_",
            "masked_fill_",
            "masked_scatter_",
            "put_",
        ),
        *("scatter_", "scatter_reduce_", "index_reduce_", "index_put_", "addmm_", "addr_", "addbmm_"),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grad", [False, True])
def test_a_write_over_everything_reads_nothing(grad):
    for name, arguments, named in CASES:
        before = garbage(3, 3)
        with L.set_grad_enabled(grad):
            seen = {"x": before, "name": name, "arguments": arguments, "named": named}
            record = traced("x.__getattribute__(name)(*arguments, **named)", **seen)
        assert record.sentence.startswith("There is no bad value"), (name, arguments, named, record.sentence)


@pytest.mark.parametrize(
    "source",
    [
        "x[:] = 1.0\ny = x.sum()",
        "x[...] = torch.ones(3)\ny = x.sum()",
        "x[:2] = 1.0\nx[2] = 2.0\ny = x.sum()",
        "x[0] = 1.0\ny = x[:1].sum()",
        "x[torch.arange(2)] = 1.0\nx[2] = 0.0\ny = x.sum()",
        "x[torch.tensor([True, True, False])] = 1.0\nx[2:].fill_(0)\ny = x.sum()",
        "x.index_copy_(0, torch.arange(2), torch.ones(2))\nx[2] = 1.0\ny = x.sum()",
        "x.scatter_(0, torch.arange(2), torch.ones(2))\nx[2:].normal_()\ny = x.sum()",
        "x.view(1, 3).fill_(1.0)\ny = x.sum()",
        "x.unsqueeze(0)[0, :].uniform_()\ny = x * 2",
        "torch.add(torch.ones(3), 1, out=x)\ny = x.sum()",
        "torch.arange(3.0, out=x)\ny = x.sum()",
        "torch.mv(torch.ones(3, 3), torch.ones(3), out=x)\ny = x.sum()",
        "x.data = torch.ones(3)\ny = x.sum()",
        "x.set_(torch.ones(3))\ny = x.sum()",
        "y = torch.addmv(x, torch.ones(3, 3), torch.ones(3), beta=0)",
        "x.requires_grad_()\ntorch.nn.init.uniform_(x)\n(x * 2).sum().backward()",
    ],
)
def test_what_is_written_before_it_is_read_was_given_to_nobody(source):
    silent(source, x=garbage(3))


def test_a_networks_first_values():
    source = "torch.nn.init.{}(w)\n(w * 2).sum().backward()"
    for name in (
        "xavier_uniform_",
        "kaiming_normal_",
        "orthogonal_",
        "trunc_normal_",
        "eye_",
        "zeros_",
        "ones_",
    ):
        silent(source.format(name), w=garbage(3, 3).requires_grad_())
    silent("torch.nn.init.dirac_(w)", w=garbage(3, 3, 3))
    silent("torch.nn.init.sparse_(w, 0.5)", w=garbage(3, 3))


def test_what_a_partial_write_leaves_is_found_where_it_is_read():
    record = traced("x[:2] = 1.0\ny = x[:2].sum()\nz = x.sum()", x=garbage(3, at=2))
    assert record.first is None
    assert states(record) == {
        ("slice", 1): ("clean", None),
        ("slice", 2): ("clean", None),
        ("sum", 2): ("clean", None),
        ("sum", 3): ("propagated", None),
    }
    assert "in cell [8], line 3: sum_all of x (3, largest nan at [2])" in record.sentence


def test_what_an_op_made_is_healed_as_before():
    record = traced("y = x.log()\nz = y.masked_fill(torch.isinf(y), 0.0)", x=L.zeros(2))
    assert states(record)["log", 1][0] == "origin" and states(record)["masked_fill", 2][0] == "healed"
    source = "y = (x * 1).log()\ny.zero_()\ny.sum().backward()"
    record = traced(source, x=L.zeros(2, requires_grad=True))
    assert states(record)["log", 1][0] == "origin" and states(record)["zero", 2][0] == "clean"


def test_moving_a_bad_value_is_no_second_origin():
    source = "y = x.log()\nz = torch.zeros(2)\nz.copy_(y)\nz[torch.arange(2)] = y\nz[:] = y\ny.add_(1)"
    record = traced(source, x=L.zeros(2))
    assert [state[0] for (op, _), state in states(record).items() if op != "log"] == ["propagated"] * 5
    assert not record.origins


def test_an_infinity_by_assignment_is_placed_and_what_comes_of_it_is_an_origin():
    for where in ("0", "torch.tensor([0])", "torch.tensor([True, False])", "0, :"):
        record = traced(f"m = torch.zeros(2, 2)\nm[{where}] = float('-inf')\np = (m + 1).softmax(1)")
        assert record.first["op"] == "softmax" and states(record)["add", 3][0] == "propagated"
    record = traced("m = torch.zeros(2)\nm[0] = float('nan')\ny = m + 1")
    assert record.first is None and "one was given to setitem in cell [8], line 2" in record.sentence


def test_arithmetic_in_place_on_what_was_bad_already():
    assert traced("x.add_(1)", x=garbage(2)).first is None
    record = traced("x.div_(0)", x=L.ones(2))
    assert record.first["op"].startswith("div")
