"""What the records cannot say about shapes: identity, sentences for odd arguments, warnings, layouts, many tensors.

Invariant: each expectation comes from torch, run beside.
"""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import vistorch

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
BOTH = (vistorch, torch)


def make(L, *shape, **more):
    count = int(np.prod(shape))
    return L.tensor(np.arange(1.0, count + 1).reshape(shape), **more)


def outcome(action, *arguments):
    """What an action gives: a shape and values, or the type and first line of an exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = action(*arguments)
        except Exception as raised:
            return type(raised).__name__, re.sub(r"\bvistorch\b", "torch", str(raised)).split("\n")[0]
    several = result if isinstance(result, tuple) else (result,)
    return [(tuple(t.shape), t.tolist(), str(t.dtype).rpartition(".")[2]) for t in several]


SAME = {
    "contiguous": lambda L, x: x.contiguous() is x,
    "contiguous of a transposed": lambda L, x: x.t().contiguous() is x,
    "to": lambda L, x: x.to(L.float64) is x,
    "to nothing": lambda L, x: x.to() is x,
    "to cpu": lambda L, x: x.to("cpu", L.float64) is x,
    "to another": lambda L, x: x.to(x) is x,
    "to by name": lambda L, x: x.to(dtype=L.float64, device="cpu", non_blocking=True) is x,
    "to a number type": lambda L, x: x.to(float) is x,
    "to copy": lambda L, x: x.to(L.float64, copy=True) is x,
    "to copy by position": lambda L, x: x.to(L.float64, False, True) is x,
    "to a format it has": lambda L, x: x.to(memory_format=L.contiguous_format) is x,
    "double": lambda L, x: x.double() is x,
    "float": lambda L, x: x.float() is x,
    "cpu": lambda L, x: x.cpu() is x,
    "type": lambda L, x: x.type(L.float64) is x,
    "type by name": lambda L, x: x.type(x.type()) is x,
    "type_as": lambda L, x: x.type_as(x) is x,
    "flatten of a vector": lambda L, x: x.select(0, 0).flatten().dim() == 1,
    "reshape": lambda L, x: x.reshape(2, 3) is x,
    "view": lambda L, x: x.view(2, 3) is x,
    "expand": lambda L, x: x.expand(2, 3) is x,
    "broadcast_tensors": lambda L, x: L.broadcast_tensors(x, x.select(0, 0))[0] is x,
    "atleast_2d": lambda L, x: L.atleast_2d(x) is x,
    "clone": lambda L, x: x.clone() is x,
    "mT of a number": lambda L, x: (n := x.select(0, 0).select(0, 0)).mT is n,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SAME)
def test_the_very_same_tensor_where_torch_gives_it(name):
    mine, theirs = (SAME[name](L, make(L, 2, 3)) for L in BOTH)
    assert mine == theirs


REFUSED = {
    "view with two holes": lambda L, x: x.view(-1, -1),
    "view with a negative size": lambda L, x: x.view(-2, 3),
    "view of another size": lambda L, x: x.view(4),
    "view that would have to copy": lambda L, x: x.t().view(6),
    "view of nothing with a hole": lambda L, x: x.narrow(0, 0, 0).view(-1, 0),
    "view with a float in it": lambda L, x: x.view(2, 1.5),
    "view as a larger type": lambda L, x: x.view(L.complex128),
    "view of a number as another size": lambda L, x: x.select(0, 0).select(0, 0).view(L.int32),
    "view of a transposed as another size": lambda L, x: x.t().view(L.int32),
    "view at an odd offset": lambda L, x: x.view(6).narrow(0, 1, 4).view(L.complex128),
    "reshape by a number": lambda L, x: L.reshape(x, 6),
    "reshape without": lambda L, x: x.reshape(),
    "permute too few": lambda L, x: x.permute(0),
    "permute twice": lambda L, x: x.permute(0, 0),
    "transpose by a word": lambda L, x: x.transpose("a", 0),
    "unsqueeze too far": lambda L, x: x.unsqueeze(4),
    "squeeze twice": lambda L, x: x.squeeze((0, 0)),
    "movedim of unequal lengths": lambda L, x: x.movedim((0,), (0, 1)),
    "expand to a negative size": lambda L, x: x.expand(2, -2),
    "expand to more": lambda L, x: x.expand(2, 4),
    "expand without": lambda L, x: x.expand(),
    "narrow beyond the end": lambda L, x: x.narrow(0, 1, 2),
    "narrow from beyond": lambda L, x: x.narrow(0, 3, 0),
    "select beyond the end": lambda L, x: x.select(1, 3),
    "as_strided outside": lambda L, x: x.as_strided((4, 4), (2, 1)),
    "as_strided backwards": lambda L, x: x.as_strided((2,), (-1,)),
    "as_strided of unequal lengths": lambda L, x: x.as_strided((2,), (1, 1)),
    "as_strided before the storage": lambda L, x: x.as_strided((2,), (1,), -1),
    "cat of one tensor": lambda L, x: L.cat(x),
    "cat with a number": lambda L, x: L.cat([x, 3]),
    "cat of other ranks": lambda L, x: L.cat([x, x.select(0, 0)]),
    "stack of nothing": lambda L, x: L.stack([]),
    "split by a float": lambda L, x: x.split(2.5),
    "split by a word": lambda L, x: x.split("a"),
    "chunk by a float": lambda L, x: x.chunk(2.0),
    "tensor_split by a float tensor": lambda L, x: x.tensor_split(make(L, 2)),
    "repeat too few": lambda L, x: x.repeat(2),
    "tile by a number": lambda L, x: L.tile(x, 2),
    "flip by a number": lambda L, x: L.flip(x, 0),
    "rot90 in three dims": lambda L, x: x.rot90(1, (0, 1, 2)),
    "roll by a word": lambda L, x: x.roll("a"),
    "roll without": lambda L, x: x.roll(()),
    "tril by a float": lambda L, x: x.tril(1.0),
    "meshgrid of nothing": lambda L, x: L.meshgrid(indexing="ij"),
    "clone in a format of another rank": lambda L, x: x.clone(memory_format=L.channels_last),
    "to a word": lambda L, x: x.to("float32"),
    "to what a type is not": lambda L, x: x.type("foo"),
    "copy of a larger": lambda L, x: x.select(0, 0).copy_(make(L, 2, 3)),
    "copy of another size": lambda L, x: x.copy_(make(L, 4)),
    "repeat_interleave by floats": lambda L, x: x.repeat_interleave(make(L, 2), 0),
    "repeat_interleave of another size": lambda L, x: x.repeat_interleave(2, 0, output_size=5),
    "tril_indices of floats": lambda L, x: L.tril_indices(2, 2, dtype=L.float32),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_in_the_words_of_torch(name):
    mine, theirs = (outcome(REFUSED[name], L, make(L, 2, 3)) for L in BOTH)
    assert isinstance(theirs, tuple), "torch does not refuse this"
    assert mine == theirs


ODD = {
    "cat leaves out empty vectors": lambda L, x: L.cat([x, L.tensor([]), x], 1),
    "cat promotes": lambda L, x: L.cat([x, L.tensor([[1, 2, 3]])]),
    "cat by axis": lambda L, x: L.cat([x, x], axis=1),
    "cat of empty vectors": lambda L, x: L.cat([L.tensor([]), L.tensor([])], 0),
    "view by tensors and numpy": lambda L, x: x.view((L.tensor(3), np.int64(2))),
    "view by name": lambda L, x: x.view(size=(3, 2)),
    "narrow from a tensor": lambda L, x: x.narrow(1, L.tensor(1), 2),
    "chunks of nothing": lambda L, x: x.narrow(0, 0, 0).chunk(3),
    "more chunks than there are": lambda L, x: x.chunk(7, 1),
    "tensor_split at negative indices": lambda L, x: x.tensor_split([-2, 9], 1),
    "tensor_split backwards": lambda L, x: x.tensor_split([2, 1], 1),
    "tensor_split by a tensor": lambda L, x: x.tensor_split(L.tensor([1, 2]), 1),
    "split by name": lambda L, x: x.split(split_size=1),
    "repeat_interleave by one": lambda L, x: x.repeat_interleave(L.tensor([2]), 1),
    "block_diag of nothing": lambda L, x: L.block_diag(),
    "block_diag promotes": lambda L, x: L.block_diag(x, L.tensor([1, 2])),
    "combinations of too many": lambda L, x: L.combinations(x.select(0, 0), 5),
    "movedim of nothing": lambda L, x: x.movedim((), ()),
    "bfloat16 there and back": lambda L, x: (x / 3).to(L.bfloat16).to(L.float32),
    "complex to real": lambda L, x: (x * 1j).to(L.float64),
    "complex to bool": lambda L, x: (x * 1j).bool(),
    "half to int": lambda L, x: (x / 2).half().int(),
    "view as half the size": lambda L, x: x.view(L.int32),
    "view a column as another type": lambda L, x: x.t().view(L.int64),
    "windows of windows": lambda L, x: x.unfold(1, 2, 1).unfold(0, 2, 1),
    "as_strided from elsewhere": lambda L, x: x.select(0, 1).as_strided((2, 2), (3, 1), 1),
    "as_strided of a view": lambda L, x: x.select(0, 1).as_strided((3,), (1,)),
    "diagonal of a view": lambda L, x: x.t().narrow(0, 1, 2).diagonal(-1),
    "copy of a number": lambda L, x: x.copy_(3),
    "copy of a leading one": lambda L, x: x.copy_(make(L, 3)),
    "tril of an expanded": lambda L, x: x.select(1, 0).unsqueeze(1).expand(2, 3).tril_(),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_calls(name):
    mine, theirs = (outcome(ODD[name], L, make(L, 2, 3)) for L in BOTH)
    assert isinstance(theirs, list), f"torch refuses this: {theirs}"
    assert mine == theirs


def test_memory_formats():
    found = []
    for L in BOTH:
        x = make(L, 2, 3, 2, 2)
        last = x.to(memory_format=L.channels_last)
        wide = x.permute(3, 1, 0, 2)
        found.append(
            [t.stride() for t in (last, last.clone(), last.contiguous(), wide.clone(), wide.float())]
            + [
                wide.to(L.float32, memory_format=L.contiguous_format).stride(),
                x.contiguous(memory_format=L.channels_last).stride(),
                x.clone(memory_format=L.channels_last).stride(),
            ]
            + [last.to(memory_format=L.channels_last) is last, last.tolist()]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("count", [1, 2, 3, 40])
@pytest.mark.parametrize("name", ["cat", "stack"])
def test_any_number_of_tensors_is_joined(name, count):
    found = []
    for L in BOTH:
        xs = [make(L, 2, 2).requires_grad_() for _ in range(count)]
        y = getattr(L, name)([x * (i + 1) for i, x in enumerate(xs)], 1)
        gradients = L.autograd.grad(y * y, xs, L.ones(y.shape, dtype=L.float64), create_graph=True)
        (second,) = L.autograd.grad(gradients[-1], xs[-1], L.ones(2, 2, dtype=L.float64))
        nodes = len(y.grad_fn.next_functions), y.grad_fn.name()
        found.append((nodes, [g.tolist() for g in gradients], second.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("part", range(3))
def test_one_piece_alone_has_a_gradient(part):
    found = []
    for L in BOTH:
        x = make(L, 3, 2).requires_grad_()
        gradients = []
        for split in (lambda t: t.unbind(), lambda t: t.split([1, 1, 1]), lambda t: t.chunk(3)):
            y = split(x)[part]
            (g,) = L.autograd.grad(y * y, x, L.ones(y.shape, dtype=L.float64), create_graph=True)
            (h,) = L.autograd.grad(g * g, x, L.ones(3, 2, dtype=L.float64))
            gradients.append((g.tolist(), h.tolist()))
        found.append(gradients)
    assert found[0] == found[1]


def test_integers_leave_the_graph():
    for L in BOTH:
        x = make(L, 2).requires_grad_()
        assert not x.to(L.int64).requires_grad
        assert not x.bool().requires_grad
        assert x.to(L.complex128).requires_grad


ONCE = """
import warnings
import {library} as L
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        L.meshgrid(L.ones(2), L.ones(2))
        L.ones(2).T
        L.ones(1)[0].T
        L.ones(1)[0].mT
        (L.ones(2) * 1j).to(L.float32)
