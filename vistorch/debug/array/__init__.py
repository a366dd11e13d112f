"""Records of arrays: what a tensor is, in numbers, and an overview that hides no extreme and nothing bad."""

from .build import parameter, record, strip
from .source import is_array
from .state import ArrayRecord, Bad, Image, Item, Layer, Scale, Stats
from .tiles import tile, tile_ends

__all__ = [
    "ArrayRecord",
    "Bad",
    "Image",
    "Item",
    "Layer",
    "Scale",
    "Stats",
    "is_array",
    "parameter",
    "record",
    "strip",
    "tile",
    "tile_ends",
]
