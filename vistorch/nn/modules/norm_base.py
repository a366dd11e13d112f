"""What normalisations with running statistics have in common, and what they do before they know their size.

Invariant: running statistics and the count of batches are buffers, there or not there together.
"""

from __future__ import annotations

from typing import Any

from ...engine.base import dtypes
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__: list[str] = []

empty, zeros, ones, tensor = (FUNCTIONS[n] for n in ("empty", "zeros", "ones", "tensor"))

ARGUMENTS = {
    "num_features": "how many channels there are.",
    "eps": "added to the variance.",
    "momentum": "how far the running statistics move with each batch.",
    "affine": "whether each channel has a learned factor and offset.",
    "track_running_stats": "whether to keep running statistics, which are used in evaluation.",
    "device": "where parameters and buffers are.",
    "dtype": "their type.",
    "bias": "whether there is an offset beside the factor.",
}


class _NormBase(Module):
    """What batch and instance normalisation have in common: parameters, running statistics, saving."""

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_features, **made)) if affine else None)
        self.register_parameter("bias", Parameter(empty(num_features, **made)) if affine and bias else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **made) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **made) if tracked else None)
        count = tensor(0, dtype=dtypes.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Begin the running statistics anew.

        Example:
            >>> import vistorch
            >>> norm = vistorch.nn.BatchNorm1d(1, momentum=0.5)
            >>> norm(vistorch.tensor([[2.0], [4.0]])).shape, norm.running_mean
            (vistorch.Size([2, 1]), tensor([1.5000]))
            >>> norm.reset_running_stats()
            >>> norm.running_mean
            tensor([0.])
        """
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Begin the running statistics and the parameters anew.

        Example:
            >>> import vistorch
            >>> norm = vistorch.nn.BatchNorm1d(2)
            >>> norm.weight.data += 3  # as if it had learned
            >>> norm.reset_parameters()
            >>> norm.weight.tolist()
            [1.0, 1.0]
        """
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # state dicts of version 1 do not count batches
            count = self.num_batches_tracked
            state_dict[key] = tensor(0, dtype=dtypes.int64) if count is None else count
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalisation that learns from its first input how many channels there are."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        # without parameters and buffers: those with a size would be overwritten at once
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: dict = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = tensor(0, dtype=dtypes.int64, device=device)

    def reset_parameters(self) -> None:
        """Begin anew, once the number of channels is known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and running statistics their size.

        Args:
            input: the first input.

        Example:
            >>> import vistorch
            >>> norm = vistorch.nn.LazyBatchNorm1d()
            >>> norm.initialize_parameters(vistorch.ones(2, 3))
            >>> norm.running_mean.shape
            vistorch.Size([3])
        """
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        waiting = [self.weight, self.bias] if self.affine else []
        waiting += [self.running_mean, self.running_var] if self.track_running_stats else []
        for t in waiting:
            if t is not None:
                t.materialize((self.num_features,))
        self.reset_parameters()
