"""The cases a template walks over: samples crossed with dtypes, layouts and shape variants.

Invariant: cases depend on the record alone, so both libraries see the same ones in the same order.
"""

from collections.abc import Iterator
from dataclasses import replace

from tests.ops.record import DTYPES, Op, Sample, X, kind_of

LAYOUTS = ("transposed", "strided", "expanded")
PAIRS = tuple((a, b) for a in DTYPES for b in DTYPES if a != b)


def layouts_of(op: Op, sample: Sample) -> tuple[str, ...]:
    """The memory layouts to try; an expanded tensor has ties where a sample wants none."""
    if not op.layouts:
        return ()
    fixed = any(x.distinct or x.value is not None for x in sample.xs())
    return LAYOUTS[:2] if fixed else LAYOUTS


def dtypes_of(op: Op, sample: Sample) -> Iterator[str]:
    """The dtypes to try a sample with; float64 alone where it has no free tensor."""
    if not any(x.dtype is None for x in sample.xs()):
        yield "float64"
        return
    for dtype in op.only_dtypes or DTYPES:
        if dtype not in op.skip_dtypes and (sample.kinds is None or kind_of(dtype) in sample.kinds):
            yield dtype


def shape_variants(op: Op, sample: Sample) -> Iterator[Sample]:
    """The sample with its tensors 0-d, and empty in the first or the last dim."""
    free = [x for x in sample.xs() if x.value is None]
    if not op.variants or not free:
        return

    def reshaped(shape_of) -> Sample:
        return sample.map(lambda x: x if x.value is not None else replace(x, shape=shape_of(x)))

    def empty_first(x: X) -> tuple[int, ...]:
        return (0, *x.shape[1:]) if x.shape else ()

    def empty_last(x: X) -> tuple[int, ...]:
        return (*x.shape[:-1], 0) if x.shape else ()

    if any(x.shape for x in free):
        yield reshaped(lambda x: ())
        yield reshaped(empty_first)
        yield reshaped(empty_last)


def pairs(op: Op, sample: Sample) -> Iterator[tuple[str, str]]:
    """Mixed dtypes for a sample of several free tensors."""
    if sum(x.dtype is None and x.value is None for x in sample.xs()) < 2:
        return
    for first, second in PAIRS:
        allowed = op.only_dtypes or DTYPES
        if first in allowed and second in allowed and not {first, second} & set(op.skip_dtypes):
            yield first, second


def gradient_dtypes(op: Op, sample: Sample) -> Iterator[str | tuple[str, str]]:
    """The dtypes for exact gradients: double, complex double, and mixtures of real and complex."""
    if not sample.grad:
        return
    for dtype in ("float64", "complex128"):
        if dtype in dtypes_of(op, sample):
            yield dtype
    for mixed in (("float64", "complex128"), ("complex128", "float64"), ("float32", "float64")):
        if mixed in set(pairs(op, sample)) and sample.kinds is None:
            yield mixed
