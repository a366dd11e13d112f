"""Graphs of modules as programs: named, not built.

Invariant: importing it is allowed; using a name of it says so in one sentence.
"""

from typing import Any

from .compat.said import unbuilt

WHY = "vistorch does not trace modules; look at `named_modules()` and at forward hooks."
FUNCTIONS = """
    symbolic_trace replace_pattern has_side_effect map_arg
"""
CLASSES = """
    Tracer Graph GraphModule Interpreter Transformer Node Proxy
"""
globals().update(unbuilt("vistorch.fx", WHY, FUNCTIONS, classes=CLASSES))


def wrap(fn_or_name: Any) -> Any:
    """Gives the function itself: nothing is traced.

    Example:
        >>> import vistorch
        >>> @vistorch.fx.wrap
        ... def double(x):
        ...     return x * 2
        >>> double(vistorch.ones(2))
        tensor([2., 2.])
    """
    return fn_or_name
