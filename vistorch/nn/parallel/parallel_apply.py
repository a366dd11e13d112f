"""Several modules at once, each in a thread and with its device current there.

Invariant: what a thread records is what the caller would: the modes are the caller's, autocast among them. An error is
raised in the caller, with the traceback of the thread.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

from ...amp.state import cast_as, casting
from ...cuda.device_ids import place, shown
from ...engine import browser
from ...engine.base.modes import is_grad_enabled, mode, recording, set_grad_enabled
from ...engine.core.tensor import Tensor
from ...engine.kernels.threads import beside

__all__ = ["get_a_var", "parallel_apply"]


class _Text(str):
    """A text whose repr is itself: KeyError shows the repr of what it is given."""

    def __repr__(self) -> str:
        return str(self)


class Failure:
    """What went wrong in a thread, without the frames, which would keep their tensors alive.

    Args:
        where: in which thread.
    """

    def __init__(self, where: str) -> None:
        kind, error, trace = sys.exc_info()
        self.kind, self.where = kind, where
        self.text = "".join(traceback.format_exception(kind, error, trace)) if kind else ""

    def reraise(self) -> None:
        """Raise an exception of the same type, whose text is the traceback."""
        if self.kind is None:
            raise RuntimeError(f"Caught no exception {self.where}")
        text: Any = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            text = _Text(text)
        try:
            error = self.kind(text)
        except Exception:  # its constructor wants something else
            error = RuntimeError(text)
        raise error


def get_a_var(obj: Any) -> Tensor | None:
    """The first tensor in tuples, lists and dicts.

    Args:
        obj: where to look.
    """
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, dict):
        obj = list(obj.items())
    if isinstance(obj, (list, tuple)):
        for part in obj:
            found = get_a_var(part)
            if found is not None:
                return found
    return None


def parallel_apply(
    modules: Sequence, inputs: Sequence, kwargs_tup: Sequence | None = None, devices: Sequence | None = None
) -> list:
    """Call several modules, each in a thread.

    Args:
        modules: the modules.
        inputs: for each, its positional arguments.
        kwargs_tup: for each, its named arguments.
        devices: for each, the device that is current meanwhile; that of its input if None.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> nn.parallel.parallel_apply([nn.ReLU(), nn.Identity()], [-vistorch.ones(1), -vistorch.ones(1)])
        [tensor([0.]), tensor([-1.])]
    """
    n = len(modules)
    for what, others in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if others is not None and len(others) != n:
            raise AssertionError(
                f"The number of modules {n} is not equal to the number of {what} {len(others)}"
            )
    kwargs_tup = [{}] * n if kwargs_tup is None else kwargs_tup
    devices = [None] * n if devices is None else devices
    results: list = [None] * n
    grad_enabled, anomaly = is_grad_enabled(), (mode.anomaly, mode.anomaly_nan)
    cast = casting()

    def work(i: int) -> None:
        set_grad_enabled(grad_enabled)
        mode.anomaly, mode.anomaly_nan = anomaly
        if mode.on:
            mode.on = recording()
        device = devices[i]
        if device is None:
            found = get_a_var(inputs[i])
            if found is None:
                results[i] = Failure(
                    f"in replica {i}, no device was provided and no tensor input was found; device cannot be resolved"
                )
                return
            target = found._place
        else:
            target = place(device)
        given = inputs[i] if isinstance(inputs[i], (list, tuple)) else (inputs[i],)
        try:
            with target, cast_as(cast):
                results[i] = modules[i](*given, **kwargs_tup[i])
        except Exception:
            results[i] = Failure(f"in replica {i} on device {shown(target)}")

    if browser.HERE:  # without threads, one replica after the other
        for i in range(n):
            work(i)
    else:
        threads = [threading.Thread(target=work, args=(i,), name=f"replica {i}") for i in range(n)]
        with beside(n):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    for result in results:
        if isinstance(result, Failure):
            result.reraise()
    return results
