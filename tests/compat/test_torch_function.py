"""`__torch_function__`: subclasses of Tensor and objects that are none, asked as PyTorch asks them."""

import copy
import pickle

import pytest
import torch

import vistorch
from vistorch import overrides

LIBRARIES = (vistorch, torch)


@pytest.fixture(params=LIBRARIES, ids=lambda L: L.__name__)
def L(request):
    """One library after the other."""
    return request.param


def rounded(values):
    """Numbers by five digits: the libraries round apart."""
    return [rounded(one) for one in values] if isinstance(values, list) else float(f"{values:.4e}")


def shown(thing):
    """What a program sees of a result, without the library's name."""
    if isinstance(thing, (tuple, list)):
        return [shown(part) for part in thing]
    if isinstance(thing, LIBRARIES[0].Tensor) or isinstance(thing, LIBRARIES[1].Tensor):
        return (
            type(thing).__name__,
            str(thing.dtype).partition(".")[2],
            rounded(thing.tolist()),
            thing.requires_grad,
        )
    return type(thing).__name__, thing if isinstance(thing, (int, float, str, bool)) else None


def plain(L):
    """A subclass that says nothing: its results are of its class."""

    class Mine(L.Tensor):
        pass

    return Mine


RESULTS = {
    "operators": lambda L, x: [
        x + 1,
        1 - x,
        -x,
        x == 1,
        x @ L.ones(3),
        L.ones(2, 2) @ x,
        L.ones(2, 3) * x,
        x[0],
        x[:, 1],
    ],
    "functions": lambda L, x: [
        L.add(x, 1),
        L.cat([x, L.ones(2, 3)]),
        L.where(x > 0, x, x),
        L.ones_like(x),
        L.stack((x, x)),
    ],
    "methods": lambda L, x: [
        x.sum(),
        x.mean(0),
        x.clone(),
        x.detach(),
        x.reshape(-1),
        x.double(),
        x.new_zeros(2),
        x.expand(2, 2, 3),
    ],
    "layers": lambda L, x: [
        L.nn.functional.relu(x),
        L.nn.ReLU()(x),
        L.nn.functional.softmax(x, 1),
        L.nn.Flatten()(x),
    ],
    "several results": lambda L, x: [x.max(0), x.sort(1), x.split(1), L.unbind(x), x.chunk(3, 1)],
    "no tensors": lambda L, x: [
        x.tolist(),
        x.size(0),
        x.sum().item(),
        x.dim(),
        len(x),
        bool(x[0, 0] == x[0, 0]),
    ],
    "properties": lambda L, x: [x.T, x.mT, x.data, x.real],
    "turns": lambda L, x: list(x),
    "in place": lambda L, x: [x.add_(1), x.zero_()],
    "copies": lambda L, x: [copy.copy(x)],
    "linear algebra": lambda L, x: [L.linalg.norm(x), L.linalg.svd(x)[1], L.fft.fft(x).real],
}


@pytest.mark.parametrize("what", RESULTS)
def test_results_of_a_subclass_are_of_the_subclass(what):
    said = []
    for L in LIBRARIES:
        x = L.tensor([[1.0, 2.0, 4.0], [3.0, 0.5, 1.0]]).as_subclass(plain(L))
        said.append(shown(RESULTS[what](L, x)))
    ours, theirs = said
    assert repr(ours) == repr(theirs)


