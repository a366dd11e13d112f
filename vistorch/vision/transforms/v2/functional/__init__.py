"""The transforms of the second generation as functions: of images, videos, masks, boxes and points.

Invariant: `name` looks for what does the work by the class of its first argument; `name_image`, `name_mask` and their
like are what does it for plain tensors.
"""

from ...modes import InterpolationMode
from . import boxes, color, convert, dispatch, frame, sizes, values, warp
from .boxes import *
from .color import *
from .convert import *
from .dispatch import *
from .frame import *
from .sizes import *
from .values import *
from .warp import *

_FILES = (boxes, color, convert, dispatch, frame, sizes, values, warp)
__all__ = sorted(name for file in _FILES for name in file.__all__)
__all__ += ["InterpolationMode"]
_KINDS = ("_image", "_video", "_mask", "_bounding_boxes", "_keypoints")
for _file in _FILES:
    globals().update(
        {name: value for name, value in vars(_file).items() if name.endswith(_KINDS) and name[0] != "_"}
    )
