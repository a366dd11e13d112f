"""Where a view without elements begins: what it is resized to, and what is written to it, lies there.

Invariant: numpy forgets where an empty slice begins; the tensor does not.
"""

import pytest
import torch

import vistorch

VIEWS = {
    "b[1:1]": lambda b: b[1:1],
    "b[2:1]": lambda b: b[2:1],
    "b[:, 2:2]": lambda b: b[:, 2:2],
    "b[..., 3:3]": lambda b: b[..., 3:3],
    "b[1, 2:2]": lambda b: b[1, 2:2],
    "b[None, 1:1]": lambda b: b[None, 1:1],
    "b[3:]": lambda b: b[3:],
    "b[:0]": lambda b: b[:0],
    "narrow": lambda b: b.narrow(0, 1, 0),
    "split": lambda b: b.split([1, 0, 2])[1],
    "of a view": lambda b: b[1:].t()[2:2],
    "and on": lambda b: b[1:1][:, 1:].t().unsqueeze(0),
    "flat": lambda b: b.view(-1)[5:5],
    "b[::2, 3:3]": lambda b: b[::2, 3:3],
    "as_strided": lambda b: b[1:1].as_strided((0, 2), (1, 1), 3),
}


@pytest.mark.parametrize("name", VIEWS)
def test_where_it_begins(name):
    found = [VIEWS[name](L.arange(12.0).reshape(3, 4)).storage_offset() for L in (vistorch, torch)]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "b[3:]"])
@pytest.mark.parametrize("size", [(), (2,), (2, 2), (0, 3)])
def test_a_result_written_to_it(name, size):
    seen = []
    for L in (vistorch, torch):
        b = L.arange(12.0).reshape(3, 4)
        out = VIEWS[name](b)
        a = L.full(size, 50.0)
        assert L.add(a, a, out=out) is out
        seen.append((tuple(out.shape), out.stride(), out.storage_offset(), out.tolist(), b.tolist()))
    assert seen[0] == seen[1]


def test_resized():
    for L in (vistorch, torch):
        b = L.arange(12.0).reshape(3, 4)
        part = b[1:1].resize_(2, 2)
        assert part.tolist() == [[4, 5], [6, 7]]
        part.zero_()
        assert b[1].tolist() == [0, 0, 0, 0]
        x = L.arange(6.0)
        assert L.mul(x, 2, out=L.arange(6.0).resize_(0)).tolist() == [0, 2, 4, 6, 8, 10]
