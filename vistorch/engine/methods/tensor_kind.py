"""What sort of tensor it is: of which numbers, where it lies, how; and all that no tensor here is.

Invariant: nothing here copies an element or emits an event.
"""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.layout import strided
from ..core.registry import METHODS, public
from ..core.tensor import Tensor
from ..memory.placement import META
from .metadata import needs_tensor


def _kind(name: str, text: str, ask: Any) -> None:
    def call(input: Tensor) -> bool:
        return ask(dtypes.of(needs_tensor(input, name)._data.dtype))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Whether the elements are {text} numbers.

    Args:
        input: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([1.5, 2.5]).{name}()
        {ask(dtypes.float32)}
        >>> vistorch.{name}(vistorch.tensor([True]))
        False
    """
    public()(call)


_kind("is_floating_point", "floating-point", lambda d: d.is_floating_point)
_kind("is_complex", "complex", lambda d: d.is_complex)
_kind("is_signed", "signed", lambda d: d.is_signed)


@public()
def is_distributed(input: Tensor) -> bool:
    """Always False: a tensor is on one machine.

    Args:
        input: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.is_distributed(vistorch.ones(2))
        False
    """
    needs_tensor(input, "is_distributed")
    return False


def _asked(name: str, meaning: str, answer: Any, gives: str) -> None:
    METHODS[name] = property(
        answer,
        doc=f"{meaning}\n\nExample:\n    >>> import vistorch\n    >>> vistorch.ones(2).{name}\n    {gives}\n",
    )


_asked(
    "is_cuda",
    "Whether the elements are on a CUDA device.",
    lambda self: self._place.device.type == "cuda",
    "False",
)
_asked(
    "is_cpu", "Whether the elements are on the CPU.", lambda self: self._place.device.type == "cpu", "True"
)
_asked("is_meta", "Whether it has a shape and no values.", lambda self: self._place is META, "False")
_asked("layout", "`vistorch.strided`.", lambda self: strided, "vistorch.strided")
for _name in ("sparse", "sparse_csr", "quantized", "mkldnn", "mps", "xpu", "nested"):
    _asked(f"is_{_name}", "Always False: every tensor is dense.", lambda self: False, "False")
for _name in ("ipu", "maia", "mtia", "vulkan", "xla"):
    _asked(f"is_{_name}", "Always False: there are CPU and CUDA tensors.", lambda self: False, "False")
