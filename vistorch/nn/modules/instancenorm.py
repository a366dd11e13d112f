"""Normalisation of each channel of each sample.

Invariant: an input without a batch dim comes back without one.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import functional as F
from .norm_base import ARGUMENTS, _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Normalisation of each channel of each sample over its places."""

    _places: int  # how many dims a channel has

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        return self._places + 1

    def _check_input_dim(self, input: Tensor) -> None:
        few = self._get_no_batch_dim()
        if input.dim() not in (few, few + 1):
            raise ValueError(f"expected {few}D or {few + 1}D input (got {input.dim()}D input)")

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
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
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            found = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                name = type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {' and '.join([chr(34) + k + chr(34) for k in found])} for "
                    f"{name} with track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this "
                    f"may be expected because {name} does not track running stats by default since 0.4.0. Please "
                    "remove these keys from state_dict. If the running stats are actually needed, instead set "
                    f"track_running_stats=True in {name} to enable them. See the documentation of {name} for details."
                )
                for key in found:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Tensor) -> Tensor:
        """Normalise a batch, or one sample.

        Args:
            input: (batch, channels, ...) or (channels, ...).
        """
        self._check_input_dim(input)
        alone = input.dim() == self._get_no_batch_dim()
        dim = 0 if alone else 1
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(dim)}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if alone:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)


@arguments(ARGUMENTS)
class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (batch, channels, length) brought to mean zero and variance one.

    Shape:
        (batch, channels, length) or (channels, length), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.InstanceNorm1d(1)(vistorch.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """

    _places = 1


@arguments(ARGUMENTS)
class InstanceNorm2d(_InstanceNorm):
    """Each channel of each image brought to mean zero and variance one.

    Shape:
        (batch, channels, height, width) or (channels, height, width), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.InstanceNorm2d(3)(vistorch.randn(2, 3, 4, 4)).shape
        vistorch.Size([2, 3, 4, 4])
    """

    _places = 2


@arguments(ARGUMENTS)
class InstanceNorm3d(_InstanceNorm):
    """Each channel of each volume brought to mean zero and variance one.

    Shape:
        (batch, channels, depth, height, width) or (channels, depth, height, width), and the same.

    Example:
        >>> import vistorch
        >>> vistorch.nn.InstanceNorm3d(3)(vistorch.randn(3, 4, 4, 4)).shape
        vistorch.Size([3, 4, 4, 4])
    """

    _places = 3


@arguments(ARGUMENTS)
class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """A InstanceNorm1d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyInstanceNorm1d()
        >>> m(vistorch.ones(2, 3, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4]), 3)
    """

    cls_to_become = InstanceNorm1d
    _places = 1


@arguments(ARGUMENTS)
class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """A InstanceNorm2d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyInstanceNorm2d()
        >>> m(vistorch.ones(2, 3, 4, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm2d
    _places = 2


@arguments(ARGUMENTS)
class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """A InstanceNorm3d that learns from its first input how many channels there are.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.LazyInstanceNorm3d()
        >>> m(vistorch.ones(2, 3, 4, 4, 4)).shape, m.num_features
        (vistorch.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm3d
    _places = 3
