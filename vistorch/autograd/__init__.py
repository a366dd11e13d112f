"""The torch-named face of automatic differentiation."""

import importlib
from typing import Any

from ..engine.backward.anomaly import detect_anomaly, set_detect_anomaly
from ..engine.base.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..engine.core.registry import AUTOGRAD
from ..engine.library_name import library as _library
from . import function, functional, grad_mode, graph
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .run import backward, grad
from .variable import Variable, variable

AUTOGRAD.update(grad=grad, Function=Function)

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "variable",
]


def __getattr__(name: str) -> Any:
    if name in ("anomaly_mode", "forward_ad", "profiler"):  # opened when it is asked for
        return importlib.import_module(f"vistorch.autograd.{name}")
    raise AttributeError(f"module '{_library}.autograd' has no attribute {name!r}")
