"""Checkpointing: run a part of the forward pass without keeping its saved tensors, and run it again in backward.

Without reentrance, what the part saves is packed into the holders of a frame. With it, the part is one custom function
whose backward runs it again and then runs a backward pass of its own. Invariant: with either, nothing that the part
saved in its first run is kept but its arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..autograd.function import Function
from ..autograd.run import backward
from ..engine.base.modes import enable_grad, mode, no_grad
from ..engine.core.hooks import saved_tensors_hooks
from ..engine.core.tensor import Tensor
from ..engine.library_name import named
from .checkpoint_frame import Chance, CheckpointError, Frame
from .checkpoint_policy import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    DefaultDeviceType,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
    get_device_states,
    set_checkpoint_debug_enabled,
    set_device_states,
)

NOT_GIVEN = (
    "vistorch.utils.checkpoint{}: the use_reentrant parameter should be passed explicitly. {} "
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can "
    "pass use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)
SINCE = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
SINCE_SEQUENTIAL = "In version 2.9 we will raise an exception if use_reentrant is not passed."
NOT_WITH_GRAD = (
    "When use_reentrant=True, vistorch.utils.checkpoint is incompatible with .grad() or passing an "
    "`inputs` parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or "
    "call .backward() without passing the `inputs` argument."
)
SWALLOWED = (
    "vistorch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
    "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
)


class _Settings:
    early_stop = True


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Inside this context: whether running a part again stops when everything it saved is there.

    Args:
        enable: False runs it to its end.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
        >>> def part(x):
        ...     y = x.exp()  # all that is saved is there from here on
        ...     print("to the end")
        ...     return y
        >>> x = vistorch.ones(1, requires_grad=True)
        >>> checkpoint(part, x, use_reentrant=False).backward()
        to the end
        >>> with set_checkpoint_early_stop(False):
        ...     y = checkpoint(part, x, use_reentrant=False)
        to the end
        >>> y.backward()
        to the end
    """
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


def noop_context_fn() -> tuple[AbstractContextManager, AbstractContextManager]:
    """Two contexts that do nothing: the default of `context_fn`.

    Example:
        >>> import vistorch
        >>> first, second = vistorch.utils.checkpoint.noop_context_fn()
        >>> with first, second:
        ...     vistorch.ones(1) + 1
        tensor([2.])
    """
    return nullcontext(), nullcontext()


def check_backward_validity(inputs: Sequence) -> None:
    """Warn if no input requires grad: nothing would reach what the part uses.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     vistorch.utils.checkpoint.check_backward_validity([vistorch.ones(2)])
        >>> print(caught[0].message)
        None of the inputs have requires_grad=True. Gradients will be None
    """
    if not any(isinstance(t, Tensor) and t.requires_grad for t in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: Any) -> tuple:
    """The inputs without history, requiring grad where they did.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(2, requires_grad=True) * 2
        >>> vistorch.utils.checkpoint.detach_variable((x, 3))
        (tensor([2., 2.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple([_fresh(t, t.requires_grad) if isinstance(t, Tensor) else t for t in inputs])


def _fresh(t: Tensor, requires_grad: bool) -> Tensor:
    o = t.detach()
    o.requires_grad = requires_grad
    return o


# ---- with reentrance -------------------------------------------------------------------------------------------
class CheckpointFunction(Function):
    """The part as one custom function.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.checkpoint import CheckpointFunction
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> y = CheckpointFunction.apply(vistorch.square, True, x)
        >>> y.grad_fn.saved_tensors  # the argument alone
        (tensor(3., requires_grad=True),)
        >>> y.backward()
        >>> x.grad
        tensor(6.)
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the part without recording."""
        check_backward_validity(args)
        ctx.run_function, ctx.chance = run_function, Chance(preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the part again and differentiate it."""
        if mode.run is not None and mode.run.targets is not None:
            raise RuntimeError(named(NOT_WITH_GRAD))
        args = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = t
        args = detach_variable(tuple(args))
        with ctx.chance.again(), enable_grad():
            outs = ctx.run_function(*args)
        outs = (outs,) if isinstance(outs, Tensor) else outs
        pairs = [
            (o, g) for o, g in zip(outs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in args])


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Run a part of a model without keeping what its backward needs; backward runs the part again.

    Args:
        function: the part; it must do the same when it runs again.
        *args: its arguments.
        use_reentrant: True: one custom function; False (recommended): also for `grad`, keyword arguments and nesting.
        context_fn: returns two contexts, for the first run and for the second.
        determinism_check: "default" compares shapes, types and devices of what is saved; "none" does not.
        debug: accepted; errors here always say which tensor differs.
        early_stop: stop the second run when everything it must give is there.
        **kwargs: keyword arguments of the part; `preserve_rng_state=False` leaves the random state alone.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = vistorch.utils.checkpoint.checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([  5.4366, 218.3926])
    """
    if use_reentrant is None:
        warnings.warn(named(NOT_GIVEN).format("", SINCE), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    forward_context, second_context = context_fn()
    if not mode.on:
        with forward_context:
            return function(*args, **kwargs)
        raise RuntimeError(named(SWALLOWED))
    early = early_stop and _Settings.early_stop
    chance, check = Chance(preserve), determinism_check == "default"
    frame = Frame(function, args, kwargs, chance, second_context, check, early)
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        return function(*args, **kwargs)
    raise RuntimeError(named(SWALLOWED))


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Checkpoint a sequence of functions in segments; the last segment is not checkpointed.

    Args:
        functions: a Sequential, or a list of modules or functions.
        segments: into how many parts to divide it.
        input: the argument of the first.
        use_reentrant: as in `checkpoint`.
        **kwargs: `preserve_rng_state=False` leaves the random state alone.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0], requires_grad=True)
        >>> parts = [vistorch.exp, vistorch.sin, vistorch.cos]
        >>> y = vistorch.utils.checkpoint.checkpoint_sequential(parts, 2, x, use_reentrant=False)
        >>> y.backward()
    """
    if use_reentrant is None:
        warnings.warn(named(NOT_GIVEN).format(".checkpoint_sequential", SINCE_SEQUENTIAL), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments

    def run(first: int, last: int) -> Callable:
        def part(value: Any) -> Any:
            for step in steps[first:last]:
                value = step(value)
            return value

        return part

    start = 0
    for _ in range(segments - 1):
        part = run(start, start + size)
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += size
    return run(start, len(steps))(input)


__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]
