"""Tensors of other libraries, by DLPack, under PyTorch's names."""

import enum

from ..engine.core.registry import FUNCTIONS

from_dlpack, to_dlpack = FUNCTIONS["from_dlpack"], FUNCTIONS["to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of kinds of devices.

    Example:
        >>> import vistorch
        >>> kind, index = vistorch.ones(2).__dlpack_device__()
        >>> vistorch.utils.dlpack.DLDeviceType(kind).name
        'kDLCPU'
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
