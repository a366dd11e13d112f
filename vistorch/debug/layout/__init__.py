"""Pictures of graphs: boxes in nested groups, in layers from above to below. Knows nothing of tensors."""

from .compound import lay_out
from .model import Box, Layout, Point, Rect, Spacing

__all__ = ["Box", "Layout", "Point", "Rect", "Spacing", "lay_out"]
