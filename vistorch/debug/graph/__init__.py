"""The backward graph as a record, and what listens so that it knows modules and norms."""

from .build import Builder
from .capture import capture
from .failed_forward import capture_last
from .module_calls import Calls
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
