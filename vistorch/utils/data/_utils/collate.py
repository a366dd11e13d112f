"""From a list of samples to a batch: `default_collate`, `default_convert`.

Invariant: a batch of tensors is made by one copy of each sample's memory into the batch's; in a worker the batch's
memory is, where there is room, already the memory that the main process will read.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

import vistorch

from ....engine.base.events import listeners
from ....engine.core.tensor import Tensor, wrap
from ....engine.memory.placement import CPU, place_of
from . import worker

np_str_obj_array_pattern = re.compile("[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
Map = dict[Any, Callable]


def _same_mapping(like: Any, items: dict) -> Any:
    """A mapping of the type of `like` with these items; a plain dict where its type cannot be built so."""
    try:
        if isinstance(like, MutableMapping):
            made = copy.copy(like)  # keeps what the type knows besides its items: a default factory
            made.update(items)
            return made
        made_of: Any = type(like)
        return made_of(items)
    except TypeError:
        return items


def _same_sequence(like: Any, items: list) -> Any:
    """A sequence of the type of `like` with these items; a plain list where its type cannot be built so."""
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for i, item in enumerate(items):
                made[i] = item
            return made
        made_of: Any = type(like)
        return made_of(items)
    except TypeError:
        return items


def default_convert(data: Any) -> Any:
    """Turn the numpy arrays and numbers in a sample into tensors; leave everything else as it is.

    This is what a loader with `batch_size=None` does with each sample.

    Args:
        data: a sample: an array, or a mapping or sequence of samples.

    Example:
        >>> import numpy as np
        >>> from vistorch.utils.data import default_convert
        >>> default_convert({"x": np.array([0, 1]), "name": "one"})
        {'x': tensor([0, 1]), 'name': 'one'}
    """
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind is np.ndarray and np_str_obj_array_pattern.search(data.dtype.str):
            return data
        return vistorch.as_tensor(data)
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        made: Any = [default_convert(item) for item in data]
        return kind(*made) if hasattr(data, "_fields") else made
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _same_sequence(data, [default_convert(item) for item in data])
    return data


def collate(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    """Make one batch of samples, each type by its own function, what holds samples member by member.

    Args:
        batch: the samples, of one structure.
        collate_fn_map: by type, or tuple of types, the function that makes a batch; it is called with the samples and
            with `collate_fn_map` by name.

    Example:
        >>> from vistorch.utils.data._utils.collate import collate
        >>> collate([{"n": 1}, {"n": 2}], collate_fn_map={int: lambda batch, *, collate_fn_map: sum(batch)})
        {'n': 3}
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: [sample[key] for sample in batch] for key in first}
        return _same_mapping(
            first, {key: collate(column, collate_fn_map=collate_fn_map) for key, column in columns.items()}
        )
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        made: Any = kind
        return made(*[collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=False)])
    if isinstance(first, Sequence):
        size = len(first)
        if not all(len(sample) == size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=False)]
        return parts if isinstance(first, tuple) else _same_sequence(first, parts)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Tensor:
    """Stack tensors.

    Args:
        batch: tensors of one shape.
        collate_fn_map: not looked at.
    """
    if listeners.op is None:
        found = _stacked(batch)
        if found is not None:
            return wrap(found)
    return vistorch.stack(batch, 0)


def _stacked(batch: Any) -> Any:
    """The arrays of tensors as one; None where that is not all there is to `stack`."""
    arrays = [
        t._data
        for t in batch
        if t.__class__ is Tensor
        and not t._rg
        and t._place is CPU
        and ((view := t._view) is None or not view.base._rg)
    ]
    if len(arrays) < len(batch):
        return None
    if worker.batch_memory is not None:
        found = stacked_in_place(arrays)
        if found is not None:
            return found
    try:
        found = np.array(arrays)
    except ValueError:  # of several shapes: PyTorch has a sentence for that
        return None
    # Of several types: where numpy promotes to the first, so does PyTorch; elsewhere they may disagree.
    return found if found.dtype == arrays[0].dtype else None


def stacked_in_place(arrays: list) -> Any:
    """Arrays of one shape and type, stacked in the memory the main process will read; None if they do not fit there."""
    first = arrays[0]
    if not first.ndim or any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
        return None
    out = (
        None if worker.batch_memory is None else worker.batch_memory((len(arrays), *first.shape), first.dtype)
    )
    if out is None:
        return None
    np.concatenate(arrays, out=out.reshape(len(arrays) * first.shape[0], *first.shape[1:]))
    return out


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    """Make tensors of numpy arrays, then one batch of these.

    Args:
        batch: numpy arrays.
        collate_fn_map: what makes a batch of tensors.
    """
    first = batch[0]
    if np_str_obj_array_pattern.search(first.dtype.str):
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return collate([vistorch.as_tensor(a) for a in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Tensor:
    """Make one tensor of numpy numbers.

    Args:
        batch: the numbers.
        collate_fn_map: not looked at.
    """
    return vistorch.as_tensor(batch)


def _numbers(batch: Any, kind: type, dtype: Any) -> Tensor | None:
    """The commonest labels: numbers of one type, none too large, no default device."""
    if set(map(type, batch)) == {kind} and place_of() is CPU:
        with contextlib.suppress(OverflowError):
            return wrap(np.array(batch, dtype))
    return None


def collate_float_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Tensor:
    """Make one float64 tensor of Python floats.

    Args:
        batch: the floats.
        collate_fn_map: not looked at.
    """
    found = _numbers(batch, float, np.float64)
    return vistorch.tensor(batch, dtype=vistorch.float64) if found is None else found


def collate_int_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Tensor:
    """Make one tensor of Python numbers.

    Args:
        batch: the numbers.
        collate_fn_map: not looked at.
    """
    found = _numbers(batch, int, np.int64)
    return vistorch.tensor(batch) if found is None else found


def collate_str_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    """Leave texts as they are.

    Args:
        batch: the texts.
        collate_fn_map: not looked at.
    """
    return batch


default_collate_fn_map: Map = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Make one batch of samples: tensors and arrays are stacked, numbers become tensors, texts stay a list.

    What holds samples (mappings, tuples, named tuples, sequences) is batched member by member.

    Args:
        batch: the samples, of one structure.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.data import default_collate
        >>> default_collate([0, 1, 2])
        tensor([0, 1, 2])
        >>> default_collate([(vistorch.zeros(2), "a"), (vistorch.ones(2), "b")])
        [tensor([[0., 0.],
                [1., 1.]]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
