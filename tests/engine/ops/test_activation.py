"""Activations and dropout: what the records cannot say. Long arrays, piece by piece; memory; random streams.

Invariant: torch is the reference.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")

import vistorch as L  # noqa: E402

LONG = (70, 1000)  # longer than one piece, and not a whole number of them
POINTWISE = {
    "relu": (),
    "relu6": (),
    "hardtanh": (-0.5, 0.25),
    "hardsigmoid": (),
    "hardswish": (),
    "elu": (0.7,),
    "selu": (),
    "celu": (0.7,),
    "leaky_relu": (0.1,),
    "silu": (),
    "mish": (),
    "gelu": (),
    "softplus": (2.0, 3.0),
    "softshrink": (0.3,),
    "hardshrink": (0.3,),
    "logsigmoid": (),
    "threshold": (0.2, 0.7),
    "glu": (),
}


def pair(shape, dtype="float32", scale=3.0):
    """The same numbers in both libraries, as leaves, and a gradient for the result."""
    values = (np.random.default_rng(3).standard_normal(shape) * scale).astype(dtype)
    return L.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)


def compare(mine, theirs, ours, x):
    """Values and gradients of two results."""
    g = np.random.default_rng(4).standard_normal(tuple(theirs.shape)).astype(theirs.detach().numpy().dtype)
    tolerance = {"float32": (3e-5, 2e-6), "float64": (1e-7, 1e-8)}[str(theirs.dtype).rpartition(".")[2]]
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), *tolerance)
    a = L.autograd.grad(mine, ours, L.tensor(g))[0]
    b = torch.autograd.grad(theirs, x, torch.tensor(g))[0]
    np.testing.assert_allclose(a.numpy(), b.numpy(), *tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", POINTWISE)
def test_long_arrays(name, dtype):
    ours, x = pair(LONG, dtype)
    args = POINTWISE[name]
    mine, theirs = getattr(L.nn.functional, name)(ours, *args), getattr(torch.nn.functional, name)(x, *args)
    compare(mine, theirs, ours, x)


def test_gelu_is_right_everywhere():
    """The polynomial in the float32 kernel, against the error function in double precision."""
    x = np.concatenate([np.linspace(-12, 12, 200001), [1e4, -1e4, 1e19, -1e19, 1e30, -1e30]]).astype("f4")
    exact = torch.nn.functional.gelu(torch.tensor(x).double()).numpy()
    with L.backends.mkldnn.flags(enabled=False):
        mine = L.nn.functional.gelu(L.tensor(x)).numpy()
    assert np.abs(mine - exact)[:200001].max() < 7e-7
    np.testing.assert_allclose(mine[200001:], exact[200001:], 1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    "shape,dim", [((300, 700), 1), ((300, 700), 0), ((5, 40, 700), -1), ((5, 400, 70), 1)]
)
@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_long_rows(name, shape, dim, scale):
    ours, x = pair(shape, scale=scale)
    mine, theirs = getattr(L, name)(ours, dim), getattr(torch, name)(x, dim)
    assert mine.is_contiguous()
    if name == "softmax" and scale > 1:  # the exponential of a large difference magnifies its rounding
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 2e-4, 1e-6)
    elif scale > 1:
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-4)
    else:
        compare(mine, theirs, ours, x)


@pytest.mark.parametrize("bad", [-np.inf, np.nan, 300.0, -300.0, 60.0, -40.0])
def test_one_bad_row_spoils_no_other(bad):
    """A row that overflows, vanishes or holds nan sends the whole block the careful way."""
    values = np.random.default_rng(0).standard_normal((100, 50)).astype("f4")
    values[3] = bad
    values[3, 1] = bad - 60
    mine, theirs = L.softmax(L.tensor(values), 1).numpy(), torch.softmax(torch.tensor(values), 1).numpy()
    np.testing.assert_allclose(mine, theirs, 1e-5, 1e-35)
    assert not np.isnan(np.delete(mine, 3, 0)).any()


IN_PLACE = {
    "relu_": (),
    "leaky_relu_": (0.1,),
    "leaky_relu_ upwards": (1.5,),
    "hardtanh_": (-0.5, 0.5),
    "elu_": (0.5,),
    "threshold_": (0.1, 0.7),
    "selu_": (),
    "celu_": (0.5,),
}


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("shape", [(7,), LONG, ()])
def test_in_place_keeps_the_memory(name, shape):
    """Plain tensors: the same array, one version more, torch's values."""
    values = np.asarray(np.random.default_rng(5).standard_normal(shape), "f4")
    ours, x = L.tensor(values), torch.tensor(values)
    d = ours._data
    fn = name.split()[0]
    assert getattr(L.nn.functional, fn)(ours, *IN_PLACE[name]) is ours
    getattr(torch.nn.functional, fn)(x, *IN_PLACE[name])
    assert ours._data is d and ours._version == 1
    np.testing.assert_allclose(ours.numpy(), x.numpy(), 3e-5, 2e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"]
)
def test_the_random_stream(name, dtype):
    """The same mask, and the generators stand at the same place after it; memory that is not contiguous too."""
    shapes = {"dropout1d": (40, 30, 7), "dropout3d": (8, 9, 2, 2, 3)}
    shape = shapes.get(name, (20, 30, 5, 6))
    values = np.random.default_rng(1).standard_normal(shape).astype("f4")
    for turned in (False, True):
        found = []
        for lib in (L, torch):
            x = lib.tensor(values).to(getattr(lib, dtype))
            x = x.transpose(0, 1) if turned else x
            lib.manual_seed(11)
            y = getattr(lib.nn.functional, name)(x, 0.3, True)
            # of a product with channels, numpy chooses another order of memory
            strides = y.stride() if name in ("dropout", "alpha_dropout") else None
            found.append((y.float().numpy(), strides, lib.rand(3).tolist()))
        assert found[0][1:] == found[1][1:]
        np.testing.assert_allclose(found[0][0], found[1][0], 1e-2 if "16" in dtype else 1e-6)


