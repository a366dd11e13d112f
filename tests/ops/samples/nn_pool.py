"""Pooling."""

from typing import Any

import numpy as np

from tests.ops.record import Op, S, X

F = "nn.functional."
# outputs of windows are told apart by their positions: all values differ
A, B, C, D, E = (
    X(shape, distinct=True) for shape in ((2, 7), (2, 2, 6), (2, 5, 6), (2, 2, 5, 4), (1, 2, 4, 5, 4))
)
TIES = X(value=np.tile([[1.0, 1.0, 0.0, 2.0], [1.0, 3.0, 3.0, 0.0], [0.0, 3.0, 3.0, 2.0]], (1, 2, 1, 1)))
ODD = X(
    value=np.array(
        [[[np.nan, 1.0, -np.inf, -np.inf], [2.0, np.nan, -np.inf, -np.inf], [0.0, 3.0, np.inf, np.inf]]]
    )
)


def small(d: int) -> X:
    """A batch for pooling over so many dims."""
    return (B, D, E)[d - 1]


def maxima(d: int) -> list:
    """Samples of max pooling: sizes, steps, padding, distances, edges, ties, values that are no numbers."""
    x = small(d)
    samples = [
        S(x, 2),
        S((A, C, X((2, 3, 4, 3), distinct=True))[d - 1], 2),
        S(x, 3, 2, 1),
        S(x, (2,) * d, (1,) * d, (1,) * d, 1, True),
        S(x, 3, stride=2, ceil_mode=True),
        S(x, 2, 3, 1, ceil_mode=True),
        S(x, 2, 1, 1, 2),
        S(x, 2, None),
        S(x, [2] * d, padding=1, stride=[1] * d),
        S(x, 1),
        S(x, 4, 5, 2),
        *[S(x, *bad) for bad in ((0,), (-1,), (2, 0), (2, -1), (2, 1, 2), (2, 1, -1), (2, 1, 0, 0), (9,))],
        *[S(x, *bad) for bad in (((2,) * 4,), ((),), (2, (1,) * 4), (2, 1, (0,) * 4), (2, 1, 0, (1,) * 4))],
        S(x, 2**31),
    ]
    if d == 1:
        samples += [S(X(value=np.array([[1.0, 1.0, 0.0, 1.0, 1.0]])), 3, 1, 1).kink()]
        odd = np.array([[np.nan, 1.0, np.nan, 0.0, -np.inf, -np.inf, np.inf]])
        samples += [S(X(value=odd), 2, 1).only("float").kink(), S(X(value=odd), 3, 2, 1).only("float").kink()]
    if d == 2:
        samples += [
            S(x, (2, 3), (1, 2), (1, 1)),
            S(x, (3, 1), (2, 1), (1, 0)),
            S(x, (1, 2), 1),
            S(TIES, 2).kink(),
            S(TIES, 3, 1, 1).kink(),
            S(ODD, 2).only("float").kink(),
            S(ODD, 3, 1, 1).only("float").kink(),
        ]
    return samples


def means(d: int) -> list:
    """Samples of average pooling."""
    x = small(d)
    samples = [
        S(x, 2),
        S((A, C, X((2, 3, 4, 3)))[d - 1], 2),
        S(x, 3, 2, 1),
        S(x, 3, 2, 1, False, False),
        S(x, (2,) * d, (1,) * d, (1,) * d, True),
        S(x, 3, stride=2, ceil_mode=True),
        S(x, 2, 3, 1, ceil_mode=True, count_include_pad=False),
        S(x, 3, 3, 1, True),
        S(x, 1),
        S(x, [2] * d, padding=1, stride=[1] * d),
        *[S(x, *bad) for bad in ((0,), (-1,), (2, 0), (2, -1), (2, 1, 2), (2, 1, -1), (9,), (2**31,))],
        *[S(x, *bad) for bad in (((2,) * 4,), ((),), (2, (1,) * 4), (2, 1, (0,) * 4))],
    ]
    if d > 1:
        samples += [
            S(x, 2, divisor_override=3),
            S(x, 3, 2, 1, True, False, -2),
            S(x, 2, divisor_override=0),
            S(x, (2, 3, 3)[:d], (1, 2, 1)[:d], 1),
        ]
    return samples


def adaptive(d: int) -> list:
    """Samples of adaptive pooling: windows of one size, of several, more windows than elements."""
    x = small(d)
    samples = [  # as tuples at first: a bad number in place of one for all dims would fill the memory
        S(x, (2,) * d),
        S((A, C, X((2, 3, 4, 3), distinct=True))[d - 1], 3),
        S(x, (3,) * d),
        S(x, (1,) * d),
        S(x, [4] * d),
        S(x, 2),
        S(x, 1),
        S(x, 7),
        S(x, 0).forward_only(),  # torch refuses to go back from there
        *[S(x, bad) for bad in (-1, (2,) * 5, (), None, 2.5)],
    ]
    if d > 1:
        samples += [
            S(x, (1, 3, 2)[:d]),
            S(x, (None, 2, None)[:d]),
            S(x, [3, None, 5][:d]),
            S(x, (2, 0, 2)[:d]).forward_only(),
        ]
    return samples


def indices(shape: tuple, plane: int, seed: int = 0) -> np.ndarray:
    """Different places in each plane."""
    rng = np.random.default_rng(seed)
    planes = int(np.prod(shape[:2]))
    picked = [rng.permutation(plane)[: int(np.prod(shape[2:]))] for _ in range(planes)]
    return np.array(picked).reshape(shape)


