"""Optimizers whose step is the same rule for every parameter by itself: the loop around the rule.

A subclass says which tensors it keeps (`_keeps`), which numbers the rule needs (`_numbers`), and the rule (`_update`).

Invariant: after the first step nothing is allocated per parameter; a parameter's version counts each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..engine.base import dtypes
from ..engine.base.events import listeners
from ..engine.base.modes import set_grad_enabled
from ..engine.base.numpy_warnings import without_warnings
from ..engine.core.graph import version
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.kernels.cuda import capture
from ..engine.library_name import named
from .checks import is_on
from .executors import BLOCK, Arrays, arrays_of, shared, tensors
from .loading import check_entries
from .optimizer import Optimizer, with_loss

F4, F8 = np.dtype("f4"), np.dtype("f8")
PLAIN = frozenset((F4, F8))
COUNTED = (
    "{}.step() cannot be captured in a CUDA graph: it counts its steps on the host, where the numbers of its rule come "
    "from. Call it outside of the graph, or take vistorch.compile(step, mode='reduce-overhead'), which does"
)
zeros_like, make, view_as_real = FUNCTIONS["zeros_like"], FUNCTIONS["tensor"], FUNCTIONS["view_as_real"]


NOTHING: dict = {}
# Options that state dicts of older versions lack, for most optimizers.
COMMON: dict[str, Any] = {"foreach": None, "maximize": False, "differentiable": False}


def step_count() -> Tensor:
    """The count of steps in a parameter's state: a number in a tensor, as PyTorch keeps it."""
    return make(0.0, dtype=dtypes.float64 if dtypes.get_default_dtype() is dtypes.float64 else dtypes.float32)


