"""What the records of reductions cannot say: accuracy, memory order, ties and zeros at higher order, warnings, names.

Invariant: torch runs the same lines; values are compared with float64 sums or with torch, exactly where they can be.
"""

import doctest
import types
import warnings

import numpy as np
import pytest
import torch

import vistorch
from vistorch.engine.kernels import totals
from vistorch.engine.ops import reduce

BOTH = (vistorch, torch)
MODULES = [module for module in vars(reduce).values() if isinstance(module, types.ModuleType)]
NAN, INF = float("nan"), float("inf")


def tensor(lib, values, dtype="float64", grad=False):
    t = lib.tensor(np.array(values, dtype=dtype))
    return t.requires_grad_() if grad else t


def array(t):
    return np.array(t.detach().tolist())


def gradients(call, values):
    """First gradient, and the gradient of its weighted sum, of `call` in both libraries."""
    found = []
    for lib in BOTH:
        x = tensor(lib, values, grad=True)
        out = call(lib, x)
        weights = tensor(lib, np.arange(1.0, out.numel() + 1).reshape(tuple(out.shape)))
        (first,) = lib.autograd.grad((out * weights).sum(), x, create_graph=True)
        again = None
        if first.requires_grad:
            slope = tensor(lib, np.cos(np.arange(first.numel())).reshape(tuple(first.shape)))
            (again,) = lib.autograd.grad((first * slope).sum(), x, allow_unused=True)
        found.append((array(first), np.zeros(x.shape) if again is None else array(again)))
    return found


