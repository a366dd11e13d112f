"""The torch-named face of automatic differentiation."""

from ..engine.anomaly import detect_anomaly, set_detect_anomaly
from ..engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..engine.tensor import Tensor as Variable
from . import function, graph
from .function import Function
from .run import backward, grad

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
