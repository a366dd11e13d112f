"""PyTorch's file of regions; everything is in `older`."""

from .deprecated import *