def unpool(d: int) -> Op:
    """Values back to where they came from."""
    shape = (2, 2) + (2,) * d
    x, at = X(shape), indices(shape, 4**d)
    usual = (5,) * d
    samples = [
        S(x, at, 2),
        S(x, at, (2,) * d, (2,) * d, 0, usual),
        S(x, at, 2, 2, 0, (2, 2, *usual)),
        S(x, at, kernel_size=2, stride=None, padding=0, output_size=[4] * d),
        S(X(shape[1:]), at[0], 2),
        S(X((0, *shape[1:])), at[:0], 2),
        *[S(x, at, 2, 2, 0, bad) for bad in ((9,) * d, (5,) * (d + 1))],
        S(x, at, 2, 1),
        S(x, at, 2, 2, 1),
        S(x, at, 2, 2, 9),
        S(x, at + 99, 2),
        S(x, at - 99, 2),
        S(x, at[:1], 2),
        S(x, at.astype(np.int32), 2),
        S(X(shape[2:]), at[0, 0], 2),
        S(X((2, 0, *shape[2:])), at[:, :0], 2),
    ]
    if d == 3:
        samples += [S(x, at, 2, 0), S(x, at, 2, (2,) * 4), S(x, at, 2, 2, (0,) * 4)]
    return Op(f"{F}max_unpool{d}d", samples, variants=False)


def fractional(d: int) -> list:
    """Samples with the random numbers given, each in the dtype of the input."""
    x = X((2, 2) + (6,) * d if d == 2 else (1, 2, 6, 5, 6), distinct=True)
    r = X((x.shape[0], 2, d), 0.0, 1.0, grad=False)
    one = X(x.shape[1:], distinct=True)
    ratio = (0.5,) * d
    odd = X(x.shape, make=lambda rng, shape: np.where(rng.random(shape) < 0.3, np.nan, rng.random(shape)))
    return [
        S(x, 2, 3, _random_samples=r),
        S(x, (2,) * d, (3, 2, 4)[:d], _random_samples=r),
        S(one, 3, 1, _random_samples=X((1, 2, d), 0.0, 1.0, grad=False)),
        S(x, 2, output_ratio=ratio, _random_samples=r),
        S(x, 3, 2, None, True, r),
        S(x, 2, 0, _random_samples=r),
        S(odd, 2, 3, _random_samples=r).only("float").kink(),
        *[
            S(x, *bad, _random_samples=r)
            for bad in ((2, 9), (7, 2), (2, -1), ((2,) * 4, 2), (2, (2,) * 4), (2,))
        ],
        *[
            S(x, 2, 2, _random_samples=X(shape, 0.0, 1.0, grad=False))
            for shape in ((2, 2, 5), (2, 3, d), (0, 2, d), (2, d))
        ],
        S(x, 2, 2, _random_samples=X((2, 2, d), 0.0, 1.0, grad=False, dtype="int64")),
    ]


def drawn(L: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Random places drawn from the generator."""
    L.manual_seed(3)
    pool = L.nn.functional.fractional_max_pool2d if x.dim() == 4 else L.nn.functional.fractional_max_pool3d
    return pool(x, *args, **kwargs)


def norms(d: int) -> list:
    """Samples of power-average pooling."""
    x = X(small(d).shape, 0.5, 2.0)
    return [
        S(x, 2, 2),
        S(x, 3.0, 3, 2, True),
        S(x, 1.5, 2, stride=1),
        S(x, float("inf"), 2).kink(),
        S(x, -float("inf"), 2).kink(),
        *([S(x, 2, (2,) * d)] if d > 1 else []),
        S(x, 2, 9),
        S(x, 2, (2,) * 4),
    ]


def named(d: int, kind: str, samples: list, **more: Any) -> list[Op]:
    """A pooling with and without its indices."""
    again = [S(*s.args, **s.kwargs, return_indices=True) for s in samples[:4]]
    return [
        Op(f"{F}{kind}_pool{d}d", [*samples, *again], **more),
        Op(f"{F}{kind}_pool{d}d_with_indices", samples, **more),
    ]


OPS: list[Op] = [
    *[Op(f"max_pool{d}d", maxima(d)) for d in (1, 2, 3)],
    *[op for d in (1, 2, 3) for op in named(d, "max", maxima(d))],
    Op("max_pool1d_with_indices", maxima(1)),
    *[Op(f"{F}avg_pool{d}d", means(d)) for d in (1, 2, 3)],
    Op("avg_pool1d", means(1)),
    *[Op(f"{F}adaptive_avg_pool{d}d", adaptive(d)) for d in (1, 2, 3)],
    *[op for d in (1, 2, 3) for op in named(d, "adaptive_max", adaptive(d))],
    Op("adaptive_avg_pool1d", adaptive(1)),
    Op("adaptive_max_pool1d", adaptive(1)),
    *[unpool(d) for d in (1, 2, 3)],
    *[Op(f"{F}fractional_max_pool{d}d", fractional(d), variants=False) for d in (2, 3)],
    *[Op(f"{F}fractional_max_pool{d}d_with_indices", fractional(d), variants=False) for d in (2, 3)],
    Op(
        f"{F}fractional_max_pool2d", [S(D, 2, 3), S(D, 2, (2, 3), return_indices=True)], fn=drawn, tag="drawn"
    ),
    Op(f"{F}fractional_max_pool3d", [S(E, 2, 2)], fn=drawn, tag="drawn"),
    *[Op(f"{F}lp_pool{d}d", norms(d)) for d in (1, 2, 3)],
]
