"""What programs of PyTorch's first years use: forms that still work, and names that say what came after them."""

from . import removed, tensors, unsupported
