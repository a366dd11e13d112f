"""Mixed precision on CUDA under PyTorch's older names.

Invariant: everything here is `vistorch.amp`'s, with the kind of device filled in.
"""

from .deprecated import *
