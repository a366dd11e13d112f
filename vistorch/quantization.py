"""PyTorch's older name of `ao.quantization`."""

from .ao import quantization as _room

globals().update({name: value for name, value in vars(_room).items() if not name.startswith("_")})
