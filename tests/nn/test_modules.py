"""Every module against torch's, from its record: text, parameters, values, gradients, saving, errors."""

import copy
import io
import pickle
import re
from typing import Any

import numpy as np
import pytest

from tests.nn.record import Build, Layer, Of
from tests.nn.samples import LAYERS
from tests.ops.library import (
    INSIDES,
    REFUSALS,
    TOLERANCE,
    L,
    attempt,
    flat,
    numpy_of,
    prepare,
    renamed,
    torch,
)
from tests.ops.record import Sample


def cases(template: str, fed: bool = False) -> pytest.MarkDecorator:
    """Parametrise a template by the builds it applies to (`fed`: and by their feeds)."""
    found = []
    for layer in LAYERS:
        if template in layer.differs:
            continue
        for i, build in enumerate(layer.builds):
            for j, feed in enumerate(build.feeds if fed else (None,)):
                label = f"{layer.name}-{i}" + (f"-{j}" if fed else "")
                found.append(pytest.param(layer, build, *([feed] if fed else []), id=label))
    return pytest.mark.parametrize("layer, build, feed" if fed else "layer, build", found)


def argument(lib: Any, item: Any) -> Any:
    """An argument of a constructor for this library."""
    if isinstance(item, Of):
        return item.make(lib)
    if type(item) in (list, tuple):
        return type(item)(argument(lib, part) for part in item)
    return item


def build_in(lib: Any, layer: Layer, build: Build, fill: bool = True) -> Any:
    """The module, initialised from the same seed."""
    lib.manual_seed(20)
    own = layer.reference is not None and lib is torch
    cls = layer.reference(lib) if own else getattr(lib.nn, layer.name)
    args = [argument(lib, a) for a in build.args]
    kwargs = {k: argument(lib, a) for k, a in build.kwargs.items()}
    module = cls(*args, **kwargs)
    if fill and layer.fill is not None:
        layer.fill(lib, module)
    return module


def same(
    ours: Any, theirs: Any, dtype: str = "float64", layer: Layer | None = None, flatten: bool = True
) -> None:
    """Results of the same structure and values."""
    if flatten and layer is not None and layer.flatten is not None:
        ours, theirs = layer.flatten(ours), layer.flatten(theirs)
    ours, theirs = flat(ours), flat(theirs)
    assert len(ours) == len(theirs)
    rtol, atol = (layer.tolerance if layer else {}).get(dtype, TOLERANCE.get(dtype, (0, 0)))
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, torch.Tensor):
            assert a == b
            continue
        assert renamed(str(b.dtype)) == str(a.dtype)
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=rtol, atol=atol)


def to_dtype(module: Any, lib: Any, dtype: str) -> Any:
    return module.to(getattr(lib, dtype))


@cases("repr")
def test_repr(layer: Layer, build: Build) -> None:
    assert repr(build_in(L, layer, build)) == renamed(repr(build_in(torch, layer, build)))


@cases("parameters")
def test_parameters(layer: Layer, build: Build) -> None:
    """Names, order and the very values of parameters and buffers, from one seed."""
    ours, theirs = build_in(L, layer, build, fill=False), build_in(torch, layer, build, fill=False)
    for kind in ("named_parameters", "named_buffers", "named_modules"):
        assert [n for n, _ in getattr(ours, kind)()] == [n for n, _ in getattr(theirs, kind)()], kind
    a, b = ours.state_dict(), theirs.state_dict()
    assert list(a) == list(b)
    assert dict(a._metadata) == dict(b._metadata)
    for name in b:
        if isinstance(b[name], torch.nn.UninitializedParameter | torch.nn.UninitializedBuffer):
            assert type(a[name]).__name__ == type(b[name]).__name__
            continue
        assert str(a[name].dtype) == renamed(str(b[name].dtype)), name
        np.testing.assert_array_equal(numpy_of(a[name]), numpy_of(b[name]), err_msg=name)
    grads = [(n, p.requires_grad) for n, p in theirs.named_parameters()]
    assert [(n, p.requires_grad) for n, p in ours.named_parameters()] == grads


@cases("attributes")
def test_attributes(layer: Layer, build: Build) -> None:
    """The plain attributes that people read: `conv.stride`, `bn.eps`."""

    def plain(module: Any) -> dict:
        values = {k: v for k, v in vars(module).items() if not k.startswith("_")}
        return {
            k: v
            for k, v in values.items()
            if isinstance(v, int | float | str | bool | tuple | list | type(None))
        }

    ours, theirs = plain(build_in(L, layer, build)), plain(build_in(torch, layer, build))
    assert {k: ours.get(k, "missing") for k in theirs} == theirs


