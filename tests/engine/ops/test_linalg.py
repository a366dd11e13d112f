"""What the records of linear algebra cannot say: memory, singular matrices, phases, in-place products, einsum's plans.

Invariant: PyTorch is the reference wherever it has an answer; where it has none, a closed form is.
"""

import numpy as np
import pytest

import vistorch
from tests.ops.library import torch
from vistorch.engine.core.record import record
from vistorch.engine.core.rules import RAW, TABLE
from vistorch.engine.core.tensor import wrap
from vistorch.engine.ops.linalg import einsum


def both(values, **more):
    """The same leaf in both libraries."""
    return [lib.tensor(np.asarray(values), **more) for lib in (vistorch, torch)]


def sentence(action):
    """The exception's first line, with our name for the library."""
    with pytest.raises(Exception) as caught:
        action()
    return type(caught.value).__name__, str(caught.value).split("\n")[0].replace("torch.", "").replace(
        "vis", ""
    )


def test_gradients_of_mm_read_the_operands_where_they_lie(monkeypatch):
    """BLAS gets transposed views, never copies, and no gradient is computed that nobody wants."""
    a, b = np.ones((3, 4)), np.ones((4, 5))
    seen = []

    def spy(x, y):
        seen.append((x, y))
        return np.dot(x, y)

    monkeypatch.setattr(RAW[0], "mm", spy)
    x = vistorch.tensor(a)
    y = vistorch.from_numpy(b)
    x.requires_grad_()
    (x @ y).sum().backward()
    assert len(seen) == 1
    assert np.shares_memory(seen[0][1], b)
    assert seen[0][1].shape == (5, 4)


def test_the_fast_path_and_the_general_path_make_the_same_node():
    def saved(t):
        return [None if s is None else s if isinstance(s, int) else s[0] for s in t.grad_fn.saved]

    x, a, b, y, v = (vistorch.rand(*s).requires_grad_() for s in ((5,), (3, 4), (4, 5), (4,), (4,)))
    for fast, name, ins, constants in (
        (vistorch.mm(a, b), "mm", (a, b), ()),
        (a @ b, "mm", (a, b), ()),
        (a @ v, "mv", (a, v), ()),
        (y @ v, "dot", (y, v), ()),
        (y.detach() @ v, "dot", (y.detach(), v), ()),
        (vistorch.addmm(x, a, b), "addmm", (x, a, b), (1, 1)),
    ):
        o = wrap(fast._data)
        record(TABLE[name], ins, constants, (o,))
        assert type(o.grad_fn) is type(fast.grad_fn)
        assert o.grad_fn.edges == fast.grad_fn.edges
        assert (o.grad_fn.shape, o.grad_fn.dtype) == (fast.grad_fn.shape, fast.grad_fn.dtype)
        kept = [(p, q) for p, q in zip(saved(o), saved(fast), strict=True)]
        assert all(p is q or p._data is q._data for p, q in kept)


def test_a_node_saves_only_what_a_wanted_gradient_reads():
    a, b = vistorch.rand(2, 3), vistorch.rand(3, 2).requires_grad_()
    node = (a @ b).grad_fn
    assert node.saved[0] is None
    assert node.saved[1][0] is a


def test_integer_products_are_exact_and_wrap():
    big = 2**40 + 1
    a, b = both([[big, 3], [5, 7]])
    assert (
        (a @ a).tolist() == (b @ b).tolist() == [[big * big % 2**64 + 15, 3 * big + 21], [5 * big + 35, 64]]
    )
    a, b = both(np.array([[100, 100]], np.int8))
    assert (a @ a.T).tolist() == (b @ b.T).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_rounded_once(dtype):
    values = np.random.default_rng(0).uniform(-1, 1, (1, 4096)).astype(np.float32)
    a = vistorch.tensor(values).to(getattr(vistorch, dtype))
    exact = float((a.double() @ a.double().T).item())
    assert (a @ a.T).item() == vistorch.tensor(exact).to(getattr(vistorch, dtype)).item()


