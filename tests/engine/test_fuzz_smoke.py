"""A few random programs in every test run; the many are `python -m tests.fuzz.run`.

Invariant: the fuzz that passes here has been seen to fail: a planted bug is found.
"""

import os

import pytest

from tests.fuzz import excuses
from tests.fuzz.machine import BAD, judge
from tests.fuzz.program import program
from tests.fuzz.run import fuzz, library, show

LIBRARY = os.environ.get("VISTORCH_TEST_LIB", "vistorch")


@pytest.mark.parametrize("seed", [0, 100, 200, 300])
def test_programs_do_what_torch_does(seed: int) -> None:
    seeds, failures = fuzz(LIBRARY, 100, seed, keep=2)
    assert not failures, "\n\n".join(show(failure, LIBRARY) for failure in failures)
    assert len(seeds["same"]) > 20, seeds


def test_a_program_depends_on_its_seed_alone() -> None:
    assert program(5) == program(5)
    assert program(5) != program(6)


@pytest.mark.parametrize(("bug", "verdict"), [("forgetful", "outcome differs"), ("wrong", "WRONG")])
def test_a_planted_bug_is_found_and_shrunk(bug: str, verdict: str) -> None:
    seeds, failures = fuzz(f"planted:{bug}", 150, keep=40)
    assert seeds[verdict], seeds
    seed, _, lines, difference = next(f for f in failures if f[1] == verdict)
    assert len(lines) < len(program(seed)), "nothing was left out"
    assert difference
    assert judge(lines, library(f"planted:{bug}"))[0] in BAD
    assert judge(lines, library("torch"))[0] not in BAD


def test_every_family_of_lines_is_written() -> None:
    written = "\n".join("\n".join(program(seed)) for seed in range(400))
    for said in (
        "no_grad(): a0.t_()",
        "L.nn.Parameter",
        "inference_mode",
        "autocast",
        "j)",
        "addcmul_",
        "g.mul_(2)",
    ):
        assert said in written, said


