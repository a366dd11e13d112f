"""Hurwitz' zeta function for real arguments.

Invariant: computed in float64; the sum runs until the rest is small enough for Euler's and Maclaurin's formula.
"""

START = 10
# B(2k) / (2k)!
_RATIOS = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
)


def _rest(xp, s, a):
    """The sum of (a + k)^-s over k >= 0, for an `a` that is not small."""
    power = xp.power(a, -s)
    total = power * (a / (s - 1) + 0.5)
    factor = s
    for k, ratio in enumerate(_RATIOS):
        power = power / a
        total = total + ratio * factor * power
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2)
        power = power / a
    return xp.where(total == total, total, 0.0)


def _zeta(xp, s, q):
    total, a = xp.zeros_like(q), q
    enough = xp.clip(s / 2, START, 500)  # the rest's series is one in s / (2 pi a)
    while True:
        low = (a < enough) & (s > 1) & (a > -1e5)
        if not low.any():
            break
        total = xp.where(low, total + xp.power(a, -s), total)
        a = xp.where(low, a + 1, a)
    out = total + _rest(xp, s, a)
    out = xp.where((s != s) | (q != q), float("nan"), out)
    out = xp.where(
        (out == 0) & (xp.isinf(s) | xp.isinf(q)), float("nan"), out
    )  # PyTorch's, where the sum is empty
    whole = q == xp.floor(q)
    out = xp.where((q < 0) & ~whole & (s != xp.floor(s)), float("nan"), out)
    out = xp.where((q <= 0) & whole, float("inf"), out)
    return xp.where(s == 1, float("inf"), xp.where(s < 1, float("nan"), out))


def zeta(xp, s, q):
    """The sum of (q + k)^-s over k >= 0."""
    kind = xp.result_type(s, q)
    s, q = xp.broadcast_arrays(xp.asarray(s, dtype="f8"), xp.asarray(q, dtype="f8"))
    return _zeta(xp, s, q).astype(kind)
