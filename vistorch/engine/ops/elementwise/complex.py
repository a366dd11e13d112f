"""Complex numbers and their parts.

Invariant: `real`, `imag`, `view_as_real` and `view_as_complex` share memory with their input; `conj` of a complex
tensor is computed at once, so that no tensor is lazily conjugated.
"""

from __future__ import annotations

import numpy as np

from ...base import dtypes, errors
from ...base.casting import casting
from ...core import base_ops, type_promotion
from ...core.inplace import general
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor

_real = op(
    "real",
    lambda xp, input: input.real,
    view=True,
    name_in_graph="SelectBackward0",
    holomorphic=False,
    formula=r"\bar x = \bar y",
    input=lambda F, g: g,
)
_imag = op(
    "imag",
    lambda xp, input: input.imag,
    view=True,
    name_in_graph="SelectBackward0",
    holomorphic=False,
    formula=r"\bar x = i\,\bar y",
    input=lambda F, g: g * 1j,
)


def _as_pairs(xp, input):
    return input[..., None].view(input.real.dtype)


def _as_complex(xp, input):
    return input.view("c8" if input.dtype.itemsize == 4 else "c16")[..., 0]


_view_as_real = op(
    "view_as_real",
    _as_pairs,
    view=True,
    holomorphic=False,
    formula=r"\bar x = \bar y_0 + i\,\bar y_1",
    input=lambda F, g: F.view_as_complex(F.clone(g)),
)
_view_as_complex = op(
    "view_as_complex",
    _as_complex,
    view=True,
    holomorphic=False,
    formula=r"\bar x = (\mathrm{Re}\,\bar y, \mathrm{Im}\,\bar y)",
    input=lambda F, g: F.view_as_real(g),
)


def _tensor(name, input, argument="input", position=1):
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, argument, position, input)
    return input._data


@public(method=False)
def real(input):
    """Look at the real parts; a real tensor is returned itself.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.real(vistorch.tensor([1 + 2j, 3j]))
        tensor([1., 0.])
    """
    return _real(input) if _tensor("real", input).dtype.kind == "c" else input


@public(method=False)
def imag(input):
    """Look at the imaginary parts.

    Args:
        input: a complex tensor.

    Example:
        >>> import vistorch
        >>> vistorch.imag(vistorch.tensor([1 + 2j, 3j]))
        tensor([2., 3.])
    """
    if _tensor("imag", input).dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)


def _set_part(part):
    def write(self, value):
        target = part(self)
        target.copy_(value)

    return write


METHODS["real"] = property(real, _set_part(real), doc=real.__doc__)
METHODS["imag"] = property(imag, _set_part(imag), doc=imag.__doc__)


@public(method=False)
def view_as_real(input):
    """See each complex number as a pair of real ones, in a last dimension of 2.

    Args:
        input: a complex tensor.

    Example:
        >>> import vistorch
        >>> vistorch.view_as_real(vistorch.tensor([1 + 2j, 3j]))
        tensor([[1., 2.],
                [0., 3.]])
    """
    if _tensor("view_as_real", input).dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _view_as_real(input)


@public(method=False)
def view_as_complex(input):
    """See the pairs of a last dimension of 2 as complex numbers.

    Args:
        input: a float32 or float64 tensor.

    Example:
        >>> import vistorch
        >>> vistorch.view_as_complex(vistorch.tensor([[1.0, 2.0], [0.0, 3.0]]))
        tensor([1.+2.j, 0.+3.j])
    """
    if casting.on and (recast := casting.ask(view_as_complex, locals())):
        return recast[0]
    a = _tensor("view_as_complex", input)
    if a.dtype not in type_promotion.FLOATS and a.dtype != np.dtype("f2"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            + dtypes.of(a.dtype).scalar_name
        )
    if a.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    steps = input.stride()
    if steps[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in steps[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if a.dtype == np.dtype("f2"):
        raise NotImplementedError(
            "there are no complex numbers of half precision here: convert to float32 first"
        )
    return _view_as_complex(input)


@public()
def conj(input):
    """Turn the imaginary parts over; a real tensor is returned itself.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.conj(vistorch.tensor([1 + 2j, 3j]))
        tensor([1.-2.j, 0.-3.j])
    """
    return base_ops.conj(input) if _tensor("conj", input).dtype.kind == "c" else input


_conj_physical = op(
    "conj_physical",
    lambda xp, input: xp.conjugate(input),
    widen=False,
    holomorphic=False,
    formula=r"\bar x = \overline{\bar y}",
    input=lambda F, g: F.conj_physical(g),
).rule


@public()
def conj_physical(input, *, out=None):
    """Turn the imaginary parts over, into new memory where there are any.

    Args:
        input: a tensor.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> vistorch.conj_physical(vistorch.tensor([1 + 2j, 3j]))
        tensor([1.-2.j, 0.-3.j])
    """
    a = _tensor("conj_physical", input)
    if a.dtype.kind != "c" and out is None:
        return input
    return type_promotion.several(_conj_physical, (input,), (), out, a.dtype)


METHODS["conj_physical_"] = FUNCTIONS["conj_physical_"] = general(conj_physical, "conj_physical_")


@public()
def resolve_conj(input):
    """The tensor itself: none is lazily conjugated here.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.resolve_conj(vistorch.tensor([1 + 2j]))
        tensor([1.+2.j])
    """
    _tensor("resolve_conj", input)
    return input


@public()
def resolve_neg(input):
    """The tensor itself: none is lazily negated here.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.resolve_neg(vistorch.tensor([1.0]))
        tensor([1.])
    """
    _tensor("resolve_neg", input)
    return input


@public()
def is_conj(input):
    """Tell whether a tensor waits to be conjugated: none does.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.is_conj(vistorch.tensor([1 + 2j]).conj())
        False
    """
    _tensor("is_conj", input)
    return False


@public()
def is_neg(input):
    """Tell whether a tensor waits to be negated: none does.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.is_neg(vistorch.tensor([1.0]))
        False
    """
    _tensor("is_neg", input)
    return False