for w in caught:
    print(w.category.__name__, str(w.message).replace("vistorch.", "torch.").partition(" (Triggered")[0])
"""


def test_warnings_come_once_in_a_process():
    said = []
    for L in BOTH:
        code = ONCE.format(library=L.__name__)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        said.append(done.stdout.splitlines())
    assert len(said[1]) == 5
    assert said[0] == said[1]


JOINED = {
    "cat of transposed": lambda L, x: L.cat([x.t(), x.t()]),
    "cat of transposed along the last": lambda L, x: L.cat([x.t(), x.t()], -1),
    "stack of transposed": lambda L, x: L.stack([x.t(), x.t()]),
    "stack of transposed in the middle": lambda L, x: L.stack((x.t(), x.t()), 1),
    "stack of transposed at the end": lambda L, x: L.stack([x.t(), x.t()], -1),
    "stack of numbers": lambda L, x: L.stack([x[0, 0], x[0, 1]]),
    "cat of permuted": lambda L, x: L.cat([x.reshape(1, 2, 3).permute(2, 0, 1)] * 2, 1),
    "cat channels last": lambda L, x: L.cat([make(L, 2, 3, 4, 5).to(memory_format=L.channels_last)] * 2, 1),
    "stack channels last": lambda L, x: L.stack([make(L, 2, 3, 4, 5).to(memory_format=L.channels_last)] * 2),
    "cat with one channels last": lambda L, x: L.cat(
        [make(L, 2, 3, 4, 5).to(memory_format=L.channels_last), make(L, 2, 3, 4, 5)]
    ),
    "tril of transposed": lambda L, x: x.t().tril(),
    "triu of a batch": lambda L, x: make(L, 2, 3, 4).permute(2, 0, 1).triu(),
    "roll of transposed": lambda L, x: x.t().roll(1, 0),
    "roll flat": lambda L, x: x.t().roll(-2),
    "roll of both": lambda L, x: x.roll((1, 4), (0, 1)),
    "flip of transposed": lambda L, x: x.t().flip(0),
    "rot90": lambda L, x: x.t().rot90(),
    "rot90 backwards": lambda L, x: x.t().rot90(-1),
    "rot90 twice": lambda L, x: x.t().rot90(2),
    "as_strided of all": lambda L, x: x.as_strided((2, 2), (1, 2)),
    "as_strided of a part": lambda L, x: x[1].as_strided((2, 2), (1, 0)),
    "as_strided of transposed": lambda L, x: x.t().as_strided((2, 2), (2, 1)),
    "unfold of transposed": lambda L, x: x.t().unfold(0, 2, 1),
    "expand of transposed": lambda L, x: x[:1].t().expand(-1, 4),
    "expand in front": lambda L, x: x.expand(2, -1, 3),
}


@pytest.mark.parametrize("name", JOINED)
def test_layout_is_torchs(name):
    ours, theirs = [JOINED[name](L, make(L, 2, 3)) for L in BOTH]
    assert ours.tolist() == theirs.tolist()
    assert ours.stride() == theirs.stride()


ODD_SIZES = {
    "view of -2": lambda L, x: x.view(-2, 3),
    "view of a Size": lambda L, x: x.view(L.Size([3, 2])),
    "view of a list": lambda L, x: x.view([3, -1]),
    "reshape of nothing": lambda L, x: x.reshape(),
    "view of a transposed": lambda L, x: x.t().view(6),
    "view of every other row": lambda L, x: x[::2].view(3, 1),
    "permute twice the same": lambda L, x: x.permute(1, -1),
    "transpose of a bool": lambda L, x: x.transpose(True, 0),
    "expand to a negative size": lambda L, x: x[:, :1].expand(2, -3),
    "expand of fewer": lambda L, x: x.expand(3),
    "as_strided with a negative stride": lambda L, x: x.as_strided((2,), (-1,)),
    "as_strided too far": lambda L, x: x.as_strided((3, 3), (3, 1)),
    "as_strided of unequal lengths": lambda L, x: x.as_strided((2, 2), (1,)),
    "stack of shapes that add up": lambda L, x: L.stack([x, x[:, :1], make(L, 2, 5)], 1),
    "cat of an empty one": lambda L, x: L.cat([L.tensor([], dtype=L.float64), x]),
    "cat of two dtypes": lambda L, x: L.cat([x, x.int()]),
    "cat out of range": lambda L, x: L.cat([x, x], -3),
    "cat of numbers": lambda L, x: L.cat([x[0, 0], x[0, 1]]),
    "cat of a number": lambda L, x: L.cat([x, 1.0]),
    "movedim of a number": lambda L, x: x[0, 0].movedim(-1, 0),
    "chunk into many": lambda L, x: x.chunk(7, 1),
    "split by zero": lambda L, x: x.split(0),
    "split of nothing": lambda L, x: x[:0].split(2),
}


@pytest.mark.parametrize("name", ODD_SIZES)
def test_odd_sizes(name):
    ours, theirs = [outcome(ODD_SIZES[name], L, make(L, 2, 3)) for L in BOTH]
    assert ours == theirs


@pytest.mark.parametrize("action", [lambda x: x.view((2, 3), 1), lambda x: x.permute(True, False)])
def test_sizes_that_are_none(action):
    for L in BOTH:
        with pytest.raises(TypeError):
            action(make(L, 2, 3))


def test_gradients_through_the_pieces_of_one_node():
    def run(L):
        x = make(L, 4, 3, requires_grad=True)
        a, _, c, _ = (x * x).unbind()
        p, q = x.chunk(2, 1)
        y = L.cat([p * 2, q * q], 1).sum() + (a * c).sum() + L.stack([x, x.t().reshape(4, 3)], 1)[:, 1].prod()
        (g,) = L.autograd.grad(y, x, create_graph=True)
        (h,) = L.autograd.grad((g * g).sum(), x)
        return g.tolist(), h.tolist()

    ours, theirs = run(vistorch), run(torch)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-12)


@pytest.mark.parametrize("change", ["clone()", "float()", "to(L.int64)", "bool()"])
@pytest.mark.parametrize("sizes", [(2, 3), (4, 3, 3), (2, 4, 3)])
def test_a_copy_of_an_expanded_tensor_lies_row_by_row(change, sizes):
    for L in (vistorch, torch):
        x = L.ones(sizes[-1], dtype=L.float64).expand(sizes)
        assert eval(f"x.{change}", {"L": L, "x": x}).is_contiguous()
