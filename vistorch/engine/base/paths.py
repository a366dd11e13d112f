"""Where PyTorch keeps what stands somewhere else here: the classes and functions that whole objects are made of.

Invariant: what has a path here is found under it in PyTorch, so a file that names it is read there too.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from .namespace import own_module

Name = tuple[str, str]

_FILES = {
    "activation": ("multihead",),
    "rnn": ("rnn_base", "rnn_cells"),
    "transformer": ("transformer_layers",),
}
_MODULES = {
    f"vistorch.nn.modules.{ours}": f"torch.nn.modules.{theirs}"
    for theirs, files in _FILES.items()
    for ours in files
}
"""Files of `nn.modules` whose classes are in another file there."""

_PACKAGES = {
    "vistorch.nn.modules": None,
    "vistorch.nn.parameter": None,
    "vistorch.nn.utils": None,
    "vistorch.nn.init": None,
    "vistorch.optim.lr_scheduler": "torch.optim.lr_scheduler",
    "vistorch.optim": None,
    "vistorch.distributions.transforms": "torch.distributions.transforms",
    "vistorch.distributions": None,
    "vistorch.utils.data": None,
    "vistorch.amp": None,
}
"""Packages whose files are called as there, or are all one module there."""

_ELSEWHERE: dict[Name, Name] = {
    ("vistorch.autograd.jacobians", "GradcheckError"): ("torch.autograd.gradcheck", "GradcheckError"),
    ("vistorch.optim.adam", "AdamW"): ("torch.optim.adamw", "AdamW"),
    ("vistorch.optim.adafactor", "Adafactor"): ("torch.optim", "Adafactor"),
    ("vistorch.optim.muon", "Muon"): ("torch.optim", "Muon"),
    ("vistorch.engine.core.handles", "RemovableHandle"): ("torch.utils.hooks", "RemovableHandle"),
    ("vistorch.nn.modules.module_call", "BoundHook"): ("torch.nn.modules.module", "_WrappedHook"),
}
_ELSEWHERE.update(
    {
        (f"vistorch.nn.utils.{file}", name): ("torch.nn.utils.prune", name)
        for file, names in (
            ("pruning_base", "BasePruningMethod PruningContainer"),
            (
                "pruning",
                "Identity RandomUnstructured L1Unstructured RandomStructured LnStructured CustomFromMask",
            ),
        )
        for name in names.split()
    }
)
BACK = {theirs: ours for ours, theirs in _ELSEWHERE.items()}
"""By PyTorch's name, where the thing is here, if not at the same path."""
_ROUTES = ("nn.functional", "nn.init", "")  # where functions are found, by the name they have there


def path_in_torch(thing: Any) -> Name | None:
    """The module and the name under which PyTorch has a class or a function of ours; None for all else.

    Args:
        thing: anything.
    """
    if not isinstance(thing, (type, FunctionType)):
        return None
    module, name = own_module(thing), thing.__qualname__
    if not isinstance(module, str) or module.partition(".")[0] != "vistorch" or "<" in name:
        return None
    if (module, name) in _ELSEWHERE:
        return _ELSEWHERE[module, name]
    if not isinstance(thing, type):
        return _function(thing, name)
    if name.startswith("_") and not module.startswith("vistorch.nn.modules"):
        return None
    if module in _MODULES:
        return _MODULES[module], name
    for package, theirs in _PACKAGES.items():
        if module == package or module.startswith(f"{package}."):
            return theirs or f"torch{module[len('vistorch') :]}", name
    return None


def _function(thing: Any, name: str) -> Name | None:
    """Where PyTorch has a public function."""
    for route in _ROUTES:
        package = sys.modules.get(f"vistorch.{route}" if route else "vistorch")
        if package is not None and vars(package).get(name) is thing:
            return f"torch.{route}" if route else "torch", name
    return None
