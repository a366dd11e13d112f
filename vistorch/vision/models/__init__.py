"""Networks for pictures, under torchvision's names; its files of weights fit."""

from typing import Any

from .alexnet import *
from .lenet import *
from .mobilenetv2 import *
from .registry import get_model, get_model_builder, list_models, register_model
from .resnet import *
from .squeezenet import *
from .vgg import *


def __getattr__(name: str) -> Any:
    if name.endswith("_Weights"):
        raise AttributeError(
            f"module {__name__!r} has no {name}: no trained weights come with it; build with weights=None and load a "
            "file that you have with model.load_state_dict(vistorch.load(PATH))"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
