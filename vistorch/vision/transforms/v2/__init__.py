"""The second generation of transforms: of pictures and videos, and of the masks, boxes and points that lie in them.

Invariant: a sample may be any tuple, list or dict, and comes out with the same form.
"""

from ..modes import InterpolationMode
from . import functional
from .automatic import AugMix, AutoAugment, AutoAugmentPolicy, RandAugment, TrivialAugmentWide
from .colors import (
    RGB,
    ColorJitter,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomChannelPermutation,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPhotometricDistort,
    RandomPosterize,
    RandomSolarize,
)
from .containers import Compose, RandomApply, RandomChoice, RandomOrder
from .frames import (
    CenterCrop,
    FiveCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomIoUCrop,
    RandomResize,
    RandomResizedCrop,
    RandomShortestSize,
    RandomVerticalFlip,
    RandomZoomOut,
    Resize,
    ScaleJitter,
    TenCrop,
)
from .mixing import JPEG, CutMix, MixUp, RandomErasing
from .queries import check_type, get_bounding_boxes, get_keypoints, has_all, has_any, query_chw, query_size
from .transform import Transform
from .values import (
    ClampBoundingBoxes,
    ClampKeyPoints,
    ConvertBoundingBoxFormat,
    ConvertImageDtype,
    GaussianBlur,
    GaussianNoise,
    Identity,
    Lambda,
    LinearTransformation,
    Normalize,
    PILToTensor,
    SanitizeBoundingBoxes,
    SanitizeKeyPoints,
    SetClampingMode,
    ToDtype,
    ToImage,
    ToPILImage,
    ToPureTensor,
    ToTensor,
    UniformTemporalSubsample,
)
from .warps import ElasticTransform, RandomAffine, RandomPerspective, RandomRotation
