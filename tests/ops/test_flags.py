"""Flags: each bool argument of each function given what is no bool, and torch asked whether it takes that.

Invariant: what torch refuses for a flag is refused; `numpy.bool` is a bool everywhere.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.ops.cases import dtypes_of
from tests.ops.library import Call, L, function_of, prepare, torch
from tests.ops.record import Op
from tests.ops.samples import for_each

VALUES: dict[str, Callable[[Any], Any]] = {
    "1": lambda lib: 1,
    "text": lambda lib: "x",
    "None": lambda lib: None,
    "a 0-d tensor": lambda lib: lib.tensor(True),
    "0.5": lambda lib: 0.5,
    "a list": lambda lib: [],
}


def ended(call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """How a call ended: "taken", or the exception and its sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*args, **kwargs)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "taken"


def flags(op: Op) -> Iterator[tuple[str, Callable[[Any], Call], Callable[[Call, Any], Call]]]:
    """The flags of a function, each with a call that sets it right and a way to put something else there."""
    signature = inspect.signature(function_of(op, L))
    names, seen = list(signature.parameters), set()
    for sample in op.samples[:6]:
        dtypes = dtypes_of(op, sample)
        dtype = "float64" if "float64" in dtypes else next(iter(dtypes), "float64")

        def build(lib: Any, sample: Any = sample, dtype: str = dtype) -> Call:
            return prepare(lib, sample, dtype)

        call = build(L)
        try:
            bound = signature.bind(*call.args, **call.kwargs).arguments
        except TypeError:
            continue
        for at, name in enumerate(names):
            is_flag = isinstance(signature.parameters[name].default, bool) or isinstance(
                bound.get(name), bool
            )
            if is_flag and name not in seen:
                seen.add(name)

                def put(call: Call, value: Any, at: int = at, name: str = name) -> Call:
                    if at < len(call.args) and name not in call.kwargs:
                        call.args = (*call.args[:at], value, *call.args[at + 1 :])
                    else:
                        call.kwargs = {**call.kwargs, name: value}
                    return call

                yield name, build, put


def has_flag(op: Op) -> bool:
    """Whether a signature, or a sample, has a bool in it."""
    found = inspect.signature(function_of(op, L)).parameters.values()
    given = [value for sample in op.samples[:6] for value in (*sample.args, *sample.kwargs.values())]
    return any(isinstance(value, bool) for value in [*given, *[one.default for one in found]])


@for_each("flags", lambda op: op.reference is None and op.fn is None and has_flag(op))
def test_no_flag_takes_what_torch_refuses(op: Op) -> None:
    """A flag that is no bool is refused by the functions of which torch refuses it, and by no others."""
    wrong = []
    for name, build, put in flags(op):
        for label, make in VALUES.items():
            ends = []
            for lib in (L, torch):
                call = put(build(lib), make(lib))
                ends.append(ended(function_of(op, lib), *call.args, **call.kwargs))
            if (ends[0] == "taken") != (ends[1] == "taken"):
                wrong.append(f"{name}={label}: {ends[0]}\n    torch: {ends[1]}")
        call = put(build(L), True)
        plain = ended(function_of(op, L), *call.args, **call.kwargs)
        call = put(build(L), np.bool_(True))
        if ended(function_of(op, L), *call.args, **call.kwargs) != plain:
            wrong.append(f"{name}: numpy's True is not True")
    assert not wrong, "\n".join(wrong)


def x(lib: Any) -> Any:
    """A leaf."""
    return lib.ones(2, requires_grad=True)


def grad(name: str) -> Callable[[Any, Any], Any]:
    """`autograd.grad` with one flag."""

    def call(lib: Any, value: Any) -> Any:
        t = x(lib)
        return lib.autograd.grad((t * 2).sum(), t, **{name: value})

    return call


OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "backward retain_graph": lambda lib, v: x(lib).sum().backward(retain_graph=v),
    "backward create_graph": lambda lib, v: x(lib).sum().backward(create_graph=v),
    "autograd.backward retain_graph": lambda lib, v: lib.autograd.backward(x(lib).sum(), retain_graph=v),
    "autograd.backward create_graph": lambda lib, v: lib.autograd.backward(x(lib).sum(), create_graph=v),
    **{
        f"grad {name}": grad(name)
        for name in ("retain_graph", "create_graph", "allow_unused", "materialize_grads")
    },
    "requires_grad_": lambda lib, v: lib.ones(2).requires_grad_(v),
    "requires_grad =": lambda lib, v: setattr(lib.ones(2), "requires_grad", v),
    "Parameter": lambda lib, v: lib.nn.Parameter(lib.ones(2), requires_grad=v),
    "set_grad_enabled": lambda lib, v: lib.set_grad_enabled(v).__exit__(None, None, None),
    "set_detect_anomaly": lambda lib, v: lib.autograd.set_detect_anomaly(v).__exit__(None, None, None),
    "check_nan": lambda lib, v: lib.autograd.set_detect_anomaly(False, v).__exit__(None, None, None),
    "warn_only": lambda lib, v: lib.use_deterministic_algorithms(False, warn_only=v),
    "set_autocast_enabled": lambda lib, v: (
        lib.set_autocast_enabled("cpu", v),
        lib.set_autocast_enabled("cpu", False),
    ),
    "set_autocast_cache_enabled": lambda lib, v: (
        lib.set_autocast_cache_enabled(v),
        lib.set_autocast_cache_enabled(True),
    ),
    "copy_": lambda lib, v: lib.ones(2).copy_(lib.ones(2), v),
    "to": lambda lib, v: lib.ones(2).to("cpu", non_blocking=v),
    "asarray": lambda lib, v: lib.asarray([1.0], copy=v),
    "asarray requires_grad": lambda lib, v: lib.asarray([1.0], requires_grad=v),
    "frombuffer": lambda lib, v: lib.frombuffer(bytearray(8), dtype=lib.float32, requires_grad=v),
    "new_zeros": lambda lib, v: lib.ones(2).new_zeros(2, requires_grad=v),
    "new_tensor": lambda lib, v: lib.ones(2).new_tensor([1.0], requires_grad=v),
    "pad_sequence": lambda lib, v: lib.nn.utils.rnn.pad_sequence([lib.ones(2)], batch_first=v),
    "pack_padded_sequence": lambda lib, v: lib.nn.utils.rnn.pack_padded_sequence(lib.ones(1, 1, 1), [1], v),
    "dropout": lambda lib, v: lib.nn.functional.dropout(lib.ones(2), 0.5, training=v),
    "relu": lambda lib, v: lib.nn.functional.relu(lib.ones(2), inplace=v),
    "sum by position": lambda lib, v: lib.ones(2, 2).sum(0, v),
    "var by position": lambda lib, v: lib.ones(2, 2).var(0, v),
    "sum without a dim": lambda lib, v: lib.ones(2, 2).sum(keepdim=v),
    "max without a dim": lambda lib, v: lib.ones(2, 2).max(keepdim=v),
    "Adam": lambda lib, v: lib.optim.Adam([x(lib)], 0.1, amsgrad=v),
    "load_state_dict": lambda lib, v: lib.nn.Linear(1, 1).load_state_dict(
        lib.nn.Linear(1, 1).state_dict(), assign=v
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_flags(name: str) -> None:
    """Flags of what is no op: passes, modes, copies, sequences, modules."""
    call, wrong = OTHERS[name], []
    for label, make in VALUES.items():
        mine, theirs = [ended(call, lib, make(lib)) for lib in (L, torch)]
        if (mine == "taken") != (theirs == "taken"):
            wrong.append(f"{label}: {mine}\n    torch: {theirs}")
    if ended(call, L, np.bool_(True)) != ended(call, L, True):
        wrong.append("numpy's True is not True")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "median", "nanmedian", "max", "min"])
def test_keepdim_goes_with_a_dim(name: str) -> None:
    """Without a dim, `keepdim=True` is refused rather than passed over."""
    for lib in (L, torch):
        with pytest.raises(TypeError):
            getattr(lib, name)(lib.ones(2, 2), keepdim=True)


def test_a_batch_of_gradients_is_asked_for() -> None:
    """`is_grads_batched` without gradients is refused in words."""
    t = x(L)
    with pytest.raises(ValueError, match="needs grad_outputs"):
        L.autograd.grad((t * 2).sum(), t, is_grads_batched=True)


def test_normal_of_tensors_takes_no_options() -> None:
    """The result of tensors has their dtype and no gradient: what says otherwise is refused."""
    for lib in (L, torch):
        with pytest.raises(TypeError):
            lib.normal(lib.ones(2), 1.0, requires_grad=True)