class Rule(Optimizer):
    """Base of the optimizers of this package that work on each parameter by itself."""

    counts = True  # whether the state has a "step"
    as_real = True  # whether complex parameters are worked on as pairs of real numbers
    by_count = True  # whether the numbers are the same for all parameters of a group at the same step
    options: ClassVar[dict[str, Any]] = {}  # of state dicts that older versions saved without them
    _update: ClassVar[Callable]  # (F, p, g, *kept, *numbers)

    def _keeps(self, group: dict) -> tuple[str, ...]:
        """The names of the tensors in a parameter's state, in the order the rule takes them."""
        return ()

    def _begin(self, p: Tensor, state: dict, group: dict) -> None:
        """Fill in what is missing in the state of a parameter."""
        if self.counts:
            state.setdefault("step", step_count())
        for name in self._keeps(group):
            if state.get(name) is None:
                state[name] = zeros_like(p)

    def _settle_state(self, p: Tensor, entries: dict, group: dict, number: Any) -> None:
        begun: dict = {}
        self._begin(p, begun, group)
        check_entries(entries, begun, number)
        if entries and self.counts:
            self._begin(p, entries, group)

    def _numbers(self, get: Callable[[str], Any], state: dict, count: Any) -> tuple:
        """The numbers of the rule at this step.

        Args:
            get: reads an option of the group.
            state: the parameter's.
            count: the number of this step; for a rule that does not count, whether it is the first.
        """
        raise NotImplementedError

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients.

        Args:
            closure: computes the loss anew and returns it.
        """
        loss = with_loss(closure)
        with without_warnings():
            for group in self.param_groups:
                with set_grad_enabled(bool(group.get("differentiable"))):
                    self._step_group(group)
        return loss

    def _step_group(self, group: dict) -> None:
        names = self._keeps(group)
        entries = len(names) + self.counts
        recorded = group.get("differentiable")
        update = self._update
        place: Any = None
        F: Any = tensors
        last: Any = None
        numbers: tuple = ()
        waiting: dict[tuple, list] = {}  # parameters on devices, by place and numbers

        def get(name: str) -> Any:
            value = group[name]
            return value.item() if isinstance(value, Tensor) and not recorded else value

        for p in group["params"]:
            g = p._grad
            if g is None:
                continue
            state = self.state[p] if entries else NOTHING
            first = len(state) < entries
            if first:
                self._begin(p, state, group)
            if self.counts:
                if capture._active and capture.current() is not None:
                    raise capture.CaptureError(named(COUNTED).format(type(self).__name__))
                steps = state["step"]._data
                steps += 1
                count = steps.item()
            else:
                count = first
            if count != last or not self.by_count:
                numbers, last = self._numbers(get, state, count), count
            if recorded:
                operands = [p, g, *[state[name] for name in names]]
                if self.as_real and p.is_complex():
                    operands = [view_as_real(t) for t in operands]
                update(tensors, *operands, *numbers)
                continue
            if p._place is not place:
                place = p._place
                F = arrays_of(place)
            a = p._data
            operands = [a, g._data, *[state[name]._data for name in names]]
            if place.kind:
                waiting.setdefault((place, numbers), []).append((p, operands))
                continue
            if a.size <= BLOCK and a.dtype in PLAIN:
                F.begin(a)
                update(F, *operands, *numbers)
            else:
                _run(update, F, operands, numbers, self.as_real)
            _written(p)
        for (place, numbers), found in waiting.items():
            with place:
                _run_together(update, place, [operands for _, operands in found], numbers, self.as_real)
            for p, _ in found:
                _written(p)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.options.items():
                group.setdefault(name, default)
            for p in group["params"]:
                old = self.state.get(p, {})
                if self.counts and old and not isinstance(old.get("step", None), Tensor):
                    old["step"] = step_count() + float(old["step"])


def pulled(F: Any, p: Any, g: Any, decay: Any, shrink: Any, maximize: bool) -> Any:
    """The gradient as most rules take it: turned round to climb, and with the pull towards zero in it.

    Args:
        F: the executor.
        p: the parameter; with `shrink` it is pulled itself.
        g: its gradient.
        decay: weight decay.
        shrink: the factor of decoupled weight decay, or None.
        maximize: whether to climb.
    """
    if maximize:
        g = F.neg(g)
    if is_on(decay):
        if shrink is None:
            return F.added(g, p, decay)
        F.mul_(p, shrink)
    return g


def shrinking(get: Callable[[str], Any]) -> Any:
    """The factor of decoupled weight decay, or None where it is not decoupled."""
    return 1 - get("lr") * get("weight_decay") if get("decoupled_weight_decay") else None


def _written(p: Tensor) -> None:
    """A parameter was written in place."""
    (p._ver or version(p)).n += 1
    if (emit := listeners.write) is not None:
        emit(p, None)


def _run_together(update: Callable, place: Any, works: list[list], numbers: tuple, as_real: bool) -> None:
    """A rule on many parameters of one device: one launch for each type, the rest one by one."""
    from . import fused

    alike: dict[Any, list] = {}
    for operands in works:
        flat = fused.flat(operands, as_real)
        alike.setdefault(None if flat is None else flat[0].dtype, []).append((operands, flat))
    for dtype, found in alike.items():
        flats = [flat for _, flat in found]
        if dtype is None or not fused.step(place.xp, place.index, update, flats, numbers):
            for operands, _ in found:
                _run(update, arrays_of(place), operands, numbers, as_real)


def _run(update: Callable, F: Arrays, operands: list, numbers: tuple, as_real: bool) -> None:
    """A rule on the arrays of one parameter: blocks of flat memory where they allow it."""
    p = operands[0]
    dt = p.dtype
    if dt.kind == "c" and as_real:
        part = F4 if dt.itemsize == 8 else F8
        if all(a.flags.c_contiguous for a in operands):
            operands = [a.reshape(-1).view(part) for a in operands]
        else:
            _run_apart(update, F, operands, numbers)
            return
    elif dt not in PLAIN and dt.kind != "c":
        _run_wide(update, F, operands, numbers)
        return
    size = operands[0].size
    if size <= BLOCK or F.xp is not np or not all(a.flags.c_contiguous for a in operands):
        F.begin(operands[0])
        update(F, *operands, *numbers)
        return
    flat = [a.reshape(-1) for a in operands]
    # Threads of Python would pass the interpreter's lock around after each short call: 2 to 3 times as long as one.
    step = BLOCK
    if dt is F4 and all(a.dtype is F4 for a in flat) and (many := shared()) is not None:
        F, step = many, many.length(size)
    for start in range(0, size, step):
        cut = [a[start : start + step] for a in flat]
        F.begin(cut[0])
        update(F, *cut, *numbers)


def _run_wide(update: Callable, F: Arrays, operands: list, numbers: tuple) -> None:
    """Half-precision parameters: computed in float32, rounded once."""
    wide = [a.astype(F4) for a in operands]
    _run(update, F, wide, numbers, True)
    for i, a in enumerate(operands):
        if i != 1:  # the gradient is only read
            a[...] = wide[i]


def _run_apart(update: Callable, F: Arrays, operands: list, numbers: tuple) -> None:
    """Complex parameters that do not lie flat in memory: their real and imaginary parts are views."""
    for part in ("real", "imag"):
        views = [getattr(a, part) for a in operands]
        F.begin(views[0])
        update(F, *views, *numbers)