@pytest.mark.parametrize("left", [(2,), (3, 2), (4, 3, 2), (1, 3, 2), (5, 1, 3, 2), (0, 3, 2)])
@pytest.mark.parametrize("right", [(2,), (2, 3), (4, 2, 3), (1, 2, 3), (5, 4, 2, 3), (4, 2, 0)])
@pytest.mark.parametrize("wants", [(True, True), (True, False), (False, True)])
def test_matmul_table(left, right, wants):
    """Every pair of dims: value, shape, gradients, and the chain of nodes."""
    rng = np.random.default_rng(1)
    data = [rng.uniform(-1, 1, s) for s in (left, right)]
    results = []
    for lib in (vistorch, torch):
        x, y = (lib.tensor(d).requires_grad_(w) for d, w in zip(data, wants, strict=True))
        try:
            z = x @ y
        except RuntimeError as e:
            results.append(str(e))
            continue
        z.backward(lib.ones_like(z))
        grads = [None if t.grad is None else t.grad.numpy() for t in (x, y)]
        results.append((z.grad_fn.name(), z.detach().numpy(), *grads))
    mine, theirs = results
    if isinstance(theirs, str):
        assert mine == theirs
        return
    assert mine[0] == theirs[0]
    for p, q in zip(mine[1:], theirs[1:], strict=True):
        assert (p is None) == (q is None)
        if p is not None:
            assert p.shape == q.shape
            np.testing.assert_allclose(p, q, 1e-12, 1e-13)


@pytest.mark.parametrize("name", ["addmm_", "addmv_", "addr_", "addbmm_", "baddbmm_"])
def test_products_added_in_place(name):
    shapes = {
        "addmm_": ((2, 2), (2, 3), (3, 2)),
        "addmv_": ((2,), (2, 3), (3,)),
        "addr_": ((2, 3), (2,), (3,)),
        "addbmm_": ((2, 2), (4, 2, 3), (4, 3, 2)),
        "baddbmm_": ((4, 2, 2), (4, 2, 3), (4, 3, 2)),
    }[name]
    rng = np.random.default_rng(2)
    data = [rng.uniform(-1, 1, s) for s in shapes]
    out = []
    for lib in (vistorch, torch):
        x, a, b = (lib.tensor(d).requires_grad_() for d in data)
        y = x * 2
        assert getattr(y, name)(a, b, beta=0.5, alpha=2) is y
        y.backward(lib.tensor(np.ones(shapes[0])))
        out.append((y.grad_fn.name(), y._version, *[t.detach().numpy() for t in (y, x.grad, a.grad, b.grad)]))
    assert out[0][:2] == out[1][:2]
    for p, q in zip(out[0][2:], out[1][2:], strict=True):
        np.testing.assert_allclose(p, q, 1e-12)
    x, a, b = (vistorch.tensor(d) for d in data)
    before = a.tolist()
    with pytest.raises(RuntimeError, match="single memory location"):
        getattr(vistorch.zeros(()).double().expand(shapes[0]), name)(a, b)
    assert a.tolist() == before


def test_shapes_in_place_are_refused_in_words():
    a, b = both(np.ones((2, 3)))
    for name, x in (("addmm_", np.ones(2)), ("addmm_", np.ones((3, 3)))):
        mine, theirs = both(x)
        said = [
            sentence(lambda t=t, m=m, name=name: getattr(t, name)(m, m.T))
            for t, m in ((mine, a), (theirs, b))
        ]
        assert said[0] == said[1]


SINGULAR = {
    "rank 1": [[1.0, 2.0], [2.0, 4.0]],
    "zero row": [[0.0, 0.0], [1.0, 2.0]],
    "batch": [[[1.0, 2.0], [3.0, 5.0]], [[1.0, 1.0], [1.0, 1.0]]],
    "third": [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 4.0, 0.0]],
}


@pytest.mark.parametrize("values", SINGULAR.values(), ids=SINGULAR)
def test_singular_matrices(values):
    mine, theirs = both(values)
    n = mine.shape[-1]
    for call in (
        lambda lib, a: lib.linalg.inv(a),
        lambda lib, a: lib.linalg.solve(a, lib.ones(n, dtype=lib.float64)),
        lambda lib, a: lib.linalg.cholesky(a @ a.mT - lib.eye(n, dtype=lib.float64)),
    ):
        said = [
            sentence(lambda lib=lib, a=a, call=call: call(lib, a))
            for lib, a in ((vistorch, mine), (torch, theirs))
        ]
        assert said[0] == said[1]
        assert said[0][0] == "_LinAlgError"
    with pytest.raises(vistorch.linalg.LinAlgError):
        vistorch.linalg.inv(mine)
    assert issubclass(vistorch.linalg.LinAlgError, RuntimeError)


def test_no_error_of_numpy_leaves():
    bad = vistorch.tensor([[float("nan"), 1.0], [1.0, 2.0]])
    for fn in (vistorch.linalg.svd, vistorch.linalg.svdvals, vistorch.linalg.eig, vistorch.linalg.pinv):
        try:
            fn(bad)
        except vistorch.linalg.LinAlgError:
            pass