MADE = "a = L.tensor([[0.5, 1.5], [2.5, 3.5]], dtype=L.float64, requires_grad=True)"
# Programs that something else is special about, and a bug that must be seen nevertheless.
HIDDEN = {
    "a write through data": (
        "wrong",
        "WRONG",
        "b = a.sin()",
        "c = b * b",
        "b.data.mul_(2.0)",
        "c.sum().backward()",
    ),
    "a write through a name for data": (
        "wrong",
        "WRONG",
        "b = a.sin()",
        "c = b * b",
        "d = b.data",
        "d.mul_(2.0)",
        "c.sum().backward()",
    ),
    "a saved value that was written": (
        "wrong",
        "WRONG",
        "b = a.sin()",
        "c = b * b",
        "b.mul_(2.0)",
        "c.sum().backward()",
    ),
    "a hook of a reshaped tensor": (
        "wrong",
        "WRONG",
        "b = a.sin()",
        "b.t_()",
        "b.register_hook(lambda g: g * 2)",
        "b.sum().backward()",
    ),
    "a retained gradient of a reshaped tensor": (
        "wrong",
        "WRONG",
        "b = a * 2",
        "b.t_()",
        "b.retain_grad()",
        "b.sin().sum().backward()",
    ),
    "a reshaped tensor that is detached": (
        "wrong",
        "WRONG",
        "b = a * 2",
        "b.t_()",
        "c = a.sin() + b",
        "b.detach_()",
        "c.sum().backward()",
    ),
    "a pass before one that raises": (
        "wrong",
        "WRONG",
        "a.sin().sum().backward()",
        "a.backward()",
    ),
    "beside a line that torch refuses": (
        "wrong",
        "WRONG",
        "a.sin().sum().backward()",
        "b = a @ a.t()",
        "c = b[:1, :1].clone()",
        "c[0] = c",
    ),
    "beside a write that torch makes and refuses": (
        "wrong",
        "WRONG",
        "a.sin().sum().backward()",
        "with L.inference_mode(): b = a * 2",
        "b.add_(1)",
    ),
    "what func gives": (
        "forgetful_func",
        "outcome differs",
        "b = L.func.grad(lambda v: (v * v * a).sum())(a)",
    ),
    "the second derivative of one sample's variance": (
        "derivable_once",
        "outcome differs",
        "b = a[:1].var(0)",
        "c = L.autograd.grad(b, [a], L.ones_like(b), create_graph=True)[0].clone()",
    ),
    "a norm that was written": (
        "careless_norm",
        "outcome differs",
        "b = a.norm()",
        "b.mul_(2.0)",
        "b.backward()",
    ),
    "a count": ("eager", "outcome differs", "b = a.detach()", "b.mul_(2.0)"),
    "a count beside inference mode": (
        "eager",
        "outcome differs",
        "with L.inference_mode(): b = a * 2",
        "c = a.detach()",
        "c.mul_(2.0)",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_planted_bug_is_found_where_something_else_is_special(name: str) -> None:
    bug, verdict, *lines = HIDDEN[name]
    assert judge([MADE, *lines], library(f"planted:{bug}"))[0] == verdict
    assert judge([MADE, *lines], library("torch"))[0] not in BAD


@pytest.mark.parametrize("excuse", excuses.EXCUSES, ids=lambda one: one.reason[:50])
def test_an_excuse_has_a_program_that_needs_it(
    excuse: excuses.Excuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = excuse.example.split("\n")
    assert judge(lines, library(LIBRARY))[0] == excuse.verdict
    others = tuple(one for one in excuses.EXCUSES if one is not excuse)
    monkeypatch.setattr(excuses, "EXCUSES", others)
    assert judge(lines, library(LIBRARY))[0] in (*BAD, "func looks through")


def test_views_of_a_reshaped_tensor_are_named() -> None:
    lines = [MADE, "b = a * 2", "c = b[0]", "b.t_()", "b.retain_grad()", "(b.sum() + c.sum()).backward()"]
    assert judge(lines, library(LIBRARY))[0] == "reshaped"
    hooked = ["b.t_()", "b.register_hook(lambda g: g + 1)", "b[0].mul_(2.0)", "b.sum().backward()"]
    written = [MADE, "b = (a * 2).add_(1.0)", *hooked]  # one that was written, and so has a count of versions
    assert judge(written, library(LIBRARY))[0] == "reshaped"
    other = [line.replace("c = b[0]", "c = a[0]") for line in lines]
    assert judge(other, library(LIBRARY))[0] == "same"


def test_a_gradient_of_the_former_shape_is_named() -> None:
    lines = [
        "a = L.tensor([[0.5, 1.5, 2.5]], dtype=L.float64, requires_grad=True)",
        "b = a[0:1]",
        "a.grad = None; a.data = a.data.t()",
        "c = L.autograd.grad((a * b).sum(), [a])[0].clone()",
    ]
    assert judge(lines, library(LIBRARY))[0] == "former shape"
    assert judge([line for line in lines if "data" not in line], library(LIBRARY))[0] == "same"


def test_functions_look_through_no_grad() -> None:
    lines = [MADE, "with L.no_grad(): b = a.view(-1)", "c = L.func.grad(lambda v: (v * v).sum())(b)"]
    assert judge(lines, library(LIBRARY))[0] == "same"


def test_hooks_around_a_reshape_are_named() -> None:
    first, second = "b.register_hook(lambda g: g + 1)", "b.register_hook(lambda g: g * 2)"
    lines = [MADE, "b = a.sum() * 3", first, "b.squeeze_()", second, "b.backward()"]
    assert judge(lines, library(LIBRARY))[0] == "reshaped"
    assert judge([*lines[:2], *lines[3:]], library(LIBRARY))[0] == "same"
    assert judge([line for line in lines if "squeeze_" not in line], library(LIBRARY))[0] == "same"


def test_a_product_divided_by_nan_is_named() -> None:
    lines = ["a = L.tensor([float('nan')], dtype=L.float64, requires_grad=True)", "a.prod(0).backward()"]
    assert judge(lines, library(LIBRARY))[0] == "nan factor"
    assert judge([line.replace("float('nan')", "2.5") for line in lines], library(LIBRARY))[0] == "same"


def test_views_of_replaced_data_are_named() -> None:
    lines = [
        "a = L.tensor([[0.5, 1.5], [2.5, 3.5]], dtype=L.float64, requires_grad=True)",
        "b, *_ = a.tensor_split(2, -1)",
        "with L.no_grad(): b.add_(0.25)",
        "b[..., 2] = 0.4",
        "a.grad = None; a.data = a.data.t()",
        "(a.sum() + b.sum() * 2).backward()",
    ]
    assert judge(lines, library(LIBRARY))[0] == "former shape"
    assert judge([line for line in lines if "data" not in line], library(LIBRARY))[0] == "both raise"


def test_a_gradient_that_a_hook_writes_is_named() -> None:
    hook = "c = a.sum(); c.register_hook(lambda g: (g.mul_(2), None)[1])"
    lines = [MADE, "b = a.sum() * 3", hook, "b.add_(c)", "b.backward()"]
    assert judge(lines, library(LIBRARY))[0] == "shared gradient"
    lines[2] = hook.replace("(g.mul_(2), None)[1]", "g * 2")
    assert judge(lines, library(LIBRARY))[0] == "same"


def test_a_silent_write_is_judged_by_what_was_recorded() -> None:
    lines = [MADE, "b = a[0].prod()", "b.data.mul_(2.0)", "b.backward()"]
    assert judge(lines, library(LIBRARY))[0] == "silent write"
    func = "c = L.func.grad(lambda v: (v * v).sum())(a)"
    assert judge([*lines[:2], func, *lines[2:]], library(LIBRARY))[0] == "silent write"
