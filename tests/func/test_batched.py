"""All samples at once: levels, derivatives across them, what is refused, and what goes one sample at a time."""

import numpy as np
import pytest

import vistorch
from tests.conformance import database
from tests.conformance.columns import Entry
from tests.func import batches
from tests.ops.library import L, torch
from tests.story import story
from vistorch.engine.base.errors import Unbatchable
from vistorch.engine.batching import by_row
from vistorch.engine.core.rules import TABLE

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

ENTRIES = """
    add addmm as_strided baddbmm cat cumsum diagonal dist einsum expand gather index_put index_select isclose
    linalg.inv linalg.solve logsumexp masked.softmax masked_fill matmul mean narrow
    nn.functional.binary_cross_entropy nn.functional.avg_pool2d nn.functional.conv2d
    nn.functional.conv_transpose2d nn.functional.cross_entropy nn.functional.gaussian_nll_loss
    nn.functional.layer_norm nn.functional.max_pool2d nn.functional.max_unpool2d nn.functional.normalize
    nn.functional.scaled_dot_product_attention nn.functional.unfold prod scatter_add softmax sort split stack
    std take_along_dim tril unfold view_as_complex view_as_real where
""".split()


@pytest.mark.parametrize("name", ENTRIES)
def test_what_the_loop_gives(name):
    assert list(batches.wrong(Entry(database.entries()[name]), 3)) == []


def test_a_wrong_rule_is_seen():
    rule = TABLE["softmax"]
    kernels = list(rule.kernels)
    try:
        rule.kernels[2] = by_row.pointwise(rule, lambda a, dim: kernels[0](a, 0))
        said = list(batches.wrong(Entry(database.entries()["softmax"]), 8))
    finally:
        rule.kernels[2] = kernels[2]
    assert any("values" in one for one in said)


def test_names_of_rules_are_rows():
    assert set(by_row.BY_NAME) - set(TABLE) == set()


@story
def test_levels(L, report):
    L.manual_seed(0)
    x, y, w = L.randn(3, 4), L.randn(5, 4), L.randn(4, 4)
    vmap, grad = L.func.vmap, L.func.grad
    report(vmap(lambda a: vmap(lambda b: a @ w @ b)(y))(x))
    report(vmap(vmap(lambda a, b: (a * b).sum(), (None, 0)), (0, None), out_dims=1)(x, y))
    report(vmap(lambda a: vmap(grad(lambda b: (a * b.sin()).sum()))(y), out_dims=1)(x))
    report(grad(lambda m: vmap(grad(lambda v: (m @ v).tanh().sum()))(x).sum())(w))
    report(L.func.jacrev(lambda m: vmap(lambda v: (m @ v).exp())(x * 0.1))(w * 0.1))
    report(L.func.hessian(lambda m: vmap(lambda v: (m @ v).cos().sum())(x).sum())(w))
    report(vmap(L.func.jacfwd(lambda v: v.cumsum(0).sin()))(x))
    report(vmap(lambda v: L.func.vjp(lambda u: u**3, v)[1](v)[0])(x))
    report(vmap(lambda v: L.func.jvp(lambda u: u**3, (v,), (v,))[1])(x))


@story
def test_results_that_samples_share(L, report):
    x = L.arange(6.0).reshape(3, 2)
    vmap = L.func.vmap
    report(vmap(lambda v: L.ones(2))(x), vmap(lambda v: (v, L.arange(2)), out_dims=(0, None))(x))
    report(vmap(lambda v: v.new_zeros(2).add_(v))(x), vmap(lambda v: L.zeros_like(v).copy_(v) + 1)(x))
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        vmap(lambda v: v, out_dims=None)(x)
    with pytest.raises(RuntimeError, match="is not possible because there exists a Tensor `other`"):
        vmap(lambda v: L.zeros(2).__setitem__(0, v[0]))(x)
    for look in (lambda v: v.sum().item(), lambda v: int(v[0])):
        with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling .item\(\) on a Tensor"):
            vmap(look)(x)
    with pytest.raises(RuntimeError, match="in some data-dependent control flow"):
        vmap(lambda v: v if v.sum() > 0 else -v)(x)


