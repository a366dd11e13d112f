"""PyTorch's file of regions; everything is in `older`."""

from .older import *
