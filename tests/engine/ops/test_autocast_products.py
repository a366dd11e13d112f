"""The types of products under autocast on the CPU: a dot product keeps its type, a matrix product does not.

Invariant: each line is one call inside the same region of both libraries.
"""

import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")

CALLS = """
    L.tensordot(a, a, 1); L.tensordot(a, a, 0); L.tensordot(m, m, 1); L.tensordot(m, m, 2); L.tensordot(m, a, 1)
    L.tensordot(t, m, ([1, 2], [0, 1])); L.tensordot(a.sum(), a.sum(), 0); L.tensordot(t, t, 3)
    L.inner(a, a); L.inner(m, m); L.inner(m, a); L.inner(m, a.sum()); L.dot(a, a); L.vdot(a, a); L.outer(a, a)
    L.mv(m, a); a @ a; m @ a; L.einsum("i,i", a, a); L.einsum("ij,jk", m, m); L.linalg.vecdot(a, a); L.kron(m, m)
    L.linalg.multi_dot([a, m, a]); L.addmv(a, m, a); L.addr(m, a, a)
"""


@pytest.mark.parametrize("call", [c.strip() for c in CALLS.replace("\n", ";").split(";") if c.strip()])
def test_types_of_products(call: str) -> None:
    found = []
    for L in (torch, vistorch):
        scope = {"L": L, "a": L.ones(3), "m": L.ones(3, 3), "t": L.ones(2, 3, 3)}
        with L.autocast("cpu", dtype=L.bfloat16):
            result = eval(call, scope)
        found.append((str(result.dtype).rpartition(".")[2], result.float().tolist()))
    assert found[1] == found[0]
