"""The transforms as functions of an image and its parameters."""

from ..images import get_dimensions, get_image_num_channels, get_image_size
from ..modes import InterpolationMode
from .color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    rgb_to_grayscale,
    to_grayscale,
)
from .convert import convert_image_dtype, normalize, pil_to_tensor, to_pil_image, to_tensor
from .frame import (
    center_crop,
    crop,
    erase,
    five_crop,
    hflip,
    pad,
    resize,
    resized_crop,
    ten_crop,
    vflip,
)
from .tones import adjust_sharpness, autocontrast, equalize, gaussian_blur, invert, posterize, solarize
from .warp import affine, perspective, rotate
