"""Interpolation, sampling along a grid, pixel and channel shuffles.

Invariant: points of a grid keep away from where the choice of an element changes, except in samples marked as kinks.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.ops.record import DTYPES, Op, S, X

x1, x2, x3 = X((2, 3, 5)), X((2, 2, 4, 5)), X((1, 2, 3, 4, 2))
FREE = {"variants": False}  # 0-d and empty inputs have samples of their own
# torch computes positions in float32 and rounds weights to it; half types accumulate in them
HALVES = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}
ROUNDED = {"uint8": "torch's fixed-point kernel rounds after each axis, and its weights to 2^-k"}
IN_HALVES = dict.fromkeys(
    ("float16", "bfloat16"), "torch computes positions and cubic weights in half precision"
)
INSIDE = ((r"not implemented for", "which of its kernels refuses depends on the memory order"),)


def sized(mode: str, x: X, **more: Any) -> list:
    """Samples of one mode: larger and smaller, by sizes and by factors.

    One factor for all dims comes second or late: as bad input it would be a thousand.
    """
    n = len(x.shape) - 2
    return [
        S(x, size=(7, 3, 5)[:n], mode=mode, **more),
        S(x, scale_factor=2, mode=mode, **more),
        S(x, scale_factor=(1.7, 0.6, 1.6)[:n], mode=mode, **more),
        S(x, size=x.shape[2:], mode=mode, **more),
        S(X((0, *x.shape[1:])), size=3, mode=mode, **more),
        S(x, scale_factor=1.4, mode=mode, recompute_scale_factor=True, **more),
    ]


def interpolations() -> list[Op]:
    """One record for each mode, so that its dtypes can be its own."""
    found = []
    for mode, xs in (
        ("nearest", (x1, x2, x3)),
        ("nearest-exact", (x1, x2, x3)),
        ("linear", (x1,)),
        ("bilinear", (x2,)),
        ("trilinear", (x3,)),
        ("bicubic", (x2,)),
    ):
        samples = [s for x in xs for s in sized(mode, x)]
        if "nearest" not in mode:
            samples += [s for x in xs for s in sized(mode, x, align_corners=True)]
            samples.append(S(xs[0], size=1, mode=mode, align_corners=True))
        smooth = "nearest" not in mode and mode not in ("linear", "trilinear")
        found.append(
            Op(
                "nn.functional.interpolate",
                samples,
                tag=mode,
                tolerance=HALVES,
                skip_dtypes=ROUNDED if smooth else {},
                loose=INSIDE,
                **FREE,
            )
        )
    for mode in ("bilinear", "bicubic", "lanczos"):
        aligned = (False,) if mode == "lanczos" else (False, True)
        samples = [s for a in aligned for s in sized(mode, x2, antialias=True, align_corners=a)]
        samples.append(S(X((1, 2, 9, 11)), size=(2, 3), mode=mode, antialias=True))
        found.append(
            Op(
                "nn.functional.interpolate",
                samples,
                tag=f"{mode} smooth",
                skip_dtypes=ROUNDED,
                loose=INSIDE,
                **FREE,
            )
        )
    areas = [
        S(x1, size=3, mode="area"),
        S(x2, scale_factor=0.5, mode="area"),
        S(x3, size=(2, 2, 1), mode="area"),
    ]
    found.append(Op("nn.functional.interpolate", areas, tag="area", tolerance=HALVES, loose=INSIDE, **FREE))
    return found


REFUSED = Op(
    "nn.functional.interpolate",
    [
        S(x2, size=3),
        S(x2),
        S(x2, size=3, scale_factor=2),
        S(x2, size=(3,)),
        S(x2, scale_factor=(2.0,)),
        S(x2, size=(2.0, 3)),
        S(x2, size=3.5),
        S(x2, scale_factor="a"),
        S(x2, size=3, align_corners=True),
        S(x2, size=3, mode="area", align_corners=False),
        S(x2, size=3, recompute_scale_factor=True),
        S(x2, size=3, mode="linear"),
        S(x1, size=3, mode="bilinear"),
        S(x2, size=3, mode="trilinear"),
        S(x1, size=3, mode="bicubic"),
        S(x2, size=3, mode="sharp"),
        S(x2, size=3, mode="lanczos"),
        S(x2, size=3, mode="lanczos", antialias=True, align_corners=True),
        S(x2, size=3, antialias=True),
        S(x1, size=3, mode="linear", antialias=True),
        S(X((4, 5)), size=3),
        S(X((2, 0, 4, 5)), size=3),
        S(X((2, 0, 5)), size=3, mode="linear"),
        S(X((2, 2, 0, 5)), size=3, mode="bilinear"),
        S(X((1, 2, 3, 0, 2)), size=3),
        S(x1, size=0),
        S(x2, size=-1),
        S(x3, scale_factor=0.01),
        S(x2, scale_factor=-1.0),
    ],
    tag="refused",
    skip_dtypes=dict.fromkeys(DTYPES[4:], "said once for floats; each mode's record says what it refuses"),
    **FREE,
)

OLD = [
    Op(
        "nn.functional.upsample",
        [S(x2, size=(3, 7)), S(x2, scale_factor=2, mode="bilinear")],
        skip_dtypes=ROUNDED,
        loose=INSIDE,
        **FREE,
    ),
    Op("nn.functional.upsample_nearest", [S(x2, size=(3, 7)), S(x2, scale_factor=2)], loose=INSIDE, **FREE),
    Op(
        "nn.functional.upsample_bilinear",
        [S(x2, size=(3, 7)), S(x2, scale_factor=2)],
        skip_dtypes=ROUNDED,
        loose=INSIDE,
        **FREE,
    ),
]


def off_grid(sizes: tuple[int, ...], align: bool, beyond: float = 0.4):
    """Points a quarter of an element or more away from where the choice of an element or a reflection changes."""

    def make(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        if not shape or shape[-1] != len(sizes):
            return rng.uniform(-1, 1, shape)
        out = np.empty(shape)
        for d, n in enumerate(sizes[::-1]):
            whole = rng.integers(-max(int(beyond * n), 1), n + max(int(beyond * n), 1), shape[:-1])
            at = whole + np.where(rng.random(shape[:-1]) < 0.5, 0.27, 0.77) - 0.05 * rng.random(shape[:-1])
            out[..., d] = 2 * at / (n - 1) - 1 if align else (2 * at + 1) / n - 1
        return out

    return make


def grids(*modes: str) -> list:
    """These modes with every padding and alignment."""
    found = []
    for align in (False, True):
        g2 = X((2, 3, 4, 2), make=off_grid((4, 5), align))
        g3 = X((1, 2, 2, 3, 3), make=off_grid((3, 4, 2), align))
        for padding in ("zeros", "border", "reflection"):
            for mode in modes:
                found.append(S(x2, g2, mode, padding, align_corners=align))
                if mode != "bicubic":
                    found.append(S(x3, g3, mode=mode, padding_mode=padding, align_corners=align))
    return found


grid = X((2, 3, 4, 2), make=off_grid((4, 5), False))
theta, theta3 = X((2, 2, 3)), X((2, 3, 4))
GRIDS = [
    Op(
        "nn.functional.grid_sample",
        [
            *grids("bilinear", "nearest"),
            S(
                replace(x2, dtype="float64"),
                X((2, 3, 4, 2), make=off_grid((4, 5), False, 3.0), dtype="float64"),
                padding_mode="reflection",
                align_corners=False,
            ),
            S(
                x2, X((2, 2, 3, 2), value=np.arange(-12.0, 12.0).reshape(2, 2, 3, 2) / 8), align_corners=True
            ).kink(),
            # torch looks at no dtype where there is nothing to compute
            S(X((2, 0, 4, 5), dtype="float64"), replace(grid, dtype="float64"), align_corners=False),
            S(X((0, 2, 4, 5), dtype="float32"), X((0, 3, 4, 2), dtype="float32"), align_corners=False),
            S(X((2, 2, 4, 5), dtype="float64"), X((2, 0, 4, 2), dtype="float64"), align_corners=False),
            S(x2, grid),
            S(x2, grid, "sharp"),
            S(x2, grid, padding_mode="wrap", align_corners=False),
            S(X((1, 2, 4, 5)), grid, align_corners=False),
            S(x2, X((2, 3, 4, 3)), align_corners=False),
            S(X((2, 2, 0, 5)), grid, align_corners=False),
            S(X((2, 4, 5)), X((2, 3, 1)), align_corners=False),
            S(X((2, 3, 2, 3, 4)), X((2, 2, 2, 2, 3)), mode="bicubic", align_corners=False),
        ],
        tolerance=HALVES,
        **FREE,
    ),
    Op("nn.functional.grid_sample", grids("bicubic"), tag="bicubic", skip_dtypes=IN_HALVES, **FREE),
    Op("grid_sampler", [S(x2, grid, 0, 0, False), S(x2, grid, 1, 1, True)], tolerance=HALVES, **FREE),
    Op("grid_sampler_2d", [S(x2, grid, 0, 0, False)], tolerance=HALVES, **FREE),
    Op(
        "grid_sampler_3d",
        [S(x3, X((1, 2, 2, 3, 3), make=off_grid((3, 4, 2), False)), 0, 0, False)],
        tolerance=HALVES,
        **FREE,
    ),
    Op(
        "nn.functional.affine_grid",
        [
            *(S(theta, (2, 1, 3, 4), align_corners=a) for a in (True, False)),
            *(S(theta3, (2, 1, 2, 3, 4), align_corners=a) for a in (True, False)),
            S(theta, [2, 1, 3, 4]),
            S(replace(theta, dtype="float32"), (2, 1, 1, 1), align_corners=True),
            S(theta, (2, 1, 4)),
            S(theta3, (2, 1, 3, 4), align_corners=False),
            S(theta, (3, 1, 3, 4), align_corners=False),
            S(theta, (2, 1, 2, 3, 4), align_corners=False),
            S(theta, (2, 1, 0, 4), align_corners=False),
        ],
        tolerance=HALVES,
        **FREE,
    ),
    Op(
        "affine_grid_generator",
        [S(theta, (2, 1, 3, 4), False), S(theta3, (2, 1, 2, 3, 4), True)],
        tolerance=HALVES,
        skip_dtypes={"uint8": "torch counts from -1 in bytes"},
        **FREE,
    ),
]

c8 = X((2, 8, 2, 3))
SHUFFLES = [
    Op(
        "pixel_shuffle",
        [
            S(c8, 2),
            S(X((8, 2, 3)), 2),
            S(X((2, 3, 4, 1, 2)), 2),
            S(X((1, 9, 2, 1)), 3),
            S(c8, 1),
            # torch's gradient of an empty one has the wrong shape
            S(X((0, 8, 2, 3)), 2).forward_only(),
            S(X((2, 8, 0, 3)), 2).forward_only(),
            S(X((2, 7, 2, 3)), 2),
            S(X((7, 3)), 2),
            S(c8, 0),
            S(c8, -1),
            S(c8, 2.0),
        ],
        **FREE,
    ),
    Op(
        "pixel_unshuffle",
        [
            S(X((2, 2, 4, 6)), 2),
            S(X((3, 4, 2)), 2),
            S(X((1, 1, 3, 6)), 3),
            S(X((2, 2, 3, 4)), 2),
            S(X((2, 2, 4, 3)), 2),
            S(X((4, 2)), 2),
            S(X((2, 2, 4, 6)), 0),
        ],
        **FREE,
    ),
    Op(
        "channel_shuffle",
        [
            S(c8, 2),
            S(c8, 4),
            S(X((2, 6, 3)), 3),
            S(c8, 1),
            S(c8, 3),
            S(X((4, 3)), 2),
            S(c8, 0),
            S(c8, -2),
            S(c8, 2.0),
        ],
        **FREE,
    ),
    # torch's grad_fn says NotImplemented; ours is the shuffle's
    Op("native_channel_shuffle", [S(c8, 2).forward_only(), S(X((4, 3)), 2)], grad_fn=False, **FREE),
]

OPS = [*interpolations(), REFUSED, *OLD, *GRIDS, *SHUFFLES]
