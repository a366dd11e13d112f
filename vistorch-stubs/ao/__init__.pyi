# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
"""Quantization and sparsity under PyTorch's name."""

from typing import Any, NoReturn

from . import quantization as quantization
