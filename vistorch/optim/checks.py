"""Options that make no sense, said as PyTorch says it."""

from __future__ import annotations

from typing import Any

from ..engine.core.tensor import Tensor


def check_lr(lr: Any) -> None:
    """Refuse a negative learning rate, or one of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_tensor_lr(lr: Any, foreach: bool | None, capturable: bool) -> None:
    """Refuse a learning rate in a tensor where PyTorch has no kernel for it."""
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")


def check_tensor_betas(betas: tuple[Any, Any], foreach: bool | None, capturable: bool) -> None:
    """Refuse betas of two kinds, and in tensors where PyTorch has no kernel for them."""
    if len({float if isinstance(b, float) else Tensor if isinstance(b, Tensor) else None for b in betas}) > 1:
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if isinstance(beta, Tensor):
            if foreach and not capturable:
                raise ValueError(
                    f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")


def without_dims(number: Any) -> Any:
    """A hyperparameter as it enters arithmetic: a tensor of one element without dims, anything else as it is."""
    return number.squeeze() if isinstance(number, Tensor) and number.ndim else number


def check(**options: Any) -> None:
    """Refuse options out of range, in the order given; the name is the one in the sentence.

    Args:
        **options: a learning rate, a pair of betas in [0, 1), or numbers of at least zero.
    """
    for name, value in options.items():
        if name == "lr":
            check_lr(value)
        elif name == "betas":
            for i, beta in enumerate(value):
                if not 0.0 <= beta < 1.0:
                    raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        elif not 0.0 <= value:
            raise ValueError(f"Invalid {name} value: {value}")


def fused_or_not(optimizer: Any, fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse implementations that PyTorch does not combine; here all are the same one."""
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    optimizer._step_supports_amp_scaling = True


def is_on(option: Any) -> bool:
    """Whether an option has an effect: a tensor always has, because its value may be wanted in a graph."""
    return isinstance(option, Tensor) or option != 0
