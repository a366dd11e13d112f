"""Reading and writing by index, form by form: values, graph, gradient, warnings and sentences are torch's.

Invariant: each line of READS and WRITES is run by both libraries, which see the same names.
"""

import warnings

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")

READS = """
x[0]; x[-1]; x[:]; x[...]; x[None]; x[()]; x[0:1]; x[0:2]; x[0, 1]; x[0, :, 1]; x[1, 1:, None]; x[:, :, :]
x[:, 1]; x[..., 0]; x[..., 0, :]; x[0, ..., 1]; x[True]; x[False]; x[t(True)]; x[t(1)]
x[L.tensor(1, dtype=L.uint8)]; x[:, -3:]; x[np.int64(1)]; x[np.array(1)]; x[np.array(True)]
x[[0, 1]]; x[[0]]; x[[True, False]]; x[(0, 1)]; x[i]; x[i, i]; x[i, :, i]; x[:, i]; x[:, i, i]; x[None, i]
x[0, i]; x[i, 0]; x[i, :, 0]; x[0, :, i]; x[i, None, i]; x[x > 3]; x[i == 0]; x[[slice(0, 1)]]
x[[[0, 1], [1, 0]]]; x[[None]]; x[[i, i]]; x[range(2)]; x[(i,)]; x[[0, 1.5]]; x[1.5]; x[t(1.5)]; x[t([1.0])]
x["a"]; x[{}]; x[3]; x[-3]; x[0, 3]; x[i + 5]; x[i - 5]; x[::-1]; x[::0]; x[::2]; x[0, 0, 0, 0]; x[i, i, i, i]
x[..., ...]; x[5:2]; x[:, 1:100]; x[t([True, False, True])]; x[:, t([True, False])]; x[t([[True]])]
x[L.tensor([1, 0], dtype=L.uint8)]; x[L.tensor([1, 0], dtype=L.int8)]; x[L.tensor([1, 0], dtype=L.int32)]
x[i, t([0, 1, 2])]; x[np.array([0, 1])]; x[np.array([True, False])]; x[np.array([1.0])]
x[np.int64(0) : np.int32(1)]; x[1.5:]; x["a":]; x[None, None, 0]; x[..., None]; x[0, 0, 0]; x[0, 0, 0, None]
x[0, 0, 0, ...]; x[True, 0]; x[0, True]; x[True, True]; x[False, i]; x[:, True]; x[i, True]; x[t(True), i]
x[[]]; x[t([])]; x[[], []]; x[t([], dtype=L.int64)]; x[:, :, i]; x[..., i]; x[[0, 1], ...]; x[m[:, [0, 1, 1]]]
x[0:1, i]; x[i, 0:1]; x[:, None, i]; x[1:, ..., i]; x[[[[0]]]]; x[((0, 1),)]; x[(0, 1), (0, 1)]; x[0][0]; x[2:]
x[-1:]; x[:0]; x[:-1]; x[1:2:2]; x[10**30]; x[10**18]; x[: 10**30]; x[m, 0]; x[m, 1:]; x[m, None]; x[m, 5]
x[None, m]; x[:, m]; x[0, m]; x[0, i + 5]; x[:, 0, i + 5]; x[:, 0, 4]; x[0, :, 4]; x[None, 0, 4]; x[None, 2]
x[:, 0:100]; x[:, 0:3]; x[[1, 2], [0, 5]]; x[[[0, 1], [1]]]; x[[0, "a"]]; x[:, [t(0), t(1)]]
x[:, [[0, 1], [1]]]; x[:, [None]]; x[[True, 2]]; x[:, [True, False, 1]]; x[:, []]; x[..., 0, ...]
x[0, ..., ...]; x[..., ..., 0]; x[..., ..., i]; x[0:0][i]; x[m, t([0, 1, 2, 3, 0, 1])]; x[m, i]; x[i[:0]]
x[:, i[:0] + 9]; x[t(5)]; x[t([[0]]), :, t([0, 1])]; x[np.array(["a"])]; x[:, np.array([0, 1], dtype=np.uint8)]
x[bytes(2)]; x[bytearray(2)]; x[{1}]; z[0]; z[...]; z[()]; z[None]; z[True]; z[False]; z[t(True)]; z[t(0)]; z[:]
z[i]; z[[0]]; z[t([True])]; z[10**30]
"""

