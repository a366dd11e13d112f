"""`vistorch.compile` and `vistorch.compiler`: accepted in all their forms; there is no compiler here.

Invariant: what is handed in is what comes back, and programs learn once that nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vistorch._lazy import unbuilt
from vistorch.engine.base import cuda_probe
from vistorch.engine.base.warn_once import once

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]

SENTENCE = "vistorch has no compiler: compile() returns the model as it is, and changes nothing."
CAPTURING = ("reduce-overhead", "max-autotune")  # the modes in which PyTorch takes CUDA graphs
MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


def compile(
    model: Callable | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Accepted as PyTorch's; gives `model` itself, or with `mode="reduce-overhead"` a step that CUDA devices replay.

    That step may be a module, or a function that does a whole step of training: forward, backward, the optimizer's
    step. It runs three times as it is written, then it is captured and replayed; an op that cannot be captured is named
    in a warning. While something listens (`%vt graph`, step, trace, watch) and on the CPU it runs as it is written.

    Args:
        model: a module or function; without it, a decorator is given.
        fullgraph: changes nothing.
        dynamic: changes nothing.
        backend: changes nothing.
        mode: "reduce-overhead" or "max-autotune" to capture, the others of PyTorch's change nothing.
        options: changes nothing; not together with `mode`.
        disable: changes nothing.

    Example:
        >>> import vistorch
        >>> model = vistorch.nn.Linear(2, 2)
        >>> vistorch.compile(model, disable=True) is model
        True
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in MODES and backend == "inductor":
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if model is None:
        return lambda model: compile(
            model,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
        )
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    if mode in CAPTURING and cuda_probe.find().ok:
        from .captured import CapturedStep

        if hasattr(model, "named_parameters") and hasattr(model, "forward"):
            model.forward = CapturedStep(model.forward)  # it stays the module, with its names and hooks
            return model
        return CapturedStep(model)
    once(SENTENCE)
    return model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Gives `fn` itself: nothing was compiled.

    Example:
        >>> import vistorch
        >>> @vistorch.compiler.disable
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    return fn if fn is not None else (lambda fn: fn)


def allow_in_graph(fn: Any) -> Any:
    """Gives `fn` itself.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.allow_in_graph(len) is len
        True
    """
    return fn


assume_constant_result = wrap_numpy = allow_in_graph


def substitute_in_graph(original_fn: Any, *, can_constant_fold_through: bool = False, **options: Any) -> Any:
    """A decorator that gives the function itself.

    Example:
        >>> import vistorch
        >>> @vistorch.compiler.substitute_in_graph(len)
        ... def counted(values):
        ...     return sum(1 for _ in values)
        >>> counted("abc")
        3
    """
    return lambda fn: fn


def is_compiling() -> bool:
    """False: nothing is compiled here.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.is_compiling()
        False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """No backends.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.list_backends()
        []
    """
    return []


def reset() -> None:
    """Nothing to forget.

    Example:
        >>> import vistorch
        >>> model = vistorch.compile(vistorch.nn.ReLU(), disable=True)
        >>> vistorch.compiler.reset()
        >>> model(vistorch.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """


def cudagraph_mark_step_begin() -> None:
    """Nothing to mark.

    Example:
        >>> import vistorch
        >>> total = vistorch.zeros(1)
        >>> for step in range(3):
        ...     vistorch.compiler.cudagraph_mark_step_begin()
        ...     total += step
        >>> total
        tensor([3.])
    """


def skip_all_guards_unsafe(guard_entries: Any) -> list[bool]:
    """No guards are kept.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.skip_all_guards_unsafe(["one guard", "another"])
        [False, False]
    """
    return [False for _ in guard_entries]


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Changes nothing; gives what was set before.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.set_enable_guard_collectives(True)
        False
    """
    return False


class set_stance:
    """Accepted as a call, a `with` block and a decorator; changes nothing.

    Example:
        >>> import vistorch
        >>> with vistorch.compiler.set_stance("force_eager"):
        ...     vistorch.ones(2) * 2
        tensor([2., 2.])
        >>> @vistorch.compiler.set_stance("fail_on_recompile")
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """

    def __init__(self, stance: str = "default", **options: Any) -> None:
        self.stance = stance

    def __call__(self, fn: Any) -> Any:
        """Gives the function itself."""
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


globals().update(unbuilt("compiler"))
