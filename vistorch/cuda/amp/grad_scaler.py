"""PyTorch's file of scalers; everything is in `older`."""

from .deprecated import *
