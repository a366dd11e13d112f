"""The moves between devices: broadcast, reduce, scatter, gather, plain and with their gradients."""

import pytest

import vistorch
from vistorch.nn.parallel import comm, get_a_var
from vistorch.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter


@pytest.fixture(autouse=True)
def four_devices():
    vistorch.cuda.simulate(4)
    yield
    vistorch.cuda.simulate(None)


def test_broadcast_and_reduce():
    x = vistorch.arange(3.0, device="cuda")
    a, b, c = comm.broadcast(x, [0, 1, "cuda:3"])
    assert a is x and [str(t.device) for t in (a, b, c)] == ["cuda:0", "cuda:1", "cuda:3"]
    same, other = comm.broadcast(vistorch.ones(2), ["cpu", "cpu"])
    assert same.data_ptr() != other.data_ptr()
    total = comm.reduce_add([a, b, c], 1)
    assert str(total.device) == "cuda:1" and total.tolist() == [0, 3, 6] and x.tolist() == [0, 1, 2]
    out = [vistorch.zeros(3, device="cuda:1"), vistorch.zeros(3, device="cuda:2")]
    assert comm.broadcast(x, out=out)[1] is out[1] and out[1].tolist() == [0, 1, 2]
    for act, kind, sentence in (
        (
            lambda: comm.broadcast(x),
            RuntimeError,
            "Exactly one of 'devices' and 'out' must be specified, but got",
        ),
        (
            lambda: comm.reduce_add([a, b], 2),
            RuntimeError,
            "reduce_add expects destination to be on the same GPU with",
        ),
        (
            lambda: comm.reduce_add([a, b[:2]], 0),
            ValueError,
            "input 1 has invalid size: got 2, but expected 3",
        ),
        (
            lambda: comm.broadcast_coalesced([b], [0, 1]),
            RuntimeError,
            r"All tensors must be on devices\[0\]: 0",
        ),
        (
            lambda: comm.broadcast(x, out=[x[:2]]),
            RuntimeError,
            "Expected all output tensors to have same shape",
        ),
        (lambda: comm.broadcast(x, [0, 9]), Exception, "invalid device ordinal|9"),
    ):
        with pytest.raises(kind, match=sentence):
            act()


def test_scatter_and_gather():
    x = vistorch.arange(10.0).reshape(2, 5)
    parts = comm.scatter(x, [0, 1, 2], [1, 3, 1], 1)
    assert [t.shape[1] for t in parts] == [1, 3, 1] and str(parts[2].device) == "cuda:2"
    joined = comm.gather(parts, 1, "cpu")
    assert joined.tolist() == x.tolist() and str(joined.device) == "cpu"
    out = vistorch.zeros(2, 5, device="cuda:3")
    assert comm.gather(parts, -1, out=out) is out and out.tolist() == x.tolist()
    into = [vistorch.zeros(2, 2, device="cuda:1"), vistorch.zeros(2, 3)]
    assert comm.scatter(x, out=into, dim=1)[0] is into[0] and into[1].tolist() == x[:, 2:].tolist()
    with pytest.warns(FutureWarning, match="Using -1 to represent CPU tensor is deprecated"):
        assert str(comm.gather(parts, 1, -1).device) == "cpu"
    for act, sentence in (
        (lambda: comm.scatter(x, []), "Expected at least one device to scatter to"),
        (
            lambda: comm.scatter(x, [0, 1], [1]),
            "Expected devices and chunk_sizes to be of same length, but got",
        ),
        (
            lambda: comm.scatter(x, [0], out=into),
            "'devices' must not be specified when 'out' is specified, but got",
        ),
        (
            lambda: comm.gather(parts, 0, 0),
            r"Tensor at index 1 has invalid shape \[2, 3\], but expected \[2, 1\]",
        ),
        (
            lambda: comm.gather([x, x[0]], 0, 0),
            "Expected all input tensors to have the same number of dimensions",
        ),
        (
            lambda: comm.gather(parts, 1, 0, out=out),
            "'destination' must not be specified when 'out' is specified",
        ),
    ):
        with pytest.raises(RuntimeError, match=sentence):
            act()


def test_the_moves_are_differentiable_twice():
    def around(x):
        parts = Scatter.apply([0, 1, 2], None, 0, x)
        copies = Broadcast.apply([0, 2], parts[0] ** 2)
        sums = ReduceAddCoalesced.apply(0, 1, *copies)
        return Gather.apply("cpu", 0, *[p**3 for p in parts], *sums)

    x = vistorch.randn(7, dtype=vistorch.float64, requires_grad=True)
    assert vistorch.autograd.gradcheck(around, (x,))
    assert vistorch.autograd.gradgradcheck(around, (x,))
    z = vistorch.randn(4, dtype=vistorch.complex128, requires_grad=True)
    out = Gather.apply("cpu", 0, *Scatter.apply([0, 1], None, 0, z))
    out.abs().sum().backward()
    assert bool(((z.grad - z.detach() / z.detach().abs()).abs() < 1e-12).all())


def test_the_first_tensor_in_anything():
    x = vistorch.ones(1)
    assert get_a_var({"a": [1, (None, x)]}) is x and get_a_var([1, {}]) is None
