"""Networks: modules, their functional counterparts, parameters and how they begin."""

from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .factory import factory_kwargs
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
