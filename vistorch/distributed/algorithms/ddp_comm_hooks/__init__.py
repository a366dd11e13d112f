"""What averages the gradients of a bucket in place of a plain sum."""

from . import default_hooks, powerSGD_hook

__all__ = ["default_hooks", "powerSGD_hook"]
