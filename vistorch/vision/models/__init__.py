"""Networks for pictures, under torchvision's names; its files of weights fit."""

import importlib
import sys
from typing import Any

from . import mobilenet
from .alexnet import *
from .convnext import *
from .densenet import *
from .efficientnet import *
from .googlenet import *
from .inception import *
from .lenet import *
from .maxvit import *
from .mnasnet import *
from .mobilenet import *
from .registry import HOMES, get_model, get_model_builder, list_models, register_model
from .regnet import *
from .resnet import *
from .shufflenetv2 import *
from .squeezenet import *
from .swin_transformer import *
from .vgg import *
from .vision_transformer import *

# Imported when they are first asked for; they have nothing but names that say what to use instead.
UNBUILT = ("detection", "feature_extraction", "optical_flow", "quantization", "segmentation", "video")


def __getattr__(name: str) -> Any:
    if name in UNBUILT:
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("Weights", "WeightsEnum", "get_model_weights", "get_weight"):
        return getattr(importlib.import_module(f"{__name__}.weights"), name)
    if name.endswith("_Weights"):
        found = importlib.import_module(f"{__name__}.weights").of_name(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _weights_of_its_networks(name: str) -> Any:
    """What the modules of networks have beside their names: `resnet.ResNet18_Weights`."""
    if name.endswith("_Weights"):
        return __getattr__(name)
    raise AttributeError(name)


for _home in {mobilenet.__name__, *HOMES.values()}:
    sys.modules[_home].__getattr__ = _weights_of_its_networks  # type: ignore[method-assign]
