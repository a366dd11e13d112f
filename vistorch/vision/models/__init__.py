"""Networks for pictures, under torchvision's names; its files of weights fit."""

import importlib
from typing import Any

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
from .registry import get_model, get_model_builder, list_models, register_model
from .regnet import *
from .resnet import *
from .shufflenetv2 import *
from .squeezenet import *
from .swin_transformer import *
from .vgg import *
from .vision_transformer import *


def __getattr__(name: str) -> Any:
    if name in ("Weights", "WeightsEnum", "get_model_weights", "get_weight"):
        return getattr(importlib.import_module(f"{__name__}.weights"), name)
    if name.endswith("_Weights"):
        found = importlib.import_module(f"{__name__}.weights").of_name(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
