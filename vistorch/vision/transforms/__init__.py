"""Changes of images on their way into training, of Pillow's images and of tensors (..., C, H, W)."""

from ..._lazy import unbuilt as _unbuilt
from . import functional
from .colors import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .containers import Compose, Lambda, RandomApply, RandomChoice, RandomOrder, RandomTransforms
from .crops import (
    CenterCrop,
    FiveCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    TenCrop,
)
from .modes import InterpolationMode
from .values import (
    ConvertImageDtype,
    LinearTransformation,
    Normalize,
    PILToTensor,
    RandomErasing,
    ToPILImage,
    ToTensor,
)
from .warps import RandomAffine, RandomPerspective, RandomRotation

globals().update(_unbuilt("vision.transforms"))
