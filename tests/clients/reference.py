"""Runs a program under PyTorch: `python reference.py program.py`, as `vistorch run program.py` runs it here.

The torchvision that pip finds is compiled for one build of PyTorch, and cannot be imported beside another one. The
programs use none of its compiled operators; declared by name they let it be imported. Invariant: nothing is declared
where the compiled ones are found.
"""

import importlib.util
import os
import re
import runpy
import sys
from typing import Any

import torch


def declare_operators() -> list[Any]:
    """Name the operators of torchvision that could not be loaded; what is returned must be kept alive."""
    found = importlib.util.find_spec("torchvision")
    if found is None or found.origin is None:
        return []
    folder = os.path.dirname(found.origin)
    compiled = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("_C.")]
    try:
        for path in compiled:
            torch.ops.load_library(path)
    except OSError:
        compiled = []
    if compiled:
        return []
    with open(os.path.join(folder, "_meta_registrations.py"), encoding="utf-8") as file:
        names = re.findall(
            r'@(?:register_meta\("|torch\.library\.register_fake\("torchvision::)(\w+)"', file.read()
        )
    owner = torch.library.Library("torchvision", "DEF")
    for name in names:
        owner.define(f"{name}(Tensor x) -> Tensor")
    return [owner]


if __name__ == "__main__":
    kept = declare_operators()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
