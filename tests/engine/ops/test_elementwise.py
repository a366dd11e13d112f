"""What the records of pointwise ops cannot say: ties, bounds, strangers, and refusals that change nothing.

Invariant: torch runs the same lines, and both sides are compared exactly unless a comment says why not.
"""

import doctest
import itertools
import operator
import types
import warnings

import numpy as np
import pytest
import torch

import vistorch
from vistorch.engine.core import registry
from vistorch.engine.core.record import unpack_raw
from vistorch.engine.ops import elementwise

BOTH = (vistorch, torch)
MODULES = [package for package in vars(elementwise).values() if isinstance(package, types.ModuleType)]
NAN = float("nan")
EDGES = [-np.inf, -1.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan]


def tensor(lib, values, dtype="float64", grad=False):
    t = lib.tensor(np.array(values, dtype=dtype))
    return t.requires_grad_() if grad else t


def array(t):
    return t.detach().numpy(force=True)


def both(run):
    """The result, or the exception, of the same lines in both libraries."""
    found = []
    for lib in BOTH:
        try:
            found.append(run(lib))
        except Exception as raised:
            found.append((type(raised).__name__, str(raised).split("\n")[0]))
    return found


def gradients(lib, run, *values):
    """The value and the gradients of a function of float64 tensors, for a gradient of 3, 4, 5, ..."""
    xs = [tensor(lib, v, grad=True) for v in values]
    out = run(lib, *xs)
    g = np.arange(3.0, 3 + array(out).size).reshape(array(out).shape)
    grads = lib.autograd.grad(out, xs, tensor(lib, g), allow_unused=True)
    return [array(out), *[None if x is None else array(x) for x in grads]]


def assert_same_gradients(run, *values):
    mine, theirs = (gradients(lib, run, *values) for lib in BOTH)
    for a, b in zip(mine, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    "name",
    ["maximum", "minimum", "fmax", "fmin", "hypot", "atan2", "copysign", "xlogy", "logaddexp", "remainder"],
)
def test_binary_gradients_at_ties_and_edges(name):
    x, y = (a.ravel() for a in np.meshgrid(EDGES, EDGES))
    if name == "remainder":  # a quotient of infinity is nan in one library and infinite in the other
        keep = np.isfinite(x) & np.isfinite(y) & (y != 0)
        x, y = x[keep], y[keep]
    if name == "logaddexp":
        # equal infinities: torch's kernel and its formula disagree about them in vectorised and scalar code
        keep = np.isfinite(x) & np.isfinite(y)
        x, y = x[keep], y[keep]
    assert_same_gradients(lambda lib, a, b: getattr(lib, name)(a, b), x, y)


@pytest.mark.parametrize(
    "name",
    [
        "abs",
        "sign",
        "sgn",
        "relu_like",
        "sqrt",
        "rsqrt",
        "log",
        "reciprocal",
        "angle",
        "sinc",
        "tanh",
        "nan_to_num",
    ],
)
def test_unary_gradients_at_edges(name):
    if name == "relu_like":
        assert_same_gradients(lambda lib, x: lib.clamp(x, min=0.0), EDGES)
    else:
        assert_same_gradients(lambda lib, x: getattr(lib, name)(x), EDGES)


def test_clamp_at_its_bounds():
    x, low, high = EDGES, [-1.0] * 10, [1.0] * 10
    assert_same_gradients(lambda lib, t: lib.clamp(t, -1, 1), x)
    assert_same_gradients(lambda lib, t: lib.clamp(t, 1, -1), x)
    assert_same_gradients(lambda lib, t: lib.clamp(t, NAN, 1.0), x)
    assert_same_gradients(lambda lib, *ts: lib.clamp(*ts), x, low, high)
    assert_same_gradients(lambda lib, *ts: lib.clamp(*ts), x, high, low)
    assert_same_gradients(lambda lib, *ts: lib.clamp(*ts), x, low, low)
    assert_same_gradients(lambda lib, a, b: lib.clamp(a, min=b), x, low)
    assert_same_gradients(lambda lib, a, b: lib.clamp_max(a, b), x, high)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 0.0, True])
