"""Networks: modules, their functional twins, parameters and how they begin."""

import sys as _sys

from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .factory import factory_kwargs
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_sys.modules[f"{__name__}.fills"] = init  # where pickles of earlier versions look for three of its functions
