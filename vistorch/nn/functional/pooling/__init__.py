"""Windows reduced to one value: all of pooling under one roof.

Invariant: arguments are checked in the engine's package of the same name, in PyTorch's order and words.
"""

from . import adaptive, avg_pool, fractional, max_pool
from .adaptive import *
from .avg_pool import *
from .fractional import *
from .max_pool import *

__all__: list[str] = []
__all__ += adaptive.__all__
__all__ += fractional.__all__
__all__ += max_pool.__all__
__all__ += avg_pool.__all__
