"""The real torch, as the program has imported it: `torch`.

`import torch` is never written in this package: it could load torch where nobody asked for it, or give vistorch where
the alias is on. The module is taken from `sys.modules`, or from where the alias has put it aside.

Invariant: this file fails with `Unsupported` where no real torch is loaded; it never loads one.
"""

from __future__ import annotations

from typing import Any

from ..debug.source import Unsupported, real_torch
from ..torch_api.compat import import_torch

OLDEST, NEWEST = (2, 9), (2, 15)  # the tests of this package have run with 2.9, 2.11, 2.13 and 2.15
ALIASED = (
    "this is a thing of PyTorch, and `import torch` gives vistorch in this kernel: type `%vt torch off` to look into "
    "PyTorch, or make the thing with vistorch"
)


def _loaded() -> Any:
    found = real_torch() or import_torch.put_aside("torch")
    if found is None:
        raise Unsupported("PyTorch is not imported in this process: there is nothing of it to look into")
    return found


torch: Any = _loaded()
VERSION: tuple[int, ...] = tuple([int(part) for part in torch.__version__.split("+")[0].split(".")[:2]])


def ready() -> None:
    """Refuse, in one sentence, to look into a torch that is not supported, or that the alias has put aside.

    Raises:
        Unsupported: why not, and what to do.
    """
    if import_torch.is_aliased():
        raise Unsupported(ALIASED)
    if not OLDEST <= VERSION <= NEWEST:
        raise Unsupported(
            f"vistorch looks into PyTorch {_text(OLDEST)} to {_text(NEWEST)}, and this is {torch.__version__}: "
            f"values are shown, graphs and passes are not; install torch=={_text(NEWEST)}.*"
        )


def chip() -> str:
    """What pages call it."""
    return f"PyTorch {_text(VERSION)}"


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
