"""Windows reduced to one value: all of pooling under one roof.

Invariant: arguments are checked in the engine's package of the same name, in PyTorch's order and words.
"""

from . import adaptive, fractional, maxima, means
from .adaptive import *
from .fractional import *
from .maxima import *
from .means import *

__all__: list[str] = []
__all__ += adaptive.__all__
__all__ += fractional.__all__
__all__ += maxima.__all__
__all__ += means.__all__
