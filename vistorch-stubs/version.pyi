# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
from typing import Any, NoReturn

from vistorch.torch_api.version import *
cuda: Any
