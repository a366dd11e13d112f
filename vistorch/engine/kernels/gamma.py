"""The gamma function's family: lgamma, digamma and polygamma.

Invariant: everything is computed in float64 and rounded to the dtype of the input. The coefficients were
fitted at Chebyshev nodes in 50 digits; each is good to 2e-17 on the range named beside it.
"""

import math

from vistorch.engine.kernels.blocks import blocked, horner, piecewise, ratio

# lgamma(1 + t) / t and lgamma(2 + t) / t in t + 1/2, |t| <= 1/2: from the end on, nothing cancels.
_LGAMMA_AT_1 = (
    (
        -1.1447298858494002,
        -6.037476076608672,
        -11.074453046003981,
        -7.060256117850161,
        1.7442411476275483,
        3.923105542989204,
        1.4952746264999952,
        0.18493488402868385,
        0.005213871054457312,
    ),
    (
        1.0,
        6.7046702037116495,
        17.815620328126595,
        23.933179555124703,
        17.207418715960465,
        6.469197271926865,
        1.1555456435633171,
        0.07903020671591635,
        0.0011778118478573605,
    ),
)
_LGAMMA_AT_2 = (
    (
        0.24156447527049044,
        0.8493494139253529,
        0.927123607882786,
        0.43239246187474717,
        0.08965723270796389,
        0.007280742375513022,
        0.0001493550541960941,
    ),
    (
        1.0,
        1.8181498370144589,
        1.2249957727807648,
        0.37625687401380636,
        0.05212832597063917,
        0.0027443901193855095,
        3.209660086853543e-05,
    ),
)
# digamma(1 + t) over the distance to its root, 0 <= t <= 2.
_DIGAMMA = (
    (
        1.2503801375034054,
        2.0079983521060054,
        1.1741604116033721,
        0.31649933632550714,
        0.04049350826567144,
        0.002235289521967761,
        3.9117651665683125e-05,
        4.097361930526724e-08,
    ),
    (
        1.0,
        2.2894571233542136,
        1.9022022748824643,
        0.7470495002328587,
        0.14810832904594673,
        0.014396602345897333,
        0.0006000004112100302,
        7.3778476243478865e-06,
    ),
)

# The root in two parts: the first is exact to 53 bits, the second is the rest.
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
# Stirling's series for lgamma, in 1 / x^2, and its derivative's; good from x = 8 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_DIGAMMA_SERIES = (
    1 / 12,
    -1 / 120,
    1 / 252,
    -1 / 240,
    1 / 132,
    -691 / 32760,
    1 / 12,
    -3617 / 8160,
    43867 / 14364,
)
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def _lgamma_stirling(xp, x):
    return (x - 0.5) * (xp.log(x) - 1) + (_HALF_LOG_TWO_PI - 0.5) + horner(_STIRLING, 1 / x / x) / x


def _lgamma_middle(xp, x):
    """Walk down from 1.5 <= x < 8 to within half of 2, gathering the factors passed."""
    steps = xp.floor(x - 1.5)
    product = xp.ones_like(x)
    for j in range(1, 7):
        product *= xp.where(steps >= j, x - j, 1)
    t = x - steps - 2
    return xp.log(product) + t * ratio(_LGAMMA_AT_2, t + 0.5)


def _lgamma_reflected(xp, x):
    a = -x
    part = a - xp.floor(a)
    sine = xp.sin(math.pi * xp.minimum(part, 1 - part))
    return xp.log(math.pi / (a * sine)) - _lgamma(xp, a)


def _lgamma(xp, x):
    pieces = [
        (xp.abs(x) < 0.5, lambda part: part * ratio(_LGAMMA_AT_1, part + 0.5) - xp.log(xp.abs(part))),
        ((x >= 0.5) & (x < 1.5), lambda part: (part - 1) * ratio(_LGAMMA_AT_1, part - 0.5) + 0.0),
        ((x >= 1.5) & (x < 8), lambda part: _lgamma_middle(xp, part)),
        (x >= 8, lambda part: _lgamma_stirling(xp, part)),
        ((x <= -0.5) & (x == xp.floor(x)), lambda part: xp.full_like(part, float("inf"))),
        ((x <= -0.5) & (x != xp.floor(x)), lambda part: _lgamma_reflected(xp, part)),
    ]
    return piecewise(xp, x, pieces)


def lgamma(xp, x):
    """Return log|gamma(x)|; infinite at the poles."""
    return blocked(xp, _lgamma, x)


