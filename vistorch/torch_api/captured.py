"""A step that is captured when it was run a few times, and then replayed: what `compile(mode="reduce-overhead")` gives.

It is captured in pieces: what is the host's work (steps of optimizers and schedules, a scaler's decisions) runs between
them at each replay, so learning rates change and steps are counted. The rule for what looks at a step: a replay is the
device's work alone, so a step runs as it is written while anything listens to ops or passes (graph, stepper, trace,
watch), while anomalies are looked for, and on devices that capture nothing. Invariant: a call gives what the function
as it is written would give.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from vistorch.cuda.devices import synchronize
from vistorch.cuda.graphs import CUDAGraph, explained, graph_pool_handle
from vistorch.cuda.streams import Stream, StreamContext, current_stream
from vistorch.engine.base.events import Listener, listeners
from vistorch.engine.base.modes import mode
from vistorch.engine.base.warn_once import user_level
from vistorch.engine.core.registry import FUNCTIONS
from vistorch.engine.core.tensor import Tensor
from vistorch.engine.kernels import simulated
from vistorch.engine.kernels.cuda import capture
from vistorch.engine.memory.placement import CUPY

from .graphed import _Part, _warm

WARM = 3  # calls before the capture: kernels are compiled, the optimizer has its state
MOST = 8  # kinds of arguments that are kept captured
PLAIN = (int, float, bool, str, bytes, type(None))


class _Seen(Listener):
    """Which modules ran in a function, and whether a backward pass did."""

    def __init__(self) -> None:
        self.modules: dict[int, Any] = {}
        self.passes = 0

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        if name == "forward":
            self.modules.setdefault(id(subject), weakref.ref(subject))

    def backward(self, run: Any, outputs: Any) -> None:
        self.passes += 1


class _Pieces:
    """Graphs, and what the host does between them."""

    def __init__(self) -> None:
        self.pool = graph_pool_handle()
        self.parts: list[Any] = []
        self.now: CUDAGraph | None = None
        self.grads: list[tuple[Tensor, Any]] = []
        self.owners: dict[int, Any] = {}

    def begin(self) -> None:
        """Capture the next piece."""
        self.now = CUDAGraph()
        self.now.capture_begin(self.pool)
        assert self.now._capture is not None
        self.now._capture.between = self.between

    def end(self) -> None:
        """This piece is whole."""
        assert self.now is not None
        self.now.capture_end()
        self.parts.append(self.now.replay)
        self.now = None

    def between(self, call: Callable[[], Any], about: tuple) -> None:
        """Keep what the host is to do here, with the gradients that are there now."""
        owners = [one for one in about if hasattr(one, "param_groups")]
        for one in owners:
            self.owners[id(one)] = one
        grads = _grads(owners)
        self.end()
        self.parts.append(functools.partial(_act, call, grads))
        self.begin()

    def run(self) -> None:
        """Do it all."""
        for part in self.parts:
            part()
        for p, g in self.grads:
            p._grad = g


def _grads(optimizers: Any) -> list[tuple[Tensor, Any]]:
    return [(p, p._grad) for one in optimizers for group in one.param_groups for p in group["params"]]


def _act(call: Callable[[], Any], grads: list) -> None:
    for p, g in grads:
        p._grad = g
    call()


class _Captured:
    """A function captured for one kind of arguments."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict, seen: _Seen) -> None:
        tensors = _tensors((args, kwargs))
        self.static = [t.detach().clone().requires_grad_(t.requires_grad) for t in tensors]
        held = iter(self.static)
        self.args, self.kwargs = _mapped(args, held), _mapped(kwargs, held)
        self.modules = seen.modules
        parameters = [p for m in _alive(self.modules) for p in m.parameters(recurse=False)]
        self.memory = [(p, p._data) for p in dict.fromkeys(parameters)]
        self.partial: Any = None
        self.pieces: _Pieces | None = None
        self.out: Any = None
        if seen.passes or not mode.on or not any(t.requires_grad for t in [*parameters, *tensors]):
            self._whole(function)
        else:
            self._forward(function, parameters)

    def _whole(self, function: Callable) -> None:
        """A step with its backward pass, or one that records nothing."""
        pieces = self.pieces = _Pieces()
        synchronize()
        side = Stream()
        side.wait_stream(current_stream())
        with StreamContext(side):
            pieces.begin()
            try:
                self.out = function(*self.args, **self.kwargs)
                pieces.grads = _grads(pieces.owners.values())
                pieces.end()
            except BaseException:
                if pieces.now is not None:
                    pieces.now._abandon()
                raise
        current_stream().wait_stream(side)

    def _forward(self, function: Callable, parameters: list) -> None:
        """A function whose results the program differentiates itself."""
        wanted = tuple(p for p in dict.fromkeys(parameters) if p.requires_grad)
        surface = (*self.static, *wanted)

        def of_tensors(*_: Any) -> Any:
            return function(*self.args, **self.kwargs)

        _warm((of_tensors,), (tuple(self.static),), [surface], 1, True)
        part = _Part(of_tensors, tuple(self.static), surface, graph_pool_handle())
        part.capture_backward(part.forward_graph.pool(), True)
        self.partial = part.callable()

    def fits(self) -> bool:
        """Whether parameters are where they were."""
        return all(p._data is data for p, data in self.memory)

    def __call__(self, args: tuple, kwargs: dict) -> Any:
        given = _tensors((args, kwargs))
        if self.partial is not None:
            return self.partial(*given)
        assert self.pieces is not None
        for mine, t in zip(self.static, given, strict=True):
            if mine._data is not t._data:
                mine.detach().copy_(t.detach(), non_blocking=True)
        self.pieces.run()
        return _mapped(self.out, None)


