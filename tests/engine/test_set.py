"""`Tensor.set_`: memory taken from another tensor or a storage, held against torch."""

import warnings

import pytest

import vistorch
from tests.story import story


@story
def test_forms(L, report):
    a = L.arange(6.0)
    x = L.zeros(2)
    report(x.set_(a) is x, x, x.data_ptr() == a.data_ptr(), x._version)
    a[0] = 9
    report(x, x._version, a._version)
    report(L.zeros(1).set_(), L.zeros(1).set_(source=a))
    for more in ((1, (2, 2)), (1, (2, 2), (1, 2)), (0, (3,), (0,)), (0, ()), (0, (0, 3))):
        y = L.zeros(1).set_(a[1:], *more)
        report(y, y.stride(), y.numel() and y.storage_offset())
        y = L.zeros(1).set_(a.untyped_storage(), *more)
        report(y, y.stride(), y.numel() and y.storage_offset())
    report(L.zeros(1, dtype=L.int32).set_(a.untyped_storage()), L.zeros(1).set_(a[2:].untyped_storage()))
    report(L.zeros(1).set_(source=a.untyped_storage(), storage_offset=4, size=[2], stride=[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report(L.zeros(1).set_(a.storage()), L.zeros(1).set_(a.storage(), 1, (2,)))
    report(L.zeros(1).expand(3).set_(a), a.set_(a), a._version)


@story
def test_who_sees_it(L, report):
    a = L.arange(3.0)
    e = L.ones(2)
    d, v = e.detach(), e.view(1, 2)
    e.set_(a)
    report(e, d, v, e._version, d._version, v._version)
    e.add_(1)
    report(a, d, v)
    base = L.zeros(4)
    part = base[1:]
    part.set_(a)
    part[0] = 7
    report(base, part, a)
    p = L.nn.Parameter(L.zeros(2))
    with L.no_grad():
        report(p.set_(L.ones(3)), p.is_leaf, type(p))
    (p * 2).sum().backward()
    report(p.grad)


@story
def test_what_was_saved_is_missed(L, report):
    x, s = L.ones(3, requires_grad=True), L.full((3,), 2.0)
    y = x * s
    s.set_(L.arange(6.0))
    report.raises(lambda: y.sum().backward())
    r = L.zeros(1, requires_grad=True)
    report.raises(lambda: r.set_(L.ones(2)))
    report(r)


@story
def test_what_does_not_fit(L, report):
    a = L.arange(6.0)
    whole = L.zeros(1, dtype=L.int64)
    for wrong in (
        lambda: L.zeros(1, dtype=L.int32).set_(a),
        lambda: whole.set_(a),
        lambda: L.zeros(1).set_(a.to(L.complex64)),
        lambda: L.zeros(1).set_(a.to(L.bfloat16)),
        lambda: L.zeros(1).set_(a, -1, (2,)),
        lambda: L.zeros(1).set_(a, 0, (2,), (1, 1)),
        lambda: L.zeros(1).set_(a, 0, (-2,)),
        lambda: L.zeros(1).set_(a, 0, (2,), (-1,)),
    ):
        report.raises(wrong)
    report(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.raises(lambda: whole.set_(a.storage()))


def test_forms_that_are_none():
    x, a = vistorch.zeros(1), vistorch.arange(4.0)
    for wrong in ((3,), (a, 3), (a, 0, 2), (a, 1.5, (2,)), (None, 0, (1,)), (a, 0, (1.5,))):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            x.set_(*wrong)
    assert x.tolist() == [0]


def test_a_view_lets_go_of_its_base():
    base = vistorch.zeros(4)
    part = base[1:]
    part.set_(vistorch.arange(2.0))
    base.mul_(vistorch.ones(4, requires_grad=True))
    assert base.requires_grad
    assert part._base is None
    assert part.grad_fn is None
    assert part.tolist() == [0, 1]


def test_memory_does_not_grow():
    x, a = vistorch.zeros(1), vistorch.arange(4.0)
    with pytest.raises(RuntimeError, match="storage that is not resizable"):
        x.set_(a, 2, (3,))
    assert x.tolist() == [0]


def test_no_gradient_through_it():
    a = vistorch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        vistorch.zeros(2).set_(a)


def test_listeners_get_it():
    received = []

    class Listens(vistorch.engine.base.events.Listener):
        def write(self, tensor, rule):
            received.append(tensor)

    x = vistorch.zeros(1)
    with Listens():
        x.set_(vistorch.ones(2))
    assert received == [x]
