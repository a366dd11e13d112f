"""The rows of max pooling, with regular and with adaptive windows.

Invariant: a node keeps its input alone (PyTorch keeps the indices too): the output may be overwritten in place.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op
from .max_index import back, find, gather, largest
from .windows import adaptive, dims_of


def _adaptive(shape: tuple, outputs: tuple) -> list:
    return [adaptive(n, o) for n, o in zip(shape[len(shape) - len(outputs) :], outputs, strict=True)]


def _rows(name: str, graph: str, dims: Any) -> tuple:
    """The two forms of one pooling, without indices and with them; its gradient and the gradient of that."""

    def both(xp, input, windows):
        ready = dims(input.shape, windows)
        out = largest(xp, input, ready)
        return out, find(xp, input, out, ready)

    def picked(xp, input, source, windows):
        ready = dims(source.shape, windows)
        index = find(xp, source, largest(xp, source, ready), ready)
        return gather(xp, input, index, len(windows))

    def vjp(F, g, input, windows):
        return getattr(F, name + "_backward")(g, input, windows)

    formula = r"\bar x_i = \textstyle\sum_{w:\ \arg\max_w x = i} \bar y_w"
    plain = op(
        name,
        lambda xp, input, windows: largest(xp, input, dims(input.shape, windows)),
        name_in_graph=graph + "0",
        formula=formula,
        input=vjp,
    )
    indexed = op(name + "_with_indices", both, name_in_graph=graph + "0", formula=formula, input=vjp)
    op(
        name + "_backward",
        lambda xp, g, source, windows: back(xp, g, source, dims(source.shape, windows)),
        inputs="g source",
        name_in_graph=graph + "Backward0",
        formula=r"\bar x_w = \bar y_{\arg\max_w}",
        g=lambda F, g, source, windows: getattr(F, name + "_picked")(g, source, windows),
    )
    op(
        name + "_picked",
        picked,
        inputs="input source",
        name_in_graph="GatherBackward0",
        formula=formula,
        input=lambda F, g, source, windows: getattr(F, name + "_backward")(g, source, windows),
    )
    return plain, indexed


MAX = {d: _rows(f"max_pool{d}d", f"MaxPool{d}DWithIndicesBackward", dims_of) for d in (2, 3)}
ADAPTIVE_MAX = {d: _rows(f"adaptive_max_pool{d}d", f"AdaptiveMaxPool{d}DBackward", _adaptive) for d in (2, 3)}
MAX_1D = op("max_pool1d", lambda xp, input, windows: largest(xp, input, dims_of(input.shape, windows)))