class CapturedStep:
    """A function, run as it is written a few times, then captured, then replayed.

    Args:
        function: of tensors on a CUDA device; a module, or a whole step of training.

    Example:
        >>> import vistorch
        >>> from vistorch.captured import CapturedStep
        >>> double = CapturedStep(lambda x: x * 2)
        >>> double(vistorch.ones(2))  # on the CPU it is what it was
        tensor([2., 2.])
    """

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.calls: dict[Any, int] = {}
        self.known: dict[Any, _Captured | None] = {}
        self.seen: dict[Any, _Seen] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it, or replay it."""
        key = None if _listened() or simulated.count() else self._key(args, kwargs)
        if key is None or capture.current() is not None:
            return self.function(*args, **kwargs)
        found = self.known.get(key)
        if found is None:
            if key in self.known:  # it cannot be captured, and that was said
                return self.function(*args, **kwargs)
            if self.calls.get(key, 0) < WARM:
                self.calls[key] = self.calls.get(key, 0) + 1
                with self.seen.setdefault(key, _Seen()):
                    return self.function(*args, **kwargs)
            found = self._capture(key, args, kwargs)
            if found is None:
                return self.function(*args, **kwargs)
        elif not found.fits():
            del self.known[key]
            return self(*args, **kwargs)
        return found(args, kwargs)

    def _capture(self, key: Any, args: tuple, kwargs: dict) -> _Captured | None:
        while len(self.known) >= MOST:
            del self.known[next(iter(self.known))]
        made: _Captured | None = None
        try:
            made = _Captured(self.function, args, kwargs, self.seen[key])
        except Exception as error:
            said = error if isinstance(error, capture.CaptureError) else explained(error)
            if said is None:
                raise
            warnings.warn(
                f"{said}; until then the step runs as it is written", UserWarning, stacklevel=user_level()
            )
        self.known[key] = made
        return made

    def _key(self, args: tuple, kwargs: dict) -> Any:
        """What a capture depends on; None where there is nothing to capture."""
        parts: list = [mode.on]
        if not _describe((args, kwargs), parts) or not any(part.__class__ is tuple for part in parts):
            return None
        for key, seen in self.seen.items():
            if key[: len(parts)] == tuple(parts):
                parts.append(tuple(m.training for m in _alive(seen.modules)))
                break
        return tuple(parts)


def _listened() -> bool:
    """Whether anything looks at ops or passes."""
    return listeners.op is not None or listeners.backward is not None or bool(mode.anomaly)


def _alive(modules: dict) -> list:
    return [m for known in modules.values() if (m := known()) is not None]


def _describe(thing: Any, parts: list) -> bool:
    """Say what arguments are like: a tuple for each tensor of a device; False where that cannot be said."""
    if isinstance(thing, Tensor):
        if thing._place.kind != CUPY:
            return False
        d = thing._data
        parts.append((d.shape, d.dtype.str, d.strides, thing._place.index, thing.requires_grad))
    elif isinstance(thing, (tuple, list)):
        parts.append(f"{type(thing).__name__} {len(thing)}")
        return all(_describe(one, parts) for one in thing)
    elif isinstance(thing, dict):
        parts.append(f"dict {list(thing)}")
        return all(_describe(one, parts) for one in thing.values())
    elif isinstance(thing, PLAIN):
        parts.append(repr(thing))
    else:
        parts.append(f"{type(thing).__name__} {id(thing)}")
    return True


def _tensors(thing: Any) -> list[Tensor]:
    if isinstance(thing, Tensor):
        return [thing]
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (tuple, list)) else ()
    return [t for one in inside for t in _tensors(one)]


def _mapped(thing: Any, tensors: Any) -> Any:
    """The same with the next of other tensors in the place of each; with copies of its own where there are none."""
    if isinstance(thing, Tensor):
        return FUNCTIONS["clone"](thing.detach()) if tensors is None else next(tensors)
    if isinstance(thing, dict):
        return {key: _mapped(one, tensors) for key, one in thing.items()}
    if isinstance(thing, (tuple, list)):
        items = [_mapped(one, tensors) for one in thing]
        return type(thing)(*items) if hasattr(thing, "_fields") else type(thing)(items)
    return thing