@story
def test_memory_of_a_sample(L, report):
    x, vmap = L.arange(60.0).reshape(3, 4, 5), L.func.vmap
    for at in ((), (0,), (3,)):
        report(vmap(lambda a: a.as_strided((2, 3), (4, 1), *at))(x))  # noqa: B023
        report(vmap(lambda a: L.as_strided_copy(a, (2,), (2,), *at), 1)(x))  # noqa: B023
    report(vmap(lambda a: a[1:].as_strided((2,), (1,)))(x), vmap(lambda a: a[1].storage_offset() * a[0])(x))
    report(
        vmap(vmap(lambda a: a.as_strided((2,), (2,), 1)))(x), vmap(lambda a: a.as_strided((0,), (1,), 99))(x)
    )
    report(vmap(L.func.grad(lambda a: (a.as_strided((2, 3), (1, 1), 3) ** 2).sum()))(x))
    for size, stride, offset in (((9,), (4,), 3), ((2, 3), (1, 1), 18)):
        with pytest.raises(RuntimeError, match="can only access some memory in range") as refused:
            vmap(lambda a: a.as_strided(size, stride, offset))(x)  # noqa: B023
        report(str(refused.value))
    with pytest.raises(RuntimeError, match="can only access some memory in range"):
        vmap(lambda a: a[1:].as_strided((2,), (1,), 3))(x)


@story
def test_an_index_of_each_sample(L, report):
    x, at, w = L.arange(20.0).reshape(4, 5), L.tensor([[0, 1], [1, 2], [2, 0]]), L.ones(3, 2, 5)
    vmap = L.func.vmap
    report(
        vmap(lambda j: L.index_put(x, (j,), w[0]))(at), vmap(lambda j, v: x.index_put((j,), v, True))(at, w)
    )
    report(vmap(lambda j: L.func.grad(lambda y: (y.index_put((j,), w[1]) ** 2).sum())(x))(at))


def test_what_a_check_of_values_looks_at_are_all_samples():
    """PyTorch refuses these; what the loop over the samples gives is given here."""
    x, start = vistorch.arange(24.0).reshape(3, 2, 4), vistorch.tensor([0, 2, 1])
    loss, narrow = vistorch.nn.functional.gaussian_nll_loss, vistorch.narrow
    got = vistorch.func.vmap(loss)(x, x.cos(), x + 1)
    assert vistorch.equal(got, vistorch.stack([loss(a, a.cos(), a + 1) for a in x]))
    with pytest.raises(ValueError, match="var has negative"):
        vistorch.func.vmap(loss)(x, x, x - 1)  # of the first sample only
    got = vistorch.func.vmap(lambda a, s: narrow(a, 1, s, 2))(x, start)
    assert vistorch.equal(got, vistorch.stack([narrow(a, 1, s, 2) for a, s in zip(x, start, strict=True)]))


X, MASK, FIRST = (
    vistorch.arange(24.0).reshape(3, 2, 4) / 24,
    vistorch.arange(8).reshape(2, 4) < 5,
    vistorch.ones(2, 4),
)
ONCE = {
    "where, a shared condition": lambda a: vistorch.where(MASK, a, -1.0),
    "where, a number of no dims": lambda a: vistorch.where(MASK, a, vistorch.tensor(2.0)),
    "masked_fill, a shared input": lambda a: FIRST.masked_fill(a > 0.5, 3.0),
    "masked_fill, a value of each": lambda a: FIRST.masked_fill(MASK, a[0, 0]),
    "dist": lambda a: vistorch.dist(a, FIRST),
    "isclose": lambda a: vistorch.isclose(a, FIRST),
    "probabilities": lambda a: vistorch.nn.functional.binary_cross_entropy(a, FIRST),
    "classes": lambda a: vistorch.nn.functional.one_hot((a * 4).long(), 5),
    "indices": lambda a: a.take_along_dim((a * 2).long() - 1, 0),
    "attention": lambda a: vistorch.nn.functional.scaled_dot_product_attention(a, a, a, MASK[:, :2]),
    "complex numbers": lambda a: vistorch.view_as_real(vistorch.complex(a, a)).sum(-1),
    "pairs": lambda a: vistorch.view_as_complex(a.reshape(2, 2, 2)).abs(),
    "unpooling": lambda a: vistorch.nn.functional.max_unpool1d(a, vistorch.arange(4).expand(2, 4), 1),
}


@pytest.mark.parametrize("name", ONCE)
def test_what_needs_one_call(name):
    calls = []
    got = vistorch.func.vmap(lambda a: calls.append(1) or ONCE[name](a))(X)
    assert len(calls) == 1
    assert vistorch.allclose(got, vistorch.stack([ONCE[name](a) for a in X]))


