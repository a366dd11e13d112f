"""Layers as plain functions, under PyTorch's names: one family per file.

Invariant: a file's `__all__` lists what it offers here, and no name is offered twice.
"""

from .activation import *
from .attention import *
from .conv import *
from .distance import *
from .dropout import *
from .embedding import *
from .linear import *
from .loss import *
from .loss_margins import *
from .loss_values import *
from .normalization import *
from .padding import *
from .pooling import *
from .vision import *
