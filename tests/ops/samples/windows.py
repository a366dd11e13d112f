"""Records of windows and short-time Fourier transforms. Invariant: a sample without a tensor names its dtype."""

from tests.ops.record import Lib, Op, S

TYPES = tuple(Lib(name) for name in ("float32", "float64", "int64", "complex64"))
SHAPED = {"hamming_window": (0.5, 0.4), "kaiser_window": (3.0,)}
# float32 as torch computes it, step by step, loses the last digits
CLOSE = {"float32": (2e-5, 2e-6)}

WINDOWS = [
    Op(
        f"{name}_window",
        [
            *(S(n) for n in (5, 4, 1, 0, -1, 2.5)),
            *(S(n, False) for n in (5, 4, 2, 1)),
            *(S(4, dtype=dtype) for dtype in TYPES),
            S(5, periodic=False, dtype=TYPES[1]),
            S(3, requires_grad=True),
            S(3, 2),
            *([S(5, True, *SHAPED[f"{name}_window"])] if f"{name}_window" in SHAPED else ()),
        ],
        tolerance=CLOSE,
    )
    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
]

OPS = [*WINDOWS]
