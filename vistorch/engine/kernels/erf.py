"""The error function and its relations: erf, erfc, erfcx, erfinv, and the normal distribution's functions.

Invariant: float64 in and out is good to a few units in the last place, and float32 is computed in float64 (erf
has a short form of its own) and rounded. The coefficients were fitted at Chebyshev nodes in 50 digits; each is
good to 1e-17 on the range named beside it.
"""

import math

from vistorch.engine.kernels.blocks import blocked, horner, piecewise, ratio

# erf(x) / x in x^2, |x| <= 1; for float32 to 2e-8, |x| <= 3.93.
_ERF = (
    1.1283791670955126,
    -0.37612638903183543,
    0.11283791670945006,
    -0.02686617064323777,
    0.0052239776071164225,
    -0.0008548325975389692,
    0.00012055294904839707,
    -1.492473690741966e-05,
    1.6447424703317362e-06,
    -1.6208483801871705e-07,
    1.3720064546777686e-08,
    -7.795898827002142e-10,
)
_ERF_SHORT = (
    (
        1.1283791846804314,
        0.1838422828188441,
        0.05443545328351499,
        0.0038331107536561907,
        0.0003915744937455194,
        5.034106603310875e-06,
        -1.4900438460010306e-08,
    ),
    (
        1.0,
        0.4962596341399301,
        0.11366058938891314,
        0.015470433561612236,
        0.001320346090903708,
        6.642549652050124e-05,
    ),
)
# (1 + 2x) exp(x^2) erfc(x) in (x - 3.75) / (x + 3.75), x >= 0.
_ERFCX = (
    1.2375126308378275,
    -0.14024059858554697,
    0.003585415485463775,
    0.08227673849014516,
    -0.10880393014171785,
    0.09230432116037876,
    -0.058693398590212366,
    0.028362277418940665,
    -0.009746579552504244,
    0.0017556258530017257,
    0.0002937136342850081,
    -0.0002901540809795271,
    5.1649211390702855e-05,
    2.2384240314224437e-05,
    -1.1444412439171722e-05,
    -9.735619015182663e-07,
    1.752057970166318e-06,
    -5.721597255990987e-08,
    -2.591069687796658e-07,
    2.3261913276696566e-08,
    3.8965452548985966e-08,
    -3.743568033634583e-09,
    -5.28428697963142e-09,
    3.110310719839165e-10,
    4.434959070009628e-10,
)
# erfinv(x) / x in 0.5625 - x^2, |x| <= 0.75.
_INVERSE_CENTRE = (
    (
        1.0845597967968248,
        7.160921199707379,
        18.039487150473597,
        21.727106021614006,
        12.832151510619875,
        3.408658782601145,
        0.31730417194039606,
        0.004629517836199464,
    ),
    (
        1.0,
        7.121354241112377,
        19.70783200731746,
        26.78300806716227,
        18.607684554381887,
        6.247619308964538,
        0.8535064285470091,
        0.030108495873496597,
    ),
)
# erfinv(1 - 2q) in sqrt(-log(q)) less 2.5, 4.5 and 12, on 1.44 to 3.6, 3.5 to 6.2 and 6.1 to 27.4.
_INVERSE_NEAR = (
    (
        2.0430492086936702,
        4.314360843432546,
        3.8061134036534527,
        1.8430269706029374,
        0.5378783224683045,
        0.09679976783633137,
        0.010376413890492429,
        0.0005885124972059607,
        1.2749023119216602e-05,
    ),
    (
        1.0,
        1.5676090732561792,
        1.0256795137755106,
        0.3637879517913212,
        0.07541228949940341,
        0.009021261970344396,
        0.0005567408815628081,
        1.2748277721981284e-05,
    ),
)
_INVERSE_FAR = (
    (
        4.186396241474079,
        3.387311434845182,
        1.0283017197218562,
        0.14291529338746373,
        0.008482655804721854,
        0.00010402236644277089,
        -4.2346906819908226e-06,
    ),
    (
        1.0,
        0.5591341918349199,
        0.10775132805240564,
        0.007920362225522925,
        0.0001229923134624748,
        -4.233507089541035e-06,
        -1.2643647159151516e-11,
    ),
)
_INVERSE_VERY_FAR = (
    (
        11.843108045374615,
        4.974129769066751,
        0.8769253266424245,
        0.08412947747424862,
        0.004757035653268087,
        0.00016020941748499452,
        3.0811735284816068e-06,
        3.012591712223099e-08,
        1.1008953524351163e-10,
    ),
    (
        1.0,
        0.33474796633344645,
        0.0455629838963875,
        0.0032340474513026162,
        0.000127463887164909,
        2.7359291458225957e-06,
        2.8804994412598226e-08,
        1.1008928607509857e-10,
        3.708099199430283e-19,
    ),
)

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2 = math.sqrt(2)