def test_powers_of_zero_and_of_negative_numbers(exponent):
    assert_same_gradients(lambda lib, x: x**exponent, [-2.0, -0.0, 0.0, 0.5, 3.0])
    if exponent is not True:  # torch breaks off with an internal assertion
        assert_same_gradients(lambda lib, x: lib.pow(exponent, x), [-2.0, -0.0, 0.0, 0.5, 3.0])
    powers = [exponent + 0.0] * 5
    assert_same_gradients(lambda lib, x, y: x**y, [-2.0, -0.0, 0.0, 0.5, 3.0], powers)


@pytest.mark.parametrize(
    "name", ["floor_divide", "remainder", "fmod", "div_trunc", "div_floor", "pow", "rshift", "lshift"]
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float64"])
def test_whole_number_arithmetic_in_every_quadrant(name, dtype):
    low, high = (0, 255) if dtype == "uint8" else (-128, 127)
    values = np.array([low, low + 1, 1, 2, 3, 7, 100, high] + ([] if dtype == "uint8" else [-1, -2, -3, -7]))
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    if name == "pow":
        x, y = x[np.abs(y) < 5], y[np.abs(y) < 5]
    if "shift" in name:
        if dtype == "float64":
            return
        x, y = x[(y >= 0)], y[(y >= 0)]
    if name in ("floor_divide", "remainder", "fmod", "div_trunc", "div_floor"):
        x, y = x[y != 0], y[y != 0]
    if dtype == "int8":  # the quotient does not fit, and neither library promises anything
        keep = ~((x == -128) & (y == -1))
        x, y = x[keep], y[keep]
    run = {
        "div_trunc": lambda lib, a, b: lib.div(a, b, rounding_mode="trunc"),
        "div_floor": lambda lib, a, b: lib.div(a, b, rounding_mode="floor"),
        "rshift": lambda lib, a, b: a >> b,
        "lshift": lambda lib, a, b: a << b,
    }.get(name, lambda lib, a, b: getattr(lib, name)(a, b))
    mine, theirs = (array(run(lib, tensor(lib, x, dtype), tensor(lib, y, dtype))) for lib in BOTH)
    np.testing.assert_allclose(mine, theirs, rtol=1e-14 if name == "pow" else 0)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_division_by_zero_changes_nothing(name):
    x, y = tensor(vistorch, [4, 5], "int64"), tensor(vistorch, [2, 0], "int64")
    for call in (getattr(vistorch, name), getattr(vistorch.Tensor, name + "_")):
        with pytest.raises(RuntimeError, match=r"^ZeroDivisionError$"):
            call(x, y)
    assert x.tolist() == [4, 5] and x._version == 0


class Stranger:
    """Something that knows tensors, while they do not know it."""

    def answer(self, other):
        return "mine"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = answer
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = answer
    __lt__ = __gt__ = __le__ = __ge__ = answer


@pytest.mark.parametrize(
    "op",
    [
        *(
            getattr(operator, n)
            for n in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()
        ),
        *(getattr(operator, n) for n in "lt gt le ge".split()),
    ],
)
def test_a_stranger_gets_its_turn(op):
    x = tensor(vistorch, [1, 2], "int64")
    assert op(x, Stranger()) == "mine"
    mine, theirs = both(lambda lib: op(tensor(lib, [1, 2], "int64"), "text"))
    assert mine == theirs and mine[0] == "TypeError"


def test_comparison_with_nothing_and_hash():
    x, y = tensor(vistorch, [1.0]), tensor(vistorch, [1.0])
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert hash(x) != hash(y) and len({x, y}) == 2


def test_integers_that_do_not_fit():
    mine, theirs = both(lambda lib: tensor(lib, [1.0]) + 2**64)
    assert mine[0] == theirs[0]
    wrapped = both(lambda lib: array(tensor(lib, [1, 2], "uint8") + 300).tolist())
    assert wrapped[0] == wrapped[1]


NAMES = [
    ("x**2", lambda lib, x: x**2),
    ("2**x", lambda lib, x: 2**x),
    ("x**x", lambda lib, x: x**x),
    ("2-x", lambda lib, x: 2 - x),
    ("2/x", lambda lib, x: 2 / x),
    ("x%2", lambda lib, x: x % 2),
    ("x%x", lambda lib, x: x % x),
    ("2%x", lambda lib, x: 2 % x),
    ("2//x", lambda lib, x: 2 // x),
    ("x//x", lambda lib, x: x // x),
    ("fmod", lambda lib, x: lib.fmod(x, 2)),
    ("add alpha", lambda lib, x: lib.add(x, 1, alpha=2)),
    ("rsub", lambda lib, x: lib.rsub(x, x)),
    ("rsub number", lambda lib, x: lib.rsub(x, 2)),
    ("div mode", lambda lib, x: lib.div(x, 2, rounding_mode="floor")),
    ("square", lambda lib, x: x.square()),
    ("fix", lambda lib, x: lib.fix(x)),
    ("copysign", lambda lib, x: lib.copysign(x, -1.0)),
    ("xlogy", lambda lib, x: lib.xlogy(2.0, x)),
    ("clamp_min", lambda lib, x: lib.clamp_min(x, 1)),
    ("clamp_min tensor", lambda lib, x: lib.clamp_min(x, x)),
    ("round", lambda lib, x: lib.round(x, decimals=1)),
    ("log1p", lambda lib, x: lib.log1p(x)),
    ("polygamma", lambda lib, x: lib.polygamma(2, x)),
    ("eq_", lambda lib, x: (x * 1).eq_(2)),
    ("lt_", lambda lib, x: (x * 1).lt_(x.detach())),
    ("mul_ of a wider type", lambda lib, x: (x * 1).mul_(tensor(lib, [2.0, 3.0]))),
]


@pytest.mark.parametrize("run", [r for _, r in NAMES], ids=[n for n, _ in NAMES])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_names_in_the_graph(run, dtype):
    mine, theirs = (run(lib, tensor(lib, [1.5, 2.5], dtype, grad=True)) for lib in BOTH)
    assert type(mine.grad_fn).__name__ == type(theirs.grad_fn).__name__
    assert mine.grad_fn.name() == theirs.grad_fn.name().removeprefix("torch::autograd::")
    np.testing.assert_allclose(array(mine), array(theirs), rtol=2e-6)


def test_in_place_with_a_wider_operand_gives_torch_gradients():
    def run(lib):
        x, y = tensor(lib, [1.0, 2.0], "float32", True), tensor(lib, [3.0, 4.0], grad=True)
        z = x * 1
        z.pow_(y)
        (z * z).backward(tensor(lib, [1.0, 1.0], "float32"))
        return [(str(t.dtype).rpartition(".")[2], array(t).tolist()) for t in (z, x.grad, y.grad)]

    mine, theirs = (run(lib) for lib in BOTH)
    for (kind, values), (expected_kind, expected) in zip(mine, theirs, strict=True):
        assert kind == expected_kind
        np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_a_zero_dim_double_does_not_widen_the_backward_pass():
    x = tensor(vistorch, [1.0, 2.0], "float32", True)
    node = (x * tensor(vistorch, 3.0)).grad_fn
    assert unpack_raw(node, node.saved[0], 0, 1).dtype == np.float32
    node = (x * tensor(vistorch, [3, 4], "int64")).grad_fn
    assert unpack_raw(node, node.saved[0], 0, 1).dtype == np.float32


def test_alpha_is_checked_before_anything_is_written():
    x = tensor(vistorch, [1, 2], "int64")
    for call in (lambda: x.add_(x, alpha=0.5), lambda: x.sub_(x, alpha=1j), lambda: x.add_(x, alpha=True)):
        with pytest.raises(RuntimeError, match="alpha"):
            call()
    assert x.tolist() == [1, 2] and x._version == 0


WRITES = [
    lambda x, y: x.add_(y, alpha=2),
    lambda x, y: x.addcmul_(y, y, value=0.5),
    lambda x, y: x.addcdiv_(y, y, value=0.5),
    lambda x, y: x.lerp_(y, 0.25),
    lambda x, y: x.clamp_(1.2, 2.0),
    lambda x, y: x.clamp_(max=2.0),
    lambda x, y: x.clamp_min_(1.2),
    lambda x, y: x.clamp_max_(1.2),
]


@pytest.mark.parametrize("write", WRITES)
def test_direct_writes(write):
    """The short way in place: value, memory, version, and the check of what was saved."""
    mine, theirs = (tensor(lib, [1.0, 2.0, 3.0], "float32") for lib in BOTH)
    memory = mine._data
    for x, lib in ((mine, vistorch), (theirs, torch)):
        assert write(x, tensor(lib, [4.0, 5.0, 7.0], "float32")) is x
    np.testing.assert_allclose(array(mine), array(theirs), rtol=1e-6)
    assert mine._data is memory and mine._version == theirs._version == 1
    saved = tensor(vistorch, [1.0, 2.0, 3.0], "float32")
    out = tensor(vistorch, [1.0, 1.0, 1.0], "float32", True) * saved
    write(saved, tensor(vistorch, [4.0, 5.0, 7.0], "float32"))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward(tensor(vistorch, [1.0, 1.0, 1.0], "float32"))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("stride", [1, 2])
def test_direct_writes_of_many_elements(write, stride):
    """Block by block where memory is contiguous, at once where it is not, with a tail that fills no block."""
    values = np.random.default_rng(0).uniform(0.5, 3, (2, 70_001 * stride)).astype("f4")
    pairs = [[lib.from_numpy(v.copy())[::stride] for v in values] for lib in BOTH]
    for x, y in pairs:
        assert write(x, y) is x
    np.testing.assert_allclose(array(pairs[0][0]), array(pairs[1][0]), rtol=1e-6)


def test_views_of_complex_numbers_write_through():
    z = tensor(vistorch, [1 + 2j, 3 + 4j], "complex128")
    vistorch.view_as_real(z)._data[0, 1] = 9.0
    vistorch.real(z)._data[1] = 5.0
    assert z.tolist() == [1 + 9j, 5 + 4j]
    pairs = tensor(vistorch, [[1.0, 2.0], [3.0, 4.0]])
    vistorch.view_as_complex(pairs)._data[1] = 7j
    assert pairs.tolist() == [[1.0, 2.0], [0.0, 7.0]]
    assert vistorch.real(pairs) is pairs and vistorch.view_as_complex(pairs)._base is pairs


def test_no_numpy_warning_escapes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tensor(vistorch, [0.0, -1.0, np.inf, np.nan, 1e308], grad=True)
        for name in (
            "log",
            "sqrt",
            "reciprocal",
            "exp",
            "tan",
            "lgamma",
            "digamma",
            "erfinv",
            "acosh",
            "sigmoid",
        ):
            y = getattr(vistorch, name)(x)
            y.backward(tensor(vistorch, [1.0] * 5))
        vistorch.where(x > 0, 0.0, x)
        x.detach().addcdiv_(x.detach(), x.detach() * 0, value=1.0)


def functions_of_rows():
    """The family's functions that were made from rows, by name."""
    rows = {id(fn) for module in MODULES for fn in vars(module).values() if hasattr(fn, "plain_types")}
    return {label: fn for label, fn in registry.FUNCTIONS.items() if id(fn) in rows}


@pytest.mark.parametrize("label", functions_of_rows())
def test_example(label):
    """The docstrings of functions made from rows are out of the reach of --doctest-modules."""
    names = {"vistorch": vistorch}
    test = doctest.DocTestParser().get_doctest(registry.FUNCTIONS[label].__doc__, names, label, None, 0)
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted and not result.failed


def test_equal_promotes_what_it_compares() -> None:
    kinds = ("float32", "float64", "int64", "bool", "float16", "bfloat16", "complex64", "uint8")
    for values in ([1, 1], [0.1, 1], [16777217, 1], [], [float("nan"), 1]):
        for p, q in itertools.product(kinds, repeat=2):
            try:
                want = torch.equal(*[torch.tensor(values).to(getattr(torch, k)) for k in (p, q)])
            except RuntimeError:
                continue
            got = vistorch.equal(*[vistorch.tensor(values).to(getattr(vistorch, k)) for k in (p, q)])
            assert got is want, (values, p, q)