def agree(call, values):
    (first, second), (first_there, second_there) = gradients(call, values)
    np.testing.assert_allclose(first, first_there, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second, second_there, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


# ---- sums ------------------------------------------------------------------------------------------------------
LAYOUTS = {
    "flat": (lambda a: a.reshape(-1), None),
    "columns": (lambda a: a, 0),
    "rows": (lambda a: a, 1),
    "transposed": (lambda a: a.T, 0),
    "strided": (lambda a: a[:, ::2], None),
    "strided narrow": (lambda a: a.reshape(-1, 3)[:, ::2], None),
    "strided columns": (lambda a: a[:, ::2], 0),
    "narrow": (lambda a: a.reshape(-1, 3), 0),
    "middle": (lambda a: a.reshape(30, 1000, 9), 1),
    "outside": (lambda a: a.reshape(90, 100, 30), (0, 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_in_float32_are_as_accurate_as_torch(layout):
    view, dim = LAYOUTS[layout]
    a = np.random.default_rng(3).uniform(0.5, 1.5, (9000, 30)).astype("f4")
    exact = view(a).astype("f8").sum(dim)
    errors = []
    for lib in BOTH:
        x = lib.from_numpy(view(a))
        got = x.sum() if dim is None else x.sum(dim)
        errors.append(np.abs(array(got) / exact - 1).max())
    # three ulps, and no running sum can stay below them
    assert errors[0] <= max(errors[1], 4e-7), errors


@pytest.mark.parametrize("shape", [(33,), (40, 1), (100, 7), (65, 3, 5), (4, 100, 2, 3), (2, 0, 3), (70, 0)])
def test_totals_over_every_choice_of_axes(shape):
    a = np.random.default_rng(0).integers(-5, 5, shape).astype("f4")
    turned = np.asfortranarray(a)
    for mask in range(2 ** len(shape)):
        dims = tuple(i for i in range(len(shape)) if mask >> i & 1)
        for keepdim in (False, True):
            for x in (a, turned, np.moveaxis(a, 0, -1).copy().transpose(-1, *range(len(shape) - 1))):
                got = totals.total(np, x, dims, keepdim)
                assert np.array_equal(got, a.sum(dims, keepdims=keepdim)), (dims, keepdim)
                if dims:
                    squares = totals.squares(np, x, dims, keepdim)
                    assert np.array_equal(squares, (a * a).sum(dims, keepdims=keepdim)), (dims, keepdim)


def test_half_types_are_summed_in_float32():
    for dtype in ("float16", "bfloat16"):
        for lib in BOTH:
            x = lib.tensor([1.0] * 4096 + [0.25] * 16).to(getattr(lib, dtype))
            assert x.sum().item() == (4100.0 if dtype == "float16" else 4096.0)
            assert x.sum(0).item() == x.sum().item()
    assert vistorch.tensor([60000.0, 60000.0]).to(vistorch.float16).mean().item() == 60000.0


def test_numpy_spellings():
    for lib in BOTH:
        x = tensor(lib, [[1.0, 2.0], [3.0, 5.0]])
        assert lib.sum(x, axis=0, keepdims=True).tolist() == [[4.0, 7.0]]
        assert x.mean(axis=1).tolist() == [1.5, 4.0]
        assert lib.max(x, axis=1).indices.tolist() == [1, 1]
        with pytest.raises(TypeError):
            x.sum(dimension=0)


def test_not_a_tensor():
    for name in ("sum", "mean", "max", "amax", "std", "all", "sort", "norm", "median", "argmax"):
        with pytest.raises(TypeError, match=r"\(position 1\) must be Tensor, not list"):
            getattr(vistorch, name)([1.0])


# ---- products with zeros ---------------------------------------------------------------------------------------
PRODUCTS = {
    "none": [2.0, -3.0, 0.5, 4.0],
    "one": [2.0, 0.0, 0.5, 4.0],
    "two": [0.0, 3.0, 0.0, 4.0],
    "three": [0.0, 0.0, 0.0, 4.0],
}


@pytest.mark.parametrize("zeros", PRODUCTS)
def test_products_with_zeros_to_second_order(zeros):
    agree(lambda lib, x: x.prod(), PRODUCTS[zeros])
    agree(lambda lib, x: x.prod(0), PRODUCTS[zeros])
    agree(lambda lib, x: x.prod(1, keepdim=True), [PRODUCTS[zeros], PRODUCTS["none"]])
    agree(lambda lib, x: x.cumprod(0), PRODUCTS[zeros])


def test_a_third_derivative_of_a_product():
    """d3(abcd)/da db dc = d, where torch's own formula divides by zero."""
    x = tensor(vistorch, [0.0, 0.0, 0.0, 7.0], grad=True)
    g = x.prod()
    for i in (0, 1, 2):
        (g,) = vistorch.autograd.grad(g, x, create_graph=True)
        g = g[i]
    assert g.item() == 7.0


def test_long_products_and_running_sums_in_float32():
    a = np.random.default_rng(1).uniform(0.9, 1.1, (300, 257)).astype("f4")
    for dim in (0, 1):
        for name in ("prod", "cumprod", "cumsum"):
            got = array(getattr(vistorch.from_numpy(a), name)(dim))
            np.testing.assert_allclose(got, getattr(np, name)(a.astype("f8"), dim), rtol=3e-6)


# ---- norms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, INF, -INF])
@pytest.mark.parametrize(
    "values", [[3.0, 0.0, -4.0], [0.0, 0.0], [2.0, -2.0, 1.0]], ids=["zero", "all", "tie"]
)
def test_norm_at_zero_and_at_ties(p, values):
    ours, theirs = tensor(vistorch, values, grad=True), tensor(torch, values, grad=True)
    a, b = ours.norm(p), theirs.norm(p)
    assert array(a) == pytest.approx(array(b), rel=1e-14)
    for out in (a, b):
        if out.requires_grad:
            out.backward()
    left, right = ours.grad, theirs.grad
    assert (left is None) == (right is None)
    if left is not None:
        np.testing.assert_allclose(array(left), array(right), rtol=1e-13)


# ---- spread ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
def test_one_element_has_no_spread(name):
    sentences, results = [], []
    for lib in BOTH:
        with pytest.warns(UserWarning, match="degrees of freedom is <= 0") as caught:
            out = getattr(lib, name)(tensor(lib, [2.0]))
        sentences.append(str(caught[0].message).split(" (Triggered")[0])
        results.append([array(o).item() for o in (out if isinstance(out, tuple) else (out,))])
    assert sentences[0] == sentences[1]
    np.testing.assert_array_equal(results[0], results[1])


def test_spread_of_equal_elements():
    agree(lambda lib, x: x.var(), [1.0, 1.0, 1.0])
    for lib in BOTH:
        x = tensor(lib, [1.0, 1.0, 1.0], grad=True)
        x.std().backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_variance_far_from_zero():
    a = (1e4 + np.random.default_rng(2).normal(size=5000)).astype("f4")
    got = vistorch.from_numpy(a).var().item()
    assert got == pytest.approx(a.astype("f8").var(ddof=1), rel=1e-5)


# ---- extremes, order -------------------------------------------------------------------------------------------
def test_ties_share_or_choose():
    values = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]]
    for call in (
        lambda lib, x: x.max(),
        lambda lib, x: x.amax(1),
        lambda lib, x: x.amin((0, 1)),
        lambda lib, x: x.aminmax(dim=1)[1],
        lambda lib, x: x.median(),
        lambda lib, x: x.max(1)[0],
        lambda lib, x: x.cummax(1)[0],
        lambda lib, x: x.cummin(0)[0],
    ):
        agree(call, values)


def test_the_extreme_is_nan():
    values = [1.0, NAN, 3.0, NAN]
    for name in ("max", "min", "median", "nanmedian", "nansum", "nanmean"):
        results = []
        for lib in BOTH:
            x = tensor(lib, values, grad=True)
            out = getattr(x, name)()
            out.backward()
            results.append([array(out).item(), *array(x.grad)])
        np.testing.assert_array_equal(results[0], results[1], err_msg=name)


def test_narrow_rows_take_another_way():
    a = np.random.default_rng(4).integers(-9, 9, (2000, 5)).astype("f4")
    a[17, 3] = NAN
    for keepdim in (False, True):
        got = vistorch.from_numpy(a).amax(1, keepdim)
        np.testing.assert_array_equal(array(got), a.max(1, keepdims=keepdim))
        got = vistorch.from_numpy(a).amin(-1, keepdim)
        np.testing.assert_array_equal(array(got), a.min(1, keepdims=keepdim))


@pytest.mark.parametrize("size", [40, 3000])
def test_sort_of_many_and_few(size):
    rng = np.random.default_rng(5)
    a = rng.integers(-4, 4, (3, size)).astype("f4")
    a[0, 3], a[1, 5], a[1, 7] = NAN, -0.0, 0.0
    for descending in (False, True):
        for dim in (0, 1):
            ours = vistorch.from_numpy(a).sort(dim, descending, stable=True)
            theirs = torch.from_numpy(a).sort(dim=dim, descending=descending, stable=True)
            np.testing.assert_array_equal(array(ours.values), array(theirs.values))
            np.testing.assert_array_equal(array(ours.indices), array(theirs.indices))
            assert str(type(ours).__name__) == "sort"


def test_a_repeated_index_gets_every_gradient():
    agree(lambda lib, x: x.cummax(0)[0] ** 2, [1.0, 3.0, 2.0, 0.0])
    agree(lambda lib, x: x.topk(2, 1)[0] ** 2, [[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]])
    agree(lambda lib, x: x.kthvalue(2, 0)[0] ** 2, [[1.0, 3.0], [0.5, 4.0], [2.0, 5.0]])


# ---- quantiles -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantile_is_differentiable_in_q(name):
    results = []
    for lib in BOTH:
        x = tensor(lib, [[1.0, 4.0, 9.0], [2.0, 8.0, NAN if name == "nanquantile" else 3.0]], grad=True)
        q = tensor(lib, [0.3, 0.6], grad=True)
        getattr(lib, name)(x, q, 1).pow(2).sum().backward()
        results.append((array(x.grad), array(q.grad)))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12)


# ---- scans and differences ---------------------------------------------------------------------------------------
def test_logcumsumexp_neither_overflows_nor_loses_a_gradient():
    agree(lambda lib, x: x.logcumsumexp(0), [1000.0, -1000.0, 999.0, 1000.5])
    agree(lambda lib, x: x.logsumexp(0), [1000.0, -1000.0, 999.0])


def test_integrals():
    values = [[1.0, 4.0, 9.0], [2.0, 8.0, 3.0]]
    for call in (
        lambda lib, y: lib.trapz(y, dx=0.5),
        lambda lib, y: lib.cumulative_trapezoid(y),
        lambda lib, y: lib.cumulative_trapezoid(y, dx=0.5, dim=0),
        lambda lib, y: lib.cumulative_trapezoid(y, tensor(lib, [0.0, 1.0, 3.0])),
    ):
        for lib in BOTH:
            y = tensor(lib, values, grad=True)
            out = call(lib, y)
            out.sum().backward()
            if lib is vistorch:
                ours = (array(out), array(y.grad), type(out.grad_fn).__name__)
        np.testing.assert_allclose(ours[0], array(out), rtol=1e-14)
        np.testing.assert_allclose(ours[1], array(y.grad), rtol=1e-14)
        assert ours[2] == type(out.grad_fn).__name__


# ---- histograms --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "arguments",
    [
        {"bins": 4},
        {"bins": 3, "range": (0.0, 2.0)},
        {"bins": 3, "density": True},
        {"bins": [0.0, 0.5, 2.0]},
        {"bins": 2, "weight": [1.0, 2.0, 3.0, 4.0, 5.0]},
    ],
    ids=str,
)
def test_histogram(arguments):
    results = []
    for lib in BOTH:
        more = {k: tensor(lib, v) if isinstance(v, list) else v for k, v in arguments.items()}
        out = lib.histogram(tensor(lib, [0.0, 0.5, 2.0, 1.5, 0.25]), **more)
        results.append((array(out.hist), array(out.bin_edges)))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-14)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-14)


