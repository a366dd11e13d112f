"""Numbers before tensors, as documents of the first PyTorch have them, and what it has taken away since.

Invariant: what PyTorch still takes gives its result and, once, its warning; what it refuses is refused.
"""

import importlib
import warnings

import pytest
import torch

import vistorch

NEW = {
    "addmm": ("beta=0.5, alpha=2", "m, m, m"),
    "addmv": ("beta=0.5, alpha=2", "v, m, v"),
    "addr": ("beta=0.5, alpha=2", "m, v, v"),
    "addbmm": ("beta=0.5, alpha=2", "m, b, b"),
    "baddbmm": ("beta=0.5, alpha=2", "b, b, b"),
}
CALLS = [
    *[
        form.format(name=name, x=x, a=a, b=b)
        for name, (_, tensors) in NEW.items()
        for x, a, b in [tensors.split(", ")]
        for form in (
            "L.{name}(0.5, {x}, 2, {a}, {b})",
            "L.{name}(0.5, {x}, {a}, {b})",
            "{x}.{name}(0.5, 2, {a}, {b})",
            "{x}.{name}(0.5, {a}, {b})",
            "{x}.clone().{name}_(0.5, 2, {a}, {b})",
            "{x}.clone().{name}_(0.5, {a}, {b})",
        )
    ],
    *[
        form.format(name=name)
        for name in ("add", "sub")
        for form in ("L.{name}(m, 2, m.t())", "m.{name}(2, m.t())", "m.clone().{name}_(2, m.t())")
    ],
    *[
        form.format(name=name)
        for name in ("addcmul", "addcdiv")
        for form in ("L.{name}(m, 2, m, m.t())", "m.{name}(2, m, m.t())", "m.clone().{name}_(2, m, m.t())")
    ],
]
REFUSED = [
    "L.addmm(0.5, m, 2, m)",
    "L.addmm(m, m, m, m, m)",
    "L.addmm(0.5, m, 2, m, m, m)",
    "L.addmm('a', m, m, m)",
    "L.add(m, m, m)",
    "L.add(m, 2, m, alpha=2)",
    "L.addcmul(m, m, m, m)",
    "m.addmm(m, m, 2)",
]


def _called(L, call):
    shaped = {"m": (2, 2), "v": (2,), "b": (2, 2, 2)}
    given = {name: L.arange(2.0 ** len(n)).reshape(n) + 1 for name, n in shaped.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = eval(call, {"L": L, **given})
        except TypeError:
            return "refused"
    return made.tolist(), [str(one.message) for one in caught]


@pytest.mark.parametrize("call", CALLS)
def test_as_pytorch(call):
    found, said = _called(vistorch, call)
    assert found == _called(torch, call)[0]
    assert len(said) == 1 and said[0].startswith(
        "This overload of "
    )  # PyTorch says it once for all functions


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_of_no_form(call):
    assert _called(vistorch, call) == _called(torch, call) == "refused"


def test_the_warning_names_both_forms():
    said = _called(vistorch, "L.addmm(0.5, m, 2, m, m)")[1][0]
    assert said == (
        "This overload of addmm is deprecated:\n"
        "\taddmm(Number beta, Tensor input, Number alpha, Tensor mat1, Tensor mat2, *, Tensor out = None)\n"
        "Consider using one of the following signatures instead:\n"
        "\taddmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1, Tensor out = None)"
    )


@pytest.mark.filterwarnings("ignore:This overload")
def test_gradients_and_out():
    m = vistorch.ones(2, 2, requires_grad=True)
    vistorch.addmm(0.5, m, 2, m, m).sum().backward()
    assert m.grad.tolist() == [[8.5] * 2] * 2
    out, x = vistorch.empty(2, 2), m.detach()
    assert vistorch.addmm(0.5, x, 2, x, x, out=out) is out and out.tolist() == [[4.5] * 2] * 2


def test_what_was_taken_away():
    with pytest.raises(AttributeError, match=r"no attribute 'legacy': .* use the modules of `nn`"):
        _ = vistorch.legacy
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'vistorch.legacy': .*`optim`"):
        importlib.import_module("vistorch.legacy.nn")
    for L in (torch, vistorch):
        assert not hasattr(L, "legacy")


@pytest.mark.parametrize("alpha", [0.1, 2.7, -1.3, 3])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_a_factor_in_a_half_type_is_rounded_first(name, dtype, alpha):
    torch.manual_seed(0)
    a, b = (torch.randn(4096).to(getattr(torch, dtype)) for _ in range(2))
    x, y = (vistorch.from_numpy(t.float().numpy()).to(getattr(vistorch, dtype)) for t in (a, b))
    theirs = getattr(torch, name)(a, b, alpha=alpha).float().numpy()
    assert (getattr(vistorch, name)(x, y, alpha=alpha).float().numpy() == theirs).all()
