"""The project's kernels at the ends of what they are given: few blocks, empty arrays, memory that begins anywhere."""

from __future__ import annotations

import types

import numpy as np
import pytest

import vistorch
from tests.cuda.test_own_kernels import numbers
from vistorch.engine.kernels.cuda import launch, products

F = vistorch.nn.functional
IMAGES, ROWS, HEADS = (3, 4, 7, 6), (37, 40), (2, 2, 37, 8)
CASES = {
    "softmax": (lambda x: F.softmax(x, 1), ROWS),
    "log_softmax of columns": (lambda x: F.log_softmax(x, 0), ROWS),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[1:], x[0] * 2, x[0]), ROWS),
    "rms_norm": (lambda x: F.rms_norm(x, x.shape[1:], x[0]), ROWS),
    "group_norm": (lambda x: F.group_norm(x, 2), IMAGES),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), IMAGES),
    "batch_norm at rest": (
        lambda x: F.batch_norm(x, x[0, :, 0, 0].detach(), x[0, :, 0, 0].detach() ** 2),
        IMAGES,
    ),
    "cross_entropy": (lambda x: F.cross_entropy(x, vistorch.arange(x.shape[0], device="cuda:0") % 7), ROWS),
    "cross_entropy of places": (
        lambda x: F.cross_entropy(x, vistorch.ones(3, 7, 6, dtype=vistorch.int64, device="cuda:0")),
        IMAGES,
    ),
    "max_pool": (lambda x: F.max_pool2d(x, 3, 2, 1), IMAGES),
    "avg_pool": (lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGES),
    "adaptive_max_pool": (lambda x: F.adaptive_max_pool2d(x, (3, 4)), IMAGES),
    "adaptive_avg_pool": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), IMAGES),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x * 2, x + 1, is_causal=True), HEADS),
    "attention with dropout": (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.4), HEADS),
    "gelu": (F.gelu, ROWS),
    "dropout": (lambda x: F.dropout(x, 0.3), ROWS),
    "dropout of odd sizes": (lambda x: F.dropout(x[:, 1:].contiguous(), 0.3), (37, 38)),
    "embedding": (lambda x: F.embedding(vistorch.arange(200, device="cuda:0") % 37, x), ROWS),
    "index_add": (
        lambda x: x.index_add(0, vistorch.tensor([1, 1, 5], device="cuda:0"), x[:3] * 2),
        ROWS,
    ),
}
DRAWS = {
    "rand": lambda n: vistorch.rand(n, device="cuda:0"),
    "randn": lambda n: vistorch.randn(n, device="cuda:0", dtype=vistorch.float64),
    "randint": lambda n: vistorch.randint(0, 1000, (n,), device="cuda:0"),
    "randint of many": lambda n: vistorch.randint(0, 2**40, (n,), device="cuda:0"),
    "randperm": lambda n: vistorch.randperm(n, device="cuda:0"),
    "bernoulli": lambda n: vistorch.bernoulli(vistorch.full((n,), 0.3, device="cuda:0")),
    "exponential": lambda n: vistorch.empty(n, device="cuda:0").exponential_(),
    "dropout": lambda n: F.dropout(vistorch.ones(n, device="cuda:0"), 0.4),
}


def both_ways(build, a):
    """A result and the gradient of its squares."""
    x = vistorch.tensor(a).to("cuda:0").requires_grad_()
    vistorch.manual_seed(3)
    y = build(x)
    (y * y).sum().backward()
    return y.tolist(), x.grad.tolist()


@pytest.fixture
def few(monkeypatch):
    """Every kernel gets two blocks at most, as if its work were far more than a grid can have."""

    def begin():
        monkeypatch.setattr(launch, "MOST_BLOCKS", 2)

    return begin


