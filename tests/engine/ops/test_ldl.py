"""Factors of indefinite matrices against PyTorch's: the same pivots, signs and blocks, and solutions that solve.

Invariant: singular matrices and exact ties are part of the draw.
"""

import numpy as np
import pytest
import torch

import vistorch as L


def _draw(rng, n, is_complex, hermitian):
    def part():
        return rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.7)

    a = part() + 1j * part() if is_complex else part()
    a = a + (a.conj().T if hermitian else a.T)
    if rng.random() < 0.5:
        a[np.arange(n), np.arange(n)] = 0
    return a


@pytest.mark.parametrize("is_complex, hermitian", [(False, False), (True, False), (True, True)])
def test_factors_are_lapacks_and_solve(is_complex, hermitian):
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(150):
        n = int(rng.integers(1, 8))
        a = _draw(rng, n, is_complex, hermitian)
        theirs = torch.linalg.ldl_factor_ex(torch.tensor(a), hermitian=hermitian)
        mine = L.linalg.ldl_factor_ex(L.tensor(a), hermitian=hermitian)
        if np.linalg.cond(a) > 1e8:
            continue  # a last pivot of rounding
        kinds.update(np.sign(theirs.pivots.numpy()))
        assert mine.pivots.tolist() == theirs.pivots.tolist() and mine.info.item() == theirs.info.item()
        np.testing.assert_allclose(mine.LD.numpy(), theirs.LD.numpy(), rtol=1e-7, atol=1e-9)
        assert mine.LD.stride() == theirs.LD.stride()
        b = rng.standard_normal((n, 2)) + np.zeros((), a.dtype)
        x = L.linalg.ldl_solve(mine.LD, mine.pivots, L.tensor(b), hermitian=hermitian).numpy()
        np.testing.assert_allclose(a @ x, b, atol=1e-7)
    assert kinds == {1, -1}


def test_a_batch_broadcasts_and_b_has_a_gradient():
    rng = np.random.default_rng(1)
    a = np.stack([_draw(rng, 3, False, False) + 3 * np.eye(3) for _ in range(2)])
    LD, pivots = L.linalg.ldl_factor(L.tensor(a))
    b = L.tensor(rng.standard_normal((3, 2)), requires_grad=True)
    x = L.linalg.ldl_solve(LD, pivots, b)
    np.testing.assert_allclose(
        a @ x.detach().numpy(), np.broadcast_to(b.detach().numpy(), (2, 3, 2)), atol=1e-9
    )
    assert L.autograd.gradcheck(lambda b: L.linalg.ldl_solve(LD[0], pivots[0], b), (b,))


def test_what_is_refused():
    a = L.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True)
    LD, _ = L.linalg.ldl_factor(a)
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        LD.sum().backward()
    with pytest.raises(L.linalg.LinAlgError, match="the block of D at 1 is zero"):
        L.linalg.ldl_factor(L.zeros(2, 2))
    for bad in ([9, 1], [0, 1], [1, -1]):
        with pytest.raises(RuntimeError, match="pivots must be those"):
            L.linalg.ldl_solve(LD.detach(), L.tensor(bad, dtype=L.int32), L.ones(2, 1))
    for call in (
        lambda lib: lib.linalg.ldl_factor(lib.ones(3)),
        lambda lib: lib.linalg.ldl_factor(lib.ones(3, 2)),
        lambda lib: lib.linalg.ldl_solve(lib.ones(2, 2), lib.ones(2, dtype=lib.int32), lib.ones(3, 1)),
        lambda lib: lib.linalg.ldl_solve(lib.ones(2, 2), lib.ones(3, dtype=lib.int32), lib.ones(2, 1)),
        lambda lib: lib.linalg.ldl_solve(lib.ones(2, 2), lib.ones(2), lib.ones(2, 1)),
    ):
        with pytest.raises(RuntimeError) as theirs:
            call(torch)
        with pytest.raises(RuntimeError) as mine:
            call(L)
        assert str(mine.value) == str(theirs.value).replace("torch.", "vistorch.")