def _digamma_centre(x):
    return ((x - _ROOT) - _ROOT_REST) * ratio(_DIGAMMA, x - 1)


def _digamma_middle(xp, x):
    """Walk down from 3 <= x < 8 to 2 <= x < 3."""
    steps = xp.floor(x) - 2
    total = xp.zeros_like(x)
    for j in range(1, 6):
        total += xp.where(steps >= j, 1 / (x - j), 0)
    return total + _digamma_centre(x - steps)


def _digamma_series(xp, x):
    inverse = 1 / x
    square = inverse * inverse
    return xp.log(x) - 0.5 * inverse - square * horner(_DIGAMMA_SERIES, square)


def _digamma_reflected(xp, x):
    part = x - xp.rint(x)
    part = xp.where(part == 0, float("nan"), part)
    return _digamma(xp, 1 - x) - math.pi / xp.tan(math.pi * part)


def _digamma(xp, x):
    pieces = [
        ((x > 0) & (x < 1), lambda part: _digamma_centre(part + 1) - 1 / part),
        ((x >= 1) & (x < 3), _digamma_centre),
        ((x >= 3) & (x < 8), lambda part: _digamma_middle(xp, part)),
        (x >= 8, lambda part: _digamma_series(xp, part)),
        (x == 0, lambda part: -1 / part),
        (x < 0, lambda part: _digamma_reflected(xp, part)),
    ]
    return piecewise(xp, x, pieces)


def digamma(xp, x):
    """Return the derivative of lgamma; nan at the negative poles, infinite at 0."""
    return blocked(xp, _digamma, x)


def _hurwitz(xp, s, x):
    """Return the sum of (x + k)^-s over k >= 0 for an integer s >= 2 and x > 0, by Euler and Maclaurin."""
    # The series of the rest needs a start that grows with s; the sum runs from its smallest term.
    terms = 9 + min(s // 2, 60)
    inverse = 1 / (x + terms)
    square = inverse * inverse
    coefficients, rising = [], float(s)
    for k, number in enumerate(_BERNOULLI, 1):
        coefficients.append(number / math.factorial(2 * k) * rising)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    total = xp.power(inverse, s - 1) * (
        1 / (s - 1) + inverse * (0.5 + inverse * horner(coefficients, square))
    )
    for k in range(terms - 1, -1, -1):
        total += xp.power(x + k, -float(s))
    return total


def _cotangent_derivative(n):
    """Return the coefficients of the n-th derivative of cot as a polynomial in cot."""
    now = [0, 1]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(now)][1:]
        now = [0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            now[k] -= c
            now[k + 2] -= c
    return tuple(float(c) for c in now)


def _polygamma_reflected(xp, n, x, kind):
    part = x - xp.rint(x)
    cotangent = 1 / xp.tan(math.pi * part)
    mirror = _polygamma(xp, n, 1 - x, kind)
    turned = math.pi ** (n + 1) * horner(_cotangent_derivative(n), cotangent)
    out = (mirror if n % 2 == 0 else -mirror) - turned
    pole = (part == 0) | ((n > 1) & xp.isinf(x))  # torch's trigamma alone is nan at -inf
    if n == 1:  # torch's trigamma at a pole: of the sine of a rounded multiple of pi, which is not zero
        sine = xp.sin(kind.type(math.pi) * x.astype(kind)).astype(x.dtype)
        return xp.where(pole, math.pi**2 / (sine * sine) - mirror, out)
    return xp.where(pole, float("inf") if n % 2 else -float("inf"), out)


def _polygamma(xp, n, x, kind):
    size = float(math.factorial(n)) if n <= 170 else float("inf")
    sign = 1.0 if n % 2 else -1.0
    pieces = [
        # From n = 2 on torch says nan at infinity, which the default stands for.
        ((x > 0) & ((x < float("inf")) | (n == 1)), lambda part: sign * size * _hurwitz(xp, n + 1, part)),
        (x == 0, lambda part: xp.full_like(part, sign * float("inf"))),
        (x < 0, lambda part: _polygamma_reflected(xp, n, part, kind)),
    ]
    return piecewise(xp, x, pieces)


def polygamma(xp, n, x):
    """Return the n-th derivative of digamma; infinite at the poles for n > 0."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(xp, x)
    return blocked(xp, lambda xp, block: _polygamma(xp, n, block, x.dtype), x)
