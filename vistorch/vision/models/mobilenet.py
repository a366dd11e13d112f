"""The two generations of MobileNet in one module, as in torchvision.

Invariant: nothing is defined here.
"""

from .mobilenetv2 import MobileNetV2, mobilenet_v2
from .mobilenetv3 import MobileNetV3, mobilenet_v3_large, mobilenet_v3_small

__all__ = ["MobileNetV2", "MobileNetV3", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small"]
