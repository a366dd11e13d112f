"""All records of modules, one file per file of nn/modules."""

import importlib
import pkgutil

from tests.nn.record import Layer

LAYERS: list[Layer] = [
    layer
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name)
    for layer in importlib.import_module(f"{__name__}.{found.name}").LAYERS
]
