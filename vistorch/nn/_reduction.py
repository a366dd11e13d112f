"""What `reduction=` means, and the older `size_average=` and `reduce=`, which still work with a warning."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number that ops take for a reduction.

    Example:
        >>> get_enum("mean")
        1
    """
    number = _NUMBERS.get(reduction) if reduction.__class__ is str else None
    if number is not None:
        return number
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2
        )
        return 1
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the two older arguments amount to.

    Example:
        >>> legacy_get_string(False, None, emit_warning=False)
        'sum'
    """
    average = size_average is None or size_average
    if reduce is None or reduce:
        found = "mean" if average else "sum"
    else:
        found = "none"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
            stacklevel=2,
        )
    return found


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The same as a number.

    Example:
        >>> legacy_get_enum(None, False, emit_warning=False)
        0
    """
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