@pytest.mark.parametrize(
    "values", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 2, 3], [2, 4, 6], [1, 1, 0]]]
)
def test_the_gradient_of_det_at_a_singular_matrix_is_the_cofactors(values):
    a = np.array(values)
    n = len(a)
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    cofactors = [[(-1) ** (i + j) * np.linalg.det(minors[i][j]) for j in range(n)] for i in range(n)]
    x = vistorch.tensor(a, requires_grad=True)
    vistorch.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), cofactors, atol=1e-12)


@pytest.mark.parametrize(
    "loss",
    [
        lambda lib, c: lib.linalg.svd(c)[0].real.sum(),
        lambda lib, c: lib.linalg.eigh(c + c.mH)[1].real.sum(),
        lambda lib, c: lib.linalg.eig(c)[1].real.sum(),
        lambda lib, c: lib.linalg.qr(c[:, :2], "complete")[0].abs().sum(),
        lambda lib, c: lib.linalg.qr(c, "r")[1].abs().sum(),
    ],
    ids=["svd", "eigh", "eig", "qr complete", "qr r"],
)
def test_undefined_gradients_are_refused(loss):
    rng = np.random.default_rng(3)
    c = rng.uniform(-1, 1, (3, 3)) + 1j * rng.uniform(-1, 1, (3, 3))
    said = []
    for lib in (vistorch, torch):
        leaf = lib.tensor(c, requires_grad=True)
        said.append(sentence(lambda lib=lib, leaf=leaf: loss(lib, leaf).backward()))
    assert said[0] == said[1]


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 4, 3), (2, 3, 4)])
@pytest.mark.parametrize("kind", [float, complex])
def test_factors_multiply_back(shape, kind):
    rng = np.random.default_rng(4)
    a = rng.uniform(-1, 1, shape).astype(kind)
    if kind is complex:
        a = a + 1j * rng.uniform(-1, 1, shape)
    x = vistorch.tensor(a)
    for mode in ("reduced", "complete"):
        q, r = vistorch.linalg.qr(x, mode)
        np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-12)
    for full in (False, True):
        u, s, vh = (t.numpy() for t in vistorch.linalg.svd(x, full))
        k = s.shape[-1]
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, atol=1e-12)
    np.testing.assert_allclose((x @ vistorch.linalg.pinv(x) @ x).numpy(), a, atol=1e-12)


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
def test_every_part_of_lstsq(driver):
    rng = np.random.default_rng(5)
    for m, n in ((4, 2), (2, 4), (3, 3)):
        mine, theirs = (
            lib.linalg.lstsq(lib.tensor(a), lib.tensor(b), driver=driver)
            for a, b in [(rng.uniform(-1, 1, (m, n)), rng.uniform(-1, 1, (m, 2)))]
            for lib in (vistorch, torch)
        )
        for p, q in zip(mine, theirs, strict=True):
            assert tuple(p.shape) == tuple(q.shape)
            np.testing.assert_allclose(p.numpy(), q.numpy(), 1e-9, 1e-12)


@pytest.mark.parametrize("driver", ["gelsy", "gelsd"])
def test_gradients_of_lstsq(driver):
    rng = np.random.default_rng(6)
    a, b = rng.uniform(-1, 1, (4, 2)), rng.uniform(-1, 1, (4, 3))
    grads = []
    for lib in (vistorch, torch):
        x, y = (lib.tensor(d, requires_grad=True) for d in (a, b))
        out = lib.linalg.lstsq(x, y, driver=driver)
        (out.solution.square().sum() + 3 * out.residuals.sum()).backward()
        grads.append([x.grad.numpy(), y.grad.numpy()])
    for p, q in zip(*grads, strict=True):
        np.testing.assert_allclose(p, q, 1e-9, 1e-12)