WRITES = """
y[0] = 1; y[0] = 1.5; y[0] = t(1.0); y[0] = ones(4); y[0] = ones(5); y[0] = ones(1, 1, 3, 4)
y[0] = ones(2, 3, 4); y[:] = 0; y[...] = 0; y[()] = 0; y[None] = 0; y[True] = 0; y[False] = 0; y[t(True)] = 0
y[i] = 0; y[i] = ones(4); y[i] = ones(5); y[i] = ones(1, 2, 3, 4); y[i] = ones(1, 3, 4); y[i] = other
y[0] = other[0]; y[i] = 2j; y[0] = 2j; y[0] = [1, 2, 3, 4]; y[0] = np.ones(4); y[i] = [1, 2, 3, 4]; y[0] = "a"
y[i] = "a"; y[0] = None; y[0] = True; y[i] = True; y[m] = 0; y[m] = t(1.0); y[m] = ones(3, 4); y[m] = ones(2, 4)
y[m] = ones(1); y[:, i] = 0; y[0, i] = 0; y[i, :, i] = ones(2, 3); y[t(1)] = 5; y[0, 0, 0] = 5; y[5] = 1
y[::-1] = 1; y[i + 7] = 1; y[0, 0, 0, 0] = 1; y["a"] = 1; y[1.5] = 1; y[L.tensor([1, 0], dtype=L.uint8)] = 1
y[L.tensor([1, 0], dtype=L.uint8)] = ones(1, 3, 4); y[0:0] = ones(5); y[0:0] = 1; y[t([True, False, True])] = 1
y[[True, False]] = 1; y[[True, False]] = ones(3, 4); y[i, None] = 1; y[None, 0] = 1; y[None, 0] = ones(1, 3, 4)
y[..., 0] = ones(2, 3); y[..., 0] = ones(3, 2); y[0] = np.float64(1); y[i] = np.int64(1); y[0] = np.float32(1)
y[0] = 10**30; y[[]] = 1; y[[0, 0]] = ones(2, 3, 4); y[...] = ones(4); y[:] = ones(4); y[:] = t(3.0)
y[:] = ones(1, 2, 3, 4); y[0:2] = 0; y[:, :] = 0; y[i, i] = ones(1, 1, 4); y[0, i] = ones(1, 2, 4)
y[:, 0:1] = ones(3, 3); y[0] = y[1]; y[0] = y[1] * 2; y[i] = y[1]; y[0][1] = 7; v = y[:, 1]; y[0] = 3
v[0] = ones(4); y[:, [0, 1]][0] = 5; y[1:] = ones(1, 3, 1); y[0] = 5; y[i] = 6; y[...] = ones(4); del y[0]
y[i] = t(2.0); y[m, 0] = ones(3); y[i] = y
"""


def forms(text):
    """The single forms of a table."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split("; ")]


def chain(tensor):
    """The nodes from a result to its first leaf."""
    node, found = tensor.grad_fn, []
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def said(exc):
    """An exception, in one library's words."""
    return type(exc).__name__, str(exc).split("\n")[0].replace("vistorch.", "torch.")


def received(caught):
    """The warnings, without torch's notes on its own source."""
    return [str(w.message).split(" (Triggered")[0].replace("vistorch.", "torch.") for w in caught]


def scene(lib, needs_grad=True):
    """The names a form may use."""
    x = lib.tensor(np.arange(24.0).reshape(2, 3, 4))
    x.requires_grad_(needs_grad)
    mask = np.array([[True, False, True], [False, False, True]])
    return {
        "L": lib,
        "np": np,
        "t": lib.tensor,
        "x": x,
        "z": lib.tensor(3.0, dtype=lib.float64, requires_grad=True),
        "i": lib.tensor([0, 1]),
        "m": lib.tensor(mask),
        "other": lib.tensor(np.ones((2, 3, 4), np.float32)),
    }


