"""Writing by index tensors: index_put, put.

Invariant: what is overwritten gets no gradient, what is added to keeps it; a value written twice to one place gets the
gradient of that place each time, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

from ...base import errors
from ...base.casting import casting
from ...base.dims import flag
from ...base.modes import mode
from ...core import views
from ...core.base_ops import to_place
from ...core.graph import sync_rg
from ...core.op_factory import op
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from . import checks
from . import where as _where
from .add_at import add_at
from .parse import checked, gathered
from .setitem import index_put_at, index_put_row


def _put(xp: Any, input: Any, index: Any, source: Any, accumulate: bool) -> Any:
    out = xp.array(input, order="C")
    if index.size:
        flat, places = out.reshape(-1), index.reshape(-1) % out.size
        if accumulate:
            add_at(xp, flat, places, source.reshape(-1))
        else:
            flat[places] = source.reshape(-1)
    return out


def _put_zero(xp: Any, g: Any, index: Any) -> Any:
    out = xp.array(g, order="C")
    if index.size:
        out.reshape(-1)[index.reshape(-1)] = 0
    return out


_put_row = op(
    "put",
    _put,
    inputs="input index source",
    formula={"input": r"\bar x = \bar y,\ 0\text{ at } i", "source": r"\bar s = \bar y_i"},
    input=lambda F, g, index, accumulate: g if accumulate else F.put_zeros(g, index),
    source=lambda F, g, index, source_shape: F.reshape(F.take(g, index), source_shape),
)


op(
    "put_zeros",
    _put_zero,
    inputs="g index",
    widen=False,
    name_in_graph="PutBackward0",
    formula=r"\bar x = \bar y,\ 0\text{ at } i",
    g=lambda F, g, index: F.put_zeros(g, index),
)


def _indices(func: str, input: Tensor, indices: Any) -> _where.Where:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{func}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    entries: dict[int, Any] = {}
    sources: list = []
    dim = 0
    for at, t in enumerate(indices):
        if not isinstance(t, Tensor):
            kind = "NoneType" if t is None else type(t).__name__
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {kind}")
        array = checked(t, input._place)
        entries[dim] = array
        dim += array.ndim if array.dtype.kind == "b" else 1
        sources.append((t, 0 if t._ver is None else t._ver.n))
    if not entries:
        raise RuntimeError("sym_strides() called on an undefined Tensor")
    return gathered(entries, input._data.shape, sources, input._place)


@public()
def index_put(input, indices, values, accumulate=False):
    """A copy with values written, or added, where index tensors point.

    Args:
        input: what is kept elsewhere.
        indices: one index tensor (or mask) per dim, from the first.
        values: what to write; it broadcasts.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> index = vistorch.tensor([0, 0, 2])
        >>> vistorch.index_put(vistorch.zeros(3), (index,), vistorch.ones(3), accumulate=True)
        tensor([2., 0., 1.])
    """
    if casting.on and (recast := casting.ask(index_put, locals())):
        return recast[0]
    checks.tensors("index_put", ("input", 1, input), ("values", 2, values))
    where = _indices("index_put", input, indices)
    if values._place is not input._place:
        if not checks.is_cpu_number(values):
            errors.check_devices(input._place, values._place)
        values = to_place(values, input._place)
    _where.check_values(where, input._data.shape, values._data)
    accumulate = flag(accumulate, "index_put", "accumulate")
    _where.check_types(input._data, values._data, where, accumulate)
    return index_put_row(input, values, where, accumulate)


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put` in place.

    Args:
        input: the tensor to write to.
        indices: one index tensor (or mask) per dim, from the first.
        values: what to write; it broadcasts.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(3).index_put_((vistorch.tensor([1]),), vistorch.tensor(4.0))
        tensor([0., 4., 0.])
    """
    checks.tensors("index_put_", ("self", 1, input), ("values", 2, values))
    accumulate = flag(accumulate, "index_put_", "accumulate")
    records = bool(mode.on and (sync_rg(input) | sync_rg(values)))
    views.before_write(input, records)
    index_put_at(
        input,
        _indices("index_put_", input, indices),
        values,
        flag(accumulate, "index_put_", "accumulate"),
        records,
    )
    return input


METHODS["index_put_"] = FUNCTIONS["index_put_"] = index_put_


@public()
@checks.in_place
def put(input, index, source, accumulate=False):
    """A copy with elements written, or added, at positions of the flat tensor.

    Args:
        input: what is kept elsewhere.
        index: positions in the flat tensor.
        source: as many elements as positions.
        accumulate: add instead of writing.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 2).put(vistorch.tensor([1, -1]), vistorch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [0., 6.]])
    """
    checks.tensors("put", ("input", 1, input), ("index", 2, index), ("source", 3, source))
    checks.same_place("put", input, index, source)
    if index._data.dtype != checks.LONG:
        checks.flat_index("put_", input, index)
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{checks.scalar_name(input)} and source.dtype = {checks.scalar_name(source)}"
        )
    if source._data.size != index._data.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._data.size}, index.numel() = {index._data.size}"
        )
    checks.flat_index("put_", input, index)
    return _put_row(input, index, source, flag(accumulate, "put", "accumulate"))
