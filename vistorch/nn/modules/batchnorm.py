"""Normalisation over a batch, with running statistics.

Invariant: running statistics are buffers; only a forward pass in training changes them.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.base.modes import no_grad
from ...engine.core.tensor import Tensor
from .. import functional as F
from .module import Module
from .norm_base import ARGUMENTS, _LazyNormBase, _NormBase

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]

BATCH = {
    **ARGUMENTS,
    "momentum": "how far the running statistics move with each batch; None for the mean of all batches.",
    "process_group": "the processes.",
}


class _BatchNorm(_NormBase):
    """Normalisation of each channel over the batch and all places."""

    _dims: tuple[int, ...] = ()  # how many dims an input may have

    def _check_input_dim(self, input: Tensor) -> None:
        if not self._dims:
            super()._check_input_dim(input)  # a class that names none defines this method
        if input.dim() not in self._dims:
            wanted = " or ".join(f"{n}D" for n in self._dims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

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


@arguments(BATCH)
class BatchNorm1d(_BatchNorm):
    """Each channel of (batch, channels) or (batch, channels, length) brought to mean zero and variance one.

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

    _dims = (2, 3)


@arguments(BATCH)
class BatchNorm2d(_BatchNorm):
    """Each channel of images brought to mean zero and variance one over the batch and all places.

    Shape:
        (batch, channels, height, width), and the same.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.BatchNorm2d(3)
        >>> m(vistorch.randn(2, 3, 4, 4)).mean((0, 2, 3)).abs().max() < 1e-6
        tensor(True)
    """

    _dims = (4,)


@arguments(BATCH)
class BatchNorm3d(_BatchNorm):
    """Each channel of volumes brought to mean zero and variance one over the batch and all places.

    Shape:
        (batch, channels, depth, height, width), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.BatchNorm3d(3)(vistorch.randn(2, 3, 4, 4, 4)).shape
        vistorch.Size([2, 3, 4, 4, 4])
    """

    _dims = (5,)


@arguments(ARGUMENTS)
class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyBatchNorm1d()
        >>> m(vistorch.ones(2, 3, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4]), 3)
    """

    cls_to_become = BatchNorm1d
    _dims = BatchNorm1d._dims


@arguments(ARGUMENTS)
class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyBatchNorm2d()
        >>> m(vistorch.ones(2, 3, 4, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d
    _dims = BatchNorm2d._dims


@arguments(ARGUMENTS)
class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyBatchNorm3d()
        >>> m(vistorch.ones(2, 3, 4, 4, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = BatchNorm3d
    _dims = BatchNorm3d._dims


@arguments(BATCH)
class SyncBatchNorm(_BatchNorm):
    """Batch normalisation whose statistics are those of the batches of all processes; in one process, a BatchNorm.

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
        from ...ranks import group as ranks

        if self.training and ranks.is_initialized() and ranks.get_world_size(self.process_group) > 1:
            from .sync_batchnorm import normalise

            return normalise(self, input, ranks.chosen(self.process_group))
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
