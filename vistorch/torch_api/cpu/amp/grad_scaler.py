"""PyTorch's file of scalers; everything is in `older`."""

from .older import *
