"""Transforms of samples, with the logarithm of how they stretch: what densities of transformed numbers are made of."""

from .chained import ComposeTransform, IndependentTransform, identity_transform
from .joined import CatTransform, CumulativeDistributionTransform, ReshapeTransform, StackTransform
from .matrices import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform
from .pointwise import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .simplices import SoftmaxTransform, StickBreakingTransform
from .transform import Transform, _InverseTransform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]