def test_nothing_is_drawn_for_nothing():
    """Without training, with p = 0 and with p = 1 the generator stays where it is."""
    x = L.ones(4)
    for args in ((0.5, False), (0.0, True), (1.0, True)):
        L.manual_seed(3)
        L.nn.functional.dropout(x, *args)
        after = L.rand(2).tolist()
        L.manual_seed(3)
        assert after == L.rand(2).tolist()
    assert L.nn.functional.dropout(x, 0.5, False) is x


@pytest.mark.parametrize("call", ["softmax(L.ones(2, 2))", "log_softmax(L.ones(2))", "softmin(L.ones(2))"])
def test_no_dim_is_warned_about(call):
    """In torch's words, at the line of the call."""
    with pytest.warns(UserWarning, match="Implicit dimension choice for") as caught:
        eval(f"L.nn.functional.{call}")
    with pytest.warns(UserWarning) as theirs:
        eval(f"torch.nn.functional.{call.replace('L.', 'torch.')}")
    assert str(caught[0].message) == str(theirs[0].message)


def test_older_names_of_hardtanh():
    with pytest.warns(FutureWarning, match="`min_value` is deprecated and renamed to `min_val`"):
        module = L.nn.Hardtanh(min_value=-3)
    assert module.min_val == -3


def test_an_in_place_form_knows_no_negative_slope():
    for name, args in (
        ("leaky_relu_", (-0.5,)),
        ("elu_", (-1.0,)),
        ("celu_", (-1.0,)),
        ("rrelu_", (-0.5, -0.25)),
    ):
        said = []
        for lib in (L, torch):
            y = getattr(lib.nn.functional, name)(lib.ones(3, requires_grad=True).clone(), *args)
            with pytest.raises(RuntimeError) as error:
                y.sum().backward()
            said.append(str(error.value).strip())
        assert said[0].rstrip(".") == said[1].rstrip("."), name