def test_what_has_no_derivative_refuses_only_in_backward():
    for lib in BOTH:
        x = tensor(lib, [2.0, 1.0, 2.0], grad=True)
        out = lib.unique(x)
        assert out.requires_grad and out.grad_fn.name() == "Unique2Backward0"
        with pytest.raises((RuntimeError, NotImplementedError), match="_unique2"):
            out.sum().backward()


# ---- out= --------------------------------------------------------------------------------------------------------
def test_two_results_into_two_tensors():
    for lib in BOTH:
        x = tensor(lib, [[1.0, 5.0], [7.0, 3.0]])
        out = (lib.empty(0, dtype=lib.float64), lib.empty(0, dtype=lib.int64))
        result = lib.max(x, 1, out=out)
        assert result.values is out[0] and result.indices is out[1]
        assert (out[0].tolist(), out[1].tolist()) == ([5.0, 7.0], [1, 0])


def test_a_refused_out_is_untouched():
    x = tensor(vistorch, [[1.0, 5.0], [7.0, 3.0]])
    values, indices = tensor(vistorch, [0.0, 0.0]), tensor(vistorch, [9, 9], "int32")
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int, but got int instead"):
        vistorch.max(x, 1, out=(values, indices))
    assert values.tolist() == [0.0, 0.0] and values._version == 0


@pytest.mark.parametrize("name", ["std", "var"])
@pytest.mark.parametrize("dim", [None, 0, (0, 1)])
@pytest.mark.parametrize("correction", [2, 4, 6])
def test_the_gradient_of_a_variance_without_freedom(name, dim, correction):
    def gradients(lib):
        x = lib.tensor([[1.0, -2.5], [4.0, -2.5]], dtype=lib.float64, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = getattr(x, name)(dim, correction=correction)
        (g,) = lib.autograd.grad(y, [x], lib.ones_like(y), create_graph=True)
        return y.detach().numpy(), g.detach().numpy(), g.requires_grad

    for mine, theirs in zip(gradients(vistorch), gradients(torch), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
