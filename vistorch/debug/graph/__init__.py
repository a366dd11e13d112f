"""The backward graph as a record, and what listens so that it knows modules and norms."""

from .build import Builder
from .calls import Calls
from .capture import capture
from .failed_forward import capture_last
from .norms import Norms
from .record import GraphEdge, GraphGroup, GraphNode, GraphRecord, Kept
from .state import layout

__all__ = [
    "Builder",
    "Calls",
    "GraphEdge",
    "GraphGroup",
    "GraphNode",
    "GraphRecord",
    "Kept",
    "Norms",
    "capture",
    "capture_last",
    "layout",
]