EQUATIONS = [
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
    ("b...,b...->b", (2, 3, 4), (2, 3, 4)),
    ("iij->ij", (3, 3, 2)),
    ("iij,j", (3, 3, 2), (2,)),
    ("i...j->...", (2, 3, 4)),
    ("a,b,ab->ab", (2,), (3,), (2, 3)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("Ab,bC", (2, 3), (3, 4)),
    ("ij,jk->ki", (1, 3), (3, 1)),
    ("ij,jk,jl->ikl", (2, 3), (1, 4), (3, 5)),
    ("->", ()),
    (",i->i", (), (3,)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda c: c[0])
def test_einsum_to_the_second_order(case):
    equation, *shapes = case
    rng = np.random.default_rng(7)
    data = [rng.uniform(-1, 1, s) for s in shapes]
    out = []
    for lib in (vistorch, torch):
        leaves = [lib.tensor(d, requires_grad=True) for d in data]
        y = lib.einsum(equation, *leaves)
        first = lib.autograd.grad(y.square().sum(), leaves, create_graph=True)
        second = lib.autograd.grad(sum(g.square().sum() for g in first), leaves)
        out.append((y.grad_fn.name(), [t.detach().numpy() for t in (y, *first, *second)]))
    assert out[0][0] == out[1][0]
    for p, q in zip(out[0][1], out[1][1], strict=True):
        assert p.shape == q.shape
        np.testing.assert_allclose(p, q, 1e-10, 1e-12)


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("ij",),
        ("i1->i", (2, 3)),
        ("i..->", (2, 3)),
        ("i....->", (2, 3)),
        ("i->i1", (2,)),
        ("ij,jk", (2, 3)),
        ("ij", (2, 3), (3,)),
        ("...,...->...", (2,), (3,)),
        ("iji->j", (2, 3, 4)),
        ("ij->i->", (2, 3)),
        ("i...->...i...", (2, 3)),
        ("i...->", ()),
    ],
    ids=str,
)
def test_einsum_refuses_in_words(args):
    said = []
    for lib in (vistorch, torch):
        given = [lib.ones(a) if isinstance(a, tuple) else a for a in args]
        said.append(sentence(lambda lib=lib, given=given: lib.einsum(*given)))
    assert said[0] == said[1]


def test_operators():
    a, b = both([[1.0, 2.0], [3.0, 4.0]])
    for other in (3, "x", None, [[1.0]]):
        assert sentence(lambda other=other: a @ other)[1].startswith("unsupported operand type")
        assert sentence(lambda other=other: other @ a)[1].startswith("unsupported operand type")
    c = a
    c @= a
    b @= b
    assert c.tolist() == b.tolist()
    assert a.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_multi_dot_multiplies_in_the_cheapest_order(monkeypatch):
    from vistorch.engine.ops.linalg import contract

    seen = []

    def spy(x, y):
        seen.append((tuple(x.shape), tuple(y.shape)))
        return vistorch.mm(x, y)

    monkeypatch.setattr(contract, "mm", spy)
    parts = [vistorch.ones(*s) for s in ((10, 100), (100, 5), (5, 50))]
    assert vistorch.linalg.multi_dot(parts).tolist() == (parts[0] @ parts[1] @ parts[2]).tolist()
    assert seen == [((10, 100), (100, 5)), ((10, 5), (5, 50))]


def test_a_vector_times_a_matrix_counts_its_squeeze():
    for L in (vistorch, torch):
        v, m = L.ones(3, requires_grad=True), L.ones(3, 2)
        assert [(v @ m)._version, L.matmul(v, m)._version, L.mv(m.t(), v)._version] == [1, 1, 0]


def test_einsum_of_two_is_torchs_whatever_the_subscripts():
    """Shared and single ones in any order, sizes of one and none among them; half of these are one planned product."""
    rng, planned = np.random.default_rng(0), 0
    for _ in range(150):
        batch, left, inner, right = (list(part) for part in ("ab", "cd", "ef", "gh"))
        names = [
            part[: rng.integers(least, 3)] for part, least in ((batch, 0), (left, 0), (inner, 1), (right, 0))
        ]
        batch, left, inner, right = names
        terms = [rng.permutation(part).tolist() for part in (batch + left + inner, batch + inner + right)]
        out = rng.permutation(batch + left + right).tolist()
        small = rng.random() < 0.3
        sizes = {c: int(rng.integers(0 if small else 2, 4)) for c in "abcdefgh"}
        equation = f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(out)}"
        operands = [both(rng.normal(size=[sizes[c] for c in term]), requires_grad=True) for term in terms]
        ours, theirs = (
            lib.einsum(equation, *pair)
            for lib, pair in zip((vistorch, torch), zip(*operands, strict=True), strict=True)
        )
        assert tuple(ours.shape) == tuple(theirs.shape), equation
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12)
        g = rng.normal(size=tuple(theirs.shape))
        ours.backward(vistorch.tensor(g))
        theirs.backward(torch.tensor(g))
        for mine, yours in operands:
            np.testing.assert_allclose(mine.grad.numpy(), yours.grad.numpy(), rtol=1e-10, atol=1e-12)
        planned += einsum._contracted(equation, *(pair[0] for pair in operands)) is not None
    assert 50 < planned < 150