def gradients(lib, result, inputs):
    """Gradients of a weighted sum, None where there is none."""
    weights = lib.tensor(np.random.default_rng(0).integers(1, 9, tuple(result.shape)) * 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of a mask of bytes once more
        found = lib.autograd.grad([result], inputs, [weights], allow_unused=True)
    return [None if g is None else g.numpy().tolist() for g in found]


def read(lib, form):
    """What a form gives."""
    names = scene(lib)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(form, names)
        except Exception as exc:
            return said(exc)
    data = result.detach().numpy()
    source = names[form[0]]
    back = gradients(lib, result, [source])
    return data.tolist(), data.shape, result._is_view(), chain(result), received(caught), back


@pytest.mark.parametrize("form", forms(READS))
def test_read(form):
    """Values, shape, view or copy, nodes, warnings and gradient; or the exception."""
    assert read(vistorch, form) == read(torch, form)


def test_a_truth_value_of_numpy_is_no_index():
    # PyTorch asks numpy, which before its 2.3 took it for the number 1, and warned
    kind, words = read(vistorch, "x[np.bool_(True)]")
    assert kind == "IndexError"
    assert words.endswith("are valid indices (got numpy.bool)")


def write(lib, form, needs_grad, value_needs_grad):
    """What a form does to a tensor."""
    names = scene(lib, needs_grad)
    values = []

    def ones(*shape):
        value = lib.tensor(np.full(shape, 2.0))
        if value_needs_grad:
            values.append(value.requires_grad_())
        return value

    names["y"] = y = names["x"] * 1
    names["ones"] = ones
    names["t"] = lambda data: lib.tensor(np.array(data))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(form, names)
        except Exception as exc:
            return *said(exc), y.detach().numpy().tolist(), y._version
    inputs = [names["x"]] * needs_grad + values
    back = gradients(lib, y, inputs) if y.requires_grad and inputs else None
    return y.detach().numpy().tolist(), y._version, chain(y), received(caught), back


@pytest.mark.parametrize("form", forms(WRITES))
@pytest.mark.parametrize("needs_grad", (False, True))
@pytest.mark.parametrize("value_needs_grad", (False, True))
def test_write(form, needs_grad, value_needs_grad):
    """Values, version, nodes, warnings and gradients; or the exception, after which nothing has changed."""
    assert write(vistorch, form, needs_grad, value_needs_grad) == write(
        torch, form, needs_grad, value_needs_grad
    )


NUMBERS = (
    "1.7 2j 300 -1 True float('nan') 1e300 -256 2**63 2+0j float('inf') 1e6 np.float64(2) -128.5 -0.5 10"
)


@pytest.mark.parametrize("dtype", ("uint8", "int8", "bool", "float32", "float16", "int64", "complex64"))
@pytest.mark.parametrize("index", ("0", "[1]", "0:1", "...", "[True, False]"))
def test_numbers_that_do_not_fit(dtype, index):
    """A number is cast, wrapped or refused as torch does."""

    def run(lib, number):
        y = lib.zeros(2, dtype=getattr(lib, dtype))
        try:
            exec(f"y[{index}] = {number}", {"y": y, "np": np})
        except Exception as exc:
            return said(exc)
        return repr(y.tolist())

    for number in NUMBERS.split():
        assert run(vistorch, number) == run(torch, number), number


def test_an_index_written_after_the_fact_is_noticed():
    """The graph keeps index tensors and masks with their versions."""
    for index in ([0, 1, 1], [True, False, True]):
        x = vistorch.ones(3, requires_grad=True)
        i = vistorch.tensor(index)
        y = x[i]
        i[0] = 0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_views_that_a_basic_index_made_follow_their_base():
    """One step stands for a whole tuple of ints and slices when a history is rebuilt."""
    results = []
    for lib in (vistorch, torch):
        x = lib.tensor(np.arange(24.0).reshape(2, 3, 4), requires_grad=True)
        y = x * 1
        v = y[1, 1:, None, ::2]
        y.mul_(3)
        v[0] = v[1] * 2
        results.append((v.detach().numpy().tolist(), type(v.grad_fn).__name__, gradients(lib, y * y, [x])))
    assert results[0] == results[1]


def test_a_retained_gradient_follows_a_write_through_a_view():
    """`y.retain_grad(); y[0] = 5`: the gradient of the new y."""
    x = vistorch.ones(2, 3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y[0] = 5
    (y * 3).sum().backward()
    assert y.grad.tolist() == [[3.0] * 3] * 2
    assert x.grad.tolist() == [[0.0] * 3, [6.0] * 3]


def test_a_source_larger_than_its_index():
    """The part of the source that was not used has a gradient of zero (torch raises)."""
    index = vistorch.tensor([[0, 1], [2, 2]])
    for name in ("scatter", "scatter_add"):
        x = vistorch.zeros(2, 3, requires_grad=True)
        src = vistorch.ones(2, 3, requires_grad=True)
        y = getattr(x, name)(1, index, src)
        (y * vistorch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
        assert src.grad.tolist() == [[1.0, 2.0, 0.0], [6.0, 6.0, 0.0]]


@pytest.mark.parametrize("include", (True, False))
def test_a_complex_product(include):
    """The gradient of scatter_reduce("prod") is that of the product written out (torch refuses it)."""
    rng = np.random.default_rng(0)
    a, s, w = rng.random((3, 3)) + 1j * rng.random((3, 3))
    x, src = (vistorch.tensor(v, requires_grad=True) for v in (a, s))
    y = x.scatter_reduce(0, vistorch.tensor([0, 2, 2]), src, "prod", include_self=include)
    y.backward(vistorch.tensor(w))
    own = a if include else np.ones(3)
    expected = w * np.conj([s[0], 1, s[1] * s[2]])
    if not include:
        expected[[0, 2]] = 0
    np.testing.assert_allclose(x.grad.numpy(), expected)
    np.testing.assert_allclose(
        src.grad.numpy(), [w[0], w[2], w[2]] * np.conj([own[0], own[2] * s[2], own[2] * s[1]])
    )


@pytest.mark.parametrize("include", (True, False))
@pytest.mark.parametrize("how", ("sum", "prod", "mean", "amax", "amin"))
@pytest.mark.parametrize("values", ([1.0, 2.0, 2.0, 3.0], [0.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 3.0]))
def test_ties_and_zeros_of_a_reduction(how, include, values):
    """A tie shares its gradient, one zero of a product is left out, two leave nothing."""
    found = []
    for lib in (vistorch, torch):
        x = lib.tensor([2.0, 0.0, 5.0], dtype=lib.float64, requires_grad=True)
        src = lib.tensor(values, dtype=lib.float64, requires_grad=True)
        index = lib.tensor([0, 0, 1, 0])
        y = x.scatter_reduce(0, index, src, how, include_self=include)
        found.append([y.tolist(), *gradients(lib, y, [x, src])])
    assert found[0] == found[1]


def test_accumulation_of_many():
    """Rows that come often, once and never, in every layout of the fast paths."""
    rng = np.random.default_rng(1)
    for shape, count in (((50, 8), 200), ((50, 8), 30), ((300,), 2000), ((40, 3, 2), 10)):
        index = rng.integers(-shape[0], shape[0], count)
        once = rng.permutation(shape[0])[:count]
        for chosen in (index, once):
            values = rng.random((len(chosen), *shape[1:]))
            x = vistorch.zeros(shape, dtype=vistorch.float64, requires_grad=True)
            x[vistorch.tensor(chosen)].backward(vistorch.tensor(values))
            expected = np.zeros(shape)
            for at, row in zip(chosen, values, strict=True):
                expected[at] += row
            np.testing.assert_allclose(x.grad.numpy(), expected)


def test_an_expanded_tensor():
    """Fills go through with a warning, everything else is refused before it writes."""
    for name, args in (
        ("masked_fill_", (vistorch.tensor([True, False, False]), 2.0)),
        ("index_fill_", (0, vistorch.tensor([1]), 2.0)),
        ("index_put_", ((vistorch.tensor([1]),), vistorch.tensor(2.0))),
    ):
        x = vistorch.zeros(1).expand(3)
        with pytest.warns(UserWarning, match=f"Use of {name} on expanded tensors is deprecated"):
            getattr(x, name)(*args)
        assert x.tolist() == [2.0, 2.0, 2.0]
    x = vistorch.zeros(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.index_add_(0, vistorch.tensor([9]), vistorch.ones(1))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x[:] = 1
    assert x.tolist() == [0.0, 0.0, 0.0]
