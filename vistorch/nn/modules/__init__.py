"""Layers as objects, under PyTorch's names: one family per file.

Invariant: a file's `__all__` lists what it offers here, and no name is offered twice.
"""

import sys as _sys

from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .lazy import *
from .linear import *
from .loss import *
from .module import *
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

# Paths that pickles of earlier versions name: the file whose classes were there -> the file that has them now.
_MOVED = {
    "calls": "module_call",
    "conv_base": "conv",
    "conv_lazy": "conv",
    "conv_transpose": "conv",
    "everywhere": "global_hooks",
    "loss_base": "loss",
    "loss_margins": "loss",
    "loss_values": "loss",
    "padding_own": "padding",
    "parameters": "container",
    "pooling_max": "pooling",
    "pooling_means": "pooling",
    "smooth": "activation",
    "soft": "activation",
    "state": "state_dict",
    "straight": "activation",
}
for _old, _new in _MOVED.items():
    _sys.modules[f"{__name__}.{_old}"] = _sys.modules[f"{__name__}.{_new}"]
