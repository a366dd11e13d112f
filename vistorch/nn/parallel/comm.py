"""Moves of tensors between devices, where PyTorch's data parallelism has them too; they are `vistorch.cuda.comm`'s."""

from ...cuda.comm import (
    broadcast,
    broadcast_coalesced,
    gather,
    reduce_add,
    reduce_add_coalesced,
    scatter,
)

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
