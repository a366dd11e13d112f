"""Anomaly mode: which forward call made the node whose backward failed, and gradients that are not numbers.

Invariant: nothing here changes a gradient; it only warns and raises.
"""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from ..base.dims import flag
from ..base.modes import careful, mode
from ..core.rules import RAW
from ..core.tensor import Tensor

ENABLED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
    "debugging."
)


def blame(node: Any, exc: Exception) -> None:
    """Warn with the forward call that made `node`, and with the backward steps that led to that call."""
    del exc
    note = _note(node)
    if "where" not in note:
        _warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information."
        )
        return
    _warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{_text(note)}")
    while True:
        node = note.get("parent")
        if node is None:
            return
        note = _note(node)
        if "where" not in note:
            _warn(
                f"\n\nPrevious calculation was induced by {node.name()}. No forward pass information "
                "available. Enable detect anomaly during forward pass for more information."
            )
            return
        _warn(
            f"\n\nPrevious calculation was induced by {node.name()}. Traceback of forward call that induced "
            f"the previous calculation:\n{_text(note)}"
        )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, UserWarning, stacklevel=6)


def _note(node: Any) -> dict:
    try:
        return node.note
    except AttributeError:
        return {}


def _text(note: dict) -> str:
    return "".join(traceback.format_list(note["where"]))


explain: Any = None  # what an upper package adds to the exception: explain(exc, node, g, results, which)


def check_nan(node: Any, results: list, g: Any = None) -> None:
    """Raise if a gradient that `node` computed holds a NaN.

    Args:
        node: the node that ran.
        results: what it computed for each input.
        g: what came in.
    """
    if not mode.anomaly_nan:
        return
    for i, r in enumerate(results):
        d = r._data if isinstance(r, Tensor) else r
        if d is None or d.dtype.kind in "iub":
            continue
        xp = RAW[node.place.kind].xp
        if xp.isnan(d).any():
            exc = RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
            if explain is not None:
                explain(exc, node, g, results, i)
            blame(node, exc)
            raise exc


class detect_anomaly:
    """Inside this context, an error in backward names the forward call it comes from, and a NaN is an error.

    Args:
        check_nan: whether a NaN among the gradients raises.

    Example:
        >>> import vistorch, warnings
        >>> x = vistorch.zeros(1, requires_grad=True)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     with vistorch.autograd.detect_anomaly():
        ...         y = (x * 2).sqrt() * 0
        ...         try:
        ...             y.backward()
        ...         except RuntimeError as error:
        ...             print(error)
        Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(ENABLED, UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        self.before = mode.anomaly, mode.anomaly_nan
        _set(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        _set(*self.before)


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a context manager, until its end.

    Args:
        mode: whether it is on.
        check_nan: whether a NaN among the gradients raises.

    Example:
        >>> import vistorch
        >>> with vistorch.autograd.set_detect_anomaly(True):
        ...     vistorch.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        mode = flag(mode, "set_anomaly_enabled", "enabled", 1)
        check_nan = flag(check_nan, "set_anomaly_enabled", "check_nan", 2)
        self.before = _mode.anomaly, _mode.anomaly_nan
        _set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _set(*self.before)


_mode = mode  # the class above takes PyTorch's argument name `mode`


def _set(on: bool, check_nan: bool) -> None:
    mode.anomaly, mode.anomaly_nan = bool(on), bool(check_nan)
    careful()


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    Example:
        >>> import vistorch
        >>> vistorch.is_anomaly_enabled()
        False
    """
    return mode.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode also looks for NaN.

    Example:
        >>> import vistorch
        >>> vistorch.is_anomaly_check_nan_enabled()
        True
    """
    return mode.anomaly_nan
