"""PyTorch's file of AdamW; here it is with Adam."""

from .adam import AdamW

__all__ = ["AdamW"]