def _scaled(x):
    """Return exp(x^2) erfc(x) for x >= 0, infinity included."""
    return horner(_ERFCX, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)


def _exp_square(xp, x, sign):
    """Return exp(sign x^2) without the error of rounding x^2: it would be x^2 times as large in the result."""
    head = xp.trunc(x * 16) * 0.0625
    return xp.exp(sign * head * head) * xp.exp(sign * (x - head) * (x + head))


def _erf_tail(xp, x):
    a = xp.minimum(xp.abs(x), 7)
    return xp.copysign(1 - xp.exp(-a * a) * _scaled(a), x)


def _erf(xp, x):
    small = xp.abs(x) <= 1
    return piecewise(
        xp,
        x,
        [(small, lambda part: part * horner(_ERF, part * part)), (~small, lambda part: _erf_tail(xp, part))],
    )


def _erf_short(xp, x):
    x = xp.clip(x, -3.93, 3.93)
    return xp.clip(x * ratio(_ERF_SHORT, x * x), -1, 1)


def erf(xp, x):
    """Return the error function."""
    return blocked(xp, _erf_short, x, "float32") if x.dtype == "float32" else blocked(xp, _erf, x)


def _erfc_positive(xp, x):
    x = xp.minimum(x, 30)
    return _exp_square(xp, x, -1) * _scaled(x)


def _erfc(xp, x):
    pieces = [
        (xp.abs(x) < 0.5, lambda part: 1 - part * horner(_ERF, part * part)),
        (x >= 0.5, lambda part: _erfc_positive(xp, part)),
        (x <= -0.5, lambda part: 2 - _erfc_positive(xp, -part)),
    ]
    return piecewise(xp, x, pieces)


def erfc(xp, x):
    """Return 1 - erf(x), exact to its last digits where it is tiny."""
    return blocked(xp, _erfc, x)


def _erfcx_negative(xp, x):
    a = xp.minimum(-x, 30)
    return 2 * _exp_square(xp, a, 1) - _scaled(a)


def _erfcx(xp, x):
    return piecewise(xp, x, [(x >= 0, _scaled), (x < 0, lambda part: _erfcx_negative(xp, part))])


def erfcx(xp, x):
    """Return exp(x^2) erfc(x)."""
    return blocked(xp, _erfcx, x)


def _inverse_tail(xp, q):
    """Return erfinv(1 - 2q) for 0 < q <= 1/8."""
    r = xp.sqrt(-xp.log(q))
    pieces = [
        (r <= 3.5, lambda part: ratio(_INVERSE_NEAR, part - 2.5)),
        ((r > 3.5) & (r <= 6.15), lambda part: ratio(_INVERSE_FAR, part - 4.5)),
        (r > 6.15, lambda part: ratio(_INVERSE_VERY_FAR, part - 12)),
    ]
    return piecewise(xp, r, pieces)


def _inverse_centre(x):
    return x * ratio(_INVERSE_CENTRE, 0.5625 - x * x)


def _erfinv(xp, x):
    a = xp.abs(x)
    pieces = [
        (a <= 0.75, _inverse_centre),
        ((a > 0.75) & (a < 1), lambda part: xp.copysign(_inverse_tail(xp, (1 - xp.abs(part)) * 0.5), part)),
        (a == 1, lambda part: part * float("inf")),
    ]
    return piecewise(xp, x, pieces)


def erfinv(xp, x):
    """Return the inverse of erf; infinite at -1 and 1, nan outside."""
    return blocked(xp, _erfinv, x)


def _ndtr(xp, x):
    return 0.5 * _erfc(xp, -x * _SQRT_HALF)


def ndtr(xp, x):
    """Return the area under the standard normal density left of x."""
    return blocked(xp, _ndtr, x)


def _ndtri(xp, p):
    pieces = [
        ((p >= 0.125) & (p <= 0.875), lambda part: _SQRT_2 * _inverse_centre(2 * part - 1)),
        ((p > 0) & (p < 0.125), lambda part: -_SQRT_2 * _inverse_tail(xp, part)),
        ((p > 0.875) & (p < 1), lambda part: _SQRT_2 * _inverse_tail(xp, 1 - part)),
        ((p == 0) | (p == 1), lambda part: (part - 0.5) * float("inf")),
    ]
    return piecewise(xp, p, pieces)


def ndtri(xp, p):
    """Return the inverse of ndtr; infinite at 0 and 1, nan outside."""
    return blocked(xp, _ndtri, p)


def _log_ndtr(xp, x):
    pieces = [
        (x < -1, lambda part: xp.log(0.5 * _scaled(-part * _SQRT_HALF)) - 0.5 * part * part),
        (x >= -1, lambda part: xp.log1p(-0.5 * _erfc(xp, part * _SQRT_HALF))),
    ]
    return piecewise(xp, x, pieces)


def log_ndtr(xp, x):
    """Return log(ndtr(x)), finite far to the left."""
    return blocked(xp, _log_ndtr, x)
