"""Networks: modules, their functional twins, parameters and how they begin."""

from . import attention, functional, init, modules, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
