"""What records of images cannot say: long axes, values that are not finite, memory order."""

import itertools

import numpy as np
import pytest

from tests.ops.library import L, numpy_of, torch
from vistorch.engine.ops.image.resample import SHORT
from vistorch.engine.ops.image.resize_weights import KINDS, taps

MODES = ("bilinear", "bicubic", "nearest", "nearest-exact")


def resized(lib, array, out, mode):
    """A resized image and the gradient of the image, for weights of 1, 2, 3, ..."""
    x = lib.tensor(array, requires_grad=True)
    y = lib.nn.functional.interpolate(x, size=out, mode=mode)
    weights = np.arange(1, y.numel() + 1, dtype=array.dtype).reshape(tuple(y.shape)) / y.numel()
    (y * lib.tensor(weights)).sum().backward()
    return numpy_of(y), numpy_of(x.grad)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sizes", [((SHORT + 3, 5), (2 * SHORT + 6, 3)), ((4, SHORT + 9), (9, 70))])
def test_long_axes_are_read_tap_by_tap(mode, sizes):
    """Axes above and below the length up to which a matrix is multiplied."""
    array = np.random.default_rng(0).standard_normal((1, 2, *sizes[0]))
    for ours, theirs in zip(*(resized(lib, array, sizes[1], mode) for lib in (L, torch)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_stay_where_they_are(mode, bad):
    """One bad pixel spoils its neighbours, not its row and column."""
    array = np.random.default_rng(0).standard_normal((1, 1, 9, 9)).astype("f4")
    array[0, 0, 4, 4] = bad
    ours, theirs = (
        numpy_of(lib.nn.functional.interpolate(lib.tensor(array), size=(18, 14), mode=mode))
        for lib in (L, torch)
    )
    assert np.array_equal(np.isfinite(ours), np.isfinite(theirs))
    assert 0 < (~np.isfinite(ours)).sum() < 80
    np.testing.assert_allclose(ours[np.isfinite(ours)], theirs[np.isfinite(theirs)], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("sizes", [(7, 12), (12, 5), (4, 8), (3, 3), (5, 1), (1, 4)])
def test_turned_taps_are_the_transposed_matrix(how, sizes):
    """Forward and backward are one matrix."""
    found = taps(how, True, *sizes, False, None)
    np.testing.assert_allclose(found.turned.matrix(np.dtype("f8")), found.matrix(np.dtype("f8")).T)
    assert found.turned.turned is found
    if how.endswith("smooth") or not how.startswith("nearest"):
        np.testing.assert_allclose(found.weights.sum(1), 1)


def test_bytes_are_rounded():
    """An image of bytes stays one, within the rounding of torch's two passes."""
    array = np.random.default_rng(0).integers(0, 256, (1, 3, 6, 7), dtype="u1")
    ours, theirs = (
        numpy_of(lib.nn.functional.interpolate(lib.tensor(array), size=(9, 4), mode="bilinear"))
        for lib in (L, torch)
    )
    assert ours.dtype == theirs.dtype == np.uint8
    assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1


def test_points_that_are_no_numbers():
    """A grid of nan and of far away points: nan where the weights are, zero where nothing is read."""
    grid = np.array([[np.nan, 0], [np.inf, 0], [-np.inf, 0.3], [1e30, 0]], "f4").reshape(1, 2, 2, 2)
    array = np.arange(1, 13, dtype="f4").reshape(1, 1, 3, 4)
    ours, theirs = (
        numpy_of(lib.nn.functional.grid_sample(lib.tensor(array), lib.tensor(grid), align_corners=False))
        for lib in (L, torch)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_deprecated_names_warn():
    """In torch's words."""
    x = np.ones((1, 1, 2, 2))
    for name in ("upsample", "upsample_nearest", "upsample_bilinear"):
        said = []
        for lib in (L, torch):
            with pytest.warns(UserWarning) as found:
                getattr(lib.nn.functional, name)(lib.tensor(x), scale_factor=2)
            said.append(str(found[0].message))
        assert said[0] == said[1]


def test_grids_warn_of_corners():
    """Where `align_corners` is not said."""
    theta = np.array([[[1.0, 0, 0], [0, 1, 0]]])
    said = []
    for lib in (L, torch):
        with pytest.warns(UserWarning) as found:
            grid = lib.nn.functional.affine_grid(lib.tensor(theta), (1, 1, 2, 2))
            lib.nn.functional.grid_sample(lib.ones(1, 1, 2, 2, dtype=lib.float64), grid)
            lib.nn.functional.affine_grid(lib.tensor(theta), (1, 1, 1, 2), align_corners=True)
        said.append([str(w.message) for w in found])
    assert said[0] == said[1] and len(said[0]) == 3


@pytest.mark.parametrize(
    "mode, sizes",
    [*itertools.product(["bilinear", "nearest"], [(7, 5), (4, 3, 2)]), ("bicubic", (7, 5))],
)
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_many_points_in_blocks(mode, padding, sizes):
    """More points than one block holds, some far outside: torch's values, the same bits on any number of threads."""
    rng = np.random.default_rng(5)
    array = rng.standard_normal((2, 3, *sizes)).astype("f4")
    grid = (1.5 * rng.standard_normal((2, *(1,) * (len(sizes) - 1), 17000, len(sizes)))).astype("f4")
    grid[0, ..., :4, 0] = [9, -9, 100, -100]

    def sampled(lib, a, g):
        return numpy_of(
            lib.nn.functional.grid_sample(lib.tensor(a), lib.tensor(g), mode, padding, align_corners=False)
        )

    before = L.get_num_threads()
    try:
        found = []
        for n in (1, 3):
            L.set_num_threads(n)
            found.append(sampled(L, array, grid))
    finally:
        L.set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_allclose(found[0], sampled(torch, array, grid), rtol=1e-3, atol=1e-3)
    # a block of a sample is what the same points give alone
    alone = sampled(L, array[1:], grid[1:, ..., 16380:16400, :])
    assert found[0][1:, ..., 16380:16400].tobytes() == alone.tobytes()
