"""What a graph keeps alive: bytes by node, shared memory once.

Invariant: a view counts as the whole memory it keeps alive, and what a leaf owns is counted apart, because the leaf
keeps it alive by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.backward.backward_pass import order_of
from ..engine.core.graph import Leaf, Out, edge
from ..engine.core.record import Promoted
from ..engine.core.tensor import Tensor
from .source import is_torch


@dataclass(frozen=True)
class GraphBytes:
    """Bytes kept for backward: `total` without what leaves own, `leaves` what they own of it, and each node's share.

    A memory that several nodes keep is in the share of each, and once in `total`. `opaque` counts saved values of which
    only an unpack hook knows how large they are.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import graph_bytes
        >>> y = vistorch.ones(10, requires_grad=True).exp()
        >>> kept = graph_bytes(y)
        >>> kept.total, kept.per_node[y.grad_fn], kept.opaque
        (40, 40, 0)
    """

    total: int
    leaves: int
    per_node: dict[Any, int]
    opaque: int


def graph_bytes(tensor: Tensor) -> GraphBytes:
    """How much memory the graph below a tensor keeps alive.

    Args:
        tensor: a result with history.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import graph_bytes
        >>> x = vistorch.ones(10, requires_grad=True)
        >>> y = x.exp()
        >>> graph_bytes((y * y).sum()).total
        40
    """
    if is_torch(tensor):
        raise ValueError(
            "of a graph of PyTorch, say vistorch.debug.source.source_of(loss).kept(loss), or %vt memory loss"
        )
    if not tensor.requires_grad:
        return GraphBytes(0, 0, {}, 0)
    order = order_of([edge(tensor)])
    owned = {root_of(n.variable._data)[0] for n in order if n.__class__ is Leaf}
    everything: dict[Any, int] = {}
    per_node: dict[Any, int] = {}
    opaque = 0
    for n in order:
        if n.__class__ is Leaf or n.__class__ is Out:
            continue
        mine: dict[Any, int] = {}
        for value in n.saved or ():
            found = array_of(value)
            if found is None:
                opaque += hasattr(value, "unpack")
                continue
            key, size = root_of(found)
            mine[key] = size
        everything.update(mine)
        per_node[n] = sum(size for key, size in mine.items() if key not in owned)
    leaves = sum(size for key, size in everything.items() if key in owned)
    return GraphBytes(sum(everything.values()) - leaves, leaves, per_node, opaque)


def array_of(value: Any) -> Any:
    """The array behind a saved entry, if there is one."""
    if isinstance(value, Promoted):
        value = value.saved
    if value.__class__ is tuple and value:
        value = array_of(value[0]) if value[0].__class__ is tuple else value[0]
    if isinstance(value, Tensor):
        return value._data
    return value if hasattr(value, "nbytes") and hasattr(value, "strides") else None


def root_of(d: Any) -> tuple[Any, int]:
    """The memory an array lies in: (what identifies it, its bytes)."""
    # numpy cannot show the memory of an array of bfloat16 as a buffer
    memory = None if isinstance(d, np.ndarray) else getattr(getattr(d, "data", None), "mem", None)
    if memory is not None:  # cupy
        return memory.ptr, memory.size
    while getattr(d, "base", None) is not None and hasattr(d.base, "nbytes"):
        d = d.base
    return id(d), d.nbytes
