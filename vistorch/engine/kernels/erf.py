"""The error function and its relations: erf, erfc, erfcx, erfinv, and the normal distribution's functions.

Invariant: float64 is good to a few units in the last place, and float32 is computed in float64 (erf has a
short form of its own) and rounded. The coefficients were fitted at Chebyshev nodes in 50 digits; each is good
to 1e-17 on the range named beside it.
"""

import math

from vistorch.engine.kernels.blocks import blocked, horner, piecewise, ratio
from vistorch.engine.kernels.masks import chosen

# erf(x) / x - 1 in x^2, |x| <= 1.
_ERF = (
    0.12837916709551256,
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
# For float32: erf(x) / x - 1 in x^2, |x| <= 0.92, and log(erfc(x)), 0.92 <= x <= 4, erfc to 2e-9.
_ERF_SHORT = (
    0.12837916663832227,
    -0.3761263368813302,
    0.11283694149671573,
    -0.026859297260767107,
    0.005200729666707884,
    -0.000813879238574507,
    8.35189708074996e-05,
)
_LOG_ERFC_SHORT = (
    -0.0001956246691097978,
    -1.1276772904530168,
    -0.6371765333008325,
    -0.1039396217260407,
    0.02223248002361239,
    -0.003045101591176928,
    0.00019618630101078013,
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
# The same for float32, to 6e-9.
_ERFCX_SHORT = (
    1.237512630837828,
    -0.14024065901788946,
    0.003585438016425968,
    0.08227843390474997,
    -0.10880456454792889,
    0.09229069167207651,
    -0.058688252052455064,
    0.028409430391509904,
    -0.009764690491825883,
    0.0016757342507586711,
    0.0003253884592880545,
    -0.00022405204949780026,
    2.363482179342147e-05,
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
# erfinv(1 - 2q) in sqrt(-log(q)) less the lower end, on 1.44 to 3.6, 3.5 to 6.2 and 6.1 to 27.4.
_INVERSE_NEAR = (
    (
        0.810909423831463,
        3.0322163343262636,
        4.235864539919865,
        3.0261614306225204,
        1.2468115206373018,
        0.3100220272243137,
        0.045332858983814894,
        0.0033970995157670603,
        9.015326777917888e-05,
    ),
    (
        1.0,
        2.2116323037979306,
        1.9798005752617627,
        0.9384033875105041,
        0.25776258766549165,
        0.04088105073313611,
        0.0032680317218983274,
        9.014799678736022e-05,
    ),
)
_INVERSE_FAR = (
    (
        3.1301229833315727,
        3.1915535792790277,
        1.2006642282950206,
        0.20359597149421854,
        0.014605534545806258,
        0.00023932094467444274,
        -7.830071674995648e-06,
    ),
    (
        1.0,
        0.6783713108682368,
        0.15674328463459697,
        0.013657045834474297,
        0.00026655558797098134,
        -7.827742905685836e-06,
        -2.3378487574202004e-11,
    ),
)
_INVERSE_VERY_FAR = (
    (
        5.845062530986547,
        4.236389290443865,
        1.2539247522875352,
        0.1955116245251106,
        0.017277620251698364,
        0.0008671156599362917,
        2.345059473917021e-05,
        3.006858679853414e-07,
        1.3278290285589624e-09,
    ),
    (
        1.0,
        0.5487401940637788,
        0.11856867559013701,
        0.012840842396323939,
        0.000735780734179456,
        2.167074257835185e-05,
        2.925880692575406e-07,
        1.3278258121495391e-09,
        4.4724702914666624e-18,
    ),
)

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2 = math.sqrt(2)


def _scaled(x):
    """Return exp(x^2) erfc(x) for x >= 0, infinity included."""
    return horner(_ERFCX, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)


def _exp_square(xp, x, sign):
    """Return exp(sign x^2) without the error of rounding x^2, which would come out x^2 times as large."""
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
        [
            (small, lambda part: part + part * horner(_ERF, part * part)),
            (~small, lambda part: _erf_tail(xp, part)),
        ],
    )


def _erf_short(xp, x):
    # Both forms for every value: in float32 that is cheaper than parting them.
    a = xp.minimum(xp.abs(x), 4)
    tail = xp.copysign(1 - xp.exp(horner(_LOG_ERFC_SHORT, a)), x)
    return chosen(xp, a <= 0.92, x + x * horner(_ERF_SHORT, a * a), tail)


def erf(xp, x):
    """Return the error function."""
    return blocked(xp, _erf_short, x, "float32") if x.dtype == "float32" else blocked(xp, _erf, x)


def _erfc_positive(xp, x):
    x = xp.minimum(x, 30)
    return _exp_square(xp, x, -1) * _scaled(x)


def _erfc(xp, x):
    pieces = [
        (xp.abs(x) < 0.5, lambda part: 1 - (part + part * horner(_ERF, part * part))),
        (x >= 0.5, lambda part: _erfc_positive(xp, part)),
        (x <= -0.5, lambda part: 2 - _erfc_positive(xp, -part)),
    ]
    return piecewise(xp, x, pieces)


def _erfc_short(xp, x):
    # In float64, where the square of a float32 is exact: one form for every value, so nothing is parted.
    a = xp.minimum(xp.abs(x), 30)
    out = horner(_ERFCX_SHORT, 1 - 7.5 / (a + 3.75))
    out *= xp.exp(-a * a)
    a *= 2
    a += 1
    out /= a
    return chosen(xp, x < 0, 2 - out, out)


def erfc(xp, x):
    """Return 1 - erf(x), exact to its last digits where it is tiny."""
    return blocked(xp, _erfc_short if x.dtype == "float32" else _erfc, x)


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
        (r <= 3.5, lambda part: ratio(_INVERSE_NEAR, part - 1.44)),
        ((r > 3.5) & (r <= 6.15), lambda part: ratio(_INVERSE_FAR, part - 3.5)),
        (r > 6.15, lambda part: ratio(_INVERSE_VERY_FAR, part - 6.1)),
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