def run(
    lib: Any, layer: Layer, build: Build, feed: Sample, dtype: str, device: str | None = None
) -> list[tuple[str, Any]]:
    """What a module gives in training and in evaluation: results, gradients, buffers afterwards."""
    module = to_dtype(build_in(lib, layer, build), lib, dtype)
    module = module if device is None else module.to(device)
    devices = None if device is None else (lambda index: device)
    seen: list = []
    for mode in (True, False):
        module.train(mode)
        module.zero_grad()
        call = prepare(lib, feed, dtype, needs_grad=layer.grads, devices=devices)
        lib.manual_seed(3)
        out = module(*call.args, **call.kwargs)
        seen.append(("out", out))
        if layer.grads and pull(lib, flat(layer.flatten(out) if layer.flatten else out)):
            seen.append(("input grads", [t.grad for t in call.grads]))
            seen.append(("parameter grads", [p.grad for p in module.parameters()]))
        seen.append(("buffers", list(module.buffers())))
    return seen


def pull(lib: Any, outs: list) -> bool:
    """Backpropagate a different weight for each element of the outputs; whether there was anything to do."""
    total: Any = None
    for i, t in enumerate(outs):
        if getattr(t, "requires_grad", False):
            weights = np.cos(np.arange(t.numel()) + i).reshape(tuple(t.shape))
            part = (t * lib.tensor(weights).to(t.dtype).to(t.device)).sum()
            total = part if total is None else total + part
    if total is not None:
        total.backward()
    return total is not None


@cases("forward", fed=True)
def test_forward_and_gradients(layer: Layer, build: Build, feed: Sample) -> None:
    """Values in training and evaluation, buffers afterwards, gradients of inputs and parameters."""
    for dtype in layer.dtypes:
        ours, theirs = (run(lib, layer, build, feed, dtype) for lib in (L, torch))
        compared(layer, dtype, ours, theirs)


def compared(layer: Layer, dtype: str, ours: list[tuple[str, Any]], theirs: list[tuple[str, Any]]) -> None:
    """Both runs gave the same."""
    for (label, a), (_, b) in zip(ours, theirs, strict=True):
        if label == "out":
            same(a, b, dtype, layer)
        else:
            assert [x is None for x in a] == [x is None for x in b], label
            a, b = ([x for x in found if x is not None] for found in (a, b))
            same(a, b, dtype, layer, flatten=False)


@cases("interchange")
def test_state_dicts_go_both_ways(layer: Layer, build: Build) -> None:
    ours, theirs = build_in(L, layer, build), build_in(torch, layer, build)
    if any(isinstance(p, torch.nn.parameter.UninitializedTensorMixin) for p in theirs.parameters()):
        return
    given = {k: L.tensor(numpy_of(v) + 1) for k, v in theirs.state_dict().items()}
    assert repr(ours.load_state_dict(given)) == "<All keys matched successfully>"
    for name, value in ours.state_dict().items():
        np.testing.assert_array_equal(numpy_of(value), numpy_of(given[name]))
    theirs.load_state_dict({k: torch.tensor(numpy_of(v)) for k, v in ours.state_dict().items()})


@cases("copies", fed=True)
def test_copies_and_pickles_compute_the_same(layer: Layer, build: Build, feed: Sample) -> None:
    module = build_in(L, layer, build).eval()
    call = prepare(L, feed, "float32")
    L.manual_seed(3)
    expected = module(*call.args, **call.kwargs)
    for again in (
        copy.deepcopy(module),
        pickle.loads(pickle.dumps(module)),
        pickle.Unpickler(io.BytesIO(pickle.dumps(module, 5))).load(),
    ):
        assert repr(again) == repr(module)
        call = prepare(L, feed, "float32")
        L.manual_seed(3)
        found = again(*call.args, **call.kwargs)
        if layer.flatten:
            found, wanted = layer.flatten(found), layer.flatten(expected)
        else:
            wanted = expected
        for a, b in zip(flat(found), flat(wanted), strict=True):
            if isinstance(b, L.Tensor):
                np.testing.assert_array_equal(numpy_of(a), numpy_of(b))
        ours, copied = list(module.parameters()), list(again.parameters())
        assert len(ours) == len(copied) and not {id(p) for p in ours} & {id(p) for p in copied}


BAD = [
    pytest.param(layer, build, feed, id=f"{layer.name}-{i}-{j}")
    for layer in LAYERS
    for i, build in enumerate(layer.bad)
    for j, feed in enumerate(build.feeds or (None,))
]


@pytest.mark.parametrize("layer, build, feed", BAD)
def test_errors(layer: Layer, build: Build, feed: Sample | None) -> None:
    def outcome(lib: Any) -> Any:
        def act() -> Any:
            module = build_in(lib, layer, build)
            if feed is not None:
                call = prepare(lib, feed, "float32")
                return module(*call.args, **call.kwargs)
            return module

        return attempt(act)

    theirs, ours = outcome(torch), outcome(L)
    assert theirs.error is not None, "torch accepts this"
    assert ours.error is not None, f"torch says {theirs.error}"
    if layer.reference is not None:
        assert isinstance(ours.error, REFUSALS), ours.error
        return
    assert type(ours.error).__name__ == type(theirs.error).__name__, ours.error
    sentence = renamed(theirs.sentence)
    if not INSIDES.search(theirs.sentence) and not any(re.search(p, sentence) for p, _ in layer.loose):
        assert ours.sentence == sentence
