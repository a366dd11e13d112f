"""The named tuples of operations with several results, under PyTorch's names.

Invariant: they are the engine's own types.
"""

from vistorch.engine.base import return_types as _own

globals().update(
    {
        name: kind
        for name, kind in vars(_own).items()
        if isinstance(kind, type) and kind.__module__ == _own.max.__module__ and not name.startswith("_")
    }
)
all_return_types = [kind for name, kind in vars(_own).items() if name in globals() and name[0] != "_"]
