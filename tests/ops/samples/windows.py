"""Records of windows and short-time Fourier transforms. Invariant: a sample without a tensor names its dtype."""

from tests.ops.record import Lib, Op, S, X

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

signal, rows = X((16,)), X((2, 12))
hann = X(value=[0.0, 0.5, 1.0, 0.5], dtype="float64", grad=False)
three = X(value=[0.25, 1.0, 0.25], dtype="float64", grad=False)
spectrum = X((3, 7), dtype="complex128")
LATER = {
    "sharing": "torch turns the result over in place",
    "names": "torch passes its arguments on to another function",
}
GIVEN = {"layouts": False, "variants": False}
SHORT_TIME = [
    Op(
        "stft",
        [
            S(signal, 4, window=hann, return_complex=True),
            S(signal, 4, 2, window=hann, return_complex=True),
            S(rows, 4, 2, 3, three, return_complex=True),
            S(signal, 4, window=hann, return_complex=True, center=False),
            S(signal, 4, window=hann, return_complex=True, normalized=True),
            S(signal, 4, window=hann, return_complex=True, onesided=False),
            S(signal, 4, window=hann, return_complex=True, pad_mode="constant"),
            S(signal, 4, 2, return_complex=True),
            S(signal, 4, 2, 3, three, False, return_complex=True, align_to_window=True),
            S(signal, 4, 2, window=hann, return_complex=False),
            S(signal, 4, window=hann).only("float", "complex"),
            S(signal, 4, 0, window=hann, return_complex=True),
            S(signal, 4, 2, 9, hann, return_complex=True),
            S(signal, 4, 2, 3, hann, return_complex=True),
            S(signal, 0, window=hann, return_complex=True),
            S(signal, 20, window=hann, center=False, return_complex=True),
            S(X((2, 2, 8)), 4, window=hann, return_complex=True),
            S(signal, 4, window=hann, onesided=True, return_complex=True).only("complex"),
        ],
        differs=LATER,
        grad_fn=False,
        **GIVEN,
    ),
    Op(
        "istft",
        [
            S(spectrum, 4, window=hann),
            S(spectrum, 4, 2, window=hann),
            S(X((2, 3, 7), dtype="complex128"), 4, window=hann),
            S(spectrum, 4, 1, 3, three),
            S(spectrum, 4),
            S(spectrum, 4, window=hann, normalized=True),
            S(spectrum, 4, window=hann, length=4),
            S(spectrum, 4, window=hann, length=12),
            S(X((4, 7), dtype="complex128"), 4, window=hann, onesided=False),
            S(X((4, 7), dtype="complex128"), 4, window=hann, onesided=False, return_complex=True),
            S(spectrum, 4, window=hann, center=False),
            S(spectrum, 6, window=hann),
            S(spectrum, 4, 5, window=hann),
            S(spectrum, 4, 0, window=hann),
            S(spectrum, 4, window=three),
            S(spectrum, 4, window=hann, return_complex=True),
            S(X((3, 7), dtype="float64"), 4, window=hann),
            S(X((3, 0), dtype="complex128"), 4, window=hann),
        ],
        grad_fn=False,
        **GIVEN,
    ),
]

OPS = [*WINDOWS, *SHORT_TIME]
for op in SHORT_TIME:
    op.strides = False