def test_a_subclass_of_a_subclass_is_asked_first(L):
    asked = []

    class Base(L.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append((cls.__name__, func.__name__, [kind.__name__ for kind in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Narrow(Base):
        pass

    a, b = L.ones(2).as_subclass(Base), L.ones(2).as_subclass(Narrow)
    asked.clear()
    out = [a + b, b + a, L.mul(a, 2)]
    assert [type(one).__name__ for one in out] == ["Narrow", "Narrow", "Base"]
    assert asked == [
        ("Narrow", "add", ["Narrow", "Base"]),
        ("Narrow", "add", ["Narrow", "Base"]),
        ("Base", "mul", ["Base"]),
    ]


def test_gradients_go_through_a_subclass():
    said = []
    for L in LIBRARIES:
        x = L.tensor([1.0, 2.0], requires_grad=True)
        y = (x.as_subclass(plain(L)) * x).exp().sum()
        y.backward()
        said.append(
            (type(y).__name__, type(y.grad_fn).__name__, type(x.grad) is L.Tensor, rounded(x.grad.tolist()))
        )
    assert said[0] == said[1]


@pytest.mark.parametrize("block", ["DisableTorchFunctionSubclass", "DisableTorchFunction"])
def test_a_class_that_calls_with_nothing_asked(L, block):

    class Mine(L.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with getattr(L._C, block)():
                return func(*args, **(kwargs or {}))

    x = L.ones(2).as_subclass(Mine)
    assert type(x * 2) is L.Tensor and type(x) is Mine and (x * 2).tolist() == [2, 2]


def test_a_disabled_class_gives_plain_tensors(L):

    class Mine(L.Tensor):
        __torch_function__ = L._C._disabled_torch_function_impl

    class Weight(L.nn.Parameter):
        pass

    x = L.ones(2).as_subclass(Mine)
    assert {type(one) for one in (x * 2, x.clone(), x[0], L.relu(x))} == {L.Tensor}
    assert type(Weight(L.ones(2)) * 2) is L.Tensor and not L.overrides.has_torch_function((x,))


def test_a_table_of_functions_finds_them(L):
    mine = {}

    class Mine(L.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in mine:
                return mine[func](*args, **(kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs or {})

    mine[L.mean] = lambda x: "mean"
    mine[L.Tensor.sum] = lambda x: "sum"
    mine[L.nn.functional.gelu] = lambda x: "gelu"
    x = L.ones(2).as_subclass(Mine)
    assert (L.mean(x), x.sum(), L.nn.functional.gelu(x)) == ("mean", "sum", "gelu")
    assert type(x + 1) is Mine


def test_nobody_knows_the_function(L):

    class Mine(L.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    x = L.ones(2).as_subclass(Mine)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for .*add.*returned NotImplemented"):
        L.add(x, 1)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Mine' and 'int'"):
        x + 1


def duck(L):
    """An object that is no tensor and stands for one."""

    class Scalar:
        def __init__(self, value):
            self.value = value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            args = [one.value * L.eye(2) if isinstance(one, cls) else one for one in args]
            return func(*args, **(kwargs or {}))

    return Scalar


def test_an_object_that_is_no_tensor_is_asked_too():
    said = []
    for L in LIBRARIES:
        Scalar = duck(L)
        if L is vistorch:
            overrides.notice(Scalar)  # a program under the alias does not say so
        x = Scalar(3.0)
        said.append(shown([L.mean(x), L.mm(L.ones(2, 2), x), L.ones(2, 2) + x, L.nn.functional.relu(x)]))
        assert L.overrides.is_tensor_like(x) and L.overrides.has_torch_function((x,))
    assert said[0] == said[1]


def test_functions_of_a_library_ask_by_themselves(L):

    class Mine:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, len(types), len(args), kwargs

    def own(x, y=None):
        if L.overrides.has_torch_function_variadic(x, y):
            return L.overrides.handle_torch_function(own, (x, y), x, y=y)
        return "run"

    @L.overrides.wrap_torch_function(lambda x: (x,))
    def wrapped(x):
        return "run"

    assert own(1) == wrapped(1) == "run"
    assert own(Mine(), y=2) == ("own", 1, 1, {"y": 2}) and wrapped(Mine())[:3] == ("wrapped", 1, 1)


def test_make_subclass():
    said = []
    for L in LIBRARIES:
        Mine = plain(L)
        x = L.Tensor._make_subclass(Mine, L.tensor([1.0, 2.0]), True)
        said.append((type(x).__name__, x.requires_grad, x.is_leaf, repr(x)))
        with pytest.raises(TypeError) as error:
            L.Tensor._make_subclass(int, L.ones(1))
        said[-1] += (str(error.value),)
        with pytest.raises(TypeError) as error:
            L.Tensor._make_subclass(Mine, 3)
        said[-1] += (str(error.value),)
    assert said[0] == said[1]


def test_until_a_tensor_is_one_nothing_is_replaced_and_then_functions_are_what_they_were():
    before = vistorch.add, vistorch.Tensor.add
    Mine = plain(vistorch)
    assert (
        vistorch.add is before[0]
    )  # no tensor is one yet: a library that only defines one slows nothing down
    vistorch.ones(1).as_subclass(Mine)
    after = vistorch.add, vistorch.Tensor.add
    assert after == before and hash(after[0]) == hash(before[0]) and after[0] is not before[0]
    assert copy.deepcopy(after[0]) is after[0] and copy.copy(after[0]) is after[0]
    assert pickle.loads(pickle.dumps(after[0])) is after[0]
    overrides.forget()
    assert vistorch.add is before[0] and vistorch.Tensor.add is before[1]


def test_a_mode_and_a_subclass_are_both_asked(L):
    seen = []

    class Mode(L.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = L.ones(2).as_subclass(plain(L))
    with Mode():
        out = L.add(x, 1)
    assert seen == ["add"] and type(out).__name__ == "Mine"
