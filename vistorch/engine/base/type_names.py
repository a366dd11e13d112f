"""The names of tensor types as PyTorch of old spells them: "vistorch.FloatTensor", "vistorch.cuda.LongTensor".

Invariant: every dtype has one such name per kind of device, and both ways agree.
"""

from __future__ import annotations

from ..library_name import library
from .dtypes import ALL, dtype


def type_name(d: dtype, device_type: str = "cpu") -> str:
    """Return the tensor type's name in error messages and `Tensor.type()`, as "vistorch.FloatTensor"."""
    where = "" if device_type == "cpu" else f"{device_type}."
    return f"{library}.{where}{d.scalar_name}Tensor"


_by_type_name = {
    f"vistorch.{where}{d.scalar_name}Tensor": (d, device)
    for d in ALL
    for device, where in (("cpu", ""), ("cuda", "cuda."))
}


def of_type_name(name: str) -> tuple[dtype, str]:
    """Return type and device type of a name that `type_name` writes; "torch." is understood too."""
    known = "vis" + name if name.startswith("torch.") else name
    if known not in _by_type_name:
        raise ValueError(f"invalid type: '{name}'")
    return _by_type_name[known]
