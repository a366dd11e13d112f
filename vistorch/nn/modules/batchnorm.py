"""Normalisation over a batch, with running statistics.

Invariant: running statistics are buffers; only a forward pass in training changes them.
"""

from __future__ import annotations

from typing import Any

from ...engine import dtypes
from ...engine.face import FUNCTIONS
from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]

empty, zeros, ones, tensor = (FUNCTIONS[n] for n in ("empty", "zeros", "ones", "tensor"))


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
        """Begin the running statistics anew."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Begin the running statistics and the parameters anew."""
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


class _BatchNorm(_NormBase):
    """Normalisation of each channel over the batch and all places."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise a batch.

        Args:
            input: (batch, channels, ...).
        """
        self._check_input_dim(input)
        momentum, training = self.momentum, self.training
        if training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the mean of all batches so far
                momentum = 1.0 / float(self.num_batches_tracked)
        used = self.track_running_stats or not training
        return F.batch_norm(
            input,
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            training or (self.running_mean is None and self.running_var is None),
            0.0 if momentum is None else momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Each channel of (batch, channels) or (batch, channels, length) brought to mean zero and variance one.

    Args:
        num_features: how many channels there are.
        eps: added to the variance.
        momentum: how far the running statistics move with each batch; None for the mean of all batches.
        affine: whether each channel has a learned factor and offset.
        track_running_stats: whether to keep running statistics, which are used in evaluation.
        device: where parameters and buffers are.
        dtype: their type.
        bias: whether there is an offset beside the factor.

    Shape:
        (batch, channels) or (batch, channels, length), and the same.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.BatchNorm1d(1)
        >>> m(vistorch.tensor([[1.0], [3.0]]))
        tensor([[-1.0000],
                [ 1.0000]], grad_fn=<NativeBatchNormBackward0>)
        >>> m.running_mean
        tensor([0.2000])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Each channel of images brought to mean zero and variance one over the batch and all places.

    Args:
        num_features: how many channels there are.
        eps: added to the variance.
        momentum: how far the running statistics move with each batch; None for the mean of all batches.
        affine: whether each channel has a learned factor and offset.
        track_running_stats: whether to keep running statistics, which are used in evaluation.
        device: where parameters and buffers are.
        dtype: their type.
        bias: whether there is an offset beside the factor.

    Shape:
        (batch, channels, height, width), and the same.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.BatchNorm2d(3)
        >>> m(vistorch.randn(2, 3, 4, 4)).mean((0, 2, 3)).abs().max() < 1e-6
        tensor(True)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Each channel of volumes brought to mean zero and variance one over the batch and all places.

    Args:
        num_features: how many channels there are.
        eps: added to the variance.
        momentum: how far the running statistics move with each batch; None for the mean of all batches.
        affine: whether each channel has a learned factor and offset.
        track_running_stats: whether to keep running statistics, which are used in evaluation.
        device: where parameters and buffers are.
        dtype: their type.
        bias: whether there is an offset beside the factor.

    Shape:
        (batch, channels, depth, height, width), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.BatchNorm3d(3)(vistorch.randn(2, 3, 4, 4, 4)).shape
        vistorch.Size([2, 3, 4, 4, 4])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


def _processes(group: Any) -> int:
    """How many processes would have to agree on the statistics of a batch."""
    import sys

    # the room may not exist, and is not opened for this question
    distributed: Any = sys.modules.get("vistorch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1
    return distributed.get_world_size(group)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation that would share its statistics between processes; in one process, a BatchNorm.

    Args:
        num_features: how many channels there are.
        eps: added to the variance.
        momentum: how far the running statistics move with each batch; None for the mean of all batches.
        affine: whether each channel has a learned factor and offset.
        track_running_stats: whether to keep running statistics, which are used in evaluation.
        process_group: the processes.
        device: where parameters and buffers are.
        dtype: their type.
        bias: whether there is an offset beside the factor.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2)))
        Sequential(
          (0): SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        )
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """Normalise a batch.

        Args:
            input: (batch, channels, ...).
        """
        self._check_input_dim(input)
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")
        if self.training and _processes(self.process_group) > 1:
            raise NotImplementedError(
                "SyncBatchNorm does not share statistics between processes here: use BatchNorm, whose statistics are "
                "those of each process's own batch"
            )
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with every batch normalisation in it replaced by this one, parameters kept.

        Args:
            module: what to convert; itself, if it is a batch normalisation.
            process_group: the processes.
        """
        made = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                with no_grad():
                    made.weight = module.weight
                    made.bias = module.bias
            made.running_mean = module.running_mean
            made.running_var = module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