@pytest.mark.parametrize("case", CASES)
def test_a_few_blocks_do_the_work_of_many(strict_gpu, few, case):
    build, shape = CASES[case]
    a = numbers(*shape, seed=2)
    many = both_ways(build, a)
    few()
    assert np.allclose(both_ways(build, a)[0], many[0], rtol=1e-12, equal_nan=True)
    assert np.allclose(both_ways(build, a)[1], many[1], rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name", DRAWS)
def test_a_few_blocks_draw_what_many_draw(strict_gpu, few, name):
    vistorch.manual_seed(1)
    many = DRAWS[name](2500).tolist()
    few()
    vistorch.manual_seed(1)
    assert DRAWS[name](2500).tolist() == many


@pytest.mark.parametrize("name", DRAWS)
def test_nothing_can_be_drawn(strict_gpu, name):
    assert DRAWS[name](0).shape == (0,)


@pytest.mark.parametrize("case", CASES)
def test_no_rows(strict_gpu, case):
    """Of arrays without elements comes what the processor gives, or its refusal."""
    build, shape = CASES[case]
    said = []
    for place in ("cpu", "cuda:0"):
        x = vistorch.zeros(0, *shape[1:], device=place, requires_grad=True)
        try:
            y = build(x) if place == "cuda:0" else None
            if y is not None:
                y.sum().backward()
                assert x.grad.shape == x.shape
        except (IndexError, ValueError, RuntimeError) as error:
            assert type(error).__name__ != "DeviceIndexError"
            said.append(str(error))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_memory_may_begin_at_any_element(strict_gpu, case, dtype):
    """Views without gaps that begin one element into their memory, where no two elements can be read at once."""
    build, shape = CASES[case]
    kind = getattr(vistorch, dtype)
    a = vistorch.tensor(numbers(*shape, seed=6)).to(kind)
    found = []
    for lead in (0, 1):
        memory = vistorch.zeros(a.numel() + 1, dtype=kind, device="cuda:0")
        x = memory[lead : lead + a.numel()].view(shape)
        x.copy_(a)
        assert x.data_ptr() - memory.data_ptr() == lead * a.element_size()
        x.requires_grad_()
        vistorch.manual_seed(3)
        y = build(x)
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert np.array_equal(found[0][0], found[1][0], equal_nan=True)
    assert np.array_equal(found[0][1], found[1][1], equal_nan=True)


def test_a_mask_may_lie_in_any_order(strict_gpu):
    """It is read by its strides, so it is no copy."""
    a, m = numbers(1, 2, 36, 8), numbers(40, 40)
    x = vistorch.tensor(a).to("cuda:0")
    mask = vistorch.tensor(m).to("cuda:0")
    for there in (mask.mT, mask[2:38, 4:], mask[::1, 1:]):
        whole = there[:36, :36]
        y = F.scaled_dot_product_attention(x, x, x, whole)
        assert vistorch.equal(y, F.scaled_dot_product_attention(x, x, x, whole.contiguous()))


class Long:
    """cuBLAS's library with numbers of 64 bits."""

    def __init__(self):
        self.calls = []

    def cublasCreate_v2(self, handle):
        return 0

    def cublasGemmStridedBatchedEx(self, *args):
        self.calls.append(("short", args))
        return 0

    def cublasGemmStridedBatchedEx_64(self, *args):
        self.calls.append(("long", args))
        return 0


def test_products_of_more_than_an_int_holds(strict_gpu):
    """Sizes and steps beyond 31 bits go by cuBLAS's other name; without it, one sentence says so."""
    library, space = Long(), strict_gpu.xp.empty(8, "u1")
    own = products.Products(library, space)
    side = types.SimpleNamespace(turned=0, address=4096, step=3, apart=0)
    out = types.SimpleNamespace(dtype=np.dtype("f4"), data=types.SimpleNamespace(ptr=8192))
    own._gemm(side, side, out, 5, 3, 2, 1, 0)
    own._gemm(side, side, out, 2**31, 3, 2, 1, 0)
    far = types.SimpleNamespace(turned=0, address=4096, step=2**33, apart=0)
    own._gemm(side, far, out, 5, 3, 2, 1, 0)
    assert [kind for kind, _ in library.calls] == ["short", "long", "long"]
    (_, first), (_, rows), (_, step) = library.calls
    assert first[3:6] == (3, 5, 2)
    assert [v.value for v in rows[3:6]] == [3, 2**31, 2] and step[9].value == 2**33
    del Long.cublasGemmStridedBatchedEx_64
    with pytest.raises(RuntimeError, match="a product of more than 2147483647 rows, columns or steps"):
        own._gemm(side, far, out, 5, 3, 2, 1, 0)
