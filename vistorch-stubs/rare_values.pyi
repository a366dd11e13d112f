# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
from typing import Any, NoReturn

from vistorch.torch_api.rare_values import *
get_autocast_ipu_dtype: Any
get_autocast_xla_dtype: Any
is_autocast_ipu_enabled: Any
is_autocast_xla_enabled: Any
set_autocast_ipu_dtype: Any
set_autocast_ipu_enabled: Any
set_autocast_xla_dtype: Any
set_autocast_xla_enabled: Any
