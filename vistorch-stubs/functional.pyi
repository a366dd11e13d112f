# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
from typing import Any, NoReturn

from vistorch.torch_api.functional import *
atleast_1d: Any
atleast_2d: Any
atleast_3d: Any
block_diag: Any
broadcast_shapes: Any
broadcast_tensors: Any
cartesian_prod: Any
cdist: Any
chain_matmul: Any
einsum: Any
istft: Any
lu: Any
meshgrid: Any
norm: Any
split: Any
stft: Any
tensordot: Any
unique: Any
unique_consecutive: Any
unravel_index: Any
