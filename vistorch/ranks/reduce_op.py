"""How values of several ranks become one."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .errors import DistArgumentError


class ReduceOp(enum.Enum):
    """How values of several ranks become one: `SUM`, `AVG`, `PRODUCT`, `MIN`, `MAX`, `BAND`, `BOR`, `BXOR`.

    Of booleans, a sum or a maximum is "any" and a product or a minimum is "all".

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> t = vistorch.ones(2)
        >>> dist.all_reduce(t, op=dist.ReduceOp.MAX)
        >>> t
        tensor([1., 1.])
        >>> dist.destroy_process_group()
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # of which PyTorch's `SUM` and the others are
BITS = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
# numpy's function for each; an average is a sum that is divided in the end
JOIN: dict[ReduceOp, Any] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}


def check(op: Any, dtype: np.dtype, name: str) -> None:
    """Refuse what cannot be reduced so.

    Args:
        op: how.
        dtype: of what.
        name: of the collective operation.
    """
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{name} takes a ReduceOp as `op`, not {type(op).__name__}")
    if op is ReduceOp.PREMUL_SUM:
        raise ValueError(f"{name}: PREMUL_SUM is NCCL's alone; multiply the tensor, then use SUM")
    if dtype.kind == "c" and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{name} does not support {op} on complex tensors")
    if op in BITS and dtype.kind not in "iub":
        raise DistArgumentError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is ReduceOp.AVG and dtype.kind in "iub":
        raise ValueError(f"{name}: ReduceOp.AVG needs floating point values; use SUM and divide")
