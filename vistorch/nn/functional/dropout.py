"""Dropout, element by element or whole channels.

Invariant: without training, or with p = 0, the input itself comes back and no random number is drawn.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.base import errors
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_dropout, _dropout_ = FUNCTIONS["dropout"], FUNCTIONS["dropout_"]
_alpha, _alpha_ = FUNCTIONS["alpha_dropout"], FUNCTIONS["alpha_dropout_"]
_feature, _feature_ = FUNCTIONS["feature_dropout"], FUNCTIONS["feature_dropout_"]
_both, _both_ = FUNCTIONS["feature_alpha_dropout"], FUNCTIONS["feature_alpha_dropout_"]


def _check(p: Any) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Replace elements by 0 at random, and divide the others by the probability to stay.

    Args:
        input: a tensor.
        p: the probability of an element to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.nn.functional.dropout(vistorch.ones(4))
        tensor([0., 0., 2., 0.])
    """
    _check(p)
    return _dropout_(input, p, training) if inplace else _dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Replace elements at random by the value selu saturates at, and keep mean and variance.

    Args:
        input: a tensor.
        p: the probability of an element to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.alpha_dropout(vistorch.ones(2))
        tensor([1., 1.])
    """
    _check(p)
    return _alpha_(input, p, training) if inplace else _alpha(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Replace whole channels at random by the value selu saturates at, and keep mean and variance.

    Args:
        input: a tensor of samples, channels and more.
        p: the probability of a channel to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.feature_alpha_dropout(vistorch.ones(1, 2, 2)).shape
        vistorch.Size([1, 2, 2])
    """
    _check(p)
    return _both_(input, p, training) if inplace else _both(input, p, training)


def _tensor(input: Any, name: str) -> int:
    """How many dims the input has."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    return input._data.ndim


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Replace whole channels of one spatial dim by 0 at random.

    Args:
        input: a tensor.
        p: the probability of a channel to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Shape:
        (N, C, L) or (C, L).

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.nn.functional.dropout1d(vistorch.ones(3, 2))
        tensor([[0., 0.],
                [0., 0.],
                [2., 2.]])
    """
    _check(p)
    ndim = _tensor(input, "dropout1d")
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    whole = input.unsqueeze_(0) if ndim == 2 and inplace else input.unsqueeze(0) if ndim == 2 else input
    out = _feature_(whole, p, training) if inplace else _feature(whole, p, training)
    if ndim == 2:
        return out.squeeze_(0) if inplace else out.squeeze(0)
    return out


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Replace whole channels of two spatial dims by 0 at random.

    Args:
        input: a tensor.
        p: the probability of a channel to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Shape:
        (N, C, H, W); of 3 dims, the first is taken for samples and the second for channels.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.nn.functional.dropout2d(vistorch.ones(1, 3, 1, 2)).flatten(1)
        tensor([[0., 0., 0., 0., 2., 2.]])
    """
    _check(p)
    ndim = _tensor(input, "dropout2d")
    if ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {ndim}-D input to dropout2d, which is deprecated and will result in an error in a "
            "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
            "dropout2d exists to provide channel-wise dropout on inputs with 2 spatial dimensions, a channel "
            "dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change "
            "in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_(input, p, training) if inplace else _feature(input, p, training)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Replace whole channels of three spatial dims by 0 at random.

    Args:
        input: a tensor.
        p: the probability of a channel to be dropped.
        training: whether anything is done.
        inplace: change the input itself.

    Shape:
        (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.nn.functional.dropout3d(vistorch.ones(1, 3, 1, 1, 2)).flatten(1)
        tensor([[0., 0., 0., 0., 2., 2.]])
    """
    _check(p)
    ndim = _tensor(input, "dropout3d")
    if ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {ndim}-D input to dropout3d, which is deprecated and will result in an error in a "
            "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
            "dropout3d exists to provide channel-wise dropout on inputs with 3 spatial dimensions, a channel "
            "dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    whole = input.unsqueeze_(0) if ndim != 5 and inplace else input.unsqueeze(0) if ndim != 5 else input
    out = _feature_(whole, p, training) if inplace else _feature(whole, p, training)
    if ndim != 5:
        return out.squeeze_(0) if inplace else out.squeeze(0)
    return out
