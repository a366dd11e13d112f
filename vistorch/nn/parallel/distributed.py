"""`DistributedDataParallel`: its name, until there are several machines.

Invariant: its use is refused at once.
"""

from __future__ import annotations

from typing import Any

from ..modules import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A network trained by several processes: not here yet.

    Args:
        module: the network.
        *args: what PyTorch takes.
        **kwargs: what PyTorch takes.

    Example:
        >>> import vistorch
        >>> vistorch.nn.parallel.DistributedDataParallel(vistorch.nn.Linear(2, 1))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        NotImplementedError: DistributedDataParallel comes to vistorch together with ...
    """

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "DistributedDataParallel comes to vistorch together with training on several machines; on one machine use "
            "vistorch.nn.DataParallel"
        )
