"""`signal.windows` against torch: lengths, symmetric and periodic, what shapes them, and what they refuse."""

import pytest

from tests.story import story

SHAPED = [
    ("bartlett", {}),
    ("blackman", {}),
    ("cosine", {}),
    ("exponential", {}),
    ("exponential", {"tau": 2.5}),
    ("gaussian", {}),
    ("gaussian", {"std": 0.7}),
    ("general_cosine", {"a": [0.5, 0.5]}),
    ("general_cosine", {"a": (0.4, 0.3, 0.2, 0.1)}),
    ("general_hamming", {}),
    ("general_hamming", {"alpha": 0.7}),
    ("hamming", {}),
    ("hann", {}),
    ("kaiser", {}),
    ("kaiser", {"beta": 3.0}),
    ("kaiser", {"beta": 0}),
    ("nuttall", {}),
]


@pytest.mark.parametrize(("name", "shape"), SHAPED, ids=lambda x: str(x))
@story
def test_values(L, report, name, shape):
    window = getattr(L.signal.windows, name)
    for M in (0, 1, 2, 3, 6, 11):
        for sym in (True, False):
            report(window(M, sym=sym, **shape), window(M, sym=sym, dtype=L.float64, **shape))
    report(window(4, device="cpu", layout=L.strided, requires_grad=True, **shape).requires_grad)
    report.raises(lambda: window(-1, **shape))
    report.raises(lambda: window(3, dtype=L.int64, **shape))
    report.raises(lambda: window(3, dtype=L.float16, **shape))


@story
def test_refusals(L, report):
    W = L.signal.windows
    report(W.exponential(5, center=1.0, sym=False))
    report.raises(lambda: W.exponential(5, center=1.0))
    report.raises(lambda: W.exponential(5, tau=0))
    report.raises(lambda: W.gaussian(5, std=-1.0))
    report.raises(lambda: W.kaiser(5, beta=-1.0))
    report.raises(lambda: W.general_cosine(5, a=3))
    report.raises(lambda: W.general_cosine(5, a=[]))
    report.raises(lambda: W.hann(5, out=None))
