"""Writes to memory that is read at the same time: refused where PyTorch refuses, and before anything is changed."""

import warnings
from typing import Any

import pytest
import torch

import vistorch

SAME = """
v.scatter_(0, i, v)
v.scatter_(0, i, v.view(3))
v.scatter_(0, i, v[:])
v.scatter_(0, i[:2], v[1:])
v.scatter_add_(0, i, v)
v.scatter_reduce_(0, i, v, 'sum')
v.scatter_(0, i, v, reduce='add')
v.index_add_(0, i, v)
v.index_copy_(0, i, v)
v.index_reduce_(0, i, v, 'prod')
v.put_(i, v)
v.put_(i, v, accumulate=True)
v.index_put_((i,), v)
v[i] = v
v.masked_scatter_(v > 0, v)
i.scatter_(0, i, 1)
i.scatter_(0, i, i)
i.index_add_(0, i, L.ones(3, dtype=L.int64))
i.put_(i, L.ones(3, dtype=L.int64))
i.gather(0, i)
L.gather(v, 0, i, out=v)
L.gather(v, 0, i, out=v[:])
L.index_select(v, 0, i, out=v)
L.take(v, i, out=v)
L.scatter(v, 0, i, v, out=v)
L.scatter(v, 0, i, 2 * v, out=v)
L.index_add(v, 0, i, v, out=v)
L.index_copy(v, 0, i, v, out=v)
L.masked_select(v, v > 0, out=v)
L.take_along_dim(v, i, 0, out=v)
L.index_select(i, 0, i, out=i)
L.gather(i, 0, i, out=i)
L.div(m, m, out=m.t())
L.add(m, 1, out=m.t())
L.abs(v, out=v[:1])
L.abs(v, out=v[:])
L.abs(v, out=v)
L.neg(v[:2], out=v[1:])
L.neg(v[:2], out=v[:2])
L.add(v[:2], v[1:], out=v[:2])
L.add(v[:2], v[1:], out=v[1:])
L.add(v[::2], 1, out=v[:2])
L.add(v, v, out=v)
L.mul(m, m.t(), out=m)
L.mul(m, m[0], out=m)
L.mul(m[0], m[1], out=m[0])
L.eq(b, b, out=b)
L.logical_not(b[:2], out=b[1:])
L.where(v > 0, v, v, out=v)
L.where(v[:2] > 0, v[:2], v[:2], out=v[1:])
L.clamp(v[:2], 0, 1, out=v[1:])
L.clamp(v[:2], v[:2], v[:2], out=v[1:])
L.lerp(v[:2], v[:2], 0.5, out=v[1:])
L.addcmul(v[:2], v[:2], v[:2], out=v[1:])
L.pow(v[:2], 2, out=v[1:])
L.maximum(v[:2], v[:2], out=v[1:])
L.sigmoid(v[:2], out=v[1:])
L.round(v[:2], out=v[1:])
L.cat([v[:1], v[:1]], out=v[1:])
L.tril(m, out=m)
L.flip(v, (0,))
L.bitwise_not(i[:2], out=i[1:])
m.add_(m.t())
m.copy_(m.t())
v[:2].add_(v[1:])
v[1:].copy_(v[:2])
v.copy_(v)
e.copy_(e)
e.add_(1)
e.data.add_(1)
L.broadcast_to(v, (2, 3)).data.add_(1)
L.broadcast_to(v, (2, 3)).add_(1)
v.expand(2, 3).data.mul_(2)
v.expand(2, 3).detach().zero_()
v.expand(2, 3).fill_(1)
v.expand(2, 3)[0].add_(1)
L.add(1, L.ones(2,3), out=v.expand(2,3))
L.expand_copy(v,(2,3)).add_(1)
v.masked_fill_(b, v.sum())
b.masked_fill_(b, True)
L.cummax(v, 0, out=(v, i))
v.t_().add_(v)
L.atan2(v[:2], v[1:], out=v[:2])
v.swapaxes(0, 0).add_(v)
L.nan_to_num(v[:2], out=v[1:])
L.isfinite(v)
L.nn.functional.relu(v, inplace=True)
L.cumsum(v, 0, out=v)
L.cumsum(v[:2], 0, out=v[1:])
L.stack([v[:1], v[1:2]], out=v[1:].view(2, 1))
L.diag(v, out=v)
L.gather(m, 0, j, out=m.t())
""".strip().splitlines()
# PyTorch refuses these; here operands are read before anything is written, so the result is that of the values before
COMPUTED = {
    "i.index_fill_(0, i, 1)": "[1, 1, 1]",
    "i[i] = 1": "[1, 1, 1]",
    "L.sort(v[:2], out=(v[1:], i[:2]))": "[1.0, 1.0, 2.0]",
}


def outcome(L: Any, program: str) -> str:
    v, i, b = L.tensor([1.0, 2.0, 3.0]), L.tensor([2, 1, 0]), L.tensor([True, False, True])
    m, j = L.tensor([[1.0, 2.0], [3.0, 4.0]]), L.tensor([[0, 1], [1, 0]])
    e = L.tensor([1.0, 2.0]).expand(2, 2)
    said = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, {"L": L, "v": v, "m": m, "i": i, "j": j, "b": b, "e": e})
        except RuntimeError as refusal:
            said = str(refusal).split(":")[0]
    return said + str([t.tolist() for t in (v, m, i, j, b, e)])


@pytest.mark.parametrize("program", SAME)
def test_same(program: str) -> None:
    assert outcome(vistorch, program) == outcome(torch, program)


@pytest.mark.parametrize("program", COMPUTED)
def test_what_is_left_reads_before_it_writes(program: str) -> None:
    assert "unsupported operation" in outcome(torch, program)
    assert COMPUTED[program] in outcome(vistorch, program)


def test_a_product_written_over_its_factors_is_that_of_what_they_were() -> None:
    """PyTorch gives the product or zeros, as its BLAS has it."""
    assert str([[7.0, 10.0], [15.0, 22.0]]) in outcome(vistorch, "L.matmul(m, m, out=m)")