def test_a_check_of_values_sees_every_sample():
    bad = X * 1.1
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        vistorch.func.vmap(vistorch.nn.functional.binary_cross_entropy)(bad, X)
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        vistorch.func.vmap(lambda a: vistorch.nn.functional.one_hot(a, 2))(vistorch.arange(3))


@story
def test_writes(L, report):
    x = L.arange(6.0).reshape(3, 2)

    def steps(v):
        out = v.clone()
        out[0] = v.sum()
        out[1:].mul_(3)
        out += v
        return out

    report(L.func.vmap(steps)(x), L.func.vmap(L.func.grad(lambda v: (steps(v) ** 2).sum()))(x))
    L.func.vmap(lambda v: v.mul_(2))(x)
    report(x)


@story
def test_a_batch_of_gradients(L, report):
    x = L.arange(1.0, 4.0, requires_grad=True)
    y, seen = x**3, []
    y.register_hook(lambda g: seen.append(tuple(g.shape)))
    report(L.autograd.grad(y, x, L.eye(3), is_grads_batched=True)[0], seen)
    a, b = L.ones(2, 2, requires_grad=True), L.ones(2, 2)
    weights = L.arange(12.0).reshape(3, 2, 2)
    (g,) = L.autograd.grad((a @ a).exp(), a, weights, is_grads_batched=True, create_graph=True)
    report(g, L.autograd.grad(g.sum(), a)[0], b)


@story
def test_models(L, report):
    L.manual_seed(0)
    nn = L.nn
    net = nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 5), nn.LayerNorm(5)
    )
    params = {name: p.detach() for name, p in net.named_parameters()}
    x, y = L.randn(4, 1, 8, 8), L.tensor([0, 1, 2, 3])

    def loss(p, x, y):
        return nn.functional.cross_entropy(L.func.functional_call(net, p, (x[None],)), y[None])

    report(L.func.vmap(L.func.grad(loss), in_dims=(None, 0, 0))(params, x, y))
    nets = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)) for _ in range(3)]
    stacked, buffers = L.func.stack_module_state(nets)
    z = L.randn(5, 3)
    out = L.func.vmap(lambda p, z: L.func.functional_call(nets[0], (p, {}), (z,)), (0, None))(stacked, z)
    report(out, L.stack([one(z) for one in nets]), buffers)
    report(L.autograd.grad(out.square().sum(), list(stacked.values())))


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
@story
def test_linearize(L, report):
    x, y = L.tensor([0.5, 1.0]), L.tensor([2.0, 3.0])
    out, along = L.func.linearize(lambda a, b: (a * b.sin(), a.sum()), x, y)
    report(out, along(x, y), along(y, x))
    for bad in ((x,), (x[:1], y), (x.double(), y)):
        with pytest.raises(RuntimeError, match="tangent"):
            along(*bad)


def test_one_call_for_all_samples():
    calls = []
    x = vistorch.ones(7, 2)
    vistorch.func.vmap(lambda v: calls.append(v.shape) or v * 2)(x)
    vistorch.func.vmap(lambda v: calls.append(v.shape) or v * 2, chunk_size=3)(x)
    assert calls == [(2,)] * 4
    shown = []
    vistorch.func.vmap(lambda v: shown.append(repr(v)) or v)(vistorch.ones(2))
    assert shown == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([1., 1.])\n)"]


@pytest.mark.parametrize("randomness", ["same", "different", "error"])
def test_chance(randomness):
    def noisy(v):
        return v + vistorch.rand(2)

    x = vistorch.zeros(3, 2)
    if randomness == "error":
        with pytest.raises(RuntimeError, match="randomness error mode"):
            vistorch.func.vmap(noisy)(x)
        return
    rows = vistorch.func.vmap(noisy, randomness=randomness)(x).numpy()
    assert (len(np.unique(rows)) == 2) is (randomness == "same")


def test_memory_is_not_looked_at():
    calls = []

    def looks(v):
        calls.append(1)
        return vistorch.tensor(v.detach().numpy() * 2)

    assert vistorch.func.vmap(looks)(vistorch.ones(3)).tolist() == [2, 2, 2]
    assert len(calls) == 4
    assert issubclass(Unbatchable, Exception)


assert L is not torch
