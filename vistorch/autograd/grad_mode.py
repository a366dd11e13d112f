"""The switches of recording, under the name of the module PyTorch keeps them in."""

from ..engine.base.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
